"""What is wrong or doubtful about an execution graph, before anything is replayed.

    for problem in graph.check():
        print(problem)
    graph.validate()    # raises ProgramError where the program cannot run to its end

Dependencies must have no cycle, every message needs a receive, and ranks must not wait for one
another in a circle. The last is found by a run without times (``kernels.loggops.untimed``). Where
several receives could take a message, as with wildcards, a program that ends in no order of events
is an error, and one that halts in the order examined is a warning.

Some circles exist only because sends above S bytes wait for their receives. Given S, such a circle
is an error; without it, a warning with the least S at which the program ends.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kernels.goal import order
from kernels.graphs import Edges
from kernels.loggops import layout, untimed
from kernels.loggops.matching import empty_waiting, with_more_room
from workbench.checks import whole
from workbench.errors import ProgramError
from workbench.programs.deadlock import HaltedState, describe_circle, explain
from workbench.programs.graph import ANY_SOURCE, CALC, RECV, SEND, ExecutionGraph
from workbench.programs.graph_arrays import awaited, dependents_of
from workbench.programs.messages import Classes, surplus, with_wildcards

ERROR, WARNING, NOTE = "error", "warning", "note"

SHOWN = 100
"""Most problems of one kind that are reported one by one."""

_STEPS = 4096  # limit for one pair of messages, whose order is then unknown
_EFFORT = 200  # steps an operation, over all pairs


@dataclass(frozen=True)
class GraphProblem:
    """One error, warning or note on a graph.

    Attributes:
        kind: ``cycle``, ``peer``, ``rank``, ``unmatched-send``, ``unmatched-receive``,
            ``circular``, ``ambiguous``, ``truncated``, ``oversized``, ``self`` or ``unexamined``.
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


def check(graph: ExecutionGraph, *, eager_bytes: int | None = None) -> tuple[GraphProblem, ...]:
    """Return a graph's problems, errors first, ``SHOWN`` a kind; see ``ExecutionGraph.check``."""
    if eager_bytes is not None:
        whole(eager_bytes, "eager_bytes", 0, unit="B")
    problems = list(_check(graph, dependents_of(graph), eager_bytes))
    rank_of = {ERROR: 0, WARNING: 1, NOTE: 2}
    return tuple(sorted(problems, key=lambda problem: rank_of[problem.severity]))


def validate(graph: ExecutionGraph, *, eager_bytes: int | None = None) -> None:
    """Refuse a graph that cannot run to its end; see ``ExecutionGraph.validate``."""
    problems = check(graph, eager_bytes=eager_bytes)
    errors = [problem for problem in problems if problem.severity == ERROR]
    if errors:
        first = "; ".join(problem.message for problem in errors[:3])
        more = f"; and {len(errors) - 3} more" if len(errors) > 3 else ""
        raise ProgramError(
            f"{graph.source} cannot run to its end: {first}{more}",
            operations=tuple(problem.message for problem in errors),
        )


def _check(
    graph: ExecutionGraph, waiting: Edges, eager_bytes: int | None
) -> Iterator[GraphProblem]:
    ranks = graph.rank_of(np.arange(graph.num_ops))
    level, blocked = _levels(graph, waiting)
    broken = [*_across(graph, ranks), *_cycles(graph, waiting, ranks, blocked)]
    yield from broken

    message = graph.kind != CALC
    any_source = (graph.kind == RECV) & (graph.peer == ANY_SOURCE)
    outside = message & ~any_source & ((graph.peer < 0) | (graph.peer >= graph.num_ranks))
    yield from _problems(
        graph,
        "peer",
        ERROR,
        np.flatnonzero(outside),
        f"the peer must be a rank, 0 to {graph.num_ranks - 1}",
    )
    itself = np.flatnonzero(message & (graph.peer == ranks))
    if len(itself):
        yield GraphProblem(
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
    opened = []
    for classes in (sends, recvs):
        problems, numbers = _ambiguous(graph, waiting, classes, level)
        yield from problems
        opened.append(numbers)
    yield from _sizes(graph, sends, recvs, exact)
    if outside.any() or broken:
        return
    whole_messages = not too_many_sends.any() and not too_many_recvs.any()
    wild = with_wildcards(sends, recvs, graph.num_ranks)
    pool = _pools(graph, sends, recvs, wild, *opened)
    runs = _Untimed(graph, waiting, ranks, wild)
    yield from _circular(runs, pool, eager_bytes, whole_messages=whole_messages)


def _line(graph: ExecutionGraph, op: int) -> int:
    return int(graph.line[op]) if graph.line is not None else 0


def _problems(
    graph: ExecutionGraph,
    kind: str,
    severity: str,
    ops: NDArray[np.int64],
    phrases: str | Iterable[str],
    counts: Iterable[int] | None = None,
) -> Iterator[GraphProblem]:
    """Yield a problem for each of the first ``SHOWN`` operations, and one that counts the rest."""
    shown = ops[:SHOWN].tolist()
    texts = [phrases] * len(shown) if isinstance(phrases, str) else list(phrases)
    numbers = [1] * len(shown) if counts is None else list(counts)
    for op, text, count in zip(shown, texts, numbers, strict=False):
        rank = int(graph.rank_of(op))
        message = f"{graph.describe(op)}: {text}"
        yield GraphProblem(kind, severity, rank, _line(graph, op), message, op, count)
    if len(ops) > SHOWN:
        left = len(ops) - SHOWN
        yield GraphProblem(kind, severity, -1, 0, f"and {left} more of kind {kind!r}", -1, left)


def _levels(graph: ExecutionGraph, waiting: Edges) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return the longest chain before each operation, and the dependencies that cycles leave."""
    degree = graph.in_degree()
    level, queue = np.zeros(graph.num_ops, np.int32), np.empty(graph.num_ops, np.int32)
    order.levels(*waiting, degree, level, queue)
    return level, degree


def _across(graph: ExecutionGraph, ranks: NDArray[np.int32]) -> Iterator[GraphProblem]:
    """Yield dependencies that join two ranks."""
    for dependents in (graph.requires, graph.irequires):
        after, before = dependents.pairs()
        joins = np.flatnonzero(ranks[after] != ranks[before])
        phrases = [
            f"waits for an operation of another rank: {graph.describe(op)}"
            for op in before[joins[:SHOWN]].tolist()
        ]
        yield from _problems(graph, "rank", ERROR, after[joins].astype(np.int64), phrases)


def _cycles(
    graph: ExecutionGraph,
    waiting: Edges,
    ranks: NDArray[np.int32],
    blocked: NDArray[np.int32],
) -> Iterator[GraphProblem]:
    """Yield one cycle of dependencies for each rank that has any."""
    stuck = np.flatnonzero(blocked)
    if not len(stuck):
        return
    blocker = np.full(graph.num_ops, -1, np.int32)
    order.blocked_by(*waiting, blocked, blocker)
    starts = stuck[np.unique(ranks[stuck], return_index=True)[1]]
    phrases, ops = [], []
    for start in starts[:SHOWN].tolist():
        cycle = _cycle(blocker, start)
        ops.append(cycle[0])
        places = [graph.describe(op) for op in cycle[1:8]]
        left = f", {len(cycle) - 8} more" if len(cycle) > 8 else ""
        phrases.append(f"waits for itself, via {', '.join(places) or 'nothing else'}{left}")
    ops += starts[SHOWN:].tolist()
    yield from _problems(graph, "cycle", ERROR, np.array(ops, np.int64), phrases)


def _cycle(blocker: NDArray[np.int32], start: int) -> list[int]:
    """Return the operations of a cycle that ``start`` waits for, each waiting for the next."""
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
) -> Iterator[GraphProblem]:
    """Yield the first unmatched operation of each class."""
    which = np.flatnonzero(left)
    ops = classes.ops[classes.start[which + 1] - left[which]]
    word = "no receive matches it" if kind == "unmatched-send" else "no message matches it"
    shown = which[:SHOWN]
    counts = left[shown].tolist()
    many = np.diff(classes.start)[shown].tolist()
    phrases = [
        word + (f"; {count} of {total} such operations remain" if total > 1 else "")
        for count, total in zip(counts, many, strict=True)
    ]
    yield from _problems(graph, kind, ERROR, ops, phrases, counts)


def _ambiguous(
    graph: ExecutionGraph, waiting: Edges, classes: Classes, level: NDArray[np.int32]
) -> tuple[list[GraphProblem], NDArray[np.int64]]:
    """Return the problems of message order, and the classes that dependencies leave unordered."""
    problems: list[GraphProblem] = []
    inner = np.flatnonzero(classes.number[1:] == classes.number[:-1])
    answer = np.zeros(len(inner), np.uint8)
    seen, stack = np.zeros(graph.num_ops, np.int32), np.empty(_STEPS, np.int32)
    effort = _EFFORT * graph.num_ops
    first, second = classes.ops[inner], classes.ops[inner + 1]
    order.ordered(first, second, level, *awaited(waiting), seen, stack, effort, answer)
    unknown = int((answer == order.UNKNOWN).sum())
    if unknown:
        problems.append(
            GraphProblem(
                "unexamined",
                NOTE,
                -1,
                0,
                f"{unknown} pairs of messages were not examined for their order: the chains of "
                "dependencies between them are too long",
                -1,
                unknown,
            )
        )
    found = inner[answer == order.OPEN]
    numbers, at, counts = np.unique(classes.number[found], return_index=True, return_counts=True)
    smallest = np.minimum.reduceat(graph.size[classes.ops], classes.start[:-1])
    largest = np.maximum.reduceat(graph.size[classes.ops], classes.start[:-1])
    same = smallest[numbers] == largest[numbers]
    for severity, among, phrases in (
        (WARNING, ~same, "the sizes that match are undetermined"),
        (NOTE, same, "their sizes are equal"),
    ):
        ops = classes.ops[found[at[among]] + 1]
        texts = [
            f"not ordered by dependencies against {graph.describe(op)}; {phrases}"
            for op in classes.ops[found[at[among]]][:SHOWN].tolist()
        ]
        problems += _problems(graph, "ambiguous", severity, ops, texts, counts[among].tolist())
    return problems, np.unique(classes.number[inner[answer != order.ORDERED]])


def _sizes(
    graph: ExecutionGraph, sends: Classes, recvs: Classes, exact: NDArray[np.int64]
) -> Iterator[GraphProblem]:
    """Yield messages whose receive has another size, the k-th taken by the k-th receive."""
    sending = sends.ops[sends.members(exact[0], exact[2])]
    receiving = recvs.ops[recvs.members(exact[1], exact[2])]
    sent, expected = graph.size[sending], graph.size[receiving]
    for kind, severity, among, phrases in (
        ("truncated", WARNING, sent > expected, "larger than its receive"),
        ("oversized", NOTE, sent < expected, "smaller than its receive"),
    ):
        at = np.flatnonzero(among)
        texts = [
            f"{phrases}, {graph.describe(op)}, if messages match in order"
            for op in receiving[at[:SHOWN]].tolist()
        ]
        yield from _problems(graph, kind, severity, sending[at], texts)


def _pools(
    graph: ExecutionGraph,
    sends: Classes,
    recvs: Classes,
    wild: NDArray[np.bool_],
    open_sends: NDArray[np.int64],
    open_recvs: NDArray[np.int64],
) -> NDArray[np.int32]:
    """Return the pool of each message that may meet several receives, else -1; int32[n].

    A pool is a rank with wildcards, or a class that has no order or whose sends use several lanes.
    """
    pool = np.full(graph.num_ops, -1, np.int32)
    lane = graph.cpu.astype(np.int32) * 256 + graph.nic
    if len(sends.ops) and (lane[sends.ops] != lane[sends.ops[0]]).any():
        least = np.minimum.reduceat(lane[sends.ops], sends.start[:-1])
        most = np.maximum.reduceat(lane[sends.ops], sends.start[:-1])
        open_sends = np.union1d(open_sends, np.flatnonzero(least != most))
    named: dict[tuple[int, int, int], int] = {}
    for classes, numbers in ((sends, open_sends), (recvs, open_recvs)):
        for number in numbers.tolist():
            key = (
                int(classes.source[number]),
                int(classes.destination[number]),
                int(classes.tag[number]),
            )
            named.setdefault(key, len(wild) + len(named))
    for classes in (sends, recvs):
        of_class = np.where(wild[classes.destination], classes.destination, -1).astype(np.int32)
        if named:
            keys = zip(
                classes.source.tolist(),
                classes.destination.tolist(),
                classes.tag.tolist(),
                strict=True,
            )
            of_name = np.array([named.get(key, -1) for key in keys], np.int32)
            of_class = np.where(of_class >= 0, of_class, of_name)
        pool[classes.ops] = of_class[classes.number]
    return pool


class _Untimed:
    """Runs of a program without times; peers must be ranks, and dependencies stay within a rank."""

    def __init__(
        self,
        graph: ExecutionGraph,
        waiting: Edges,
        ranks: NDArray[np.int32],  # (n,) the rank of each operation
        wild: NDArray[np.bool_],  # (ranks,) where messages may meet by a wildcard
    ) -> None:
        self.graph = graph
        self._ranks = ranks
        req_start, req_ops, ireq_start, ireq_ops = waiting
        self._program = layout.Program(
            graph.rank_start,
            graph.kind,
            graph.size,
            graph.peer,
            graph.tag,
            graph.cpu,
            graph.nic,
            req_start,
            req_ops,
            ireq_start,
            ireq_ops,
            wild.astype(np.uint8),
        )
        self._degree = graph.in_degree()
        self._free = np.flatnonzero(self._degree == 0).astype(np.int32)

    def left(self, pool: NDArray[np.int32] | None, eager_bytes: int) -> NDArray[np.int32] | None:
        """Return the state of each operation at a halt, int32[n], None where the program ends."""
        graph, n = self.graph, self.graph.num_ops
        left, queue = self._degree.copy(), np.empty(n, np.int32)
        queue[: len(self._free)] = self._free
        # Without pools messages meet in one possible order.
        pools = np.full(n, -1, np.int32) if pool is None else pool
        room = 2 * (int(pools.max(initial=-1)) + 1)
        state = np.zeros(untimed.N_STATE, np.int64)
        state[untimed.TAIL] = len(self._free)
        waiting = empty_waiting(graph.num_ranks)
        link, pooled, seen = (
            np.empty(n, np.int32),
            np.full(room, -1, np.int32),
            np.zeros(room, bool),
        )
        while True:
            status = untimed.run(
                self._program,
                self._ranks,
                pools,
                eager_bytes,
                left,
                link,
                queue,
                waiting,
                pooled,
                seen,
                state,
            )
            if status != layout.TABLE_FULL:
                return left if status == layout.STUCK else None
            waiting = with_more_room(waiting)


def _circular(
    runs: _Untimed, pool: NDArray[np.int32], eager_bytes: int | None, *, whole_messages: bool
) -> Iterator[GraphProblem]:
    """Yield circular waits between ranks: in every order of events, in one, or above some S."""
    graph = runs.graph
    sizes = np.unique(graph.size[graph.kind == SEND])
    largest = int(sizes.max(initial=0))
    eager = largest if eager_bytes is None else eager_bytes
    left = runs.left(pool, eager)
    if left is not None:
        remedy = "; for any S"
        if runs.left(pool, largest) is None:
            remedy = (
                f"; with S = {eager} B, above which sends wait for their receives; "
                + _ends_at(runs, pool, sizes)
            )
        yield from _circles(graph, left, eager, ERROR, remedy)
        return
    # Unmatched messages halt every run; the rest only waits behind them.
    if not whole_messages:
        return
    if (pool >= 0).any() and (left := runs.left(None, eager)) is not None:
        yield GraphProblem(
            "circular",
            WARNING,
            -1,
            0,
            "the matching of messages is undetermined, and in one order of events the program "
            f"deadlocks: {explain(graph, left, eager)}",
            -1,
        )
        return
    if eager_bytes is None and (left := runs.left(pool, 0)) is not None:
        remedy = "; only where sends wait for their receives, above S bytes; " + _ends_at(
            runs, pool, sizes
        )
        yield from _circles(graph, left, 0, WARNING, remedy)


def _ends_at(runs: _Untimed, pool: NDArray[np.int32], sizes: NDArray[np.int64]) -> str:
    """Return a phrase with the least S at which a program ends, if it ends at the largest size."""
    low, high = 0, len(sizes) - 1
    while low < high:
        middle = (low + high) // 2
        if runs.left(pool, int(sizes[middle])) is None:
            high = middle
        else:
            low = middle + 1
    return f"it ends with S of at least {sizes[high]} B"


def _circles(
    graph: ExecutionGraph, left: NDArray[np.int32], eager: int, severity: str, remedy: str
) -> Iterator[GraphProblem]:
    still = HaltedState.of(graph, left, eager, SHOWN)
    for circle in still.circles:
        op = circle[0]
        text = describe_circle(graph, circle) + remedy
        line = _line(graph, op)
        yield GraphProblem("circular", severity, int(graph.rank_of(op)), line, text, op)
    if still.num_circles > SHOWN:
        more = still.num_circles - SHOWN
        yield GraphProblem("circular", severity, -1, 0, f"and {more} more circular waits", -1, more)
