"""PolarFly: the points of a projective plane, joined where they are orthogonal.

Lakhotia, Besta, Monroe, Isham, Iff, Hoefler, Petrini: PolarFly: A Cost-Effective and Flexible
Low-Diameter Topology, SC 2022. The graphs are those of Erdős, Rényi, Sós: On a Problem of Graph
Theory, 1966, and Brown: On Graphs That Do Not Contain a Thomsen Graph, 1966.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from workbench.errors import ParameterError
from workbench.topology.galois import LARGEST_ORDER, galois_field, prime_power
from workbench.topology.generator_checks import balanced, hosts_suffix, nearest, refuse_larger
from workbench.topology.topology import TERMINAL, Topology, whole

CLASSES = (TERMINAL, "intra-group", "inter-group")
"""Of hosts, between routers of a cluster, and between clusters."""


def polarfly(q: int, *, hosts: int | None = None) -> Topology:
    """Return a PolarFly of q² + q + 1 routers, with q + 1 links each but for q + 1 with q.

    Routers are the points of the plane over the field of q elements: vectors whose first entry
    that is not 0 is 1, in the order (0, 0, 1), (0, 1, z), (1, y, z); they are the coordinates.
    Two are joined where their dot product is 0. Those orthogonal to themselves, the quadrics, have
    a link less. Two routers that are not joined have exactly one neighbour in common.

    Groups are the clusters of the paper's layout: 0 the quadrics, and one for each neighbour
    of the first quadric, made of it and its own neighbours that are no quadrics.

    Args:
        q: a prime power.
        hosts: hosts of each router; None takes half of its q + 1 links, rounded up.

    Raises:
        ParameterError: q is no prime power, or the network is too large.
    """
    q = whole("q", q, 1, "the elements of the field of a PolarFly")
    if q > LARGEST_ORDER or prime_power(q) is None:
        near = nearest(q, lambda n: prime_power(n) is not None, 2, LARGEST_ORDER)
        raise ParameterError(
            f"q of a PolarFly must be a prime power, at most {LARGEST_ORDER}; got {q}: take {near}",
            key="q",
        )
    each = balanced(hosts, q + 1)
    routers = q * q + q + 1
    refuse_larger("PolarFly", "q", hosts=routers * each, links=q * (q + 1) ** 2 // 2)
    points, neighbour = _plane(q)
    here = np.repeat(np.arange(routers), q + 1)
    there = neighbour.ravel()
    links = np.column_stack((here, there))[here < there]
    group = _clusters(neighbour)
    inside = group[links[:, 0]] == group[links[:, 1]]
    order = np.argsort(~inside, kind="stable")
    return Topology(
        name=f"PolarFly, q={q}{hosts_suffix(each)}",
        num_routers=routers,
        links=links[order].astype(np.int32),
        link_class=np.where(inside[order], 1, 2).astype(np.uint8),
        classes=CLASSES,
        host_router=np.repeat(np.arange(routers, dtype=np.int32), each),
        group=group,
        parameters={"q": q, "hosts": each},
        family="polarfly",
        coordinates=points,
    )


def _plane(q: int) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Return the points, int32[n, 3], and those orthogonal to each, int64[n, q + 1]."""
    field = galois_field(q)
    plus, times, negative = field.sum_of, field.product_of, field.negative
    y, z = (axis.ravel() for axis in np.indices((q, q)))
    points = np.zeros((q * q + q + 1, 3), np.int32)
    points[0, 2] = 1
    points[1 : q + 1, 1], points[1 : q + 1, 2] = 1, np.arange(q)
    points[q + 1 :] = np.column_stack((np.ones_like(y), y, z))
    inverse = np.zeros(q, np.int64)
    inverse[field.powers] = field.powers[-np.arange(q - 1) % (q - 1)]
    a, b, c = points.T
    every = np.arange(q)
    neighbour = np.empty((len(points), q + 1), np.int64)
    # With c: (1, y, z) is orthogonal where z = -(a + b·y)/c, and (0, 1, z) where z = -b/c.
    with_c = c != 0
    minus_over_c = negative[inverse[c[with_c]]][:, None]
    sums = plus[a[with_c][:, None], times[b[with_c][:, None], every[None, :]]]
    neighbour[with_c, :q] = q + 1 + every[None, :] * q + times[sums, minus_over_c]
    neighbour[with_c, q] = 1 + times[b[with_c], minus_over_c[:, 0]]
    # Without: (a, b, 0) has (0, 0, 1), and all z of y = -a/b, or of (0, 1, z) where b is 0.
    with_b = ~with_c & (b != 0)
    y_of = times[negative[a[with_b]], inverse[b[with_b]]].astype(np.int64)
    neighbour[with_b, :q] = q + 1 + y_of[:, None] * q + every[None, :]
    neighbour[~with_c & ~with_b, :q] = 1 + every
    neighbour[~with_c, q] = 0
    return points, neighbour


def _clusters(neighbour: NDArray[np.int64]) -> NDArray[np.int32]:
    """Return the cluster of each router."""
    quadric = (neighbour == np.arange(len(neighbour))[:, None]).any(axis=1)
    first = int(np.argmax(quadric))
    group = np.zeros(len(neighbour), np.int32)
    centres = [int(router) for router in neighbour[first] if router != first]
    for place, centre in enumerate(centres, start=1):
        members = neighbour[centre]
        group[members[~quadric[members]]] = place
        group[centre] = place
    return group
