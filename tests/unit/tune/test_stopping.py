from __future__ import annotations

import math

import pytest
from hypothesis import given, strategies as st

from tests.cases import for_each
from tests.reference import tuning
from workbench.errors import ParameterError
from workbench.tune.history import History
from workbench.tune.space.axes import Choices, Grid
from workbench.tune.space.space import TuningSpace
from workbench.tune.stopping import make_stopping, mean_distance

SPACE = TuningSpace({"a": Grid(tuple(range(11))), "b": Grid(tuple(range(0, 1001, 10)))})


def history_of(losses: list[float], initial: int = 0, **options: bool) -> History:
    history = History(SPACE, **options)
    for number, loss in enumerate(losses):
        configuration = {"a": number % 11, "b": 10 * (number % 101)}
        value = loss if history.minimise else -loss
        history.append(configuration, value, seconds=2.0, initial=number < initial)
    return history


def test_a_budget_leaves_initial_points_out_by_default() -> None:
    history = history_of([1.0] * 5, initial=3)
    assert make_stopping("budget", runs=3).reason(history) is None
    assert "budget of 2 runs" in (make_stopping("budget", runs=2).reason(history) or "")
    assert make_stopping("budget", runs=5, count_initial=True).reason(history)
    assert not make_stopping("budget", runs=6, count_initial=True).reason(history)


def test_resamples_count_in_the_budget() -> None:
    history = History(SPACE)
    for _ in range(4):
        history.append({"a": 0, "b": 0}, 1.0, resampled=len(history) > 0)
    assert make_stopping("budget", runs=4).reason(history)


def test_a_time_limit_adds_what_runs_took() -> None:
    history = history_of([1.0] * 5)
    assert make_stopping("time", seconds=10.0).reason(history)
    assert make_stopping("time", seconds=10.5).reason(history) is None


@given(
    st.lists(st.floats(0.5, 100.0), min_size=1, max_size=40),
    st.integers(0, 10),
    st.sampled_from(["min", "mean", "median"]),
    st.integers(1, 10),
    st.floats(-0.5, 0.9),
    st.booleans(),
)
def test_improvement_is_as_it_is_written_down(
    losses: list[float], initial: int, how: str, window: int, threshold: float, minimise: bool
) -> None:
    initial = min(initial, len(losses))
    history = history_of(losses, initial, minimise=minimise)
    rule = make_stopping("improvement", estimator=how, window=window, threshold=threshold)
    gain = tuning.improvement(losses, initial, how, window)
    if gain is None or abs(gain - threshold) > 1e-9:
        assert (rule.reason(history) is not None) == (gain is not None and gain < threshold)


def test_improvement_of_negative_values_keeps_its_direction() -> None:
    rule = make_stopping("improvement", window=2, threshold=0.05)
    assert rule.reason(history_of([-10.0, -10.0, -11.0, -12.0])) is None
    assert rule.reason(history_of([-10.0, -10.0, -9.0, -9.0]))


def test_improvement_from_zero_and_from_nothing_is_improvement() -> None:
    rule = make_stopping("improvement", window=2, threshold=0.05)
    assert rule.reason(history_of([0.0, 0.0, -1.0, 0.0])) is None
    assert rule.reason(history_of([0.0, 0.0, 0.0, 0.0]))
    history = History(SPACE)
    for a in range(2):
        history.append({"a": a, "b": 0}, math.nan, status="failed")
    for a in range(2, 4):
        history.append({"a": a, "b": 0}, 1.0)
    assert rule.reason(history) is None
    for a in range(4, 6):
        history.append({"a": a, "b": 0}, math.nan, status="failed")
    assert rule.reason(history)


def test_resamples_do_not_fill_the_window() -> None:
    rule = make_stopping("improvement", window=3, threshold=0.01)
    history = history_of([5.0, 5.0, 5.0])
    for _ in range(5):
        history.append(history[-1].configuration, 5.0, resampled=True)
    assert rule.reason(history) is None
    history.append({"a": 9, "b": 0}, 5.0)
    assert rule.reason(history)


def test_count_movement_counts_different_proposals_after_the_initial_points() -> None:
    rule = make_stopping("count-movement", most=2, window=4)
    history = history_of([1.0] * 4, initial=4)
    for a in (1, 2, 1):
        history.append({"a": a, "b": 0}, 1.0)
    assert rule.reason(history) is None
    history.append({"a": 2, "b": 0}, 1.0)
    assert rule.reason(history)
    history.append({"a": 3, "b": 0}, 1.0)
    assert rule.reason(history) is None


@given(st.lists(st.tuples(st.integers(0, 10), st.integers(0, 100)), min_size=1, max_size=12))
def test_the_mean_distance_is_scaled_by_each_axis(points: list[tuple[int, int]]) -> None:
    history = History(SPACE)
    for a, b in points:
        history.append({"a": a, "b": 10 * b}, 1.0)
    expected = tuning.mean_pair_distance([(a / 10, b / 100) for a, b in points])
    assert mean_distance(SPACE, history.visits) == pytest.approx(expected, abs=1e-12)


def test_two_choices_are_as_far_apart_as_the_ends_of_a_grid() -> None:
    space = TuningSpace({"a": Choices(("x", "y", "z")), "b": Grid((0, 1))})
    history = History(space)
    history.append({"a": "x", "b": 0}, 1.0)
    history.append({"a": "z", "b": 1}, 1.0)
    assert mean_distance(space, history.visits) == pytest.approx(1.0)


def test_distance_movement_ends_where_proposals_lie_close() -> None:
    rule = make_stopping("distance-movement", distance=0.1, window=3)
    history = History(SPACE)
    for a in (0, 10, 5):
        history.append({"a": a, "b": 0}, 1.0)
    assert rule.reason(history) is None
    for a in (4, 5, 4):
        history.append({"a": a, "b": 0}, 1.0)
    assert rule.reason(history)


def test_rules_are_combined() -> None:
    history = history_of([1.0] * 5)
    done, open_ = {"name": "budget", "runs": 5}, {"name": "time", "seconds": 99.0}
    assert make_stopping("any", rules=[open_, done]).reason(history)
    assert make_stopping("all", rules=[open_, done]).reason(history) is None
    both = make_stopping("all", rules=[done, {"name": "time", "seconds": 1.0}]).reason(history)
    assert both is not None and "budget" in both and "1 s" in both
    assert make_stopping("any", rules=[]).reason(history) is None


@for_each(
    "name, options, key",
    [
        ("never", {}, "stopping"),
        ("budget", {"runs": 0}, "runs"),
        ("budget", {"runs": 1.5}, "runs"),
        ("time", {}, "seconds"),
        ("time", {"seconds": 0.0}, "seconds"),
        ("time", {"seconds": math.inf}, "seconds"),
        ("improvement", {"estimator": "max"}, "estimator"),
        ("improvement", {"window": 0}, "window"),
        ("improvement", {"threshold": math.nan}, "threshold"),
        ("count-movement", {"most": 0}, "most"),
        ("distance-movement", {"distance": -0.1}, "distance"),
        ("distance-movement", {"distance": 5.0}, "distance"),
        ("budget", {"count_initial": "no"}, "count_initial"),
        ("all", {"rules": []}, "rules"),
        ("any", {"rules": 0}, "rules"),
        ("any", {"rules": "time"}, "rules"),
        ("any", {"rules": [{"runs": 5}]}, "stopping"),
        ("any", {"rules": [{"name": "budget", "run": 5}]}, "run"),
    ],
)
def test_what_a_rule_cannot_be_is_refused(name: str, options: dict, key: str) -> None:
    with pytest.raises(ParameterError) as error:
        make_stopping(name, **options)
    assert error.value.key == key
