"""Xpander: random lifts of a complete graph, expanders that can be cabled in bundles.

Valadarsky, Shahaf, Dinitz, Schapira: Xpander: Towards Optimal-Performance Datacenters, CoNEXT 2016.
That random lifts expand nearly as well as any graph can is due to Bilu and Linial: Lifts,
Discrepancy and Nearly Optimal Spectral Gap, Combinatorica 26, 2006.
"""

from __future__ import annotations

import numpy as np

from workbench.topology.generator_checks import balanced, hosts_suffix, is_connected, refuse_larger
from workbench.topology.topology import TERMINAL, Topology, whole

CLASSES = (TERMINAL, "inter-group")
"""Of hosts, and between meta-nodes; there are no links within one."""

_TRIES = 1000  # of a connected graph: the second of 30 seeds' is one at the latest


def xpander(d: int, lift: int, *, hosts: int | None = None, seed: int = 1) -> Topology:
    """Return an Xpander: d + 1 meta-nodes of routers, each router joined to one of every other.

    Which router of the other meta-node that is, is drawn at random: every two meta-nodes are
    joined by a random perfect matching. The same arguments give the same network, which is
    connected. Routers are numbered meta-node by meta-node; a meta-node is a group, and the
    coordinates are the meta-node and the place in it.

    Args:
        d: links of each router to others, at least 3.
        lift: routers of a meta-node.
        hosts: hosts of each router; None takes half of its links, rounded up.
        seed: of the random draw, at least 0.

    Raises:
        ParameterError: an argument is none of these, or the network is too large.
    """
    d = whole("d", d, 3, "the links of a router of an Xpander")
    lift = whole("lift", lift, 1, "the routers of a meta-node")
    seed = whole("seed", seed, 0, "the seed of the random draw")
    each = balanced(hosts, d)
    routers = (d + 1) * lift
    refuse_larger("Xpander", "lift", hosts=routers * each, links=routers * d // 2)
    rng = np.random.default_rng(seed)
    here, there = np.triu_indices(d + 1, 1)
    place = np.arange(lift)
    for _ in range(_TRIES):
        matched = rng.permuted(np.tile(place, (len(here), 1)), axis=1)
        one = np.broadcast_to(here[:, None] * lift + place, matched.shape)
        links = np.column_stack((one.ravel(), (there[:, None] * lift + matched).ravel()))
        if is_connected(routers, links):
            break
    else:
        raise ArithmeticError(f"no connected lift of {lift} with {d} links in {_TRIES} draws")
    return Topology(
        name=f"Xpander, d={d}, lift={lift}{hosts_suffix(each)}, seed {seed}",
        num_routers=routers,
        links=links.astype(np.int32),
        link_class=np.ones(len(links), np.uint8),
        classes=CLASSES,
        host_router=np.repeat(np.arange(routers, dtype=np.int32), each),
        group=np.repeat(np.arange(d + 1, dtype=np.int32), lift),
        parameters={"d": d, "lift": lift, "hosts": each, "seed": seed},
        family="xpander",
        coordinates=np.indices((d + 1, lift), np.int32).reshape(2, -1).T,
    )
