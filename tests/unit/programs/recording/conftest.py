"""An MPI to record with, where there is one, and programs built with it."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from workbench.mpi import Launcher, MPIError, find_launcher

ROOT = Path(__file__).resolve().parents[4]
APPS = ROOT / "datasets" / "traces" / "apps"
SOURCES = {
    **{name: APPS / f"{name}.c" for name in ("halo", "cg", "transpose")},
    **{
        n: Path(__file__).with_name(f"{n}.c")
        for n in ("every_call", "neighbours", "threads", "sleeper")
    },
}


def launcher_or_skip(mpirun: str | None) -> Launcher:
    """Return the MPI of that launcher; a machine without it or its compiler leaves the test out."""
    try:
        found = find_launcher(mpirun)
        found.compiler()
    except MPIError as error:
        pytest.skip(f"no MPI to record with: {error}")
    return found


@pytest.fixture(scope="session")
def mpi(library_cache: Path) -> Launcher:
    return launcher_or_skip(None)


@pytest.fixture(scope="session", params=[None, "mpirun.mpich"], ids=["default", "mpich"])
def any_mpi(library_cache: Path, request: pytest.FixtureRequest) -> Launcher:
    """The MPI of the path, then MPICH where both are installed."""
    return launcher_or_skip(request.param)


@pytest.fixture(scope="session")
def build(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Launcher, str], str]:
    """Build one of the programs with an MPI, once."""
    folder = tmp_path_factory.mktemp("programs")

    def built(launcher: Launcher, name: str) -> str:
        program = folder / f"{launcher.mpicc.name}-{name}"
        if not program.exists():
            words = [str(launcher.mpicc), "-std=c99", "-O1", "-w", "-o", str(program)]
            subprocess.run([*words, str(SOURCES[name]), "-lm", "-pthread"], check=True, timeout=60)
        return str(program)

    return built
