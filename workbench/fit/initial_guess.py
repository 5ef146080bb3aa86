"""What a fit tries first: the model as it stands, and what the curve itself suggests."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import numpy as np

from workbench.errors import ConfigurationError
from workbench.fit.defaults import model_to_fit
from workbench.fit.losses import rmspe_by_target
from workbench.fit.measured import as_curve
from workbench.fit.segments import Cut, segments_of
from workbench.fit.space import SearchSpace
from workbench.measure import OSUCurve
from workbench.models import ModelParameter, NetworkModel, SSTMacroModel
from workbench.simulate import simulate_osu

if TYPE_CHECKING:
    from workbench.fit.measured import Measured

StartPoint = dict[str, float]

_WAYS = 6  # cuts to start from; chosen, not tuned: a search moves the thresholds on from there
_FASTEST = 1e-12  # s/B, the upper bound of every rate


def starting_points(model: NetworkModel, curve: OSUCurve, space: SearchSpace) -> list[StartPoint]:
    """Return the configurations to try first: the model's own, then those the curve suggests."""
    # Over four machines SNAPPR's best RMSRE after 10 trials was 2.0 with them and 8.6 without,
    # after 100 the same. For the protocol model the suggestion is nearly the fit.
    own = {d.key: float(model.get(d.key)) for d in space.dimensions}
    if model.name == "protocol":
        regimes = 4 if "middle.limit" in space.keys else 3
        suggestions = [_protocol(cut) for cut in segments_of(curve).cuts(regimes, _WAYS)]
    else:
        found = {d.key: _suggested(d, curve, space) for d in space.dimensions}
        suggestions = [{key: value for key, value in found.items() if value}]
    return [own, *({key: s.get(key, value) for key, value in own.items()} for s in suggestions)]


def first_guess(curve: Measured, model: str | NetworkModel) -> NetworkModel:
    """Return a model near a curve without a search: the best of its ``starting_points``.

    A data sheet is no better start: over the shipped machines SNAPPR as typed in from it is off by
    350 to 10800 % (RMSPE), the defaults by 290 to 13700 %, the curve's suggestion by 40 to 160 %.

    Args:
        curve: what was measured.
        model: name of a model, or one whose values count as a suggestion too.

    Returns:
        The model with the least joint RMSPE, the values that the curve suggests to three digits.
    """
    measured = as_curve(curve)
    own = model_to_fit(model, curve=measured)
    space = SearchSpace.for_model(own)
    best, least = own, np.inf
    usual, *suggestions = starting_points(own, measured, space)
    times = [d.key for d in space.dimensions if d.kind == "time"]
    crossed = _crossings(own, int(measured.sizes[0]))
    shared = [
        {key: value / crossed if key in times else value for key, value in point.items()}
        for point in (suggestions if crossed > 1 else ())
    ]
    for point in ({}, *suggestions, *shared):
        # A value that the curve does not determine is unchanged: 4096 B do not become 4100 B.
        moved = [d for d in space.dimensions if d.key in point and point[d.key] != usual[d.key]]
        guess = own.with_values({d.key: d.snap(point[d.key], 3) for d in moved})
        try:
            errors = rmspe_by_target(simulate_osu(guess, measured.sizes.tolist()), measured)
        except ConfigurationError:
            continue
        if errors["joint"] < least:
            best, least = guess, errors["joint"]
    return best


def _crossings(model: NetworkModel, size_bytes: int) -> int:
    """Return the number of times a message of SST/macro's models crosses the network: 1 or 3.

    Up to the size of a very short message (EAGER0) the data cross once. Above it (EAGER1) a header,
    a request for the data, and the data cross one after the other.
    """
    if not isinstance(model, SSTMacroModel):
        return 1
    return 1 if size_bytes <= model.mpi.max_vshort_msg_size else 3


def _protocol(cut: Cut) -> StartPoint:
    """Return the protocol model's parameters that three or four segments of the curve suggest.

    The eager threshold is where the constant time steps up most, by the handshake. Of four
    segments the one in between is middle messages, before that step or after it.
    """
    short, eager, *middle, rendezvous = cut
    steps = np.diff([part.constant for part in (eager, *middle, rendezvous)])
    limits = [eager.last, *(part.last for part in middle)]
    where = int(np.argmax(steps))
    handshake = rendezvous.flight - eager.flight
    point = {
        "short.max_size": float(short.last),
        "eager.max_size": float(limits.pop(where)),
        "rendezvous.handshake": handshake,
    }
    named = [("short", short), ("eager", eager), ("rendezvous", rendezvous)]
    for part in middle:
        announced = handshake if where == 0 else 0.0
        named.append(("middle", dataclasses.replace(part, flight=part.flight - announced)))
        point["middle.limit"] = float(limits[0])
    for name, part in named:
        point[f"{name}.latency"] = part.flight
        point[f"{name}.overhead"] = part.overhead
        point[f"{name}.copy_bandwidth"] = 1.0 / max(part.copy, _FASTEST)
        point[f"{name}.bandwidth"] = 1.0 / max(part.wire, _FASTEST)
    # Short messages take the wire at the eager rate; their copies make up for it.
    copy = short.copy + (short.wire - eager.wire) / 2.0
    point["short.copy_bandwidth"] = 1.0 / max(copy, _FASTEST)
    return point


def _suggested(dimension: ModelParameter, curve: OSUCurve, space: SearchSpace) -> float | None:
    """Return the value that the curve suggests, None if it suggests none."""
    if dimension.kind == "time":
        latencies = curve.latency_s[np.isfinite(curve.latency_s)]
        sharing = [d for d in space.dimensions if d.kind == "time" and _path(d) == _path(dimension)]
        return float(latencies[0]) / len(sharing) if latencies.size else None
    if dimension.kind == "bandwidth":
        bandwidths = curve.bandwidth_Bps[np.isfinite(curve.bandwidth_Bps)]
        return float(bandwidths.max()) if bandwidths.size else None
    return None


def _path(dimension: ModelParameter) -> str:
    """Return a latency's path; those of the overlay and of the NIC never add up."""
    return "overlay" if dimension.key.startswith("switch.logp.") else "wire"
