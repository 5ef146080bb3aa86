"""Hardware counters of routers during steps: flits, packets and stalls by class of tile.

Names are those of Bhatele et al. (2020), table II; its descriptions of some are garbled, and what
is counted here stands beside each. The width of a flit, the clock and the number of processor tiles
are made up to plausible values; analyses do not depend on them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from workbench.arrays import FloatArray
from workbench.variability.world.congestion import LinkState
from workbench.variability.world.loads import MachineLoads
from workbench.variability.world.machine import WorldMachine

if TYPE_CHECKING:
    import pandas as pd


FLIT_BYTES, CLOCK_HZ, TILES = 16, 800e6, 2
"""Bytes of a flit, cycles a second, and processor tiles of a node.

Chosen, near Aries: counters only scale with them, which no analysis of deviations sees.
"""

JOB_COUNTERS: Mapping[str, str] = {
    "RT_FLIT_TOT": "flits that arrive at router tiles from other routers",
    "RT_PKT_TOT": "packets that arrive at router tiles from other routers",
    "RT_RB_2X_USG": "cycles in which two channels of a router tile stall",
    "RT_RB_STL": "cycles in which what arrived at a router tile waits for the next link",
    "PT_CB_STL_RQ": "cycles in which requests wait for room at the nodes",
    "PT_CB_STL_RS": "cycles in which responses wait for room at the nodes",
    "PT_FLIT_VC0": "flits of requests that nodes send",
    "PT_FLIT_VC4": "flits of responses that nodes send",
    "PT_FLIT_TOT": "flits that nodes send",
    "PT_PKT_TOT": "packets that nodes send",
    "PT_RB_STL_RQ": "cycles in which requests from nodes wait for the network",
    "PT_RB_STL_RS": "cycles in which responses from nodes wait for the network",
    "PT_RB_2X_USG": "cycles in which both wait for the network",
}
"""Counters of the routers that a job's nodes are at, and what each counts."""

LDMS_COUNTERS = ("RT_FLIT_TOT", "RT_RB_STL", "PT_FLIT_TOT", "PT_PKT_TOT")
"""Those that are also read system-wide. The paper has four and names PT_FLIT_TOT."""

_ELSEWHERE = {"IO": "routers of I/O nodes", "SYS": "routers without nodes of the job"}

COUNTERS: Mapping[str, str] = {
    **JOB_COUNTERS,
    "NUM_ROUTERS": "routers that the job's nodes are at",
    "NUM_GROUPS": "groups that the job's nodes are in",
    **{
        f"{prefix}_{name}": f"{JOB_COUNTERS[name]}, at {where}"
        for prefix, where in _ELSEWHERE.items()
        for name in LDMS_COUNTERS
    },
}
"""All columns of the table of steps, and what each counts."""


def counters_table() -> pd.DataFrame:
    """Return a row a counter: ``counter`` and ``counts``, in the place of the paper's table II."""
    import pandas as pd

    return pd.DataFrame({"counter": list(COUNTERS), "counts": list(COUNTERS.values())})


@dataclass(frozen=True, eq=False)
class TrafficKind:
    """What a job's bytes look like, float64[parcels] each."""

    requests: FloatArray  # share of the bytes; the others are responses
    packet_flits: FloatArray  # mean of a packet
    own: FloatArray  # 1 for the traffic of the run, 0 for that of others


def router_counters(
    loads: MachineLoads,
    state: LinkState,
    activity: FloatArray,  # [parcels, steps]
    kind: TrafficKind,
    routers: NDArray[np.bool_],  # whose counters are added up
    idle_s: FloatArray,  # [steps], what a step takes on an idle machine
    time_s: FloatArray,  # [steps], what it took
) -> dict[str, FloatArray]:
    """Return what the counters of some routers rose by in each step, by name.

    A run sends the same bytes however long a step takes; what others send lasts as long as it does.
    """
    machine = loads.machine
    into = _arriving(machine, routers)
    seconds = np.where(kind.own[:, None] > 0, idle_s, time_s)
    cycles = CLOCK_HZ * time_s
    arrived = _bytes(loads, state, activity, into) * seconds
    sent = (routers[loads.source] * loads.rate)[:, None] * activity * seconds
    flits, per_packet = 1.0 / FLIT_BYTES, 1.0 / (FLIT_BYTES * kind.packet_flits)
    requests = kind.requests
    width = machine.capacity[: machine.between] / _one_link(machine)
    tiles = np.zeros(len(machine.source))
    tiles[: machine.between] = width * into[: machine.between]
    # At nodes requests and responses share what is used; each kind waits in its own channel.
    asked = _at_nodes(loads, activity * requests[:, None])
    answered = _at_nodes(loads, activity * (1.0 - requests)[:, None])
    at = routers[machine.topology.host_router][:, None]
    wait = state.wait[machine.to_nodes]
    blocked = wait / (1.0 + wait) * at
    waiting = state.stall[machine.from_nodes] * at
    share = asked / np.maximum(asked + answered, 1e-300)
    ask_in, ask_out = np.split(share, 2)
    return {
        "RT_FLIT_TOT": flits * arrived.sum(axis=0),
        "RT_PKT_TOT": per_packet @ arrived,
        "RT_RB_2X_USG": cycles * (tiles @ state.stall**2),
        "RT_RB_STL": cycles * (tiles @ state.stall),
        "PT_CB_STL_RQ": TILES * cycles * (blocked * ask_out).sum(axis=0),
        "PT_CB_STL_RS": TILES * cycles * (blocked * (1.0 - ask_out)).sum(axis=0),
        "PT_FLIT_VC0": flits * (requests @ sent),
        "PT_FLIT_VC4": flits * ((1.0 - requests) @ sent),
        "PT_FLIT_TOT": flits * sent.sum(axis=0),
        "PT_PKT_TOT": per_packet @ sent,
        "PT_RB_STL_RQ": TILES * cycles * (waiting * ask_in).sum(axis=0),
        "PT_RB_STL_RS": TILES * cycles * (waiting * (1.0 - ask_in)).sum(axis=0),
        "PT_RB_2X_USG": TILES * cycles * (waiting**2 * ask_in * (1.0 - ask_in)).sum(axis=0),
    }


def _arriving(machine: WorldMachine, routers: NDArray[np.bool_]) -> FloatArray:
    """Return which links lead to some routers from others, 0 or 1."""
    between = np.arange(len(machine.source)) < machine.between
    return np.asarray(routers[machine.target] & between, np.float64)


def _bytes(
    loads: MachineLoads, state: LinkState, activity: FloatArray, links: FloatArray
) -> FloatArray:
    """Return the B/s that each parcel has on some links, [parcels, steps]."""
    sent, received = loads.detours.weigh(links)
    short = loads.minimal.T @ links
    long = loads.leaving.T @ sent + loads.arriving.T @ received
    found: FloatArray = activity * (
        short[:, None] * state.minimal + long[:, None] * (1.0 - state.minimal)
    )
    return found


def _at_nodes(loads: MachineLoads, activity: FloatArray) -> FloatArray:
    """Return the B/s from each node and to each, [2 nodes, steps]."""
    found: FloatArray = loads.ends @ activity
    return found


def _one_link(machine: WorldMachine) -> FloatArray:
    """Return the B/s of one of the links that make up a wide one, [between]."""
    count = np.bincount(machine.wide, minlength=machine.between)
    found: FloatArray = machine.capacity[: machine.between] / count
    return found
