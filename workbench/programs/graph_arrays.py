"""A graph's arrays as kernels take them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kernels.goal import edges as sorting
from kernels.graphs import Edges, MatchedGraph, Operations
from workbench.errors import ParameterError
from workbench.programs.graph import Dependents, ExecutionGraph


def matched(graph: ExecutionGraph, match: NDArray[np.int32]) -> MatchedGraph:
    """Return a graph for kernels, with the other end of each message, int32[n]."""
    requires, irequires = graph.requires, graph.irequires
    dependents = (requires.start, requires.ops, irequires.start, irequires.ops)
    return MatchedGraph(graph.kind, graph.size, match, *dependents)


def operations_of(graph: ExecutionGraph) -> Operations:
    """Return a graph's operations."""
    columns = (graph.kind, graph.size, graph.peer, graph.tag, graph.cpu, graph.nic)
    return Operations(graph.rank_start, *columns)


def dependents_of(graph: ExecutionGraph) -> Edges:
    """Return a graph's dependencies by the operation waited for, checked against the graph."""
    requires, irequires = graph.requires, graph.irequires
    check_dependents(requires, graph.num_ops, "requires")
    check_dependents(irequires, graph.num_ops, "irequires")
    return Edges(requires.start, requires.ops, irequires.start, irequires.ops)


def check_dependents(dependents: Dependents, num_ops: int, name: str) -> None:
    """Refuse dependents that do not fit ``num_ops`` operations; ``name`` is for the message."""
    start, ops = dependents.start, dependents.ops
    if (
        len(start) != num_ops + 1
        or start[0] != 0
        or start[-1] != len(ops)
        or (np.diff(start) < 0).any()
        or (len(ops) and not (ops.min() >= 0 and ops.max() < num_ops))
    ):
        raise ParameterError(
            f"{name} must list the dependents of each of {num_ops} operations; make it with "
            "Dependents.from_pairs",
            key=name,
        )


def awaited(dependents: Edges) -> Edges:
    """Return the dependencies by the operation that waits, those it waits for ascending."""
    ends, starts = dependents[:2], dependents[2:]
    return Edges(*_transposed(*ends), *_transposed(*starts))


def _transposed(
    start: NDArray[np.int32], ops: NDArray[np.int32]
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    awaited_start, awaited = np.zeros(len(start), np.int32), np.empty(len(ops), np.int32)
    sorting.transpose(start, ops, awaited_start, awaited)
    return awaited_start, awaited
