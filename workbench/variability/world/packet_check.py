"""Stalls by the flow model of a world beside those of the packet simulator, and the fit to them.

Jobs of a few users share one or two groups of routers. The same flows are simulated packet by
packet, with the routing ``ugal-l`` and room for one packet in each lane of a port, so that a packet
that waits stalls the one behind it, as Aries counts stalls. Two simulations that draw other times
and ways for the same packets say how far chance lets ranks agree.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from workbench.arrays import FloatArray
from workbench.checks import whole
from workbench.models import SNAPPR
from workbench.provenance import Provenance
from workbench.result import Drawing, StoredResult
from workbench.simulate.fabric import Fabric, run_traffic
from workbench.tasks import Task
from workbench.topology.traffic import Traffic
from workbench.variability.world.congestion import bytes_on_links, link_state
from workbench.variability.world.flows import JobFlows, job_flows
from workbench.variability.world.loads import machine_loads
from workbench.variability.world.machine import (
    CLASSES,
    NODE_BANDWIDTH,
    WorldMachine,
    WorldPreset,
    world_machine,
)
from workbench.variability.world.shipped_curve import shipped_stall_curve
from workbench.variability.world.stall_curve import StallCurve

if TYPE_CHECKING:
    import pandas as pd


MESSAGES = 500_000
"""Of each simulation of a check, which takes about half a minute."""

FIT_SEEDS, CHECK_SEEDS = (1, 2, 3, 4), (101, 102)
"""Of the jobs to which the shipped curve is fitted, and of others by which it is checked."""

_JOBS = 6  # of a group: chosen, 16 of its 96 routers each on average
_KINDS = (  # chosen: the patterns of a world's users and programs
    {"stencil-3d": 1.0},
    {"all-to-all": 1.0},
    {"shift": 0.7, "all-to-all": 0.3},
    {"stencil-4d": 1.0},
    {"io-write": 0.3, "stencil-3d": 0.7},
)
_PACKET = 256  # B: 49 ns on a link, beside which its latency of 1 ns hardly counts
_LINK_BANDWIDTH = 5.25e9  # B/s of an electrical link (Faanes et al., SC 2012), here of all
_BUSIEST = (0.5, 0.95)  # chosen: with less hardly anything stalls, with more all does
_ERROR_WEIGHT, _FIRST_STEP = 0.3, 0.7  # chosen: ranks count most; a factor of 2, exp(0.7)
_MASK = 2**31 - 1  # the simulator's seeds have 31 bits


@dataclass(frozen=True, eq=False, repr=False)
class StallCheck(StoredResult):
    """Utilisation and stalls of the links between routers, by the flow model and by packets.

    Attributes:
        groups: of the machine.
        seed: of the jobs and of the simulation.
        messages: of each simulation at least, of one packet each.
        kind: uint8[links], place of each link's class in ``row``, ``column``, ``global``.
        packet_utilisation: float64[2, links], share of the time that a link was sending, by two
            simulations with other draws.
        packet_stall: float64[2, links], share of the time that what it carries waited for room.
        flow_utilisation: float64[links], by the flow model.
        flow_stall: float64[links].
        provenance: what was simulated.
    """

    groups: int
    seed: int
    messages: int
    kind: NDArray[np.uint8]
    packet_utilisation: NDArray[np.float64] = field(metadata={"axes": 2})
    packet_stall: NDArray[np.float64] = field(metadata={"axes": 2})
    flow_utilisation: FloatArray
    flow_stall: FloatArray
    provenance: Provenance

    plot = Drawing("plot_stall_check")

    @property
    def stall_rank(self) -> float:
        """Spearman's rank correlation of stalls with the mean of both simulations, all links."""
        return rank_correlation(self.flow_stall, self.packet_stall.mean(axis=0))

    @property
    def chance_rank(self) -> float:
        """Rank correlation of the stalls of the two simulations: 1 without chance."""
        return rank_correlation(*self.packet_stall)

    @property
    def utilisation_rank(self) -> float:
        """As ``stall_rank`` of utilisations."""
        return rank_correlation(self.flow_utilisation, self.packet_utilisation.mean(axis=0))

    def to_frame(self) -> pd.DataFrame:
        """Return a row a link: its ``class``, and utilisation and stall by either model."""
        import pandas as pd

        return pd.DataFrame(
            {
                "class": np.array(CLASSES, object)[self.kind],
                "utilisation, packets": self.packet_utilisation.mean(axis=0),
                "utilisation, flows": self.flow_utilisation,
                "stall, packets": self.packet_stall.mean(axis=0),
                "stall, flows": self.flow_stall,
            }
        )

    def __repr__(self) -> str:
        return (
            f"StallCheck({self.groups} groups, seed {self.seed}: ranks of {len(self.kind)} links "
            f"agree by {self.stall_rank:.3f} in stalls, those of two simulations by "
            f"{self.chance_rank:.3f}; in utilisation by {self.utilisation_rank:.3f}; "
            f"{self.provenance.origin})"
        )


def check_stalls(
    groups: int = 1,
    *,
    seed: int = 0,
    messages: int = MESSAGES,
    curve: StallCurve | None = None,
    task: Task | None = None,
) -> StallCheck:
    """Return how well the flow model's stalls agree with those of packets, link by link.

    Args:
        groups: 1 or 2, of 16 x 6 routers.
        seed: of the jobs and of the simulation.
        messages: messages of each of two simulations at least, of one packet each.
        curve: of the flow model; None takes the one that ships.
        task: its progress is that of each simulation; once it is stopped, the simulation ends.

    Raises:
        ParameterError: an argument is not accepted.
        SimulationHalted: the task was stopped.
    """
    groups = whole(groups, "groups", 1, 2)
    seed, messages = whole(seed, "seed", 0, 2**31), whole(messages, "messages", 1000)
    machine = _machine(groups)
    flows, rates = _jobs(machine, seed)
    draws = seed, ~seed & _MASK
    pairs = [_packets(machine, flows, rates, draw, messages, task) for draw in draws]
    loads = machine_loads(machine, flows, rates)
    state = link_state(
        loads,
        np.ones(len(loads.rate)),
        shipped_stall_curve() if curve is None else curve,
    )
    between = slice(0, machine.between)
    return StallCheck(
        groups,
        seed,
        messages,
        machine.kind[between],
        np.stack([used for used, _, _ in pairs]),
        np.stack([stalled for _, stalled, _ in pairs]),
        state.utilisation[between, 0],
        state.stall[between, 0],
        pairs[0][2],
    )


def fit_stall_curve(
    groups: Sequence[int] = (1, 2),
    *,
    seeds: Sequence[int] = FIT_SEEDS,
    messages: int = MESSAGES,
    task: Task | None = None,
) -> StallCurve:
    """Return the curve whose stalls agree best with those of the packet simulator.

    The mean rank correlation counts, and with a weight of 0.3 the error of the stalls' square
    roots, relative to their root mean square.

    Args:
        groups: of each machine.
        seeds: of jobs, for each machine.
        messages: of each simulation at least.
        task: as for ``check_stalls``.

    Raises:
        ParameterError: as for ``check_stalls``.
        SimulationHalted: the task was stopped.
    """
    from scipy.optimize import minimize

    start = StallCurve(1.0, 1.0, 0.5, 0.5, Provenance("simulated", "a first guess"))
    names = ("queue", "presence", "gain", "spread")
    cases = []
    for count in groups:
        machine = _machine(whole(count, "groups", 1, 2))
        for seed in seeds:
            flows, rates = _jobs(machine, seed)
            _, stalled, _ = _packets(machine, flows, rates, seed, messages, task)
            cases.append((machine_loads(machine, flows, rates), stalled))

    def curve_of(logs: FloatArray) -> StallCurve:
        values = dict(zip(names, np.exp(logs).tolist(), strict=True))
        values["spread"] = min(values["spread"], 1.0)
        return StallCurve(**values, provenance=start.provenance)

    def loss(logs: FloatArray) -> float:
        curve, ranks, errors = curve_of(logs), [], []
        for loads, stalled in cases:
            state = link_state(loads, np.ones(len(loads.rate)), curve)
            found = state.stall[: loads.machine.between, 0]
            ranks.append(rank_correlation(found, stalled))
            gap = np.sqrt(found) - np.sqrt(stalled)
            errors.append(np.sqrt(np.mean(gap**2) / np.mean(stalled)))
        return float(_ERROR_WEIGHT * np.mean(errors) - np.mean(ranks))

    first = np.log([getattr(start, name) for name in names])
    corners = first + np.vstack((np.zeros(len(names)), _FIRST_STEP * np.eye(len(names))))
    best = minimize(
        loss, first, method="Nelder-Mead", options={"initial_simplex": corners, "fatol": 1e-4}
    )
    found = curve_of(best.x)
    provenance = Provenance(
        "simulated",
        f"fitted to packets on {' and '.join(map(str, groups))} groups of Aries routers",
        "workbench variability stalls --fit",
        details={
            "messages": str(messages),
            "seeds": ", ".join(map(str, seeds)),
            "loss": f"{best.fun:.4f}",
        },
    )
    values = {name: float(f"{getattr(found, name):.4g}") for name in names}
    return StallCurve(**values, provenance=provenance)


def rank_correlation(one: FloatArray, other: FloatArray) -> float:
    """Return Spearman's rank correlation, ties at their mean rank."""
    from scipy.stats import rankdata

    return float(np.corrcoef(rankdata(one), rankdata(other))[0, 1])


@cache
def _machine(groups: int) -> WorldMachine:
    """Return a machine all of whose links have the same bandwidth, as in the packet simulator."""
    blue = 24 if groups > 1 else None
    machine = world_machine(WorldPreset("check", groups, groups, blue, 2, 0, 0.0, 1.0))
    capacity = machine.capacity.copy()
    capacity[: machine.between] = np.bincount(machine.wide) * _LINK_BANDWIDTH
    capacity[machine.to_nodes] = _LINK_BANDWIDTH
    return replace(machine, capacity=capacity)


def _jobs(machine: WorldMachine, seed: int) -> tuple[list[JobFlows], FloatArray]:
    """Return jobs that fill a machine in pieces of a router, and what their nodes send, B/s."""
    rng = np.random.default_rng([seed, 9])
    jobs = _JOBS * machine.groups
    routers = rng.permutation(np.flatnonzero(machine.compute))
    size = rng.lognormal(0.0, 0.5, jobs)
    cut = (np.cumsum(size)[:-1] / size.sum() * len(routers)).astype(int)
    at = machine.topology.host_router
    io = np.flatnonzero(machine.io[at])
    flows = []
    for part in np.split(routers, cut):
        nodes = (part[:, None] * (len(at) // machine.routers) + np.arange(4)).ravel()
        flows.append(job_flows(_KINDS[rng.integers(len(_KINDS))], nodes, io, rng))
    rates = np.exp(0.5 * rng.standard_normal(jobs))
    loads = machine_loads(machine, flows, rates)
    every = np.ones((len(loads.rate), 1))
    offered = bytes_on_links(loads, every, every)[:, 0] / machine.capacity
    # On minimal ways the busiest link is offered between a half of what it carries and all of it.
    return flows, rates * rng.uniform(*_BUSIEST) / offered.max()


def _packets(
    machine: WorldMachine,
    flows: list[JobFlows],
    rates: FloatArray,
    seed: int,
    messages: int,
    task: Task | None,
) -> tuple[FloatArray, FloatArray, Provenance]:
    """Return the share of the time that wide links send, and stall, by the packet simulator."""
    topology = machine.topology
    routes = Fabric(topology, routing="ugal-l").routes
    model = SNAPPR().replace(
        mtu=_PACKET,
        injection_bandwidth=NODE_BANDWIDTH,
        link_bandwidth=_LINK_BANDWIDTH,
        link_latency="1ns",
        injection_latency="1ns",
        ejection_latency="1ns",
        nic_credits=_PACKET,
        switch_credits=_PACKET * routes.lanes,
    )
    nodes = topology.num_hosts
    pair = np.concatenate([one.source * nodes + one.target for one in flows])
    rate = np.concatenate([one.share * each for one, each in zip(flows, rates, strict=True)])
    pair, place = np.unique(pair, return_inverse=True)
    rate = np.bincount(place, rate) / NODE_BANDWIDTH
    apart = pair // nodes != pair % nodes
    pair, rate = pair[apart], rate[apart]
    most = float(np.bincount(pair // nodes, rate).max())
    drawn = Traffic(
        "jobs of several users",
        topology,
        (pair // nodes).astype(np.int32),
        (pair % nodes).astype(np.int32),
        rate / most,
    )
    load = min(most, 1.0)
    fabric = Fabric(topology, model, routing=routes)
    found = run_traffic(fabric, drawn, load, messages=messages, seed=seed, samples=1, task=task)
    each = np.bincount(machine.wide)
    used, stalled = (
        np.bincount(machine.wide, share[: len(machine.wide)]) / each
        for share in (found.utilisation, found.stalled)
    )
    return used, stalled, found.provenance
