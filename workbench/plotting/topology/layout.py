"""Places of the routers of a topology: a layout that suits its family.

Grids for tori, meshes, HyperX and hypercubes, tiers for fat trees, clusters on a circle for
dragonflies and what else has groups, one circle for random graphs, and for any other graph one that
keeps hops and distances alike (classical scaling: Torgerson, Psychometrika 17, 1952).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from workbench.topology import Topology

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

MOST_NODES = 2_200
"""Routers that are drawn one by one; of more, some share a node."""

_PILLOW = 0.09  # how far the middle of a row stands out, as a share of its length
_DEEP = 0.12  # how far routers of a cluster lie before and behind its middle where many are beside
# Scaling a jellyfish of 350, 700 and 1400 routers takes 0.3, 2 and 10 s on one busy core, as the
# cube of their number; the spectral layout of more takes 0.1 s, but shows distances less well.
_MOST_SCALED = 700
_NEIGHBOURS_OF_CORE = 16  # chosen: a fat tree of 48 ports has 576 routers in its core: 36 nodes


@dataclass(frozen=True, eq=False)
class TopologyLayout:
    """Places of a drawing's nodes, and the routers that each stands for."""

    x: FloatArray  # float64[nodes], -1 to 1
    y: FloatArray  # float64[nodes], -1 to 1, upwards
    node: IntArray  # int64[routers], node of each router
    shape: str  # ``grid``, ``tiers``, ``groups``, ``circle`` or ``hops``

    @property
    def aggregated(self) -> bool:
        """Whether a node stands for more than one router."""
        return len(self.x) < len(self.node)


def topology_layout(topology: Topology, most_nodes: int = MOST_NODES) -> TopologyLayout:
    """Return a place for each router; above `most_nodes`, groups or neighbours share a node."""
    shape, place = _SHAPES.get(topology.family, ("", _any))
    if not shape or not _suits(topology, shape):
        shape, place = _shape_of(topology)
    x, y = place(topology)
    everyone = np.arange(topology.num_routers)
    node = everyone if topology.num_routers <= most_nodes else _shared(topology, most_nodes)
    nodes = int(node.max()) + 1
    held = np.bincount(node, minlength=nodes)
    x, y = (np.bincount(node, weights=one, minlength=nodes) / held for one in (x, y))
    return TopologyLayout(_fitted(x), _fitted(y), node, shape)


def grid_places(coordinates: NDArray[np.integer]) -> tuple[FloatArray, FloatArray]:
    """Return a drawing of a grid from coordinates int[routers, dimensions].

    Two dimensions are across and up; the third goes back, as of a box seen from above; more are
    grids of grids. Rows and columns are bent a little, so that no link covers another.
    """
    at = np.asarray(coordinates, float)
    size = np.maximum(at.max(axis=0, initial=0.0) + 1, 1)
    dimensions = at.shape[1]
    if dimensions == 3:
        flat_x, flat_y = _bent(at[:, 0], at[:, 1], size[0], size[1])
        back = at[:, 2] / max(size[2] - 1, 1)
        lifted = 0.06 * np.sin(np.pi * back)  # the same bend, for the links that close its rings
        return flat_x + size[0] * (0.47 * back + lifted), flat_y + size[1] * (0.4 * back - lifted)
    x, y, wide, tall = np.zeros(len(at)), np.zeros(len(at)), 1.0, 1.0
    for dimension in range(dimensions):
        if dimension % 2 == 0:
            x, wide = x + wide * at[:, dimension], wide * size[dimension] * 1.12
        else:
            y, tall = y + tall * at[:, dimension], tall * size[dimension] * 1.12
    return _bent(x, y, float(x.max()) + 1, float(y.max()) + 1)


def cluster_places(
    member: NDArray[np.integer], outermost: float = 0.0
) -> tuple[FloatArray, FloatArray]:
    """Return clusters int[routers] as circles on a large one, router `outermost` outwards."""
    cluster = np.unique(member, return_inverse=True)[1]
    count = int(cluster.max()) + 1
    size = np.bincount(cluster, minlength=count)
    place = _place_within(cluster)
    angle = np.pi / 2 - 2 * np.pi * cluster / count
    several = size[cluster] > 1
    wide = min(0.42, 0.8 * np.pi / count if count > 1 else 1.0)
    around = 2 * np.pi * (place - outermost) / size[cluster]
    out = (1.0 if count > 1 else 0.0) + several * max(wide, _DEEP) * np.cos(around)
    across = several * wide * np.sin(around)
    return (
        out * np.cos(angle) + across * np.sin(angle),
        out * np.sin(angle) - across * np.cos(angle),
    )


def _bent(x: FloatArray, y: FloatArray, wide: float, tall: float) -> tuple[FloatArray, FloatArray]:
    """Return rows and columns of a grid as shallow arcs."""
    across, up = _around(x, wide), _around(y, tall)
    return x + _PILLOW * wide * (1 - up**2), y + _PILLOW * tall * (1 - across**2)


def _around(values: FloatArray, size: float) -> FloatArray:
    """Return places in 0 … size - 1 as -1 … 1."""
    return 2 * values / max(size - 1, 1) - 1


def _grid(topology: Topology) -> tuple[FloatArray, FloatArray]:
    return grid_places(topology.coordinates)


def _tiers(topology: Topology) -> tuple[FloatArray, FloatArray]:
    """Return one row for each tier, the first coordinate, the lowest at the bottom."""
    tier = topology.coordinates[:, 0].astype(np.int64)
    place = _place_within(tier)
    across = (place + 0.5) / np.bincount(tier)[tier]
    # Bent a little as well: links within a tier must not cover one another.
    return across, tier + 0.12 * (1 - (2 * across - 1) ** 2)


def _clusters(topology: Topology) -> tuple[FloatArray, FloatArray]:
    return cluster_places(_clusters_of(topology))


def _leaves_outside(topology: Topology) -> tuple[FloatArray, FloatArray]:
    """Return clusters with the leaves on the outside and the spines on the inside."""
    leaves = int((topology.coordinates[topology.coordinates[:, 0] == 0, 1] == 0).sum())
    return cluster_places(_clusters_of(topology), (leaves - 1) / 2)


def _cabinets(topology: Topology) -> tuple[FloatArray, FloatArray]:
    """Return a small grid for each group, rows across, on a circle."""
    group, row, column = topology.coordinates.T.astype(float)
    count = int(group.max()) + 1
    angle = np.pi / 2 - 2 * np.pi * group / count
    size = min(0.55, 0.9 * np.pi / count) if count > 1 else 1.0
    wide, tall = column.max() + 1, row.max() + 1
    across, up = _bent(column, row, wide, tall)
    out = 1.0 if count > 1 else 0.0
    return (
        out * np.cos(angle) + size * (2 * across / wide - 1),
        out * np.sin(angle) + 0.6 * size * (2 * up / tall - 1),
    )


def _boards(topology: Topology) -> tuple[FloatArray, FloatArray]:
    """Return boards apart from one another, the rows' switches to the right, the columns' below."""
    kind, column, row = topology.coordinates.T.astype(float)
    width, depth = (int(topology.parameters.get(name, 1)) for name in ("a", "b"))
    columns, rows = column[kind == 0].max() + 1, row[kind == 0].max() + 1
    x, y = (
        at + 0.8 * (at // of) + 0.03 * size * (1 - _around(other, another) ** 2)
        for at, of, size, other, another in (
            (column, width, columns, row, rows),
            (row, depth, rows, column, columns),
        )
    )
    right, low = x[kind == 0].max(), y[kind == 0].min()
    x = np.where(kind == 1, right + 1.6 + 0.9 * column, x)
    y = np.where(kind == 2, low - 1.6 - 0.9 * row, y)
    return x, y


def _circle(topology: Topology) -> tuple[FloatArray, FloatArray]:
    """Return one circle, neighbours close: in the order of the second eigenvector's angle."""
    x, y = _spectral(topology)
    order = np.argsort(np.arctan2(y, x), kind="stable")
    place = np.empty(len(order))
    place[order] = np.arange(len(order))
    angle = np.pi / 2 - 2 * np.pi * place / len(order)
    return np.cos(angle), np.sin(angle)


def _ring(topology: Topology) -> tuple[FloatArray, FloatArray]:
    """Return one circle in the order of the routers."""
    angle = np.pi / 2 - 2 * np.pi * np.arange(topology.num_routers) / topology.num_routers
    return np.cos(angle), np.sin(angle)


def _hub(topology: Topology) -> tuple[FloatArray, FloatArray]:
    """Return the router with the most links in the middle, and the others around it."""
    hub = int(np.argmax(topology.degree))
    others = np.delete(np.arange(topology.num_routers), hub)
    x, y = np.zeros(topology.num_routers), np.zeros(topology.num_routers)
    angle = np.pi / 2 - 2 * np.pi * np.arange(len(others)) / max(len(others), 1)
    x[others], y[others] = np.cos(angle), np.sin(angle)
    return x, y


def _any(topology: Topology) -> tuple[FloatArray, FloatArray]:
    """Return places with distances close to the hops between them (classical scaling)."""
    if not 3 <= topology.num_routers <= _MOST_SCALED:
        return _spectral(topology) if topology.num_routers > _MOST_SCALED else _ring(topology)
    hops = _hops(topology)
    squared = hops**2
    centred = squared - squared.mean(axis=0) - squared.mean(axis=1)[:, None] + squared.mean()
    values, vectors = np.linalg.eigh(-centred / 2)
    x, y = (vectors[:, at] * np.sqrt(max(values[at], 1e-9)) for at in (-1, -2))
    # Indistinguishable vertices would lie on one another.
    turn = 2.399963 * np.arange(topology.num_routers)
    spread = 0.03 * max(float(np.ptp(x)), 1e-9)
    return x + spread * np.cos(turn), y + spread * np.sin(turn)


def _hops(topology: Topology) -> FloatArray:
    """Return the hops between all pairs of routers; unconnected parts are placed apart."""
    from scipy.sparse.csgraph import shortest_path

    hops = shortest_path(_adjacency(topology), unweighted=True, directed=False)
    far = hops[np.isfinite(hops)].max()
    known: FloatArray = np.where(np.isfinite(hops), hops, 1.5 * far + 1)
    return known


def _adjacency(topology: Topology) -> object:
    from scipy.sparse import coo_matrix

    ends, n = topology.links, topology.num_routers
    ones = np.ones(2 * len(ends))
    here, there = np.concatenate((ends[:, 0], ends[:, 1])), np.concatenate((ends[:, 1], ends[:, 0]))
    return coo_matrix((ones, (here, there)), shape=(n, n)).tocsr()


def _spectral(topology: Topology) -> tuple[FloatArray, FloatArray]:
    """Return the second and third eigenvectors of the random walk on the graph."""
    if topology.num_routers < 8:
        return _ring(topology)
    from scipy.sparse import diags_array
    from scipy.sparse.linalg import eigsh

    adjacency = _adjacency(topology)
    scale = diags_array(1 / np.sqrt(np.maximum(topology.degree, 1)))
    walk = scale @ adjacency @ scale
    start = np.cos(np.arange(topology.num_routers) * 1.7) + 1.1  # any; the same each time
    vectors = eigsh(walk, k=3, which="LA", v0=start, tol=1e-3, maxiter=20_000)[1]
    return scale @ vectors[:, 1], scale @ vectors[:, 0]


def _place_within(cluster: NDArray[np.integer]) -> IntArray:
    """Return the index of each router within its cluster, in the order of the routers."""
    order = np.argsort(cluster, kind="stable")
    sizes = np.bincount(cluster)
    first = np.repeat(np.cumsum(sizes) - sizes, sizes)
    place = np.empty(len(cluster), np.int64)
    place[order] = np.arange(len(cluster)) - first
    return place


def _clusters_of(topology: Topology) -> IntArray:
    """Return the groups or, without groups, the clusters by all coordinates but the last."""
    group = topology.group.astype(np.int64)
    if group.min() >= 0 and 1 < len(np.unique(group)) < topology.num_routers:
        return group
    at = topology.coordinates
    if at.shape[1] > 1:
        found: IntArray = np.unique(at[:, :-1], axis=0, return_inverse=True)[1].ravel()
        return found
    return np.zeros(topology.num_routers, np.int64)


def _shape_of(topology: Topology) -> tuple[str, _Place]:
    """Return a shape for a family without its own: groups if there are any, else hops."""
    return ("groups", _clusters) if _suits(topology, "groups") else ("hops", _any)


def _suits(topology: Topology, shape: str) -> bool:
    """Return whether a topology has the coordinates or groups that a shape needs."""
    if shape in ("grid", "tiers"):
        return topology.coordinates.shape[1] > 0 and int(topology.coordinates.min()) >= -1
    if shape == "groups":
        return 1 < len(np.unique(_clusters_of(topology))) < topology.num_routers
    return True


def _shared(topology: Topology, most_nodes: int) -> IntArray:
    """Return a node for each router, at most ``most_nodes`` nodes.

    Nodes are groups, else blocks of a grid, else neighbours by number; routers outside of all
    groups, e.g. a fat tree's core, share nodes too.
    """
    group = topology.group.astype(np.int64)
    grouped = group >= 0
    count = len(np.unique(group[grouped]))
    if 1 < count <= most_nodes:
        node = np.empty(len(group), np.int64)
        node[grouped] = np.unique(group[grouped], return_inverse=True)[1]
        outside = int((~grouped).sum())
        each = max(_NEIGHBOURS_OF_CORE, -(-outside // max(most_nodes - count, 1)))
        node[~grouped] = count + np.arange(outside) // each
        return node
    at = topology.coordinates.astype(np.int64)
    if at.shape[1]:
        while len(np.unique(at, axis=0)) > most_nodes and at.max() > 0:
            widest = int(np.argmax(at.max(axis=0)))
            at[:, widest] //= 2
        found: IntArray = np.unique(at, axis=0, return_inverse=True)[1].ravel()
        if found.max() < most_nodes:
            return found
    return np.arange(topology.num_routers) * most_nodes // topology.num_routers


def _fitted(values: FloatArray) -> FloatArray:
    """Return values as -1 to 1."""
    low, high = float(values.min()), float(values.max())
    fitted: FloatArray = 2 * (values - low) / (high - low) - 1 if high > low else 0 * values
    return fitted


_Place = Callable[["Topology"], tuple[FloatArray, FloatArray]]

_SHAPES: dict[str, tuple[str, _Place]] = {
    "torus": ("grid", _grid),
    "tofu-d": ("grid", _grid),
    "mesh": ("grid", _grid),
    "hypercube": ("grid", _grid),
    "hyperx": ("grid", _grid),
    "hammingmesh": ("grid", _boards),
    "fat-tree": ("tiers", _tiers),
    "xgft": ("tiers", _tiers),
    "dragonfly": ("groups", _clusters),
    "dragonfly-plus": ("groups", _leaves_outside),
    "aries": ("groups", _cabinets),
    "slim-fly": ("groups", _clusters),
    "polarfly": ("groups", _clusters),
    "xpander": ("groups", _clusters),
    "spectralfly": ("circle", _circle),
    "jellyfish": ("circle", _circle),
    "fully-connected": ("circle", _ring),
    "star": ("hops", _hub),
}
