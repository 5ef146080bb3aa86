"""BookSim's ``anynet``: a line for each router, with the nodes and routers that it is joined to.

    router 0 node 0 node 1 router 1 router 2 5

The number behind a router or a node is the latency of the channel to it in cycles, 1 where there is
none. Channels lead both ways; one that both routers list counts once.
"""

from __future__ import annotations

from typing import NamedTuple

from workbench.topology.files.assembly import Assembly, Place, whole_number
from workbench.topology.generator_checks import LARGEST
from workbench.topology.topology import Topology

CYCLE_S = 1e-9
"""The time of a cycle, which BookSim leaves open: chosen, a router's clock of 1 GHz."""

_ROUTER, _NODE = "router", "node"
_MOST_CYCLES = 10**6  # chosen: 1 ms at 1 GHz, far more than any link; beyond it is a slip


class _Channel(NamedTuple):
    cycles: int
    place: Place


def is_anynet(text: str) -> bool:
    """Return whether a text's first line is a router's of anynet."""
    lines = (line.partition("#")[0].lower().split() for line in text.splitlines())
    words = next(filter(None, lines), [])
    numbers = [word for word in words if word not in (_ROUTER, _NODE)]
    return (
        len(words) >= 4
        and words[0] == _ROUTER
        and words[2] in (_ROUTER, _NODE)
        and all(map(str.isdecimal, numbers))
    )


def parse_anynet(text: str, source: str, *, hosts: int | None = None) -> Topology:
    """Return the topology of an anynet file; None takes its nodes as hosts."""
    read = Assembly(source)
    channels: dict[tuple[int, int], _Channel] = {}
    at: dict[str, int] = {}
    lines = text.split("\n")
    for number, line in enumerate(lines, start=1):
        words = line.partition("#")[0].lower().split()
        place = Place(source, number)
        if not words:
            continue
        if words[0] != _ROUTER or len(words) < 2:
            raise place.error(
                f"a line must begin with a router, as router 0 node 0 router 1; got "
                f"{line.strip()[:80]!r}"
            )
        here = read.router(_number(words[1], "a router", place), place)
        rest = iter(words[2:])
        word = next(rest, None)
        while word is not None:
            kind, name = word, next(rest, None)
            if kind not in (_ROUTER, _NODE) or name is None:
                if number == len(lines):
                    read.note(f"left out, as it is cut off: {word[:80]!r}", place)
                    break
                raise place.error(
                    f"behind a router must be node or router and a number; got {word[:80]!r}"
                )
            word = next(rest, None)
            cycles = 1
            if word is not None and word not in (_ROUTER, _NODE):
                if number == len(lines) and not word.isdecimal():
                    read.note(f"left out, as it is cut off: {word[:80]!r}", place)
                    word = "1"
                cycles = whole_number(word, "a latency in cycles", _MOST_CYCLES, place, 1)
                word = next(rest, None)
            name = _number(name, f"a {kind}", place)
            if kind == _NODE:
                if at.setdefault(name, here) != here:
                    raise place.error(f"a node must be at one router; {name} is at two")
                if cycles > 1:
                    read.note("latencies of nodes' channels are left out")
                continue
            ends = here, read.router(name, place)
            back = channels.get((ends[1], ends[0]))
            channels.setdefault(ends, _Channel(cycles, place))
            if back is not None and back.cycles != cycles:
                read.note("channels whose ways differ in latency have that of the first", place)
    slow = len({channel.cycles for channel in channels.values()}) > 1
    if slow:
        read.note(f"latencies are in cycles; a cycle is taken as {CYCLE_S * 1e9:g} ns")
    for (one, other), channel in channels.items():
        if (other, one) not in channels or one < other:
            latency = channel.cycles * CYCLE_S if slow else None
            read.link(one, other, channel.place, latency=latency)
    for name, router in at.items():
        read.add_host(router, name=name)
    return read.topology(hosts=0 if hosts is None and not at else hosts)


def _number(word: str, meaning: str, place: Place) -> str:
    return str(whole_number(word, meaning, LARGEST - 1, place))
