"""What simulations have found for the comparison so far, by all that it hangs on."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from workbench.panels.compare.late import PATTERNS
from workbench.panels.compare.state import (
    LOADS,
    Compared,
    CompareState,
    Entry,
    Simulated,
    collective_routing,
    ranks_of,
)
from workbench.plotting.load_curves import LoadCurve
from workbench.topology import TopologyMetrics
from workbench.topology.metrics.resilience import Resilience
from workbench.topology.throughput import Throughput

Key = tuple[object, ...]
"""What is found, the topology's own key, and what else it hangs on."""

_CLOSE, _LEAST_LOAD = 0.055, 0.01


@dataclass(frozen=True)
class Point:
    """One load of a curve.

    Attributes:
        latency_us: mean latency of the messages that arrived.
        accepted: share of the hosts' bandwidth.
        saturated: whether that is less than was offered.
    """

    latency_us: float
    accepted: float
    saturated: bool


@dataclass(eq=False)
class Kept:
    """What has been found, by its key.

    Attributes:
        metrics: those that take a moment.
        resilience: what is left when links fail.
        throughput: at best, of each pattern.
        points: of the latency over load, by load.
        times: seconds of the collective by message size in bytes.
        tolerances: nanoseconds of wire latency by percent.
        notes: what could not be found, and why.
        lock: held by whoever reads or writes.
    """

    metrics: dict[Key, TopologyMetrics] = field(default_factory=dict)
    resilience: dict[Key, Resilience] = field(default_factory=dict)
    throughput: dict[Key, Throughput] = field(default_factory=dict)
    points: dict[Key, dict[float, Point]] = field(default_factory=dict)
    times: dict[Key, dict[int, float]] = field(default_factory=dict)
    tolerances: dict[Key, dict[float, float]] = field(default_factory=dict)
    notes: dict[Key, str] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def found(self, compared: Compared) -> Simulated:
        """Return what is known for a comparison.

        Args:
            compared: the topologies, and what the controls held.
        """
        state = compared.state
        with self.lock:
            found = Simulated(notes=tuple(self._notes(compared)), without=self._without(compared))
            for entry, _ in compared.shown.values():
                word = entry.word
                if (key := metrics_key(entry)) in self.metrics:
                    found.metrics[word] = self.metrics[key]
                if (key := resilience_key(state, entry)) in self.resilience:
                    found.resilience[word] = self.resilience[key]
                found.throughput[word] = {
                    pattern: self.throughput[key]
                    for pattern in PATTERNS
                    if (key := throughput_key(entry, pattern)) in self.throughput
                }
                if load_key(state, entry) in self.points:
                    runs = (load_key(state, entry, run) for run in range(state.runs))
                    found.curves[word] = _curve([self.points.get(key, {}) for key in runs])
                if (key := times_key(compared, entry)) in self.times:
                    found.times[word] = dict(self.times[key])
                if (key := wires_key(state, entry)) in self.tolerances:
                    found.tolerances[word] = self.tolerances[key]
        return found

    def _without(self, compared: Compared) -> frozenset[tuple[object, ...]]:
        entries = [entry for entry, _ in compared.shown.values()]
        return frozenset(
            (key[0], entry.word)
            for entry in entries
            for key in _keys(compared, entry)
            if key in self.notes
        )

    def _notes(self, compared: Compared) -> Iterator[str]:
        for name, (entry, _) in compared.shown.items():
            keys = _keys(compared, entry)
            yield from (f"{name}: {self.notes[key]}" for key in keys if key in self.notes)


def next_load(points: dict[float, Point]) -> float | None:
    """Return the load to simulate next: upwards until one is too much, then between the two.

    Args:
        points: those that are known.
    """
    over = min((load for load, point in points.items() if point.saturated), default=None)
    if over is None:
        return next((load for load in LOADS if load not in points), None)
    under = max((load for load in points if load < over), default=0.0)
    enough = _CLOSE if under else _LEAST_LOAD
    return None if over - under <= enough else round((over + under) / 2, 4)


def metrics_key(entry: Entry) -> Key:
    """Return what the metrics that take a moment are kept by.

    Args:
        entry: the topology.
    """
    return "metrics", entry.key


def resilience_key(state: CompareState, entry: Entry) -> Key:
    """Return what the measures with failed links are kept by.

    Args:
        state: what the controls held.
        entry: the topology.
    """
    return "resilience", entry.key, state.seed


def throughput_key(entry: Entry, pattern: str) -> Key:
    """Return what a throughput is kept by.

    Args:
        entry: the topology.
        pattern: of the traffic.
    """
    return f"throughput {pattern}", entry.key


def load_key(state: CompareState, entry: Entry, run: int = 0) -> Key:
    """Return what the latency over load is kept by.

    Args:
        state: what the controls held.
        entry: the topology.
        run: which of several with other seeds.
    """
    return "load", entry.key, state.sent, state.routing, run


def times_key(compared: Compared, entry: Entry) -> Key:
    """Return what the times of a collective are kept by.

    Args:
        compared: the topologies, and what the controls held.
        entry: the topology.
    """
    state = compared.state
    how = state.model, collective_routing(state), state.seed, ranks_of(compared)
    return "times", entry.key, state.collective, *how


def wires_key(state: CompareState, entry: Entry) -> Key:
    """Return what the wire latency that a program bears is kept by.

    Args:
        state: what the controls held.
        entry: the topology.
    """
    return "wires", entry.key, state.program.name, state.program.serial


def _keys(compared: Compared, entry: Entry) -> list[Key]:
    """Return all that is sought for a topology."""
    state = compared.state
    return [
        metrics_key(entry),
        resilience_key(state, entry),
        *(throughput_key(entry, pattern) for pattern in PATTERNS),
        *(load_key(state, entry, run) for run in range(state.runs)),
        times_key(compared, entry),
        wires_key(state, entry),
    ]


def _curve(runs: Sequence[dict[float, Point]]) -> LoadCurve:
    """Return the means of several runs; the first one has all loads."""
    of_load = [[run[load] for run in runs if load in run] for load in runs[0]]
    latencies = [[one.latency_us for one in points] for points in of_load]
    return LoadCurve(
        list(runs[0]),
        [float(np.mean(some)) for some in latencies],
        [float(np.mean([one.accepted for one in points])) for points in of_load],
        [sum(one.saturated for one in points) * 2 > len(points) for points in of_load],
        ends_us=np.array([[min(some), max(some)] for some in latencies]).reshape(-1, 2).T,
        runs=[len(points) for points in of_load],
    )
