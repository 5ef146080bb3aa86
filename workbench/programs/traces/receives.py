"""Give receives the size of the message they take."""

from __future__ import annotations

from workbench.programs.graph import ANY_SOURCE, ANY_TAG
from workbench.programs.program import IRECV, ISEND, RECV, SEND
from workbench.programs.traces.calls import TraceCall, TraceCalls


def fit_receives(calls: TraceCalls) -> None:
    """Give receives, in place, the size of the message they take, where that message is certain.

    Messages of one rank to another with one tag arrive in order (MPI 4.0, section 3.5), so the k-th
    receive takes the k-th message, unless an open wildcard receive may have taken some.
    """
    sent: dict[tuple[int, int, int, int], list[int]] = {}
    received: dict[tuple[int, int, int, int], list[TraceCall]] = {}
    doubtful: set[tuple[int, int]] = set()
    for rank in range(calls.num_ranks):
        for entry in calls.entries(rank):
            if entry.comm is None or entry.cancelled:
                continue
            number = entry.comm.number
            if entry.kind in (SEND, ISEND):
                sent.setdefault((number, rank, entry.peer, entry.tag), []).append(entry.size)
            elif entry.kind in (RECV, IRECV):
                peer, tag = entry.matched or (entry.peer, entry.tag)
                if peer == ANY_SOURCE or tag == ANY_TAG:
                    doubtful.add((number, rank))
                else:
                    received.setdefault((number, peer, rank, tag), []).append(entry)
    changed = 0
    for key, entries in received.items():
        if (key[0], key[2]) in doubtful:
            continue
        for entry, size in zip(entries, sent.get(key, ()), strict=False):
            changed += entry.size != size
            entry.size = size
    if changed:
        calls.notes.say(
            f"{changed} receives had more room than their message needs: they take the message's "
            "size"
        )
