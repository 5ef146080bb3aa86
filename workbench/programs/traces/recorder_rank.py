"""A rank of a trace of the workbench's recorder: requests and communicators are numbered.

Nothing is uncertain here: ``# comm`` lines list the ranks of every communicator, and waits and
tests the requests that they ended. The format is described in ``workbench.programs.recording``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kernels.traces import layout
from workbench.errors import ParseError
from workbench.programs.program import IRECV, ISEND
from workbench.programs.traces.calls import Comm, TraceCall, TraceCalls
from workbench.programs.traces.collective_arguments import sizes_of_each
from workbench.programs.traces.files import TraceFile
from workbench.programs.traces.handles import Communicators
from workbench.programs.traces.interpret import RankReader
from workbench.programs.traces.lines import Names, Places, TraceLine
from workbench.programs.traces.mpi_calls import NONBLOCKING, PERSISTENT, Signature
from workbench.programs.traces.plain_lines import NumberedLines
from workbench.programs.traces.requests import CallGroup, RequestTable

VERSION = "1"

CPU_CLOCK = (
    "the work between two calls is the processor time of the thread that called: time in which it "
    "slept or was not scheduled is left out"
)


class RecordedReader(RankReader):
    """Reads the lines of one rank."""

    def __init__(
        self, calls: TraceCalls, lines: NumberedLines, rank: int, comms: RecordedComms
    ) -> None:
        lowest, count = lines.numbered_requests()
        calls.of_rank[rank].state[layout.FIRST_REQUEST] = lowest
        table = RequestTable(calls, rank, lowest, count)
        table.all_made()
        super().__init__(calls, lines, rank, Names(), table, recorder=True)
        self.handlers["neighbours"] = self._neighbours
        self._around: dict[int, Neighbours] = {}
        self._comms = comms
        self._mine: dict[int, Comm | None] = {0: comms.known.world}

    def comm(self, line: TraceLine, text: str) -> Comm | None:
        """Return the communicator that a line names, None where it has ranks of other programs."""
        if text not in self._shown:
            self._shown[text] = self._to_comm(line, text)
        return self._shown[text]

    def _to_comm(self, line: TraceLine, text: str) -> Comm | None:
        try:
            number, place, size = (int(part) for part in text.split(","))
            comm = self._mine[number]
        except (ValueError, KeyError):
            raise self.fail(
                line,
                "a communicator must be number,myrank,size after a line `# comm number ranks...`; "
                f"got {text[:40]!r}",
            ) from None
        if comm and (comm.places.get(self.rank), len(comm.members)) != (place, size):
            raise self.fail(
                line,
                f"communicator {number} must have this rank as {comm.places.get(self.rank)} of "
                f"{len(comm.members)}, as its `# comm` line says; got {place} of {size}",
            )
        return comm

    def comment(self, line: TraceLine) -> None:
        """Read a comment: a communicator, neighbours, a failed or cancelled call, or the clock."""
        words = line.fields
        timing = self.calls.timings[self.rank]
        if words == ["clock", "cpu"]:
            timing.clock = "cpu"
            self.calls.notes.say(CPU_CLOCK)
        elif words[:1] == ["slowdown"] and len(words) == 2:
            self.calls.notes.say(f"computation was made {words[1][:20]} times slower, by sleeping")
        elif words[:1] == ["incomplete"]:
            self.calls.notes.say(f"the recording is incomplete: {' '.join(words[1:])}")
        elif words[:1] == ["elapsed"] and len(words) == 2:
            timing.elapsed_ns = _elapsed_ns(words[1])
        elif words[:1] == ["node"] and len(words) == 6:
            counts = [int(word) if word.isdecimal() else 0 for word in (words[1], words[4])]
            timing.node = counts[0], counts[1]
        elif words[:1] == ["failed"]:
            name = words[1][:60] if len(words) > 1 else "a call"
            self.calls.notes.count(f"{name} failed: it is left out", self.rank, line.number)
        if not words or words[0] not in ("comm", "intercomm", "cancelled", "grid", "neighbours"):
            return
        try:
            number = int(words[1])
            split = words.index(":") if ":" in words else len(words)
            members = [int(word) for word in words[2:split]]
            remote = [int(word) for word in words[split + 1 :]]
        except (IndexError, ValueError):
            raise self.fail(
                line, f"# {words[0]} must be followed by numbers; got {' '.join(words)[:60]!r}"
            ) from None
        if words[0] == "cancelled":
            request = self.requests.active(number)
            if request is not None:
                request.cancel()
            return
        if words[0] in ("grid", "neighbours"):
            self._around[number] = Neighbours(words[0] == "grid", tuple(members), tuple(remote))
            return
        self.forget_comms()
        self._around.pop(number, None)
        self._mine[number] = self._comms.comm(self.rank, line, number, members, remote)

    def _neighbours(self, line: TraceLine, at: Places, signature: Signature) -> None:
        """Add a collective among neighbours: a message to each, and one from each."""
        text = line.fields[at["comm"]]
        comm = self.comm(line, text)
        around = self._around.get(int(text.split(",")[0]))
        messages: list[tuple[int, int, int, int]] = []
        if comm is None or around is None:
            self.left_out(line)
            self.calls.timings[self.rank].leave_out(line.name, 0)
        else:
            messages = self._to_neighbours(line, at, comm, around)

        def start(number: int) -> CallGroup | None:
            if comm is None or not messages:
                return None
            apart = self._comms.among_neighbours(comm)
            parts = [
                self.calls.message(self.rank, kind, number, apart, *rest)
                for kind, *rest in messages
            ]
            return CallGroup(number, parts)

        if signature.manner == PERSISTENT:
            self.requests.put(self.number(line, at, "request"), None, start)
        elif signature.manner == NONBLOCKING:
            self.requests.put(self.number(line, at, "request"), start(line.number))
        elif (group := start(line.number)) is not None:
            self.calls.wait(self.rank, line.number).end(*group.parts)

    def _to_neighbours(
        self, line: TraceLine, at: Places, comm: Comm, around: Neighbours
    ) -> list[tuple[int, int, int, int]]:
        """Return the kind, peer, bytes and tag of a neighbourhood collective's messages."""
        messages = []
        for kind, peers, side in (
            (IRECV, around.sources, "recv"),
            (ISEND, around.destinations, "send"),
        ):
            sizes = self._each(line, at, side, len(peers))
            for slot, (peer, size) in enumerate(zip(peers, sizes, strict=True)):
                if peer < 0:
                    continue
                if peer >= len(comm.members):
                    raise self.fail(line, f"a neighbour must be 0 to {len(comm.members) - 1}")
                # In a grid what goes down is taken from above, also where both are the same rank.
                tag = 0 if not around.grid else slot if kind == ISEND else slot ^ 1
                messages.append((kind, comm.members[peer], size, tag))
        return messages

    def _each(self, line: TraceLine, at: Places, side: str, count: int) -> tuple[int, ...]:
        """Return the bytes to or from each of ``count`` neighbours."""
        if f"{side}counts" not in at:
            return (self.size(line, at, f"{side}count", f"{side}type") or 0,) * count
        sizes = sizes_of_each(self, line, at, f"{side}counts", f"{side}type") or (0,) * count
        if len(sizes) != count:
            raise self.fail(line, f"{line.name} must have one count for each of {count} neighbours")
        return sizes

    def make_comm(self, line: TraceLine, at: Places, signature: Signature) -> None:
        """Do nothing: a ``# comm`` line has defined the new communicator."""

    def free_comm(self, line: TraceLine, at: Places, signature: Signature) -> None:
        """Do nothing: numbers of communicators are not used again."""

    def _cancel(self, line: TraceLine, at: Places, signature: Signature) -> None:
        """Do nothing: a comment records what was cancelled."""

    def keys(self, line: TraceLine, at: Places) -> list[int]:
        """Return the numbers of the requests in a line's array."""
        return self._numbers(line, line.fields[at["requests"]])

    def wait(self, line: TraceLine, at: Places, signature: Signature) -> None:
        """End the requests that a wait has completed."""
        self._end(line, at, signature.kind.removeprefix("wait"))

    def test(self, line: TraceLine, at: Places, signature: Signature) -> None:
        """End the requests that a successful test has completed."""
        if "flag" not in at or self.number(line, at, "flag"):
            self._end(line, at, signature.kind.removeprefix("test"))

    def status(self, entry: TraceCall, text: str) -> None:
        """Record source, tag and size of a received message from ``source,tag,bytes`` or ``-``."""
        parts = text.split(",")
        plain = all(part.isdecimal() and len(part) < 20 for part in parts)
        if len(parts) != 3 or not plain:
            return
        source, tag, size = (int(part) for part in parts)
        peers = self.calls.comms[entry.comm].peers
        if source < len(peers) and tag < 2**31 and size < 2**50:
            entry.match(peers[source], tag, size)

    def _end(self, line: TraceLine, at: Places, which: str) -> None:
        """End the requests that a line lists as completed; ``which`` is "", all, any or some."""
        if which == "":
            keys = [self.number(line, at, "request")]
        else:
            keys = self.keys(line, at)
        statuses = line.fields[at["status" if "status" in at else "statuses"]].split(";")
        if which in ("any", "some"):
            text = line.fields[at["index" if which == "any" else "indices"]]
            ended = [i for i in self._numbers(line, text) if i >= 0]
            if ended and max(ended) >= len(keys):
                raise self.fail(
                    line, f"{line.name} must end requests 0 to {len(keys) - 1}; got {max(ended)}"
                )
            keys = [keys[i] for i in ended]
        active = [(key, self.requests.active(key)) for key in keys]
        for i, (key, call) in enumerate(active):
            if key < 0:
                self.unknown_request(line)
            elif isinstance(call, TraceCall) and len(statuses) == len(active):
                self.status(call, statuses[i])
        ended_keys = [key for key, call in active if call is not None]
        if ended_keys:
            self.requests.complete(ended_keys, self.calls.wait(self.rank, line.number))

    def _numbers(self, line: TraceLine, text: str) -> list[int]:
        if text == "-":
            return []
        try:
            return [int(part) for part in text.split(",")]
        except ValueError:
            raise self.fail(
                line, f"{line.name} must name requests by numbers; got {text[:40]!r}"
            ) from None


@dataclass(frozen=True)
class Neighbours:
    """The neighbours of a rank in the neighbourhood collectives of a communicator."""

    grid: bool  # Cartesian: down and up in each dimension
    sources: tuple[int, ...]  # ranks in the communicator; negative is MPI_PROC_NULL
    destinations: tuple[int, ...]  # likewise


def _elapsed_ns(text: str) -> int | None:
    try:
        return round(float(text) * 1000)
    except (ValueError, OverflowError):
        return None


class RecordedComms:
    """The communicators that the ``# comm`` lines of all ranks define."""

    def __init__(self, calls: TraceCalls) -> None:
        self.known = Communicators(calls.num_ranks)
        self._calls = calls
        self._by_number: dict[int, Comm] = {0: self.known.world}
        # numbers below 0 are a rank's own: the k-th of the same ranks is the same everywhere
        self._own: dict[tuple[object, ...], Comm] = {}
        self._count: dict[tuple[object, ...], int] = {}
        self._apart: dict[int, Comm] = {}

    def comm(
        self, rank: int, line: TraceLine, number: int, members: list[int], remote: list[int]
    ) -> Comm | None:
        """Return the communicator of a ``# comm`` line, None for ranks of other programs."""
        everyone = members + remote
        if -1 in everyone:
            return None
        size = self._calls.num_ranks
        if rank not in members or min(everyone) < 0 or max(everyone) >= size:
            raise self._calls.fail(
                rank,
                line.number,
                f"a communicator of this rank must have it among ranks 0 to {size - 1}; got "
                f"{everyone[:16]}",
            )
        if len(set(members)) < len(members) or len(set(remote)) < len(remote):
            raise self._calls.fail(rank, line.number, "a communicator must have each rank once")
        if number < 0:
            sides = tuple(sorted((tuple(members), tuple(remote))))
            count = self._count.get((rank, sides), 0)
            self._count[rank, sides] = count + 1
            kept: dict[tuple[object, ...], Comm] = self._own
            key: tuple[object, ...] = (sides, count, tuple(members))
            if key not in kept:
                kept[key] = self._new(sides, count, members, remote)
            return kept[key]
        comm = self._by_number.get(number)
        if comm is None:
            comm = self._by_number[number] = self.known.new(members, remote)
        elif comm.members != tuple(members):
            raise self._calls.fail(
                rank,
                line.number,
                f"communicator {number} must have the same ranks in all files; got "
                f"{members[:16]} and {list(comm.members[:16])}",
            )
        return comm

    def among_neighbours(self, comm: Comm) -> Comm:
        """Return a communicator of the same ranks that no receive of the program uses."""
        if comm.number not in self._apart:
            self._apart[comm.number] = self.known.new(comm.members)
        return self._apart[comm.number]

    def _new(
        self, sides: tuple[object, ...], count: int, members: list[int], remote: list[int]
    ) -> Comm:
        other = self._own.get((sides, count, tuple(remote)))
        if other is not None:  # the same intercommunicator seen from its other side
            return Comm(other.number, tuple(members), tuple(remote))
        return self.known.new(members, remote)


def check_header(files: Sequence[TraceFile]) -> list[TraceFile]:
    """Check the files' headers and return the files in the order of the ranks they name."""
    by_rank: dict[int, TraceFile] = {}
    for file in files:
        head = file.data[:4096].decode("latin-1").split("\n")
        words = [line.split() for line in head]
        if words[0] != ["#", "workbench", "trace", VERSION]:
            raise ParseError(
                f"the first line must be `# workbench trace {VERSION}`; got {head[0][:60]!r}",
                source=file.name,
                line=1,
            )
        rank_line = next((w for w in words[1:] if w[:2] == ["#", "rank"]), [])
        if len(rank_line) != 5 or not (rank_line[2].isdecimal() and rank_line[4].isdecimal()):
            raise ParseError(
                "the header must have a line `# rank r of n`", source=file.name, line=2
            )
        rank, size = int(rank_line[2][:10]), int(rank_line[4][:10])
        if size != len(files) or rank >= size or rank in by_rank:
            raise ParseError(
                f"the files of all {size} ranks must be there, each once; got {len(files)} files, "
                f"this of rank {rank}",
                source=file.name,
                line=2,
            )
        by_rank[rank] = file
    return [by_rank[rank] for rank in sorted(by_rank)]
