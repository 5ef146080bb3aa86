"""Read SimGrid's time-independent traces: what each rank does, its work in operations.

A line is ``rank action arguments``; one file holds one rank or several. The actions and the order
of their arguments are those of SimGrid's replay (SMPI documentation, "Replaying a time-independent
trace"; Desprez, Markomanolis, Quinson, Suter: Assessing the performance of MPI applications through
time-independent trace replay, ICPP Workshops 2011). Sizes are counts of a datatype whose number
may end the line; without it the datatype is MPI_BYTE, or MPI_DOUBLE where ``init`` has an argument.
All calls are made on the communicator of all ranks: the format has no other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from workbench.checks import above_zero
from workbench.errors import ParseError
from workbench.programs.graph import ANY_SOURCE, ANY_TAG
from workbench.programs.program import (
    COLLECTIVE,
    ICOLLECTIVE,
    IRECV,
    ISEND,
    RECV,
    SEND,
    Program,
)
from workbench.programs.traces.calls import MOST_SIZE, Comm, TraceCall, TraceCalls, fit_receives
from workbench.programs.traces.files import TraceFile
from workbench.programs.traces.joint import Share
from workbench.programs.traces.simgrid_collectives import COLLECTIVES, ReadShare, SimGridArguments
from workbench.programs.traces.simgrid_requests import (
    COLLECTIVE_KEYS,
    Key,
    Pending,
    key_of_collective,
    waited_for,
)

DATATYPE_BYTES = (
    *(8, 4, 1, 2, 8, 4, 1, 8, 1, 1),  # 0 MPI_DOUBLE, INT, CHAR, SHORT, LONG, FLOAT, BYTE, ...
    *(2, 4, 8, 8, 16, 4, 1, 1, 2, 4),  # 10 UNSIGNED_SHORT, UNSIGNED, ..., LONG_DOUBLE, WCHAR, ...
    *(8, 1, 2, 4, 8, 8, 16, 32, 8, 8),  # 20 INT64_T, UINT8_T, ..., C_FLOAT_COMPLEX, ..., OFFSET
    *(8, 16, 16, 8, 8, 8, 16, 16, 4, 4),  # 30 FLOAT_INT, LONG_INT, DOUBLE_INT, ..., REAL, REAL4
    *(8, 16, 8, 16, 16, 4, 2, 4, 8, 16),  # 40 REAL8, REAL16, COMPLEX8, ..., INTEGER16
    *(32, 1, 8, 16, 32, 0, 0, 1, 8, 8),  # 50 LONG_DOUBLE_INT, CXX_BOOL, ..., PACKED, PTR, COUNT
)
"""Bytes of SimGrid's datatypes by their number, on a 64-bit machine."""

BYTE, DOUBLE = 6, 0
ANY_SOURCES, ANY_TAGS, NOWHERE = (-1, -555), (-1, -444), (-666,)
MOST_RANKS = 2**20
MOST_COUNT = 2**63
FLOPS_PER_SECOND = 1e9

IGNORED = frozenset({"finalize", "comm_size", "comm_split", "comm_dup", "location"})


_SENDS = ("send", "ssend", "bsend", "isend", "issend", "ibsend", "sendrecv")
_CALLS = frozenset(
    ("init", "compute", "sleep", *_SENDS, "recv", "irecv", "wait", "waitall", "test")
)


def is_action(word: bytes) -> bool:
    """Return whether the second word of a line is an action of such traces."""
    name = word.decode("latin-1").lower()
    return name in _CALLS | IGNORED or name.removeprefix("i") in COLLECTIVES or name in COLLECTIVES


def read_simgrid(
    files: Sequence[TraceFile],
    source: str,
    on_progress: Callable[[str], None] | None = None,
    *,
    flops_per_second: float = FLOPS_PER_SECOND,
) -> Program:
    """Return the program of a time-independent trace; the ranks stand in the lines of its files."""
    above_zero(flops_per_second, "flops_per_second")
    lines: dict[int, list[tuple[int, list[str]]]] = {}
    file_of: dict[int, str] = {}
    for file in files:
        for number, text in enumerate(file.data.decode("latin-1").split("\n"), 1):
            words = text.split()
            if not words or words[0].startswith("#"):
                continue
            rank = _rank(file.name, number, words)
            if file_of.setdefault(rank, file.name) != file.name:
                raise ParseError(
                    f"rank {rank} must be in one file; it is in {file_of[rank]} too",
                    source=file.name,
                    line=number,
                )
            lines.setdefault(rank, []).append((number, words))
    missing = [rank for rank in range(len(lines)) if rank not in lines]
    if missing or not lines:
        raise ParseError(
            f"all ranks from 0 to {max(lines, default=0)} must be in the trace; rank "
            f"{missing[0] if missing else 0} is missing",
            source=source,
        )
    calls = TraceCalls(len(lines), source, [file_of[rank] for rank in range(len(lines))])
    world = Comm(0, tuple(range(len(lines))))
    for rank in range(len(lines)):
        _RankReader(calls, rank, world, flops_per_second).read(lines.pop(rank))
        calls.report(rank, on_progress)
    fit_receives(calls)
    calls.notes.say(
        f"work was recorded in floating-point operations: {flops_per_second:g} are taken to last "
        "a second"
    )
    return calls.build()


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
    """Reads the lines of one rank into calls."""

    def __init__(self, calls: TraceCalls, rank: int, world: Comm, flops_per_second: float) -> None:
        self.calls = calls
        self.rank = rank
        self.world = world
        self.ns_per_flop = 1e9 / flops_per_second
        self.default = BYTE
        self.kind = 0  # bytes of an element of the count read last
        self.line = 0
        self.words: list[str] = []
        self.name = ""
        self.pending = Pending()
        self.waited_keys: frozenset[Key] = frozenset()
        self.actions: dict[str, Callable[[], None]] = {
            "init": self._init,
            "compute": lambda: self._work(self._real(0) * self.ns_per_flop),
            "sleep": lambda: self._work(self._real(0) * 1e9),
            "send": lambda: self._message(SEND),
            "recv": lambda: self._message(RECV),
            "ssend": lambda: self._message(SEND),
            "bsend": lambda: self._message(SEND),
            "isend": lambda: self._message(ISEND),
            "issend": lambda: self._message(ISEND),
            "ibsend": lambda: self._message(ISEND),
            "irecv": lambda: self._message(IRECV),
            "sendrecv": self._sendrecv,
            "wait": self._wait,
            "waitall": self._waitall,
            "test": self._test,
        }

    def read(self, lines: list[tuple[int, list[str]]]) -> None:
        self.waited_keys = waited_for(lines)
        for self.line, words in lines:
            self.name, self.words = words[1].lower(), words[2:]
            name = self.name
            if name in IGNORED:
                if name in ("comm_split", "comm_dup"):
                    self._note(
                        f"{name}: the format does not record the ranks of a communicator: calls "
                        "on it are read as calls of all ranks"
                    )
            elif action := self.actions.get(name):
                action()
            elif name in COLLECTIVES:
                self._collective(COLLECTIVES[name])
            elif name.startswith("i") and name[1:] in COLLECTIVES:
                self._begin_collective(name[1:])
            else:
                self._note(f"{name} is not replayed: it takes no time and moves no data")
        for call, test in self.pending.left():
            if test is not None:
                self._note(
                    "a request that is tested but never waited for is taken to end in its last test"
                )
                test.end(call)
            else:
                self._note("a request is never waited for")

    def _fail(self, message: str) -> ParseError:
        return self.calls.fail(self.rank, self.line, message)

    def _note(self, text: str) -> None:
        self.calls.notes.count(text, self.rank, self.line)

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
        if self.words:
            self.default = DOUBLE

    def _work(self, ns: float) -> None:
        if not 0 <= ns < 2.0**62:
            raise self._fail(f"{self.name} must last 0 to {2.0**62:g} ns; got {ns:g}")
        self.calls.compute(self.rank, round(ns))

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
        call = self.calls.message(self.rank, kind, self.line, self.world, peer, size, tag)
        if kind in (ISEND, IRECV):
            ends = (self.rank, peer) if kind == ISEND else (peer, self.rank)
            self.pending.add((*ends, tag), call)

    def _sendrecv(self) -> None:
        source, dest = self._peer(3, any_=True), self._peer(1, any_=False)
        sent = self._bytes(self._whole(0), self._type(4))
        received = self._bytes(self._whole(2), self._type(5))
        begun: list[TraceCall] = []
        for kind, peer, size in ((IRECV, source, received), (ISEND, dest, sent)):
            if peer is not None:
                entry = self.calls.message(self.rank, kind, self.line, self.world, peer, size, 0)
                begun.append(entry)
        if begun:
            self.calls.wait(self.rank, self.line).end(*begun)

    def _named(self) -> int | None:
        """Return the request that a wait or test names, None where it is not pending."""
        if not self.words:  # as it was in old versions
            return self.pending.newest()
        if len(self.words) > 2 and self.words[2] in COLLECTIVE_KEYS:
            return self.pending.oldest(COLLECTIVE_KEYS[self.words[2]])
        source, dest, tag = (self._whole(place) for place in range(3))
        # a receive of any source or tag is named by what it matched, or by the wildcard
        for key in (
            (source, dest, tag),
            (ANY_SOURCE, dest, tag),
            (source, dest, ANY_TAG),
            (ANY_SOURCE, dest, ANY_TAG),
        ):
            if (request := self.pending.oldest(key)) is not None:
                return request
        return None

    def _wait(self) -> None:
        request = self._named()
        if request is not None:  # or else a test has ended it, as SimGrid's replay takes it
            self.calls.wait(self.rank, self.line).end(self.pending.end(request))

    def _waitall(self) -> None:
        ended = self.pending.end_all()
        if any(call.kind == ICOLLECTIVE for call in ended):
            self._note(
                "waitall does not record the requests it ends: it is taken to end all, including "
                "those of collectives"
            )
        if ended:
            self.calls.wait(self.rank, self.line).end(*ended)

    def _test(self) -> None:
        request = self._named()
        if request is not None:
            self.pending.test(request, self.calls.wait(self.rank, self.line))

    def _begin_collective(self, name: str) -> None:
        key = key_of_collective(name)
        if key not in self.waited_keys:
            self._note(f"i{name} is read as {name}: no wait of the trace names its request")
            self._collective(COLLECTIVES[name])
        else:
            call = self._collective(COLLECTIVES[name], ICOLLECTIVE)
            self.pending.add(key, call)

    def _collective(
        self, read: Callable[[SimGridArguments], ReadShare], kind: int = COLLECTIVE
    ) -> TraceCall:
        share, flops = read(self)
        call = self.calls.collective(self.rank, kind, self.world, share, self.line)
        if flops:
            self._work(flops * self.ns_per_flop)
        return call

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
