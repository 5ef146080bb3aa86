"""The number a run gives: by its time, its output, its table, or a function."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given, strategies as st

from tests.cases import for_each
from workbench.errors import ParameterError
from workbench.tune.target import (
    Computed,
    OSULatency,
    OSURow,
    OutputRegex,
    TargetError,
    WallTime,
    osu_rows,
    target_from_dict,
)

TABLE = """
some launcher: warning
# OSU MPI Allreduce Latency Test v7.3
# Size       Avg Latency(us)   Min Latency(us)   Max Latency(us)  Iterations  P50 Tail Lat(us)
8                       2.50              1.50              4.50         100              2.25
1024                    5.00              4.00              9.00         100              4.75
1048576               900.00            800.00           1000.00          20            880.00
done in 3 s
"""


@dataclass(frozen=True)
class Run:
    """What a runner hands to a target."""

    stdout: str = ""
    stderr: str = ""
    seconds: float = 1.5


def test_wall_time_is_the_runs_own() -> None:
    assert WallTime().read(Run()) == 1.5
    assert WallTime().minimise
    with pytest.raises(TargetError, match="the time of a run must be a finite number; got nan"):
        WallTime().read(Run(seconds=math.nan))


@for_each(
    "target, output, value",
    [
        (OutputRegex(r"took ([0-9.]+) ms"), Run("took 1 ms\ntook 2.5 ms\n"), 2.5),
        (OutputRegex(r"took ([0-9.]+) ms"), Run("", "took 7 ms"), 7),
        (OutputRegex(r"took ([0-9.]+) ms"), Run("took 1 ms", "took 7 ms"), 1),
        (OutputRegex(r"took ([0-9.]+)", stream="stderr"), Run("took 1", "took 7"), 7),
        (OutputRegex(r"^iops=(?P<n>\S+)", "n"), Run("x\niops=12,345\n"), 12345),
        (OutputRegex(r"[0-9]+$", 0), Run("1 2\n3 4\n"), 4),
        (OutputRegex(r"= (\S+)"), Run("= 0"), 0),
        (OutputRegex(r"= (\S+)"), Run("= -1e-3"), -0.001),
        (OutputRegex(r"= (\S+)"), Run("= 12,345,678.9"), 12345678.9),
    ],
)
def test_a_regular_expression_gives_its_last_number(
    target: OutputRegex, output: Run, value: float
) -> None:
    assert target.read(output) == value


@for_each(
    "output, message",
    [
        (Run("nothing here"), "must have a match of .*; got an output that ends with 'nothing"),
        (Run(), "got no output"),
        (Run("t=abc"), "must be a number; got 'abc'"),
        (Run("t=inf"), "must be a finite number; got inf"),
        (Run("t=nan"), "must be a finite number; got nan"),
    ],
)
def test_an_output_without_the_number(output: Run, message: str) -> None:
    with pytest.raises(TargetError, match=message):
        OutputRegex(r"t=(\w*)").read(output)


@for_each(
    "arguments, message",
    [
        (("(",), "must be a regular expression: missing"),
        (("a",), "group must be one of 0 of 'a'; got 1; put the number into parentheses"),
        (("(a)", "n"), "group must be one of 0, 1"),
        (("(a)", True), "group must be"),
        (("",), "1 to 1000 characters"),
        (("(a)", 1, True, "", "log"), "stream must be one of both, stdout, stderr; got 'log'"),
    ],
)
def test_patterns_that_cannot_be(arguments: tuple[Any, ...], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        OutputRegex(*arguments)


@for_each("word", ["1,5", "12,34", "1,2345", "1.5,000,", ",500"])
def test_a_decimal_comma_is_not_taken_for_one_between_thousands(word: str) -> None:
    with pytest.raises(TargetError, match=f"got '{word}'; .* a point before its decimals"):
        OutputRegex(r"t=(\S+)").read(Run(f"t={word}"))


@for_each(
    "target, value",
    [
        (OSULatency(1024), 5.0),
        (OSULatency(1024, statistic="Max"), 9.0),
        (OSULatency(8, statistic="p50"), 2.25),
        (OSULatency(weights="size"), 8 * 2.5 + 1024 * 5 + 1048576 * 900),
        (OSULatency(weights="equal"), 907.5),
        (OSULatency(weights={8: 2, 1024: 0.5}), 7.5),
    ],
)
def test_a_table_gives_one_size_or_a_weighted_sum(target: OSULatency, value: float) -> None:
    assert target.read(Run(TABLE)) == value
    assert target.minimise


def test_a_table_of_one_size_needs_no_more() -> None:
    assert OSULatency().read(Run("# Size  Avg Latency(us)\n4096  17.25\n")) == 17.25
    with pytest.raises(TargetError, match=r"3 sizes needs a size .* 8, 1024, 1048576; name one"):
        OSULatency().read(Run(TABLE))


@for_each(
    "target, output, message",
    [
        (OSULatency(4), Run(TABLE), "must have a row of 4 B; it has 8, 1024, 1048576"),
        (OSULatency(8, statistic="P99"), Run(TABLE), "OSU benchmark with a column P99"),
        (OSULatency(8), Run("mpirun: not found"), "ends with 'mpirun: not found'"),
        (OSULatency(weights={4: 1}), Run(TABLE), "must have a row of 4 B"),
    ],
)
def test_a_table_without_the_number(target: OSULatency, output: Run, message: str) -> None:
    with pytest.raises(TargetError, match=message):
        target.read(output)


@for_each(
    "arguments, message",
    [
        ({"size": 8, "weights": "size"}, "exclude one another"),
        ({"size": -1}, "whole number of at least 0 B; got -1"),
        ({"size": 1.5}, "whole number of at least 0 B; got 1.5"),
        ({"size": True}, "whole number of at least 0 B; got True"),
        ({"weights": "log"}, "must be size, equal, or a number for each size; got 'log'"),
        ({"weights": {}}, "at least one size"),
        ({"weights": {"8": 1}}, "got 1 for '8'"),
        ({"weights": {8: math.nan}}, "got nan for 8"),
    ],
)
def test_tables_that_cannot_be_asked_for(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        OSULatency(**arguments)


def test_headings_of_other_benchmarks() -> None:
    narrow = "# Size (B) Avg(us) Median(us) p99(us) Max(us)\n16 1 2 3 4\n"
    assert osu_rows(narrow) == [OSURow(16, 1.0)]
    assert osu_rows(narrow, "median") == [OSURow(16, 2.0)]
    assert osu_rows(narrow, "Max") == [OSURow(16, 4.0)]
    # Of two tables in one output the last counts, and of two rows of a size.
    assert osu_rows(narrow + "# Size  Latency (us)\n16  9\n16  8\n") == [OSURow(16, 8.0)]
    assert osu_rows("8 1.5\n") == [OSURow(8, 1.5)]
    assert osu_rows("8 1.5\n", "avg") == []
    assert osu_rows("8 nan\n16 x\n" + "9 " * 2000) == []


@given(st.text(max_size=200), st.sampled_from(["", "avg", "x"]))
def test_any_text_is_a_table_or_none(text: str, statistic: str) -> None:
    for row in osu_rows(text, statistic):
        assert row.size >= 0
        assert math.isfinite(row.value)


def test_a_function_of_the_run() -> None:
    target = Computed(lambda run: run.seconds * 2, minimise=False, unit="J", name="energy")
    assert target.read(Run()) == 3
    assert (target.label, target.unit, target.minimise) == ("energy", "J", False)
    assert Computed(len).label == "len"  # type: ignore[arg-type]
    with pytest.raises(TargetError, match="must return a number; ZeroDivisionError"):
        Computed(lambda _: 1 / 0).read(Run())
    with pytest.raises(TargetError, match="finite"):
        Computed(lambda _: math.inf).read(Run())


@for_each(
    "target",
    [
        WallTime(),
        OutputRegex(r"a(\d)", 1, minimise=False, unit="B/s", stream="stdout", name="rate"),
        OSULatency(8, statistic="Min"),
        OSULatency(weights="size"),
        OSULatency(weights={8: 1, 16: 0.5}),
    ],
)
def test_targets_come_back_from_json(target: WallTime | OutputRegex | OSULatency) -> None:
    assert target_from_dict(json.loads(json.dumps(target.to_dict()))) == target


def test_targets_that_do_not_come_back() -> None:
    with pytest.raises(ParameterError, match="energy is a Python function"):
        target_from_dict(Computed(lambda _: 1.0, name="energy").to_dict())
    with pytest.raises(ParameterError, match="wall-time, regex, osu or computed; got 'x'"):
        target_from_dict({"kind": "x"})
    with pytest.raises(ParameterError, match="as to_dict writes it"):
        target_from_dict({"kind": "wall-time", "size": 3})
    with pytest.raises(ParameterError, match="as to_dict writes it"):
        target_from_dict({"kind": "osu", "weights": {"x": 3}})


def test_labels_and_units() -> None:
    assert OSULatency(8, statistic="Min").label == "Min latency at 8 B"
    assert OSULatency(weights="size").label == "weighted sum of latency"
    assert OSULatency(weights="size").unit == "B·µs"
    assert OutputRegex("(x)").label == "output value"
    assert OutputRegex("(x)", name="x").label == "x"


@for_each("heading", ["# Size   Bandwidth (MB/s)", "# Size  MB/s  Messages/s"])
def test_a_table_of_rates_is_no_table_of_latencies(heading: str) -> None:
    with pytest.raises(TargetError, match=r"must be one of latencies, .* maximise: true"):
        OSULatency(8).read(Run(f"{heading}\n8   5.2\n"))


def test_a_table_of_another_suite_is_not_misread() -> None:
    """The first column of the Intel MPI benchmarks is a number of repetitions."""
    text = "#bytes #repetitions  t_min[usec]  t_max[usec]\n  4   1000   1.03   1.05\n"
    with pytest.raises(TargetError, match="must have the table of an OSU benchmark"):
        OSULatency(4).read(Run(text))
