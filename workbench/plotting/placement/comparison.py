"""Placements of a program's ranks compared: run time and search time of each."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from bokeh.layouts import row
from bokeh.models import FactorRange, LayoutDOM, Range1d
from bokeh.plotting import figure

from workbench.errors import ParameterError
from workbench.plotting import palette
from workbench.plotting.axes import log_range, new_figure, plain_log_ticks
from workbench.plotting.marks import Marks
from workbench.plotting.replay.style import time_axis, time_text

if TYPE_CHECKING:
    import pandas as pd

NEEDED = ("method", "T_ns", "seconds")
"""Columns that a table of placements must have."""

_SHORTEST_S = 1e-4  # what takes no time has no place on a logarithmic axis


def plot_placements(placements: pd.DataFrame, *, name: str = "") -> LayoutDOM:
    """Return the run time of each placement, the least on top, and the seconds it took to find.

    Points, as the run times' axis does not begin at 0; the seconds' axis is logarithmic.

    Args:
        placements: of ``workbench.placement.compare_placements``.
        name: of the program, for the title.

    Raises:
        ParameterError: a column is missing, or there is no row.
    """
    frame = _sorted(placements)
    methods = frame["method"].astype(str).tolist()
    times = frame["T_ns"].to_numpy(float)
    spent = np.maximum(frame["seconds"].to_numpy(float), _SHORTEST_S)
    best = float(times[0])
    table = {
        "method": methods,
        "T": times.tolist(),
        "seconds": spent.tolist(),
        "T_text": [f"{time_text(value)}{_more(value, best)}" for value in times.tolist()],
        "seconds_text": [time_text(value * 1e9) for value in spent.tolist()],
    }
    height = 90 + 26 * len(methods)  # a point of 10 px beside numbers of 11
    whose = f" of {name}" if name else ""
    room = 0.08 * (float(times.max()) - best) or 0.05 * best or 1.0
    run_time = _pane(
        f"Run time{whose} by placement",
        methods,
        height,
        "placements",
        # Room to the right for the numbers.
        x_range=Range1d(best - room, float(times.max()) + 6 * room),
    )
    time_axis(run_time.xaxis[0])
    run_time.xaxis.axis_label = "run time T"
    marks = Marks(run_time, table, y="method")
    marks.spans(best, "T", palette.FAINT)
    _points(marks, "T", "circle")
    low, high = log_range(spent.tolist())
    found_in = _pane(
        "Seconds to find it",
        methods,
        height,
        "placement-seconds",
        x_type="log",
        x_range=Range1d(low, high * 3),
    )
    plain_log_ticks(found_in.xaxis, count=5)
    found_in.xaxis.axis_label = "time spent (s)"
    _points(Marks(found_in, marks.source, y="method"), "seconds", "square")
    return row(run_time, found_in, sizing_mode="stretch_width")


def describe_placements(placements: pd.DataFrame) -> str:
    """Return a sentence on the fastest placement, its search time, and the slowest one.

    Args:
        placements: as in `plot_placements`.

    Raises:
        ParameterError: a column is missing, or there is no row.
    """
    frame = _sorted(placements)
    first, last = frame.iloc[0], frame.iloc[-1]
    text = (
        f"Least run time {time_text(first['T_ns'])}, placed by {first['method']} in "
        f"{time_text(first['seconds'] * 1e9)}"
    )
    if not last["T_ns"] > first["T_ns"] > 0:
        return f"{text}; no other takes longer."
    more = 100 * (last["T_ns"] / first["T_ns"] - 1)
    return f"{text}; {last['method']} takes the longest, {more:.2g} % more."


def _points(marks: Marks, value: str, marker: str) -> None:
    """Draw a point and its number for each method."""
    tips = [("", "@method"), ("T", "@T_text"), ("found in", "@seconds_text")]
    marks.points(value, palette.BLUE, edge="white", marker=marker, size=10, tips=tips)
    marks.texts(f"{value}_text", value, offset=9)


def _pane(
    title: str, methods: list[str], height: int, name: str, x_range: Range1d, x_type: str = "linear"
) -> figure:
    fig = new_figure(
        title=title,
        y_label="",
        height=height,
        y_type="auto",
        file_name=name,
        y_range=FactorRange(*reversed(methods)),
        x_type=x_type,
        x_range=x_range,
    )
    fig.ygrid.grid_line_color = None
    return fig


def _more(value: float, best: float) -> str:
    return f" (+{100 * (value / best - 1):.2g} %)" if value > best > 0 else ""


def _sorted(placements: pd.DataFrame) -> pd.DataFrame:
    missing = [name for name in NEEDED if name not in placements.columns]
    if missing or not len(placements):
        raise ParameterError(
            f"a table of placements must have rows with {', '.join(NEEDED)}, as "
            f"compare_placements returns it; {', '.join(missing) or 'rows'} missing",
            key="placements",
        )
    return placements.sort_values("T_ns", kind="stable")
