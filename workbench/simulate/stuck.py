"""Why a replay cannot go on: which operations wait, and for what."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kernels.loggops import layout
from kernels.loggops import replay as kernel
from workbench.errors import ProgramError
from workbench.programs.graph import ExecutionGraph

_SHOWN = 10


def refuse_peers(graph: ExecutionGraph) -> None:
    """Refuse messages to or from ranks that do not exist, and kinds that do not.

    Args:
        graph: the program.

    Raises:
        ProgramError: names the first such operation.
    """
    op = int(kernel.first_without_peer(graph.rank_start, graph.kind, graph.peer))
    if op >= 0:
        phrase = graph.describe(op)
        raise ProgramError(
            f"peers must be ranks 0 to {graph.num_ranks - 1}; got {phrase}", operations=(phrase,)
        )


def explain(graph: ExecutionGraph, left: NDArray[np.int32], eager_bytes: int) -> ProgramError:
    """Return the error that shows what waits in a program that has come to a halt.

    Receives and messages without their other end come first, since others wait behind them; where
    there are none, the operations of a cycle of dependencies.

    Args:
        graph: the program.
        left: int32[n], as the kernels leave it.
        eager_bytes: S, above which a send ends when its message meets its receive.
    """
    receives = np.flatnonzero(left == layout.POSTED)
    messages = np.flatnonzero(left < layout.POSTED)
    blocked = np.flatnonzero(left > 0)
    held_by = _held_by(graph, left, eager_bytes)
    reasons = [(op, "no message comes that it could take") for op in receives[:_SHOWN].tolist()]
    reasons += [(op, "no receive takes its message") for op in messages[:_SHOWN].tolist()]
    alone = bool(reasons)
    behind = blocked[:_SHOWN].tolist() if alone else _cycle(held_by, blocked)
    reasons += [(op, _waits_for(graph, int(held_by[op]))) for op in behind]
    phrases = tuple(f"{graph.describe(op)}: {why}" for op, why in reasons[:_SHOWN])
    total = len(receives) + len(messages) + len(blocked)
    groups = (
        (receives, "receives without a message"),
        (messages, "messages without a receive"),
        (blocked, "operations behind them" if alone else "operations in or behind a cycle"),
    )
    counts = ", ".join(f"{len(ops)} {what}" for ops, what in groups if len(ops))
    more = f"; and {total - len(phrases)} more" if total > len(phrases) else ""
    return ProgramError(
        f"every operation must be able to run, but {total} wait for ever: {counts}. "
        + "; ".join(phrases)
        + more,
        operations=phrases,
    )


def _waits_for(graph: ExecutionGraph, op: int) -> str:
    if op < 0:
        return "LogGOPSim never lets the send before it go"
    return f"waits for {graph.describe(op)}"


def _held_by(graph: ExecutionGraph, left: NDArray[np.int32], eager_bytes: int) -> NDArray[np.int64]:
    """Return for each operation the first that it still waits for, -1 for none."""
    unstarted = left > 0
    waits_for_receiver = (left < layout.POSTED) & (graph.size > eager_bytes)
    unfinished = unstarted | (left == layout.POSTED) | waits_for_receiver
    held_by = np.full(graph.num_ops, -1, np.int64)
    for dependents, holds in ((graph.irequires, unstarted), (graph.requires, unfinished)):
        after, before = dependents.pairs()
        # Backwards, so that the first is what stays.
        open_edges = np.flatnonzero(holds[before])[::-1]
        held_by[after[open_edges]] = before[open_edges]
    return held_by


def _cycle(held_by: NDArray[np.int64], blocked: NDArray[np.intp]) -> list[int]:
    """Return operations each of which waits for the next, and the last for the first."""
    path, place = [int(blocked[0])], {}
    while path[-1] not in place:
        place[path[-1]] = len(path) - 1
        path.append(int(held_by[path[-1]]))
    return path[place[path[-1]] : -1]
