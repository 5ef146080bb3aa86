"""Sentences under figures, computed from the same data, and numbers as they stand in them.

Bokeh draws on a canvas that no screen reader can read, so the sentence is also the figure's text.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from workbench.fit.losses import rmspe_by_target
from workbench.measure.curve import OSUCurve, byte_label
from workbench.plotting.fit.convergence import convergence_range


def describe_size(
    simulated: OSUCurve, measured: OSUCurve | None, size: int, word: str = "simulated"
) -> str:
    """Return one message's cost: ``8 KiB message: 4.91 µs simulated, 4.2 µs measured (+17 %)``.

    Args:
        simulated: the curve of the model.
        measured: the curve of the machine, at the same sizes; None leaves it out.
        size: bytes; the nearest size of the curve is taken.
        word: what to call the simulated values.
    """
    at = int(np.argmin(np.abs(simulated.sizes - size)))
    label = byte_label(int(simulated.sizes[at]))
    parts = []
    for values, observed, unit in (
        (simulated.latency_us, measured.latency_us if measured else None, "µs"),
        (simulated.bandwidth_MBps, measured.bandwidth_MBps if measured else None, "MB/s"),
    ):
        text = f"{plain_number(values[at])} {unit} {word}"
        if observed is not None and np.isfinite(observed[at]):
            off = 100 * (values[at] / observed[at] - 1)
            text += f", {plain_number(observed[at])} {unit} measured ({_signed(off)})"
        parts.append(text)
    return f"{label} message: {'; '.join(parts)}."


def describe_errors(measured: OSUCurve, simulated: OSUCurve) -> str:
    """Return the errors in one sentence, the worst cell named.

    Such as ``RMSPE 83 %: latency 70 %, bandwidth 94 %; worst at 512 B: bandwidth +210 %.``

    Args:
        measured: what the errors are relative to.
        simulated: at the same sizes.
    """
    rmspe = rmspe_by_target(simulated, measured)
    targets = ", ".join(
        f"{name} {plain_percent(rmspe[name])}"
        for name in ("latency", "bandwidth")
        if np.isfinite(rmspe[name])
    )
    worst = _worst(measured, simulated)
    return f"RMSPE {plain_percent(rmspe['joint'])}: {targets}{worst}."


def describe_beside(curve: OSUCurve, other: OSUCurve) -> str:
    """Return how one machine's measured points lie beside another's, at the sizes of both."""
    _, at, beside = np.intersect1d(curve.sizes, other.sizes, return_indices=True)
    parts = []
    for what, ours, theirs in (
        ("latency", curve.latency_s, other.latency_s),
        ("bandwidth", curve.bandwidth_Bps, other.bandwidth_Bps),
    ):
        with np.errstate(divide="ignore", invalid="ignore"):
            off = np.log(ours[at] / theirs[beside])
        known = np.isfinite(off)
        if known.any():
            most = int(np.argmax(np.where(known, np.abs(off), -1.0)))
            parts.append(
                f"{what} {_signed(100 * np.expm1(off[known].mean()))} (most at "
                f"{byte_label(int(curve.sizes[at[most]]))}: {_signed(100 * np.expm1(off[most]))})"
            )
    if not parts:
        return f"{curve.name} and {other.name} share no measured size."
    sizes = f"geometric mean of the sizes of both, {len(at)}"
    return f"{curve.name} beside {other.name}: {', '.join(parts)}; {sizes}."


def describe_convergence(losses: ArrayLike, *, loss: str = "loss", total: int = 0) -> str:
    """Return a sentence on a fit's progress: trials, refused ones, and the best loss and its trial.

    Args:
        losses: float64[trials], inf or nan where a configuration was refused.
        loss: name of the loss.
        total: trials asked for; 0 leaves it out.
    """
    values = np.asarray(losses, dtype=np.float64)
    finite = np.isfinite(values)
    of_total = f" of {total}" if total else ""
    if not len(values):
        return "No trial has been run yet."
    refused = f"{np.count_nonzero(~finite)} refused as invalid"
    if not finite.any():
        return f"{len(values)}{of_total} trials, {refused}; none could be simulated."
    best = int(np.argmin(np.where(finite, values, np.inf)))
    above = np.count_nonzero(finite & (values > convergence_range(values)[1]))
    return (
        f"{len(values)}{of_total} trials, {refused}{f', {above} above the axis' if above else ''}; "
        f"best {loss} {values[best]:.4g}, found at trial {best}."
    )


def _worst(measured: OSUCurve, simulated: OSUCurve) -> str:
    both = np.stack(measured.percent_error(simulated))
    if not np.isfinite(both).any():
        return ""
    row, at = np.unravel_index(int(np.nanargmax(np.abs(both))), both.shape)
    name = ("latency", "bandwidth")[int(row)]
    size = byte_label(int(measured.sizes[at]))
    return f"; worst at {size}: {name} {_signed(both[row, at])}"


def plain_number(value: float) -> str:
    """Return a number with three digits, or all before the point; a dash for nan and inf."""
    if not np.isfinite(value):
        return "–"
    return f"{value:.3g}" if abs(value) < 1000 else f"{value:.0f}"


def plain_percent(value: float) -> str:
    """Return a percentage in few digits, e.g. ``8.3 %`` or ``110 %``; a dash for nan and inf."""
    if not np.isfinite(value):
        return "–"
    return f"{value:.1f} %" if value < 10 else f"{value:.0f} %"


def _signed(percent: float) -> str:
    text = f"{percent:+.0f} %" if abs(percent) >= 0.95 else f"{percent:+.1f} %"
    return text.replace("-", "−")
