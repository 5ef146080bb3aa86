"""Sobol' indices: the share of each test's variance that each parameter causes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from bokeh.models import LayoutDOM
from bokeh.plotting import figure
from numpy.typing import NDArray

from workbench.errors import ParameterError
from workbench.plotting import palette
from workbench.plotting.grid import Series, heading, key, sentence, stacked
from workbench.plotting.marks import Marks
from workbench.plotting.rows import BAR_PX, row_figure

if TYPE_CHECKING:
    from workbench.uq.sobol import SobolIndices

_COLOURS = (
    palette.BLUE,
    palette.ORANGE,
    palette.GREEN,
    palette.PURPLE,
    palette.SKY_BLUE,
    palette.OLIVE,
    palette.VERMILLION,
)
_INTERACTIONS = Series("interactions", palette.WAITING, "solid", BAR_PX)
_INTERVAL = Series("5 % to 95 % of the refits", palette.BLACK, "solid", 1.5)
_TEXT_FROM = 6.0  # percent: a bar in which its number has room


def plot_sobol(indices: SobolIndices, tests: Sequence[str] | None = None) -> LayoutDOM:
    """Return the first-order indices of each test as one bar, with the interactions at its end.

    Whiskers are the intervals of the first-order indices, where there are refits.

    Args:
        indices: of ``workbench.uq.sobol_indices``.
        tests: label of each test; its number by default.

    Raises:
        ParameterError: there are not as many labels as tests.
    """
    count = len(indices.first)
    labels = [f"test {at}" for at in range(count)] if tests is None else list(map(str, tests))
    if len(labels) != count:
        raise ParameterError(
            f"tests must hold one label for each of the {count} tests; got {len(labels)}",
            key="tests",
        )
    fig = row_figure(
        labels,
        title="First-order Sobol' indices, in percent of the variance of the surrogate's time",
        x_label="share of the variance (%)",
        file_name="sobol indices",
        x_range=(0, 103),
        row_px=26,  # a bar of 21 px with numbers of 11
    )
    series = [
        Series(name, _COLOURS[at % len(_COLOURS)], "solid", BAR_PX)
        for at, name in enumerate(indices.parameters)
    ]
    first = 100 * indices.first
    interactions = np.clip(100 - first.sum(axis=1), 0, None)
    ends = np.cumsum(np.column_stack([first, interactions]), axis=1)
    begins = np.column_stack([np.zeros(count), ends[:, :-1]])
    for at, style in enumerate([*series, _INTERACTIONS]):
        _bars(fig, style, labels, begins[:, at], ends[:, at])
    shown = [*series, _INTERACTIONS]
    if indices.first_interval is not None:
        _whiskers(fig, begins[:, : len(series)], 100 * indices.first_interval)
        shown.append(_INTERVAL)
    constant = np.flatnonzero(~np.isfinite(indices.first).all(axis=1))
    nothing = ["the time depends on no parameter"] * len(constant)
    Marks(fig, {"row": constant, "text": nothing}).texts("text", 1.0, colour=palette.CAPTION)
    return stacked(
        heading(
            "Sensitivity of each test's time to the parameters",
            "parameters independent and uniform over their ranges"
            + (f", which they are not: {indices.warning}" if indices.warning else ""),
        ),
        key(shown),
        fig,
        sentence(describe_sobol(indices)),
    )


def describe_sobol(indices: SobolIndices) -> str:
    """Return a sentence on the mean shares of the parameters and of their interactions.

    Args:
        indices: of ``workbench.uq.sobol_indices``.
    """
    varying = indices.first[np.isfinite(indices.first).all(axis=1)]
    if not len(varying):
        return "No time depends on a parameter."
    warning = f" Not to be trusted: {indices.warning}." if indices.warning else ""
    mean = 100 * varying.mean(axis=0)
    order = np.argsort(-mean, kind="stable")
    shares = ", ".join(f"{indices.parameters[at]} {mean[at]:.0f} %" for at in order)
    tests = f"{len(varying)} of {len(indices.first)} tests" if len(varying) > 1 else "one test"
    return f"Mean over {tests}: {shares}, interactions {max(100 - mean.sum(), 0.0):.0f} %.{warning}"


def _bars(
    fig: figure,
    style: Series,
    labels: Sequence[str],
    begins: NDArray[np.float64],  # [tests], percent
    ends: NDArray[np.float64],
) -> None:
    """Draw the part of every test's bar that one parameter causes, with its number."""
    known = np.isfinite(begins) & np.isfinite(ends)
    share = (ends - begins)[known]
    table = {
        "row": np.flatnonzero(known),
        "left": begins[known],
        "right": ends[known],
        "middle": 0.5 * (begins + ends)[known],
        "share": share,
        "test": [label for label, shown in zip(labels, known, strict=True) if shown],
        "text": [f"{one:.0f}" if one >= _TEXT_FROM else "" for one in share],
    }
    tips = [("", "@test"), (style.name, "@share{0.0} %")]
    marks = Marks(fig, table)
    marks.bars("right", style.colour, start="left", thick=0.8, edge=palette.WHITE, tips=tips)
    marks.texts("text", "middle", colour=palette.ink_on(style.colour), align="center")


def _whiskers(
    fig: figure,
    begins: NDArray[np.float64],  # [tests, parameters], percent
    interval: NDArray[np.float64],  # [2, tests, parameters]
) -> None:
    """Draw the intervals at the lower edge of the bars, those of neighbours at two heights."""
    low, high = begins + interval[0], begins + interval[1]
    row, parameter = np.nonzero(np.isfinite(low))
    table = {
        "row": row + np.where(parameter % 2, 0.34, 0.26),
        "low": low[row, parameter],
        "high": high[row, parameter],
    }
    marks = Marks(fig, table)
    marks.spans("low", "high", **_INTERVAL.stroke)
    for end in ("low", "high"):
        marks.points(end, _INTERVAL.colour, marker="dash", size=5, width=_INTERVAL.width)
