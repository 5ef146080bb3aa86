"""What the jobs beside a run load each link by, on minimal ways and by way of random routers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from workbench.variability.world.flows import JobFlows
from workbench.variability.world.machine import ROUTERS, WorldMachine
from workbench.variability.world.paths import Links, minimal_ways, valiant_ways

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

_WAYS = 2
"""Ways drawn for each pair of routers, minimal ones and others; each takes its part of the flow."""


@dataclass(frozen=True, eq=False)
class LinkShares:
    """What parcels of traffic load links by, one way of routing.

    A parcel is what a job sends from the routers of a group to those of the same group, or to all
    others; the network decides for each parcel which part goes on minimal ways.

    Attributes:
        load: sparse [parcels, links], utilisation of each link by a parcel at activity 1.
        loaded: the same, transposed.
        visits: sparse [parcels, links], how often a byte of the parcel passes each link.
    """

    load: sparse.csr_array
    loaded: sparse.csr_array
    visits: sparse.csr_array


@dataclass(frozen=True, eq=False)
class MachineLoads:
    """The traffic of all jobs on a machine, in parcels.

    Attributes:
        machine: the machine.
        job: int64[parcels], place of the job that sends.
        rate: float64[parcels], B/s at activity 1.
        minimal: on minimal ways.
        valiant: by way of random routers.
    """

    machine: WorldMachine
    job: IntArray
    rate: FloatArray
    minimal: LinkShares
    valiant: LinkShares


def machine_loads(
    machine: WorldMachine,
    flows: list[JobFlows],  # of each job
    node_rates: FloatArray,  # B/s that a node sends at activity 1, of each job
    rng: np.random.Generator,
) -> MachineLoads:
    """Return what jobs load the links of a machine by."""
    at = machine.topology.host_router
    job = np.repeat(np.arange(len(flows)), [len(one.share) for one in flows])
    source = at[np.concatenate([one.source for one in flows])].astype(np.int64)
    target = at[np.concatenate([one.target for one in flows])].astype(np.int64)
    rate = np.concatenate([one.share * each for one, each in zip(flows, node_rates, strict=True)])
    key = (job * machine.routers + source) * machine.routers + target
    pairs, place = np.unique(key, return_inverse=True)
    rate = np.bincount(place, rate, len(pairs)).astype(np.float64)
    target = pairs % machine.routers
    source = pairs // machine.routers % machine.routers
    job = pairs // machine.routers**2
    kept = rate > 0
    source, target, job, rate = source[kept], target[kept], job[kept], rate[kept]
    leaves = source // ROUTERS != target // ROUTERS
    parcels, parcel = np.unique(
        (job * machine.groups + source // ROUTERS) * 2 + leaves, return_inverse=True
    )
    total = np.bincount(parcel, rate, len(parcels)).astype(np.float64)
    every = np.tile(np.arange(len(rate)), _WAYS)
    shares = []
    for ways in (minimal_ways, valiant_ways):
        links = ways(machine, source[every], target[every], rng)
        shares.append(
            _shares(machine, links, source[every], target[every], rate[every], parcel[every], total)
        )
    return MachineLoads(machine, parcels // (2 * machine.groups), total, *shares)


def _shares(
    machine: WorldMachine,
    links: Links,  # [ways, most]
    source: IntArray,
    target: IntArray,
    rate: FloatArray,
    parcel: IntArray,
    total: FloatArray,  # of each parcel
) -> LinkShares:
    ends = np.column_stack((source, machine.routers + target)) + machine.between
    links = np.concatenate((links, ends), axis=1)
    way, column = np.nonzero(links >= 0)
    link = links[way, column]
    shape = len(total), len(machine.source)
    part = rate[way] / _WAYS
    entry = parcel[way], link
    visits = sparse.csr_array((part / total[parcel[way]], entry), shape=shape)
    load = sparse.csr_array((part / machine.capacity[link], entry), shape=shape)
    return LinkShares(load, sparse.csr_array(load.T.tocsr()), visits)
