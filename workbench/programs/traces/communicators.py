"""Which ranks a communicator of a liballprof trace has.

A line shows a communicator as ``handle,myrank,size``; a line that makes one shows the address of
the variable it was stored in, never the new handle nor the members. So they are reconstructed:

- the n-th call that makes a communicator of the same parent is the same call on all its ranks;
- MPI_Comm_split tells color and key, MPI_Comm_dup has its parent's ranks: members are certain;
- a handle not seen before belongs to a communicator made and not yet used on that rank whose rank
  and size agree; of several, to the one that most other ranks use first, or else to the oldest;
  handles are used again after MPI_Comm_free;
- what the arguments do not tell (Cart_create, Cart_sub, Comm_create, Comm_split_type) follows from
  the ranks and sizes that the ranks show when they use it.

Nested communicators are settled from the outside in: ranks are scanned again until nothing new is
found.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from workbench.errors import ParseError
from workbench.programs.traces.calls import Comm
from workbench.programs.traces.groups import by_color, by_order, by_place, in_subgrids
from workbench.programs.traces.notes import Notes

Key = tuple[int, ...]
"""A creating call: number of the parent and which of its creating calls, the same on all ranks."""

MOST_DEPTH = 64
"""Most scans; a communicator nested deeper than that stays unknown."""

MOST_PENDING, MOST_COMPARED = 256, 16
"""Most communicators of a rank that wait for their first use, and that are told apart by it."""

AMBIGUOUS = (
    "two communicators of the same rank and size were made before either was used: they are taken "
    "to be used in the order in which other ranks use them, or else in which they were made"
)


@dataclass(frozen=True, slots=True)
class Shown:
    """A line shows ``handle,myrank,size``."""

    handle: int
    place: int
    size: int
    line: int


@dataclass(frozen=True, slots=True)
class Made:
    """A line makes a communicator of the one shown."""

    kind: str
    name: str
    parent: Shown
    address: int
    line: int
    numbers: tuple[int, int] = (0, 0)  # color and key; number of nodes (or 0) and reorder; tag


@dataclass(frozen=True, slots=True)
class Freed:
    """A line frees the communicator in a variable."""

    address: int
    line: int


Event = Shown | Made | Freed


@dataclass(slots=True, eq=False)
class _Creation:
    """A creating call of one rank while it is scanned."""

    made: Made
    key: Key | None
    comm: Comm | None  # None as long as, or because, it is not known to have this rank
    settled: bool
    bound: int | None = None


@dataclass(slots=True)
class _Live:
    """What a handle stands for at present."""

    comm: Comm | None
    place: int
    size: int
    frees: int


class Handles:
    """The communicators of one rank while its lines are read from the first to the last.

    Args:
        rank: rank of all ranks.
        known: what is known of the ranks' communicators.
        notes: where doubts are noted; None notes nothing.
    """

    def __init__(self, rank: int, known: Known, notes: Notes | None = None) -> None:
        self.rank = rank
        self.known = known
        self.notes = notes
        self.creations: list[_Creation] = []
        self.seen: dict[Key, Shown] = {}
        self.votes: Counter[tuple[Key, Key]] = Counter()
        self._pending: list[_Creation] = []
        self._by_address: dict[int, _Creation] = {}
        self._live: dict[int, _Live] = {}
        self._count: dict[Key, int] = {}
        self._frees = 0

    def show(self, shown: Shown) -> Comm | None:
        """Return the communicator that a line shows, None where its ranks are not known.

        Args:
            shown: as the line has it.
        """
        live = self._live.get(shown.handle)
        if live is not None and (live.place, live.size) == (shown.place, shown.size):
            stale = live.frees < self._frees and self._candidates(shown, exact=True)
            if not stale:
                return live.comm
        comm = self._bind(shown)
        self._live[shown.handle] = _Live(comm, shown.place, shown.size, self._frees)
        return comm

    def make(self, made: Made) -> None:
        """Take in a line that makes a communicator.

        Args:
            made: as the line has it.
        """
        parent = self.show(made.parent)
        key: Key | None = None
        if parent is not None:
            tag = (made.numbers[0] + 1,) if made.kind == "comm_create_group" else ()
            count = self._count.get((parent.number, *tag), 0)
            self._count[parent.number, *tag] = count + 1
            key = (parent.number, count, *tag)
        settled = key in self.known.comms
        comm = self.known.comms[key].get(self.rank) if key is not None and settled else None
        creation = _Creation(made, key, comm, settled)
        self.creations.append(creation)
        self._by_address[made.address] = creation
        if not settled or comm is not None:
            self._pending.append(creation)
            del self._pending[:-MOST_PENDING]

    def free(self, freed: Freed) -> None:
        """Take in a line that frees a communicator.

        Args:
            freed: as the line has it.
        """
        creation = self._by_address.pop(freed.address, None)
        if creation is not None and creation.bound is not None:
            self._live.pop(creation.bound, None)
        elif creation is not None and creation in self._pending:
            self._pending.remove(creation)
        else:
            self._frees += 1

    def _candidates(self, shown: Shown, *, exact: bool) -> list[_Creation]:
        if not exact:
            return [
                c
                for c in self._pending
                if not c.settled
                and shown.size <= c.made.parent.size
                # a topology of one rank is rare: it is MPI_COMM_SELF
                and (shown.size > 1 or c.made.kind != "comm_order" or c.made.parent.size == 1)
            ]
        return [
            c
            for c in self._pending
            if c.comm is not None
            and len(c.comm.members) == shown.size
            and c.comm.places.get(self.rank) == shown.place
        ]

    def _bind(self, shown: Shown) -> Comm | None:
        found = self._candidates(shown, exact=True)
        chosen = found[0] if found else None
        if len({c.comm.members for c in found if c.comm}) > 1:
            chosen = max(found[:MOST_COMPARED], key=lambda one: self._lead(one, found))
            if self.notes:
                self.notes.count(AMBIGUOUS, self.rank, shown.line)
        elif chosen is None:
            chosen = next(iter(self._candidates(shown, exact=False)), None)
        if chosen is not None:
            self._pending.remove(chosen)
            if len(found) == 1 and chosen.key is not None:
                others = self._pending[:MOST_COMPARED]
                self.votes.update((chosen.key, c.key) for c in others if c.key is not None)
            chosen.bound = shown.handle
            if chosen.key is not None:
                self.seen[chosen.key] = shown
            return chosen.comm
        world_place = self.known.shown_as.get(self.rank, self.rank)
        if (shown.place, shown.size) == (world_place, self.known.world_size):
            return self.known.world
        if shown.size == 1:
            return self.known.alone(self.rank)
        return None

    def _lead(self, one: _Creation, found: Sequence[_Creation]) -> int:
        """Return how many more ranks use one communicator before the others than after."""
        votes = self.known.votes
        return sum(
            votes[one.key, other.key] - votes[other.key, one.key]
            for other in found[:MOST_COMPARED]
            if one.key is not None and other.key is not None
        )


class Known:
    """What is known of the communicators of all ranks.

    Args:
        world_size: number of ranks.
        shown_as: rank that a file shows in the communicator of all ranks, where it is another
            than that of its name.
    """

    def __init__(self, world_size: int, shown_as: Mapping[int, int] | None = None) -> None:
        self.world_size = world_size
        self.shown_as = shown_as or {}
        self.world = Comm(0, tuple(range(world_size)))
        self.comms: dict[Key, dict[int, Comm]] = {}
        # how many ranks that cannot mistake them use one communicator before another
        self.votes: Counter[tuple[Key, Key]] = Counter()
        self.numbered = [self.world]
        self._alone: dict[int, Comm] = {}

    def new(self, members: Sequence[int], remote: Sequence[int] = ()) -> Comm:
        """Return a new communicator.

        Args:
            members: ranks of all ranks, in its order.
            remote: the other group of an intercommunicator.
        """
        comm = Comm(len(self.numbered), tuple(members), tuple(remote))
        self.numbered.append(comm)
        return comm

    def alone(self, rank: int) -> Comm:
        """Return the communicator of one rank alone, MPI_COMM_SELF.

        Args:
            rank: which.
        """
        if rank not in self._alone:
            self._alone[rank] = self.new((rank,))
        return self._alone[rank]


def reconstruct(
    events: Sequence[Sequence[Event]],
    shown_as: Mapping[int, int],
    files: Sequence[str],
    notes: Notes,
) -> Known:
    """Return the communicators of all ranks.

    Args:
        events: for each rank what its lines show, make and free, in order.
        shown_as: see ``Known``.
        files: name of each rank's file, for errors.
        notes: where doubts are noted.

    Raises:
        ParseError: ranks of a communicator do not make the same communicators of it.
    """
    known = Known(len(events), shown_as)
    if not any(isinstance(event, Made) for mine in events for event in mine):
        return known
    for _ in range(MOST_DEPTH):
        calls: dict[Key, dict[int, Made]] = {}
        seen: dict[Key, dict[int, Shown]] = {}
        votes: Counter[tuple[Key, Key]] = Counter()
        for rank, mine in enumerate(events):
            handles = scan(Handles(rank, known), mine)
            for creation in handles.creations:
                if creation.key is not None and not creation.settled:
                    calls.setdefault(creation.key, {})[rank] = creation.made
            votes += handles.votes
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
    """Take in all events of a rank and return the handles.

    Args:
        handles: of the rank, nothing taken in yet.
        events: in the order of the lines.
    """
    for event in events:
        if isinstance(event, Shown):
            handles.show(event)
        elif isinstance(event, Made):
            handles.make(event)
        else:
            handles.free(event)
    return handles


def _complete(known: Known, key: Key, calls: dict[int, Made], files: Sequence[str]) -> bool:
    """Return whether all ranks that must make a call make it."""
    if len(key) > 2:  # only the group's ranks call Comm_create_group
        return True
    members = known.numbered[key[0]].members
    first = next((calls[rank] for rank in members if rank in calls), None)
    for rank in members:
        if first is not None and rank in calls and calls[rank].kind != first.kind:
            raise ParseError(
                f"all ranks of a communicator must make the same communicators of it; got "
                f"{calls[rank].name}, but {first.name} at line {first.line} of another rank",
                source=files[rank],
                line=calls[rank].line,
            )
    return all(rank in calls for rank in members)


def _settle_certain(known: Known, key: Key, calls: dict[int, Made]) -> None:
    """Settle a call whose arguments tell the members."""
    parent = known.numbered[key[0]]
    kind = next(iter(calls.values())).kind
    if kind == "comm_dup":
        comm = known.new(parent.members)
        known.comms[key] = dict.fromkeys(parent.members, comm)
    elif kind == "comm_split":
        colors = {place: calls[rank].numbers for place, rank in enumerate(parent.members)}
        _take(known, key, by_color(colors))


def _settle_shown(
    known: Known, key: Key, calls: dict[int, Made], seen: dict[int, Shown], notes: Notes
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
                f"{made.name} may have changed the order of its ranks, and not all of them show "
                "theirs: the parent's order is taken for the others",
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


def _take(known: Known, key: Key, groups: list[list[int]]) -> None:
    """Let the groups, places in the parent, be the communicators that a call made."""
    parent = known.numbered[key[0]]
    made: dict[int, Comm] = {}
    for group in groups:
        comm = known.new([parent.members[place] for place in group])
        made |= dict.fromkeys(comm.members, comm)
    known.comms[key] = made
