"""A comparison of searches as numbers on colours: heuristic by resampling, collective by size."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bokeh.models import (
    BasicTicker,
    ColumnDataSource,
    FixedTicker,
    HoverTool,
    LinearColorMapper,
    TapTool,
)
from bokeh.plotting import figure

from workbench.measure.curve import byte_label
from workbench.plotting import palette
from workbench.plotting.axes import live_figure, tools_beside
from workbench.plotting.searches.style import (
    Measure,
    interval_text,
    measure_of,
    name_places,
    percent_text,
    rows_of,
    values_of,
)
from workbench.plotting.tiles import names_below, numbered_tiles, percent_bar, show_tiles

if TYPE_CHECKING:
    import pandas as pd

_ROW_PX = 30  # numbers of 12 px inside the frame of 4 px around a chosen place
_AROUND_PX = 86  # title, and names of columns on two lines
_TIPS = ("share", "gain", "distance", "saved_grid", "saved", "tied")
_STEP = 5.0  # percent: the ends of the colour bar are round numbers
_LINE = 12  # characters that fit under a place on half a page


@dataclass(frozen=True, eq=False)
class SearchTiles:
    """A heatmap of a comparison and its sources."""

    figure: figure
    # A row for each place. Only a click sets its selection: pages send back what they receive.
    source: ColumnDataSource
    frame: ColumnDataSource  # the framed place, if any
    mapper: LinearColorMapper  # from values to colours; its ends follow the values

    def show_methods(
        self,
        rows: pd.DataFrame,  # of ``methods``, one recording, noise, stopping rule and pick
        measure: str = "share",
        *,
        chosen: tuple[str, str] | None = None,  # heuristic and resampling to frame
    ) -> None:
        """Draw a place for each heuristic and resampling rule."""
        known = measure_of(measure)
        columns = tile_columns(rows, known, "heuristic", "resampling")
        self._show(columns, known, _folded)
        self.mark(chosen)

    def show_sizes(self, rows: pd.DataFrame, measure: str = "share") -> None:
        """Draw a place for each collective and message size, from one method's ``cells``."""
        known = measure_of(measure)
        collectives = [str(name).partition("/")[0] for name in rows["space"]]
        sizes = [int(str(name).partition("/")[2]) for name in rows["space"]]
        by_size = rows.assign(collective=collectives, size=sizes).sort_values("size", kind="stable")
        self._show(tile_columns(by_size, known, "collective", "size"), known, _size_text)

    def mark(self, chosen: tuple[str, str] | None) -> None:
        """Put a frame around the place with these names of row and column; None for no frame."""
        data = self.source.data
        places = list(zip(data["row_name"], data["column_name"], strict=True))
        at = [places.index(chosen)] if chosen in places else []
        self.frame.data = {name: [data[name][place] for place in at] for name in ("row", "column")}

    def _show(
        self, columns: dict[str, list[Any]], measure: Measure, column_text: Callable[[Any], str]
    ) -> None:
        low, high = colour_ends(columns["value"], measure)
        colours = palette.SEQUENTIAL if measure.more_is_better else palette.AMOUNTS
        self.mapper.update(low=low, high=high)
        if tuple(self.mapper.palette) != colours:
            self.mapper.palette = list(colours)
        columns["ink"] = [
            palette.ink_on(_colour(value, low, high, colours)) for value in columns["value"]
        ]
        across = list(dict.fromkeys(columns["column_name"]))
        down = list(dict.fromkeys(columns["row_name"]))
        columns["column_text"] = [column_text(name) for name in columns["column_name"]]
        show_tiles(self.source, columns)
        fig = self.figure
        fig.x_range.update(start=-0.5, end=max(len(across), 1) - 0.5)
        fig.y_range.update(start=max(len(down), 1) - 0.5, end=-0.5)
        names = [column_text(name) for name in across]
        name_places(fig.xaxis[0], names)
        name_places(fig.yaxis[0], down)
        fig.height = _AROUND_PX + _ROW_PX * max(len(down), 1)
        fig.title.text = f"{measure.title[0].upper()}{measure.title[1:]} (%)"


def search_tiles(*, file_name: str = "searches") -> SearchTiles:
    """Return a live heatmap, empty; a click on a place selects it in the source."""
    source = ColumnDataSource({name: [] for name in ("row_name", "column_name")}, name=file_name)
    mapper = LinearColorMapper(
        palette=list(palette.SEQUENTIAL), low=0.0, high=100.0, nan_color=palette.MISSING
    )
    fig = live_figure(height=_AROUND_PX + _ROW_PX, file_name=file_name)
    fig.xaxis.ticker, fig.yaxis.ticker = FixedTicker(), FixedTicker()
    tools_beside(fig)
    source.data = {name: [] for name in (*_PLACE, "ink", "column_text", *_TIPS)}
    places = numbered_tiles(fig, source, mapper, text_px=12)
    frame = ColumnDataSource({"row": [], "column": []}, name="frame")
    fig.rect(
        x="column",
        y="row",
        width=1,
        height=1,
        source=frame,
        fill_color=None,
        line_color=palette.VERMILLION,
        line_width=4,
    )
    names_below(fig)
    fig.axis.axis_line_color = None
    fig.axis.major_tick_line_color = fig.axis.minor_tick_line_color = None
    tips = [
        ("", "@row_name, @column_text"),
        ("of the possible gain", "@share"),
        ("gain over the default", "@gain"),
        ("above the optimum", "@distance"),
        ("time saved: whole grid", "@saved_grid"),
        ("each configuration once", "@saved"),
        ("tied with the optimum", "@tied"),
        ("runs of a search", "@runs{0.0}"),
    ]
    tap = TapTool(renderers=[places])
    fig.add_tools(HoverTool(renderers=[places], tooltips=tips), tap)
    fig.toolbar.active_tap = tap
    percent_bar(fig, mapper, BasicTicker(desired_num_ticks=4))
    return SearchTiles(fig, source, frame, mapper)


def plot_search_methods(rows: pd.DataFrame, measure: str = "share") -> figure:
    """Return a heatmap of the quality of each heuristic with each resampling rule.

    Args:
        rows: of ``methods``, for one recording, noise, stopping rule and pick.
        measure: a column of the rows, such as ``share``, ``gain`` or ``distance``.

    Raises:
        ParameterError: there is no such measure.
    """
    tiles = search_tiles(file_name="heuristics")
    tiles.show_methods(rows, measure)
    return tiles.figure


def plot_search_sizes(rows: pd.DataFrame, measure: str = "share") -> figure:
    """Return a heatmap of one method's ``cells`` by collective and message size."""
    tiles = search_tiles(file_name="sizes")
    tiles.show_sizes(rows, measure)
    return tiles.figure


_PLACE = ("row", "column", "row_name", "column_name", "value", "text", "runs")


def tile_columns(
    rows: pd.DataFrame, measure: Measure, down: str, across: str
) -> dict[str, list[Any]]:
    """Return the columns of the source, a row for each place, missing ones included."""
    found: dict[str, list[Any]] = {name: [] for name in (*_PLACE, *_TIPS)}
    places: dict[tuple[Any, Any], Mapping[str, Any]] = {
        (one[down], one[across]): one for one in rows_of(rows)
    }
    for row, row_name in enumerate(values_of(rows, down)):
        for column, column_name in enumerate(values_of(rows, across)):
            one = places.get((row_name, column_name))
            value = math.nan if one is None else float(one[measure.name])
            entries = (row, column, row_name, column_name, value, percent_text(value))
            runs = math.nan if one is None else float(one["runs"])
            for name, entry in zip(_PLACE, (*entries, runs), strict=True):
                found[name].append(entry)
            for name in _TIPS:
                found[name].append("–" if one is None else interval_text(one, name))
    return found


def colour_ends(values: Sequence[float], measure: Measure) -> tuple[float, float]:
    """Return the values (%) at the ends of the colours, multiples of 5 around finite `values`.

    At least −100 % where more is better; 0 to at most 200 % where less is better.
    """
    known = [value for value in values if math.isfinite(value)]
    if not known:
        return 0.0, 100.0
    low = _STEP * math.floor(min(known) / _STEP)
    high = max(_STEP * math.ceil(max(known) / _STEP), low + _STEP)
    if measure.more_is_better:
        # One value far below zero would use up the range of colours.
        return max(low, min(-100.0, high - _STEP)), high
    return 0.0, min(max(high, _STEP), 200.0)


def _colour(value: float, low: float, high: float, colours: Sequence[str]) -> str:
    if not math.isfinite(value):
        return palette.MISSING
    share = (min(max(value, low), high) - low) / (high - low)
    return str(colours[min(int(share * len(colours)), len(colours) - 1)]).upper()


def _folded(name: Any) -> str:
    return "\n".join(textwrap.wrap(str(name), _LINE, break_long_words=False))


def _size_text(size: Any) -> str:
    return byte_label(int(size))
