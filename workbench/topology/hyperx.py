"""HyperX networks: grids whose rows are fully joined in every dimension.

Ahn, Binkert, Davis, McLaren, Schreiber: HyperX: Topology, Routing, and Packaging of Efficient
Large-Scale Networks, SC 2009. With equal sizes they are the flattened butterflies of Kim, Dally,
Abts: Flattened Butterfly, ISCA 2007.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np
from numpy.typing import NDArray

from workbench.topology.generator_checks import (
    hosts_suffix,
    joined,
    one_each,
    refuse_larger,
    wholes,
)
from workbench.topology.topology import Topology, whole
from workbench.topology.torus import dimension_class, dimension_names, grid


def hyperx(
    sizes: Sequence[int] | int,
    *,
    hosts: int = 1,
    multiplicity: Sequence[int] | int | None = None,
) -> Topology:
    """Return a HyperX: each router is joined to all that differ from it in one coordinate.

    A router has Σ(Sᵢ - 1) neighbours; the diameter is the number of dimensions. Router
    x0 + S0·(x1 + S1·(x2 + …)) has the coordinates (x0, x1, x2, …). Each dimension is a class of its
    own where there are at most six.

    Args:
        sizes: routers along each dimension, S, the first one counting fastest.
        hosts: hosts of a router, T in the paper.
        multiplicity: parallel links, K in the paper, one number or one for each dimension; None
            is 1.

    Raises:
        ParameterError: an argument is none of these, or the network is too large.
    """
    along = wholes("sizes", sizes, 1, "the routers along a dimension")
    hosts = whole("hosts", hosts, 1, "the hosts of a router")
    side_by_side = one_each("multiplicity", multiplicity, len(along), "dimensions")
    routers = prod(along)
    degree = sum((size - 1) * each for size, each in zip(along, side_by_side, strict=True))
    refuse_larger(
        "HyperX", "sizes", hosts=routers * hosts, links=max(routers, routers * degree // 2)
    )
    blocks = [
        np.repeat(_along(along, axis), several, axis=0) for axis, several in enumerate(side_by_side)
    ]
    plain = set(side_by_side) == {1}
    several = "" if plain else f", {joined(side_by_side)} parallel links"
    parameters: dict[str, int | str] = {"sizes": joined(along), "hosts": hosts}
    if not plain:
        parameters["multiplicity"] = joined(side_by_side)
    return Topology(
        name=f"HyperX {joined(along)}{several}{hosts_suffix(hosts)}",
        num_routers=routers,
        links=np.concatenate(blocks).astype(np.int32),
        link_class=dimension_class([len(block) for block in blocks]),
        classes=dimension_names(len(along)),
        host_router=np.repeat(np.arange(routers, dtype=np.int32), hosts),
        group=np.full(routers, -1, np.int32),
        parameters=parameters,
        family="hyperx",
        coordinates=grid(along),
    )


def _along(sizes: Sequence[int], axis: int) -> NDArray[np.int64]:
    """Return the links along one dimension, int64[n, 2]."""
    size, stride = sizes[axis], prod(sizes[:axis])
    router = np.arange(prod(sizes))
    first = router[router // stride % size == 0]
    one, other = np.triu_indices(size, 1)
    ends = np.column_stack((one, other)) * stride
    links: NDArray[np.int64] = (first[:, None, None] + ends).reshape(-1, 2)
    return links
