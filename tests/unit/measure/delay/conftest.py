"""Both MPIs, and programs built with each."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from workbench.mpi import Launcher, find_launcher

Build = Callable[[Launcher, str], str]


@pytest.fixture(scope="session", params=["mpirun.openmpi", "mpirun.mpich"])
def any_mpi(library_cache: Path, request: pytest.FixtureRequest) -> Launcher:
    return find_launcher(request.param)


@pytest.fixture(scope="session")
def openmpi(library_cache: Path) -> Launcher:
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
