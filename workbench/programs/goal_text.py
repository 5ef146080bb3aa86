"""GOAL text in and out: the grammar of LogGOPSim's ``txt2bin``, with every number checked.

    num_ranks 2
    rank 0 {
    l1: calc 100
    l2: send 8b to 1 tag 5
    l2 requires l1
    }
    rank 1 {
    recv 8b from 0 tag 5
    }

What ``txt2bin`` takes and this refuses: numbers that do not fit, operations outside a rank, ranks
that are left open, missing, out of order or more than announced, anything after the last rank.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from kernels.goal import edges as sorting
from kernels.goal import layout, parse
from kernels.goal import write as writing
from kernels.graphs import Operations
from workbench.errors import ParameterError, ParseError
from workbench.programs.graph import CALC, MOST, RECV, SEND, Dependents, ExecutionGraph
from workbench.programs.graph_arrays import awaited, check_dependents, dependents_of, operations_of

Bytes = NDArray[np.uint8]
Number = TypeVar("Number", bound=np.generic)

CHUNK_BYTES = 1 << 24
"""Bytes that are written at a time: halo(256, iterations=200), of 30 MB, takes as long in pieces of
1 to 64 MiB as in one, 0.2 to 0.5 s as text, and needs less memory."""

_SHORTEST_OP, _SHORTEST_DEPENDENCY, _SHORTEST_RANK = 7, 12, 8  # bytes: "calc 1\n", "rank 0{}"

_WANTED = {
    layout.W_FIRST: 'the first item must be "num_ranks" and a number',
    layout.W_RANK: 'outside the braces of a rank only "rank" and its number are allowed',
    layout.W_ITEM: 'expected an operation, a dependency, a label or "}"',
    layout.W_INTEGER: "expected an integer",
    layout.W_BYTES: 'a "b" must follow the size',
    layout.W_TO: '"to" and a rank must follow the size of a send',
    layout.W_FROM: '"from" and a rank must follow the size of a receive',
    layout.W_PEER: "expected a rank, or -1 for any in a receive",
    layout.W_AFTER_PEER: 'after the peer only "tag", "cpu", "nic" or the line\'s end may follow',
    layout.W_TAG: "expected a tag, or -1 for any",
    layout.W_AFTER_TAG: 'after the tag only "cpu", "nic" or the line\'s end may follow',
    layout.W_AFTER_CPU: 'after the cpu only "nic" or the line\'s end may follow',
    layout.W_AFTER_CALC: 'after the time only "cpu" or the line\'s end may follow',
    layout.W_END_OF_LINE: "the line must end here",
    layout.W_AFTER_LABEL: 'after a label ":", "requires" or "irequires" must follow',
    layout.W_OPERATION: 'after a label and ":", "send", "recv" or "calc" must follow',
    layout.W_LABEL: "expected a label: a letter, then letters, digits or _",
    layout.W_DEFINED: "a dependency must name labels defined above it in the same rank",
    layout.W_BRACE: 'a "{" must follow the number of the rank, in the same line',
    layout.W_END_OF_COMMENT: 'a comment must end with "*/"',
    layout.W_SIZE_RANGE: f"sizes and times must be below {2**63 - 1}",
    layout.W_PEER_RANGE: f"ranks must be at most {MOST}",
    layout.W_TAG_RANGE: f"tags must be at most {2**32 - 1}",
    layout.W_CPU_RANGE: "a cpu must be 0 to 255",
    layout.W_NIC_RANGE: "a nic must be 0 to 255",
    layout.W_RANKS_RANGE: f"num_ranks must be 1 to {MOST}",
    layout.W_OPS_RANGE: f"a graph holds at most {MOST} operations",
    layout.W_DEPS_RANGE: f"a graph holds at most {MOST} dependencies",
    layout.W_AFTER_LAST: "nothing may follow the last rank; raise num_ranks if more are meant",
}


def parse_text(text: Bytes, source: str) -> ExecutionGraph:
    """Return the graph that a GOAL text describes."""
    arrays = _Arrays(text)
    while (status := arrays.parse()) not in (layout.DONE, layout.WRONG):
        arrays.grow(status)
    if status == layout.WRONG:
        raise _error(text, arrays.state, source)
    return arrays.graph(source)


class _Arrays:
    """The arrays that the parser fills; they grow as far as the rest of the text may need."""

    def __init__(self, text: Bytes) -> None:
        self.text = text
        self.state = np.zeros(layout.N_STATE, np.int64)
        self.state[layout.LINE] = 1
        self.state[layout.NUM_RANKS] = -1
        # So short that a small file shows how long the arrays of a large one must be.
        ops = 64 + len(text) // 512
        self.ops: dict[str, Any] = {
            "kind": np.empty(ops, np.uint8),
            "size": np.empty(ops, np.int64),
            "peer": np.empty(ops, np.int32),
            "tag": np.empty(ops, np.uint32),
            "cpu": np.empty(ops, np.uint8),
            "nic": np.empty(ops, np.uint8),
        }
        self.line: NDArray[np.int32] = np.empty(ops, np.int32)
        self.rank_start: NDArray[np.int64] = np.zeros(64, np.int64)
        self.after: NDArray[np.int32] = np.empty(ops, np.int32)
        self.before: NDArray[np.uint32] = np.empty(ops, np.uint32)
        self.slots: NDArray[np.int64] = np.zeros(256, np.int64)
        self.labels: NDArray[np.int64] = np.empty(64, np.int64)
        self.double = np.zeros(3, np.int64)
        # Labels cannot be chosen so that their hashes are equal.
        self.salt = secrets.randbits(31) | 1

    def parse(self) -> int:
        """Continue to parse, and return the kernel's status."""
        status: int = parse.parse(
            self.text,
            self.state,
            Operations(self.rank_start, **self.ops),
            self.line,
            self.after,
            self.before,
            self.slots,
            self.labels,
            self.double,
            self.salt,
        )
        return status

    def grow(self, status: int) -> None:
        """Enlarge the arrays that are full."""
        if status == layout.MORE_OPS:
            length = self._length(len(self.ops["kind"]), _SHORTEST_OP)
            self.ops = {name: _longer(array, length) for name, array in self.ops.items()}
            self.line = _longer(self.line, length)
        elif status == layout.MORE_DEPS:
            length = self._length(len(self.after), _SHORTEST_DEPENDENCY)
            self.after = _longer(self.after, length)
            self.before = _longer(self.before, length)
        elif status == layout.MORE_RANKS:
            length = self._length(len(self.rank_start), _SHORTEST_RANK)
            self.rank_start = _longer(self.rank_start, length)
        elif status == layout.MORE_LABELS:
            self.labels = _longer(self.labels, 2 * len(self.labels))
        else:
            self.slots = np.zeros(4 * len(self.slots), np.int64)
            parse.enter_again(self.text, self.state, self.slots, self.labels, self.salt)

    def graph(self, source: str) -> ExecutionGraph:
        """Return the graph, once the text has been read to its end."""
        ops, deps, ranks = (
            int(self.state[cell]) for cell in (layout.OPS, layout.DEPS, layout.RANKS)
        )
        columns = {name: self.ops.pop(name)[:ops].copy() for name in list(self.ops)}
        self.after, self.before = self.after[:deps], self.before[:deps]
        return ExecutionGraph(
            rank_start=self.rank_start[: ranks + 1].copy(),
            requires=self._dependents(False, ops),
            irequires=self._dependents(True, ops),
            source=source,
            line=self.line[:ops].copy(),
            notes=self._notes(),
            **columns,
        )

    def _dependents(self, starts: bool, num_ops: int) -> Dependents:
        start = np.zeros(num_ops + 1, np.int32)
        none = np.empty(0, np.int32)
        count = sorting.dependents(self.after, self.before, starts, start, none)
        if not count:
            return Dependents(start, none)
        ops = np.empty(count, np.int32)
        start[:] = 0
        sorting.dependents(self.after, self.before, starts, start, ops)
        return Dependents(start, ops)

    def _length(self, length: int, shortest: int) -> int:
        """Return a new length, extrapolated from the text read, at most what the rest can hold."""
        done = int(self.state[layout.AT])
        left = len(self.text) - done
        guess = int(1.1 * length * len(self.text) / max(done, 1))
        return min(max(guess, length + length // 2), length + left // shortest + 1) + 1

    def _notes(self) -> tuple[str, ...]:
        count = int(self.state[layout.DOUBLE])
        if not count:
            return ()
        lines = ", ".join(str(line) for line in self.double[:count].tolist())
        more = f" and {count - len(self.double)} more" if count > len(self.double) else ""
        return (
            f"a label is defined again in line {lines}{more}; dependencies refer to the first "
            "operation of that name",
        )


def _longer(array: NDArray[Number], length: int) -> NDArray[Number]:
    longer = np.empty(length, array.dtype)
    longer[: len(array)] = array
    return longer


def _error(text: Bytes, state: NDArray[np.int64], source: str) -> ParseError:
    """Return the error for the state in which the kernel stopped."""
    wanted, where, line = (int(state[c]) for c in (layout.WANTED, layout.WHERE, layout.LINE))
    rank, ranks = int(state[layout.RANKS]), int(state[layout.NUM_RANKS])
    found = _shown(text, where)
    if wanted == layout.W_ALL_RANKS:
        return ParseError(
            f"too few ranks: num_ranks says {ranks}, the text ends after {rank}",
            source=source,
            line=line,
        )
    if wanted == layout.W_NO_MORE_RANKS:
        message = f"too many ranks: num_ranks says {ranks}, and another begins here"
    elif wanted == layout.W_NEXT_RANK:
        message = f"ranks must be in ascending order; expected rank {rank}, got {found}"
    elif wanted == layout.W_CLOSING:
        message = f'rank {rank - 1} must end with "}}" first; got {found}'
    else:
        message = f"{_WANTED[wanted]}; got {found}"
    return ParseError(message, source=source, line=line)


def _shown(text: Bytes, where: int) -> str:
    """Return the word at a byte offset, for an error message."""
    rest = text[where : where + 24].tobytes().split(b"\n")[0]
    if where >= len(text):
        return "the end of the text"
    if not rest.strip():
        return "the end of the line"
    word = rest.split()[0].decode("ascii", "backslashreplace")
    printable = "".join(char if char.isprintable() else f"\\x{ord(char):02x}" for char in word)
    return f'"{printable}"'


def text_chunks(graph: ExecutionGraph) -> Iterator[Bytes]:
    """Yield a graph as canonical GOAL text, in pieces of some 16 MB that end with a rank.

    A label is ``l`` and the operation's number within the rank, from 1. A dependency stands below
    the waiting operation, or at the rank's end where that would change the order of dependents.
    """
    check_writable(graph)
    waiting = dependents_of(graph)
    arrays = (operations_of(graph), waiting, awaited(waiting))
    lengths = np.empty(graph.num_ranks, np.int64)
    writing.measure(*arrays, lengths)
    yield np.frombuffer(f"num_ranks {graph.num_ranks}\n".encode(), np.uint8)
    first = 0
    while first < graph.num_ranks:
        ends = np.cumsum(lengths[first:])
        many = max(1, int(np.searchsorted(ends, CHUNK_BYTES, side="right")))
        chunk = np.empty(int(ends[many - 1]), np.uint8)
        writing.write(*arrays, first, first + many, chunk)
        yield chunk
        first += many


def check_writable(graph: ExecutionGraph) -> None:
    """Refuse a graph that GOAL cannot express."""
    calc = graph.kind == CALC
    wrong = {
        "a kind is 1 (send), 2 (recv) or 3 (calc)": (graph.kind < SEND) | (graph.kind > CALC),
        "a size is not negative": graph.size < 0,
        "a send goes to a rank": (graph.kind == SEND) & (graph.peer < 0),
        "a receive comes from a rank, or from -1, any": (graph.kind == RECV) & (graph.peer < -1),
        "a computation has no peer, tag or nic; they are 0": calc
        & ((graph.peer != 0) | (graph.tag != 0) | (graph.nic != 0)),
    }
    for rule, broken in wrong.items():
        if broken.any():
            op = int(broken.argmax())
            raise ParameterError(f"{rule}; operation {op} breaks this", key="graph")
    for name in ("requires", "irequires"):
        dependents: Dependents = getattr(graph, name)
        check_dependents(dependents, graph.num_ops, name)
        after, before = dependents.pairs()
        across = graph.rank_of(after) != graph.rank_of(before)
        if across.any():
            edge = int(across.argmax())
            raise ParameterError(
                f"dependencies must stay within a rank; operation {int(after[edge])} waits for "
                f"{int(before[edge])} of another",
                key=name,
            )
