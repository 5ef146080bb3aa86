"""Marks of the rows of one table: points, bars, spans, lines, bands, boxes, texts, and tips."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypedDict, Unpack

from bokeh.models import (
    ColumnDataSource,
    FactorRange,
    GlyphRenderer,
    HoverTool,
    Span,
    TapTool,
    Whisker,
)
from bokeh.plotting import figure
from bokeh.transform import dodge

from workbench.plotting import palette

MarkColumns = Mapping[str, Any]
"""Lists or arrays of one length, by name."""

Tips = Sequence[tuple[str, str]]
"""Labels and texts of a tip: ``@mape{0.0} %`` is the column ``mape`` with a digit and its unit."""


class Said(TypedDict, total=False):
    """What a figure says of a mark."""

    legend: str  # its entry; marks with the same text share one
    tips: Tips  # shown where the pointer is


class LineLook(Said, total=False):
    """Look of a line: solid, 1 px wide."""

    dash: str
    width: float  # px
    alpha: float


class AreaLook(Said, total=False):
    """Look of an area: filled, without an edge."""

    alpha: float | str  # of the inside
    edge: str | None
    width: float  # of the edge, px


class PointLook(AreaLook, total=False):
    """Look of a point: a full circle, 6 px wide with an edge of 1 px."""

    fill: str | None  # inside; as the edge, unless it is given
    marker: str  # a dash lies across the axis of the values
    size: float | str  # px


_LINE = {"dash": "line_dash", "width": "line_width", "alpha": "line_alpha"}
_AREA = {"alpha": "fill_alpha", "edge": "line_color", "width": "line_width"}
_POINT = _AREA | {"fill": "fill_color", "marker": "marker", "size": "size"}


class Marks:
    """One source and all that a figure draws of its rows.

    A row has its place on one axis, in the column `x` or `y`; what the methods get are columns of
    values on the other axis. A colour, marker, size or alpha is a constant or a column too.
    """

    def __init__(
        self,
        fig: figure,
        table: MarkColumns | ColumnDataSource,  # or the source of other marks
        *,
        x: str = "",  # empty where the places go up or down
        y: str = "row",  # added where there is none: 0, 1, 2, … of a `row_figure`
        shift: float = 0.0,  # of each place, for marks side by side
        name: str | None = None,  # of the source
    ) -> None:
        self.figure = fig
        self._upright, self._column, self._shift = bool(x), x or y, shift
        self._across, self._along = ("x", "y") if x else ("y", "x")
        self._drawn: list[GlyphRenderer] = []
        if isinstance(table, ColumnDataSource):
            self.source = table
        else:
            self.source = ColumnDataSource(self._numbered(table), name=name)

    def update(self, columns: MarkColumns) -> None:
        """Draw other rows."""
        self.source.data = self._numbered(columns)

    def entry(self, label: str) -> None:
        """Name the marks in the legend; an empty label removes their entry."""
        for item in self.figure.legend[0].items:
            if any(one in self._drawn for one in item.renderers):
                item.visible = bool(label)
                if label:
                    item.label = {"value": label}

    def points(self, value: str, colour: str, **look: Unpack[PointLook]) -> GlyphRenderer:
        """Draw a point at a value of each row."""
        at = self._at(value)
        if look.get("marker") == "dash" and not self._upright:
            at |= {"angle": 90, "angle_units": "deg"}
        colours = {"fill": colour, "edge": colour, "size": 6}
        return self._add(self.figure.scatter, at, _POINT, colours | look)

    def bars(
        self,
        value: str,
        colour: str,
        *,
        start: float | str = 0.0,
        thick: float = 0.62,  # of the distance of rows
        **look: Unpack[AreaLook],
    ) -> GlyphRenderer:
        """Draw a bar from `start` to a value of each row."""
        at = {self._across: self._place(), "fill_color": colour}
        if self._upright:
            glyph = self.figure.vbar
            at |= {"bottom": start, "top": value, "width": thick}
        else:
            glyph = self.figure.hbar
            at |= {"left": start, "right": value, "height": thick}
        return self._add(glyph, at, _AREA, {"edge": None} | look)

    def boxes(
        self,
        x: tuple[float | str, float | str],
        y: tuple[float | str, float | str],
        colour: str | Mapping[str, Any],
        **look: Unpack[AreaLook],
    ) -> GlyphRenderer:
        """Draw a box for each row between two values of `x` and two of `y`."""
        at = {"left": x[0], "right": x[1], "bottom": y[0], "top": y[1], "fill_color": colour}
        return self._add(self.figure.quad, at, _AREA, {"edge": None} | look)

    def band(self, low: str, high: str, colour: str, **look: Unpack[AreaLook]) -> GlyphRenderer:
        """Fill what lies between two values of all rows, whose places go from left to right."""
        at = {"x": self._place(), "y1": low, "y2": high, "fill_color": colour}
        return self._add(self.figure.varea, at, _AREA, look)

    def line(self, value: str, colour: str, **look: Unpack[LineLook]) -> GlyphRenderer:
        """Draw a line through a value of all rows."""
        return self._add(self.figure.line, self._at(value) | {"line_color": colour}, _LINE, look)

    def steps(self, value: str, colour: str, **look: Unpack[LineLook]) -> GlyphRenderer:
        """Draw a line that keeps the value of each row up to the place of the next."""
        at = self._at(value) | {"mode": "after", "line_color": colour}
        return self._add(self.figure.step, at, _LINE, look)

    def spans(
        self, low: float | str, high: float | str, colour: str, **look: Unpack[LineLook]
    ) -> GlyphRenderer:
        """Draw a line from one value of each row to another one."""
        ends = (self._place(), self._place()), (low, high)
        return self._segments(*ends, colour, look)

    def ticks(
        self, value: str, colour: str, *, half: float = 0.4, **look: Unpack[LineLook]
    ) -> GlyphRenderer:
        """Draw a line across each row at a value of it, `half` of a row to either side."""
        ends = (self._place(-half), self._place(half)), (value, value)
        return self._segments(*ends, colour, look)

    def whiskers(self, low: str, high: str) -> None:
        """Draw an interval with a bar at both ends of each row."""
        dimension = "height" if self._upright else "width"
        ends = {"base": self._place(), "lower": low, "upper": high, "source": self.source}
        self.figure.add_layout(Whisker(dimension=dimension, **ends))

    def texts(
        self,
        text: str,
        value: float | str,
        *,
        colour: str = "",  # empty: dark grey, as the figure's other texts
        align: str = "left",
        offset: float = 0.0,  # to the right, px
        size: float = 11.0,  # px
    ) -> GlyphRenderer:
        """Write a text at a value of each row."""
        look: dict[str, Any] = {"text_color": colour} if colour else {}
        look |= {"text_align": align, "text_baseline": "middle", "text_font_size": f"{size:g}px"}
        at = self._at(value) | {"text": text, "x_offset": offset}
        return self._add(self.figure.text, at | look, {}, {})

    def _numbered(self, columns: MarkColumns) -> dict[str, Any]:
        if self._column != "row" or "row" in columns:
            return dict(columns)
        return {"row": list(range(len(next(iter(columns.values()))))), **columns}

    def _place(self, beside: float = 0.0) -> Any:
        shift = self._shift + beside
        names = self.figure.x_range if self._upright else self.figure.y_range
        if not shift:
            return self._column
        return dodge(self._column, shift, names if isinstance(names, FactorRange) else None)

    def _at(self, value: float | str) -> dict[str, Any]:
        return {self._across: self._place(), self._along: value}

    def _segments(
        self, places: tuple[Any, Any], values: tuple[Any, Any], colour: str, look: LineLook
    ) -> GlyphRenderer:
        at = {f"{self._across}{end}": places[end] for end in (0, 1)}
        at |= {f"{self._along}{end}": values[end] for end in (0, 1)}
        return self._add(self.figure.segment, at | {"line_color": colour}, _LINE, look)

    def _add(
        self,
        glyph: Callable[..., GlyphRenderer],
        drawn: Mapping[str, Any],
        names: Mapping[str, str],  # Bokeh's, of the keys of `look`
        look: Mapping[str, Any],
    ) -> GlyphRenderer:
        named = {names[key]: value for key, value in look.items() if key in names}
        if look.get("legend"):
            named["legend_label"] = look["legend"]
        renderer = glyph(source=self.source, **drawn, **named)
        self._drawn.append(renderer)
        if look.get("tips"):
            hover(self.figure, [renderer], look["tips"])
        return renderer


def hover(fig: figure, drawn: Sequence[GlyphRenderer], tips: Tips, **how: Any) -> None:
    """Show the same tips for several marks of a figure; `how` as Bokeh's ``HoverTool`` takes it."""
    fig.add_tools(HoverTool(renderers=list(drawn), tooltips=list(tips), **how))


def choosable(fig: figure, *drawn: GlyphRenderer) -> None:
    """Let a tap select rows of these marks, which look the same whether they are selected."""
    for one in drawn:
        one.nonselection_glyph = None
    fig.add_tools(TapTool(renderers=list(drawn)))


def rule(
    fig: figure,
    *,
    x: float | None = None,
    y: float | None = None,
    colour: str = palette.CAPTION,
    dash: str = "solid",
    width: float = 1.0,  # px
) -> Span:
    """Draw a line through the whole figure, upright at `x` or level at `y`, and return it."""
    at, dimension = (y, "width") if x is None else (x, "height")
    look = {"line_color": colour, "line_dash": dash, "line_width": width}
    line = Span(location=at, dimension=dimension, **look)
    fig.add_layout(line)
    return line
