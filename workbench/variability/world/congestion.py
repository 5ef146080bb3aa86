"""Utilisation and stalls of all links where jobs share them and the network routes around stalls.

Quasi-static: during a step of a run each job sends at a constant rate. Which part of a parcel of
traffic goes on minimal ways is a fixed point: what is queued on both ways decides, weighed by their
lengths as in UGAL (Singh 2005), and the decision loads the ways.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from workbench.variability.world.loads import MachineLoads
from workbench.variability.world.machine import WorldMachine
from workbench.variability.world.stall_curve import StallCurve, shipped_stall_curve

FloatArray = NDArray[np.float64]

_SWEEPS = 6
_DAMPING = 0.5
_CELLS = 1_000_000
"""Links times steps that are solved at once, which bounds the memory."""


@dataclass(frozen=True, eq=False)
class LinkState:
    """The links of a machine at some steps, or in some worlds.

    Attributes:
        minimal: float64[parcels, columns], share of each parcel on minimal ways.
        utilisation: float64[links, columns], offered load over capacity; above 1 where more is
            offered than a link carries.
        blocking: float64[links, columns], share of the time that a link cannot take what comes.
        stall: float64[links, columns], share of the time that what arrives by a link has to wait
            for room on the next one.
    """

    minimal: FloatArray
    utilisation: FloatArray
    blocking: FloatArray
    stall: FloatArray


def link_state(
    loads: MachineLoads,
    activity: FloatArray,  # of each parcel, [parcels, columns]
    *,
    unlimited: NDArray[np.bool_] | None = None,  # links of infinite capacity
    curve: StallCurve | None = None,
) -> LinkState:
    """Return utilisation and stalls of the links, for each column of activities."""
    curve = shipped_stall_curve() if curve is None else curve
    width = max(1, _CELLS // len(loads.machine.source))
    parts = [
        _solve(loads, activity[:, at : at + width], unlimited, curve)
        for at in range(0, activity.shape[1], width)
    ]
    if len(parts) == 1:
        return parts[0]
    return LinkState(
        *(
            np.concatenate([getattr(part, name) for part in parts], axis=1)
            for name in ("minimal", "utilisation", "blocking", "stall")
        )
    )


def _solve(
    loads: MachineLoads,
    activity: FloatArray,
    unlimited: NDArray[np.bool_] | None,
    curve: StallCurve,
) -> LinkState:
    short, long = loads.minimal, loads.valiant
    between = np.zeros((len(loads.machine.source), 1))
    between[: loads.machine.between] = 1.0
    minimal = np.full(activity.shape, 0.8)
    used = _utilisation(loads, activity, minimal, unlimited)
    for _ in range(_SWEEPS):
        # A link counts as one hop, and its queue as so many more; nodes' links are on both ways.
        queue = between * (1.0 + curve.queue_weight * curve.queue(used))
        wanted = curve.minimal_share(short.visits @ queue, long.visits @ queue)
        minimal += _DAMPING * (wanted - minimal)
        used = _utilisation(loads, activity, minimal, unlimited)
    blocking, stall = stalls_of(loads.machine, used, curve)
    return LinkState(minimal, used, blocking, stall)


def _utilisation(
    loads: MachineLoads,
    activity: FloatArray,
    minimal: FloatArray,
    unlimited: NDArray[np.bool_] | None,
) -> FloatArray:
    used: FloatArray = loads.minimal.loaded @ (activity * minimal)
    used += loads.valiant.loaded @ (activity * (1.0 - minimal))
    if unlimited is not None:
        used[unlimited] = 0.0
    return used


def stalls_of(
    machine: WorldMachine, utilisation: FloatArray, curve: StallCurve
) -> tuple[FloatArray, FloatArray]:
    """Return how often links are blocked and stalled, both float64[links, columns].

    A link is blocked by its own load and, further up, by its stalls. It stalls as often as it
    carries something and what that meets at its end is blocked: the links out of its router,
    weighed by what they carry.
    """
    leaving, own = _leaving(machine), curve.blocking(utilisation)
    flow = np.minimum(utilisation, 1.0) * machine.capacity[:, None]
    carried = leaving @ flow
    waits = curve.presence(utilisation)
    stall = np.zeros_like(utilisation)
    blocking = own
    for _ in range(curve.levels):
        ahead = leaving @ (flow * blocking)
        ahead = np.divide(ahead, carried, out=np.zeros_like(ahead), where=carried > 0)
        stall = waits * _ahead(machine, ahead)
        blocking = 1.0 - (1.0 - own) * (1.0 - curve.spread * stall)
    return blocking, stall


def _ahead(machine: WorldMachine, at_router: FloatArray) -> FloatArray:
    """Return what links meet at their ends; a link to nodes meets nothing there."""
    found = at_router[machine.target]
    found[machine.between + machine.routers :] = 0.0
    return found


def _leaving(machine: WorldMachine) -> sparse.csr_array:
    """Return which links leave each router, links to its nodes among them, [routers, links]."""
    at = np.arange(len(machine.source))
    # What nodes send arrives at the router.
    out = (at < machine.between) | (at >= machine.between + machine.routers)
    entry = machine.source[out], at[out]
    shape = machine.routers, len(at)
    return sparse.csr_array((np.ones(int(out.sum())), entry), shape=shape)
