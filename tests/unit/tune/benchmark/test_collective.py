"""The benchmark's form in Python: its arithmetic anywhere, its table where there is an mpi4py."""

from __future__ import annotations

import gc
import re
import subprocess
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tests.cases import for_each
from workbench.errors import ParameterError
from workbench.mpi import Launcher, MPIError, find_launcher
from workbench.tune.benchmark import (
    COLLECTIVES,
    STATISTICS,
    Loop,
    benchmark_arguments,
    collective,
    parse_benchmark,
)
from workbench.tune.benchmark.collective import (
    TITLES,
    contribution,
    heading,
    requested,
    result,
    row,
)
from workbench.tune.benchmark.forms import Benchmark, find_benchmark

SIZES = (4, 64, 1024)
QUICK = Loop(warmup=2, least=3, most=5, budget_ms=1)


@for_each("value", [1.5, True, "9", float("nan")])
def test_counts_and_sizes_are_whole_numbers(value: Any) -> None:
    with pytest.raises(ParameterError, match="warmup must be a whole number of at least 0"):
        Loop(warmup=value)
    with pytest.raises(ParameterError, match="sizes must be whole numbers"):
        benchmark_arguments("reduce", [value])


@pytest.fixture(scope="module")
def mpi() -> Launcher:
    try:
        return find_launcher()
    except MPIError as error:
        pytest.skip(f"no MPI to measure with: {error}")


def form_or_skip(mpi: Launcher, form: str) -> Benchmark:
    """Return the benchmark in that form; a machine without it leaves the test out."""
    try:
        return find_benchmark(mpi, form)
    except MPIError as error:
        pytest.skip(f"no {form} to measure with: {error}")


@pytest.fixture(scope="module")
def with_mpi4py(mpi: Launcher) -> Benchmark:
    return form_or_skip(mpi, "mpi4py")


def test_both_forms_measure_the_same_collectives() -> None:
    assert tuple(TITLES) == COLLECTIVES
    source = Path(find_benchmark.__code__.co_filename).with_name("collective.c").read_text()
    for name, title in TITLES.items():
        assert f'"{name}"' in source
        assert f'"{title}"' in source


def test_the_arguments_are_those_of_the_benchmark() -> None:
    request = requested(benchmark_arguments("bcast", (4, 64, 1024), QUICK))
    assert request is not None
    assert request.operation == "bcast"
    assert request.sizes == [4, 64, 1024]
    assert (request.warmup, request.least, request.most, request.budget_ms) == (2, 3, 5, 1)


@for_each(
    "words",
    [
        "",
        "bcast 4 8 2 1 1 1",
        "bcast 4 8 2 1 1 1 1 1",
        "scan 4 8 2 1 1 1 1",
        "bcast 2 8 2 1 1 1 1",
        "bcast 4 268435457 2 1 1 1 1",
        "bcast 4 8 1 1 1 1 1",
        "bcast 4 8 2 -1 1 1 1",
        "bcast 4 8 2 1 0 1 1",
        "bcast 4 8 2 1 2 1 1",
        "bcast 4 8 2 1 1 1000001 1",
        "bcast 4 8 2 1 1 many 1",
    ],
)
def test_arguments_that_are_refused(words: str) -> None:
    assert requested(words.split()) is None


def test_as_many_calls_as_fit_into_the_budget() -> None:
    request = requested(["bcast", "4", "8", "2", "20", "10", "500", "40"])
    assert request is not None
    assert request.calls(1e-3) == 40
    assert request.calls(1e-6) == 500
    assert request.calls(1.0) == 10
    assert request.calls(0.0) == 500


def test_what_each_rank_must_have() -> None:
    ranks, count = 3, 10
    given = np.array([contribution(rank, count) for rank in range(ranks)])
    assert given[1].tolist() == [2, 4, 6, 8, 10, 12, 14, 2, 4, 6]
    for rank in range(ranks):
        assert np.array_equal(result("allreduce", rank, ranks, count), given.sum(axis=0))
        assert np.array_equal(result("bcast", rank, ranks, count), given[0])
    assert np.array_equal(result("reduce", 0, ranks, count), given.sum(axis=0))
    assert np.array_equal(result("gather", 0, ranks, count), given.ravel())
    assert result("reduce", 1, ranks, count) is None
    assert result("gather", 2, ranks, count) is None


@for_each("calls", [1, 2, 3, 99, 100, 101, 250])
def test_the_row_has_the_statistics_of_the_longest_times(calls: int) -> None:
    times_s = np.random.default_rng(calls).uniform(1e-6, 1e-3, (3, calls))
    text = heading("reduce", 3, "4.1.2") + row(64, times_s.ravel().tolist(), 3, 0.25)
    (read,) = parse_benchmark(text)
    longest = times_s.max(axis=0)
    p99 = np.quantile(longest, 0.99, method="inverted_cdf")
    expected = (times_s.mean(), longest.min(), np.median(longest), p99, longest.max())
    assert read.latencies_us == pytest.approx(1e6 * np.array(expected), abs=6e-4)  # three decimals
    assert (read.size, read.calls, read.seconds) == (64, calls, 0.25)


class World:
    """A communicator of one rank, with as much of mpi4py around it as the program uses.

    Args:
        wrong: whether what its collectives leave is wrong.
    """

    FLOAT = DOUBLE = INT = SUM = None
    Wtime = staticmethod(time.perf_counter)
    rank, size, __version__ = 0, 1, "4.1.2"

    def __init__(self, wrong: bool = False) -> None:
        self.COMM_WORLD, self.rc, self.wrong = self, SimpleNamespace(), wrong
        self.called: list[str] = []
        self.aborted: list[int] = []

    def Barrier(self) -> None:
        self.called.append("barrier")

    def Reduce(self, given: list[Any], taken: list[Any], _: None, root: int) -> None:
        self.called.append("reduce")
        taken[0][:] = given[0]
        if self.wrong:
            taken[0][-1] += 1.0

    def Abort(self, status: int) -> None:
        self.aborted.append(status)


def told(world: World, monkeypatch: pytest.MonkeyPatch, *words: str) -> int:
    """Return the status with which the program ends in such a world."""
    monkeypatch.setattr(collective, "import_module", {"mpi4py": world, "mpi4py.MPI": world}.get)
    try:
        return collective.main(words)
    finally:
        gc.enable()


def test_each_call_follows_a_barrier(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    world = World()
    assert told(world, monkeypatch, *benchmark_arguments("reduce", (4, 8), Loop(2, 3, 3))) == 0
    assert world.rc.threads is False
    assert world.called == 2 * ["reduce", *(2 + 3) * ["barrier", "reduce"]]
    assert [(each.size, each.calls) for each in parse_benchmark(capsys.readouterr().out)] == [
        (4, 3),
        (8, 3),
    ]


def test_a_wrong_result_ends_all_ranks(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    world = World(wrong=True)
    told(world, monkeypatch, *benchmark_arguments("reduce", (64, 128), QUICK))
    shown = capsys.readouterr()
    assert world.aborted == [3]
    assert "rank 0 has a wrong result at 64 bytes" in shown.err
    assert parse_benchmark(shown.out) == []


def test_bad_arguments_get_the_usage(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert told(World(), monkeypatch, "scan", "4", "8", "2", "1", "1", "1", "1") == 2
    shown = capsys.readouterr()
    assert shown.err.startswith("usage: collective allreduce|bcast|gather|reduce LOWEST")
    assert shown.out == ""


def measured(mpi: Launcher, form: Benchmark, operation: str, ranks: int) -> str:
    """Return the table of a run that was found right, its numbers in order."""
    done = subprocess.run(
        mpi.command((*form.words, *benchmark_arguments(operation, SIZES, QUICK)), ranks, {}),
        env=mpi.own_environment(),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert f"{ranks} ranks, from {form.caller}\n" in done.stdout
    rows = parse_benchmark(done.stdout)
    assert [each.size for each in rows] == list(SIZES)
    for each in rows:
        average, least, median, p99, most = each.latencies_us
        assert 0 < least <= median <= p99 <= most
        assert 0 < average <= most
        assert QUICK.least <= each.calls <= QUICK.most
        assert each.seconds >= 1e-6 * least * each.calls
    return done.stdout


@for_each("operation", ["bcast", "gather", "reduce"])
def test_each_collective_is_right_and_measured(
    mpi: Launcher, with_mpi4py: Benchmark, operation: str
) -> None:
    measured(mpi, with_mpi4py, operation, 3)


def test_both_forms_print_one_table(mpi: Launcher, with_mpi4py: Benchmark) -> None:
    from_python = measured(mpi, with_mpi4py, "allreduce", 3).splitlines()
    from_c = measured(mpi, form_or_skip(mpi, "C"), "allreduce", 3).splitlines()
    assert from_c[0].replace("from C", f"from {with_mpi4py.caller}") == from_python[0]
    assert from_c[1:3] == from_python[1:3]
    assert [name for name in STATISTICS if f"{name} Latency(us)" not in from_c[2]] == []
    assert list(map(ends, from_c[3:])) == list(map(ends, from_python[3:]))


def ends(line: str) -> list[int]:
    """Return where the numbers of a row end: columns of one width, whatever the times are."""
    return [number.end() for number in re.finditer(r"\S+", line)]
