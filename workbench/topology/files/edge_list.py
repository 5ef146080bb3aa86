"""Edge lists: a line for each link, two names with white space between them.

    # anything after a sign like this is not read
    router 0 hosts=2 group=0 at=0,0
    0 1
    0 2 optical 3

A link may have a class, and after it how many are side by side. A line that begins with ``router``
sets a router's hosts, group or coordinates.
"""

from __future__ import annotations

import numpy as np

from workbench.topology.files.assembly import (
    LINK,
    MOST_HOSTS_OF_ROUTER,
    MOST_PARALLEL,
    Assembly,
    Place,
    coordinates_of,
    whole_number,
)
from workbench.topology.topology import Topology

_ROUTER = "router"
_MOST_WORDS = 8


def parse_edge_list(
    text: str, source: str, *, hosts: int | None = None, directed: bool | None = None
) -> Topology:
    """Return the topology of an edge list; the arguments are those of ``parse_csv``."""
    read = Assembly(source)
    for number, line in enumerate(text.split("\n"), start=1):
        words = line.partition("#")[0].split(None, _MOST_WORDS)
        if not words:
            continue
        place = Place(source, number)
        if words[0] == _ROUTER:
            _read_router(read, words[1:], place)
            continue
        if not 2 <= len(words) <= 4:
            raise place.error(
                "a link must be two routers, and may have its class and how many are side by "
                f"side; got {len(words)} words: {line.strip()[:80]!r}"
            )
        read.link(
            read.router(words[0], place),
            read.router(words[1], place),
            place,
            words[2] if len(words) > 2 else LINK,
            whole_number(words[3], "parallel links", MOST_PARALLEL, place, 1)
            if len(words) > 3
            else 1,
        )
    return read.topology(hosts=hosts, directed=directed)


def _read_router(read: Assembly, words: list[str], place: Place) -> None:
    if not words:
        raise place.error("router must be followed by a router's name, as in: router 0 hosts=2")
    router = read.router(words[0], place)
    for word in words[1:]:
        key, equals, value = word.partition("=")
        if key == "hosts" and equals:
            count = whole_number(value, "a router's hosts", MOST_HOSTS_OF_ROUTER, place)
            read.hosts(router, count, place)
        elif key == "group" and equals:
            read.group(router, value, place)
        elif key == "at" and equals:
            read.at(router, coordinates_of(value, ",", place), place)
        else:
            raise place.error(
                f"a router has hosts=, group= and at=, without spaces; got {word[:80]!r}"
            )


def to_edge_list(topology: Topology) -> str:
    """Return a topology as an edge list, from which `parse_edge_list` makes an equal graph.

    Links of two routers and one class stand in one line; spaces in a class's name become hyphens.
    Hosts must be numbered router by router
    to keep their numbers.

    Args:
        topology: any.
    """
    lines = [f"# {' '.join(topology.name.split())}"]
    hosts = np.bincount(topology.host_router, minlength=topology.num_routers).tolist()
    for router, (count, group, at) in enumerate(
        zip(hosts, topology.group.tolist(), topology.coordinates.tolist(), strict=True)
    ):
        words = [f"{_ROUTER} {router} hosts={count}"]
        words += [f"group={group}"] if group >= 0 else []
        words += [f"at={','.join(map(str, at))}"] if at else []
        lines.append(" ".join(words))
    for (one, other, link_class), count in bundles(topology):
        several = f" {count}" if count > 1 else ""
        lines.append(f"{one} {other} {word_of(topology.classes[link_class])}{several}")
    return "\n".join(lines) + "\n"


def word_of(name: str) -> str:
    """Return a class's name as one word, without spaces."""
    return "-".join(name.replace("#", "-").split()) or LINK


def bundles(topology: Topology) -> list[tuple[tuple[int, int, int], int]]:
    """Return parallel links together, as (router, router, class) and their number.

    They are in the order of their classes, as a reader numbers these, then of routers; more than
    fit one line of a file are split.
    """
    rows = np.column_stack((topology.link_class, np.sort(topology.links, axis=1)))
    found, counts = np.unique(rows, axis=0, return_counts=True)
    return [
        ((one, other, link_class), min(count - parallel, MOST_PARALLEL))
        for (link_class, one, other), count in zip(found.tolist(), counts.tolist(), strict=True)
        for parallel in range(0, count, MOST_PARALLEL)
    ]
