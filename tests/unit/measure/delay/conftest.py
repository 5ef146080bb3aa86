"""Both MPIs, and programs built with each."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from workbench.mpi import Launcher, find_launcher

Build = Callable[[Launcher, str], str]


@pytest.fixture(scope="session")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A cache of its own, so that the library is built here and now."""
    folder = tmp_path_factory.mktemp("cache")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(folder))
        yield folder


@pytest.fixture(scope="session", params=["mpirun.openmpi", "mpirun.mpich"])
def any_mpi(cache: Path, request: pytest.FixtureRequest) -> Launcher:
    return find_launcher(request.param)


@pytest.fixture(scope="session")
def openmpi(cache: Path) -> Launcher:
    return find_launcher("mpirun.openmpi")


@pytest.fixture(scope="session")
def build(tmp_path_factory: pytest.TempPathFactory) -> Build:
    """Build one of the programs with an MPI, once."""
    folder = tmp_path_factory.mktemp("programs")

    def built(launcher: Launcher, name: str) -> str:
        program = folder / f"{launcher.compiler().name}-{name}"
        if not program.exists():
            source = Path(__file__).with_name(f"{name}.c")
            words = [str(launcher.mpicc), "-std=c99", "-O1", "-w", "-o", str(program)]
            subprocess.run([*words, str(source), "-pthread"], check=True, timeout=60)
        return str(program)

    return built
