"""The benchmark of collectives and the recording of Open MPI with it, where there is one."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.cases import for_each
from workbench.errors import ParameterError
from workbench.mpi import Launcher, MPIError, find_launcher
from workbench.tasks import Task
from workbench.tune.benchmark import COLLECTIVES, Loop, benchmark_arguments, parse_benchmark
from workbench.tune.benchmark.forms import build_benchmark
from workbench.tune.recorded.files import read_recording
from workbench.tune.recorded.record_open_mpi import record_open_mpi
from workbench.tune.runners.runner import RunOutput
from workbench.tune.target import OSULatency

QUICK = Loop(warmup=2, least=3, most=5, budget_ms=1)
TABLE = """\
# Interconnect Workbench MPI Reduce Latency Test, 4 ranks
# Size           Avg Latency(us)   Min Latency(us)   P50 Latency(us)   P99 Latency(us)   \
Max Latency(us)    Iterations       Seconds
8                          1.500             1.000             2.000             3.000             \
4.000           100      0.010000
16                         2.500             2.000             3.000             4.000             \
5.000            90      0.020000
"""


@pytest.fixture(scope="module")
def mpi() -> Launcher:
    try:
        found = find_launcher()
    except MPIError as error:
        pytest.skip(f"no MPI to measure with: {error}")
    if found.family != "openmpi":
        pytest.skip(f"the parameters are Open MPI's; this is {found.version}")
    return found


@pytest.fixture(scope="module")
def program(mpi: Launcher, tmp_path_factory: pytest.TempPathFactory) -> Path:
    try:
        return build_benchmark(mpi.compiler(), tmp_path_factory.mktemp("benchmark"))
    except MPIError as error:
        pytest.skip(f"no compiler for the MPI: {error}")


def run(mpi: Launcher, words: tuple[str, ...], ranks: int) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        mpi.command(words, ranks, {}),
        env=mpi.own_environment(),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_a_table_is_read() -> None:
    rows = parse_benchmark("noise\n" + TABLE)
    assert [row.size for row in rows] == [8, 16]
    assert rows[0].latencies_us == (1.5, 1.0, 2.0, 3.0, 4.0)
    assert (rows[1].calls, rows[1].seconds) == (90, 0.02)


def test_a_cut_table_has_fewer_rows() -> None:
    assert [row.size for row in parse_benchmark(TABLE[:-20])] == [8]
    assert parse_benchmark("") == []


def test_the_table_is_one_for_the_osu_target() -> None:
    output = RunOutput(1.0, stdout=TABLE)
    assert OSULatency(size=16, statistic="P50").read(output) == 3.0
    assert OSULatency(size=8).read(output) == 1.5


@for_each("sizes", [(), (3,), (4, 8, 24), (8, 4), (6, 12), (4, 2**30)])
def test_sizes_that_one_run_cannot_measure(sizes: tuple[int, ...]) -> None:
    with pytest.raises(ParameterError, match="sizes must"):
        benchmark_arguments("bcast", sizes)


def test_unknown_collectives_and_loops() -> None:
    with pytest.raises(ParameterError, match="allreduce, bcast, gather, reduce"):
        benchmark_arguments("scan", (4, 8))
    with pytest.raises(ParameterError, match="most must"):
        Loop(least=10, most=5)


@for_each("collective", COLLECTIVES)
def test_each_collective_is_right_and_measured(
    mpi: Launcher, program: Path, collective: str
) -> None:
    done = run(mpi, (str(program), *benchmark_arguments(collective, (4, 64, 1024), QUICK)), 3)
    assert done.returncode == 0, done.stderr
    rows = parse_benchmark(done.stdout)
    assert [row.size for row in rows] == [4, 64, 1024]
    for row in rows:
        _, least, median, p99, most = row.latencies_us
        assert 0 < least <= median <= p99 <= most
        assert QUICK.least <= row.calls <= QUICK.most


def test_bad_arguments_are_refused(mpi: Launcher, program: Path) -> None:
    done = run(mpi, (str(program), "scan", "4", "8", "2", "1", "1", "1", "1"), 1)
    assert done.returncode != 0
    assert "usage: collective" in done.stderr


def test_a_recording_goes_on_where_it_was(mpi: Launcher, program: Path, tmp_path: Path) -> None:
    folder = tmp_path / "gathers"
    first = record_open_mpi(
        folder, ranks=2, rounds=1, collectives=("gather",), sizes=(64, 128), loop=QUICK, limit_s=0.8
    )
    assert 0 < first.started <= 9
    # A kill in the middle of a write leaves half a row: the last start lacks a size.
    path = folder / "gather.csv"
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join([*lines[:-1], lines[-1][:9]]))
    seen: list[str] = []
    second = record_open_mpi(
        folder,
        ranks=2,
        rounds=1,
        collectives=("gather",),
        sizes=(64, 128),
        loop=QUICK,
        task=Task(lambda now: seen.append(now.message)),
    )
    assert second.whole
    assert second.started == 9
    assert len(seen) == 9 - first.started + 1
    recording = read_recording(folder)
    assert set(recording) == {"gather/64", "gather/128"}
    assert {len(each) for each in recording["gather/64"].values} == {1}
    with pytest.raises(ParameterError, match="use the same ranks"):
        record_open_mpi(folder, ranks=3, rounds=1, collectives=("gather",), sizes=(64, 128))
    # Times of other numbers of calls are no repeats of these.
    with pytest.raises(ParameterError, match="use the same loop"):
        record_open_mpi(folder, ranks=2, rounds=2, collectives=("gather",), sizes=(64, 128))


def test_impossible_recordings(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="ranks must be a whole number of at least 2"):
        record_open_mpi(tmp_path, ranks=1)
    with pytest.raises(ParameterError, match="rounds must be a whole number of at least 1"):
        record_open_mpi(tmp_path, rounds=0)
