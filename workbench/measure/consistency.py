"""Contradictions between the latency and the bandwidth measured on one machine."""

from __future__ import annotations

import numpy as np

from workbench.measure.curve import FloatArray, OSUCurve, byte_label

WINDOW = 64
"""Messages that osu_bw sends before it waits for a reply."""


def excess_percent(curve: OSUCurve) -> FloatArray:
    """Return float64[n]: percent by which a window's pace exceeds the slowest consistent one.

    Each message of a window takes at most as long as one alone, and the window its first message's
    latency and a reply besides: above 0, the bandwidth contradicts the latency, which no model of
    stages can reproduce. nan where a size was not measured in both benchmarks.
    """
    pace_s = curve.sizes / curve.bandwidth_Bps
    reply_s = curve.latency_s[np.isfinite(curve.latency_s)][:1]
    slowest_s = curve.latency_s * (1.0 + 1.0 / WINDOW)
    if reply_s.size:
        slowest_s = slowest_s + reply_s[0] / WINDOW
    return np.asarray(100.0 * (pace_s / slowest_s - 1.0), np.float64)


def contradiction(curve: OSUCurve) -> str:
    """Return a sentence about where a curve's bandwidth contradicts its latency, or an empty text.

    Args:
        curve: as measured.
    """
    excess = excess_percent(curve)
    found = np.flatnonzero(excess > 0)
    if not found.size:
        return ""
    worst = int(found[np.argmax(excess[found])])
    sizes = [byte_label(int(curve.sizes[at])) for at in found]
    where = ", ".join(sizes[:-1]) + (" and " if len(sizes) > 1 else "") + sizes[-1]
    pace_us = curve.sizes[worst] / curve.bandwidth_Bps[worst] * 1e6
    return (
        f"the measured bandwidth contradicts the measured latency at {where}: messages of a window "
        f"take longer each than one message alone, at {byte_label(int(curve.sizes[worst]))} "
        f"{pace_us:.4g} us against {curve.latency_us[worst]:.4g} us; no model of successive "
        "stages fits both"
    )


_LEVEL = (0.97, 1.15)
"""Gain in bandwidth of the next size that counts as levelled off."""
_STEP = 1.2
"""Least gain of the size at which striping begins; also above the gain before it."""
_NEAR = 0.15
"""Share by which the greatest bandwidth may be off a whole multiple of that before the step. With
these four none of the shipped machines, which have one rail, is taken for several."""
_RAILS = range(2, 9)  # network cards of a node: chosen, those of Aurora have 8


def rail_step(curve: OSUCurve) -> str:
    """Return a sentence where a bandwidth that had levelled off rises to a multiple of it.

    So do curves of nodes with several network cards, whose MPI stripes messages from some size on.
    It is empty where the bandwidth does not.

    Args:
        curve: as measured.
    """
    known = np.isfinite(curve.bandwidth_Bps)
    sizes, rates = curve.sizes[known], curve.bandwidth_Bps[known]
    for at in range(1, len(sizes) - 1):
        gain, step = rates[at] / rates[at - 1], rates[at + 1] / rates[at]
        most = float(rates[at + 1 :].max())
        times = most / float(rates[at])
        rails = round(times)
        levelled = _LEVEL[0] <= gain <= _LEVEL[1] and step >= _STEP
        stays = rates[at + 1 :].min() >= _STEP * rates[at] and rates[at + 1] >= most / 3
        if levelled and stays and rails in _RAILS and abs(times / rails - 1.0) <= _NEAR:
            return (
                f"the bandwidth levels off at {rates[at] / 1e9:.3g} GB/s and from "
                f"{byte_label(int(sizes[at + 1]))} on rises to {most / 1e9:.3g} GB/s, about "
                f"{rails} times that: messages may be striped over {rails} rails from there; a "
                "model with one bandwidth cannot follow both, so fit the sizes below and above by "
                "themselves, or the protocol-aware model, whose regimes have a bandwidth each"
            )
    return ""
