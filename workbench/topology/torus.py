"""Tori and meshes: routers on a grid of any dimensions, each joined to the next along each."""

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
from workbench.topology.topology import MOST_CLASSES, TERMINAL, Topology, whole


def torus(
    dims: Sequence[int] | int,
    *,
    hosts: int = 1,
    mesh: bool = False,
    multiplicity: Sequence[int] | int | None = None,
) -> Topology:
    """Return a torus, or a mesh, which may have several parallel links along each dimension.

    Router x0 + d0·(x1 + d1·(x2 + …)) has the coordinates (x0, x1, x2, …), as in SST/macro. Along a
    dimension of size 2 the two ends are joined once, not twice. Each dimension is a class of its
    own where there are at most six. A Gemini torus has two links along x and z and one along y
    (Alverson, Roweth, Kaplan: The Gemini System Interconnect, HOTI 2010).

    Args:
        dims: routers along each dimension, the first one counting fastest.
        hosts: hosts of a router.
        mesh: whether the ends of a dimension are not joined.
        multiplicity: parallel links, one number or one for each dimension; None is 1.

    Raises:
        ParameterError: an argument is none of these, or the network is too large.
    """
    sizes = wholes("dims", dims, 1, "the routers along a dimension")
    hosts = whole("hosts", hosts, 1, "the hosts of a router")
    side_by_side = one_each("multiplicity", multiplicity, len(sizes), "dimensions")
    routers = prod(sizes)
    kind = "mesh" if mesh else "torus"
    refuse_larger(kind, "dims", hosts=routers * hosts, links=routers * sum(side_by_side))
    blocks = [
        np.repeat(along(sizes, axis, mesh), several, axis=0)
        for axis, several in enumerate(side_by_side)
    ]
    plain = set(side_by_side) == {1}
    several = "" if plain else f", {joined(side_by_side)} parallel links"
    parameters: dict[str, int | str] = {"dims": joined(sizes), "hosts": hosts}
    if mesh:
        parameters["mesh"] = "true"
    if not plain:
        parameters["multiplicity"] = joined(side_by_side)
    return Topology(
        name=f"{kind} {joined(sizes)}{several}{hosts_suffix(hosts)}",
        num_routers=routers,
        links=np.concatenate(blocks).astype(np.int32),
        link_class=dimension_class([len(block) for block in blocks]),
        classes=dimension_names(len(sizes)),
        host_router=np.repeat(np.arange(routers, dtype=np.int32), hosts),
        group=np.full(routers, -1, np.int32),
        parameters=parameters,
        family="torus",
        coordinates=grid(sizes),
    )


def grid(sizes: Sequence[int]) -> NDArray[np.int32]:
    """Return the coordinates of a grid, int32[points, dimensions], the first one fastest."""
    return np.indices(sizes[::-1], np.int32).reshape(len(sizes), -1)[::-1].T.copy()


def dimension_names(count: int) -> tuple[str, ...]:
    """Return the link classes of a grid: one for each dimension where there are few enough."""
    if count == 1 or count > MOST_CLASSES - 1:
        return TERMINAL, "link"
    return TERMINAL, *(f"dimension {axis}" for axis in range(count))


def dimension_class(lengths: Sequence[int]) -> NDArray[np.uint8]:
    """Return the class of each link of a grid, uint8[links], for the links of each dimension."""
    several = len(dimension_names(len(lengths))) > 2
    own = np.arange(1, len(lengths) + 1) if several else np.ones(len(lengths))
    return np.repeat(own.astype(np.uint8), lengths)


def along(sizes: Sequence[int], axis: int, mesh: bool) -> NDArray[np.int64]:
    """Return the links along one dimension, from each router to the next, int64[n, 2]."""
    size, stride = sizes[axis], prod(sizes[:axis])
    here = np.arange(prod(sizes))
    place = here // stride % size
    last = place == size - 1
    if mesh or size <= 2:
        here, place, last = here[~last], place[~last], last[~last]
    return np.column_stack((here, here + stride * np.where(last, 1 - size, 1)))
