"""The ranks of the communicators in a liballprof trace.

A line shows a communicator as ``handle,myrank,size``; a line that makes one shows the address of
the variable it was stored in, never the new handle nor the members. So they are reconstructed:

- the n-th call that makes a communicator of the same parent is the same call on all its ranks;
- MPI_Comm_split has color and key, MPI_Comm_dup its parent's ranks: members are certain;
- a handle not seen before belongs to a communicator made and not yet used on that rank whose rank
  and size agree; of several, to the one that most other ranks use first, or else to the oldest;
  handles are used again after MPI_Comm_free;
- where the arguments do not contain the members (Cart_create, Cart_sub, Comm_create,
  Comm_split_type), they follow from the ranks and sizes shown when the communicator is used.

Nested communicators are settled from the outermost inwards: ranks are scanned again until nothing
new is found.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from workbench.errors import ParseError
from workbench.programs.traces.calls import Comm
from workbench.programs.traces.groups import by_color, by_order, by_place, in_subgrids
from workbench.programs.traces.handles import (
    Communicators,
    CommunicatorUse,
    Event,
    HandleKey,
    Handles,
    Made,
)
from workbench.programs.traces.notes import Notes

MOST_DEPTH = 64
"""Most scans; a communicator nested deeper than that stays unknown."""


def reconstruct(
    events: Sequence[Sequence[Event]],
    shown_as: Mapping[int, int],
    files: Sequence[str],
    notes: Notes,
) -> Communicators:
    """Return the communicators of all ranks from each rank's events, in order."""
    known = Communicators(len(events), shown_as)
    if not any(isinstance(event, Made) for mine in events for event in mine):
        return known
    for _ in range(MOST_DEPTH):
        calls: dict[HandleKey, dict[int, Made]] = {}
        seen: dict[HandleKey, dict[int, CommunicatorUse]] = {}
        votes: Counter[tuple[HandleKey, HandleKey]] = Counter()
        for rank, mine in enumerate(events):
            handles = scan(Handles(rank, known), mine)
            for creation in handles.creations:
                if creation.key is not None and not creation.settled:
                    calls.setdefault(creation.key, {})[rank] = creation.made
            votes.update(handles.votes)
            for key, shown in handles.seen.items():
                seen.setdefault(key, {})[rank] = shown
        known.votes = votes
        before = len(known.comms)
        complete = sorted(key for key in calls if _complete(known, key, calls[key], files))
        for key in complete:
            _settle_certain(known, key, calls[key])
        if len(known.comms) == before:
            for key in complete:
                _settle_shown(known, key, calls[key], seen.get(key, {}), notes)
        if len(known.comms) == before:
            break
    return known


def scan(handles: Handles, events: Sequence[Event]) -> Handles:
    """Apply all events of a rank to its new handles, in order, and return the handles."""
    for event in events:
        if isinstance(event, CommunicatorUse):
            handles.show(event)
        elif isinstance(event, Made):
            handles.make(event)
        else:
            handles.free(event)
    return handles


def _complete(
    known: Communicators, key: HandleKey, calls: dict[int, Made], files: Sequence[str]
) -> bool:
    """Return whether all ranks that must make a call do; different calls are refused."""
    if len(key) > 2:  # only the group's ranks call Comm_create_group
        return True
    parent = known.numbered[key[0]]
    ranks = sorted(calls, key=parent.places.__getitem__)
    first = calls[ranks[0]]
    for rank in ranks:
        if calls[rank].kind != first.kind:
            raise ParseError(
                "all ranks of a communicator must create the same communicators from it; got "
                f"{calls[rank].name}, but {first.name} at line {first.line} of another rank",
                source=files[rank],
                line=calls[rank].line,
            )
    return len(ranks) == len(parent.members)


def _settle_certain(known: Communicators, key: HandleKey, calls: dict[int, Made]) -> None:
    """Settle a call whose arguments determine the members."""
    parent = known.numbered[key[0]]
    kind = next(iter(calls.values())).kind
    if kind == "comm_dup":
        comm = known.new(parent.members)
        known.comms[key] = dict.fromkeys(parent.members, comm)
    elif kind == "comm_split":
        colors = {place: calls[rank].numbers for place, rank in enumerate(parent.members)}
        _take(known, key, by_color(colors))


def _settle_shown(
    known: Communicators,
    key: HandleKey,
    calls: dict[int, Made],
    seen: dict[int, CommunicatorUse],
    notes: Notes,
) -> None:
    """Settle a call by the ranks and sizes that its communicators show when they are used."""
    if not seen:
        return
    parent = known.numbered[key[0]]
    rank, made = next(iter(calls.items()))
    places = {parent.places[r]: (s.place, s.size) for r, s in seen.items() if r in parent.places}
    groups: list[list[int]] | None = None
    if made.kind == "comm_order":
        reorder = made.numbers[1] != 0
        groups = by_order(len(parent.members), places, reorder=reorder)
        if groups and reorder and len(places) < len(groups[0]):
            notes.count(
                f"{made.name} may have changed the order of its ranks, and the trace does not "
                "contain all of them: the parent's order is taken for the others",
                rank,
                made.line,
            )
    elif made.kind in ("comm_create", "comm_create_group"):
        groups = by_place(places)
    elif made.kind == "comm_groups":
        groups, certain = in_subgrids(len(parent.members), places)
        if groups and not certain:
            notes.count(
                f"the ranks and sizes shown fit more than one way in which {made.name} may have "
                "divided the ranks: the first is taken",
                rank,
                made.line,
            )
    if groups is not None:
        _take(known, key, groups)


def _take(known: Communicators, key: HandleKey, groups: list[list[int]]) -> None:
    """Store groups, given as places in the parent, as the communicators that a call made."""
    parent = known.numbered[key[0]]
    made: dict[int, Comm] = {}
    for group in groups:
        comm = known.new([parent.members[place] for place in group])
        made |= dict.fromkeys(comm.members, comm)
    known.comms[key] = made
