from __future__ import annotations

import math
import statistics

import numpy as np
import pytest
from hypothesis import given, strategies as st

from tests.cases import for_each
from workbench.errors import ParameterError
from workbench.tune.history import History
from workbench.tune.space.axes import Choices, Grid
from workbench.tune.space.space import TuningSpace

SPACE = TuningSpace({"a": Grid((1, 2, 3)), "b": Choices(("x", "y"))}, defaults={"a": 2, "b": "x"})


def at(a: int, b: str = "x") -> dict[str, int | str]:
    return {"a": a, "b": b}


def test_runs_are_kept_in_order_with_their_repeats() -> None:
    history = History(SPACE)
    history.append(at(1), 5.0, seconds=2.0, initial=True)
    history.append(at(2), 4.0, seconds=1.0)
    run = history.append(at(1), 6.0, seconds=2.5, resampled=True)
    assert run.repeat == 1
    assert history.values.tolist() == [5.0, 4.0, 6.0]
    assert history.seconds.tolist() == [2.0, 1.0, 2.5]
    assert history.initial.tolist() == [True, False, False]
    assert history.statuses == ("complete",) * 3
    assert [r.value for r in history.runs_of(at(1))] == [5.0, 6.0]
    assert history.last == run == history[2]
    assert history.seen(at(2)) and not history.seen(at(3))


def test_equal_configurations_are_one_whatever_the_type_of_their_numbers() -> None:
    history = History(SPACE)
    history.append({"a": 1.0, "b": "x"}, 5.0)
    assert history.append({"b": "x", "a": 1}, 6.0).repeat == 1


def test_the_best_of_a_maximised_target_is_the_largest() -> None:
    history = History(SPACE, minimise=False)
    history.append(at(1), 5.0)
    history.append(at(2), 7.0)
    assert history.losses.tolist() == [-5.0, -7.0]
    assert history.best() == (at(2), 7.0)
    assert history.best_so_far().tolist() == [5.0, 7.0]


@given(
    st.lists(
        st.tuples(st.integers(1, 3), st.floats(-1e6, 1e6, allow_nan=False)), min_size=1, max_size=30
    )
)
def test_aggregates_are_those_of_each_configuration(runs: list[tuple[int, float]]) -> None:
    history = History(SPACE)
    for a, value in runs:
        history.append(at(a), value)
    order = list(dict.fromkeys(a for a, _ in runs))
    for how, estimate in (("mean", statistics.fmean), ("median", statistics.median), ("min", min)):
        table = history.aggregated(how)
        assert [c["a"] for c in table.configurations] == order
        for row, a in enumerate(order):
            mine = [value for b, value in runs if b == a]
            assert table.losses[row] == pytest.approx(estimate(mine), rel=1e-12, abs=1e-9)
            assert table.counts[row] == len(mine)
            if len(mine) > 1:
                assert table.spread[row] == pytest.approx(statistics.stdev(mine), abs=1e-6)
        best = history.best(how)
        assert best is not None and best[1] == table.losses.min()
        assert not table.censored.any()


@given(
    st.lists(st.tuples(st.integers(1, 3), st.floats(0.1, 100.0)), min_size=1, max_size=20),
    st.sampled_from(["mean", "median", "min"]),
)
def test_best_so_far_ends_with_each_prefix_of_the_history(
    runs: list[tuple[int, float]], how: str
) -> None:
    history = History(SPACE)
    for a, value in runs:
        history.append(at(a), value)
    found = history.best_so_far(how)
    for count in range(1, len(runs) + 1):
        best = history.first(count).best(how)
        assert best is not None and found[count - 1] == pytest.approx(best[1])


def test_a_pruned_run_is_a_bound_and_never_the_best() -> None:
    history = History(SPACE)
    history.append(at(1), 5.0)
    history.append(at(2), 3.0, status="pruned")
    table = history.aggregated()
    assert table.censored.tolist() == [False, True]
    assert table.losses.tolist() == [5.0, 3.0]
    assert history.best() == (at(1), 5.0)


def test_a_median_with_fewer_than_half_its_runs_pruned_is_known_and_a_mean_is_not() -> None:
    history = History(SPACE)
    history.append(at(1), 5.0)
    history.append(at(1), 6.0)
    history.append(at(1), 9.0, status="pruned")
    for how, loss, censored in (
        ("median", 6.0, False),
        ("mean", 20.0 / 3.0, True),
        ("min", 5.0, False),
    ):
        table = history.aggregated(how)
        assert table.losses[0] == pytest.approx(loss)
        assert bool(table.censored[0]) is censored


def test_a_failed_run_says_nothing_of_the_value() -> None:
    history = History(SPACE)
    history.append(at(1), 5.0)
    history.append(at(2), 1.0, status="failed")
    table = history.aggregated()
    assert math.isnan(history[1].value)
    assert table.failed.tolist() == [False, True]
    assert math.isnan(table.losses[1]) and table.ranked[1] == 5.0
    assert history.best() == (at(1), 5.0)
    history.append(at(2), 2.0)
    assert not history.aggregated().failed.any()
    assert history.best() == (at(2), 2.0)


def test_a_pruned_run_of_another_target_has_no_bound() -> None:
    history = History(SPACE)
    history.append(at(1), 5.0)
    history.append(at(2), math.nan, status="pruned")
    table = history.aggregated()
    assert table.censored.tolist() == [False, True]
    assert not table.failed.any()
    assert table.ranked.tolist() == [5.0, 5.0]
    # It was slow, which says nothing of what was measured before.
    history.append(at(1), math.nan, status="pruned")
    for how in ("mean", "median", "min"):
        assert history.best(how) == (at(1), 5.0)


def test_a_visit_takes_its_resamples_in() -> None:
    history = History(SPACE, aggregation="mean")
    history.append(at(1), 4.0, initial=True)
    history.append(at(2), 5.0)
    history.append(at(2), 7.0, resampled=True)
    history.append(at(2), 9.0)
    first, second, third = history.visits
    assert (first.initial, second.initial) == (True, False)
    assert (second.start, second.stop, second.loss) == (1, 3, 6.0)
    assert (third.start, third.stop, third.loss) == (3, 4, 7.0)


def test_a_resample_that_ends_late_in_a_parallel_search_belongs_to_its_visit() -> None:
    history = History(SPACE)
    history.append(at(1), 4.0)
    history.append(at(2), 5.0)
    history.append(at(1), 6.0, resampled=True)
    assert [visit.loss for visit in history.visits] == [5.0, 5.0]


def test_a_history_filled_from_another_is_equal() -> None:
    rng = np.random.default_rng(3)
    history = History(SPACE)
    for number in range(20):
        history.append(SPACE.sample(rng), float(rng.random()), resampled=number % 3 == 2)
    other = History(SPACE)
    other.extend(history)
    assert other.runs == history.runs and other.visits == history.visits
    assert other.first(7).runs == history.runs[:7]


def test_pending_configurations_count_as_seen_and_in_the_step() -> None:
    history = History(SPACE)
    history.append(at(1), 4.0)
    history.pending = [at(3)]
    assert history.seen(at(3)) and history.step == 2 and len(history) == 1


def test_an_empty_history_has_no_best() -> None:
    history = History(SPACE)
    assert history.best() is None and history.last is None
    assert len(history.aggregated()) == 0 and history.aggregated().codes.shape == (0, 3)


@for_each(
    "arguments, key",
    [
        ({"value": math.nan}, "value"),
        ({"value": 1.0, "status": "lost"}, "status"),
        ({"value": 1.0, "seconds": -1.0}, "seconds"),
        ({"value": 1.0, "seconds": math.nan}, "seconds"),
    ],
)
def test_what_is_no_run_is_refused(arguments: dict, key: str) -> None:
    with pytest.raises(ParameterError) as error:
        History(SPACE).append(at(1), **arguments)
    assert error.value.key == key


def test_an_unknown_aggregation_is_refused() -> None:
    with pytest.raises(ParameterError, match="mean, median, min"):
        History(SPACE, aggregation="mode")
    with pytest.raises(ParameterError, match="mean, median, min"):
        History(SPACE).aggregated("mode")
