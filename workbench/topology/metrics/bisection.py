"""How many links must be cut to part the hosts in halves: a bracket.

The best cut is hard to find (it is NP-hard); what is found is an upper bound. From below the
eigenvalues bound it (Fiedler 1973; Donath, Hoffman 1973), and traffic that is known to fit does:
whatever crosses the cut must fit through it (Leighton, Rao 1999). Hosts are halved, not routers: a
fat tree whose core and aggregation switches may lie on either side has k³/8, and no cut of half the
switches would say so.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from workbench.arrays import FloatArray, IntArray
from workbench.checks import whole
from workbench.errors import SimulationHalted
from workbench.tasks import Task, task_of
from workbench.topology.link_load import link_loads
from workbench.topology.metrics.adjacency import RouterGraph
from workbench.topology.metrics.spectrum import DENSE, slow_vectors
from workbench.topology.topology import Topology

STARTS = 12
"""Random mixtures of eigenvectors, and random routers to grow from, that a search begins with.

They find no larger cuts than METIS (10 seeds, the best of 4 each) on 17 networks of 50 to 10,000
routers: equal on Slim Flies, tori, a fat tree and a dragonfly, up to 7 % smaller on random graphs.
"""

LARGEST_ROUTED = 6000
"""Most routers for which the bound by traffic is found unasked: its matrix has 290 MB."""

# Half and double of these change the best cut of two of 8 networks, 64 to 700 routers, by 0.9 % at
# most, down as well: as another seed does.
_VECTORS = 4  # slow eigenvectors
_METIS = 2  # divisions, a seed each
_LEAST_METIS = 8  # routers: chosen; of fewer, a dozen random divisions are nearly all there are
_SLACK = 1e-6  # rounding of an eigenvalue times hosts, far below a link
_STALL = 200  # moves: 100 and 400 find the same cuts of the 8 networks; 50, one 0.2 % smaller
_MOST_WORK = 2_000_000_000  # chosen: about 2 s; ``fat-tree:24`` has 1.1e9 and takes 1.2
_GRID = 2**20  # sums of up to 2**32 such parts are exact in a double
_MOST_WEIGHT = 1000  # METIS adds weights up in 32 bits: those of two million links


@dataclass(frozen=True, eq=False)
class Bisection:
    """The least links between two halves of the hosts, from below and above.

    Unequal links count by their capacity (`Topology.capacity`).

    Attributes:
        upper: links of the best cut that was found.
        spectral: lower bound by eigenvalues.
        routed: lower bound by traffic that is known to fit: from all hosts to all others, or from
            one half to the other; nan where it was not asked for.
        difference: by how many hosts the halves may differ: 0 unless routers cannot be halved so.
        side: int8[routers], 0 or 1: the best cut.
        hosts: number of hosts.
        seed: of the random divisions it began with.
        whole: whether all cuts are whole numbers, as capacities are.
    """

    upper: float
    spectral: float
    routed: float
    difference: int
    side: NDArray[np.int8]
    hosts: int
    seed: int | None
    whole: bool = True

    @property
    def lower(self) -> float:
        """The better of the lower bounds, rounded up where links are whole; at most ``upper``."""
        known = [bound for bound in (self.spectral, self.routed) if not math.isnan(bound)]
        if not known:
            return math.nan
        if self.whole:
            return float(math.ceil(max(known) - _SLACK))
        return min(max(known), self.upper)

    @property
    def exact(self) -> bool:
        """Whether both bounds agree."""
        return self.lower >= self.upper - (0.0 if self.whole else _SLACK * self.upper)

    @property
    def relative(self) -> float:
        """The best cut as a share of full bisection, a link for each host of one half."""
        return self.upper / (self.hosts / 2) if self.hosts else math.nan

    def __repr__(self) -> str:
        if math.isnan(self.upper):
            return "Bisection(no two routers with hosts)"
        width = f"{self.upper:g}" if self.exact else f"{self.lower:g} to {self.upper:g}"
        return f"Bisection({width} links, {self.relative:.2g} of full)"


def bisection(
    topology: Topology,
    *,
    starts: int = STARTS,
    routed: bool | None = None,
    rng: np.random.Generator | int | None = 0,
    task: Task | None = None,
) -> Bisection:
    """Return a bracket for the links between two halves of the hosts.

    Divisions by METIS (Karypis, Kumar 1998), by the routers' order, by coordinates, by eigenvectors
    and around random routers are refined by Fiduccia's and Mattheyses' moves, which keep the hosts
    in balance; the smallest counts. The halves have equally many
    hosts; they differ by no more than one router's where routers have an odd number of equal parts,
    or different numbers of hosts.

    Args:
        topology: the network.
        starts: how many random divisions to begin with.
        routed: whether to find the lower bound by traffic, which takes time and memory with the
            square of the number of routers; None finds it for up to ``LARGEST_ROUTED`` of them.
        rng: random generator or seed, of the random divisions.
        task: once it is stopped, the best so far counts.

    Raises:
        ParameterError: ``starts`` is below 0.
        SimulationHalted: the task was stopped while the traffic was spread.
    """
    starts = whole(starts, "starts", 0)
    graph = RouterGraph.of(topology)
    seed = rng if isinstance(rng, int) else None
    total = int(graph.hosts.sum())
    if (graph.hosts > 0).sum() < 2:
        side = np.zeros(graph.num_routers, np.int8)
        return Bisection(math.nan, math.nan, math.nan, 0, side, total, seed)
    difference = _difference(graph.hosts)
    task = task_of(task)
    cut, side = _best_cut(graph, topology.coordinates, starts, np.random.default_rng(rng), task)
    spectral = spectral_bound(graph, difference)
    by_traffic = math.nan
    if routed is None:
        routed = graph.num_routers <= LARGEST_ROUTED
    if routed and spectral > 0:
        by_traffic = _routed_bound(topology, graph, difference, task)
    whole_links = bool((graph.capacity == np.rint(graph.capacity)).all())
    return Bisection(cut, spectral, by_traffic, difference, side, total, seed, whole_links)


def _difference(hosts: IntArray) -> int:
    """Return by how many hosts halves may differ."""
    some = hosts[hosts > 0]
    if (some == some[0]).all():
        return int(some[0]) * (len(some) % 2)
    return int(some.max())


def spectral_bound(graph: RouterGraph, difference: int = 0) -> float:
    """Return a lower bound of the links between halves of the hosts, by an eigenvalue.

    It is λ (N - difference²/N) / 4 for N hosts, λ the second eigenvalue of the Laplacian L and
    diag(hosts); routers without hosts are eliminated from L by the Schur complement.
    """
    hosts = graph.hosts
    total = float(hosts.sum())
    some = hosts > 0
    if len(set(graph.components()[some].tolist())) > 1:
        return 0.0
    if some.all() and (hosts == hosts[0]).all():
        value = float(slow_vectors(graph, 1)[0][0]) / float(hosts[0])
    else:
        value = _second_of_pencil(graph.part(_joined(graph)))
    return max(value, 0.0) * (total - difference**2 / total) / 4


def _joined(graph: RouterGraph) -> NDArray[np.bool_]:
    """Return whether each router is in the part of the network with the hosts, bool[routers]."""
    number = graph.components()
    found: NDArray[np.bool_] = number == number[np.argmax(graph.hosts > 0)]
    return found


def _second_of_pencil(graph: RouterGraph) -> float:
    """Return the second eigenvalue of the Laplacian, free routers taken out, and the hosts."""
    from scipy import sparse
    from scipy.sparse.linalg import LinearOperator, eigsh, splu

    some = graph.hosts > 0
    laplacian = sparse.csc_array(sparse.diags_array(graph.degree) - graph.matrix())
    weight = np.sqrt(graph.hosts[some].astype(np.float64))
    within, across = laplacian[some][:, some], laplacian[some][:, ~some]
    inner = splu(sparse.csc_matrix(laplacian[~some][:, ~some])) if not some.all() else None
    back = across.T.tocsr()

    def apply(block: FloatArray) -> FloatArray:
        """Multiply the Schur complement between the hosts' scale on either side."""
        scaled = block / weight[:, None]
        done = within @ scaled
        if inner is not None:
            done = done - across @ inner.solve(back @ scaled)
        made: FloatArray = done / weight[:, None]
        return made

    size = len(weight)
    if size <= DENSE:
        matrix = apply(np.eye(size))
        return float(np.linalg.eigvalsh((matrix + matrix.T) / 2)[1])
    bound = 2 * float((graph.degree[some] / graph.hosts[some]).max())
    trivial = weight / np.linalg.norm(weight)

    def flipped(vector: FloatArray) -> FloatArray:
        flat = vector.ravel()
        turned: FloatArray = (
            bound * flat - apply(flat[:, None])[:, 0] - bound * trivial * (trivial @ flat)
        )
        return turned

    operator = LinearOperator((size, size), matvec=flipped, dtype=np.float64)
    first = np.random.default_rng(0).standard_normal(size)
    top = eigsh(operator, k=1, which="LA", v0=first, ncv=40, return_eigenvectors=False)
    return bound - float(top[0])


def _routed_bound(topology: Topology, graph: RouterGraph, difference: int, task: Task) -> float:
    """Return a lower bound of the cut: the traffic across it that the network can carry.

    The larger of two: each host sends to each other at the rate that fills the fullest channel;
    and, where routers have no hosts, hosts of one half send to those of the other, one to one.
    """
    hosts = topology.num_hosts
    fullest = float(link_loads(topology, task=task).channel.max(initial=0.0))
    if fullest <= 0:
        return math.nan
    even = (hosts**2 - difference**2) / 4 / (hosts - 1) / fullest
    return max(even, _permuted_bound(graph, difference, task))


def _permuted_bound(graph: RouterGraph, difference: int, task: Task) -> float:
    """Return the lower bound by traffic of any hosts to any others, one to one.

    A channel with equally split shortest routes carries no more of each sender than for its worst
    receiver, and likewise of each receiver, which is the load of the other direction.
    """
    from kernels import paths as kernel

    ends = np.flatnonzero(graph.hosts).astype(np.int32)
    n, slots = graph.num_routers, len(graph.capacity)
    if len(ends) == n or len(ends) ** 2 * slots > _MOST_WORK:
        return 0.0
    distance = np.empty((len(ends), n), np.int32)
    count = np.empty((len(ends), n), np.float64)
    order = np.empty(n, np.int32)
    for row, end in enumerate(ends.tolist()):
        kernel.count_paths(
            graph.start, graph.neighbour, graph.capacity, end, distance[row], count[row], order
        )
    share, halt = np.zeros(slots), task.stop_event.cell
    weight = graph.hosts[ends].astype(np.float64)
    if not kernel.most_of_any(
        graph.start, graph.neighbour, graph.capacity, ends, weight, distance, count, share, halt
    ):
        raise SimulationHalted("stopped before the bounds of the bisection were known")
    fullest = float((np.minimum(share, share[graph.opposite]) / graph.capacity).max())
    return (float(weight.sum()) - difference) / 2 / fullest if fullest > 0 else 0.0


def refined(
    graph: RouterGraph,
    side: NDArray[np.int8],  # (routers,) 0 or 1; not changed
    rng: np.random.Generator,  # for the order of equal moves
    task: Task,  # once it is stopped, the moves end
) -> tuple[float, NDArray[np.int8]]:
    """Return the number of links of the best cut found from a division, and the cut, 0 or 1."""
    from kernels import bisection as kernel

    n = graph.num_routers
    better = side.copy()
    # Moves add and subtract capacities: on this grid, which whole ones are on, that is exact.
    capacity = np.rint(graph.capacity * _GRID) / _GRID
    cut = kernel.refine(
        graph.start,
        graph.neighbour,
        capacity,
        graph.hosts,
        rng.permutation(n).astype(np.int32),
        _difference(graph.hosts),
        max(_STALL, n // 4),
        better,
        task.stop_event.cell,
    )
    if math.isinf(cut):
        return math.inf, better
    across = better[graph.tail] != better[graph.neighbour]
    return float(graph.capacity[across].sum()) / 2, better


def _best_cut(
    graph: RouterGraph,
    coordinates: NDArray[np.int32],
    starts: int,
    rng: np.random.Generator,
    task: Task,
) -> tuple[float, NDArray[np.int8]]:
    best, best_side = math.inf, np.zeros(graph.num_routers, np.int8)
    for division in _divisions(graph, coordinates, starts, rng):
        # The first one is always finished: there must be some cut to show.
        first = best == math.inf
        cut, side = refined(graph, division, rng, Task() if first else task)
        if cut < best:
            best, best_side = cut, side
        if task.stopping and best < math.inf:
            break
    return best, best_side


def _halved(hosts: IntArray, order: IntArray) -> NDArray[np.int8]:
    """Return the side of each router where the first half of the hosts in an order is one side."""
    side = np.zeros(len(hosts), np.int8)
    before = np.cumsum(hosts[order])
    side[order[before > before[-1] / 2]] = 1
    return side


def _divisions(
    graph: RouterGraph, coordinates: NDArray[np.int32], starts: int, rng: np.random.Generator
) -> Iterator[NDArray[np.int8]]:
    """Yield divisions to begin with: METIS's own, and halves of orders of the routers."""
    if graph.num_routers >= _LEAST_METIS:
        for seed in range(_METIS):
            yield _by_metis(graph, seed)
    hosts = graph.hosts
    yield _halved(hosts, np.arange(graph.num_routers))
    for column in coordinates.T:
        yield _halved(hosts, np.argsort(column, kind="stable"))
    vectors = slow_vectors(graph, _VECTORS)[1]
    for vector in vectors.T:
        yield _halved(hosts, np.argsort(vector, kind="stable"))
    for _ in range(starts):
        # Slow vectors come in families of equal eigenvalues: any mixture is as good as they are.
        mixed = vectors @ rng.standard_normal(vectors.shape[1])
        yield _halved(hosts, np.argsort(mixed, kind="stable"))
        yield _halved(hosts, _grown(graph, rng))


def _by_metis(graph: RouterGraph, seed: int) -> NDArray[np.int8]:
    """Return METIS's division; routers weigh as many as they have hosts."""
    import pymetis

    each = max(int(np.gcd.reduce(graph.hosts)), 1)
    found = pymetis.part_graph(
        2,
        pymetis.CSRAdjacency(graph.start, graph.neighbour),
        vweights=(graph.hosts // each).astype(np.int32),
        eweights=_weights(graph.capacity),
        options=pymetis.Options(seed=seed, ufactor=1, niter=20, ncuts=4),
    )
    return np.asarray(found.vertex_part, np.int8)


def _weights(capacity: FloatArray) -> NDArray[np.int32]:
    """Return METIS's weights of the slots, whole numbers of at least 1; whole capacities."""
    if (capacity == np.rint(capacity)).all() and capacity.max(initial=0) <= _MOST_WEIGHT:
        return capacity.astype(np.int32)
    parts = np.maximum(np.rint(capacity / capacity.max() * _MOST_WEIGHT), 1)
    return np.asarray(parts, np.int32)


def _grown(graph: RouterGraph, rng: np.random.Generator) -> IntArray:
    """Return the routers breadth first from a random one, its neighbours in random order."""
    from scipy.sparse.csgraph import breadth_first_order

    shuffled = rng.permutation(graph.num_routers)
    matrix = graph.matrix()[shuffled][:, shuffled]
    reached = breadth_first_order(matrix, 0, return_predecessors=False)
    return np.concatenate((shuffled[reached], np.delete(shuffled, reached)))
