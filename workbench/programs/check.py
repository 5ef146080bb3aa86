"""What is wrong or doubtful about an execution graph, before anything is replayed.

    for problem in graph.check():
        print(problem)
    graph.validate()    # raises ProgramError where the program cannot run to its end

Dependencies must have no cycle, and every message needs a receive. Where wildcards leave open which
receive takes which message, only what no order of events could match is an error; a replay may
still come to a deadlock.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kernels.goal import order
from workbench.errors import ProgramError
from workbench.programs.columns import edges, transposed
from workbench.programs.graph import ANY_SOURCE, CALC, RECV, SEND, ExecutionGraph
from workbench.programs.messages import Classes, surplus

Edges = tuple[NDArray[np.int32], ...]

ERROR, WARNING, NOTE = "error", "warning", "note"

SHOWN = 100
"""Most problems of one kind that are told one by one."""

_STEPS = 4096  # taken for one pair of messages before its order is given up for unknown
_EFFORT = 200  # steps an operation, over all pairs


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong or doubtful.

    Attributes:
        kind: ``cycle``, ``peer``, ``rank``, ``unmatched-send``, ``unmatched-receive``,
            ``ambiguous``, ``truncated``, ``oversized``, ``self`` or ``unexamined``.
        severity: ``error`` (cannot run to its end), ``warning`` or ``note``.
        rank: rank of the operation, -1 where the problem is of the whole graph.
        line: line of the file, 0 where there is none.
        message: what is wrong, in words.
        op: number of the operation, -1 where the problem is of the whole graph.
        count: how many operations or messages it concerns.
    """

    kind: str
    severity: str
    rank: int
    line: int
    message: str
    op: int
    count: int = 1

    def __str__(self) -> str:
        return f"{self.severity}: {self.message}"


def check(graph: ExecutionGraph) -> tuple[Problem, ...]:
    """Return what is wrong or doubtful with a graph; errors first, empty where nothing is.

    Of each kind at most ``SHOWN`` are told one by one, and a last one counts the rest.

    Args:
        graph: any.

    Raises:
        ParameterError: the dependencies are not made for the graph's operations.
    """
    problems = list(_check(graph, edges(graph)))
    rank_of = {ERROR: 0, WARNING: 1, NOTE: 2}
    return tuple(sorted(problems, key=lambda problem: rank_of[problem.severity]))


def validate(graph: ExecutionGraph) -> None:
    """Refuse a graph that cannot run to its end.

    Args:
        graph: any.

    Raises:
        ProgramError: there are cycles, peers out of range or messages without a match; the message
            names the first of them, ``operations`` all that ``check`` tells one by one.
    """
    errors = [problem for problem in check(graph) if problem.severity == ERROR]
    if errors:
        first = "; ".join(problem.message for problem in errors[:3])
        more = f"; and {len(errors) - 3} more" if len(errors) > 3 else ""
        raise ProgramError(
            f"{graph.source} cannot run to its end: {first}{more}",
            operations=tuple(problem.message for problem in errors),
        )


def _check(graph: ExecutionGraph, waiting: Edges) -> Iterator[Problem]:
    ranks = graph.rank_of(np.arange(graph.num_ops))
    level, blocked = _levels(graph, waiting)
    yield from _across(graph, ranks)
    yield from _cycles(graph, waiting, ranks, blocked)

    message = graph.kind != CALC
    any_source = (graph.kind == RECV) & (graph.peer == ANY_SOURCE)
    outside = message & ~any_source & ((graph.peer < 0) | (graph.peer >= graph.num_ranks))
    yield from _told(
        graph,
        "peer",
        ERROR,
        np.flatnonzero(outside),
        f"the peer must be a rank, 0 to {graph.num_ranks - 1}",
    )
    itself = np.flatnonzero(message & (graph.peer == ranks))
    if len(itself):
        yield Problem(
            "self",
            NOTE,
            int(ranks[itself[0]]),
            _line(graph, int(itself[0])),
            f"{graph.describe(int(itself[0]))}: a message of a rank to itself, the first of "
            f"{len(itself)} such operations",
            int(itself[0]),
            len(itself),
        )

    inside = ~outside
    sends = Classes.of(graph, np.flatnonzero(inside & (graph.kind == SEND)), ranks, level)
    recvs = Classes.of(graph, np.flatnonzero(inside & (graph.kind == RECV)), ranks, level)
    too_many_sends, too_many_recvs, exact = surplus(sends, recvs, graph.num_ranks)
    yield from _unmatched(graph, "unmatched-send", sends, too_many_sends)
    yield from _unmatched(graph, "unmatched-receive", recvs, too_many_recvs)
    yield from _ambiguous(graph, waiting, sends, recvs, level)
    yield from _sizes(graph, sends, recvs, exact)


def _line(graph: ExecutionGraph, op: int) -> int:
    return int(graph.line[op]) if graph.line is not None else 0


def _told(
    graph: ExecutionGraph,
    kind: str,
    severity: str,
    ops: NDArray[np.int64],
    words: str | Iterable[str],
    counts: Iterable[int] | None = None,
) -> Iterator[Problem]:
    """Yield one problem for each operation, and one for those that are too many to tell."""
    shown = ops[:SHOWN].tolist()
    texts = [words] * len(shown) if isinstance(words, str) else list(words)
    numbers = [1] * len(shown) if counts is None else list(counts)
    for op, text, count in zip(shown, texts, numbers, strict=False):
        rank = int(graph.rank_of(op))
        told = f"{graph.describe(op)}: {text}"
        yield Problem(kind, severity, rank, _line(graph, op), told, op, count)
    if len(ops) > SHOWN:
        left = len(ops) - SHOWN
        yield Problem(kind, severity, -1, 0, f"and {left} more of kind {kind!r}", -1, left)


def _levels(graph: ExecutionGraph, waiting: Edges) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return the longest chain before each operation, and what still waits in the end."""
    degree = graph.in_degree()
    level, queue = np.zeros(graph.num_ops, np.int32), np.empty(graph.num_ops, np.int32)
    order.levels(*waiting, degree, level, queue)
    return level, degree


def _across(graph: ExecutionGraph, ranks: NDArray[np.int32]) -> Iterator[Problem]:
    """Yield dependencies that join two ranks."""
    for dependents in (graph.requires, graph.irequires):
        after, before = dependents.pairs()
        joins = np.flatnonzero(ranks[after] != ranks[before])
        words = [
            f"waits for an operation of another rank: {graph.describe(op)}"
            for op in before[joins[:SHOWN]].tolist()
        ]
        yield from _told(graph, "rank", ERROR, after[joins].astype(np.int64), words)


def _cycles(
    graph: ExecutionGraph,
    waiting: Edges,
    ranks: NDArray[np.int32],
    blocked: NDArray[np.int32],
) -> Iterator[Problem]:
    """Yield one cycle for each rank that has some."""
    stuck = np.flatnonzero(blocked)
    if not len(stuck):
        return
    blocker = np.full(graph.num_ops, -1, np.int32)
    order.blocked_by(*waiting, blocked, blocker)
    starts = stuck[np.unique(ranks[stuck], return_index=True)[1]]
    words, ops = [], []
    for start in starts[:SHOWN].tolist():
        cycle = _cycle(blocker, start)
        ops.append(cycle[0])
        places = [graph.describe(op) for op in cycle[1:8]]
        left = f", {len(cycle) - 8} more" if len(cycle) > 8 else ""
        words.append(f"waits for itself, by way of {', '.join(places) or 'nothing else'}{left}")
    ops += starts[SHOWN:].tolist()
    yield from _told(graph, "cycle", ERROR, np.array(ops, np.int64), words)


def _cycle(blocker: NDArray[np.int32], start: int) -> list[int]:
    """Return a cycle that an operation waits for, in the order of waiting."""
    place: dict[int, int] = {}
    path: list[int] = []
    op = start
    while op not in place:
        place[op] = len(path)
        path.append(op)
        op = int(blocker[op])
    return path[place[op] :]


def _unmatched(
    graph: ExecutionGraph, kind: str, classes: Classes, left: NDArray[np.int64]
) -> Iterator[Problem]:
    """Yield for each class the first operation that is left over."""
    which = np.flatnonzero(left)
    ops = classes.ops[classes.start[which + 1] - left[which]]
    word = "nobody receives it" if kind == "unmatched-send" else "no message comes for it"
    shown = which[:SHOWN]
    counts = left[shown].tolist()
    many = np.diff(classes.start)[shown].tolist()
    words = [
        word + (f"; {count} of {total} such operations are left over" if total > 1 else "")
        for count, total in zip(counts, many, strict=True)
    ]
    yield from _told(graph, kind, ERROR, ops, words, counts)


def _ambiguous(
    graph: ExecutionGraph, waiting: Edges, sends: Classes, recvs: Classes, level: NDArray[np.int32]
) -> Iterator[Problem]:
    """Yield classes of messages whose order the dependencies leave open."""
    needs = (*transposed(*waiting[:2]), *transposed(*waiting[2:]))
    for classes in (sends, recvs):
        inner = np.flatnonzero(classes.number[1:] == classes.number[:-1])
        answer = np.zeros(len(inner), np.uint8)
        seen, stack = np.zeros(graph.num_ops, np.int32), np.empty(_STEPS, np.int32)
        effort = _EFFORT * graph.num_ops
        first, second = classes.ops[inner], classes.ops[inner + 1]
        order.ordered(first, second, level, *needs, seen, stack, effort, answer)
        unknown = int((answer == order.UNKNOWN).sum())
        if unknown:
            yield Problem(
                "unexamined",
                NOTE,
                -1,
                0,
                f"{unknown} pairs of messages were not examined for their order: the chains of "
                "dependencies between them are too long",
                -1,
                unknown,
            )
        found = inner[answer == order.OPEN]
        numbers, at, counts = np.unique(
            classes.number[found], return_index=True, return_counts=True
        )
        smallest = np.minimum.reduceat(graph.size[classes.ops], classes.start[:-1])
        largest = np.maximum.reduceat(graph.size[classes.ops], classes.start[:-1])
        same = smallest[numbers] == largest[numbers]
        for severity, among, words in (
            (WARNING, ~same, "which sizes meet is open"),
            (NOTE, same, "their sizes are equal"),
        ):
            ops = classes.ops[found[at[among]] + 1]
            texts = [
                f"not ordered by dependencies against {graph.describe(op)}; {words}"
                for op in classes.ops[found[at[among]]][:SHOWN].tolist()
            ]
            yield from _told(graph, "ambiguous", severity, ops, texts, counts[among].tolist())


def _sizes(
    graph: ExecutionGraph, sends: Classes, recvs: Classes, exact: NDArray[np.int64]
) -> Iterator[Problem]:
    """Yield messages whose receive is of another size, the k-th taken by the k-th."""
    sending = sends.ops[sends.members(exact[0], exact[2])]
    receiving = recvs.ops[recvs.members(exact[1], exact[2])]
    sent, expected = graph.size[sending], graph.size[receiving]
    for kind, severity, among, words in (
        ("truncated", WARNING, sent > expected, "larger than its receive"),
        ("oversized", NOTE, sent < expected, "smaller than its receive"),
    ):
        at = np.flatnonzero(among)
        texts = [
            f"{words}, {graph.describe(op)}, where messages are taken in order"
            for op in receiving[at[:SHOWN]].tolist()
        ]
        yield from _told(graph, kind, severity, sending[at], texts)
