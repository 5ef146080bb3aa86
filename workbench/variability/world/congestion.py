"""Utilisation and stalls of all links where jobs share them and the network routes around queues.

Quasi-static: during a step of a run each job sends at a constant rate. Which part of a parcel of
traffic goes on minimal ways is a fixed point: what is queued at the router's links decides, weighed
by the lengths of the ways as in UGAL (Singh 2005), and the decision loads the links.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from workbench.arrays import FloatArray
from workbench.variability.world.loads import MachineLoads
from workbench.variability.world.machine import CLASSES, WorldMachine
from workbench.variability.world.shipped_curve import shipped_stall_curve
from workbench.variability.world.stall_curve import StallCurve, detour_share

# Measured on a step's time in ``small``, milc-128, seed 0: at most so much is left of the error.
_SWEEPS = 8  # 4 leave 0.4 %, 16 differ by 0.03 %
_DAMPING = 0.5  # 0.25 has still 0.6 % to go after 8 sweeps, 1 is off by 0.9 %
_FIRST_SHARE = 0.9  # on minimal ways; 0.5 and 1 differ by less than 0.1 %
_LEVELS = 3  # links that a stall reaches back; 1 and 2 leave 7 and 0.6 %, 6 differ by 0.09 %
_CELLS = 1_000_000
"""Links times steps that are solved at once, which bounds the memory."""


@dataclass(frozen=True, eq=False)
class LinkState:
    """The links of a machine at some steps, or in some worlds.

    Attributes:
        minimal: float64[parcels, columns], share of each parcel on minimal ways.
        utilisation: float64[links, columns], offered load over capacity; above 1 where more is
            offered than a link carries.
        wait: float64[links, columns], packets that what comes to a link waits for.
        stall: float64[links, columns], share of the time that what arrives by a link has to wait
            for room on the next one.
    """

    minimal: FloatArray
    utilisation: FloatArray
    wait: FloatArray
    stall: FloatArray


def link_states(
    loads: MachineLoads,
    activity: FloatArray,  # of each parcel, [parcels, columns]
    *,
    unlimited: NDArray[np.bool_] | None = None,  # links of infinite capacity
    curve: StallCurve | None = None,
) -> Iterator[tuple[slice, LinkState]]:
    """Yield columns, some at a time, and the state of the links in them."""
    curve = shipped_stall_curve() if curve is None else curve
    width = max(1, _CELLS // len(loads.machine.source))
    for at in range(0, activity.shape[1], width):
        columns = slice(at, min(at + width, activity.shape[1]))
        yield columns, _solve(loads, activity[:, columns], unlimited, curve)


def link_state(
    loads: MachineLoads,
    activity: FloatArray,  # of each parcel
    curve: StallCurve | None = None,
) -> LinkState:
    """Return the state of the links for one column of activities."""
    ((_, state),) = link_states(loads, activity[:, None], curve=curve)
    return state


def _solve(
    loads: MachineLoads,
    activity: FloatArray,
    unlimited: NDArray[np.bool_] | None,
    curve: StallCurve,
) -> LinkState:
    ratio = loads.ratio[:, None]
    some = ratio > 0
    minimal = np.full(activity.shape, _FIRST_SHARE)
    used = _utilisation(loads, activity, minimal, unlimited)
    for _ in range(_SWEEPS):
        wanted = detour_share(loads.first @ used, loads.detours_first @ used, ratio)
        minimal += _DAMPING * (np.where(some, 1.0 - wanted, 1.0) - minimal)
        used = _utilisation(loads, activity, minimal, unlimited)
    wait, stall = stalls_of(loads.machine, used, curve)
    return LinkState(minimal, used, wait, stall)


def _utilisation(
    loads: MachineLoads,
    activity: FloatArray,
    minimal: FloatArray,
    unlimited: NDArray[np.bool_] | None,
) -> FloatArray:
    """Return what links are offered over what they carry."""
    used = bytes_on_links(loads, activity, minimal)
    used /= loads.machine.capacity[:, None]
    if unlimited is not None:
        used[unlimited] = 0.0
    return used


def bytes_on_links(loads: MachineLoads, activity: FloatArray, minimal: FloatArray) -> FloatArray:
    """Return the B/s that parcels put on each link, [links, columns]."""
    direct = activity * minimal
    around = activity - direct
    found: FloatArray = loads.minimal @ direct
    found += loads.detours.bytes_on(loads.leaving @ around, loads.arriving @ around)
    found[loads.machine.between :] = loads.ends @ activity
    return found


def stalls_of(
    machine: WorldMachine, utilisation: FloatArray, curve: StallCurve
) -> tuple[FloatArray, FloatArray]:
    """Return how long packets wait at links, and how often links stall, float64[links, columns].

    A link stalls as what it carries waits at its end: by the mean wait at the links out of that
    router, weighed by what they carry. Ways do not go on by a link of the same class.
    """
    leaving, ahead = _leaving(machine), _ahead(machine)
    used = np.minimum(utilisation, 1.0)
    flow = used * machine.capacity[:, None]
    presence = curve.presence_gain(used)
    stall = np.zeros_like(utilisation)
    for _ in range(_LEVELS):
        wait = curve.wait(used + curve.spread * stall * (1.0 - used))
        z = presence * _next_wait(leaving @ (flow * wait), leaving @ flow)[ahead]
        # What arrives at nodes waits for nothing more.
        z[machine.to_nodes] = 0.0
        stall = z / (1.0 + z)
    return wait, stall


def _next_wait(waited: FloatArray, carried: FloatArray) -> FloatArray:
    """Return the mean wait of what came by each class of link, [classes x routers, columns].

    Both arguments are sums over the links of each class out of each router.
    """
    shape = (len(CLASSES), -1, waited.shape[1])
    wait, flow = waited.reshape(shape), carried.reshape(shape)
    wait, flow = wait.sum(axis=0) - wait, flow.sum(axis=0) - flow
    # What nodes send may go to other nodes of the router.
    wait[-1] += waited.reshape(shape)[-1]
    flow[-1] += carried.reshape(shape)[-1]
    some = flow > 0
    found: FloatArray = np.divide(wait, flow, out=np.zeros_like(wait), where=some)
    return np.maximum(found, 0.0).reshape(waited.shape)


def _leaving(machine: WorldMachine) -> sparse.csr_array:
    """Return which links of each class leave each router, [classes x routers, links]."""
    out = np.ones(len(machine.source), bool)
    # What nodes send arrives at the router.
    out[machine.from_nodes] = False
    at = np.flatnonzero(out)
    entry = machine.kind[at].astype(np.int64) * machine.routers + machine.source[at], at
    shape = len(CLASSES) * machine.routers, len(out)
    return sparse.csr_array((np.ones(len(at)), entry), shape=shape)


def _ahead(machine: WorldMachine) -> NDArray[np.int64]:
    """Return the place of each link's class and end in ``_next_wait``, int64[links]."""
    return machine.kind.astype(np.int64) * machine.routers + machine.target
