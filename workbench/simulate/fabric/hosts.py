"""Which host of a network each rank of each job is at."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from workbench.arrays import IntArray
from workbench.checks import whole
from workbench.errors import ParameterError
from workbench.suggestions import did_you_mean
from workbench.topology.topology import Topology

HostAssignment = Literal["block", "round-robin", "random", "by-group"]
PLACEMENTS: tuple[HostAssignment, ...] = get_args(HostAssignment)


def place_jobs(
    topology: Topology,
    ranks: Sequence[int],
    placement: str = "block",
    *,
    ranks_per_host: int = 1,
    rng: np.random.Generator | int | None = None,
) -> tuple[IntArray, ...]:
    """Return the host of each rank of jobs that share a network, int64[ranks] for each job.

    No host has ranks of two jobs. Hosts are taken job by job, rank by rank, in an order that the
    placement says:

    - ``block``: as they are numbered.
    - ``round-robin``: one of each router in turn, then a second of each, …
    - ``random``: any.
    - ``by-group``: as they are numbered, but each job begins in a group of its own, so that none
      has hosts of two jobs.

    Args:
        topology: the network.
        ranks: how many each job has.
        placement: one of ``PLACEMENTS``.
        ranks_per_host: how many ranks of a job a host takes.
        rng: of ``random``.

    Raises:
        ParameterError: the jobs do not fit, or a network without groups is to be shared by them.
    """
    if placement not in PLACEMENTS:
        raise ParameterError(
            f"placement must be one of {', '.join(PLACEMENTS)}; got {placement!r}"
            f"{did_you_mean(placement, PLACEMENTS)}",
            key="placement",
        )
    ranks_per_host = whole(ranks_per_host, "ranks_per_host", 1, None)
    wanted = [-(-count // ranks_per_host) for count in ranks]
    if placement == "by-group":
        taken = _by_group(topology, wanted)
    else:
        if sum(wanted) > topology.num_hosts:
            raise ParameterError(
                f"the jobs need {sum(wanted)} hosts; {topology.name} has {topology.num_hosts}: "
                "take fewer ranks, more ranks_per_host or a larger topology",
                key="placement",
            )
        order = _order(topology, placement, rng)
        taken = np.split(order[: sum(wanted)], np.cumsum(wanted)[:-1])
    return tuple(
        np.repeat(hosts, min(ranks_per_host, count))[:count].astype(np.int64)
        for hosts, count in zip(taken, ranks, strict=True)
    )


def checked_hosts(topology: Topology, hosts: ArrayLike, ranks: int) -> IntArray:
    """Return the hosts of a job's ranks as int64[ranks], checked."""
    given = topology.checked_hosts(hosts)
    if len(given) != ranks:
        raise ParameterError(
            f"placement must name a host for each of {ranks} ranks; got {len(given)}",
            key="placement",
        )
    return given


def _order(topology: Topology, placement: str, rng: np.random.Generator | int | None) -> IntArray:
    hosts = np.arange(topology.num_hosts)
    if placement == "random":
        shuffled: IntArray = np.random.default_rng(rng).permutation(hosts)
        return shuffled
    if placement == "round-robin":
        by_router = np.argsort(topology.host_router, kind="stable")
        routers = topology.host_router[by_router]
        turn = hosts - np.searchsorted(routers, routers)
        return by_router[np.lexsort((routers, turn))]
    return hosts


def _by_group(topology: Topology, wanted: Sequence[int]) -> list[IntArray]:
    of_host = topology.group[topology.host_router]
    if len(of_host) and of_host.min() < 0:
        raise ParameterError(
            f"by-group needs a topology whose routers are in groups; {topology.name} has none: "
            "take block",
            key="placement",
        )
    groups = np.unique(of_host)
    taken: list[IntArray] = []
    next_group = 0
    for job, count in enumerate(wanted):
        chosen: list[IntArray] = []
        while sum(map(len, chosen)) < count:
            if next_group == len(groups):
                raise ParameterError(
                    f"each job must have groups of its own; {topology.name} has {len(groups)}, "
                    f"which end at job {job}: take fewer ranks, or another placement",
                    key="placement",
                )
            chosen.append(np.flatnonzero(of_host == groups[next_group]))
            next_group += 1
        taken.append(np.concatenate([*chosen, np.zeros(0, np.int64)])[:count])
    return taken
