"""Extended generalised fat trees: trees of any height, with any numbers of children and parents.

Öhring, Ibel, Das, Kumar: On Generalized Fat Trees, IPPS 1995. With parallel links they are the
parallel-ports trees of Zahavi: Fat-Trees Routing and Node Ordering Providing Contention Free
Traffic for MPI Global Collectives, JPDC 72, 2012.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np
from numpy.typing import NDArray

from workbench.errors import ParameterError
from workbench.topology.generator_checks import joined, one_each, refuse_larger, wholes
from workbench.topology.topology import MOST_CLASSES, TERMINAL, Topology


def xgft(
    m: Sequence[int] | int,
    w: Sequence[int] | int,
    parallel: Sequence[int] | int | None = None,
) -> Topology:
    """Return the tree XGFT(h; m₁…m_h; w₁…w_h): hosts on level 0, routers on levels 1 to h.

    A router of level i has mᵢ children, and each node of level i - 1 has wᵢ parents, with
    ``parallel`` links to each. There are ∏m hosts and w₁…wᵢ·mᵢ₊₁…m_h routers on level i. The tree
    tapers on a level where fewer links lead up from a router than down. ``fat_tree(k)`` is
    XGFT(3; k/2, k/2, k; 1, k/2, k/2).

    Hosts are numbered subtree by subtree; routers level by level, subtree by subtree. A group is a
    subtree of the top, which has none. Coordinates are the tier (0 for level 1), the group (-1 at
    the top) and the place in the tier there. The links up from each level are a class.

    Args:
        m: children of a router, level 1 first.
        w: parents of a node, those of a host first, which must be 1.
        parallel: links to each parent, one number for all levels above the hosts or one for each
            level; None is 1.

    Raises:
        ParameterError: the lists differ in length, hosts have several parents, or an argument is
            none of these.
    """
    children = wholes("m", m, 1, "the children of a router")
    parents = wholes("w", w, 1, "the parents of a node")
    height = len(children)
    if len(parents) != height:
        raise ParameterError(
            f"w must have a number for each of {height} levels, as m has; got {len(parents)}",
            key="w",
        )
    if height > MOST_CLASSES:
        raise ParameterError(
            f"a tree must have at most {MOST_CLASSES} levels; got {height}: leave out some of m "
            "and w",
            key="m",
        )
    if parents[0] != 1:
        raise ParameterError(
            f"w must start with 1, as a host is at one router; got {parents[0]}: take "
            f"{joined((1, *parents[1:]))}",
            key="w",
        )
    beside = _beside(parallel, height)
    counts = [prod(parents[:level]) * prod(children[level:]) for level in range(1, height + 1)]
    numbers = [
        count * parents[level] * beside[level] for level, count in enumerate(counts[:-1], start=1)
    ]
    refuse_larger("tree", "m", hosts=prod(children), links=max(sum(numbers), *counts))
    start = np.concatenate(([0], np.cumsum(counts)))
    blocks = [np.zeros((0, 2), np.int64)]
    for level in range(1, height):
        ends = _upward(children, parents, level) + start[level - 1 : level + 1]
        blocks.append(np.repeat(ends, beside[level], axis=0))
    coordinates = np.concatenate(
        [_coordinates(level, count, children, height) for level, count in enumerate(counts, 1)]
    )
    tail = "" if set(beside) == {1} else f", {joined(beside)} parallel links"
    return Topology(
        name=f"XGFT({height}; {','.join(map(str, children))}; {','.join(map(str, parents))}){tail}",
        num_routers=int(start[-1]),
        links=np.concatenate(blocks).astype(np.int32),
        link_class=np.repeat(np.arange(1, height, dtype=np.uint8), numbers),
        classes=(TERMINAL, *(f"level {level}-{level + 1}" for level in range(1, height))),
        host_router=np.repeat(np.arange(counts[0], dtype=np.int32), children[0]),
        group=coordinates[:, 1].copy(),
        parameters={"m": joined(children), "w": joined(parents)}
        | ({"parallel": joined(beside)} if tail else {}),
        family="xgft",
        coordinates=coordinates,
    )


def _beside(parallel: Sequence[int] | int | None, height: int) -> tuple[int, ...]:
    """Return the links to each parent on each level, those of hosts first, which are 1."""
    given = wholes("parallel", 1 if parallel is None else parallel, 1, "the links to a parent")
    if len(given) == 1:
        return (1, *given * (height - 1))
    beside = one_each("parallel", given, height, "levels")
    if beside[0] != 1:
        raise ParameterError(
            f"parallel must start with 1, as a host has one link; got {beside[0]}: take "
            f"{joined((1, *beside[1:]))}",
            key="parallel",
        )
    return beside


def _upward(children: Sequence[int], parents: Sequence[int], level: int) -> NDArray[np.int64]:
    """Return places on a level and on the one above that are joined, int64[n, 2].

    A router's place is that of its subtree from the top of the tree, times the routers of such a
    subtree on its level, then by the parent taken on each level so far.
    """
    above, here = prod(children[level + 1 :]), prod(parents[:level])
    tree, child, router, parent = (
        axis.ravel() for axis in np.indices((above, children[level], here, parents[level]))
    )
    below = (tree * children[level] + child) * here + router
    return np.column_stack((below, (tree * here + router) * parents[level] + parent))


def _coordinates(level: int, count: int, children: Sequence[int], height: int) -> NDArray[np.int32]:
    """Return the tier, the group and the place there of each router of a level."""
    place = np.arange(count)
    if level == height:
        return np.column_stack((np.full(count, level - 1), np.full(count, -1), place)).astype(
            np.int32
        )
    each = count // children[-1]
    return np.column_stack((np.full(count, level - 1), place // each, place % each)).astype(
        np.int32
    )
