"""The meaning of one rank's calls: the part common to all liballprof-like traces.

Tracers differ in how a line names communicators and requests, and in whether it contains the
requests that ended: see ``addressed`` and ``recorded``.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from kernels.traces import layout
from kernels.traces.follow import follow
from workbench.mpi.calls import is_local
from workbench.programs.graph import ANY_SOURCE, ANY_TAG
from workbench.programs.program import COLLECTIVE, ICOLLECTIVE, IRECV, ISEND, RECV, SEND
from workbench.programs.traces.calls import Comm, TraceCall, TraceCalls
from workbench.programs.traces.collective_arguments import share_of
from workbench.programs.traces.lines import COMMENT, ArgumentReader, Names, Places, TraceLine
from workbench.programs.traces.mpi_calls import (
    BLOCKING,
    NONBLOCKING,
    RECORDER_SIGNATURES,
    SIGNATURES,
    Signature,
)
from workbench.programs.traces.plain_lines import Ints, NumberedLines, forms_of
from workbench.programs.traces.requests import UNKNOWN, RequestTable, StartedCall

MOST_TAG = 2**31 - 1  # tags are C ints in MPI


class RankReader(ArgumentReader):
    """Reads the lines of one rank into calls."""

    def __init__(
        self,
        calls: TraceCalls,
        lines: NumberedLines,
        rank: int,
        names: Names,
        requests: RequestTable,
        *,
        recorder: bool = False,
    ) -> None:
        super().__init__(calls, rank)
        self.lines = lines
        self.names = names
        self.requests = requests
        self.signatures = RECORDER_SIGNATURES if recorder else SIGNATURES
        self.places: Ints = np.full(len(lines.texts), -1, np.int64)  # of texts that name a request
        # first and last place, by the number of a text that names an array of requests
        self.arrays: tuple[Ints, Ints] = (self.places.copy(), self.places.copy())
        self._forms = forms_of(recorder)
        self._rows = calls.of_rank[rank]
        self._rows.state[layout.ANY] = names.any_source
        self._rows.state[layout.NUMBERED] = recorder
        self._shown: dict[str, Comm | None] = {}
        self._comm_of, self._share_of = self.places.copy(), self.places.copy()
        self._meant: list[int] = []
        self._space: Ints = np.empty((3, 5), np.int64)
        self.handlers: dict[str, Callable[[TraceLine, Places, Signature], None]] = {
            "send": self._send,
            "recv": self._recv,
            "recv_matched": self._recv_matched,
            "sendrecv": self._sendrecv,
            "start": self._start,
            "startall": self._startall,
            "request_free": self._request_free,
            "cancel": self._cancel,
            "probe": self._probe,
            "local": self._local,
            "collective": self._collective,
            "comm_free": self.free_comm,
        }
        for kind in ("wait", "waitall", "waitany", "waitsome"):
            self.handlers[kind] = self.wait
        for kind in ("test", "testall", "testany", "testsome"):
            self.handlers[kind] = self.test
        for kind in ("dup", "split", "groups", "create", "create_group", "order", "other"):
            self.handlers[f"comm_{kind}"] = self._make_comm

    # What differs between tracers

    def comm(self, line: TraceLine, text: str) -> Comm | None:
        """Return the communicator that a line names, None where its ranks are not known."""
        raise NotImplementedError

    def make_comm(self, line: TraceLine, at: Places, signature: Signature) -> None:
        """Record the communicator that a line makes."""
        raise NotImplementedError

    def free_comm(self, line: TraceLine, at: Places, signature: Signature) -> None:
        """Record the communicator that a line frees."""
        raise NotImplementedError

    def keys(self, line: TraceLine, at: Places) -> list[int]:
        """Return the keys of the requests in a line's array."""
        raise NotImplementedError

    def wait(self, line: TraceLine, at: Places, signature: Signature) -> None:
        """Record a call that waits for requests."""
        raise NotImplementedError

    def test(self, line: TraceLine, at: Places, signature: Signature) -> None:
        """Record a call that tests requests."""
        raise NotImplementedError

    def comment(self, line: TraceLine) -> None:
        """Read a comment; most have no effect."""

    # What is the same

    def forget_comms(self) -> None:
        """Forget which communicators the texts of lines name."""
        self._shown.clear()
        self._comm_of[self._meant] = self._share_of[self._meant] = -1
        self._meant.clear()

    def read(self) -> None:
        """Read all lines of the rank, in order."""
        form, state = self.lines.form, self._rows.state
        both = self._forms.table[:, layout.S_WHAT] == layout.SENDRECV
        self._rows.reserve(len(form) + 2 * int(both[form].sum()) + 3)
        ended = False
        while not ended:
            self._follow()
            at = int(state[layout.AT])
            if at == len(form):
                break
            ended = self._one(at)
            state[layout.AT] = at + 1
        timing = self.calls.timings[self.rank]
        timing.start_ns = int(state[layout.START]) if state[layout.HAS_START] else None
        if not ended:
            texts = (self.lines.line(at, times=False) for at in reversed(range(len(form))))
            last = next((line.number for line in texts if line is not None), 0)
            text = "the trace of a rank ends without MPI_Finalize"
            self.calls.notes.count(text, self.rank, last)
        self.requests.finish()

    def _follow(self) -> None:
        """Read the lines that the kernel reads, up to one that it does not."""
        mine, timing = self._rows, self.calls.timings[self.rank]
        meanings = (self.places, self._comm_of, self._share_of, *self.arrays)
        follow(
            self.lines.data,
            self.lines.arrays,
            self._forms.table,
            meanings,
            self.calls.peers(),
            self.requests.arrays,
            self._space,
            mine.rows,
            mine.state,
        )
        timing.compute_ns += int(mine.state[layout.WORK_NS])
        timing.mpi_ns += int(mine.state[layout.MPI_NS])
        mine.state[layout.WORK_NS] = mine.state[layout.MPI_NS] = 0

    def _one(self, at: int) -> bool:
        """Read a line from its text; return whether it is the rank's last."""
        line = self.lines.line(at)
        if line is None:
            return False
        if line.name == COMMENT:
            self.comment(line)
            return False
        name, state, timing = line.name, self._rows.state, self.calls.timings[self.rank]
        start, end = line.start_ns, line.end_ns
        clock = int(state[layout.CLOCK])
        if start is not None and state[layout.HAS_CLOCK] and start > clock:
            self.calls.compute(self.rank, start - clock)
            timing.compute_ns += start - clock
        inside = end - start if start is not None and end is not None else 0
        timing.mpi_ns += inside
        signature = self.signatures.get(name)
        if signature is not None:
            place = signature.places(len(line.fields))
            if place is None:
                raise self.fail(
                    line,
                    f"{name} must have {len(signature.arguments)} arguments: "
                    f"{', '.join(signature.arguments)}; got {len(line.fields) - 3}",
                )
            before = int(state[layout.CALLS])
            self.handlers[signature.kind](line, place, signature)
            self._learn(at, line, before)
        elif name == "MPI_Finalize":
            return True
        elif name == "MPI_Abort":
            self.calls.notes.count("the program was aborted", self.rank, line.number)
        elif not is_local(name):
            timing.leave_out(name, inside)
            self.calls.notes.count(
                f"{name} is not replayed: it takes no time and moves no data",
                self.rank,
                line.number,
            )
        if end is not None:
            state[layout.CLOCK], state[layout.HAS_CLOCK] = end, 1
            if not state[layout.HAS_START]:
                state[layout.START], state[layout.HAS_START] = end, 1
        return False

    def _learn(self, at: int, line: TraceLine, before: int) -> None:
        """Keep what the texts of a line mean, for the kernel; it had ``before`` calls before."""
        form = int(self.lines.form[at])
        if form <= 0:
            return
        row, value = self._forms.table[form], self.lines.values[at]
        if row[layout.S_COMM]:
            comm = self._shown.get(line.fields[row[layout.S_COMM]])
            if comm is not None:
                self._comm_of[value[layout.V_COMM]] = self.calls.comm_index(comm)
                self._meant.append(int(value[layout.V_COMM]))
        calls = self._rows.read
        if (
            row[layout.S_WHAT] == layout.GROUP_CALL
            and len(calls) == before + 1
            and calls[-1, layout.KIND] >= layout.COLLECTIVE
        ):
            self._share_of[value[layout.V_TEXT]] = calls[-1, layout.SHARE]
            self._meant.append(int(value[layout.V_TEXT]))

    def begin(
        self, line: TraceLine, at: Places, signature: Signature, entry: StartedCall | None
    ) -> None:
        """Assign a non-blocking call's request to its variable; a call without effect is None."""
        if signature.manner == NONBLOCKING:
            self.requests.put(self.number(line, at, "request"), entry)

    def left_out(self, line: TraceLine) -> None:
        """Note a call that is left out because its communicator's ranks are not known."""
        self.calls.notes.count(
            f"the ranks of a communicator are not known: {line.name} on it is left out",
            self.rank,
            line.number,
        )

    def unknown_request(self, line: TraceLine) -> None:
        """Note a wait for a request that no call made."""
        self.calls.notes.count(UNKNOWN, self.rank, line.number)

    def _peer(
        self, line: TraceLine, at: Places, name: str, comm: Comm, *, any_: bool
    ) -> int | None:
        """Return a peer's world rank or ANY_SOURCE; None for MPI_PROC_NULL."""
        peer = self.number(line, at, name)
        if peer < 0:
            return ANY_SOURCE if any_ and peer == self.names.any_source else None
        if peer >= len(comm.peers):
            raise self.fail(
                line,
                f"the peer of {line.name} must be 0 to {len(comm.peers) - 1}; got {peer}",
            )
        return comm.peers[peer]

    def _tag(self, line: TraceLine, at: Places, name: str, *, any_: bool) -> int:
        tag = self.number(line, at, name)
        if tag < 0 and any_:
            return ANY_TAG
        if not 0 <= tag <= MOST_TAG:
            raise self.fail(line, f"the tag of {line.name} must be 0 to {MOST_TAG}; got {tag}")
        return tag

    def _send(self, line: TraceLine, at: Places, signature: Signature) -> None:
        self._message(line, at, signature, (SEND, ISEND))

    def _recv(self, line: TraceLine, at: Places, signature: Signature) -> None:
        entry = self._message(line, at, signature, (RECV, IRECV))
        if entry is not None and "status" in at:
            self.status(entry, line.fields[at["status"]])

    def _message(
        self, line: TraceLine, at: Places, signature: Signature, kinds: tuple[int, int]
    ) -> TraceCall | None:
        receives = kinds[0] == RECV
        comm = self.comm(line, line.fields[at["comm"]])
        entry = None
        if comm is None:
            self.left_out(line)
        else:
            peer = self._peer(line, at, "peer", comm, any_=receives)
            if peer is not None:
                size = self.size(line, at, "count", "type") or 0
                tag = self._tag(line, at, "tag", any_=receives)
                kind = kinds[signature.manner != BLOCKING]
                if signature.manner not in (BLOCKING, NONBLOCKING):

                    def start(number: int) -> TraceCall:
                        return self.calls.message(self.rank, kind, number, comm, peer, size, tag)

                    self.requests.put(self.number(line, at, "request"), None, start)
                    return None
                entry = self.calls.message(self.rank, kind, line.number, comm, peer, size, tag)
        if signature.manner not in (BLOCKING, NONBLOCKING):
            self.requests.put(self.number(line, at, "request"), None, _nothing)
        self.begin(line, at, signature, entry)
        return entry

    def status(self, entry: TraceCall, text: str) -> None:
        """Record the source and tag that a wildcard receive matched, where the line has them."""

    def _sendrecv(self, line: TraceLine, at: Places, signature: Signature) -> None:
        comm = self.comm(line, line.fields[at["comm"]])
        if comm is None:
            self.left_out(line)
            return
        place = {"recvcount": "sendcount", "recvtype": "sendtype"}
        if "recvcount" in at:
            place = {name: name for name in place}
        begun: list[TraceCall] = []
        source = self._peer(line, at, "source", comm, any_=True)
        if source is not None:
            size = self.size(line, at, place["recvcount"], place["recvtype"]) or 0
            tag = self._tag(line, at, "recvtag", any_=True)
            entry = self.calls.message(self.rank, IRECV, line.number, comm, source, size, tag)
            begun.append(entry)
            self.status(entry, line.fields[at["status"]])
        dest = self._peer(line, at, "dest", comm, any_=False)
        if dest is not None:
            size = self.size(line, at, "sendcount", "sendtype") or 0
            tag = self._tag(line, at, "sendtag", any_=False)
            entry = self.calls.message(self.rank, ISEND, line.number, comm, dest, size, tag)
            begun.append(entry)
        if begun:
            self.calls.wait(self.rank, line.number).end(*begun)

    def _recv_matched(self, line: TraceLine, at: Places, signature: Signature) -> None:
        self.calls.notes.count(
            f"{line.name} takes a message that MPI_Mprobe matched, which this format does not "
            "record: it is left out",
            self.rank,
            line.number,
        )
        if "request" in at:
            self.requests.put(self.number(line, at, "request"), None)

    def _probe(self, line: TraceLine, at: Places, signature: Signature) -> None:
        self.comm(line, line.fields[at["comm"]])
        if line.name in ("MPI_Probe", "MPI_Mprobe"):
            self.calls.notes.count(
                "a probe waits for a message without taking it: the receive that follows waits "
                "instead",
                self.rank,
                line.number,
            )

    def _local(self, line: TraceLine, at: Places, signature: Signature) -> None:
        self.comm(line, line.fields[at["comm"]])

    def _make_comm(self, line: TraceLine, at: Places, signature: Signature) -> None:
        self.make_comm(line, at, signature)
        if "request" in at:  # MPI_Comm_idup
            self.requests.put(self.number(line, at, "request"), None)

    def _start(self, line: TraceLine, at: Places, signature: Signature) -> None:
        self._restart_persistent(line, self.number(line, at, "request"))

    def _startall(self, line: TraceLine, at: Places, signature: Signature) -> None:
        keys = self.keys(line, at)
        if not keys and self.number(line, at, "count") > 0:
            self.unknown_request(line)
        for key in keys:
            self._restart_persistent(line, key)

    def _restart_persistent(self, line: TraceLine, key: int) -> None:
        spec = self.requests.spec(key)
        if spec is None:
            self.unknown_request(line)
        else:
            self.requests.put(key, spec(line.number), spec)

    def _request_free(self, line: TraceLine, at: Places, signature: Signature) -> None:
        self.requests.drop(self.number(line, at, "request"))

    def _cancel(self, line: TraceLine, at: Places, signature: Signature) -> None:
        call = self.requests.active(self.number(line, at, "request"))
        if call is None:
            return
        received = isinstance(call, TraceCall) and call.kind == IRECV
        if received:
            call.cancel()
        outcome = "the receive is left out" if received else "the message is sent"
        self.calls.notes.count(
            f"whether MPI_Cancel succeeded is not in the trace: {outcome}", self.rank, line.number
        )

    def _collective(self, line: TraceLine, at: Places, signature: Signature) -> None:
        comm = self.comm(line, line.fields[at["comm"]])
        if comm is not None and comm.remote:
            self.calls.notes.count(
                f"{line.name} joins two groups of ranks, which no algorithm here does: it is left "
                "out",
                self.rank,
                line.number,
            )
            comm = None
        elif comm is None:
            self.left_out(line)
        share = None if comm is None else share_of(self, line, at, signature, comm)

        def start(number: int) -> TraceCall | None:
            if comm is None or share is None:
                return None
            return self.calls.collective(self.rank, ICOLLECTIVE, comm, share, number)

        if signature.manner not in (BLOCKING, NONBLOCKING):
            self.requests.put(self.number(line, at, "request"), None, start)
        elif signature.manner == NONBLOCKING:
            self.requests.put(self.number(line, at, "request"), start(line.number))
        elif comm is not None and share is not None:
            self.calls.collective(self.rank, COLLECTIVE, comm, share, line.number)


def _nothing(line: int) -> None:
    """Begin nothing: a persistent message to MPI_PROC_NULL or on an unknown communicator."""
