"""Time in computation and in MPI, and in each routine of MPI, with the least and greatest run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from bokeh.models import LayoutDOM, Range1d
from bokeh.plotting import figure
from numpy.typing import NDArray

from workbench.plotting import palette
from workbench.plotting.grid import heading, sentence, stacked
from workbench.plotting.marks import Marks
from workbench.plotting.rows import row_figure

if TYPE_CHECKING:
    from workbench.variability import RoutineTimes

_ROW_PX = 28  # a bar of 17 px, with the least and the greatest run as dashes of 12
_MOST_ROUTINES = 20  # chosen: a figure of 644 px, which fits in a window 900 px high


def plot_routine_times(times: RoutineTimes) -> LayoutDOM:
    """Return the mean time in computation and MPI, and in MPI's routines: figures 4 and 5.

    As in Bhatele et al. (2020), bars are means over the runs; the lines on them reach from the
    least to the greatest run.

    Args:
        times: of ``workbench.variability.read_routines``.
    """
    mpi = times.is_mpi
    kept = np.flatnonzero(mpi)[:_MOST_ROUTINES]
    parts: list[LayoutDOM] = []
    if not mpi.all():
        both = np.stack([times.computation_s, times.mpi_s], axis=1)
        parts.append(_bars(["computation", "MPI"], both, "Computation and MPI", palette.GREEN))
    if len(kept):
        names = [times.routine[at] for at in kept]
        parts.append(_bars(names, times.time_s[:, kept], "Routines of MPI", palette.SKY_BLUE))
    return stacked(
        heading(f"Where the time of {len(times.run)} runs goes", times.provenance.caption()),
        *parts,
        sentence(describe_routine_times(times)),
    )


def _bars(
    names: list[str],
    time_s: NDArray[np.float64],  # [runs, names]
    title: str,
    colour: str,
) -> figure:
    table = {
        "name": names,
        "mean": np.nanmean(time_s, axis=0),
        "least": np.nanmin(time_s, axis=0),
        "greatest": np.nanmax(time_s, axis=0),
    }
    tips = [
        ("", "@name"),
        ("mean", "@mean{0.000} s"),
        ("runs", "@least{0.000} to @greatest{0.000} s"),
    ]
    fig = row_figure(
        names, title=title, x_label="time of a run (s)", file_name="routine-times", row_px=_ROW_PX
    )
    marks = Marks(fig, table)
    marks.bars("mean", colour, thick=0.6, edge=palette.CAPTION, tips=tips)
    marks.spans("least", "greatest", palette.BLACK, width=2)
    for end in ("least", "greatest"):
        marks.points(end, palette.BLACK, marker="dash", size=12)
    fig.x_range = Range1d(0, 1.05 * float(np.nanmax(time_s)))
    return fig


def describe_routine_times(times: RoutineTimes) -> str:
    """Return a sentence on the share of MPI and on its longest routine.

    Args:
        times: of ``workbench.variability.read_routines``.
    """
    frame = times.to_frame()
    mpi = frame[frame["MPI"]]
    if not len(mpi):
        return "No routine of MPI was measured."
    longest = mpi.sort_values("mean (s)").iloc[-1]
    text = (
        f"{longest['routine']} takes longest of MPI's routines: {longest['mean (s)']:.3g} s on "
        f"average, {longest['least (s)']:.3g} to {longest['greatest (s)']:.3g} s in a run."
    )
    if times.is_mpi.all():
        return text
    share = 100 * times.mpi_s.sum() / float(np.nansum(times.time_s))
    ranges = [np.ptp(values) / values.mean() for values in (times.computation_s, times.mpi_s)]
    return (
        f"{share:.0f} % of the time is in MPI. From the least to the greatest run computation "
        f"differs by {100 * ranges[0]:.1f} % of its mean, MPI by {100 * ranges[1]:.1f} %. {text}"
    )
