from __future__ import annotations

import numpy as np
from hypothesis import given, strategies as st

from workbench.plotting import plot_convergence
from workbench.plotting.fit.convergence import convergence_columns, convergence_range

LOSSES = st.lists(st.one_of(st.floats(1e-3, 1e6), st.just(np.inf)), min_size=1, max_size=30)


def test_refused_trials_are_not_drawn_and_keep_the_best() -> None:
    columns = convergence_columns([np.inf, 3.0, np.inf, 5.0, 1.0])
    np.testing.assert_array_equal(columns["trial"], [0, 1, 2, 3, 4])
    np.testing.assert_array_equal(columns["loss"], [np.nan, 3, np.nan, 5, 1])
    np.testing.assert_array_equal(columns["best"], [np.nan, 3, 3, 3, 1])


@given(LOSSES, st.integers(0, 30))
def test_drawn_in_two_parts_or_at_once_it_is_the_same(losses: list[float], cut: int) -> None:
    cut = min(cut, len(losses))
    whole = convergence_columns(losses)
    first = convergence_columns(losses[:cut])
    best = min((x for x in losses[:cut] if np.isfinite(x)), default=np.inf)
    second = convergence_columns(losses[cut:], first=cut, best=best)
    for name, values in whole.items():
        np.testing.assert_array_equal(values, first[name] + second[name])


@given(LOSSES)
def test_the_axis_always_holds_the_best(losses: list[float]) -> None:
    low, high = convergence_range(losses)
    assert 0 < low < high
    finite = [x for x in losses if np.isfinite(x)]
    if finite:
        assert low < min(finite) < high


def test_the_axes_say_what_they_hold() -> None:
    fig = plot_convergence([3.0, 2.0], loss="rmsre")
    assert fig.xaxis[0].axis_label == "trial"
    assert fig.yaxis[0].axis_label == "loss (rmsre)"
