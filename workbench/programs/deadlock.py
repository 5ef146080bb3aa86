"""Why a program cannot go on: which operations wait, and for what."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kernels.loggops import layout, untimed
from kernels.loggops import replay as kernel
from workbench.errors import ProgramError
from workbench.programs.graph import ANY_SOURCE, ANY_TAG, RECV, SEND, ExecutionGraph

MOST_NAMED = 10  # operations in an error: chosen, a dozen lines of a terminal


def refuse_peers(graph: ExecutionGraph) -> None:
    """Refuse messages to or from ranks that do not exist, and kinds that do not."""
    op = int(kernel.first_without_peer(graph.rank_start, graph.kind, graph.peer))
    if op >= 0:
        phrase = graph.describe(op)
        raise ProgramError(
            f"peers must be ranks 0 to {graph.num_ranks - 1}; got {phrase}", operations=(phrase,)
        )


def explain(graph: ExecutionGraph, left: NDArray[np.int32], eager_bytes: int) -> ProgramError:
    """Return the error for a halted program: its first circular wait, or unmatched operations."""
    still = HaltedState.of(graph, left, eager_bytes)
    receives = np.flatnonzero(left == layout.POSTED)
    messages = np.flatnonzero(left < layout.POSTED)
    blocked = np.flatnonzero(left > 0)
    groups = (
        (receives, "receives without a message"),
        (messages, "messages without a receive"),
        (blocked, "operations that wait for others"),
    )
    total = len(receives) + len(messages) + len(blocked)
    counts = ", ".join(f"{len(ops)} {what}" for ops, what in groups if len(ops))
    head = f"every operation must be able to run, but {total} wait for ever: {counts}. "
    if still.circles:
        circle = still.circles[0]
        others = still.num_circles - 1
        more = f"; and {others} more such circles" if others else ""
        return ProgramError(
            head + describe_circle(graph, circle) + more,
            operations=tuple(f"{graph.describe(op)}: {still.why(op)}" for op in circle),
        )
    alone = [*receives[:MOST_NAMED].tolist(), *messages[:MOST_NAMED].tolist()]
    alone += blocked[:MOST_NAMED].tolist()
    phrases = tuple(f"{graph.describe(op)}: {still.why(op)}" for op in alone[:MOST_NAMED])
    more = f"; and {total - len(phrases)} more" if total > len(phrases) else ""
    return ProgramError(head + "; ".join(phrases) + more, operations=phrases)


def describe_circle(graph: ExecutionGraph, circle: Sequence[int]) -> str:
    """Return a sentence that names the operations of a circular wait, each waiting for the next."""
    ranks = len(set(graph.rank_of(np.array(circle)).tolist()))
    shown = [graph.describe(op) for op in circle[:MOST_NAMED]]
    if len(circle) > MOST_NAMED:
        shown.append(f"{len(circle) - MOST_NAMED} more")
    where = f"of {ranks} ranks" if ranks > 1 else "of one rank"
    count = f"{len(circle)} operations" if len(circle) > 1 else "1 operation"
    return (
        f"circular wait of {count} {where}, each waiting for the next: "
        f"{' → '.join(shown)} → the first"
    )


@dataclass(frozen=True, eq=False)
class HaltedState:
    """The state of a program that has come to a halt."""

    graph: ExecutionGraph
    left: NDArray[np.int32]  # (ops,) as the kernels leave it, see ``kernels.loggops.layout``
    waits_for: NDArray[np.int64]  # (ops,) unfinished dependency or other end; -1 for none
    circles: tuple[tuple[int, ...], ...]  # the first few; each operation waits for the next
    num_circles: int  # in all

    @classmethod
    def of(
        cls, graph: ExecutionGraph, left: NDArray[np.int32], eager_bytes: int, most: int = 1
    ) -> HaltedState:
        """Return the state of a halted run with up to ``most`` circles; ``eager_bytes`` is S."""
        waits_for = _held_by(graph, left, eager_bytes)
        _add_other_ends(graph, left, eager_bytes, waits_for)
        first = np.empty(most, np.int64)
        count = int(untimed.circles(waits_for, np.zeros(graph.num_ops, np.int64), first))
        found = tuple(_circle(waits_for, int(op)) for op in first[:count])
        return cls(graph, left, waits_for, found, count)

    def why(self, op: int) -> str:
        """Return a phrase with the reason why an operation cannot complete."""
        before = int(self.waits_for[op])
        if before >= 0:
            return f"waits for {self.graph.describe(before)}"
        if self.left[op] == layout.POSTED:
            return "no message matches it"
        if self.left[op] < layout.POSTED:
            return "no receive matches its message"
        return "LogGOPSim never releases the send before it"


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


def _add_other_ends(
    graph: ExecutionGraph, left: NDArray[np.int32], eager_bytes: int, waits_for: NDArray[np.int64]
) -> None:
    """Set ``waits_for`` of waiting receives and messages to their first other end not started."""
    messages = np.flatnonzero((left < layout.POSTED) & (graph.size > eager_bytes))
    receives = np.flatnonzero(left == layout.POSTED)
    for asking, kind in ((receives, SEND), (messages, RECV)):
        offered = np.flatnonzero((left > 0) & (graph.kind == kind))
        if len(asking) and len(offered):
            found = _first_other_end(graph, asking, offered)
            waits_for[asking] = np.where(found < graph.num_ops, found, -1)


def _first_other_end(
    graph: ExecutionGraph, asking: NDArray[np.intp], offered: NDArray[np.intp]
) -> NDArray[np.int64]:
    """Return the first of ``offered`` that each of ``asking`` could meet, num_ops if none."""
    both = np.concatenate([asking, offered])
    ranks, peers = graph.rank_of(both).astype(np.int64), graph.peer[both].astype(np.int64)
    tags, sends = graph.tag[both].astype(np.int64), graph.kind[both] == SEND
    sender, receiver = np.where(sends, ranks, peers), np.where(sends, peers, ranks)
    any_source, any_tag = ~sends & (peers == ANY_SOURCE), tags == ANY_TAG
    asks = np.arange(len(both)) < len(asking)
    found = np.full(len(both), graph.num_ops, np.int64)
    for by_sender in (True, False):
        # A receive from any source meets whatever the sender, of the side that receives.
        here = np.ones(len(both), bool) if by_sender else sends | any_source
        pair = np.unique(
            receiver * (graph.num_ranks + 1) + (sender + 1 if by_sender else 0),
            return_inverse=True,
        )[1]
        for by_tag, side in ((True, here), (False, asks), (False, ~asks)):
            taking = here if by_tag else here & (any_tag | ~side)
            key = (pair << 32) + (tags if by_tag else 0)
            at, to = np.flatnonzero(taking & asks), np.flatnonzero(taking & ~asks)
            if not len(at) or not len(to):
                continue
            known, first = np.unique(key[to], return_index=True)
            place = np.minimum(np.searchsorted(known, key[at]), len(known) - 1)
            same = known[place] == key[at]
            candidate = both[to[first[place]]]
            found[at[same]] = np.minimum(found[at[same]], candidate[same])
    return found[: len(asking)]


def _circle(waits_for: NDArray[np.int64], op: int) -> tuple[int, ...]:
    """Return the operations of a circle, from one of them on."""
    path = [op]
    while (after := int(waits_for[path[-1]])) != op:
        path.append(after)
    return tuple(path)
