"""Caches for the panels' values, safe for several threads."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

KEPT_RESULTS = 24
"""Results of a panel. Chosen: those of some settings, which the user may go back to."""

_V = TypeVar("_V")


class Cache(Generic[_V]):
    """The most recently used values, up to ``most`` in size together."""

    def __init__(self, most: int, size: Callable[[_V], int] = lambda value: 1) -> None:
        self._lock = threading.Lock()
        self._most, self._size = most, size
        self._values: dict[Hashable, _V] = {}

    def get(self, key: Hashable) -> _V | None:
        """Return the value of a key, or None."""
        with self._lock:
            if key not in self._values:
                return None
            value = self._values[key] = self._values.pop(key)
            return value

    def values(self) -> list[_V]:
        """Return all values, the most recently used one at the end."""
        with self._lock:
            return list(self._values.values())

    def made(self, key: Hashable, make: Callable[[], _V]) -> _V:
        """Return the value of a key, made if it is not there."""
        value = self.get(key)
        if value is None:
            value = make()
            self.keep(key, value)
        return value

    def keep(self, key: Hashable, value: _V) -> None:
        """Set the value of a key, and drop the least recently used ones that are too many."""
        with self._lock:
            self._values.pop(key, None)
            self._values[key] = value
            while (
                len(self._values) > 1 and sum(map(self._size, self._values.values())) > self._most
            ):
                self._values.pop(next(iter(self._values)))
