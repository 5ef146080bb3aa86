"""Configurations as lines across their parameters, coloured by their values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from bokeh.models import (
    ColorBar,
    ColumnDataSource,
    FixedTicker,
    HoverTool,
    LinearColorMapper,
    Range1d,
)
from bokeh.plotting import figure

from workbench.plotting import palette
from workbench.plotting.axes import new_figure
from workbench.plotting.tuning.parameter_names import short_names
from workbench.plotting.tuning.trajectory import configuration_text

if TYPE_CHECKING:
    from workbench.tune.result import TuningResult
    from workbench.tune.space.space import AnyAxis, TuningSpace

_LABELS = 9  # values named beside an axis, 27 px apart on one of 240 px
_ABSENT = -0.12  # of an axis, which goes from 0 to 1: a label below the lowest value
_LEAST_SHARE = 0.9  # chosen: the worst tenth, often far off, has the colour of the next


@dataclass(frozen=True, eq=False)
class ParallelFigure:
    """Configurations as lines across the parameters, and their sources."""

    figure: figure
    lines: ColumnDataSource  # a row for each configuration, the best last
    best: ColumnDataSource  # the best configuration's line
    labels: ColumnDataSource  # values beside the axes
    mapper: LinearColorMapper  # from values to colours

    def show(self, result: TuningResult) -> None:
        """Draw the configurations of an experiment."""
        names = list(result.space.names)
        lines = parallel_columns(result)
        values = lines["value"]
        if values:
            low, high = min(values), max(values)
            ordered = sorted(values) if result.minimise else sorted(values, reverse=True)
            # Bad values share a colour: the differences among good ones matter.
            cut = ordered[int(_LEAST_SHARE * (len(ordered) - 1))]
            low, high = (low, cut) if result.minimise else (cut, high)
            self.mapper.update(low=low, high=high if high > low else low + 1.0)
        # Blue is the best: it is drawn last and stands out, on a light page and on a dark one.
        colours = palette.SEQUENTIAL if result.minimise else palette.AMOUNTS
        self.mapper.palette = list(colours)
        self.lines.data = lines
        self.best.data = {name: column[-1:] for name, column in lines.items()}
        self.labels.data = label_columns(result.space)
        axis = self.figure.xaxis[0]
        axis.ticker.ticks = list(range(len(names)))
        axis.major_label_overrides = dict(enumerate(short_names(names).values()))
        self.figure.x_range.update(start=-0.3, end=len(names) - 0.4)
        unit = f" ({result.unit})" if result.unit else ""
        self.figure.title.text = f"Configurations by {result.label}{unit}; the best as a thick line"


def plot_parallel(result: TuningResult, *, height: int = 300) -> figure:
    """Return the configurations of an experiment's runs as lines across the parameters."""
    drawn = parallel_figure(height=height)
    drawn.show(result)
    return drawn.figure


def parallel_figure(*, height: int = 300) -> ParallelFigure:
    """Return the live form of `plot_parallel`, empty."""
    fig = new_figure(
        title="Configurations",
        y_label="",
        height=height,
        x_type="linear",
        y_type="linear",
        file_name="configurations",
        x_range=Range1d(-0.3, 1.0),
        y_range=Range1d(_ABSENT - 0.08, 1.08),
    )
    fig.yaxis.visible = False
    fig.ygrid.visible = False
    fig.xgrid.grid_line_color = palette.FAINT
    fig.xaxis.ticker = FixedTicker(ticks=[])
    fig.xaxis.major_label_text_font_size = "12px"
    mapper = LinearColorMapper(palette=list(palette.SEQUENTIAL), low=0.0, high=1.0)
    empty: dict[str, list[Any]] = {"xs": [], "ys": [], "value": [], "text": []}
    lines, best = ColumnDataSource(empty), ColumnDataSource(empty)
    drawn = fig.multi_line(
        "xs",
        "ys",
        source=lines,
        line_color={"field": "value", "transform": mapper},
        line_alpha=0.75,
        line_width=1.5,
    )
    top = fig.multi_line("xs", "ys", source=best, line_color=palette.VERMILLION, line_width=3)
    labels = ColumnDataSource({"x": [], "y": [], "text": []})
    fig.text(
        "x",
        "y",
        text="text",
        source=labels,
        text_font_size="11px",
        text_baseline="middle",
        x_offset=5,
        background_fill_color="white",
        background_fill_alpha=0.9,
    )
    tips = [("", "@value{%.5g}"), ("", "@text")]
    how = {"@value": "printf"}
    fig.add_tools(
        HoverTool(renderers=[drawn, top], tooltips=tips, formatters=how, line_policy="interp")
    )
    fig.add_layout(
        ColorBar(color_mapper=mapper, width=10, padding=4, background_fill_color=None), "right"
    )
    return ParallelFigure(fig, lines, best, labels, mapper)


def parallel_columns(result: TuningResult) -> dict[str, list[Any]]:
    """Return a row for each configuration with a known value, from the worst to the best."""
    table = result.history.aggregated()
    known = [int(row) for row in np.flatnonzero(table.known)]
    order = sorted(known, key=lambda row: -table.losses[row])
    rows = [table.configurations[row] for row in order]
    return {
        "xs": [list(range(len(result.space.names))) for _ in rows],
        "ys": [heights(result.space, row) for row in rows],
        "value": [result.history.value(float(table.losses[row])) for row in order],
        "text": [configuration_text(row) for row in rows],
    }


def heights(space: TuningSpace, configuration: Mapping[str, Any]) -> list[float]:
    """Return the place of each value on its parameter's axis, 0 to 1; below 0 for an absent one."""
    return [_height(axis, configuration[name]) for name, axis in space.axes.items()]


def label_columns(space: TuningSpace) -> dict[str, list[Any]]:
    """Return the values beside the axes, some nine for each parameter, and ``not passed``."""
    found: dict[str, list[Any]] = {"x": [], "y": [], "text": []}
    for at, axis in enumerate(space.axes.values()):
        values = list(getattr(axis, "values", ())) or [axis.low, axis.high]  # type: ignore[union-attr]
        step = -(-len(values) // _LABELS)
        shown = [*values[::step], values[-1]] if (len(values) - 1) % step else values[::step]
        for value in shown:
            found["x"].append(at)
            found["y"].append(_height(axis, value))
            found["text"].append("not passed" if value is None else f"{value}")
    for name in space.names:
        if space.conditions.get(name) is not None and None not in _values(space.axes[name]):
            found["x"].append(space.names.index(name))
            found["y"].append(_ABSENT)
            found["text"].append("not passed")
    return found


def _values(axis: AnyAxis) -> tuple[Any, ...]:
    return tuple(getattr(axis, "values", ()))


def _height(axis: AnyAxis, value: Any) -> float:
    values = _values(axis)
    if value in values:
        return values.index(value) / max(len(values) - 1, 1)
    if value is None or not isinstance(value, (int, float)):
        return _ABSENT
    if not values:
        return min(max(float(axis.encode(value)[0]), 0.0), 1.0)
    if not all(isinstance(one, (int, float)) for one in values):
        return _ABSENT
    # A default beside the grid stands between its neighbours.
    places = np.arange(len(values)) / max(len(values) - 1, 1)
    return float(np.interp(value, np.asarray(values, dtype=float), places))
