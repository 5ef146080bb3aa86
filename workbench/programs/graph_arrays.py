"""A graph's arrays as kernels take them: of one type each, and contiguous."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernels.goal import edges as sorting
from kernels.graphs import MatchedGraph
from workbench.errors import ParameterError
from workbench.programs.graph import Dependents, ExecutionGraph

_TYPES = {
    "rank_start": np.int64,
    "kind": np.uint8,
    "size": np.int64,
    "peer": np.int32,
    "tag": np.uint32,
    "cpu": np.uint8,
    "nic": np.uint8,
}


def matched(graph: ExecutionGraph, match: NDArray[np.int32]) -> MatchedGraph:
    """Return a graph for kernels, with the other end of each message, int32[n]."""
    requires, irequires = graph.requires, graph.irequires
    dependents = (requires.start, requires.ops, irequires.start, irequires.ops)
    return MatchedGraph(graph.kind, graph.size, match, *dependents)


def columns(graph: ExecutionGraph) -> tuple[NDArray[Any], ...]:
    """Return rank_start, kind, size, peer, tag, cpu and nic, in the types the graph documents."""
    return tuple(
        np.ascontiguousarray(getattr(graph, name), dtype) for name, dtype in _TYPES.items()
    )


def edges(graph: ExecutionGraph) -> tuple[NDArray[np.int32], ...]:
    """Return start and ops of ``requires``, then of ``irequires``, checked against the graph."""
    found: list[NDArray[np.int32]] = []
    for name in ("requires", "irequires"):
        dependents: Dependents = getattr(graph, name)
        check_dependents(dependents, graph.num_ops, name)
        found += [
            np.ascontiguousarray(dependents.start, np.int32),
            np.ascontiguousarray(dependents.ops, np.int32),
        ]
    return tuple(found)


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


def transposed(
    start: NDArray[np.int32], ops: NDArray[np.int32]
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return the operations that each waits for, ascending: int32[n + 1] starts, int32[edges]."""
    awaited_start, awaited = np.zeros(len(start), np.int32), np.empty(len(ops), np.int32)
    sorting.transpose(start, ops, awaited_start, awaited)
    return awaited_start, awaited
