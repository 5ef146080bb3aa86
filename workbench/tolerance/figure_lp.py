"""The linear program of a small program's run time, and wall times of its solver and of others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from bokeh.models import ColumnDataSource, CustomJSTickFormatter, FactorRange, LayoutDOM, Range1d
from bokeh.plotting import figure

from workbench.arrays import FloatArray
from workbench.plotting import palette
from workbench.plotting.axes import legend_above, live_figure, log_range, new_figure, set_range
from workbench.plotting.marks import Marks, Said, hover
from workbench.plotting.replay.spacetime_js import TIME_TEXT
from workbench.plotting.replay.style import caption, time_text
from workbench.provenance import Provenance
from workbench.tolerance.solver_times import WAYS

if TYPE_CHECKING:
    from workbench.tolerance.lp import LatencyLP
    from workbench.tolerance.lp_solvers import Ranging
    from workbench.tolerance.solver_times import SolverTimes

_US = 1e6  # µs in a second
_STYLES = {
    "lp": (palette.VERMILLION, "square"),
    "sweep": (palette.BLUE, "circle"),
    "replay": (palette.GREEN, "triangle"),
}
_TICK = f"{TIME_TEXT}return text(tick, 3)"  # each with its own unit: the axis spans several
_APART = 0.22  # of a program's place on the axis


def plot_linear_program(
    lp: LatencyLP,
    *,
    L: float | None = None,
    T: float | None = None,
    ranging: Ranging | None = None,
    height: int = 340,
) -> figure:
    """Return the constraints on run time and latency, where they hold, and the optimum.

    Shen et al., LLAMP: figure 5 with the least run time at a latency, figure 6 with the largest
    latency within a run time, figure 16 with the solves of Algorithm 2. Each dotted line is a path
    through the program, named by its constraints in ``to_text``.

    Args:
        lp: of a small program with one latency, such as ``LatencyLP(*running_example())``.
        L: the latency's lower bound, s; None takes the model's.
        T: run time allowed, s: ℓ is maximised under it instead.
        ranging: of ``critical_latencies``: its solves and what it found.
        height: pixels.

    Raises:
        ParameterError: the program has too many paths or several latencies, or takes longer than
            ``T`` at any latency.
        SolverError: the solver failed.
    """
    paths = lp.paths()
    if T is None:
        base = lp.model.L if L is None else L
        best_l, best_t = base * _US, lp.solve(L=base).T * _US
    else:
        best_l, best_t = lp.largest_latency(T) * _US, T * _US
    solved = [] if ranging is None else (ranging.L * _US).tolist()
    right = 1.6 * max([best_l, *solved, 1e-3])
    slopes, starts = np.array([(path.latencies, path.constant_us) for path in paths]).T
    ends = slopes * right + starts
    low, high = starts.min() - 0.15 * (ends.max() - starts.min()), ends.max()
    top = max(high, best_t + 0.1 * (high - low))
    fig = live_figure(height=height, file_name="linear-program", y_label="run time t (µs)")
    fig.title.text = f"Linear program: {'least run time' if T is None else 'largest latency'}"
    set_range(fig.x_range, (0.0, right))
    set_range(fig.y_range, (low, top))
    fig.xaxis.axis_label = "latency ℓ (µs)"
    at, least = _longest(slopes, starts, right)
    hatch = {"hatch_pattern": "/", "hatch_color": palette.FAINT, "hatch_alpha": 0.4}
    excluded: dict[str, Any] = hatch | {"hatch_scale": 14, "legend_label": "infeasible"}
    excluded |= {"fill_color": palette.FAINT, "fill_alpha": 0.25}
    fig.varea(x=at, y1=np.full(len(at), low), y2=least, **excluded)
    end, bottom = (best_l, low) if T is None else (right, best_t)
    fig.quad(left=0.0, right=end, bottom=bottom, top=top, line_color=None, **excluded)
    names = [" and ".join(f"({number})" for number in path.constraints) for path in paths]
    table = {"xs": [[0, right]] * len(paths), "ys": np.stack([starts, ends], 1).tolist()}
    look: dict[str, Any] = {"line_color": palette.GREEN, "line_dash": "2 4", "line_width": 2}
    source = ColumnDataSource(table | {"name": names})
    lines = fig.multi_line("xs", "ys", source=source, legend_label="constraint", **look)
    hover(fig, [lines], [("constraints", "@name")], line_policy="interp")
    curve = Marks(fig, {"x": at, "y": least}, x="x")
    curve.line("y", palette.BLUE, width=2.5, legend="run time T(ℓ)")
    if ranging is not None:
        _add_solves(fig, lp, ranging)
    best = {"x": [best_l], "y": [best_t], "text": [f"({best_l:.4g}, {best_t:.4g})"]}
    optimum = Marks(fig, best, x="x")
    look = {"edge": palette.WHITE, "marker": "diamond", "size": 13}
    optimum.points("y", palette.VERMILLION, legend="optimum", **look)
    offsets = {"x_offset": 10, "y_offset": 16}
    fig.text("x", "y", "text", source=optimum.source, text_font_size="12px", **offsets)
    legend_above(fig)
    caption(fig, Provenance("simulated", f"{lp.graph.source}, LLAMP's semantics, {lp.model}"))
    return fig


def _longest(slopes: FloatArray, starts: FloatArray, right: float) -> tuple[FloatArray, FloatArray]:
    """Return the run time of the longest path, µs, at both ends and wherever two paths cross."""
    with np.errstate(divide="ignore", invalid="ignore"):  # parallels
        crossings = (starts[:, None] - starts) / (slopes - slopes[:, None])
    at = np.unique([0.0, right, *crossings[(crossings > 0) & (crossings < right)]])
    return at, (np.outer(slopes, at) + starts[:, None]).max(axis=0)


def _add_solves(fig: figure, lp: LatencyLP, ranging: Ranging) -> None:
    look: dict[str, Any] = {"line_color": palette.PURPLE, "line_dash": "dashed", "line_width": 2}
    found = (ranging.latencies * _US).tolist()
    fig.vspan(x=found, legend_label="critical latency", **look)
    times = [lp.solve(L=L).T * _US for L in ranging.L.tolist()]
    solves = Marks(fig, {"x": (ranging.L * _US).tolist(), "y": times}, x="x")
    look = {"edge": palette.BLACK, "marker": "square", "size": 8}
    solves.points("y", palette.ORANGE, legend="solve of Algorithm 2", **look)


def plot_solver_times(result: SolverTimes, *, height: int = 320) -> LayoutDOM:
    """Return the median wall time of each way by program, from the least to the greatest.

    Args:
        result: of ``workbench.tolerance.time_solvers``.
        height: pixels.
    """
    names = [
        f"{name}\n{events:,} events"
        for name, events in zip(result.programs, result.events.tolist(), strict=True)
    ]
    every = np.concatenate([result.seconds(way).ravel() for way in WAYS]) * 1e9
    fig = new_figure(
        title="Wall time of one run time, by the linear program, a sweep and a replay",
        y_label="wall time",
        height=height,
        x_type="auto",
        file_name="solver-times",
        x_range=FactorRange(*names),
        y_range=Range1d(*log_range(every.tolist())),
    )
    for at, (way, label) in enumerate(WAYS.items()):
        ns, median = result.seconds(way) * 1e9, result.median(way) * 1e9
        table = {
            "name": names,
            "median": median,
            "low": ns.min(axis=1),
            "high": ns.max(axis=1),
            "text": [time_text(one) for one in median.tolist()],
        }
        marks = Marks(fig, table, x="name", shift=(at - 1) * _APART, name=way)
        colour, marker = _STYLES[way]
        marks.spans("low", "high", colour, width=2)
        said: Said = {"legend": label, "tips": [(label, "@text"), ("", "@name")]}
        marks.points("median", colour, edge="white", marker=marker, size=9, **said)
    fig.yaxis.formatter = CustomJSTickFormatter(code=_TICK)
    legend_above(fig)
    caption(fig, result.provenance)
    return fig
