"""Caches for the panels' values, safe for several threads."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Mapping
from typing import Generic, TypeVar

from workbench.panels.programs import AnyProgram, ProgramSource
from workbench.programs import ExecutionGraph
from workbench.programs.find_program import graph_of

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


class ProgramCache:
    """The last programs and execution graphs, made when they are first asked for."""

    def __init__(self, programs: int, graphs: int) -> None:
        self._programs: Cache[AnyProgram] = Cache(programs)
        self._graphs: Cache[ExecutionGraph] = Cache(graphs)

    def known_program(self, source: ProgramSource) -> AnyProgram | None:
        """Return a program that is in the cache, or None."""
        return self._programs.get(source)

    def known_graph(
        self, source: ProgramSource, algorithms: Mapping[str, str]
    ) -> ExecutionGraph | None:
        """Return the graph of a program if it is in the cache, or None."""
        return self._graphs.get(source.graph_key(algorithms))

    def program(self, source: ProgramSource) -> AnyProgram:
        """Return a program."""
        return self._programs.made(source, source.make)

    def graph(self, source: ProgramSource, algorithms: Mapping[str, str]) -> ExecutionGraph:
        """Return a program's graph with algorithms by operation."""
        key = source.graph_key(algorithms)
        return self._graphs.made(key, lambda: graph_of(self.program(source), algorithms))
