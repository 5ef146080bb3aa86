"""The mean time of each step over all runs, and the mean counters beside it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

import numpy as np
from bokeh.layouts import row
from bokeh.models import LayoutDOM
from bokeh.plotting import figure

from workbench.errors import ParameterError
from workbench.plotting import palette
from workbench.plotting.axes import new_figure
from workbench.plotting.grid import Series, heading, key, line_series, sentence, stacked
from workbench.plotting.marks import Marks

if TYPE_CHECKING:
    from workbench.variability import MeanBehaviour

_COLUMNS = 2  # the times of a program and the shapes of its counters side by side
_MOST_COUNTERS = 6  # with the time seven lines, as many as line_series has styles


def plot_mean_steps(
    found: MeanBehaviour | Mapping[str, MeanBehaviour], *, counters: Iterable[str] = ()
) -> LayoutDOM:
    """Return the mean time of each step with the band of 10 to 90 % of the runs: figures 3 and 7.

    With ``counters`` their means stand beside it, each over its own mean of all steps, so that
    shapes compare, as in Bhatele et al. (2020).

    Args:
        found: of one program, or of several by name.
        counters: at most 6 of those that all of them have.

    Raises:
        ParameterError: a counter is not there, or there are too many.
    """
    every = found if isinstance(found, Mapping) else {"": found}
    names = tuple(counters)
    if len(names) > _MOST_COUNTERS:
        raise ParameterError(
            f"counters must be at most {_MOST_COUNTERS}, one line each; got {len(names)}",
            key="counters",
        )
    for one in every.values():
        if unknown := [name for name in names if name not in one.counters]:
            raise ParameterError(
                f"counters must be some of {', '.join(one.counters) or 'none'}; got {unknown[0]!r}",
                key="counters",
            )
    lines = line_series(["time", *names])
    figures = []
    for name, one in every.items():
        figures.append(_times(name, one))
        if names:
            figures.append(_shapes(name, one, lines))
    pairs = (figures[at : at + _COLUMNS] for at in range(0, len(figures), _COLUMNS))
    parts: list[LayoutDOM] = [row(*pair, sizing_mode="stretch_width") for pair in pairs]
    if names:
        parts.insert(0, key(list(lines.values())))
    captions = dict.fromkeys(one.provenance.caption() for one in every.values())
    return stacked(
        heading("Mean time of each step over all runs", "; ".join(captions)),
        *parts,
        sentence(describe_mean_steps(found)),
    )


def describe_mean_steps(found: MeanBehaviour | Mapping[str, MeanBehaviour]) -> str:
    """Return a sentence on how closely runs follow the mean of the others.

    Args:
        found: as for `plot_mean_steps`.
    """
    every = found if isinstance(found, Mapping) else {"": found}
    parts = []
    for name, one in every.items():
        if not np.isfinite(one.agreement).any():
            words = "the steps are all alike"
        else:
            words = f"{np.nanmedian(one.agreement):.2f} in the median of {one.runs} runs"
        parts.append(f"{name}: {words}" if name else words)
    return f"Rank correlation of a run's steps with the mean of the other runs: {'; '.join(parts)}."


def _times(name: str, found: MeanBehaviour) -> figure:
    table = {"step": found.number, "mean": found.mean_s, "low": found.low_s, "high": found.high_s}
    tips = [
        ("step", "@step"),
        ("mean", "@mean{0.000} s"),
        ("10 to 90 %", "@low{0.000} to @high{0.000} s"),
    ]
    fig = _empty(name or "Time", "time of a step (s)", "mean-steps")
    steps = Marks(fig, table, x="step")
    steps.band("low", "high", palette.WAITING, alpha=0.6)
    steps.line("mean", palette.BLACK, width=2)
    steps.points("mean", palette.BLACK, fill=palette.WHITE, size=5, tips=tips)
    fig.y_range.start = 0
    return fig


def _shapes(name: str, found: MeanBehaviour, lines: Mapping[str, Series]) -> figure:
    """Draw the mean time and mean counters, each over its own mean of all steps."""
    fig = _empty(name or "Time and counters", "over the mean of all steps", "mean-counters")
    for series in lines.values():
        values = found.mean_s
        if series.name in found.counters:
            values = found.counter_mean[found.counters.index(series.name)]
        known = np.isfinite(values)
        mean = float(values[known].mean()) if known.any() else 0.0
        relative = values / mean if mean else np.full(len(values), np.nan)
        steps = Marks(fig, {"step": found.number, "value": relative}, x="step")
        tips = [(series.name, "@value{0.00} of its mean"), ("step", "@step")]
        steps.line("value", **series.stroke, tips=tips)
    return fig


def _empty(title: str, y_label: str, file_name: str) -> figure:
    fig = new_figure(
        title=title,
        y_label=y_label,
        height=260,  # three rows of figures fit in a window 900 px high
        x_type="linear",
        y_type="linear",
        file_name=file_name,
    )
    fig.xaxis.axis_label = "step"
    return fig
