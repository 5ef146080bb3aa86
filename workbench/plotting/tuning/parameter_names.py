"""Names of parameters that are short enough to stand beside an axis."""

from __future__ import annotations

from collections.abc import Sequence

MOST = 18
"""Longest name, in characters."""


def short_names(names: Sequence[str]) -> dict[str, str]:
    """Return a short form of each name, its last words if it is long; no two are equal."""
    if max(map(len, names), default=0) <= MOST:
        return {name: name for name in names}
    words = [name.split("_") for name in names]
    # Words that all begin with, of which each name keeps its last.
    shared = 0
    while len(words) > 1 and all(
        len(one) > shared + 1 and one[shared] == words[0][shared] for one in words
    ):
        shared += 1
    short = {name: _end(name, one[shared:]) for name, one in zip(names, words, strict=True)}
    return short if len(set(short.values())) == len(names) else {name: name for name in names}


def _end(name: str, words: Sequence[str]) -> str:
    while len(words) > 1 and len("_".join(words)) >= MOST:
        words = words[1:]
    end = "_".join(words)
    if len(end) > MOST:
        end = end[1 - MOST :]
    return name if end == name else f"…{end}"
