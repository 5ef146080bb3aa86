"""Models bolted together at a message size: the error of each half and of the whole."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from bokeh.models import ColumnDataSource, FactorRange, HoverTool, Range1d
from bokeh.plotting import figure

from workbench.errors import ParameterError
from workbench.measure.curve import byte_label
from workbench.plotting import palette
from workbench.plotting.axes import (
    legend_above,
    log_range,
    message_size_axis,
    new_figure,
    plain_log_ticks,
    set_range,
    steady_log_ticks,
)
from workbench.plotting.descriptions import plain_percent
from workbench.plotting.marks import Marks, hover
from workbench.suggestions import did_you_mean

if TYPE_CHECKING:
    import pandas as pd

_PARTS = (
    ("low", "low half", palette.SKY_BLUE, "inverted_triangle", 9),
    ("high", "high half", palette.ORANGE, "triangle", 9),
    ("whole", "whole", palette.BLACK, "circle", 10),
)
_COLUMNS = {"low": "low_joint", "high": "high_joint", "whole": "joint"}


class HasHalves(Protocol):
    """Anything with errors of two halves and of the whole, e.g. ``workbench.fit.Bolted``."""

    @property
    def rmspe(self) -> Mapping[str, float]:
        """RMSPE ``joint``, ``latency`` and ``bandwidth`` over all sizes, in percent."""

    @property
    def rmspe_low(self) -> Mapping[str, float]:
        """The same over the sizes up to the threshold."""

    @property
    def rmspe_high(self) -> Mapping[str, float]:
        """The same over the sizes above it."""


Bolts = Mapping[str, Mapping[str, HasHalves]]
"""By machine, then by name of the pair of models, such as ``LogP + SNAPPR``."""


def plot_bolted(bolts: Bolts, *, error: str = "joint") -> figure:
    """Return the error of each half and of the whole, pair by machine: the paper's Figure 17.

    Points on a logarithmic axis, for bars there have no beginning; a line joins the halves.

    Args:
        bolts: by machine, then by name of the pair; a single model fits in as bolted to itself.
        error: ``joint``, ``latency`` or ``bandwidth``.

    Raises:
        ParameterError: there is nothing to draw, or no such error.
    """
    rows = _rows(bolts, error)
    shown = [value for part in ("low", "high", "whole") for value in rows[part]]
    low, high = log_range(shown)
    fig = new_figure(
        title=f"RMSPE of simulated {_of(error)}, models bolted together",
        y_label="",
        height=90 + 22 * len(rows["place"]) + 8 * len(bolts),  # marks of 10 px, numbers of 11
        x_type="log",
        y_type="auto",
        file_name="bolted",
        x_range=Range1d(low, high * 1.5),
        y_range=FactorRange(
            *reversed(rows["place"]),
            group_padding=0.6,
            range_padding=0.4,
            range_padding_units="absolute",
        ),
    )
    plain_log_ticks(fig.xaxis, count=8)
    fig.xaxis.axis_label = "RMSPE (%)"
    marks = Marks(fig, rows, y="place")
    marks.spans("low", "high", palette.FAINT)
    drawn = [
        marks.points(part, colour, edge="white", marker=marker, size=size, legend=name)
        for part, name, colour, marker, size in _PARTS
    ]
    marks.texts("text", "end", offset=10)
    tips = [
        ("", "@pair on @machine"),
        *((name, f"@{part}{{0.0}} %") for part, name, *_ in _PARTS),
    ]
    hover(fig, drawn, tips)
    fig.yaxis.group_label_orientation = "horizontal"
    fig.yaxis.group_text_font_size = "11px"
    fig.yaxis.separator_line_color = None
    fig.ygrid.grid_line_color = None
    legend_above(fig)
    return fig


def describe_bolted(bolts: Bolts, *, error: str = "joint") -> str:
    """Return a sentence on the best pair by number of machines, and on which half is harder.

    Args:
        bolts: by machine, then by name of the pair.
        error: ``joint``, ``latency`` or ``bandwidth``.
    """
    rows = _rows(bolts, error)
    best: dict[str, list[str]] = {}
    for machine, pairs in bolts.items():
        known = {name: b.rmspe[error] for name, b in pairs.items() if np.isfinite(b.rmspe[error])}
        if known:
            winner = min(known, key=lambda name: known[name])
            best.setdefault(winner, []).append(f"{machine} {plain_percent(known[winner])}")
    low, high = np.array(rows["low"]), np.array(rows["high"])
    both = np.isfinite(low) & np.isfinite(high)
    harder = int(np.count_nonzero(low[both] > high[both]))
    wins = "; ".join(
        f"{name} on {len(where)} ({', '.join(where)})"
        for name, where in sorted(best.items(), key=lambda item: -len(item[1]))
    )
    return (
        f"Least RMSPE of {_of(error)}: {wins}. The low half is the harder one in {harder} of "
        f"{np.count_nonzero(both)} cases."
    )


def plot_threshold(
    errors: pd.DataFrame, *, threshold: int | None = None, machine: str = "", height: int = 280
) -> figure:
    """Return the error against the size at which one model takes over from the other.

    Args:
        errors: of ``workbench.fit.regimes.errors_by_threshold``: rows by ``threshold`` in bytes,
            columns ``joint``, ``low_joint`` and ``high_joint`` in percent.
        threshold: drawn as an upright line; None draws none.
        machine: named in the title.
        height: pixels.
    """
    return threshold_figure(errors, threshold=threshold, machine=machine, height=height).figure


@dataclass(frozen=True, eq=False)
class ThresholdFigure:
    """The live form of `plot_threshold`.

    Attributes:
        figure: the figure.
        source: the errors, a row a threshold.
        marker: column ``size``: the threshold in use, or nothing.
    """

    figure: figure
    source: ColumnDataSource
    marker: ColumnDataSource

    def show(self, errors: pd.DataFrame, *, machine: str = "") -> None:
        """Draw the errors of another pair of models.

        Args:
            errors: as in `plot_threshold`.
            machine: named in the title.
        """
        columns = _threshold_columns(errors)
        self.source.data = columns
        shown = [value for name in _COLUMNS for value in columns[name]]
        set_range(self.figure.y_range, log_range(shown))
        sizes = columns["size"]
        set_range(self.figure.x_range, (sizes[0] / 1.5, sizes[-1] * 1.5))
        named = f", simulated for {machine}" if machine else ""
        self.figure.title.text = f"Error against threshold{named}"

    def mark(self, threshold: int | None) -> None:
        """Move the upright line.

        Args:
            threshold: in bytes; None takes it away.
        """
        self.marker.data = {"size": [] if threshold is None else [threshold]}


def threshold_figure(
    errors: pd.DataFrame, *, threshold: int | None = None, machine: str = "", height: int = 280
) -> ThresholdFigure:
    """Return the live form of `plot_threshold`.

    Args:
        errors: as in `plot_threshold`.
        threshold: drawn as an upright line; None draws none.
        machine: named in the title.
        height: pixels.
    """
    columns = _threshold_columns(errors)
    marker = ColumnDataSource(data={"size": []}, name="threshold")
    fig = new_figure(
        title="",
        y_label="RMSPE of latency and bandwidth (%)",
        height=height,
        file_name="threshold",
        x_range=Range1d(),
        y_range=Range1d(),
    )
    steady_log_ticks(fig.yaxis)
    message_size_axis(fig, columns["size"], count=8)
    fig.xaxis.axis_label = "threshold: largest message of the low half"
    dashes = {"low": "dashed", "high": "dotted", "whole": "solid"}
    drawn, marks = [], Marks(fig, columns, x="size", name="thresholds")
    for part, name, colour, shape, size in _PARTS:
        wide = 2.5 if part == "whole" else 2
        drawn.append(marks.line(part, colour, dash=dashes[part], width=wide, legend=name))
        marks.points(part, colour, edge=None, marker=shape, size=size - 3, legend=name)
    fig.vspan(
        x="size",
        source=marker,
        line_color=palette.VERMILLION,
        line_width=2,
        line_dash="dashed",
        level="overlay",  # the page leaves the figure as it is when the line moves
    )
    tips = [
        ("threshold", "@label"),
        *((name, f"@{part}{{0.0}} %") for part, name, *_ in _PARTS),
    ]
    fig.add_tools(HoverTool(renderers=drawn[-1:], tooltips=tips, mode="vline"))
    legend_above(fig)
    made = ThresholdFigure(fig, marks.source, marker)
    made.show(errors, machine=machine)
    made.mark(threshold)
    return made


def describe_threshold(errors: pd.DataFrame, *, threshold: int | None = None) -> str:
    """Return a sentence on the best threshold, its error, and the errors of either model alone.

    Args:
        errors: of ``workbench.fit.regimes.errors_by_threshold``.
        threshold: one in use, compared with the best; None leaves it out.
    """
    joint = errors["joint"]
    sizes = joint.index.to_numpy()
    best = int(sizes[int(np.nanargmin(joint.to_numpy()))])
    text = (
        f"Least error of the whole {plain_percent(float(joint.min()))}, with a threshold of "
        f"{byte_label(best) if best else '0 B (the high model alone)'}; the high model alone has "
        f"{plain_percent(float(joint.iloc[0]))}, the low model alone "
        f"{plain_percent(float(joint.iloc[-1]))}"
    )
    if threshold is not None:
        at = int(np.flatnonzero(sizes <= threshold)[-1])
        text += f"; at {byte_label(threshold)} it is {plain_percent(float(joint.iloc[at]))}"
    return text + "."


def _threshold_columns(errors: pd.DataFrame) -> dict[str, list[Any]]:
    frame = errors[errors.index > 0]
    sizes = [int(size) for size in frame.index]
    return {
        "size": sizes,
        "label": [byte_label(size) for size in sizes],
        **{part: frame[column].tolist() for part, column in _COLUMNS.items()},
    }


def _rows(bolts: Bolts, error: str) -> dict[str, list[Any]]:
    """Return a row for each pair on each machine, nan where a half is empty."""
    rows: dict[str, list[Any]] = {
        name: [] for name in ("place", "machine", "pair", "low", "high", "whole", "end", "text")
    }
    for machine, pairs in bolts.items():
        for pair, bolted in pairs.items():
            if error not in bolted.rmspe:
                raise ParameterError(
                    f"error must be one of {', '.join(bolted.rmspe)}; got {error!r}"
                    f"{did_you_mean(error, bolted.rmspe)}",
                    key="error",
                )
            low, high, whole = (
                float(part[error]) for part in (bolted.rmspe_low, bolted.rmspe_high, bolted.rmspe)
            )
            row = {
                "place": (machine, pair),
                "machine": machine,
                "pair": pair,
                "low": low,
                "high": high,
                "whole": whole,
                "end": float(np.nanmax([low, high, whole, 1e-9])),
                "text": plain_percent(whole),
            }
            for name, value in row.items():
                rows[name].append(value)
    if not rows["place"]:
        raise ParameterError("at least one pair of models must be given; got none", key="bolts")
    return rows


def _of(error: str) -> str:
    return "latency and bandwidth" if error == "joint" else error
