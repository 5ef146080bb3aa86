"""The errors of a study as numbers on colours: loss by machine, loss by target, and the like."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

import numpy as np
from bokeh.models import (
    ColumnDataSource,
    FixedTicker,
    HoverTool,
    LogColorMapper,
    LogTicker,
    TapTool,
)
from bokeh.plotting import figure

from workbench.errors import ParameterError
from workbench.named_options import defaults_of, named_options
from workbench.plotting import palette
from workbench.plotting.axes import live_figure, tools_beside
from workbench.plotting.descriptions import plain_percent
from workbench.plotting.grid import folded
from workbench.plotting.study.cells import distinct, in_common, pick, plural, value
from workbench.plotting.tiles import names_below, numbered_tiles, percent_bar, show_tiles
from workbench.study.cell import CellResult
from workbench.suggestions import did_you_mean

if TYPE_CHECKING:
    from workbench.study.result import StudyResult

ERRORS = ("joint", "latency", "bandwidth")
LEAST, MOST = 3.0, 1000.0
"""Percent at the ends of the colours; what lies beyond keeps them and shows its number."""

_ROW_PX = 30  # names on two lines of 12 px
_AROUND_PX = 124  # title, and the names of columns that stand upright
_SUMMED = ("machine", "seed")
_OF = {"joint": "latency and bandwidth", "latency": "latency", "bandwidth": "bandwidth"}


class HeatmapFilter(TypedDict, total=False):
    """Values of the axes of a study but the target: one, or several in a list."""

    machine: str | Iterable[str]
    loss: str | Iterable[str]
    engine: str | Iterable[str]
    seed: int | Iterable[int]
    model: str | Iterable[str]
    regime: str | Iterable[str]


class HeatmapOptions(HeatmapFilter, total=False):
    """The named arguments of ``study_heatmap``."""

    error: str
    target: str | None
    rows: str
    columns: str


@dataclass(frozen=True, eq=False)
class StudyHeatmap:
    """The heatmap and its source, for a panel that reacts to a click.

    Attributes:
        figure: the figure.
        source: columns of `heatmap_columns`, one row a place; ``source.selected.indices`` names
            the place that was clicked, and its ``cell`` the study that has the least error there.
    """

    figure: figure
    source: ColumnDataSource

    @named_options(HeatmapFilter)
    def show(
        self,
        result: StudyResult,
        *,
        error: str = "joint",
        target: str | None = "both",
        rows: str = "loss",
        columns: str = "machine",
        **where: Unpack[HeatmapFilter],
    ) -> None:
        """Draw other errors or another study in the same figure; a selection is dropped.

        Args:
            result: the study.
            error: ``joint``, ``latency`` or ``bandwidth``.
            target: what the fits were made to; None where it is a row or a column.
            rows: the property that differs between the rows.
            columns: the property that differs between the columns.
            where: which cells, such as ``machine="llnl-dane-omnipath"``.

        Raises:
            ParameterError: an argument is not known, or no cell is left.
        """
        cells = _picked(result, error, target, rows, columns, where)
        row_names = [str(name) for name in distinct(cells, rows)]
        column_names = [str(name) for name in distinct(cells, columns)]
        self.source.selected.update(indices=[])
        show_tiles(self.source, heatmap_columns(cells, error, rows, columns))
        fig = self.figure
        fig.x_range.update(start=-0.5, end=len(column_names) - 0.5)
        fig.y_range.update(start=len(row_names) - 0.5, end=-0.5)
        wide = 22 if len(column_names) <= 4 else 13
        for axis, names in ((fig.xaxis, column_names), (fig.yaxis, row_names)):
            axis.ticker = FixedTicker(ticks=list(range(len(names))))
            axis.major_label_overrides = {at: folded(name, wide) for at, name in enumerate(names)}
        fig.height = _AROUND_PX + _ROW_PX * len(row_names)
        fig.title.text = (
            f"RMSPE of simulated {_OF[error]} (%): {in_common(cells, besides=(rows, columns))}"
        )


@named_options(HeatmapFilter)
def study_heatmap(
    result: StudyResult,
    *,
    error: str = "joint",
    target: str | None = "both",
    rows: str = "loss",
    columns: str = "machine",
    **where: Unpack[HeatmapFilter],
) -> StudyHeatmap:
    """Return the heatmap of a study's errors, a number in every place: the paper's Figures 8 to 16.

    Where several machines or seeds fall into one place, it shows the root of their mean square:
    the RMSPE over all their points, where they have equally many.

    Args:
        result: the study.
        error: whose RMSPE: ``joint``, ``latency`` or ``bandwidth``.
        target: what the fits were made to; None where it is a row or a column.
        rows: the property that differs between the rows: ``loss``, ``target``, ``machine``,
            ``model``, ``regime``, ``engine`` or ``seed``.
        columns: the property that differs between the columns, likewise.
        where: which cells, such as ``machine="llnl-dane-omnipath"``.

    Raises:
        ParameterError: an argument is not known, or no cell is left.
    """
    source = ColumnDataSource(name="heatmap")
    mapper = LogColorMapper(
        palette=list(palette.SEQUENTIAL), low=LEAST, high=MOST, nan_color=palette.MISSING
    )
    fig = live_figure(height=200, file_name=f"study_{error}")
    tools_beside(fig)
    drawn = StudyHeatmap(fig, source)
    drawn.show(result, error=error, target=target, rows=rows, columns=columns, **where)
    places = numbered_tiles(
        fig,
        source,
        mapper,
        value="error",
        text_px=13,
        selected=palette.VERMILLION,
    )
    names_below(fig)
    fig.axis.axis_line_color = None
    fig.axis.major_tick_line_color = None
    fig.axis.minor_tick_line_color = None
    fig.xaxis.major_label_text_font_size = fig.yaxis.major_label_text_font_size = "12px"
    tips = [
        ("", "@row_name, @column_name"),
        ("joint", "@joint{0.0} %"),
        ("latency", "@latency{0.0} %"),
        ("bandwidth", "@bandwidth{0.0} %"),
        ("fits", "@fits"),
    ]
    tap = TapTool(renderers=[places])
    fig.add_tools(HoverTool(renderers=[places], tooltips=tips), tap)
    fig.toolbar.active_tap = tap
    ticker = LogTicker(mantissas=[1, 3], desired_num_ticks=6, num_minor_ticks=0)
    percent_bar(fig, mapper, ticker)
    return drawn


@named_options(HeatmapOptions, defaults_of(study_heatmap))
def plot_study(result: StudyResult, **options: Unpack[HeatmapOptions]) -> figure:
    """Return the figure of `study_heatmap`.

    Args:
        result: the study.
        options: of `study_heatmap`.
    """
    return study_heatmap(result, **options).figure


@named_options(HeatmapFilter)
def describe_study(
    result: StudyResult,
    *,
    error: str = "joint",
    target: str | None = "both",
    rows: str = "loss",
    columns: str = "machine",
    **where: Unpack[HeatmapFilter],
) -> str:
    """Return a sentence on the columns that a row wins, and the error of the best and worst row.

    Args:
        result: the study.
        error: ``joint``, ``latency`` or ``bandwidth``.
        target: what the fits were made to; None where it is a row or a column.
        rows: the property that differs between the rows.
        columns: the property that differs between the columns.
        where: which cells, such as ``machine="llnl-dane-omnipath"``.
    """
    cells = _picked(result, error, target, rows, columns, where)
    table = heatmap_columns(cells, error, rows, columns)
    names, errors = np.array(table["row_name"]), np.array(table["error"])
    across = np.array(table["column_name"])
    row_names = list(dict.fromkeys(table["row_name"]))
    known = np.isfinite(errors)
    if not known.any():
        return "No fit has an error yet."
    overall = {
        name: _root_mean_square(errors[known & (names == name)])
        for name in row_names
        if (known & (names == name)).any()
    }
    wins = dict.fromkeys(overall, 0)
    contested = [c for c in dict.fromkeys(across) if (known & (across == c)).any()]
    for column in contested:
        here = {
            n: float(e)
            for n, e, ok in zip(names, errors, known & (across == column), strict=True)
            if ok
        }
        best = min(here.values())
        for name, found in here.items():
            # RMSRE and RMSPE rank alike and may tie exactly
            wins[name] += found <= best * (1 + 1e-9)
    order = sorted(overall, key=lambda name: overall[name])
    first, last = order[0], order[-1]
    tied = [name for name in order if wins[name] == max(wins.values())]
    text = (
        f"Least RMSPE of {_OF[error]}: {' and '.join(tied)}, on {max(wins.values())} of "
        f"{len(contested)} {plural(columns, len(contested))}"
    )
    if len(order) > 1:
        text += (
            f"; over all of them {first} has the least with {plain_percent(overall[first])}, "
            f"{last} the most with {plain_percent(overall[last])}"
        )
    return text + "."


def heatmap_columns(
    cells: Sequence[CellResult], error: str, rows: str, columns: str
) -> dict[str, list[Any]]:
    """Return the columns of the source, a row for each place, missing ones included.

    ``error``, ``joint``, ``latency`` and ``bandwidth`` are root mean squares of the ``fits`` of a
    place in percent, nan for none; ``cell`` is the study with the least error.
    """
    found: dict[str, list[Any]] = {
        name: []
        for name in ("row", "column", "row_name", "column_name", "error", *ERRORS, "cell", "fits")
    }
    for row, row_value in enumerate(distinct(cells, rows)):
        for column, column_value in enumerate(distinct(cells, columns)):
            here = [
                cell
                for cell in cells
                if value(cell, rows) == row_value
                and value(cell, columns) == column_value
                and np.isfinite(cell.rmspe[error])
            ]
            best = min(here, key=lambda cell: cell.rmspe[error], default=None)
            sums = {n: _root_mean_square([cell.rmspe[n] for cell in here]) for n in ERRORS}
            place = {
                "row": row,
                "column": column,
                "row_name": str(row_value),
                "column_name": str(column_value),
                "error": sums[error],
                **sums,
                "cell": best.cell.name if best is not None else "",
                "fits": len(here),
            }
            for name, entry in place.items():
                found[name].append(entry)
    found["text"] = [plain_percent(percent).removesuffix(" %") for percent in found["error"]]
    found["ink"] = [palette.ink_on(_colour(percent)) for percent in found["error"]]
    return found


def _picked(
    result: StudyResult,
    error: str,
    target: str | None,
    rows: str,
    columns: str,
    where: Mapping[str, object],
) -> tuple[CellResult, ...]:
    if error not in ERRORS:
        raise ParameterError(
            f"error must be one of {', '.join(ERRORS)}; got {error!r}{did_you_mean(error, ERRORS)}",
            key="error",
        )
    if rows == columns:
        raise ParameterError(f"rows and columns must differ; got {rows!r} for both", key="columns")
    if target is not None and "target" not in (rows, columns):
        where = {**where, "target": target}
    return pick(result, (rows, columns, *_SUMMED), where)


def _root_mean_square(values: Any) -> float:
    numbers = np.asarray(values, np.float64)
    return float(np.sqrt(np.mean(np.square(numbers)))) if len(numbers) else float("nan")


def _colour(percent: float) -> str:
    if not np.isfinite(percent):
        return palette.MISSING
    inside = min(max(percent, LEAST), MOST)
    share = np.log(inside / LEAST) / np.log(MOST / LEAST)
    colours = palette.SEQUENTIAL
    return colours[min(int(share * len(colours)), len(colours) - 1)]
