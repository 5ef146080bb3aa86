"""Axes with units: sizes in B, KiB and MiB, logarithmic scales, one style for every figure."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

from bokeh.models import (
    CustomAction,
    CustomJS,
    CustomJSTicker,
    FixedTicker,
    NoOverlap,
    NumeralTickFormatter,
    Range1d,
    Span,
)
from bokeh.plotting import figure

from workbench.measure.curve import byte_label
from workbench.plotting import palette
from workbench.plotting.picture import save_tool
from workbench.plotting.theme import LEGEND_STYLE, figure_styles

FONT_SIZE = "12px"

# Once the page knows how wide a figure is, and whenever the title is another: as large as fits, on
# more lines where 10 pixels are still too wide. The tags keep what Python wrote, to unfold it.
_FIT_TITLE = """
const [kept, shown] = title.tags
const whole = title.text === shown ? kept : title.text
if (fig.inner_width > 0 && whole !== '') {
  const context = (window.workbenchRuler ??= document.createElement('canvas').getContext('2d'))
  const fold = (line, width) => line.split(' ').reduce((lines, word) => {
    const longer = lines.length > 0 ? `${lines[lines.length - 1]} ${word}` : word
    return lines.length > 0 && context.measureText(longer).width <= width
      ? [...lines.slice(0, -1), longer] : [...lines, word]
  }, [])
  const lines = whole.split('\\n')
  const room = fig.inner_width + 4
  const fits = px => {
    context.font = `${title.text_font_style} ${px}px ${title.text_font}`
    return lines.every(line => context.measureText(line).width <= room)
  }
  const px = [13, 12, 11, 10].find(fits) ?? 10
  const folded = fits(px) ? whole : lines.flatMap(line => fold(line, room)).join('\\n')
  if (folded !== title.text || title.text_font_size !== `${px}px`) {
    title.setv({tags: [whole, folded]}, {sync: false})
    title.setv({text: folded, text_font_size: `${px}px`}, {sync: false})
    setTimeout(() => {
      const view = window.Bokeh.index.find_one(fig)  // none where the figure has gone meanwhile
      view?.canvas_view.primary.clear()  // Bokeh leaves half a pixel at the top of what was there
      view?.invalidate_layout()
    }, 0)
  }
}
"""


# Once the page knows how wide a figure is, and whenever the legend names others: on one line where
# they fit right of the axis, else on two: more would leave no room for the figure.
_FIT_LEGEND = """
const view = window.Bokeh.index.find_one(legend)?.plot_view
const context = (window.workbenchRuler ??= document.createElement('canvas').getContext('2d'))
context.font = `${legend.label_text_font_style} ${legend.label_text_font_size} ` +
  legend.label_text_font
const beside = legend.glyph_width + legend.label_standoff
const widths = legend.items.filter(item => item.visible)
  .map(item => context.measureText(item.label.value).width + beside)
const wide = columns => [...Array(columns).keys()]
  .map(column => Math.max(...widths.filter((_, at) => at % columns === column)))
  .reduce((all, width) => all + width, legend.spacing * (columns - 1))
const room = view == null ? 0 : view.model.outer_width - view.frame.bbox.left
const half = Math.ceil(widths.length / 2)
let columns = Math.max(widths.length, 1)
while (columns > half && wide(columns) > room) {
  columns -= 1
}
if (room > 0 && legend.ncols !== columns) {
  legend.setv({ncols: columns}, {sync: false})
  setTimeout(() => {
    const view = window.Bokeh.index.find_one(legend)?.plot_view
    view?.canvas_view.primary.clear()
    view?.invalidate_layout()
  }, 0)
}
"""


def size_ticks(smallest: float, largest: float, count: int = 6) -> list[int]:
    """Return at most `count` powers of two from `smallest` to `largest` bytes, evenly in log."""
    low, high = int(smallest).bit_length() - 1, int(largest).bit_length() - 1
    low, high = max(low, 0), max(high, 0)
    step = max(1, -(-(high - low) // max(count - 1, 1)))
    return [1 << k for k in range(low, high + 1, step)]


def new_figure(
    *,
    title: str,
    y_label: str,  # quantity and unit
    height: int,  # px
    x_type: str = "log",  # ``log``, ``linear`` or ``auto``
    y_type: str = "log",
    file_name: str = "figure",  # of the saved PNG, without suffix
    x_range: Any = None,  # a range or names, as for Bokeh's figure
    y_range: Any = None,
    max_width: int | None = None,  # px
) -> figure:
    """Return an empty figure with the project's style and tools."""
    ranges = {"x_range": x_range, "y_range": y_range}
    fig = figure(
        title=title,
        height=height,
        sizing_mode="stretch_width",
        x_axis_type=x_type,
        y_axis_type=y_type,
        tools="pan,box_zoom,wheel_zoom,reset",
        active_drag="box_zoom",
        active_scroll=None,
        toolbar_location="above",
        min_width=160,
        stylesheets=figure_styles(),
        background_fill_color=None,
        border_fill_color=None,
        max_width=max_width,
        **{axis: given for axis, given in ranges.items() if given is not None},
    )
    fig.add_tools(save_tool(fig, file_name))
    fig.toolbar.logo = None
    fig.toolbar.autohide = True
    fig.toolbar_inner = True
    fig.yaxis.axis_label = y_label
    for axis in (*fig.xaxis, *fig.yaxis):
        axis.axis_label_text_font_size = FONT_SIZE
        axis.axis_label_text_font_style = "normal"
        axis.major_label_text_font_size = "11px"
        axis.major_label_policy = NoOverlap(min_distance=4)
    fig.title.text_font_size = "13px"
    fit_title = CustomJS(args={"fig": fig, "title": fig.title}, code=_FIT_TITLE)
    fig.js_on_change("inner_width", fit_title)
    fig.title.js_on_change("text", fit_title)
    fig.xgrid.grid_line_color = fig.ygrid.grid_line_color = palette.GRID
    fig.outline_line_color = None
    return fig


def live_figure(
    *, height: int, file_name: str, title: str = "", y_label: str = "", y_range: Any = None
) -> figure:
    """Return an empty figure with linear axes, or names upwards, whose ranges are set later."""
    return new_figure(
        title=title,
        y_label=y_label,
        height=height,
        x_type="linear",
        y_type="auto",
        file_name=file_name,
        x_range=Range1d(),
        y_range=Range1d() if y_range is None else y_range,
    )


# As many of 1, 2 and 5 times the powers of ten as there is room for: Bokeh's own ticker goes over
# to equal steps within two decades, which leaves half of the axis without a number.
_LOG_TICKS = """
const low = Math.log10(Math.min(cb_data.range.start, cb_data.range.end))
const high = Math.log10(Math.max(cb_data.range.start, cb_data.range.end))
const at = (steps, every = 1) => {
  const ticks = []
  for (let power = Math.floor(low); power <= Math.ceil(high); power++) {
    if (power % every === 0) {
      ticks.push(...steps.map(step => Number(`${step}e${power}`)))
    }
  }
  return ticks.filter(tick => Math.log10(tick) >= low - 1e-9 && Math.log10(tick) <= high + 1e-9)
}
const tenths = [...Array(90).keys()].map(tenth => Number((1 + tenth / 10).toFixed(1)))
const choices = [tenths, tenths.filter((_, n) => n % 5 === 0), [1, 2, 3, 4, 5, 6, 7, 8, 9],
  [1, 2, 3, 5], [1, 2, 5], [1, 3]].map(steps => at(steps))
choices.push(...[1, 2, 3, 4, 6].map(every => at([1], every)))
return choices.find(ticks => ticks.length <= count) ?? choices[choices.length - 1]
"""


def plain_log_ticks(axis: Any, count: int = 6) -> None:
    """Label a logarithmic axis 1, 10, 100 instead of with powers; `count` labels fit."""
    axis.ticker = CustomJSTicker(args={"count": count}, major_code=_LOG_TICKS)
    axis.formatter = NumeralTickFormatter(format="0.[0000]")


def steady_log_ticks(axis: Any) -> None:
    """Label a logarithmic axis at 1, 2 and 5 times the powers of ten, at any zoom.

    Bokeh's own choice may leave most of an axis of one or two decades without a number.
    """
    ticks = [float(f"{step}e{power}") for power in range(-4, 7) for step in (1, 2, 5)]
    axis.ticker = FixedTicker(ticks=ticks)
    axis.formatter = NumeralTickFormatter(format="0.[0000]")


def message_size_axis(fig: figure, sizes: Sequence[float], count: int = 6) -> None:
    """Put at most `count` ticks at powers of two on the horizontal axis, in bytes, and label it."""
    ticks = size_ticks(min(sizes), max(sizes), count)
    powers = size_ticks(min(sizes), max(sizes), 64)
    axis = fig.xaxis[0]
    axis.ticker = FixedTicker(ticks=ticks, minor_ticks=[p for p in powers if p not in ticks])
    axis.major_label_overrides = {tick: byte_label(tick) for tick in ticks}
    axis.axis_label = "message size"


def log_range(values: Iterable[float]) -> tuple[float, float]:
    """Return ends of a logarithmic axis for the values, at 1, 2 or 5 times a power of ten.

    Round ends seldom change while a curve moves; a changed axis needs a new layout, which takes
    longer than drawing. Values that such an axis cannot show (nan, inf, 0 or less) are left out.
    """
    known = [value for value in values if 0 < value < math.inf]
    if not known:
        return 0.1, 10.0
    low, high = min(known) / 1.1, max(known) * 1.1
    return max(r for r in _rounds(low) if r <= low), min(r for r in _rounds(high) if r >= high)


def _rounds(value: float) -> list[float]:
    power = math.floor(math.log10(value))
    return [float(f"{step}e{power}") for step in (1, 2, 5, 10)]


def set_range(shown: Range1d, ends: tuple[float, float]) -> None:
    """Set the ends (least, greatest) of an axis, also for the reset tool, if they have changed."""
    if (shown.reset_start, shown.reset_end) != ends:
        start, end = ends
        shown.update(start=start, end=end, reset_start=start, reset_end=end)


def tools_beside(fig: figure) -> None:
    """Put the tools right of a heatmap, where they cover no number; remove those that zoom."""
    fig.toolbar.active_drag = None
    fig.toolbar.tools = [tool for tool in fig.toolbar.tools if isinstance(tool, CustomAction)]
    fig.toolbar_inner = False
    fig.toolbar_location = "right"


def legend_above(fig: figure) -> None:
    """Put the legend above the figure on one line or two; it needs a labelled glyph."""
    legend = fig.legend[0]
    fig.add_layout(legend, "above")
    legend.orientation = "horizontal"
    legend.label_text_font_size = "11px"
    legend.border_line_color = legend.background_fill_color = None
    legend.padding, legend.margin, legend.spacing = 2, 0, 12
    legend.location = "left"
    legend.stylesheets = [LEGEND_STYLE]
    # BokehJS makes the entries of a legend again when anything changes that its items refer to: a
    # script of theirs that referred to the figure would make that all of its data.
    fit = CustomJS(args={"legend": legend}, code=_FIT_LEGEND)
    fig.js_on_change("inner_width", fit)
    for item in legend.items:
        for named in ("label", "visible"):
            item.js_on_change(named, fit)


def moving_line(fig: figure, colour: str, *, width: float = 2) -> Span:
    """Add a vertical line, hidden at first, that a control moves and that is drawn by itself."""
    # On the layer above the figure's: the page leaves the figure as it is when the line moves.
    line = Span(
        dimension="height",
        location=0,
        line_color=colour,
        line_width=width,
        visible=False,
        level="overlay",
    )
    fig.add_layout(line)
    return line


def place_legend(fig: figure, location: str) -> None:
    """Put the legend inside the figure, e.g. at ``top_left``, small and without a frame."""
    fig.legend.location = location
    fig.legend.stylesheets = [LEGEND_STYLE]
    fig.legend.label_text_font_size = "11px"
    fig.legend.border_line_color = None
    fig.legend.background_fill_alpha = 0.6
    fig.legend.padding = 4
    fig.legend.spacing = 0
    fig.legend.margin = 4
    fig.legend.glyph_height = 14
