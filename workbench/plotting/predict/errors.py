"""Errors of predictions from two nodes: signed percent, size by nodes and system, as a heatmap."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

import numpy as np
from bokeh.models import ColumnDataSource, FixedTicker, HoverTool, LayoutDOM
from bokeh.plotting import figure

from workbench.errors import ParameterError
from workbench.measure.curve import byte_label
from workbench.plotting import palette
from workbench.plotting.axes import live_figure, tools_beside
from workbench.plotting.fit.error_heatmap import (
    cell_colour,
    colour_bar,
    percent_mapper,
    percent_text,
)
from workbench.plotting.grid import heading, sentence, stacked
from workbench.plotting.tiles import names_below, numbered_tiles

if TYPE_CHECKING:
    from workbench.predict import PredictionErrors
    from workbench.predict.prediction_errors import Variant

_ROW_PX = 20  # numbers of 10 px, with as much again around them
_AROUND_PX = 110  # as in variability.tile_table: title, and names of columns
KNOWN = {
    "two nodes": "nothing was tuned on a collective",
    "algorithm": "the algorithm of each size was learnt on the fewest nodes",
    "surplus": "one surplus of a round was learnt on the fewest nodes",
    "surplus of two": "one surplus of a round was learnt on the two fewest numbers of nodes",
}


def plot_prediction_errors(
    found: PredictionErrors, table: str | None = None, *, variant: Variant = "two nodes"
) -> LayoutDOM:
    """Return the signed errors in percent, sizes across, collectives and nodes down.

    Sizes share a column with the nearest power of two. A cell of several tests has their median.

    Args:
        found: of ``workbench.predict.evaluate_predictions``.
        table: a system, each of whose algorithms has its rows; None draws all systems, where the
            algorithms of a collective share a row.
        variant: what was known: ``two nodes``, ``algorithm``, ``surplus`` or ``surplus of two``.

    Raises:
        ParameterError: there is no such system or variant, or nothing of it was predicted.
    """
    shown = found if table is None else found.of(table)
    columns = error_rows(shown, each_algorithm=table is not None, variant=variant)
    fig = error_tiles(columns, [("tests", "@tests")], file_name="errors of predictions")
    return stacked(
        heading(
            "Collectives predicted from messages between two nodes",
            f"{KNOWN[variant]}; published measurements",
        ),
        fig,
        sentence(describe_prediction_errors(shown, variant=variant)),
    )


def error_tiles(
    columns: dict[str, list[Any]],  # column, row, name, bytes, error, text and ink of each cell
    tips: list[tuple[str, str]],  # of further columns
    *,
    file_name: str,
) -> figure:
    """Return a heatmap of signed errors in percent, of rows ``names`` and columns ``sizes``."""
    names, sizes = columns.pop("names"), columns.pop("sizes")
    source, mapper = ColumnDataSource(data=columns, name="errors"), percent_mapper()
    fig = live_figure(height=_AROUND_PX + _ROW_PX * len(names), file_name=file_name)
    tools_beside(fig)
    cells = numbered_tiles(fig, source, mapper, value="error", text_px=10)
    fig.x_range.update(start=-0.5, end=len(sizes) - 0.5)
    fig.y_range.update(start=len(names) - 0.5, end=-0.5)
    for axis, labels in ((fig.xaxis, sizes), (fig.yaxis, names)):
        axis.ticker = FixedTicker(ticks=list(range(len(labels))))
        axis.major_label_overrides = dict(enumerate(labels))
    names_below(fig)
    fig.axis.axis_line_color = fig.axis.major_tick_line_color = None
    shown = [("", "@name"), ("block", "@bytes"), ("error", "@error{+0.0} %"), *tips]
    fig.add_tools(HoverTool(renderers=[cells], tooltips=shown))
    fig.add_layout(colour_bar(mapper), "right")
    fig.title.text = "Predicted over measured time less 1, in percent"
    return fig


def describe_prediction_errors(found: PredictionErrors, *, variant: Variant = "two nodes") -> str:
    """Return a sentence on the median error, and the best and worst collective.

    Args:
        found: of ``workbench.predict.evaluate_predictions``.
        variant: what was known: ``two nodes``, ``algorithm``, ``surplus`` or ``surplus of two``.

    Raises:
        ParameterError: there is no such variant, or nothing of it was predicted.
    """
    errors = np.abs(found.errors_of(variant))
    groups: dict[str, list[float]] = defaultdict(list)
    for at in np.flatnonzero(np.isfinite(errors)):
        case = found.cases[found.case[at]]
        groups[f"{case.collective} on {case.system}"].append(float(errors[at]))
    if not groups:
        raise ParameterError(f"no test was predicted by {variant!r}", key="variant")
    medians = {name: float(np.median(values)) for name, values in groups.items()}
    best, worst = min(medians, key=lambda n: medians[n]), max(medians, key=lambda n: medians[n])
    every = np.concatenate([np.array(values) for values in groups.values()])
    return (
        f"Predictions are {100 * np.median(every):.0f} % off in the median of {len(every)} tests: "
        f"{100 * medians[best]:.0f} % for {best}, {100 * medians[worst]:.0f} % for {worst}."
    )


def error_rows(
    found: PredictionErrors, *, each_algorithm: bool, variant: Variant
) -> dict[str, list[Any]]:
    """Return the columns of the heatmap, a row for each cell, and ``names`` and ``sizes``."""
    errors = found.errors_of(variant)
    powers = np.rint(np.log2(np.maximum(found.block_bytes, 1))).astype(int)
    cells: dict[tuple[str, int], list[float]] = defaultdict(list)
    for at in np.flatnonzero(np.isfinite(errors)).tolist():
        case = found.cases[found.case[at]]
        name = f"{case.collective} on {case.system}"
        if each_algorithm:
            name = f"{case.collective} {case.label or 'by default'}"
        cells[f"{name}, {found.nodes[at]} nodes", int(powers[at])].append(100 * float(errors[at]))
    if not cells:
        raise ParameterError(f"no test was predicted by {variant!r}", key="variant")
    names = list(dict.fromkeys(name for name, _ in cells))
    used = sorted({power for _, power in cells})
    medians = {key: float(np.median(values)) for key, values in cells.items()}
    colours = palette.diverging()
    return {
        "names": names,
        "sizes": [byte_label(2**power) for power in used],
        "column": [used.index(power) for _, power in medians],
        "row": [names.index(name) for name, _ in medians],
        "name": [name for name, _ in medians],
        "bytes": [byte_label(2**power) for _, power in medians],
        "error": list(medians.values()),
        "tests": [len(values) for values in cells.values()],
        "text": [percent_text(error) for error in medians.values()],
        "ink": [palette.ink_on(cell_colour(error, colours)) for error in medians.values()],
    }
