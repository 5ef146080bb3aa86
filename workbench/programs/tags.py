"""Tags of a lowered program: no message can be taken for one of another communicator or collective.

MPI separates communicators, and collectives from messages; an execution graph has only tags.
Messages within the communicator of all ranks keep their tags. Above those, each pair of another
communicator and a tag gets its own tag. Above these, each collective gets the number of tags that
its schedule needs. Collectives share tags only when the numbers run out; then numbering starts
again, so that two collectives in flight together still differ.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workbench.errors import ProgramError
from workbench.programs.graph import ANY_SOURCE, ANY_TAG
from workbench.programs.program import IRECV, ISEND, RECV, SEND, WORLD, Program


@dataclass(frozen=True)
class Tags:
    """The tags of a program's messages."""

    call: NDArray[np.uint32]  # (calls,) of each send and receive; 0 for the rest
    collective: NDArray[np.uint32]  # (collectives,) first tag of each
    notes: tuple[str, ...]  # what could not be kept apart, a sentence each


def assign(program: Program, spans: NDArray[np.int64]) -> Tags:
    """Return the tags of all calls and collectives; ``spans`` is int64, tags per collective."""
    message = (program.kind >= SEND) & (program.kind <= IRECV)
    tag = np.where(message, program.tag, 0).astype(np.int64)
    open_receives = message & (tag == ANY_TAG) & _receives(program)
    if open_receives.any():
        tag[open_receives] = _only_tags(program, tag, np.flatnonzero(open_receives))
    named = message & (tag != ANY_TAG)
    foreign = named & (program.comm != WORLD)
    keys, number = np.unique(
        program.comm[foreign].astype(np.int64) << 32 | tag[foreign], return_inverse=True
    )
    own = tag[named & ~foreign]
    ends = np.cumsum(spans)
    needed = len(keys) + int(ends[-1] if len(ends) else 0)
    first, room = _free_tags(own, needed)
    widest = int(spans.max(initial=0))
    if len(keys) + widest > room:
        raise ProgramError(
            f"a program needs {len(keys)} tags for messages of communicators and {widest} for a "
            f"collective; its own tags leave {room} in a row"
        )
    tag[foreign] = first + number
    first, room = first + len(keys), room - len(keys)
    return Tags(tag.astype(np.uint32), _in_turn(spans, first, room), _notes(program, tag, message))


def _receives(program: Program) -> NDArray[np.bool_]:
    receives: NDArray[np.bool_] = (program.kind == RECV) | (program.kind == IRECV)
    return receives


def _free_tags(own: NDArray[np.int64], needed: int) -> tuple[int, int]:
    """Return the first of a run of free tags and their number: above all used ones if possible."""
    above = int(own.max(initial=-1)) + 1
    if ANY_TAG - above >= needed:
        return above, ANY_TAG - above
    taken = np.concatenate([[-1], np.unique(own), [ANY_TAG]])
    gaps = np.diff(taken) - 1
    widest = int(np.argmax(gaps))
    return int(taken[widest]) + 1, int(gaps[widest])


def _in_turn(spans: NDArray[np.int64], first: int, room: int) -> NDArray[np.uint32]:
    """Return the first tag of each collective, beginning again when the room is used up."""
    ends = np.cumsum(spans)
    if not len(spans) or ends[-1] <= room:
        return (first + ends - spans).astype(np.uint32)
    starts, at = np.empty(len(spans), np.int64), 0
    for number, span in enumerate(spans.tolist()):
        if at + span > room:
            at = 0
        starts[number] = first + at
        at += span
    return starts.astype(np.uint32)


def _only_tags(
    program: Program, tag: NDArray[np.int64], receives: NDArray[np.intp]
) -> NDArray[np.int64]:
    """Return for receives of any tag the only tag that can come, or ``ANY_TAG`` if several can."""
    sends = np.flatnonzero((program.kind == SEND) | (program.kind == ISEND))
    rank = np.repeat(np.arange(program.num_ranks), np.diff(program.rank_start))
    wanted = np.full(len(receives), ANY_TAG, np.int64)
    for any_source in (False, True):
        chosen = np.flatnonzero((program.peer[receives] == ANY_SOURCE) == any_source)
        if not len(chosen) or not len(sends):
            continue
        calls = receives[chosen]
        sources = (0, 0) if any_source else (rank[sends], program.peer[calls])
        sent = _place(program, program.peer[sends], program.comm[sends], sources[0])
        awaited = _place(program, rank[calls], program.comm[calls], sources[1])
        order = np.argsort(sent, kind="stable")
        places, first = np.unique(sent[order], return_index=True)
        lowest = np.minimum.reduceat(tag[sends][order], first)
        highest = np.maximum.reduceat(tag[sends][order], first)
        at = np.minimum(np.searchsorted(places, awaited), len(places) - 1)
        only = (places[at] == awaited) & (lowest[at] == highest[at])
        wanted[chosen[only]] = lowest[at][only]
    return wanted


def _place(
    program: Program,
    receiver: NDArray[Any],
    comm: NDArray[np.int32],
    source: NDArray[Any] | int,
) -> NDArray[np.int64]:
    ranks = program.num_ranks
    place: NDArray[np.int64] = (comm.astype(np.int64) * ranks + receiver) * ranks + source
    return place


def _notes(program: Program, tag: NDArray[np.int64], message: NDArray[np.bool_]) -> tuple[str, ...]:
    left = np.flatnonzero(message & (tag == ANY_TAG) & _receives(program))
    if not len(left) or (not program.collectives and not program.comm[message].any()):
        return ()
    first = int(left[0])
    rank = int(np.searchsorted(program.rank_start, first, side="right")) - 1
    where = f"line {program.line[first]}" if program.line is not None else f"call {first}"
    return (
        f"{len(left)} receives of any tag could also take a message of another communicator or of "
        f"a collective, which MPI keeps apart; the first is of rank {rank}, {where}.",
    )
