"""The runs of a simulator: the time of one test against each parameter that varied."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from bokeh.models import LayoutDOM
from bokeh.plotting import figure

from workbench.errors import ParameterError
from workbench.plotting import palette
from workbench.plotting.axes import new_figure
from workbench.plotting.grid import Series, heading, key, sentence, stacked
from workbench.plotting.marks import Marks
from workbench.plotting.rows import panels
from workbench.suggestions import did_you_mean

if TYPE_CHECKING:
    from workbench.uq.runs import SimulatorRuns

_SETS = {
    "runs": Series("runs of the design", palette.SIMULATED, ""),
    "holdout": Series("runs that surrogates are judged by", palette.FITTED, ""),
}


def plot_simulator_runs(
    runs: SimulatorRuns, test: str | None = None, *, height: int = 220
) -> LayoutDOM:
    """Return the times of a test against each parameter, a point a run.

    Args:
        runs: of ``workbench.uq``.
        test: its label; by default the one whose times vary most, relative to the least.
        height: of each figure, px.

    Raises:
        ParameterError: there is no such test.
    """
    if test is not None and test not in runs.tests:
        raise ParameterError(
            f"test must be one of {', '.join(runs.tests)}; got {test!r}"
            f"{did_you_mean(test, runs.tests)}",
            key="test",
        )
    column = _most_varied(runs) if test is None else runs.tests.index(test)
    sets = runs.sets()
    figures = [
        _against(runs, sets, parameter, column, height) for parameter in range(len(runs.box))
    ]
    return stacked(
        heading(f"{runs.provenance.title}: {runs.tests[column]}", repr(runs)),
        key([_SETS[name] for name in sets]),
        panels(figures, columns=4),
        sentence(describe_simulator_runs(runs, runs.tests[column])),
    )


def describe_simulator_runs(runs: SimulatorRuns, test: str) -> str:
    """Return sentences on how far a test's times go, and on the runs that lack.

    Args:
        runs: of ``workbench.uq``.
        test: its label.
    """
    times = 1e3 * runs.times[:, runs.tests.index(test)]
    spread = f"from {times.min():.4g} to {times.max():.4g} ms" if len(times) else "not known yet"
    failed = f" {len(runs.all_failed)} runs failed." if runs.all_failed else ""
    pending = f" {runs.pending} were not evaluated yet." if runs.pending else ""
    return f"Over {len(times)} runs the time of {test} is {spread}.{failed}{pending}"


def _against(
    runs: SimulatorRuns, sets: dict[str, SimulatorRuns], parameter: int, column: int, height: int
) -> figure:
    """Return a figure of a test's times over one parameter."""
    one = runs.box.parameters[parameter]
    fig = new_figure(
        title=one.key,
        y_label="time (ms)",
        height=height,
        x_type="log" if one.log else "linear",
        y_type="linear",
        file_name=f"runs {one.key}",
    )
    fig.xaxis.axis_label = one.heading
    for name, each in sets.items():
        style = _SETS[name]
        table = {
            "x": each.points[:, parameter],
            "ms": 1e3 * each.times[:, column],
            "run": each.numbers,
        }
        tips = [(style.name, "@run"), (one.key, "@x"), ("time", "@ms ms")]
        marks = Marks(fig, table, x="x")
        marks.points("ms", style.colour, fill=palette.WHITE, size=5, tips=tips)
    return fig


def _most_varied(runs: SimulatorRuns) -> int:
    if not len(runs.times):
        return 0
    return int(np.argmax(runs.times.max(axis=0) / runs.times.min(axis=0)))
