from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from tests.cases import for_each
from tests.reference import tuning
from workbench.errors import ParameterError
from workbench.tune.history import History
from workbench.tune.resampling import RESAMPLINGS, make_resampling
from workbench.tune.space.axes import Choices
from workbench.tune.space.space import TuningSpace

SPACE = TuningSpace({"name": Choices(("a", "b", "c"))})

runs = st.lists(st.tuples(st.sampled_from("abc"), st.floats(0.1, 100.0)), min_size=1, max_size=25)


def history_of(given_runs: tuning.Runs, **options: bool) -> History:
    history = History(SPACE, **options)
    for name, loss in given_runs:
        history.append({"name": name}, loss if history.minimise else -loss)
    return history


@given(runs, st.floats(0.01, 1.0), st.integers(2, 6), st.booleans())
def test_the_dynamic_rules_are_as_they_are_written_down(
    given_runs: tuning.Runs, share: float, most: int, minimise: bool
) -> None:
    history = history_of(given_runs, minimise=minimise)
    rule = make_resampling("standard-error", share=share, most=most)
    assert rule.should_repeat(history) == tuning.mean_resamples(given_runs, share, most)
    rule = make_resampling("nonparametric", share=share, most=most)
    assert rule.should_repeat(history) == tuning.median_resamples(given_runs, share, most)
    rule = make_resampling("nonparametric", share=share, most=most, z=1.0)
    assert rule.should_repeat(history) == tuning.median_resamples(given_runs, share, most, 1.0)


@for_each(
    "losses, again",
    [
        ([100.0], True),  # nothing is known of one run
        ([100.0, 104.0], True),  # standard deviation sqrt(8), standard error 2
        ([100.0, 104.0, 100.0, 104.0], False),  # 4 / sqrt(3) / 2 = 1.15
        ([0.0] * 10 + [1e9], False),  # as often as a configuration may be run
    ],
)
def test_a_threshold_is_of_the_standard_error_in_the_value_s_unit(
    losses: list[float], again: bool
) -> None:
    rule = make_resampling("standard-error", threshold=1.5)
    assert rule.should_repeat(history_of([("a", loss) for loss in losses])) == again
    # Far from zero it is the same error; a share of the value would be another.
    shifted = history_of([("a", 1e6 + loss) for loss in losses])
    assert rule.should_repeat(shifted) == again


def test_a_standard_error_at_the_threshold_is_not_below_it() -> None:
    history = history_of([("a", 100.0), ("a", 104.0)])
    assert make_resampling("standard-error", threshold=2.0).should_repeat(history)
    assert not make_resampling("standard-error", threshold=2.0001).should_repeat(history)


@given(runs, st.floats(0.01, 1.0), st.sampled_from(["exponential-99", "exponential-9"]))
def test_the_improved_rule_is_as_it_is_written_down(
    given_runs: tuning.Runs, share: float, schedule: str
) -> None:
    rate, least = {"exponential-99": (0.99, 0.8), "exponential-9": (0.9, 0.1)}[schedule]
    rule = make_resampling("improved", share=share, most=8, schedule=schedule, promising=schedule)
    expected = tuning.improved_resamples(given_runs, share, 8, rate, least)
    assert rule.should_repeat(history_of(given_runs)) == expected


@given(runs, st.integers(1, 5))
def test_static_resampling_counts_earlier_visits(given_runs: tuning.Runs, count: int) -> None:
    n = sum(name == given_runs[-1][0] for name, _ in given_runs)
    assert make_resampling("static", runs=count).should_repeat(history_of(given_runs)) == (
        n < count
    )


def test_where_values_are_negative_better_ones_are_still_the_promising_ones() -> None:
    rule = make_resampling(
        "improved", share=0.001, promising="constant", promising_start=0.9, median=False
    )
    # The bar is 10 % better than the median of the others, which is -110 here.
    good = [("a", -100.0), ("b", -112.0), ("b", -111.0)]
    bad = [("a", -100.0), ("b", -108.0), ("b", -107.0)]
    assert rule.should_repeat(history_of(good)) and not rule.should_repeat(history_of(bad))


@for_each("name", [name for name in RESAMPLINGS if name != "none"])
def test_initial_pruned_and_failed_runs_are_not_repeated(name: str) -> None:
    rule = make_resampling(name)
    history = History(SPACE)
    assert not rule.should_repeat(history)
    history.append({"name": "a"}, 1.0, initial=True)
    assert not rule.should_repeat(history)
    history.append({"name": "b"}, 1.0)
    assert rule.should_repeat(history)
    history.append({"name": "b"}, 1.0, status="pruned")
    assert not rule.should_repeat(history)
    history.append({"name": "c"}, 1.0, status="failed")
    assert not rule.should_repeat(history)


def test_no_resampling_never_repeats() -> None:
    assert not make_resampling("none").should_repeat(history_of([("a", 1.0)]))


@for_each(
    "name, options, key",
    [
        ("sometimes", {}, "resampling"),
        ("static", {"runs": 0}, "runs"),
        ("static", {"run": 2}, "run"),
        ("standard-error", {"share": 0.0}, "share"),
        ("standard-error", {"most": 1}, "most"),
        ("standard-error", {"threshold": 0.0}, "threshold"),
        ("standard-error", {"threshold": -1.0}, "threshold"),
        ("nonparametric", {"z": -1.0}, "z"),
        ("improved", {"schedule": "linear"}, "schedule"),
        ("improved", {"promising": "linear"}, "promising"),
        ("improved", {"promising_start": 0}, "promising_start"),
    ],
)
def test_what_a_rule_cannot_be_is_refused(name: str, options: dict, key: str) -> None:
    with pytest.raises(ParameterError) as error:
        make_resampling(name, **options)
    assert error.value.key == key
