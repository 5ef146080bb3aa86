"""Identifiability of each fitted parameter: intervals between the bounds, and correlations."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from bokeh.models import (
    ColorBar,
    ColumnDataSource,
    CustomJS,
    FixedTicker,
    HoverTool,
    LayoutDOM,
    LinearColorMapper,
    Range1d,
)
from bokeh.plotting import figure

from workbench.plotting import palette
from workbench.plotting.axes import legend_above, new_figure, tools_beside
from workbench.plotting.grid import heading, sentence, stacked
from workbench.plotting.marks import Marks
from workbench.plotting.study.influence import correlation_text
from workbench.plotting.tiles import names_below, numbered_tiles

if TYPE_CHECKING:
    from workbench.fit.trust.identify import Identifiability

_ROW_PX = 28  # two lines of words of 11 px
_WORDS = 60  # characters in a line; of 11 px some 330 px, a quarter of a page of 1400
_WORDS_AT = 1.03  # of the axis, on which bounds are 0 and 1: half of a point of 8 px, and a gap
_FILLS = {"known": palette.FITTED, "bounded": palette.FAINT, "unknown": "white"}

# Once the page knows how wide the figure is: room right of the bounds for the widest of the words.
_MAKE_ROOM = """
const context = (window.workbenchRuler ??= document.createElement('canvas').getContext('2d'))
const lines = source.data.words.flatMap(words => words.split('\\n'))
const widest = px => {
  context.font = `${px}px helvetica`
  return Math.max(...lines.map(line => context.measureText(line).width)) + 6
}
const least = 0.25 * fig.inner_width
const px = [11, 10, 9].find(px => widest(px) + least <= fig.inner_width) ?? 9
const share = Math.min(widest(px) / fig.inner_width, 0.75)
const end = (WORDS_AT - share * x_range.start) / (1 - share)
if (fig.inner_width > 0 && Math.abs(end - x_range.end) > 1e-3) {
  words.setv({text_font_size: {value: `${px}px`}}, {sync: false})
  x_range.setv({end, reset_end: end}, {sync: false})
}
"""


def plot_identifiability(found: Identifiability) -> LayoutDOM:
    """Return the intervals of the parameters, and below them the correlation of their estimates.

    Args:
        found: of ``workbench.fit.trust.identify``.
    """
    result = found.result
    return stacked(
        heading(
            f"What the data determine of each parameter, {result.measured.name}",
            f"{type(result.model).__name__} simulated, fitted to "
            f"{result.measured.provenance.origin} values ({result.loss} over {result.target})",
        ),
        plot_intervals(found),
        plot_correlation(found),
        sentence(describe_identifiability(found)),
    )


def plot_intervals(found: Identifiability) -> figure:
    """Return the fitted values between their bounds, and the interval in which each could lie.

    Thick: the others held; thin: the others refitted. A full point is a value that the data know,
    a grey one has a bound, of a hollow one they tell nothing by itself.

    Args:
        found: of ``workbench.fit.trust.identify``.
    """
    dimensions = found.result.space.dimensions
    names = [d.key for d in dimensions]
    data: dict[str, list[object]] = {
        name: []
        for name in ("key", "at", "held0", "held1", "free0", "free1", "fill", "value", "words")
    }
    for d in dimensions:
        at = d.position(float(found.values[d.key]))
        held, free = found.held.get(d.key), found.refitted.get(d.key)
        entries = {
            "key": d.key,
            "at": at,
            "held0": at if held is None else d.position(held.low),
            "held1": at if held is None else d.position(held.high),
            "free0": at if free is None else d.position(free.low),
            "free1": at if free is None else d.position(free.high),
            "fill": _FILLS[found.state(d.key)],
            "value": d.text(found.values[d.key]),
            "words": folded_words(f"{d.text(found.values[d.key])}: {found.verdicts[d.key]}"),
        }
        for name, entry in entries.items():
            data[name].append(entry)
    fig = new_figure(
        title="Fitted values between their bounds, and values that do as well",
        y_label="",
        height=80 + _ROW_PX * len(names),
        x_type="linear",
        y_type="auto",
        file_name="intervals",
        x_range=Range1d(-0.02, 1.75),
        y_range=list(reversed(names)),
    )
    marks = Marks(fig, data, y="key")
    marks.spans("free0", "free1", palette.FAINT, width=2, legend="others refitted")
    marks.spans("held0", "held1", palette.SKY_BLUE, width=7, legend="others held")
    marks.points(
        "at",
        palette.FITTED,
        fill="fill",
        size=8,
        width=1.5,
        legend="fitted (full: known, grey: bounded, hollow: unknown)",
        tips=[("@key", "@value"), ("", "@words")],
    )
    words = marks.texts("words", _WORDS_AT)
    words.glyph.text_line_height = 1.0
    room = CustomJS(
        args={"fig": fig, "x_range": fig.x_range, "words": words.glyph, "source": marks.source},
        code=_MAKE_ROOM.replace("WORDS_AT", str(_WORDS_AT)),
    )
    fig.js_on_change("inner_width", room)
    fig.xaxis.ticker = FixedTicker(ticks=[0, 0.5, 1])
    fig.xaxis.major_label_overrides = {0: "lower bound", 0.5: "middle", 1: "upper bound"}
    fig.ygrid.grid_line_color = None
    legend_above(fig)
    return fig


def plot_correlation(found: Identifiability) -> figure:
    """Return a heatmap of the estimates' correlations: −1 where only the sum is identifiable.

    Args:
        found: of ``workbench.fit.trust.identify``.
    """
    keys = list(found.keys)
    flat = found.correlation.ravel().tolist()
    colours = palette.diverging()
    source = ColumnDataSource(
        data={
            "row": [key for key in keys for _ in keys],
            "column": [at for _ in keys for at in range(len(keys))],
            "other": keys * len(keys),
            "value": flat,
            "text": [correlation_text(value, 0.3) for value in flat],
            "ink": [
                palette.ink_on(colours[int((value + 1) / 2 * (len(colours) - 1))])
                if np.isfinite(value)
                else palette.BLACK
                for value in flat
            ],
        }
    )
    mapper = LinearColorMapper(palette=list(colours), low=-1.0, high=1.0, nan_color=palette.MISSING)
    fig = new_figure(
        title="Correlation of the estimates",
        y_label="",
        height=110 + 24 * len(keys),
        x_type="linear",
        y_type="auto",
        file_name="estimate_correlation",
        x_range=Range1d(-0.5, len(keys) - 0.5),
        y_range=list(reversed(keys)),
    )
    tools_beside(fig)
    cells = numbered_tiles(fig, source, mapper)
    fig.xaxis.ticker = FixedTicker(ticks=list(range(len(keys))))
    fig.xaxis.major_label_overrides = {at: key.replace(".", "\n") for at, key in enumerate(keys)}
    names_below(fig)
    fig.axis.axis_line_color = None
    fig.axis.major_tick_line_color = None
    fig.add_tools(
        HoverTool(renderers=[cells], tooltips=[("", "@row and @other"), ("", "@value{+0.00}")])
    )
    fig.add_layout(
        ColorBar(
            color_mapper=mapper,
            ticker=FixedTicker(ticks=[-1, 0, 1]),
            major_label_overrides={-1: "−1", 0: "0", 1: "+1"},
            width=10,
            padding=2,
            border_line_color=None,
            background_fill_color=None,
        ),
        "right",
    )
    return fig


def describe_identifiability(found: Identifiability) -> str:
    """Return a sentence on the parameters that the data identify, and those they do not.

    Args:
        found: of ``workbench.fit.trust.identify``.
    """
    parts = [f"Of {len(found.values)} parameters {found.counted()}"]
    if found.known:
        parts.append(f"known: {_and(found.known)}")
    if found.flat:
        parts.append(f"not determined: {_and(found.flat)}")
    parts += [f"only the sum is determined of {_and(keys)}" for keys in found.sums]
    if found.at_bound:
        parts.append(
            "at a bound: " + ", ".join(f"{key} ({where})" for key, where in found.at_bound.items())
        )
    if found.pairs:
        one, other, value = found.pairs[0]
        parts.append(
            f"most strongly correlated: {one} and {other} ({value:+.2f}".replace("-", "−") + ")"
        )
    return "; ".join(parts) + "."


def folded_words(text: str, width: int = _WORDS) -> str:
    """Return a text longer than `width` characters on two lines."""
    if len(text) <= width:
        return text
    cut = text.rfind(" ", 0, max(width, len(text) // 2 + 6))
    return f"{text[:cut]}\n{text[cut + 1 :]}" if cut > 0 else text


def _and(words: tuple[str, ...]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
