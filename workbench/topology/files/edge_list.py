"""Edge lists: a line for each link, two names with white space between them.

    # anything after a sign like this is not read
    router 0 hosts=2 group=0 at=0,0
    host n1 0 bandwidth=100Gbps
    0 1
    0 2 optical links=3 bandwidth=200Gbps latency=0.5us

What stands behind two routers says what it is: a class, ``links=`` for how many are side by side, a
bandwidth or a latency with its unit; or attributes in braces, as networkx writes them. A number
alone is refused, but below a first line that names the columns, such as ``src dst rate latency``,
which may be a comment. A line that begins with ``router`` sets a router's hosts, group or
coordinates, one that begins with ``host`` names a host and its router.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from workbench.topology.files.assembly import (
    LINK,
    MOST_HOSTS_OF_ROUTER,
    Assembly,
    Place,
    coordinates_of,
    take_rows,
    whole_number,
)
from workbench.topology.files.columns import (
    LinkColumn,
    are_links,
    are_settings,
    column_of,
    free_values,
    header_of,
    is_class,
    is_header,
    link_values,
    quantity_of,
)
from workbench.topology.files.writing import bundles, hosts_of, router_labels
from workbench.topology.topology import Topology

_ROUTER, _HOST = "router", "host"
_KEYWORDS = (_ROUTER, _HOST)
_BRACED = re.compile(r"\s(\{.*\})\s*$")
_MOST_WORDS = 16  # of a line, the rest is one: chosen; columns have ten meanings


def is_edge_list(text: str) -> bool:
    """Return whether a text begins as an edge list does, with a header or without."""
    whole = text.split("\n")[:-1] if text.count("\n") > 1 else text.split("\n")
    lines = [line.strip() for line in whole]
    bare = [words for line in lines if (words := _words(line))]
    if not bare or len(bare[0]) < 2:
        return False
    if bare[0][0] == _ROUTER:
        return all("=" in word for word in bare[0][2:])
    above = lines[: next(at for at, line in enumerate(lines) if line and line[0] != "#")]
    comments = [line.lstrip("# ").split() for line in above]
    named = any(len(words) == len(bare[0]) and is_header(words) for words in comments)
    return named or is_header(bare[0]) or are_links(bare)


def parse_edge_list(
    text: str, source: str, *, hosts: int | None = None, directed: bool | None = None
) -> Topology:
    """Return the topology of an edge list; the arguments are those of ``parse_csv``."""
    read = Assembly(source)
    rows = list(_rows(text, source))
    if are_settings([words for _, words in rows]):
        raise rows[0][0].error(
            "a link must be two routers; these lines are settings, each a name and a number, of "
            "a kind that is not read"
        )
    columns = _commented_header(text, source, read)
    first = columns is None

    def take(place: Place, words: list[str]) -> bool:
        nonlocal columns, first
        if words[0] in _KEYWORDS:
            first = False
            (_read_router if words[0] == _ROUTER else _read_host)(read, words[1:], place)
            return False
        if first:
            first = False
            columns = header_of(words, place, read)
            if columns is not None:
                return True
        if columns is None:
            _read_link(read, words, place)
        else:
            _read_row(read, columns, words, place)
        return False

    take_rows(rows, take, read, ended=text.endswith("\n"))
    return read.topology(hosts=hosts, directed=directed)


def _rows(text: str, source: str) -> Iterator[tuple[Place, list[str]]]:
    for number, line in enumerate(text.split("\n"), start=1):
        words = _words(line)
        if words:
            yield Place(source, number), words


def _words(line: str) -> list[str]:
    """Return the words of a line without its comment; attributes in braces are the last."""
    bare = line.partition("#")[0]
    braced = _BRACED.search(bare)
    words = bare[: braced.start() if braced else None].split(None, _MOST_WORDS)
    return [*words, braced[1]] if braced else words


def _commented_header(text: str, source: str, read: Assembly) -> list[LinkColumn] | None:
    """Return the columns that a comment above the first link names, None where none does."""
    named: tuple[Place, list[str]] | None = None
    for number, line in enumerate(text.split("\n"), start=1):
        bare = line.strip()
        if bare.startswith("#"):
            words = bare.lstrip("# ").split(None, _MOST_WORDS)
            meanings = [column.meaning for word in words[:2] if (column := column_of(word))]
            if sorted(meanings) == ["one", "other"]:
                named = Place(source, number), words
        elif bare:
            width = len(bare.partition("#")[0].split())
            if named is None or len(named[1]) != width or bare.split()[0] in _KEYWORDS:
                return None
            return header_of(named[1], named[0], read)
    return None


def _read_link(read: Assembly, words: list[str], place: Place) -> None:
    if len(words) < 2:
        raise place.error(f"a link must be two routers; got one word: {words[0][:80]!r}")
    values = free_values(words[2:], place, read)
    read.link(read.router(words[0], place), read.router(words[1], place), place, *values)


def _read_row(read: Assembly, columns: list[LinkColumn], words: list[str], place: Place) -> None:
    """Read a link below a header."""
    if len(words) > len(columns):
        raise place.error(
            f"a row must have at most the {len(columns)} columns that are named; got {len(words)}"
        )
    cells = {column.meaning: word for column, word in zip(columns, words, strict=False)}
    if "one" not in cells or "other" not in cells:
        raise place.error(f"a row must have two routers; got {' '.join(words)[:80]!r}")
    values = link_values(columns, words, place, read)
    one, other = (read.router(cells[key], place) for key in ("one", "other"))
    read.link(one, other, place, *values)


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


def _read_host(read: Assembly, words: list[str], place: Place) -> None:
    """Read a host's line: its name, its router, and the bandwidth of its link."""
    bandwidth = None
    if len(words) == 3 and words[2].startswith("bandwidth="):
        value = words[2].partition("=")[2]
        bandwidth = quantity_of(LinkColumn("bandwidth", "bandwidth"), value, place, read)
    elif len(words) != 2:
        raise place.error(
            "host must be followed by the host's name and its router, as in: host n1 0 "
            f"bandwidth=100Gbps; got {' '.join(words)[:80]!r}"
        )
    read.add_host(read.router(words[1], place), bandwidth, words[0])


def to_edge_list(topology: Topology) -> str:
    """Return a topology as an edge list, from which `parse_edge_list` makes an equal graph.

    Links of two routers that are alike stand in one line; spaces in a class's name become hyphens.
    Names are kept if none has spaces. Hosts without names must be numbered router by router to keep
    their numbers.

    Args:
        topology: any.
    """
    lines = [f"# {' '.join(topology.name.split())}"]
    names = router_labels(topology, _is_word)
    counts, own = hosts_of(topology, _is_word)
    for router, (count, group, at) in enumerate(
        zip(counts, topology.group.tolist(), topology.coordinates.tolist(), strict=True)
    ):
        words = [f"{_ROUTER} {names[router]}"]
        words += [] if own else [f"hosts={count}"]
        words += [f"group={group}"] if group >= 0 else []
        words += [f"at={','.join(map(str, at))}"] if at else []
        lines.append(" ".join(words))
    for host in own:
        rate = f" bandwidth={host.bandwidth}" if host.bandwidth else ""
        lines.append(f"{_HOST} {host.name} {names[host.router]}{rate}")
    for link in bundles(topology):
        words = [names[link.one], names[link.other], word_of(topology.classes[link.link_class])]
        words += [f"links={link.count}"] if link.count > 1 else []
        words += [f"bandwidth={link.bandwidth}"] if link.bandwidth else []
        words += [f"latency={link.latency}"] if link.latency else []
        lines.append(" ".join(words))
    return "\n".join(lines) + "\n"


def _is_word(name: str) -> bool:
    return name.split() == [name] and "#" not in name and name not in _KEYWORDS


def word_of(name: str) -> str:
    """Return a class's name as one word, without spaces."""
    word = "-".join(name.replace("#", "-").split()) or LINK
    return word if is_class(word) else f"class={word}"
