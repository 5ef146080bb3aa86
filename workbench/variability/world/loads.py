"""What the jobs on a machine send over which links, on minimal ways and by detours."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from workbench.arrays import FloatArray, IntArray
from workbench.variability.world.flows import JobFlows
from workbench.variability.world.machine import ROUTERS, WorldMachine
from workbench.variability.world.routes import Detours, detours_of, minimal_ways


@dataclass(frozen=True, eq=False)
class MachineLoads:
    """The traffic of all jobs on a machine, in parcels.

    A parcel is what a job sends from the nodes of one router, either to its own group or to others.
    At that router the network decides which part of it goes on minimal ways.

    Attributes:
        machine: the machine.
        detours: what goes by way of random routers.
        job: int64[parcels], place of the job that sends.
        source: int64[parcels], router.
        rate: float64[parcels], B/s at activity 1.
        minimal: sparse [links, parcels], B/s of each link at activity 1, all on minimal ways.
        first: sparse [parcels, links], share of the parcel whose minimal ways begin with a link.
        ratio: float64[parcels], links on detours over links on minimal ways; 0 where there are no
            detours.
        detours_first: sparse [parcels, links], share of its detours that begin with a link; none
            where there are no detours.
        leaving: sparse [2 routers, parcels], B/s that leave each router for others of its group,
            then for other groups.
        arriving: sparse [2 routers, parcels], B/s that arrive likewise.
        ends: sparse [2 nodes, parcels], B/s from each node, then to each.
    """

    machine: WorldMachine
    detours: Detours
    job: IntArray
    source: IntArray
    rate: FloatArray
    minimal: sparse.csr_array
    first: sparse.csr_array
    ratio: FloatArray
    detours_first: sparse.csr_array
    leaving: sparse.csr_array
    arriving: sparse.csr_array
    ends: sparse.csr_array


def machine_loads(
    machine: WorldMachine,
    flows: list[JobFlows],  # of each job
    node_rates: FloatArray,  # B/s that a node sends at activity 1, of each job
) -> MachineLoads:
    """Return what jobs load the links of a machine by."""
    detours = detours_of(machine)
    at = machine.topology.host_router
    routers = machine.routers
    job = np.repeat(np.arange(len(flows)), [len(one.share) for one in flows])
    sender = np.concatenate([one.source for one in flows])
    receiver = np.concatenate([one.target for one in flows])
    source, target = at[sender].astype(np.int64), at[receiver].astype(np.int64)
    rate = np.concatenate([one.share * each for one, each in zip(flows, node_rates, strict=True)])
    away = source // ROUTERS != target // ROUTERS
    keys = ((job * routers + source) * 2 + away) * routers + target
    sends = rate > 0
    sender, receiver, rate = sender[sends], receiver[sends], rate[sends]
    pairs, place = np.unique(keys[sends], return_inverse=True)
    parcels, parcel = np.unique(pairs // routers, return_inverse=True)
    ends = (
        np.concatenate((rate, rate)),
        (np.concatenate((sender, len(at) + receiver)), np.tile(parcel[place], 2)),
    )
    rate = np.bincount(place, rate, len(pairs)).astype(np.float64)
    begin, far = parcels // 2 % routers, parcels % 2 == 1
    source, target, away = begin[parcel], pairs % routers, far[parcel]
    count = len(parcels)
    total = np.bincount(parcel, rate, count).astype(np.float64)
    ways = minimal_ways(machine, source, target)
    of_way, carried = parcel[ways.pair], rate[ways.pair] * ways.share
    links = len(machine.source)
    minimal = sparse.csr_array((carried, (ways.link, of_way)), shape=(links, count))
    begins = ways.first
    moves = np.bincount(parcel, rate * (source != target), count)
    part = carried[begins] / moves[of_way[begins]]
    first = sparse.csr_array((part, (of_way[begins], ways.link[begins])), shape=(count, links))
    # Two groups have no third one for a detour, and what stays at its router passes no link.
    goes = (source != target) & (~away | (machine.groups > 2))
    near_or_far = np.where(away, routers, 0)
    at_source, at_target = near_or_far + source, near_or_far + target
    hops = np.bincount(of_way, carried, count)
    detour = rate * goes * (detours.hops[at_source] + detours.hops[at_target])
    around = np.bincount(parcel, detour, count)
    out = (rate[goes], (at_source[goes], parcel[goes]))
    into = (rate[goes], (at_target[goes], parcel[goes]))
    return MachineLoads(
        machine,
        detours,
        parcels // 2 // routers,
        begin,
        total,
        minimal,
        first,
        around / np.where(hops > 0, hops, 1.0),
        (around > 0)[:, None] * detours.first[np.where(far, routers, 0) + begin],
        sparse.csr_array(out, shape=(2 * routers, count)),
        sparse.csr_array(into, shape=(2 * routers, count)),
        sparse.csr_array(ends, shape=(2 * len(at), count)),
    )
