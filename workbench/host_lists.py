"""Lists of hosts as Slurm prints them: ``cn[1,3,5-9]``, ``rack[1-2]n[01-16]``."""

from __future__ import annotations

import re

from workbench.errors import ParameterError

MOST_NAMES = 1_000_000
"""Most names in a list: a wrong digit must not fill the memory."""

_BRACKETS = re.compile(r"\[([^\[\]]*)\]")
_RANGE = re.compile(r"(\d+)(?:-(\d+))?")


def expand_hosts(text: str) -> list[str]:
    """Return the names in a list of hosts, in its order; a name without brackets is one."""
    found: list[str] = []
    depth, start = 0, 0
    for at, letter in enumerate(f"{text},"):
        depth += (letter == "[") - (letter == "]")
        if depth not in (0, 1):
            break
        if letter == "," and depth == 0:
            found += _expanded(text[start:at].strip(), MOST_NAMES - len(found))
            start = at + 1
    if depth:
        raise _no_list(text)
    return found


def _expanded(name: str, most: int) -> list[str]:
    """Return the names that one with ranges in brackets stands for, the first range slowest."""
    match = _BRACKETS.search(name)
    if match is None:
        if not name or most < 1:
            raise _no_list(name)
        return [name]
    found: list[str] = []
    for part in match[1].split(","):
        ends = _RANGE.fullmatch(part.strip())
        if ends is None:
            raise _no_list(name)
        low, high = int(ends[1]), int(ends[2] or ends[1])
        if not low <= high < low + most - len(found):
            raise _no_list(name)
        digits = len(ends[1])
        for number in range(low, high + 1):
            here = f"{name[: match.start()]}{number:0{digits}d}{name[match.end() :]}"
            found += _expanded(here, most - len(found))
    return found


def _no_list(text: str) -> ParameterError:
    return ParameterError(
        "a host must be a name or a list such as cn[1,3,5-9] or rack[1-2]n[01-16], with at most "
        f"{MOST_NAMES:,} names in all; got {text[:80]!r}",
        key="hosts",
    )
