from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from bokeh.core.enums import RenderLevel
from bokeh.models import Whisker
from hypothesis import given, strategies as st

from workbench.plotting.tuning.comparison import (
    MOST,
    best_line,
    comparison_figure,
    describe_comparison,
    plot_tuning_comparison,
)
from workbench.plotting.tuning.importance import plot_importance
from workbench.plotting.tuning.parallel import (
    heights,
    label_columns,
    parallel_columns,
    parallel_figure,
    plot_parallel,
)
from workbench.plotting.tuning.parameter_names import MOST as MOST_LETTERS, short_names
from workbench.plotting.tuning.trajectory import (
    describe_trajectory,
    plot_trajectory,
    repeat_columns,
    run_columns,
    trajectory_figure,
    trajectory_range,
)
from workbench.tune import Choices, Grid, Range, TuningSpace
from workbench.tune.history import Run
from workbench.tune.result import TuningResult
from workbench.tune.store.run_record import RunRecord

SPACE = TuningSpace(
    {"n": Grid.of([1, 2, 4]), "how": Choices.of(["a", "b"])}, defaults={"n": 1, "how": "a"}
)
Runs = Sequence[tuple[int, str, float, str]]
RUNS: Runs = [
    (1, "a", 10.0, "complete"),
    (2, "a", 8.0, "complete"),
    (2, "a", 6.0, "complete"),
    (4, "b", 10.0, "pruned"),
    (4, "a", math.nan, "failed"),
    (1, "b", 9.0, "complete"),
]


def result_of(runs: Runs, **options: Any) -> TuningResult:
    seen: dict[tuple[int, str], int] = {}
    records = []
    for number, (n, how, value, status) in enumerate(runs):
        repeat = seen.get((n, how), 0)
        seen[n, how] = repeat + 1
        run = Run(
            {"n": n, "how": how},
            value,
            0.5,
            status,  # type: ignore[arg-type]
            repeat=repeat,
        )
        records.append(RunRecord(number, run))
    return TuningResult("tried", SPACE, tuple(records), **options)


@pytest.fixture
def result() -> TuningResult:
    return result_of(RUNS, unit="ms")


def test_each_run_has_a_mark_of_its_kind(result: TuningResult) -> None:
    columns = run_columns(result, *trajectory_range(result))
    assert {kind: column["run"] for kind, column in columns.items()} == {
        "run": [1, 2, 6],
        "repeat": [3],
        "outside": [],
        "pruned": [4],
        "failed": [5],
    }
    low, high = trajectory_range(result)
    assert low < columns["failed"]["shown"][0] < high, "what has no value stands at the edge"


def test_repeats_come_to_one_value(result: TuningResult) -> None:
    columns = repeat_columns(result)
    assert columns["run"] == [3]
    assert columns["value"] == [7.0]
    assert columns["count"] == [2]


def test_the_axis_is_not_spoilt_by_one_slow_run() -> None:
    slow = result_of(
        [(n, "a", 10.0 + n, "complete") for n in (1, 2, 4)] * 3 + [(1, "b", 1e6, "complete")]
    )
    low, high = trajectory_range(slow)
    assert high < 100
    columns = run_columns(slow, low, high)
    assert columns["outside"]["value"] == [1e6]
    assert columns["outside"]["shown"][0] < high


@given(
    st.lists(
        st.tuples(st.sampled_from([1, 2, 4]), st.sampled_from("ab"), st.floats(-1e9, 1e9)),
        min_size=1,
        max_size=20,
    ),
    st.booleans(),
)
def test_the_axis_holds_best_and_default(runs: Any, minimise: bool) -> None:
    found = result_of([(*run, "complete") for run in runs], minimise=minimise)
    low, high = trajectory_range(found)
    assert low < high
    assert low <= found.best_value <= high
    assert math.isnan(found.default_value) or low <= found.default_value <= high


def test_the_figure_says_what_it_holds(result: TuningResult) -> None:
    drawn = trajectory_figure()
    drawn.show(result, title="tried")
    assert drawn.figure.yaxis[0].axis_label == "value (ms)"
    assert drawn.figure.xaxis[0].axis_label == "run"
    assert (drawn.default.location, drawn.default.visible) == (10.0, True)
    assert drawn.best.source.data["best"][:-1] == result.best_so_far().tolist()
    shown = [item.label["value"] for item in drawn.figure.legend[0].items if item.visible]
    assert shown == [
        *("one run", "run again", "pruned", "failed"),
        *("its runs together", "best so far", "default"),
    ]
    assert plot_trajectory(result).title.text == "tried"


def test_nothing_yet_can_be_drawn() -> None:
    empty = result_of([])
    assert describe_trajectory(empty) == "No run has given a value yet."
    assert parallel_columns(empty)["xs"] == []
    for draw in (plot_trajectory, plot_parallel):
        draw(empty)
    assert not any(item.visible for item in plot_trajectory(empty).legend[0].items)
    plot_importance({})
    plot_tuning_comparison({"none": empty})


def test_the_sentence_counts(result: TuningResult) -> None:
    assert describe_trajectory(result) == (
        "Best: 7 ms (2 runs) with n 2, how a, 30.0 % better than the default's 10 ms (one run). "
        "6 runs, 1 pruned, 1 failed, 3 s of the program's time; "
        "83 % of 6 configurations were run."
    )
    assert describe_trajectory(result_of([(4, "a", math.nan, "failed")])) == "No run gave a value."
    alone = describe_trajectory(result_of([(1, "a", 10.0, "complete")]))
    assert "no better than the default's 10 (one run)" in alone


def test_configurations_are_lines_from_the_worst_to_the_best(result: TuningResult) -> None:
    columns = parallel_columns(result)
    assert columns["value"] == [10.0, 9.0, 7.0]
    assert columns["ys"][-1] == [0.5, 0.0]
    drawn = parallel_figure()
    drawn.show(result)
    assert drawn.best.data["value"] == [7.0]
    assert drawn.figure.xaxis[0].major_label_overrides == {0: "n", 1: "how"}


def test_places_on_the_axes() -> None:
    space = TuningSpace(
        {
            "kind": Choices.of(["x", "y"]),
            "grid": Grid.of([1, 2, 4]),
            "range": Range(1.0, 100.0, log=True),
        },
        conditions={"grid": "kind == 'x'"},
    )
    places = heights(space, {"kind": "y", "grid": None, "range": 10.0})
    assert places[0] == 1.0
    assert places[1] < 0, "what is not passed stands below the axis"
    assert places[2] == pytest.approx(0.5)
    assert heights(space, {"kind": "x", "grid": 3, "range": 1.0})[1] == 0.75
    labels = label_columns(space)
    assert [t for x, t in zip(labels["x"], labels["text"], strict=True) if x == 1] == [
        *("1", "2", "4", "not passed")
    ]


def test_long_axes_have_few_labels() -> None:
    space = TuningSpace({"n": Grid.of(list(range(100)))})
    texts = label_columns(space)["text"]
    assert len(texts) <= 10
    assert (texts[0], texts[-1]) == ("0", "99")


def test_importance_in_percent() -> None:
    figure = plot_importance({"a": 0.75, "b": 0.25})
    assert figure.y_range.factors == ["b", "a"]
    assert figure.renderers[0].data_source.data["percent"] == [75.0, 25.0]
    assert figure.title.text == "Parameter importance for the best tenth"
    assert plot_importance({}).title.text.endswith(": too few runs")
    drawn = plot_importance({"a": 0.75, "b": 0.25}, {"a": (0.5, 0.875), "b": (0.125, 0.5)})
    (whisker,) = drawn.select(Whisker)
    assert whisker.source.data["low"] == [50.0, 12.5]
    assert whisker.source.data["high"] == [87.5, 50.0]


def test_long_names_are_shortened_to_what_tells_them_apart() -> None:
    reduce = "OMPI_MCA_coll_tuned_reduce_algorithm"
    names = [reduce, f"{reduce}_chain_fanout", f"{reduce}_segmentsize"]
    short = ["…algorithm", "…chain_fanout", "…segmentsize"]
    assert list(short_names(names).values()) == short
    assert short_names(["a", "b_c"]) == {"a": "a", "b_c": "b_c"}
    assert short_names([reduce]) == {reduce: "…reduce_algorithm"}
    assert short_names(["x" * 40]) == {"x" * 40: "…" + "x" * (MOST_LETTERS - 1)}
    alike = [f"a_{'x' * 30}", f"b_{'x' * 30}"]
    assert list(short_names(alike).values()) == alike, "two of one name could not be drawn"
    figure = plot_importance(dict.fromkeys(names, 1 / 3))
    assert figure.y_range.factors == short[::-1]
    assert figure.renderers[0].data_source.data["name"] == names
    result = TuningResult("long", TuningSpace({name: Grid.of([1, 2]) for name in names}), ())
    assert plot_parallel(result).xaxis[0].major_label_overrides == dict(enumerate(short))


def test_experiments_over_runs_and_over_time(result: TuningResult) -> None:
    x, best = best_line(result, "seconds")
    np.testing.assert_allclose(x, 0.5 * np.arange(1, 7))
    np.testing.assert_array_equal(best, result.best_so_far())
    drawn = comparison_figure()
    drawn.show({f"{n}": result for n in range(MOST + 2)}, over="seconds")
    names = [item.label["value"] for item in drawn.figure.legend[0].items if item.visible]
    assert names == [f"{n}" for n in range(2, MOST + 2)]
    assert drawn.figure.xaxis[0].axis_label == "time of all runs so far (s)"
    assert drawn.figure.yaxis[0].axis_label == "best value so far (ms)"


def test_the_best_experiment_is_named(result: TuningResult) -> None:
    worse = result_of([(1, "a", 10.0, "complete")], unit="ms")
    both = {"x": worse, "y": result}
    assert describe_comparison(both) == "Of 2 experiments the best was found by y: 7 ms."
    assert describe_comparison(both, {"x": 8.0, "y": 8.5}) == (
        "Of 2 experiments the best was found by x: 8 ms by the median of all recorded runs."
    )
    assert "found by x and y: 8 ms" in describe_comparison(both, {"x": 8.0, "y": 8.0})
    assert describe_comparison({"y": result}) == ""


def test_an_interval_is_drawn_over_its_bar_from_end_to_end() -> None:
    fig = plot_importance({"n": 0.7, "how": 0.3}, {"n": (0.1, 0.8), "how": (0.2, 0.9)})
    (whiskers,) = fig.select(Whisker)
    (bars,) = fig.renderers
    assert whiskers.source.data["low"] == [10.0, 20.0]
    assert whiskers.source.data["high"] == [80.0, 90.0]
    layers = [str(layer) for layer in RenderLevel]
    assert layers.index(whiskers.level) > layers.index(bars.level)
