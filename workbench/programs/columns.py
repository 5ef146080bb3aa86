"""A graph's arrays as kernels take them: of one type each, and contiguous."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernels.goal import edges as sorting
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


def columns(graph: ExecutionGraph) -> tuple[NDArray[Any], ...]:
    """Return rank_start, kind, size, peer, tag, cpu and nic, in the types the graph documents.

    Args:
        graph: any.
    """
    return tuple(
        np.ascontiguousarray(getattr(graph, name), dtype) for name, dtype in _TYPES.items()
    )


def edges(graph: ExecutionGraph) -> tuple[NDArray[np.int32], ...]:
    """Return the starts and operations of ``requires``, then those of ``irequires``.

    Args:
        graph: any.

    Raises:
        ParameterError: they are not made for the graph's operations.
    """
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
    """Refuse dependents that are not made for so many operations.

    Args:
        dependents: any.
        num_ops: number of operations of the graph.
        name: ``requires`` or ``irequires``, for the message.

    Raises:
        ParameterError: they do not fit.
    """
    start, ops = dependents.start, dependents.ops
    if (
        len(start) != num_ops + 1
        or start[0] != 0
        or start[-1] != len(ops)
        or (np.diff(start) < 0).any()
        or (len(ops) and not (ops.min() >= 0 and ops.max() < num_ops))
    ):
        raise ParameterError(
            f"{name} must give each of {num_ops} operations those that wait for it; make it with "
            "Dependents.from_pairs",
            key=name,
        )


def transposed(
    start: NDArray[np.int32], ops: NDArray[np.int32]
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return for each operation those it waits for, ascending: where they start, and they.

    Args:
        start: int32[n + 1], where those that wait for each operation start.
        ops: int32[edges], they.
    """
    awaited_start, awaited = np.zeros(len(start), np.int32), np.empty(len(ops), np.int32)
    sorting.transpose(start, ops, awaited_start, awaited)
    return awaited_start, awaited
