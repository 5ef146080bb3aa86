"""The communicators that handles in one rank's lines stand for, from first line to last.

See ``communicators`` for the contents of the lines, and for the search over all ranks.
"""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice

from workbench.programs.traces.calls import Comm
from workbench.programs.traces.notes import Notes

HandleKey = tuple[int, ...]
"""A creating call: number of the parent and which of its creating calls, the same on all ranks."""

MOST_FITTED, MOST_COMPARED = 256, 16
"""Most kinds of communicators whose ranks are not known, and most of those that show the same.

This many, the oldest first, are compared with a new handle.
"""

AMBIGUOUS = (
    "two communicators of the same rank and size were made before either was used: they are taken "
    "to be used in the order in which other ranks use them, or else in which they were made"
)


@dataclass(frozen=True, slots=True)
class CommunicatorUse:
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
    parent: CommunicatorUse
    address: int
    line: int
    numbers: tuple[int, int] = (0, 0)  # split: color, key; create_group: tag, 0; order: 0, reorder


@dataclass(frozen=True, slots=True)
class Freed:
    """A line frees the communicator in a variable."""

    address: int
    line: int


Event = CommunicatorUse | Made | Freed


@dataclass(slots=True, eq=False)
class _Creation:
    """A creating call of one rank while it is scanned."""

    made: Made
    key: HandleKey | None
    comm: Comm | None  # None as long as, or because, it is not known to have this rank
    settled: bool
    number: int
    bound: int | None = None


@dataclass(slots=True)
class _Alike:
    """The unused communicators with the same place and size for a rank, the oldest first."""

    creations: OrderedDict[int, _Creation] = field(default_factory=OrderedDict)
    shapes: Counter[int] = field(default_factory=Counter)


@dataclass(slots=True)
class _Live:
    """The current meaning of a handle."""

    comm: Comm | None
    place: int
    size: int
    frees: int


class Handles:
    """The communicators of one rank while its lines are read in order; ``notes`` records doubts."""

    def __init__(self, rank: int, known: Communicators, notes: Notes | None = None) -> None:
        self.rank = rank
        self.known = known
        self.notes = notes
        self.creations: list[_Creation] = []
        self.seen: dict[HandleKey, CommunicatorUse] = {}
        self.votes: Counter[tuple[HandleKey, HandleKey]] = Counter()
        # made and not used yet, by their numbers: all; those that are not settled, by what they
        # can show; the others, by the place and size that they show
        self._unused: OrderedDict[int, _Creation] = OrderedDict()
        self._unsettled: dict[tuple[int, int], OrderedDict[int, _Creation]] = {}
        self._alike: dict[tuple[int, int], _Alike] = {}
        self._by_address: dict[int, _Creation] = {}
        self._live: dict[int, _Live] = {}
        self._count: dict[HandleKey, int] = {}
        self._frees = 0

    def show(self, shown: CommunicatorUse) -> Comm | None:
        """Return the communicator that a line shows, None where its ranks are not known."""
        live = self._live.get(shown.handle)
        shows = shown.place, shown.size
        current = live is not None and (live.frees == self._frees or shows not in self._alike)
        if live is not None and current and (live.place, live.size) == shows:
            return live.comm
        comm = self._bind(shown)
        self._live[shown.handle] = _Live(comm, shown.place, shown.size, self._frees)
        return comm

    def make(self, made: Made) -> None:
        """Record the communicator that a line makes."""
        parent = self.show(made.parent)
        key: HandleKey | None = None
        if parent is not None:
            tag = (made.numbers[0] + 1,) if made.kind == "comm_create_group" else ()
            count = self._count.get((parent.number, *tag), 0)
            self._count[parent.number, *tag] = count + 1
            key = (parent.number, count, *tag)
        settled = key in self.known.comms
        comm = self.known.comms[key].get(self.rank) if key is not None and settled else None
        creation = _Creation(made, key, comm, settled, len(self.creations))
        self.creations.append(creation)
        self._by_address[made.address] = creation
        self._keep(creation)

    def free(self, freed: Freed) -> None:
        """Record the communicator that a line frees."""
        creation = self._by_address.pop(freed.address, None)
        if creation is not None and creation.bound is not None:
            self._live.pop(creation.bound, None)
        elif creation is not None and creation.number in self._unused:
            self._take(creation)
        else:
            self._frees += 1

    def _keep(self, creation: _Creation) -> None:
        number, comm = creation.number, creation.comm
        if not creation.settled:
            self._unused[number] = creation
            self._unsettled.setdefault(_sizes(creation.made), OrderedDict())[number] = creation
        elif comm is not None:
            self._unused[number] = creation
            alike = self._alike.setdefault(self._fitting_line(comm), _Alike())
            alike.creations[number] = creation
            alike.shapes[self.known.shape[comm.number]] += 1

    def _take(self, creation: _Creation) -> None:
        number, comm = creation.number, creation.comm
        del self._unused[number]
        if not creation.settled:
            unsettled = self._unsettled[_sizes(creation.made)]
            del unsettled[number]
            if not unsettled:
                del self._unsettled[_sizes(creation.made)]
        elif comm is not None:
            shows, shape = self._fitting_line(comm), self.known.shape[comm.number]
            alike = self._alike[shows]
            del alike.creations[number]
            alike.shapes[shape] -= 1
            if not alike.shapes[shape]:
                del alike.shapes[shape]
            if not alike.creations:
                del self._alike[shows]

    def _fitting_line(self, comm: Comm) -> tuple[int, int]:
        return comm.places[self.rank], len(comm.members)

    def _fitting(self, shown: CommunicatorUse) -> _Creation | None:
        """Return the oldest unused communicator of unknown ranks that fits what a line shows."""
        kinds = islice(self._unsettled.items(), MOST_FITTED)
        fitting = [next(iter(of.items())) for (low, high), of in kinds if low <= shown.size <= high]
        return min(fitting)[1] if fitting else None

    def _bind(self, shown: CommunicatorUse) -> Comm | None:
        alike = self._alike.get((shown.place, shown.size), _Alike())
        certain = len(alike.creations) == 1
        found = list(islice(alike.creations.values(), MOST_COMPARED))
        chosen = found[0] if found else self._fitting(shown)
        if len(alike.shapes) > 1:
            chosen = max(found, key=lambda one: self._lead(one, found))
            if self.notes:
                self.notes.count(AMBIGUOUS, self.rank, shown.line)
        if chosen is not None:
            self._take(chosen)
            if certain and chosen.key is not None:
                others = islice(self._unused.values(), MOST_COMPARED)
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
        """Return the number of ranks that use one communicator first, less those that do not."""
        votes = self.known.votes
        return sum(
            votes[one.key, other.key] - votes[other.key, one.key]
            for other in found
            if one.key is not None and other.key is not None
        )


def _sizes(made: Made) -> tuple[int, int]:
    """Return the smallest and largest size of a communicator that a line makes."""
    # a topology of one rank is rare: it is MPI_COMM_SELF
    several = made.kind == "comm_order" and made.parent.size > 1
    return 2 if several else 1, made.parent.size


class Communicators:
    """The known communicators of all ranks."""

    def __init__(self, world_size: int, shown_as: Mapping[int, int] | None = None) -> None:
        self.world_size = world_size
        self.shown_as = shown_as or {}
        self.world = Comm(0, tuple(range(world_size)))
        self.comms: dict[HandleKey, dict[int, Comm]] = {}
        # how many ranks that cannot mistake them use one communicator before another
        self.votes: Counter[tuple[HandleKey, HandleKey]] = Counter()
        self.numbered = [self.world]
        self.shape = [0]  # of each: the same number where the ranks are the same
        self._shapes = {self.world.members: 0}
        self._alone: dict[int, Comm] = {}

    def new(self, members: Sequence[int], remote: Sequence[int] = ()) -> Comm:
        """Return a new communicator; ``remote`` is the other group of an intercommunicator."""
        comm = Comm(len(self.numbered), tuple(members), tuple(remote))
        self.numbered.append(comm)
        self.shape.append(self._shapes.setdefault(comm.members, comm.number))
        return comm

    def alone(self, rank: int) -> Comm:
        """Return the communicator of one rank alone, MPI_COMM_SELF."""
        if rank not in self._alone:
            self._alone[rank] = self.new((rank,))
        return self._alone[rank]
