"""Programs in Fortran; Open MPI's calls PMPI functions of its C, which our libraries offer."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from workbench.measure.delay import run_delayed
from workbench.mpi import Launcher, MPIError, find_launcher
from workbench.programs.recording import record

Programs = Mapping[str, str]
RANKS = 2
RING = Path(__file__).with_name("ring.F90")
DIALECTS = {"mpif.h": (), "use mpi": ("-DMODULE",), "use mpi_f08": ("-DF08",)}
TIMES = re.compile(r"^(MPI_\w+):[^:]+(.*):[^:]+$", re.MULTILINE)


@pytest.fixture(scope="module", params=["mpirun.openmpi", "mpirun.mpich"])
def any_mpi(library_cache: Path, request: pytest.FixtureRequest) -> Launcher:
    try:
        return find_launcher(request.param)
    except MPIError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="module")
def programs(any_mpi: Launcher, tmp_path_factory: pytest.TempPathFactory) -> Programs:
    """The ring in C and in each dialect."""
    folder = tmp_path_factory.mktemp("ring")
    mpicc = any_mpi.compiler()
    fortran = shutil.which(mpicc.name.replace("mpicc", "mpifort"))
    if fortran is None or shutil.which("gfortran") is None:
        pytest.skip("no Fortran compiler of the MPI")
    built = {"C": str(folder / "c")}
    subprocess.run([mpicc, "-w", "-o", built["C"], RING.with_suffix(".c")], check=True)
    for number, (dialect, options) in enumerate(DIALECTS.items()):
        built[dialect] = str(folder / str(number))
        words = [fortran, "-w", "-fallow-argument-mismatch", *options, "-o", built[dialect], RING]
        subprocess.run(words, check=True)
    return built


def calls(folder: Path) -> list[str]:
    """Return the trace of each rank without its times."""
    texts = [(folder / f"trace-{rank}.txt").read_text("ascii") for rank in range(RANKS)]
    return [TIMES.sub(r"\1\2", re.sub("# elapsed .*", "", text)) for text in texts]


def test_each_dialect_leaves_the_trace_of_c(
    any_mpi: Launcher, programs: Programs, tmp_path: Path
) -> None:
    traces = {}
    for number, (dialect, program) in enumerate(programs.items()):
        folder = tmp_path / str(number)
        record([program], RANKS, folder, mpirun=any_mpi, timeout=60)
        traces[dialect] = calls(folder)
    assert [len(re.findall("^MPI_", trace, re.MULTILINE)) for trace in traces["C"]] == [29] * RANKS
    for dialect in DIALECTS:
        assert traces[dialect] == traces["C"], dialect


def test_the_messages_of_each_dialect_are_delayed(any_mpi: Launcher, programs: Programs) -> None:
    messages = {}
    for dialect, program in programs.items():
        run = run_delayed([program], RANKS, 0.0, mpirun=any_mpi, timeout=60)
        assert run.exit == 0
        assert run.undelayed == {"MPI_Iallreduce": RANKS}
        messages[dialect] = run.delayed + run.already_due
    assert messages == dict.fromkeys(programs, messages["C"])
    assert messages["C"] > 0
