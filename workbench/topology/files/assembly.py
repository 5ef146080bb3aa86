"""A topology assembled piece by piece from a file, with the line for each error."""

from __future__ import annotations

import math
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from workbench.errors import ParseError
from workbench.topology.generator_checks import LARGEST, LONGEST_NUMBER
from workbench.topology.topology import MOST_CLASSES, TERMINAL, Topology

ASSUMED = "assumed"
"""Parameter ``hosts`` of a topology whose file names none: one at each router."""

LINK = "link"
"""The class of links in a file without classes."""

MOST_HOSTS_OF_ROUTER, MOST_PARALLEL = 65536, 256
"""Most hosts of a router, and most parallel links of one line of a file.

Chosen: no switch has so many ports, and no line of a cabling so many cables.
"""

SHOWN = 80
"""Characters of a file's text that an error quotes: a line of a terminal."""

_LONGEST_NAME = 255  # characters: those of a host's name in DNS (RFC 1035, 2.3.4)
_LARGEST_NUMBER = 2**31 - 1  # coordinates are int32
_MOST_COORDINATES = 16  # chosen: machines have up to six (Tofu)


class Place(NamedTuple):
    """Where a piece of a file is, for errors: the source's name and the line, 0 for the whole."""

    source: str
    line: int = 0

    def error(self, message: str) -> ParseError:
        """Return a ParseError for this place."""
        return ParseError(message, source=self.source, line=self.line)


@dataclass
class _Stated:
    """A quantity that all links of a file state, or none."""

    name: str
    of: str
    values: array[float] = field(default_factory=lambda: array("d"))
    lacking: Place | None = None  # the first that does not state it

    def add(self, value: float | None, count: int, place: Place) -> None:
        """Add what a line of the file states for ``count`` links."""
        if value is None:
            self.lacking = self.lacking or place
            return
        if not (math.isfinite(value) and value >= 0 and (value > 0 or self.name == "latency")):
            least = "at least" if self.name == "latency" else "above"
            raise place.error(f"a {self.name} must be {least} 0; got {value:g}")
        self.values.extend((value,) * count)

    def all(self) -> NDArray[np.float64]:
        """Return the values, none where none was stated."""
        if len(self.values) and self.lacking is not None:
            raise self.lacking.error(
                f"all {self.of} must state their {self.name}, or none; others do, this one does not"
            )
        return np.array(self.values)


class Host(NamedTuple):
    """A host that a file lists by itself."""

    router: int
    bandwidth: float | None  # of its link, B/s
    name: str


@dataclass
class Assembly:
    """Routers by name and the links between them, in the order of the file."""

    source: str  # name of the file, for errors
    _routers: dict[str, int] = field(default_factory=dict)
    _classes: dict[str, int] = field(default_factory=dict)
    _ends: array[int] = field(default_factory=lambda: array("i"))
    _link_class: array[int] = field(default_factory=lambda: array("B"))
    _bandwidth: _Stated = field(default_factory=lambda: _Stated("bandwidth", "links"))
    _latency: _Stated = field(default_factory=lambda: _Stated("latency", "links"))
    _hosts: dict[int, int] = field(default_factory=dict)
    _own_hosts: list[Host] = field(default_factory=list)
    _groups: dict[int, str] = field(default_factory=dict)
    _at: dict[int, tuple[int, ...]] = field(default_factory=dict)
    _notes: dict[str, None] = field(default_factory=dict)
    _relative: bool | None = None

    def relative(self, relative: bool, place: Place) -> None:
        """Set whether bandwidths are multiples of some link's and not B/s."""
        if self._relative not in (None, relative):
            raise place.error("bandwidths must be all multiples, such as 2x, or all have a unit")
        self._relative = relative

    def note(self, text: str, place: Place | None = None) -> None:
        """Add a note on what was assumed, joined or left out, once; ``place`` is its line."""
        line = place.line if place else 0
        self._notes[f"line {line}: {text}" if line else text] = None

    def router(self, name: str, place: Place) -> int:
        """Return the number of a router; a new name gets the next number."""
        number = self._routers.get(name)
        if number is None:
            if not 1 <= len(name) <= _LONGEST_NAME:
                raise place.error(
                    f"a router's name must have 1 to {_LONGEST_NAME} characters; got {len(name)}"
                )
            number = len(self._routers)
            if number >= LARGEST:
                raise place.error(f"a topology must have at most {LARGEST} routers")
            self._routers[name] = number
        return number

    def link(
        self,
        one: int,
        other: int,
        place: Place,
        link_class: str = LINK,
        parallel: int = 1,
        bandwidth: float | None = None,  # B/s, of each of them, each way
        latency: float | None = None,  # s
    ) -> None:
        """Add ``parallel`` links between two routers, given by their numbers."""
        if one == other:
            raise place.error("a link must join two routers; this one joins a router to itself")
        number = self._classes.get(link_class)
        if number is None:
            if link_class == TERMINAL or not 1 <= len(link_class) <= _LONGEST_NAME:
                raise place.error(
                    f"a link's class must be a name other than {TERMINAL!r}, which is that of "
                    f"hosts' links; got {link_class[:80]!r}"
                )
            if len(self._classes) == MOST_CLASSES - 1:
                raise place.error(
                    f"a topology must have at most {MOST_CLASSES - 1} classes of links, "
                    f"{', '.join(self._classes)}; got another, {link_class[:80]!r}"
                )
            number = len(self._classes) + 1
            self._classes[link_class] = number
        if len(self._link_class) + parallel > LARGEST:
            raise place.error(f"a topology must have at most {LARGEST} links")
        self._ends.extend((one, other) * parallel)
        self._link_class.extend((number,) * parallel)
        self._bandwidth.add(bandwidth, parallel, place)
        self._latency.add(latency, parallel, place)

    def hosts(self, router: int, count: int, place: Place) -> None:
        """Set the number of a router's hosts."""
        if self._hosts.setdefault(router, count) != count:
            raise place.error(
                f"a router's hosts must be given once; got {count} after {self._hosts[router]}"
            )

    def add_host(self, router: int, bandwidth: float | None = None, name: str = "") -> None:
        """Add one host to a router; ``bandwidth`` is that of its link, B/s."""
        self._own_hosts.append(Host(router, bandwidth, name))

    def group(self, router: int, name: str, place: Place) -> None:
        """Set the group of a router; an empty name and -1 stand for none."""
        if name not in ("", "-1") and self._groups.setdefault(router, name) != name:
            raise place.error("a router's group must be given once")

    def at(self, router: int, coordinates: Sequence[int], place: Place) -> None:
        """Set a router's coordinates, as many as other routers have."""
        first = next(iter(self._at.values()), coordinates)
        if len(coordinates) != len(first) or len(coordinates) > _MOST_COORDINATES:
            raise place.error(
                f"all routers must have as many coordinates, at most {_MOST_COORDINATES}; got "
                f"{len(coordinates)} after {len(first)}"
            )
        self._at[router] = tuple(coordinates)

    def topology(
        self,
        *,
        hosts: int | None = None,  # of each router; None: as in the file, or 1 where it has none
        directed: bool | None = False,  # a link is listed once for each way; None: if all are
        name: str = "",  # empty: the source's
        ordered: bool = False,  # keep the file's order even where all names are whole numbers
    ) -> Topology:
        """Return the assembled topology, its hosts numbered router by router.

        Hosts whose names are all whole numbers are numbered by these.
        """
        everything = Place(self.source)
        count = len(self._routers)
        if not count:
            raise everything.error("a topology must have routers; this file names none")
        routers = list(self._routers)
        number = np.arange(count) if ordered else _numbering(routers)
        ends = np.frombuffer(self._ends, np.int32).reshape(-1, 2)
        link_class = np.frombuffer(self._link_class, np.uint8)
        if directed is None:
            directed = _both_ways(ends, link_class, count)
        bandwidth, latency = self._bandwidth.all(), self._latency.all()
        if directed:
            for stated, what in ((bandwidth, "bandwidth"), (latency, "latency")):
                if len(stated) and not _same_both_ways(ends, link_class, count, stated):
                    raise everything.error(f"a link must have the same {what} both ways")
            kept = _once(ends, link_class, count)
            ends, link_class = ends[kept], link_class[kept]
            bandwidth, latency = (one[kept] if len(one) else one for one in (bandwidth, latency))
        assumed = hosts is None and not (self._hosts or self._own_hosts)
        at, of_hosts, host_names = self._placed(number, 1 if assumed else hosts)
        group = np.full(count, -1, np.int32)
        if self._groups:
            names = list(dict.fromkeys(self._groups.values()))
            of_name = dict(zip(names, _numbering(names).tolist(), strict=True))
            group[number[list(self._groups)]] = [of_name[name] for name in self._groups.values()]
        coordinates = np.zeros((count, 0), np.int32)
        if self._at:
            if len(self._at) != count:
                raise everything.error(
                    f"all {count} routers must have coordinates or none; {len(self._at)} have"
                )
            coordinates = np.zeros((count, len(next(iter(self._at.values())))), np.int32)
            coordinates[number[list(self._at)]] = list(self._at.values())
        return Topology(
            name=name or self.source,
            num_routers=count,
            links=number[ends].astype(np.int32).reshape(-1, 2),
            link_class=link_class,
            classes=(TERMINAL, *self._classes) if self._classes else (TERMINAL, LINK),
            host_router=at,
            group=group,
            coordinates=coordinates,
            parameters={"hosts": ASSUMED} if assumed else {},
            link_bandwidth=bandwidth,
            link_latency=latency,
            host_bandwidth=of_hosts,
            router_names=_kept([routers[place] for place in number.argsort()]),
            host_names=host_names,
            notes=tuple(self._notes),
            relative=bool(self._relative),
        )

    def _placed(
        self, number: NDArray[np.int64], each: int | None
    ) -> tuple[NDArray[np.int32], NDArray[np.float64], tuple[str, ...]]:
        """Return the router, the link's bandwidth and the name of each host.

        ``number`` is that of each router of the file in the topology; ``each`` the hosts of each
        router, None for those of the file.
        """
        count = len(number)
        own = self._own_hosts if each is None else []
        of_router = np.zeros(count, np.int64)
        if each is not None:
            of_router[:] = each
        elif self._hosts:
            of_router[number[list(self._hosts)]] = list(self._hosts.values())
        everything = Place(self.source)
        total = int(of_router.sum()) + len(own)
        if total > LARGEST:
            raise everything.error(f"a topology must have at most {LARGEST} hosts; got {total}")
        at = np.repeat(np.arange(count), of_router)
        if not own:
            return at.astype(np.int32), np.zeros(0), ()
        rates = [host.bandwidth for host in own if host.bandwidth is not None]
        if rates and len(rates) < total:
            raise everything.error(
                "all hosts must state the bandwidth of their link, or none; got it for "
                f"{len(rates)} of {total}"
            )
        if rates and not 0 < min(rates) <= max(rates) < math.inf:
            raise everything.error("the bandwidth of a host's link must be above 0, and finite")
        names = [host.name for host in own]
        if len(set(filter(None, names))) < len(names) - names.count(""):
            again = next(name for name, many in Counter(filter(None, names)).items() if many > 1)
            raise everything.error(f"each host must be listed once; {again[:80]!r} is listed again")
        order = _numbering(names).argsort()
        at = np.concatenate((at, number[[host.router for host in own]]))
        if len(at) > len(own) or not all(map(is_number, names)):
            order = at.argsort(kind="stable")
        named = len(at) == len(own) and "" not in names
        return (
            at[order].astype(np.int32),
            np.array(rates)[order] if rates else np.zeros(0),
            _kept([names[place] for place in order.tolist()]) if named else (),
        )


def counted(count: int, what: str) -> str:
    """Return a number with what it counts: ``1 port``, ``2 ports``, ``2 switches``."""
    ending = "" if count == 1 else "es" if what.endswith("ch") else "s"
    return f"{count} {what}{ending}"


def take_rows(
    rows: Iterable[tuple[Place, list[str]]],
    take: Callable[[Place, list[str]], bool],  # whether it was a header
    read: Assembly,
    *,
    ended: bool,  # whether a line break ends the last row
) -> None:
    """Take each row of a table; a last one that is cut off is left out, with a note.

    It is cut off where it has fewer cells than every other row, if there are two, and of those of a
    table with a header or of a file without a last line break; or where it cannot be read and no
    line break ends it.
    """
    least, taken, filled, header = _LARGEST_NUMBER, 0, True, False
    held: tuple[Place, list[str]] | None = None
    for row in rows:
        if held is not None:
            if take(*held):
                header = True
            else:
                taken += 1
                filled = filled and held[1][-1] != ""
            least = min(least, len(held[1]))
        held = row
    if held is None:
        return
    place, cells = held
    if not ended and filled and taken and cells[-1] == "":
        cells = cells[:-1]
    if taken > 1 and len(cells) < (least if header or not ended else 2):
        read.note(f"left out, as it is cut off: {' '.join(cells)[:80]!r}", place)
        return
    try:
        take(place, cells)
    except ParseError:
        if ended or not taken:
            raise
        read.note(f"left out, as it is cut off: {' '.join(cells)[:80]!r}", place)


def whole_number(text: str, meaning: str, most: int, place: Place, least: int = 0) -> int:
    """Return a whole number of a file; ``meaning`` names it in the error."""
    digits = text.removeprefix("-")
    if not (digits.isascii() and digits.isdecimal() and len(digits) <= LONGEST_NUMBER) or not (
        least <= int(text) <= most
    ):
        raise place.error(
            f"{meaning} must be a whole number from {least} to {most}; got {text[:80]!r}"
        )
    return int(text)


def coordinates_of(text: str, separator: str, place: Place) -> tuple[int, ...]:
    """Return a router's coordinates from text."""
    parts = text.split(separator, _MOST_COORDINATES)
    return tuple(
        whole_number(part.strip(), "a coordinate", _LARGEST_NUMBER, place, -_LARGEST_NUMBER)
        for part in parts
    )


def is_number(name: str) -> bool:
    """Return whether a name is a whole number, by which its owner is numbered."""
    return name.isascii() and name.isdecimal() and len(name) <= LONGEST_NUMBER


def _kept(names: list[str]) -> tuple[str, ...]:
    """Return names, none where they are only the numbers from 0."""
    return () if all(name == str(place) for place, name in enumerate(names)) else tuple(names)


def _numbering(names: list[str]) -> NDArray[np.int64]:
    """Return the number of each name: by its value if all are whole numbers, else by its place."""
    order = np.arange(len(names))
    if all(map(is_number, names)):
        order[np.array(sorted(range(len(names)), key=lambda place: int(names[place])))] = np.arange(
            len(names)
        )
    return order


def _codes(
    ends: NDArray[np.int32], link_class: NDArray[np.uint8], count: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return a code of each link's routers and class, and 1 where the higher router is first."""
    low, high = np.sort(ends, axis=1).astype(np.int64).T
    code = (low * count + high) * MOST_CLASSES + link_class
    return code, (ends[:, 0] > ends[:, 1]).astype(np.int64)


def _both_ways(ends: NDArray[np.int32], link_class: NDArray[np.uint8], count: int) -> bool:
    code, backwards = _codes(ends, link_class, count)
    return bool(np.array_equal(np.sort(code[backwards == 0]), np.sort(code[backwards == 1])))


def _once(ends: NDArray[np.int32], link_class: NDArray[np.uint8], count: int) -> NDArray[np.bool_]:
    """Return whether each link is of the direction of its two routers and class that has more."""
    code, backwards = _codes(ends, link_class, count)
    pairs, of_link = np.unique(code, return_inverse=True)
    ways = np.bincount(of_link * 2 + backwards, minlength=2 * len(pairs)).reshape(-1, 2)
    kept: NDArray[np.bool_] = backwards == np.argmax(ways, axis=1)[of_link]
    return kept


def _same_both_ways(
    ends: NDArray[np.int32],
    link_class: NDArray[np.uint8],
    count: int,
    stated: NDArray[np.float64],  # of each link
) -> bool:
    """Return whether links that are listed both ways state the same each way."""
    code, backwards = _codes(ends, link_class, count)
    ways = [np.column_stack((code, stated))[backwards == way] for way in (0, 1)]
    both = np.intersect1d(code[backwards == 0], code[backwards == 1])
    there, back = (
        np.unique(one[np.isin(one[:, 0].astype(np.int64), both)], axis=0) for one in ways
    )
    return np.array_equal(there, back)
