"""Measured times of a collective beside those predicted from two nodes, by size and nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from bokeh.models import LayoutDOM

from workbench.errors import ParameterError
from workbench.measure.curve import byte_label
from workbench.plotting import palette
from workbench.plotting.axes import legend_above, message_size_axis, new_figure, plain_log_ticks
from workbench.plotting.grid import heading, sentence, stacked
from workbench.plotting.marks import MarkColumns, Marks, Said
from workbench.plotting.predict.errors import KNOWN
from workbench.predict.published_spread import INTERVAL_PERCENT, spread_coverage
from workbench.suggestions import did_you_mean
from workbench.units import format_quantity

if TYPE_CHECKING:
    from workbench.predict import PredictionErrors
    from workbench.predict.prediction_errors import PredictionCase, Variant

_COLOURS = palette.CATEGORIES[1:]
_BANDS = 0.3  # alpha of all bands together, where they overlap: they hide no line or point
_EDGE = 0.6  # alpha of a band's ends, which have the dashes of its line: bands overlap


def plot_measured_collective(
    found: PredictionErrors,
    table: str,
    collective: str,
    *,
    label: str = "",
    variant: Variant = "two nodes",
    height: int = 340,
) -> LayoutDOM:
    """Return the measured medians of a collective as points, and its predictions with intervals.

    Predictions are lines, and a band about each is their interval of 90 %, from the times of the
    other systems that were evaluated (``spread_coverage``); there is none where no other was.

    Args:
        found: of ``workbench.predict.evaluate_predictions``.
        table: a system.
        collective: such as ``gather``.
        label: of the algorithm in the data; empty is the library's own choice.
        variant: what was known: ``two nodes``, ``algorithm``, ``surplus`` or ``surplus of two``.
        height: pixels.

    Raises:
        ParameterError: nothing of the kind was predicted; the message has what was.
    """
    at = _case(found.of(table), collective, label)
    of_system = found.of(table)
    predicted = (1.0 + of_system.errors_of(variant)) * of_system.measured
    mine = (of_system.case == at) & np.isfinite(predicted) & (of_system.block_bytes > 0)
    if not mine.any():
        raise ParameterError(
            f"variant must be one by which {collective} was predicted; got {variant!r}",
            key="variant",
        )
    case = of_system.cases[at]
    algorithm = case.label or "library's own choice of algorithm"
    sizes = of_system.block_bytes[mine].tolist()
    fig = new_figure(
        title=f"{collective} on {case.system}, {algorithm}",
        y_label="time (µs)",
        height=height,
        file_name=f"{table}-{collective}",
    )
    plain_log_ticks(fig.yaxis)
    message_size_axis(fig, sizes)
    fig.xaxis.axis_label = "block of a rank"
    spread = _spread(found, case.system, variant)
    counts = np.unique(of_system.nodes[mine]).tolist()
    for place, nodes in enumerate(counts):
        rows = np.flatnonzero(mine & (of_system.nodes == nodes))
        rows = rows[np.argsort(of_system.block_bytes[rows])]
        colour = _COLOURS[place % len(_COLOURS)]
        dash = palette.DASHES[place % len(palette.DASHES)]
        marker = palette.MARKERS[place % len(palette.MARKERS)]
        said: Said = {"legend": f"{nodes} nodes"}
        columns = {**_columns(of_system, rows, predicted), **_interval(spread, predicted[rows])}
        marks = Marks(fig, columns, x="size", name="measured collective")
        if spread is not None:
            marks.band("low", "high", colour, alpha=_BANDS / len(counts), **said)
            for end in ("low", "high"):
                marks.line(end, colour, dash=dash, alpha=_EDGE, **said)
        marks.line("predicted", colour, dash=dash, width=2, **said)
        said["tips"] = [
            ("", f"{nodes} nodes, @block"),
            ("measured", "@measured_text"),
            ("predicted", "@predicted_text"),
            (f"{INTERVAL_PERCENT} interval", "@interval"),
            ("error", "@error{+0} %"),
        ]
        marks.points("measured", colour, edge="white", marker=marker, size=8, **said)
    legend_above(fig)
    fig.legend.click_policy = "hide"  # of many numbers of nodes, those that overlap
    shown = "lines are predicted" + (
        "" if spread is None else f", bands made to hold {INTERVAL_PERCENT} of times"
    )
    return stacked(
        heading("Prediction beside measurement", f"{KNOWN[variant]}; {shown}"),
        fig,
        sentence(_reading(of_system, mine, predicted, case, spread)),
    )


def _case(found: PredictionErrors, collective: str, label: str) -> int:
    """Return the number of a case that was predicted; ParameterError where there is none."""
    known = [(one.collective, one.label) for one in found.cases if one.predicted]
    if (collective, label) not in known:
        collectives = list(dict.fromkeys(name for name, _ in known))
        labels = [other for name, other in known if name == collective]
        if not labels:
            raise ParameterError(
                f"collective must be one of {', '.join(collectives)}; got {collective!r}"
                f"{did_you_mean(collective, collectives)}",
                key="collective",
            )
        raise ParameterError(
            f"label must be one of {', '.join(map(repr, labels))} for {collective}; got {label!r}"
            f"{did_you_mean(label, labels)}",
            key="label",
        )
    names = [(one.collective, one.label) for one in found.cases]
    return names.index((collective, label))


def _columns(found: PredictionErrors, rows: np.ndarray, predicted: np.ndarray) -> MarkColumns:
    """Return the tests of one number of nodes, times in µs."""
    measured, lines = found.measured[rows], predicted[rows]
    return {
        "size": found.block_bytes[rows],
        "block": [byte_label(size) for size in found.block_bytes[rows].tolist()],
        "measured": 1e6 * measured,
        "predicted": 1e6 * lines,
        "measured_text": [format_quantity(time, "time") for time in measured.tolist()],
        "predicted_text": [format_quantity(time, "time") for time in lines.tolist()],
        "error": 100 * (lines / measured - 1),
    }


class _Spread(NamedTuple):
    """The interval of a system, from the others: measured over predicted time."""

    low: float
    high: float
    held: float  # percent of the system's times


def _spread(found: PredictionErrors, system: str, variant: Variant) -> _Spread | None:
    """Return the interval that the other systems give; None where there is no other."""
    rows = spread_coverage(found, variant).set_index("system")
    if system not in rows.index:
        return None
    return _Spread(*(float(rows[name][system]) for name in ("low", "high", "held (%)")))


def _interval(spread: _Spread | None, predicted: np.ndarray) -> dict[str, Any]:
    """Return the ends of the interval about some times, in µs and in words."""
    if spread is None:
        return {"interval": ["not known"] * len(predicted)}
    low, high = spread.low * predicted, spread.high * predicted
    pairs = zip(low.tolist(), high.tolist(), strict=True)
    return {
        "low": 1e6 * low,
        "high": 1e6 * high,
        "interval": [" to ".join(format_quantity(end, "time") for end in ends) for ends in pairs],
    }


def _reading(
    found: PredictionErrors,
    mine: np.ndarray,
    predicted: np.ndarray,
    case: PredictionCase,
    spread: _Spread | None,
) -> str:
    off = np.abs(predicted[mine] / found.measured[mine] - 1)
    worst = int(np.argmax(off))
    nodes, size = found.nodes[mine][worst], int(found.block_bytes[mine][worst])
    start = (
        "messages between two nodes of the same system"
        if case.own_messages
        else "messages between two nodes of another machine, whose network is alike"
    )
    inside = "There is no interval: it comes from other systems, and these are of one."
    if spread is not None:
        ratio = found.measured[mine] / predicted[mine]
        drawn = int(((ratio >= spread.low) & (ratio <= spread.high)).sum())
        inside = (
            f"Bands are intervals from the other systems, made to hold {INTERVAL_PERCENT}: "
            f"{spread.low:.2g} to {spread.high:.2g} times the prediction. {drawn} of these "
            f"{len(off)} times lie inside, and {spread.held:.0f} % of all of {case.system}."
        )
    return (
        f"Points are published medians; lines start from {start}. Predictions are "
        f"{100 * np.median(off):.0f} % off in the median of {len(off)} tests, and at most "
        f"{100 * off[worst]:.0f} %, for {byte_label(size)} on {nodes} nodes. {inside}"
    )
