"""Convergence of the fits of a study: the best loss over trials, loss by machine."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Unpack

import numpy as np
from bokeh.models import LayoutDOM
from bokeh.plotting import figure

from workbench.named_options import named_options
from workbench.plotting import palette
from workbench.plotting.axes import log_range
from workbench.plotting.descriptions import plain_number
from workbench.plotting.grid import Series, heading, key, sentence, small_multiples, stacked
from workbench.plotting.marks import Marks
from workbench.plotting.study.cells import distinct, in_common, pick, value
from workbench.study.cell import AxisFilter, CellResult

if TYPE_CHECKING:
    from workbench.study.result import StudyResult

_UNITS = {"rmspe": " (%)", "rmsre": " (ratio)"}
# Of the shipped study which-loss 137 of 144 fits are as near in the first half of their trials;
# within 1 % 127, within 10 % 139.
_NEAR = 1.05


@named_options(AxisFilter)
def plot_study_convergence(
    result: StudyResult,
    *,
    rows: str = "loss",
    columns: str = "machine",
    **where: Unpack[AxisFilter],
) -> LayoutDOM:
    """Return the best loss over trials, both logarithmic: the paper's Figure 3.

    Each row has its own scale, for each loss has its own unit; the mark on a line is where it
    first came within 5 % of its end.

    Args:
        result: the study.
        rows: the property that differs between the rows, such as ``loss``.
        columns: the property that differs between the columns, such as ``machine``.
        where: which cells, such as ``target="latency"``.

    Raises:
        ParameterError: no cell is left.
    """
    cells = _converged(pick(result, (rows, columns), where))
    by_place: dict[tuple[str, str], list[CellResult]] = {}
    for cell in cells:
        place = (str(value(cell, rows)), str(value(cell, columns)))
        by_place.setdefault(place, []).append(cell)
    row_names = [str(name) for name in distinct(cells, rows)]

    def draw(fig: figure, row: str, column: str) -> None:
        for cell in by_place.get((row, column), ()):
            _line(fig, cell)

    def ends(row: str) -> tuple[float, float]:
        # A search begins orders of magnitude above its end; each row shows what comes after.
        ours = [cell for cell in cells if str(value(cell, rows)) == row]
        tops = [float(cell.convergence[1][0]) for cell in ours]
        return log_range([*(cell.best_loss for cell in ours), *tops])

    grid = small_multiples(
        row_names,
        [str(name) for name in distinct(cells, columns)],
        draw,
        row_labels=lambda row: f"{row}{_UNITS.get(row, '')}",
        x_label="trial",
        x_range=(1, max((cell.trials for cell in cells), default=10)),
        y_ranges=ends,
        height=96,
    )
    about = in_common(cells, besides=(rows, columns))
    return stacked(
        heading("Convergence: best loss so far over trials", f"simulated: {about}"),
        key(
            [
                Series("best so far", palette.FITTED, "solid"),
                Series("first within 5 % of its end", palette.FITTED, ""),
            ]
        ),
        grid,
        sentence(describe_study_convergence(result, **where)),
    )


@named_options(AxisFilter)
def describe_study_convergence(result: StudyResult, **where: Unpack[AxisFilter]) -> str:
    """Return a sentence on when the fits came within 5 % of their last loss, and the slowest one.

    Args:
        result: the study.
        where: which cells, such as ``target="latency"``.
    """
    cells = _converged(pick(result, ("loss", "machine"), where))
    if not cells:
        return "No fit has found a configuration that can be simulated yet."
    near = [_near(cell) for cell in cells]
    slowest = cells[int(np.argmax(near))]
    half = float(np.median(near))
    soon = sum(at <= cell.trials / 2 for at, cell in zip(near, cells, strict=True))
    return (
        f"{soon} of {len(cells)} fits came within 5 % of their last loss in the first half of "
        f"their trials, half of the fits by trial {half:.0f}; the last was "
        f"{slowest.cell.loss} on {slowest.cell.machine}, at trial {max(near)} of "
        f"{slowest.trials} ({plain_number(slowest.best_loss)})."
    )


def _converged(cells: Sequence[CellResult]) -> tuple[CellResult, ...]:
    return tuple(cell for cell in cells if len(cell.convergence[0]))


def _near(cell: CellResult) -> int:
    """Return the trial, from 1, that first came within 5 % of the last loss."""
    trials, losses = cell.convergence
    return int(trials[np.flatnonzero(losses <= _NEAR * losses[-1])[0]]) + 1


def _line(fig: figure, cell: CellResult) -> None:
    trials, losses = cell.convergence
    last = max(cell.trials, int(trials[-1]) + 1)
    best = {"trial": [*(trials + 1).tolist(), last], "loss": [*losses.tolist(), losses[-1]]}
    tips = [("trial", "@trial"), ("best", "@loss{0.0000}")]
    Marks(fig, best, x="trial").steps("loss", palette.FITTED, width=2, tips=tips)
    near = _near(cell)
    there = {"trial": [near], "loss": losses[trials + 1 == near]}
    Marks(fig, there, x="trial").points("loss", palette.FITTED, fill="white")
