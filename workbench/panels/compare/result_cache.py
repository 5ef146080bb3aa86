"""The results of the comparison's simulations, each by a key of all that it depends on."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from workbench.panels.compare.deferred import PATTERNS
from workbench.panels.compare.state import (
    LOADS,
    ComparedTopology,
    CompareState,
    Simulated,
    StaticComparison,
    collective_routing,
    ranks_of,
)
from workbench.plotting.topology.load_curves import LoadCurve
from workbench.topology import TopologyMetrics
from workbench.topology.metrics.resilience import Resilience
from workbench.topology.throughput import Throughput

Key = tuple[object, ...]
"""The kind of result, the topology's key, and the other settings it depends on."""

# Loads are 0.2 apart: two halvings leave 0.05. Below the first, 0.1, four leave 0.006.
_CLOSE, _LEAST_LOAD = 0.055, 0.01


@dataclass(frozen=True)
class LoadPoint:
    """The simulation of one offered load."""

    latency_us: float  # mean of the messages that arrived
    accepted: float  # share of the hosts' bandwidth
    saturated: bool  # whether less than offered


@dataclass(eq=False)
class ResultCache:
    """The results of all simulations, each by its key; access under ``lock``."""

    metrics: dict[Key, TopologyMetrics] = field(default_factory=dict)  # slow ones
    resilience: dict[Key, Resilience] = field(default_factory=dict)  # with failed links
    throughput: dict[Key, Throughput] = field(default_factory=dict)
    points: dict[Key, dict[float, LoadPoint]] = field(default_factory=dict)  # by offered load
    times: dict[Key, dict[int, float]] = field(default_factory=dict)  # s by message size, bytes
    tolerances: dict[Key, dict[float, float]] = field(default_factory=dict)  # ns by percent
    notes: dict[Key, str] = field(default_factory=dict)  # errors
    lock: threading.Lock = field(default_factory=threading.Lock)

    def found(self, compared: StaticComparison) -> Simulated:
        """Return the results that belong to a comparison."""
        state = compared.state
        with self.lock:
            found = Simulated(notes=tuple(self._notes(compared)), without=self._without(compared))
            for entry, _ in compared.shown.values():
                spec = entry.spec
                if (key := metrics_key(entry)) in self.metrics:
                    found.metrics[spec] = self.metrics[key]
                if (key := resilience_key(state, entry)) in self.resilience:
                    found.resilience[spec] = self.resilience[key]
                found.throughput[spec] = {
                    pattern: self.throughput[key]
                    for pattern in PATTERNS
                    if (key := throughput_key(entry, pattern)) in self.throughput
                }
                if load_key(state, entry) in self.points:
                    runs = (load_key(state, entry, run) for run in range(state.runs))
                    found.curves[spec] = _curve([self.points.get(key, {}) for key in runs])
                if (key := times_key(compared, entry)) in self.times:
                    found.times[spec] = dict(self.times[key])
                if (key := wires_key(state, entry)) in self.tolerances:
                    found.tolerances[spec] = self.tolerances[key]
        return found

    def _without(self, compared: StaticComparison) -> frozenset[tuple[object, ...]]:
        entries = [entry for entry, _ in compared.shown.values()]
        return frozenset(
            (key[0], entry.spec)
            for entry in entries
            for key in _keys(compared, entry)
            if key in self.notes
        )

    def _notes(self, compared: StaticComparison) -> Iterator[str]:
        for name, (entry, _) in compared.shown.items():
            keys = _keys(compared, entry)
            yield from (f"{name}: {self.notes[key]}" for key in keys if key in self.notes)


def next_load(points: dict[float, LoadPoint]) -> float | None:
    """Return the next load to simulate: upwards until saturation, then by bisection."""
    over = min((load for load, point in points.items() if point.saturated), default=None)
    if over is None:
        return next((load for load in LOADS if load not in points), None)
    under = max((load for load in points if load < over), default=0.0)
    enough = _CLOSE if under else _LEAST_LOAD
    return None if over - under <= enough else round((over + under) / 2, 4)


def metrics_key(entry: ComparedTopology) -> Key:
    """Return the key of the slow metrics."""
    return "metrics", entry.key


def resilience_key(state: CompareState, entry: ComparedTopology) -> Key:
    """Return the key of the measures with failed links."""
    return "resilience", entry.key, state.seed


def throughput_key(entry: ComparedTopology, pattern: str) -> Key:
    """Return the key of the throughput of a traffic pattern."""
    return f"throughput {pattern}", entry.key


def load_key(state: CompareState, entry: ComparedTopology, run: int = 0) -> Key:
    """Return the key of the latency over load of a run, each with its own seed."""
    return "load", entry.key, state.sent, state.routing, run, state.machine


def times_key(compared: StaticComparison, entry: ComparedTopology) -> Key:
    """Return the key of the collective's times."""
    state = compared.state
    how = state.model, collective_routing(state), state.seed, ranks_of(compared), state.machine
    return "times", entry.key, state.collective, *how


def wires_key(state: CompareState, entry: ComparedTopology) -> Key:
    """Return the key of the wire latency that the program tolerates."""
    return "wires", entry.key, state.program.name, state.program.serial, state.machine


def _keys(compared: StaticComparison, entry: ComparedTopology) -> list[Key]:
    """Return the keys of all results for a topology."""
    state = compared.state
    return [
        metrics_key(entry),
        resilience_key(state, entry),
        *(throughput_key(entry, pattern) for pattern in PATTERNS),
        *(load_key(state, entry, run) for run in range(state.runs)),
        times_key(compared, entry),
        wires_key(state, entry),
    ]


def _curve(runs: Sequence[dict[float, LoadPoint]]) -> LoadCurve:
    """Return the mean curve of several runs; the first run has all loads."""
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
