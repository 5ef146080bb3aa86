"""Results of traffic over a network: latencies, busy channels, queues over time (simulated)."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any

import numpy as np
from bokeh.layouts import column, row
from bokeh.models import Div, HoverTool, LayoutDOM, Range1d
from bokeh.plotting import figure
from numpy.typing import NDArray

from workbench.plotting import palette
from workbench.plotting.axes import legend_above, log_range, new_figure, steady_log_ticks
from workbench.plotting.marks import Marks
from workbench.plotting.replay.style import time_text

if TYPE_CHECKING:
    from workbench.simulate.fabric.result import FabricResult

_BINS_PER_DECADE = 24  # a bin is 10 % wide: 10 ** (1 / 24) is 1.10
_MOST_BINS = 60  # of a figure a third of 1400 px wide: 6 px each
_MOST_POINTS = 200  # of a line of 400 px: one every 2 px
_MARKS = ((50.0, "median", "solid"), (99.0, "99 %", "dashed"))
_COLOURS = (palette.BLUE, palette.VERMILLION, palette.GREEN, palette.PURPLE, palette.ORANGE)
_STYLES = tuple(zip(_COLOURS, palette.DASHES, strict=True))
_HOSTS = {"ejection": "to hosts", "injection": "at hosts"}
_FIRST_STYLE = {"at hosts": (palette.BLACK, "dotdash"), "to hosts": (palette.SKY_BLUE, "dashdot")}


def plot_traffic(result: FabricResult, *, height: int = 300) -> LayoutDOM:
    """Return three figures of a run side by side, under a sentence that sums them up.

    They show latencies with their median and 99th percentile; the utilisation of the channels of
    each kind, the busiest first; and over time the queued packets of a channel, averaged by kind.

    Args:
        result: of one run.
        height: of each figure, pixels.
    """
    panes = [
        latency_figure(result, height=height),
        utilisation_figure(result, height=height),
        queue_figure(result, height=height),
    ]
    said = Div(
        text='<div role="status" style="font-size:13px">'
        f"{html.escape(describe_traffic(result))}</div>",
        sizing_mode="stretch_width",
    )
    return column(said, row(*panes, sizing_mode="stretch_width"), sizing_mode="stretch_width")


def latency_figure(result: FabricResult, *, height: int = 300) -> figure:
    """Return the histogram of the messages' latencies, on a logarithmic axis."""
    latencies = result.latencies_s * 1e6
    ends = log_range(latencies[[0, -1]].tolist() if len(latencies) else [])
    bins = latency_columns(latencies)
    highest = max(bins["percent"], default=1.0)
    fig = new_figure(
        title=f"Latency at load {result.nominal_load:.3g} (simulated)",
        y_label="messages (%)",
        height=height,
        y_type="linear",
        file_name="latencies",
        x_range=Range1d(*ends),
        y_range=Range1d(0.0, 1.25 * highest),
    )
    ends_of_bars, tips = (("left", "right"), (0, "percent")), [("", "@said")]
    Marks(fig, bins).boxes(*ends_of_bars, palette.SKY_BLUE, edge="white", tips=tips)
    if len(latencies):
        for place, (percent, name, dash) in enumerate(_MARKS):
            at = float(result.latency_s(percent)) * 1e6
            top = highest * (1.2 - 0.09 * place)
            fig.segment(x0=at, x1=at, y0=0, y1=top, line_dash=dash, line_color=palette.BLACK)
            far = at > (ends[0] * ends[1] ** 2) ** (1 / 3)
            fig.text(
                x=[at],
                y=[top],
                text=[f"{name} {time_text(at * 1e3)}"],
                x_offset=-4 if far else 4,
                text_align="right" if far else "left",
                text_baseline="top",
                text_font_size="11px",
            )
    else:
        fig.text(
            x=[(ends[0] * ends[1]) ** 0.5],
            y=[0.6],
            text=["no message that was generated\nwhile measuring has arrived"],
            text_align="center",
            text_baseline="middle",
            text_font_size="12px",
        )
    steady_log_ticks(fig.xaxis)
    fig.xaxis.axis_label = "latency of a message (µs)"
    return fig


def utilisation_figure(result: FabricResult, *, height: int = 300) -> figure:
    """Return the utilisation of the channels of each kind, in descending order."""
    fig = new_figure(
        title="How busy the channels are (simulated)",
        y_label="time spent sending (%)",
        height=height,
        x_type="linear",
        y_type="linear",
        file_name="utilisation",
        x_range=Range1d(-1.0, 101.0),
        y_range=Range1d(0.0, 104.0),
    )
    drawn = []
    for (name, mine), (colour, dash) in _kinds(result):
        channels = Marks(fig, utilisation_columns(result, mine, name), x="share")
        drawn.append(channels.line("percent", colour, dash=dash, width=2, legend=name))
    fig.add_tools(
        HoverTool(renderers=drawn, tooltips=[("", "@name"), ("", "@said")], line_policy="nearest")
    )
    fig.xaxis.axis_label = "channels of a kind, the busiest first (%)"
    _finish(fig)
    return fig


def queue_figure(result: FabricResult, *, height: int = 300) -> figure:
    """Return the packets queued at a channel over time, the mean over the channels of a kind."""
    series = result.series
    time_us = series.time_s * 1e6
    between, hosts = result.fabric.channels.between_routers, result.fabric.topology.num_hosts
    depths = {
        name: (depth / count, style)
        for name, depth, count, style in (
            ("between routers", series.between_routers, between, _STYLES[0]),
            ("to hosts", series.to_hosts, hosts, _FIRST_STYLE["to hosts"]),
            ("at hosts", series.at_hosts, hosts, _FIRST_STYLE["at hosts"]),
        )
        if count
    }
    most = max(float(depth.max(initial=0.0)) for depth, _ in depths.values())
    fig = new_figure(
        title="Queues over time (simulated)",
        y_label="queue of a channel (packets)",
        height=height,
        x_type="linear",
        y_type="linear",
        file_name="queues",
        x_range=Range1d(0.0, 1.02 * float(time_us.max(initial=1.0))),
        y_range=Range1d(0.0, 1.15 * most or 1.0),
    )
    begins = (float(series.time_s[-1]) - result.window_s) * 1e6 if len(time_us) else 0.0
    fig.quad(
        left=[0.0],
        right=[max(begins, 0.0)],
        bottom=[0.0],
        top=[1.15 * most or 1.0],
        fill_color=palette.GRID,
        fill_alpha=0.6,
        line_color=None,
        legend_label="warm-up",
    )
    drawn = []
    for name, (depth, (colour, dash)) in depths.items():
        rows = zip(time_us.tolist(), depth.tolist(), strict=True)
        table = {
            "time": time_us,
            "depth": depth,
            "name": [name] * len(depth),
            "said": [f"at {time_text(at * 1e3)}: {one:.3g} packets" for at, one in rows],
        }
        queues = Marks(fig, table, x="time")
        drawn.append(queues.line("depth", colour, dash=dash, width=2, legend=name))
    fig.add_tools(
        HoverTool(renderers=drawn, tooltips=[("", "@name"), ("", "@said")], line_policy="nearest")
    )
    fig.xaxis.axis_label = "simulated time (µs)"
    _finish(fig)
    return fig


def latency_columns(latencies_us: NDArray[np.float64]) -> dict[str, list[Any]]:
    """Return the bins of a histogram of ascending latencies, equally wide in the logarithm."""
    if not len(latencies_us):
        return {"left": [], "right": [], "percent": [], "said": []}
    low, high = np.log10(latencies_us[0]) - 1e-9, np.log10(latencies_us[-1]) + 1e-9
    count = int(np.clip(np.ceil(_BINS_PER_DECADE * (high - low)), 1, _MOST_BINS))
    # A network without queues has one latency: the bin is then as wide as usual.
    room = max(0.0, 1 / _BINS_PER_DECADE - (high - low)) / 2
    edges = np.logspace(low - room, high + room, count + 1)
    counts, _ = np.histogram(latencies_us, edges)
    percent = 100 * counts / counts.sum()
    spans = zip(edges[:-1].tolist(), edges[1:].tolist(), percent.tolist(), strict=True)
    return {
        "left": edges[:-1].tolist(),
        "right": edges[1:].tolist(),
        "percent": percent.tolist(),
        "said": [
            f"{time_text(left * 1e3)} to {time_text(right * 1e3)}: {share:.2g} % of the messages"
            for left, right, share in spans
        ],
    }


def utilisation_columns(
    result: FabricResult, mine: NDArray[np.int64], name: str
) -> dict[str, list[Any]]:
    """Return the columns of one line: at most 200 of the channels int64[n], the busiest first."""
    order = mine[np.argsort(-result.utilisation[mine], kind="stable")]
    kept = np.unique(np.linspace(0, len(order) - 1, min(len(order), _MOST_POINTS)).astype(int))
    numbered = result.fabric.channels
    busy, stalled = 100 * result.utilisation, 100 * result.stalled
    ends = (("router", "router"), ("router", "host"), ("host", "router"))
    source, target = ends[{"to hosts": 1, "at hosts": 2}.get(name, 0)]
    return {
        "share": (100 * kept / max(len(order) - 1, 1)).tolist(),
        "percent": busy[order[kept]].tolist(),
        "name": [name] * len(kept),
        "said": [
            f"{source} {numbered.source[one]} to {target} {numbered.target[one]}: sending "
            f"{busy[one]:.3g} %, waiting for credits {stalled[one]:.3g} %"
            for one in order[kept]
        ],
    }


def describe_traffic(result: FabricResult) -> str:
    """Return sentences on the delivered load, the latencies and the busiest channel."""
    where = f"{result.pattern} traffic on {result.fabric.topology.name}"
    text = (
        f"Simulated, {where}, {result.fabric.routing_name} routing: of an offered load of "
        f"{result.offered:.3f} of the hosts' bandwidth {result.accepted:.3f} is delivered"
    )
    text += ", the network is saturated" if result.saturated else ""
    if result.delivered:
        median, high = (time_text(s * 1e9) for s in result.latency_s([50, 99]).tolist())
        text += f"; half of the messages arrive within {median}, 99 % within {high}"
    between = result.fabric.channels.between_routers
    if not between:
        return f"{text}."
    busiest = int(np.argmax(result.utilisation[:between]))
    numbered = result.fabric.channels
    return (
        f"{text}. The busiest channel between routers, from router "
        f"{numbered.source[busiest]} to {numbered.target[busiest]}, sends "
        f"{100 * result.utilisation[busiest]:.0f} % of the time."
    )


def _kinds(
    result: FabricResult,
) -> list[tuple[tuple[str, NDArray[np.int64]], tuple[str, str]]]:
    """Return name and channels of each kind that there is, with colour and dash."""
    kinds = result.kinds
    names = [*result.fabric.topology.classes, *_HOSTS]
    found: list[tuple[tuple[str, NDArray[np.int64]], tuple[str, str]]] = []
    for name in dict.fromkeys(names):
        mine = np.flatnonzero(kinds == name)
        if len(mine):
            shown = _HOSTS.get(name, name)
            style = _FIRST_STYLE.get(shown, _STYLES[len(found) % len(_STYLES)])
            found.append(((shown, mine), style))
    return found


def _finish(fig: figure) -> None:
    legend_above(fig)
    fig.legend.spacing = 6
