"""Influence of each parameter at each message size: correlations as two heatmaps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from bokeh.models import (
    ColorBar,
    ColumnDataSource,
    FixedTicker,
    HoverTool,
    LayoutDOM,
    LinearColorMapper,
    Range1d,
)
from bokeh.plotting import figure

from workbench.measure.curve import byte_label
from workbench.plotting import palette
from workbench.plotting.axes import new_figure, tools_beside
from workbench.plotting.grid import heading, sentence, stacked
from workbench.plotting.tiles import numbered_tiles

if TYPE_CHECKING:
    from workbench.study.influence import Influence

BENCHMARKS = ("latency", "bandwidth")
_LABELS = 12  # names such as 512 KiB take 45 px each: 540 px
_SPANS = 3  # chosen: of more the sentence names the first and the last size alone
_ROW_PX = 22  # numbers of 10 px, with as much again around them


@dataclass(frozen=True, eq=False)
class InfluenceFigure:
    """The two heatmaps with their sources, so that a running job redraws them by two writes.

    Attributes:
        latency, bandwidth: the figures.
        sources: columns of `influence_columns`, by benchmark.
        layout: both figures below one another.
    """

    latency: figure
    bandwidth: figure
    sources: dict[str, ColumnDataSource]
    layout: LayoutDOM

    def show(self, found: Influence, method: str = "spearman") -> None:
        """Draw other correlations of the same parameters and sizes.

        Args:
            found: what to draw.
            method: ``spearman`` or ``pearson``.
        """
        for name, source in self.sources.items():
            source.data = influence_columns(found, name, method)
            fig = self.latency if name == "latency" else self.bandwidth
            fig.title.text = _title(found, name, method)


def influence_figure(found: Influence, *, method: str = "spearman") -> InfluenceFigure:
    """Return the heatmaps of latency and bandwidth, parameter by size: the paper's Figure 2.

    Args:
        found: what to draw.
        method: ``spearman`` or ``pearson``.
    """
    sources = {
        name: ColumnDataSource(data=influence_columns(found, name, method)) for name in BENCHMARKS
    }
    mapper = LinearColorMapper(
        palette=list(palette.diverging()), low=-1.0, high=1.0, nan_color=palette.MISSING
    )
    latency, bandwidth = (_pane(found, name, method, sources[name], mapper) for name in BENCHMARKS)
    return InfluenceFigure(latency, bandwidth, sources, stacked(latency, bandwidth))


def plot_influence(found: Influence, *, method: str = "spearman") -> LayoutDOM:
    """Return the heatmaps of `influence_figure` with their heading and description.

    Args:
        found: what to draw.
        method: ``spearman`` or ``pearson``.
    """
    return stacked(
        heading(
            "Effect of each parameter by message size",
            f"simulated: {type(found.model).__name__}, variant {found.model.variant}, "
            f"{found.used} configurations drawn over the search space, {found.refused} refused, "
            f"seed {found.seed}",
        ),
        influence_figure(found, method=method).layout,
        sentence(describe_influence(found, method=method)),
    )


def describe_influence(found: Influence, *, method: str = "spearman") -> str:
    """Return sentences on the strongest parameters by message size, and on what may be chance.

    Args:
        found: what was drawn.
        method: ``spearman`` or ``pearson``.
    """
    if not np.isfinite(found.correlations(method)).any():
        return (
            f"{found.used} configurations could be simulated and {found.refused} were refused; "
            "more are needed for a correlation."
        )
    parts = [f"Strongest for {name}: {_spans(found, name, method)}." for name in BENCHMARKS]
    text = f"{' '.join(parts)} Below {found.chance:.2f} it may be chance"
    if found.tied:
        pairs = [f"{one} and {other} ({_signed(value)})" for one, other, value in found.tied]
        text += f"; refused configurations correlate {', '.join(pairs)}, whose effects mix"
    return text + "."


def influence_columns(found: Influence, benchmark: str, method: str) -> dict[str, list[Any]]:
    """Return the columns of the heatmap of one benchmark, a row for each parameter and size."""
    values = found.correlations(method)[:, BENCHMARKS.index(benchmark)]
    sizes = [byte_label(size) for size in found.sizes.tolist()]
    colours = palette.diverging()
    flat = values.ravel().tolist()
    return {
        "position": list(range(len(sizes))) * len(found.keys),
        "parameter": [key for key in found.keys for _ in sizes],
        "size": sizes * len(found.keys),
        "value": flat,
        "text": [correlation_text(value, found.chance) for value in flat],
        "ink": [palette.ink_on(_colour(value, colours)) for value in flat],
    }


def _pane(
    found: Influence,
    benchmark: str,
    method: str,
    source: ColumnDataSource,
    mapper: LinearColorMapper,
) -> figure:
    fig = new_figure(
        title=_title(found, benchmark, method),
        y_label="",
        height=56 + _ROW_PX * len(found.keys),
        x_type="linear",
        y_type="auto",
        file_name=f"influence_{benchmark}",
        x_range=Range1d(-0.5, len(found.sizes) - 0.5),
        y_range=list(reversed(found.keys)),
    )
    tools_beside(fig)
    cells = numbered_tiles(fig, source, mapper, x="position", y="parameter", text_px=10)
    name_sizes(fig, found.sizes.tolist())
    fig.axis.axis_line_color = None
    fig.axis.major_tick_line_color = None
    fig.add_tools(
        HoverTool(
            renderers=[cells],
            tooltips=[("", "@parameter, @size"), (f"{method} with {benchmark}", "@value{+0.00}")],
        )
    )
    fig.add_layout(_colour_bar(mapper), "right")
    return fig


def name_sizes(fig: figure, sizes: Sequence[int]) -> None:
    """Label the columns 0, 1, 2, … of a heatmap with sizes in bytes, where there is room."""
    ticks = list(range(0, len(sizes), -(-len(sizes) // _LABELS)))
    fig.xaxis.ticker = FixedTicker(ticks=ticks)
    fig.xaxis.major_label_overrides = {at: byte_label(sizes[at]) for at in ticks}


def _title(found: Influence, benchmark: str, method: str) -> str:
    return (
        f"{method.capitalize()} correlation with simulated {benchmark}, "
        f"{type(found.model).__name__}, {found.used} configurations"
    )


def _spans(found: Influence, benchmark: str, method: str) -> str:
    """Return the two strongest parameters by range of sizes; only both ends if they change often.

    Two, in the order of the space: parameters with the same effect, such as latencies in series,
    would alternate in the first place by chance.
    """
    values = found.correlations(method)[:, BENCHMARKS.index(benchmark)]
    sizes = found.sizes.tolist()
    strength = np.nan_to_num(np.abs(values))
    known = [at for at in range(len(sizes)) if strength[:, at].any()]
    if not known:
        return "nothing"
    first = {at: tuple(sorted(np.argsort(-strength[:, at])[:2].tolist())) for at in known}
    spans: list[list[int]] = []
    for at in known:
        if spans and first[spans[-1][-1]] == first[at]:
            spans[-1].append(at)
        else:
            spans.append([at])
    if len(spans) > _SPANS:
        spans = [spans[0][:1], spans[-1][-1:]]
    texts = []
    for span in spans:
        rows = first[span[0]]
        ends = [span[0]] if len(span) == 1 else [span[0], span[-1]]
        numbers = " to ".join(", ".join(_signed(values[row, at]) for row in rows) for at in ends)
        names = " and ".join(found.keys[row] for row in rows)
        texts.append(f"{names} {_over(sizes, span, known)} ({numbers})")
    return "; ".join(texts)


def _over(sizes: list[int], span: list[int], known: list[int]) -> str:
    if span == known and len(span) > 1:
        return "at every size"
    if len(span) == 1:
        return f"at {byte_label(sizes[span[0]])}"
    return f"from {byte_label(sizes[span[0]])} to {byte_label(sizes[span[-1]])}"


def correlation_text(value: float, least: float) -> str:
    """Return a correlation as a cell shows it, ``−.7``; empty for nan and below `least`."""
    if not np.isfinite(value) or abs(value) < least:
        return ""
    return f"{value:+.1f}".replace("-", "−").replace("0.", ".")


def _signed(value: float) -> str:
    return f"{value:+.2f}".replace("-", "−")


def _colour(value: float, colours: tuple[str, ...]) -> str:
    if not np.isfinite(value):
        return palette.MISSING
    return colours[min(int((value + 1) / 2 * len(colours)), len(colours) - 1)]


def _colour_bar(mapper: LinearColorMapper) -> ColorBar:
    return ColorBar(
        color_mapper=mapper,
        ticker=FixedTicker(ticks=[-1, 0, 1]),
        major_label_overrides={-1: "−1 lower", 0: "0", 1: "+1 higher"},
        major_label_text_font_size="10px",
        width=10,
        padding=2,
        border_line_color=None,
        background_fill_color=None,
    )
