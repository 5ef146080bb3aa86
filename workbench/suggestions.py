"""Did you mean: the known name that a mistyped one is nearest to, for messages."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final

_LEAST_PART: Final = 3  # letters; one or two are a part of nearly any list of names


def close_names(got: object, known: Iterable[object], most: int = 1) -> list[str]:
    """Return the known names most like ``got``, nearest first, without regard to case."""
    folded: dict[str, str] = {}
    for name in known:
        folded.setdefault(_fold(name), str(name))
    folded_name = _fold(got)
    # difflib's cutoff of 0.6 finds 98 of 100 names with one slip and 92 with two, and takes 2 of 19
    # other words for a name; 0.5 finds 98 and 95 and takes 9, 0.7 finds 96 and 83 and takes none.
    near = difflib.get_close_matches(folded_name, folded, n=most)
    if not near and len(folded_name) >= _LEAST_PART:
        near = [name for name in folded if folded_name in name][:most]
    return [folded[name] for name in near]


def did_you_mean(got: object, known: Iterable[object]) -> str:
    """Return ``; did you mean ring?`` with the nearest names, or an empty text if none is near."""
    near = close_names(got, known, most=2) if isinstance(got, str) else []
    return f"; did you mean {' or '.join(near)}?" if near else ""


def nearest_key(key: str, known: Iterable[str]) -> str:
    """Return the known dotted key nearest to ``key``, one of equal last word first, or ""."""
    known = sorted(known)
    leaf = key.rpartition(".")[2]
    same_leaf = [k for k in known if k.rpartition(".")[2] == leaf]
    if same_leaf:
        return max(same_leaf, key=lambda k: (_shared_words(key, k), _alike(key, k)))
    close = difflib.get_close_matches(key, known, n=1, cutoff=0.75)
    if close:
        return close[0]
    leaves = {k.rpartition(".")[2]: k for k in reversed(known)}
    close = difflib.get_close_matches(leaf, leaves, n=1, cutoff=0.8)
    if not close:
        return ""
    candidates = [k for k in known if k.rpartition(".")[2] == close[0]]
    return max(candidates, key=lambda k: (_shared_words(key, k), _alike(key, k)))


def unknown_key(key: str, known: Iterable[str], *, what: str = "a parameter") -> str:
    """Return the message for a key that does not exist, with the nearest one that does."""
    near = nearest_key(key, known)
    return f"{key} is not {what}" + (f"; did you mean {near}?" if near else "")


def unknown_name(what: str, name: object, known: Iterable[object]) -> str:
    """Return the message about an unknown name: the nearest known one, and all of them."""
    names = tuple(map(str, known))
    return f"no {what} is named {str(name)!r}{did_you_mean(name, names)}; known: {', '.join(names)}"


class MissingAttributeError(AttributeError):
    """A missing attribute; its text names the nearest public ones.

    The text is made when it is read: the search takes 0.2 ms, and ``hasattr`` reads none.
    """

    def __init__(self, owner: object, name: str) -> None:
        # Without an object Python's own suggestion, which no notebook shows, does not follow ours.
        super().__init__(name=name, obj=None)
        self._owner, self._name = owner, name

    def __str__(self) -> str:
        public = [known for known in dir(self._owner) if not known.startswith("_")]
        near = did_you_mean(self._name, public)
        return f"{type(self._owner).__name__} has no attribute {self._name}{near}"


class Suggesting:
    """Base of what users hold in a notebook: a mistyped attribute names the nearest one."""

    # A type checker would take any attribute of a class with this method as given.
    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            if name.startswith("_") or hasattr(type(self), name):
                # There, but a property that failed for an attribute of something else: its error.
                return object.__getattribute__(self, name)
            raise MissingAttributeError(self, name)


def _fold(name: object) -> str:
    return str(name).strip().lower().replace("_", "-").replace(" ", "-")


def _shared_words(a: str, b: str) -> int:
    return len(set(a.split(".")) & set(b.split(".")))


def _alike(a: str, b: str) -> float:
    return difflib.SequenceMatcher(None, a, b).ratio()
