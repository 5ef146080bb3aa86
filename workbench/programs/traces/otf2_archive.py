"""Read OTF2 archives, which Score-P writes and Scalasca and Vampir read, with Score-P's `otf2`.

An archive is an anchor file, `traces.otf2`, with `traces.def` and a folder `traces` beside it. What
is read are the MPI events of each process's main thread, and the time between MPI calls, which is
its work. The byte counts of collectives are those that Score-P writes (its
`scorep_mpi_coll_bytes.inc.c`): all that a rank sends to and receives from all ranks, itself too.
"""

from __future__ import annotations

import tempfile
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import Any

from workbench.errors import ParameterError, ParseError
from workbench.programs.builder import ProgramBuilder
from workbench.programs.program import WORLD, Collective, Program
from workbench.programs.recorded_run import RecordedRun
from workbench.programs.traces.files import MOST_BYTES, TraceSource

ANCHOR = ".otf2"

_OPERATIONS = {
    **{name: name.lower() for name in ("BARRIER", "BCAST", "GATHER", "SCATTER", "ALLGATHER")},
    **{name: name.lower() for name in ("ALLTOALL", "ALLREDUCE", "REDUCE", "SCAN", "EXSCAN")},
    **{f"{name}V": name.lower() for name in ("GATHER", "SCATTER", "ALLGATHER", "ALLTOALL")},
    "ALLTOALLW": "alltoall",
    "REDUCE_SCATTER": "reduce_scatter",
    "REDUCE_SCATTER_BLOCK": "reduce_scatter",
    # All ranks wait for each other; what they agree on is small.
    "CREATE_HANDLE": "barrier",
    "DESTROY_HANDLE": "barrier",
}
_SUFFIXES = (ANCHOR, ".def", ".evt", ".marker", ".snap")
_WORD_BYTES = 4  # most elements are of 4 bytes or a multiple


@contextmanager
def anchor_of(source: TraceSource) -> Iterator[Path | None]:
    """Give the anchor file of an archive: a path, a folder, a zip, contents by name; else None."""
    if isinstance(source, Mapping):
        contents = {str(name): data for name, data in source.items()}
        if not any(name.endswith(ANCHOR) for name in contents):
            yield None
            return
        with _unpacked(contents) as anchor:
            yield anchor
        return
    path = Path(source) if isinstance(source, str | Path) else None
    if path is None or not path.exists():
        yield None
    elif path.is_dir():
        found = sorted(path.glob(f"*{ANCHOR}"))
        if len(found) > 1:
            anchors = ", ".join(each.name for each in found)
            raise ParseError(
                f"must hold one anchor file; got {anchors}: name one", source=path.name
            )
        if found and not (path / found[0].stem).is_dir():  # files of an upload, without folders
            with _unpacked({each.name: each.read_bytes() for each in path.iterdir()}) as anchor:
                yield anchor
        else:
            yield found[0] if found else None
    elif path.suffix == ANCHOR:
        yield path
    elif zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as packed:
            names = [each for each in packed.namelist() if not each.endswith("/")]
            if not any(each.endswith(ANCHOR) for each in names):
                yield None
                return
            if sum(packed.getinfo(each).file_size for each in names) > MOST_BYTES:
                raise ParseError(
                    f"an archive must not be larger than {MOST_BYTES >> 20} MiB", source=path.name
                )
            with _unpacked({each: packed.read(each) for each in names}) as anchor:
                yield anchor
    else:
        yield None


@contextmanager
def _unpacked(contents: Mapping[str, bytes | str]) -> Iterator[Path]:
    """Give the anchor of an archive's files in a folder, where its events lie in one of its own."""
    anchor = next(name for name in contents if name.endswith(ANCHOR))
    stem = PurePosixPath(anchor).stem
    with tempfile.TemporaryDirectory() as folder:
        inner = Path(folder) / stem
        inner.mkdir()
        for name, data in contents.items():
            file = PurePosixPath(name).name
            if PurePosixPath(file).suffix not in _SUFFIXES:
                continue
            beside = file in (f"{stem}{ANCHOR}", f"{stem}.def")
            target = Path(folder) / file if beside else inner / file
            target.write_bytes(data.encode() if isinstance(data, str) else data)
        yield Path(folder) / f"{stem}{ANCHOR}"


def read_otf2(anchor: Path, name: str) -> Program:
    """Return the program of an archive; ``name`` is what it is called."""
    try:
        import otf2
    except ImportError:
        raise ParameterError(
            "an OTF2 archive is read with Score-P's package otf2, which is not installed: "
            "pip install otf2",
            key="format",
        ) from None
    try:
        with otf2.reader.open(str(anchor)) as archive:
            return _Archive(otf2, archive, name).program()
    except (ParameterError, ParseError):
        raise
    except Exception as error:  # otf2 has errors of its own, of its library, and KeyError
        raise ParseError(
            "it must be the anchor file of an OTF2 archive, Score-P's traces.otf2; the package "
            f"otf2 cannot read it: {error}",
            source=name,
        ) from error


@dataclass
class _Call:
    """A call of a rank, as its events tell it; a receive is known at its end."""

    kind: str  # send, recv, isend, irecv, wait, collective, icollective
    compute_ns: int
    values: tuple[Any, ...] = ()  # of a message: peer, size, tag, comm
    requests: list[int] = field(default_factory=list)


class _Archive:
    """The events of all ranks, first as calls of each rank, then as a program."""

    def __init__(self, otf2: Any, archive: Any, name: str) -> None:
        self._otf2, self._archive, self._name = otf2, archive, name
        kinds = otf2.GroupType
        places = [
            group
            for group in archive.definitions.groups
            if group.group_type == kinds.COMM_LOCATIONS and group.paradigm == otf2.Paradigm.MPI
        ]
        if not places:
            raise ParseError("must have MPI ranks; got none", source=name)
        self._locations = list(places[0].members)
        self._rank = {location: rank for rank, location in enumerate(self._locations)}
        self._builder = ProgramBuilder(len(self._locations), source=name)
        self._comms: dict[Any, int] = {}
        self._members: list[list[int]] = [list(range(len(self._locations)))]
        self._left_out: Counter[str] = Counter()
        self._collectives: dict[tuple[int, int], dict[int, tuple[str, int, int, int]]] = {}
        self._unsure = 0
        self._ticks_per_s = archive.timer_resolution

    def program(self) -> Program:
        """Return the program."""
        ranks = [_Rank(self, rank) for rank in range(len(self._locations))]
        for location, event in self._archive.events(self._locations):
            ranks[self._rank[location]].take(event)
        calls = [rank.finished() for rank in ranks]
        numbers = {
            key: self._builder.new_collective(self._collective(key, of_rank))
            for key, of_rank in self._collectives.items()
        }
        for rank, of_rank in enumerate(calls):
            self._add(rank, of_rank, ranks[rank].last_ns, numbers)
        for what, count in sorted(self._left_out.items()):
            self._builder.note(f"{count} events {what} are left out.")
        if self._unsure:
            self._builder.note(
                f"{self._unsure} byte counts of collectives are as large with MPI_IN_PLACE, which "
                "is not recorded: they are taken to be without."
            )
        worked = [
            sum(call.compute_ns for call in c) + r.last_ns
            for c, r in zip(calls, ranks, strict=True)
        ]
        took = [max(rank.took_ns, work) for rank, work in zip(ranks, worked, strict=True)]
        return replace(
            self._builder.build(),
            recorded=RecordedRun(
                time_ns=tuple(took),
                compute_ns=tuple(worked),
                mpi_ns=tuple(time - work for time, work in zip(took, worked, strict=True)),
                left_out_ns=(0,) * len(ranks),
            ),
        )

    def ns(self, ticks: int) -> int:
        """Return a time in ns."""
        return int(ticks) * 10**9 // int(self._ticks_per_s)

    def comm(self, comm: Any, rank: int) -> tuple[int, list[int]]:
        """Return a communicator's number and its ranks; one of a rank alone has no number, -1."""
        if isinstance(comm, self._otf2.definitions.InterComm):
            raise ParseError("must have no calls between two groups of ranks", source=self._name)
        if comm.group.group_type == self._otf2.GroupType.COMM_SELF:
            return -1, [rank]
        if comm not in self._comms:
            members = [self._rank[location] for location in comm.group.members]
            if members == self._members[WORLD] and WORLD not in self._comms.values():
                self._comms[comm] = WORLD
            else:
                self._comms[comm] = self._builder.communicator(members)
                self._members.append(members)
        number = self._comms[comm]
        return number, self._members[number]

    def joined(self, number: int, order: int, rank: int, event: Any) -> None:
        """Keep what a rank tells of the ``order``-th collective of a communicator."""
        members = self._members[number]
        root = int(getattr(event.root, "value", event.root))
        root = root if root < len(members) else 0  # none has the largest number
        told = (_operation(event), root, int(event.size_sent), int(event.size_received))
        self._collectives.setdefault((number, order), {})[members.index(rank)] = told

    def left_out(self, what: str) -> None:
        """Count an event that a program has no call for."""
        self._left_out[what] += 1

    def _collective(
        self, key: tuple[int, int], told: dict[int, tuple[str, int, int, int]]
    ) -> Collective:
        """Return a collective, its bytes from what all ranks tell."""
        number, order = key
        count = len(self._members[number])
        names = {name for name, *_ in told.values()}
        if len(names) > 1 or len(told) < count:
            raise ParseError(
                f"collective {order} of communicator {number} must be the same call of all {count} "
                f"ranks; got {', '.join(sorted(names))} of {len(told)}",
                source=self._name,
            )
        (name,) = names
        root = told[0][1]
        sent = [told[place][2] for place in range(count)]
        received = [told[place][3] for place in range(count)]
        operation = _OPERATIONS[name]
        size, sizes = 0, tuple[int, ...]()
        if operation == "alltoall" and name != "ALLTOALL":
            # Bytes of pairs are not recorded: those of a sender are shared by all.
            shares = [self._of_all(bytes_, count) for bytes_ in sent]
            sizes = tuple(share for share in shares for _ in range(count))
        elif name in ("GATHERV", "ALLGATHERV", "SCATTERV", "REDUCE_SCATTER"):
            given = sent if name in ("GATHERV", "ALLGATHERV") else received
            shared = name in ("ALLGATHERV", "REDUCE_SCATTER")
            sizes = tuple(self._of_all(one, count) if shared else one for one in given)
        elif operation in ("gather", "reduce"):
            size = max(sent)
        elif operation in ("scatter", "bcast"):
            size = max(received)
        elif operation in ("scan", "exscan"):
            size = received[-1] // max(count - (operation == "exscan"), 1)
        elif operation != "barrier":
            size = self._of_all(sent[0], count)
        if len(set(sizes)) == 1:
            size, sizes = sizes[0], ()
        return Collective(operation, number, size, root, sizes)

    def _of_all(self, bytes_: int, ranks: int) -> int:
        """Return one rank's share of bytes for all ranks, and count those that are not sure."""
        shares = _shares(bytes_, ranks)
        self._unsure += bytes_ > 0 and len(shares) > 1
        return shares[0]

    def _add(
        self,
        rank: int,
        calls: list[_Call],
        last_ns: int,
        numbers: dict[tuple[int, int], int],
    ) -> None:
        builder, requests = self._builder, {}
        begin: dict[str, Callable[..., int]] = {"isend": builder.isend, "irecv": builder.irecv}
        for call in calls:
            builder.compute(rank, call.compute_ns)
            if call.kind in begin:
                peer, size, tag, comm = call.values
                requests[call.requests[0]] = begin[call.kind](rank, peer, size, tag, comm=comm)
            elif call.kind in ("send", "recv"):
                peer, size, tag, comm = call.values
                add = builder.send if call.kind == "send" else builder.recv
                add(rank, peer, size, tag, comm=comm)
            elif call.kind == "wait":
                ended = [requests.pop(one) for one in call.requests if one in requests]
                if ended:
                    builder.wait(rank, ended)
            elif call.kind == "collective":
                builder.join_collective(rank, numbers[call.values])
            else:
                number = builder.begin_collective(rank, numbers[call.values])
                requests[call.requests[0]] = number
        builder.compute(rank, last_ns)


class _Rank:
    """The calls of one rank, from the events of its main thread in their order."""

    def __init__(self, archive: _Archive, rank: int) -> None:
        self._archive, self._rank = archive, rank
        self._calls: list[_Call] = []
        self._pending: dict[int, _Call] = {}  # begun receives and collectives, by request
        self._orders: Counter[int] = Counter()  # collectives so far, by communicator
        self._depth, self._region = 0, ""
        self._since: int | None = None  # ns, when the last MPI call ended
        self._first: int | None = None  # ns, the end of MPI_Init, or the first event
        self._last = 0  # ns, the begin of MPI_Finalize, or the last event
        self._over = False
        self._compute = 0
        self._ended: list[int] = []  # requests that the present call ended
        self._exchanged: list[int] = []  # of the present MPI_Sendrecv
        self._requests = 0
        self.last_ns = 0  # work behind the last call
        self.took_ns = 0

    def take(self, event: Any) -> None:
        """Take the next event."""
        otf2 = self._archive._otf2
        name = type(event).__name__
        now = self._archive.ns(event.time)
        if self._over:
            return
        self._last = now
        if self._first is None:
            self._first = self._since = now
        if name in ("Enter", "Leave"):
            if event.region.paradigm == otf2.Paradigm.MPI:
                (self._enter if name == "Enter" else self._leave)(event.region.name, now)
            return
        handler = getattr(self, f"_{name}", None)
        if handler is not None:
            handler(event)
        elif name.startswith(("Rma", "Mpi")) and name not in _SILENT:
            self._archive.left_out(name)

    def finished(self) -> list[_Call]:
        """Return the calls, without receives that never came to an end."""
        for call in self._pending.values():
            self._archive.left_out(f"of a {call.kind} that never ended")
        lost = {id(call) for call in self._pending.values()}
        if self._since is not None and not self._depth:
            self._compute += self._last - self._since
        self.last_ns = self._compute
        self.took_ns = self._last - (self._first or 0)
        return [call for call in self._calls if id(call) not in lost]

    def _enter(self, region: str, now: int) -> None:
        if not self._depth:
            if self._since is not None:
                self._compute += now - self._since
            self._since = None
            self._over = region == "MPI_Finalize"
            self._region, self._ended, self._exchanged = region, [], []
        self._depth += 1

    def _leave(self, region: str, now: int) -> None:
        self._depth -= 1
        if self._depth:
            return
        if self._ended or self._exchanged:
            self._call("wait", requests=[*self._ended, *self._exchanged])
        if region in ("MPI_Init", "MPI_Init_thread"):
            self._compute, self._first = 0, now  # the program begins
        self._since = now

    def _call(
        self, kind: str, values: tuple[Any, ...] = (), requests: list[int] | None = None
    ) -> _Call:
        call = _Call(kind, self._compute, values, requests or [])
        self._compute = 0
        self._calls.append(call)
        return call

    def _message(self, place: int, event: Any) -> tuple[int, int, int, int]:
        """Return peer, size, tag and communicator of a message's event."""
        number, members = self._archive.comm(event.communicator, self._rank)
        return members[place], int(event.msg_length), int(event.msg_tag), max(number, WORLD)

    def _MpiSend(self, event: Any) -> None:
        values = self._message(event.receiver, event)
        # Both halves of an exchange are under way at once.
        if "sendrecv" in self._region.lower():
            self._exchanged.append(self._own_request())
            self._call("isend", values, self._exchanged[-1:])
        else:
            self._call("send", values)

    def _MpiRecv(self, event: Any) -> None:
        self._call("recv", self._message(event.sender, event))

    def _MpiIsend(self, event: Any) -> None:
        self._call("isend", self._message(event.receiver, event), [int(event.request_id)])

    def _MpiIrecvRequest(self, event: Any) -> None:
        request = int(event.request_id)
        self._pending[request] = self._call("irecv", (), [request])

    def _MpiIrecv(self, event: Any) -> None:
        request = int(event.request_id)
        begun = self._pending.pop(request, None)
        if begun is None:
            self._archive.left_out("of the end of a receive that never began")
            return
        begun.values = self._message(event.sender, event)
        self._end(request)

    def _MpiIsendComplete(self, event: Any) -> None:
        self._end(int(event.request_id))

    # Of a matched probe (MPI_Mrecv, MPI_Imrecv) the same is told.
    _MpiMrecv, _MpiImrecvRequest, _MpiImrecv = _MpiRecv, _MpiIrecvRequest, _MpiIrecv

    def _MpiCollectiveEnd(self, event: Any) -> None:
        key = self._join(event)
        if key is not None:
            self._call("collective", key)

    def _NonBlockingCollectiveRequest(self, event: Any) -> None:
        request = int(event.request_id)
        self._pending[request] = self._call("icollective", (), [request])

    def _NonBlockingCollectiveComplete(self, event: Any) -> None:
        request = int(event.request_id)
        key = self._join(event)
        begun = self._pending.pop(request, None)
        if begun is None or key is None:
            if begun is not None:
                self._calls.remove(begun)
            return
        begun.values = key
        self._end(request)

    def _join(self, event: Any) -> tuple[int, int] | None:
        """Return the collective of an event; None for one that reaches no other rank."""
        number, members = self._archive.comm(event.communicator, self._rank)
        if _operation(event) not in _OPERATIONS:
            self._archive.left_out(f"of {_operation(event)}")
            return None
        if len(members) == 1:
            return None
        order = self._orders[number]
        self._orders[number] += 1
        self._archive.joined(number, order, self._rank, event)
        return number, order

    def _end(self, request: int) -> None:
        if self._depth:
            self._ended.append(request)
        else:
            self._call("wait", requests=[request])

    def _own_request(self) -> int:
        """Return a number that no request of MPI has."""
        self._requests -= 1
        return self._requests


_SILENT = ("MpiCollectiveBegin", "MpiProbe", "MpiRequestTest", "MpiRequestCancelled")


def _operation(event: Any) -> str:
    """Return OTF2's name of a collective, such as ``ALLREDUCE``."""
    return str(event.collective_op).rpartition(".")[2]


def _shares(bytes_: int, ranks: int) -> list[int]:
    """Return the possible byte counts of one rank for a sum over all ranks, the likeliest first.

    MPI_IN_PLACE leaves out the rank itself and is not recorded: shares are whole, and rather whole
    words than not.
    """
    shares = [bytes_ // count for count in (ranks, ranks - 1) if count and bytes_ % count == 0]
    words = [share for share in shares if share % _WORD_BYTES == 0]
    return words or shares or [-(-bytes_ // ranks)]
