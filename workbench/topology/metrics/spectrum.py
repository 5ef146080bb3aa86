"""Eigenvalues of a network: how well it mixes, and what they say about cuts."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from workbench.arrays import FloatArray
from workbench.topology.metrics.adjacency import RouterGraph
from workbench.topology.topology import Topology

DENSE = 300
"""Up to this many routers all eigenvalues are found at once; beyond, the outer ones by Lanczos."""

_ROUNDING = 1e-8  # an eigenvalue of up to 255 links, by _PRECISION
_PRECISION = 1e-11  # relative, of Lanczos: chosen, far within _ROUNDING


@dataclass(frozen=True)
class Spectrum:
    """Eigenvalues of the adjacency and of the Laplacian, each pair's links by their capacity.

    Attributes:
        lambda_1: the largest of the adjacency; the degree where all routers have the same.
        lambda_2: the second largest of the adjacency.
        lambda_n: the smallest of the adjacency.
        connectivity: the second smallest of the Laplacian (Fiedler 1973); lambda_1 - lambda_2
            where all routers have the same degree, and 0 where the network is in parts.
        ramanujan: whether no eigenvalue but the degree and its negative is beyond twice the
            square root of degree - 1 (Lubotzky, Phillips, Sarnak 1988); None where routers have
            different degrees, or links have more capacity than 1, for it is about graphs.
    """

    lambda_1: float
    lambda_2: float
    lambda_n: float
    connectivity: float
    ramanujan: bool | None

    @property
    def gap(self) -> float:
        """The spectral gap, lambda_1 - lambda_2."""
        return self.lambda_1 - self.lambda_2


def spectrum(topology: Topology | RouterGraph) -> Spectrum:
    """Return the outer eigenvalues of a network's routers.

    Args:
        topology: the network.
    """
    graph = topology if isinstance(topology, RouterGraph) else RouterGraph.of(topology)
    n, degree = graph.num_routers, graph.degree
    regular = bool(n and (degree == degree[0]).all())
    plain = regular and bool((graph.capacity == graph.links).all())
    if n <= DENSE:
        adjacency = graph.matrix().toarray()
        values = np.linalg.eigvalsh(adjacency)
        second = values[-2] if n > 1 else math.nan
        if regular:
            connectivity = degree[0] - second
        else:
            connectivity = np.linalg.eigvalsh(np.diag(degree) - adjacency)[min(1, n - 1)]
    else:
        values, connectivity = _outer(graph, regular)
        second = values[-2]
    if n < 2:
        connectivity = 0.0
    return Spectrum(
        lambda_1=float(values[-1]),
        lambda_2=float(second),
        lambda_n=float(values[0]),
        connectivity=max(float(connectivity), 0.0),
        ramanujan=_is_ramanujan(values, degree[0]) if plain and n > 1 else None,
    )


def _is_ramanujan(values: FloatArray, degree: float) -> bool:
    """Return whether the outer eigenvalues are within the bound; ascending, the last trivial."""
    bound = 2 * math.sqrt(max(degree - 1, 0)) + _ROUNDING
    others = values[:-1]
    # One eigenvalue of -degree is that of a network in two halves, and trivial too.
    if others[0] < -degree + _ROUNDING:
        others = others[1:]
    return bool(len(others) == 0 or np.abs(others).max() <= bound)


def _outer(graph: RouterGraph, regular: bool) -> tuple[FloatArray, float]:
    """Return the two smallest and the two largest of the adjacency, and the connectivity."""
    from scipy.sparse.linalg import eigsh

    matrix = graph.matrix()
    start = np.random.default_rng(0).standard_normal(graph.num_routers)
    # Both ends are crowded: with few vectors Lanczos is slow to tell them apart.
    ends = [
        eigsh(matrix, k=2, which=end, v0=start, ncv=60, tol=_PRECISION, return_eigenvectors=False)
        for end in ("SA", "LA")
    ]
    values = np.sort(np.concatenate(ends))
    if regular:
        return values, float(values[-1] - values[-2])
    return values, float(slow_vectors(graph, 1)[0][0])


def slow_vectors(graph: RouterGraph, count: int) -> tuple[FloatArray, FloatArray]:
    """Return the smallest eigenvalues of the Laplacian after the first, and their vectors.

    They are float64[count], ascending, and float64[routers, count].
    """
    n, degree = graph.num_routers, graph.degree
    count = min(count, n - 1)
    if n <= DENSE:
        values, vectors = np.linalg.eigh(np.diag(degree) - graph.matrix().toarray())
        return values[1 : count + 1], vectors[:, 1 : count + 1]
    from scipy.sparse.linalg import LinearOperator, eigsh

    matrix = graph.matrix()
    shift = 2 * degree.max()

    def flipped(vector: Any) -> Any:
        """Multiply by shift - L, with the constant vector moved from the top to below all."""
        flat = vector.ravel()
        return (shift - degree) * flat + matrix @ flat - shift * flat.mean()

    operator = LinearOperator((n, n), matvec=flipped, dtype=np.float64)
    start = np.random.default_rng(0).standard_normal(n)
    values, vectors = eigsh(operator, k=count, which="LA", v0=start, ncv=max(40, 3 * count))
    order = np.argsort(-values)
    return shift - values[order], vectors[:, order]
