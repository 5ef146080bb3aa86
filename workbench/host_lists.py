"""Lists of hosts as Slurm prints them: ``cn[1,3,5-9]``, ``r[1-2]n[01-16]``, ``n[1-2,1[0-3]]``."""

from __future__ import annotations

import re
from collections.abc import Iterator

from workbench.errors import ParameterError

MOST_NAMES = 200_000
"""Most names in a list, read in 0.5 s: Fugaku has 158,976 nodes, and a wrong digit is refused."""

_DEEPEST = 32  # brackets of one name, within each other or side by side; lists have two or three
_RANGE = re.compile(r"(\d+)(?:-(\d+))?")


def expand_hosts(text: str) -> list[str]:
    """Return the names in a list of hosts, in its order; a name without brackets is one."""
    found: list[str] = []
    for part in _parts(text, text):
        found += _expanded(part.strip(), text, MOST_NAMES - len(found), 0)
    return found


def _parts(content: str, text: str) -> Iterator[str]:
    """Yield what stands between the commas of a list that are within no bracket."""
    depth, start = 0, 0
    for at, letter in enumerate(f"{content},"):
        depth += (letter == "[") - (letter == "]")
        if not 0 <= depth <= _DEEPEST:
            raise _no_list(text)
        if letter == "," and depth == 0:
            yield content[start:at]
            start = at + 1
    if depth:
        raise _no_list(text)


def _expanded(name: str, text: str, most: int, depth: int) -> list[str]:
    """Return the names that one with brackets stands for, the first bracket slowest."""
    if not name or most < 1 or depth > _DEEPEST:
        raise _no_list(text)
    head, bracket, rest = name.partition("[")
    if not bracket:
        return [name]
    end, open_ = 0, 1
    while open_:
        open_ += (rest[end] == "[") - (rest[end] == "]")
        end += 1
    tails = _expanded(rest[end:], text, most, depth + 1) if rest[end:] else [""]
    found: list[str] = []
    for part in _parts(rest[: end - 1], text):
        for middle in _within(part.strip(), text, most - len(found), depth):
            if len(found) + len(tails) > most:
                raise _no_list(text)
            found += [f"{head}{middle}{tail}" for tail in tails]
    return found


def _within(part: str, text: str, most: int, depth: int) -> list[str]:
    """Return the numbers of a part within brackets: a range, or another list."""
    if "[" in part:
        return _expanded(part, text, most, depth + 1)
    ends = _RANGE.fullmatch(part)
    if ends is None:
        raise _no_list(text)
    low, high = int(ends[1]), int(ends[2] or ends[1])
    if not low <= high < low + most:
        raise _no_list(text)
    return [f"{number:0{len(ends[1])}d}" for number in range(low, high + 1)]


def _no_list(text: str) -> ParameterError:
    return ParameterError(
        "a host must be a name or a list such as cn[1,3,5-9] or rack[1-2]n[01-16], with at most "
        f"{MOST_NAMES:,} names in all; got {text[:80]!r}",
        key="hosts",
    )
