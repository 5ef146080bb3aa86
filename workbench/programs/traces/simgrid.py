"""Read SimGrid's time-independent traces: what each rank does, its work in operations.

A line is ``rank action arguments``; one file holds one rank or several. The actions and the order
of their arguments are those of SimGrid's replay (SMPI documentation, "Replaying a time-independent
trace"; Desprez, Markomanolis, Quinson, Suter: Assessing the performance of MPI applications through
time-independent trace replay, ICPP Workshops 2011). Sizes are counts of a datatype whose number
may end the line; without it the datatype is MPI_BYTE, or MPI_DOUBLE where ``init`` has an argument.
All calls are made on the communicator of all ranks: the format has no other.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kernels.traces import actions
from workbench.arrays import IntArray
from workbench.checks import above_zero
from workbench.errors import ParseError
from workbench.programs.collectives.schedule import MOST_RANKS
from workbench.programs.graph import ANY_SOURCE, ANY_TAG
from workbench.programs.program import COLLECTIVE, ICOLLECTIVE, IRECV, ISEND, RECV, SEND, Program
from workbench.programs.traces.calls import MOST_SIZE, Comm, TraceCalls, fit_receives
from workbench.programs.traces.files import TraceFile
from workbench.programs.traces.joint import Share
from workbench.programs.traces.lines import MOST_NS
from workbench.programs.traces.plain_lines import FEW_TEXTS, report_ranks, side_by_side
from workbench.programs.traces.simgrid_collectives import (
    COLLECTIVE_KEYS,
    COLLECTIVES,
    ReadShare,
    RoundKey,
    SimGridArguments,
    key_of_collective,
    waited_for,
)
from workbench.tasks import Task

DATATYPE_BYTES = (
    *(8, 4, 1, 2, 8, 4, 1, 8, 1, 1),  # 0 MPI_DOUBLE, INT, CHAR, SHORT, LONG, FLOAT, BYTE, ...
    *(2, 4, 8, 8, 16, 4, 1, 1, 2, 4),  # 10 UNSIGNED_SHORT, UNSIGNED, ..., LONG_DOUBLE, WCHAR, ...
    *(8, 1, 2, 4, 8, 8, 16, 32, 8, 8),  # 20 INT64_T, UINT8_T, ..., C_FLOAT_COMPLEX, ..., OFFSET
    *(8, 16, 16, 8, 8, 8, 16, 16, 4, 4),  # 30 FLOAT_INT, LONG_INT, DOUBLE_INT, ..., REAL, REAL4
    *(8, 16, 8, 16, 16, 4, 2, 4, 8, 16),  # 40 REAL8, REAL16, COMPLEX8, ..., INTEGER16
    *(32, 1, 8, 16, 32, 0, 0, 1, 8, 8),  # 50 LONG_DOUBLE_INT, CXX_BOOL, ..., PACKED, PTR, COUNT
)
"""Bytes of SimGrid's datatypes by their number, on a 64-bit machine."""

BYTE, DOUBLE = 6, 0  # SimGrid's numbers of MPI_BYTE and MPI_DOUBLE, see DATATYPE_BYTES
# The numbers of smpi.h, beside the usual -1.
ANY_SOURCES, ANY_TAGS, NOWHERE = (-1, -555), (-1, -444), (-666,)
MOST_COUNT = 2**63  # what an int64 cannot hold
FLOPS_PER_SECOND = 1e9  # a flop takes 1 ns, the unit of a program's computations

MESSAGES = {
    **dict.fromkeys(("send", "ssend", "bsend"), SEND),
    **dict.fromkeys(("isend", "issend", "ibsend"), ISEND),
    "recv": RECV,
    "irecv": IRECV,
}
WAITS = {
    "wait": (actions.WAIT_NEWEST, actions.WAIT_NAMED, actions.WAIT_OF_LINE),
    "test": (actions.TEST_NEWEST, actions.TEST_NAMED, actions.TEST_OF_LINE),
}
"""Actions that name no request, that name one, and that name it in numbers."""

IGNORED = frozenset({"finalize", "comm_size", "comm_split", "comm_dup", "location"})

_ENDS_ALL = (
    "waitall does not record the requests it ends: it is taken to end all, including those of "
    "collectives"
)
_TESTED = "a request that is tested but never waited for is taken to end in its last test"
_NEVER = "a request is never waited for"

_ALONE, _AFTER_INIT = 2**40, 2**50  # numbers of actions above those of their texts
_NO_KEY = 2**40  # more than any number of a request that is pending
_SIZES = np.array(DATATYPE_BYTES, np.int64)
_PADDING = (0,) * actions.N_OP

_OTHERS = frozenset(("init", "compute", "sleep", "sendrecv", "waitall"))


def is_action(word: bytes) -> bool:
    """Return whether the second word of a line is an action of such traces."""
    name = word.decode("latin-1").lower()
    if name in MESSAGES or name in WAITS or name in _OTHERS | IGNORED:
        return True
    return name.removeprefix("i") in COLLECTIVES or name in COLLECTIVES


MeantLines = tuple[NDArray[np.int32], NDArray[np.intp], IntArray, NDArray[np.int32]]
"""Numbers, meanings, work and values of lines; see ``kernels.traces.actions.act``."""


@dataclass(frozen=True)
class ActionLines:
    """The lines of a file that have words; see ``kernels.traces.actions.cut``."""

    file: TraceFile
    number: NDArray[np.int32]
    begin: NDArray[np.int32]
    end: NDArray[np.int32]
    rank: NDArray[np.int32]
    action: NDArray[np.int32]
    plain: NDArray[np.int32]
    amount: NDArray[np.float64]
    values: NDArray[np.int32]

    def words(self, at: int) -> list[str]:
        """Return the words of a line."""
        return self.file.data[self.begin[at] : self.end[at]].decode("latin-1").split()


def read_simgrid(
    files: Sequence[TraceFile],
    source: str,
    task: Task,
    *,
    flops_per_second: float = FLOPS_PER_SECOND,
) -> Program:
    """Return the program of a time-independent trace; the ranks stand in the lines of its files."""
    above_zero(flops_per_second, "flops_per_second")
    of_rank = _lines_of_ranks(side_by_side(_cut, files, task))
    missing = [rank for rank in range(len(of_rank)) if rank not in of_rank]
    if missing or not of_rank:
        raise ParseError(
            f"all ranks from 0 to {max(of_rank, default=0)} must be in the trace; rank "
            f"{missing[0] if missing else 0} is missing",
            source=source,
        )
    ranks = range(len(of_rank))
    calls = TraceCalls(len(ranks), source, [of_rank[rank][0].file.name for rank in ranks])
    world = Comm(0, tuple(ranks))
    calls.comm_index(world)
    for rank in ranks:
        _RankReader(calls, rank, world, flops_per_second).read(*of_rank.pop(rank))
        report_ranks(task, rank + 1, len(ranks), "read")
    fit_receives(calls)
    calls.notes.say(
        f"work was recorded in floating-point operations: {flops_per_second:g} are taken to last "
        "a second"
    )
    return calls.build()


def _cut(file: TraceFile) -> ActionLines:
    data = np.frombuffer(file.data, np.uint8)
    most = file.data.count(b"\n") + 1
    number, begin, end, rank, action, plain = np.empty((6, most), np.int32)
    amount, values = np.empty(most), np.empty((most, actions.N_VALUES), np.int32)
    lines = number, begin, end, rank, action, plain, amount, values
    salt = secrets.randbits(31) | 1  # texts cannot be chosen so that their hashes are equal
    room = FEW_TEXTS
    while True:
        slots, texts = np.zeros(2 * room, np.int64), np.zeros((room, 3), np.int64)
        words, state = np.empty((actions.N_VALUES + 2, 2), np.int64), np.zeros(2, np.int64)
        if not actions.cut(data, _SIZES, salt, slots, texts, lines, words, state):
            n = int(state[actions.LINES])
            ints = number[:n], begin[:n], end[:n], rank[:n], action[:n], plain[:n]
            return ActionLines(file, *ints, amount[:n], values[:n])
        room *= 16


def _lines_of_ranks(
    files: Sequence[ActionLines],
) -> dict[int, tuple[ActionLines, NDArray[np.intp]]]:
    """Return for each rank the lines of its file, and the places of its own among them."""
    of_rank: dict[int, tuple[ActionLines, NDArray[np.intp]]] = {}
    for lines in files:
        name, order = lines.file.name, np.argsort(lines.rank, kind="stable")
        ranks, first = np.unique(lines.rank[order], return_index=True)
        parts = np.split(order, first[1:]) if len(order) else []  # of nothing, one is made
        places = dict(zip(ranks.tolist(), parts, strict=True))
        doubtful = [
            int(mine[0])
            for rank, mine in places.items()
            if not 0 <= rank < MOST_RANKS or rank in of_rank
        ]
        if doubtful:
            number = int(lines.number[min(doubtful)])
            rank = _rank(name, number, lines.words(min(doubtful)))
            raise ParseError(
                f"rank {rank} must be in one file; it is in {of_rank[rank][0].file.name} too",
                source=name,
                line=number,
            )
        of_rank.update({rank: (lines, mine) for rank, mine in places.items()})
    return of_rank


def _rank(name: str, number: int, words: list[str]) -> int:
    text = words[0].removeprefix("p")
    if len(words) < 2 or not (text.isascii() and text.isdecimal() and len(text) < 10):
        raise ParseError(
            f"a line must be: rank action arguments; got {' '.join(words)[:60]!r}",
            source=name,
            line=number,
        )
    if int(text) >= MOST_RANKS:
        raise ParseError(f"a rank must be below {MOST_RANKS}; got {text}", source=name, line=number)
    return int(text)


class _RankReader:
    """Finds what the different actions of a rank mean, and lets a kernel make calls of them."""

    def __init__(self, calls: TraceCalls, rank: int, world: Comm, flops_per_second: float) -> None:
        self.calls = calls
        self.rank = rank
        self.world = world
        self.ns_per_flop = 1e9 / flops_per_second
        self.default = BYTE
        self.kind = 0  # bytes of an element of the count read last
        self.line = 0
        self.times = 0  # lines like this one
        self.words: list[str] = []
        self.name = ""
        self.waited_keys: frozenset[RoundKey] = frozenset()
        self.ops: list[tuple[int, ...]] = []  # of ``kernels.traces.actions``
        self.notes: list[tuple[int, str, int]] = []  # first line, text, number of lines
        self.actions: dict[str, Callable[[], None]] = {
            "init": self._init,
            "compute": lambda: self._work(self._real(0) * self.ns_per_flop),
            "sleep": lambda: self._work(self._real(0) * 1e9),
            "sendrecv": self._sendrecv,
            "waitall": lambda: self._add(actions.WAIT_ALL),
        }

    def read(self, lines: ActionLines, places: NDArray[np.intp]) -> None:
        """Read the lines at some places of a file."""
        self._act(*self._meanings(lines, places))

    def _meanings(
        self, lines: ActionLines, places: NDArray[np.intp]
    ) -> tuple[MeantLines, IntArray]:
        """Return the lines as the kernel takes them, and the first operation of each meaning."""
        number, values, amount = lines.number[places], lines.values[places], lines.amount[places]
        plain = lines.plain[places]
        of_time = plain == actions.AMOUNT
        with np.errstate(over="ignore", invalid="ignore"):
            ns = np.where(of_time, amount, 0.0) * self.ns_per_flop
        sound = (plain < actions.MESSAGE) | (values[:, 0] < len(self.world.members))
        sound &= ~of_time | ((ns < MOST_NS) & (amount < MOST_COUNT))
        work = np.zeros(len(ns), np.int64)
        work[of_time & sound] = np.rint(ns[of_time & sound])
        plain[~sound] = actions.TEXT
        # A plain line that is wrong is like no other.
        action = np.where(sound, lines.action[places], _ALONE + places)
        first, meaning = _distinct(action)
        words = [lines.words(at) for at in places[first].tolist()]
        inits = [at for at, w in zip(first, words, strict=True) if w[1].lower() == "init" and w[2:]]
        start = inits[0] if inits else len(number)
        if 0 < start < len(number):  # what is like a line before it may have another datatype
            action[start + 1 :] += _AFTER_INIT
            first, meaning = _distinct(action)
            words = [lines.words(at) for at in places[first].tolist()]
        self.waited_keys = waited_for(words)
        times, begin = np.bincount(meaning).tolist(), [0]
        for at, count, one in zip(first.tolist(), times, words, strict=True):
            if at > start:
                self.default = DOUBLE
            self.line, self.times = int(number[at]), count
            self._mean(one, int(plain[at]))
            begin.append(len(self.ops))
        return (number, meaning, work, values), np.array(begin, np.int64)

    def _act(self, lines: MeantLines, begin: IntArray) -> None:
        """Let the kernel make the calls."""
        ops = np.array(self.ops, np.int64).reshape(-1, actions.N_OP)
        made = ops[:, 0] > actions.WORK_OF_LINE
        with_request = made & np.isin(ops[:, 1], (ISEND, IRECV, ICOLLECTIVE))
        num_calls, most = (
            int(np.diff(np.concatenate([[0], np.cumsum(of)])[begin])[lines[1]].sum())
            for of in (made, with_request)
        )
        mine, acted = self.calls.of_rank[self.rank], np.zeros(actions.N_ACTED, np.int64)
        mine.reserve(num_calls)
        keys = np.zeros((most, actions.N_KEY), np.int64)
        table = secrets.randbits(31) | 1, np.zeros(1 << (2 * most).bit_length(), np.int32), keys
        requests = np.empty((most, actions.N_REQUEST), np.int64)
        room = mine.rows, mine.state, acted
        actions.act(self.rank, lines, _SIZES, begin, ops, table, requests, *room)
        if acted[actions.TOO_LONG]:
            self.calls.too_long[self.rank] = int(acted[actions.TOO_LONG])
        if count := int(acted[actions.ALL_COLLECTIVE]):
            self.notes.append((int(acted[actions.ALL_LINE]), _ENDS_ALL, count))
        self.notes.sort(key=lambda note: note[0])
        left = [(_TESTED, actions.LEFT_TESTED), (_NEVER, actions.LEFT_UNTESTED)]
        for text, at in left if acted[actions.FIRST_TESTED] else left[::-1]:
            self.notes.append((int(lines[0][-1]), text, int(acted[at])))
        for line, text, count in self.notes:
            self.calls.notes.count(text, self.rank, line, count)

    def _mean(self, words: list[str], plain: int) -> None:
        """Add the operations that a line means; of what is plain in it, those of lines like it."""
        self.name, self.words, self.kind = words[1].lower(), words[2:], 0
        name = self.name
        if name in IGNORED:
            if name in ("comm_split", "comm_dup"):
                self._note(
                    f"{name}: the format does not record the ranks of a communicator: calls "
                    "on it are read as calls of all ranks"
                )
        elif name in WAITS:
            newest, named, of_line = WAITS[name]
            if plain == actions.NAMED:
                self._add(of_line)
            else:
                self._named(newest, named)
        elif name in MESSAGES:
            if plain in (actions.MESSAGE, actions.TYPED):
                element = -1 if plain == actions.TYPED else DATATYPE_BYTES[self.default]
                self._add(actions.MESSAGE_OF_LINE, MESSAGES[name], element)
            else:
                self._message(MESSAGES[name])
        elif name == "compute" and plain == actions.AMOUNT:
            self._add(actions.WORK_OF_LINE)
        elif action := self.actions.get(name):
            action()
        elif name in COLLECTIVES:
            self._collective(COLLECTIVES[name])
        elif name.startswith("i") and name[1:] in COLLECTIVES:
            self._begin_collective(name[1:])
        else:
            self._note(f"{name} is not replayed: it takes no time and moves no data")

    def _add(self, *numbers: int) -> None:
        """Add an operation."""
        self.ops.append(numbers + _PADDING[len(numbers) :])

    def _fail(self, message: str) -> ParseError:
        return self.calls.fail(self.rank, self.line, message)

    def _note(self, text: str) -> None:
        self.notes.append((self.line, text, self.times))

    def _real(self, place: int) -> float:
        try:
            value = float(self.words[place])
        except (IndexError, ValueError):
            got = self.words[place] if place < len(self.words) else "nothing"
            raise self._fail(
                f"argument {place + 1} of {self.name} must be a number; got {got[:40]!r}"
            ) from None
        if not abs(value) < MOST_COUNT:
            raise self._fail(f"argument {place + 1} of {self.name} must be finite; got {value:g}")
        return value

    def _whole(self, place: int) -> int:
        return int(self._real(place))

    def _type(self, place: int) -> int:
        if place >= len(self.words):
            return DATATYPE_BYTES[self.default]
        text = self.words[place]
        if text == "-1":  # MPI_DATATYPE_NULL, where the other side's datatype counts
            return 0
        if text.isascii() and text.isdecimal() and len(text) < 4:
            if int(text) < len(DATATYPE_BYTES):
                return DATATYPE_BYTES[int(text)]
            self._note(f"datatype {text} is the program's own: it is taken to have 1 byte")
            return 1
        raise self._fail(f"a datatype must be 0 to {len(DATATYPE_BYTES) - 1}; got {text[:40]!r}")

    def _bytes(self, count: int, kind: int) -> int:
        if not 0 <= count * kind <= MOST_SIZE:
            raise self._fail(
                f"{self.name} must move 0 to {MOST_SIZE} bytes; got {count} elements of {kind} B"
            )
        return count * kind

    def _init(self) -> None:
        """Do nothing: ``read`` has looked for it."""

    def _work(self, ns: float) -> None:
        if not 0 <= ns < MOST_NS:
            raise self._fail(f"{self.name} must last 0 to {MOST_NS:g} ns; got {ns:g}")
        self._add(actions.WORK, round(ns))

    def _peer(self, place: int, *, any_: bool) -> int | None:
        peer = self._whole(place)
        if any_ and peer in ANY_SOURCES:
            return ANY_SOURCE
        if peer in NOWHERE:
            return None
        if not 0 <= peer < len(self.world.members):
            raise self._fail(
                f"the peer of {self.name} must be 0 to {len(self.world.members) - 1}; got {peer}"
            )
        return peer

    def _tag(self, place: int, *, any_: bool) -> int:
        tag = self._whole(place)
        if any_ and tag in ANY_TAGS:
            return ANY_TAG
        if not 0 <= tag < 2**31:
            raise self._fail(f"the tag of {self.name} must be 0 to {2**31 - 1}; got {tag}")
        return tag

    def _message(self, kind: int) -> None:
        receives = kind in (RECV, IRECV)
        peer = self._peer(0, any_=receives)
        if len(self.words) == 2:  # as it was before SimGrid 3.20
            tag, size = 0, self._bytes(max(0, self._whole(1)), self._type(2))
            self._note("messages have no tags, as in old versions of the format: 0 is taken")
        else:
            tag = self._tag(1, any_=receives)
            count = self._whole(2)
            if receives and count < 0:  # unknown to the receiver
                count = 0
            size = self._bytes(count, self._type(3))
        if peer is not None:
            self._begin(kind, peer, size, tag)

    def _begin(self, kind: int, peer: int, size: int, tag: int) -> None:
        self._add(actions.CALL, kind, size, peer, tag, -1)

    def _sendrecv(self) -> None:
        source, dest = self._peer(3, any_=True), self._peer(1, any_=False)
        sent = self._bytes(self._whole(0), self._type(4))
        received = self._bytes(self._whole(2), self._type(5))
        begun = 0
        for kind, peer, size in ((IRECV, source, received), (ISEND, dest, sent)):
            if peer is not None:
                self._add(actions.CALL, kind, size, peer, 0, -1, actions.NO_REQUEST)
                begun += 1
        if begun:
            self._add(actions.WAIT_LAST, begun)

    def _named(self, newest: int, named: int) -> None:
        """Add a wait for or a test of the request that a line names, if it is pending then.

        A wait without a pending request follows a test that has ended it, as SimGrid's replay
        takes it.
        """
        if not self.words:  # as it was in old versions
            self._add(newest)
        elif len(self.words) > 2 and self.words[2] in COLLECTIVE_KEYS:
            self._add(named, *COLLECTIVE_KEYS[self.words[2]])
        else:
            key = (self._whole(place) for place in range(3))
            self._add(named, *(max(-_NO_KEY, min(number, _NO_KEY)) for number in key))

    def _begin_collective(self, name: str) -> None:
        key = key_of_collective(name)
        if key not in self.waited_keys:
            self._note(f"i{name} is read as {name}: no wait of the trace names its request")
            self._collective(COLLECTIVES[name])
        else:
            self._collective(COLLECTIVES[name], key[2])

    def _collective(self, read: Callable[[SimGridArguments], ReadShare], tag: int = 0) -> None:
        share, flops = read(self)
        kind = ICOLLECTIVE if tag else COLLECTIVE
        self._add(actions.CALL, kind, 0, 0, 0, self.calls.share_index(share), tag)
        if flops:
            self._work(flops * self.ns_per_flop)

    @property
    def num_ranks(self) -> int:
        return len(self.world.members)

    @property
    def num_arguments(self) -> int:
        return len(self.words)

    def one(self, place: int, kind_at: int) -> int:
        self.kind = self._type(kind_at)
        return self._bytes(self._whole(place), self.kind)

    def many(self, first: int, kind_at: int) -> tuple[int, ...]:
        size, kind = self.num_ranks, self._type(kind_at)
        if first + size > len(self.words):
            raise self._fail(
                f"{self.name} of {size} ranks must have at least {first + size} arguments; got "
                f"{len(self.words)}"
            )
        return tuple(self._bytes(self._whole(place), kind) for place in range(first, first + size))

    def real(self, place: int) -> float:
        return self._real(place)

    def share(
        self,
        operation: str,
        root_at: int | None = None,
        *,
        send: int | None = None,
        recv: int | None = None,
        sends: tuple[int, ...] | None = None,
        recvs: tuple[int, ...] | None = None,
        variable: bool = False,
    ) -> Share:
        root = 0
        if root_at is not None and root_at < len(self.words):
            root = self._whole(root_at)
            if not 0 <= root < self.num_ranks:
                raise self._fail(
                    f"the root of {self.name} must be 0 to {self.num_ranks - 1}; got {root}"
                )
        return Share(
            self.name,
            operation,
            root,
            send,
            recv,
            sends,
            recvs,
            variable,
            element=self.kind or None,
        )


def _distinct(action: IntArray) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return where each different number is first, in that order, and each one's place there."""
    _, first, place = np.unique(action, return_index=True, return_inverse=True)
    order = np.argsort(first)
    among = np.empty(len(order), np.intp)
    among[order] = np.arange(len(order))
    return first[order], among[place]
