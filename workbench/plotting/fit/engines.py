"""Search engines against one another: the best loss over trials and over seconds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from bokeh.layouts import row
from bokeh.models import LayoutDOM, Range1d
from bokeh.plotting import figure
from numpy.typing import NDArray

from workbench.errors import ParameterError
from workbench.plotting.axes import log_range, new_figure, plain_log_ticks
from workbench.plotting.descriptions import plain_number
from workbench.plotting.grid import Series, heading, key, line_series, sentence, stacked
from workbench.plotting.marks import Marks, hover

if TYPE_CHECKING:
    from workbench.fit.engine_comparison import EngineComparison, EngineRun

_LABELS = {"trial": "trial", "seconds": "time (s)"}
_TARGETS = {"both": "latency and bandwidth"}


def plot_engines(comparison: EngineComparison, *, height: int = 300) -> LayoutDOM:
    """Return the best loss of each engine over trials and over seconds, a line a seed.

    Args:
        comparison: of ``workbench.fit.compare_engines``.
        height: pixels.

    Raises:
        ParameterError: no run has found a configuration that can be simulated.
    """
    runs = [run for run in comparison.runs if np.isfinite(run.best_loss).any()]
    if not runs:
        raise ParameterError(
            "at least one engine must have found a configuration; got none; run more trials",
            key="comparison",
        )
    styles = line_series(list(dict.fromkeys(run.engine for run in runs)))
    label = f"best loss ({comparison.loss})"
    panes = [_pane(runs, styles, what, label, height) for what in ("trial", "seconds")]
    seeds = len({run.seed for run in runs})
    target = _TARGETS.get(comparison.target, comparison.target)
    return stacked(
        heading(
            "Search engines: best loss so far",
            f"simulated: {comparison.model} fitted to {target} of {comparison.curve}, "
            f"{seeds} {'seed' if seeds == 1 else 'seeds'} an engine",
        ),
        key(list(styles.values())),
        row(*panes, sizing_mode="stretch_width"),
        sentence(describe_engines(comparison)),
    )


def describe_engines(comparison: EngineComparison, *, reference: str = "tpe") -> str:
    """Return a sentence on when each engine reaches the reference's last loss, and the speed-up.

    Medians over the seeds, each against the reference of its own seed.

    Args:
        comparison: of ``workbench.fit.compare_engines``.
        reference: the engine to compare with; the first one where it was not run.
    """
    engines = list(dict.fromkeys(run.engine for run in comparison.runs))
    known = reference if reference in engines else engines[0]
    table = comparison.table(known)
    own = table[table["engine"] == known]
    parts = [
        f"{known} ends at {plain_number(own['best_loss'].median())} after "
        f"{own['trials'].median():.0f} trials and {plain_number(own['seconds'].median())} s"
    ]
    for engine in engines:
        rows = table[table["engine"] == engine]
        there = rows[np.isfinite(rows["goal_trials"].to_numpy(np.float64))]
        if engine == known:
            continue
        if there.empty:
            end = plain_number(rows["best_loss"].median())
            parts.append(f"{engine} does not get there, it ends at {end}")
            continue
        seeds = "" if len(there) == len(rows) else f" from {len(there)} of {len(rows)} seeds"
        ratio = float(there["sooner"].median())
        parts.append(
            f"{engine} gets there{seeds} after {there['goal_trials'].median():.0f} trials and "
            f"{plain_number(there['goal_seconds'].median())} s, {plain_number(ratio)} times sooner"
        )
    return "; ".join(parts) + "."


def _pane(
    runs: list[EngineRun], styles: dict[str, Series], what: str, label: str, height: int
) -> figure:
    columns = [_columns(run) for run in runs]
    across = np.concatenate([data[what] for data in columns])
    losses = np.concatenate([data["loss"] for data in columns])
    fig = new_figure(
        title="",
        y_label=label,
        height=height,
        file_name=f"engines_{what}",
        x_range=Range1d(float(across.min()), float(across.max())),
        y_range=Range1d(*log_range(losses.tolist())),
    )
    plain_log_ticks(fig.yaxis, count=5)
    plain_log_ticks(fig.xaxis, count=6)
    fig.xaxis.axis_label = _LABELS[what]
    lines = []
    for run, data in zip(runs, columns, strict=True):
        style = styles[run.engine]
        names = [f"{run.engine}, seed {run.seed}"] * len(data["loss"])
        lists = {name: values.tolist() for name, values in data.items()}
        marks = Marks(fig, {**lists, "name": names}, x=what)
        lines.append(marks.steps("loss", style.colour, dash=style.dash, width=2))
    tips = [
        ("", "@name"),
        ("trial", "@trial"),
        ("time", "@seconds{0.00} s"),
        ("best", "@loss{0.0000}"),
    ]
    hover(fig, lines, tips)
    return fig


def _columns(run: EngineRun) -> dict[str, NDArray[np.float64]]:
    """Return trial, seconds and loss at the improvements and at the end: a step needs no more."""
    known = np.isfinite(run.best_loss)
    improved = known & (run.best_loss < np.append(np.inf, run.best_loss[:-1]))
    improved[-1] = known[-1]
    at = np.flatnonzero(improved)
    return {
        "trial": (at + 1).astype(np.float64),
        "seconds": run.seconds[at],
        "loss": run.best_loss[at],
    }
