"""The linear program of a small program's run time, over its latency ℓ and its run time t."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from bokeh.models import HoverTool, Range1d
from bokeh.plotting import figure

from workbench.plotting import palette
from workbench.plotting.axes import legend_above, new_figure
from workbench.plotting.replay.style import caption
from workbench.provenance import Provenance

if TYPE_CHECKING:
    from workbench.tolerance.lp import LatencyLP
    from workbench.tolerance.lp_solvers import Ranging
    from workbench.tolerance.lp_text import PathLine

_US = 1e6  # µs in a second


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
    best_l, best_t = _optimum(lp, L, T)
    ends = [best_l, *([] if ranging is None else (ranging.L * _US).tolist())]
    right = 1.6 * max([*ends, 1e-3])
    low, high = _heights(paths, right)
    top = max(high, best_t + 0.1 * (high - low))
    fig = new_figure(
        title=f"Linear program: {'largest latency' if T is not None else 'least run time'}",
        y_label="run time t (µs)",
        height=height,
        x_type="linear",
        y_type="linear",
        file_name="linear-program",
        x_range=Range1d(0, right),
        y_range=Range1d(low, top),
    )
    fig.xaxis.axis_label = "latency ℓ (µs)"
    at = np.unique(np.concatenate([_crossings(paths, right), [0.0, right]]))
    lines = np.array([path.latencies * at + path.constant_us for path in paths])
    least = lines.max(axis=0)
    excluded: dict[str, Any] = {
        "fill_color": palette.FAINT,
        "fill_alpha": 0.25,
        "hatch_pattern": "/",
        "hatch_color": palette.FAINT,
        "hatch_alpha": 0.4,
        "hatch_scale": 14,
        "legend_label": "infeasible",
    }
    fig.varea(x=at, y1=np.full(len(at), low), y2=least, **excluded)
    beyond = (0.0, best_l, low, top) if T is None else (0.0, right, best_t, top)
    left, end, bottom, high = beyond
    fig.quad(left=left, right=end, bottom=bottom, top=high, line_color=None, **excluded)
    drawn = [
        fig.line(
            x=[0, right],
            y=[path.constant_us, path.latencies * right + path.constant_us],
            line_color=palette.GREEN,
            line_dash="dotted",
            line_width=2,
            name=" and ".join(f"({number})" for number in path.constraints),
            legend_label="constraint",
        )
        for path in paths
    ]
    fig.line(x=at, y=least, line_color=palette.BLUE, line_width=2.5, legend_label="run time T(ℓ)")
    if ranging is not None:
        _add_solves(fig, lp, ranging)
    fig.scatter(
        x=[best_l],
        y=[best_t],
        marker="diamond",
        size=13,
        fill_color=palette.VERMILLION,
        line_color=palette.WHITE,
        legend_label="optimum",
    )
    fig.text(
        x=[best_l],
        y=[best_t],
        text=[f"({best_l:.4g}, {best_t:.4g})"],
        x_offset=10,
        y_offset=16,
        text_font_size="12px",
    )
    fig.add_tools(
        HoverTool(renderers=drawn, tooltips=[("constraints", "$name")], line_policy="interp")
    )
    legend_above(fig)
    caption(fig, Provenance("simulated", f"{lp.graph.source}, LLAMP's semantics, {lp.model}"))
    return fig


def _add_solves(fig: figure, lp: LatencyLP, ranging: Ranging) -> None:
    solved = ranging.L * _US
    fig.vspan(
        x=(ranging.latencies * _US).tolist(),
        line_color=palette.PURPLE,
        line_dash="dashed",
        line_width=2,
        legend_label="critical latency",
    )
    fig.scatter(
        x=solved.tolist(),
        y=[lp.solve(L=L).T * _US for L in ranging.L.tolist()],
        marker="square",
        size=8,
        fill_color=palette.ORANGE,
        line_color=palette.BLACK,
        legend_label="solve of Algorithm 2",
    )


def _optimum(lp: LatencyLP, L: float | None, T: float | None) -> tuple[float, float]:
    """Return ℓ and t at the optimum, µs."""
    if T is not None:
        return lp.largest_latency(T) * _US, T * _US
    base = lp.model.L if L is None else L
    return base * _US, lp.solve(L=base).T * _US


def _crossings(paths: list[PathLine], right: float) -> list[float]:
    """Return the latencies at which two paths take equally long, µs."""
    found = []
    for at, one in enumerate(paths):
        for other in paths[at + 1 :]:
            if one.latencies != other.latencies:
                rise = other.latencies - one.latencies
                x = (one.constant_us - other.constant_us) / rise
                if 0 < x < right:
                    found.append(x)
    return found


def _heights(paths: list[PathLine], right: float) -> tuple[float, float]:
    """Return the lower and the upper end of the axis of t, µs."""
    low = min(path.constant_us for path in paths)
    high = max(path.latencies * right + path.constant_us for path in paths)
    return low - 0.15 * (high - low), high
