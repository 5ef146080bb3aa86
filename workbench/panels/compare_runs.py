"""Simulations for the comparison: in a thread, one after the other, each kept and shown at once."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from workbench import jobs
from workbench.errors import SimulationHalted, WorkbenchError
from workbench.models import SNAPPR
from workbench.models.profiles import profile
from workbench.panels.compare_metrics import slow_metrics_of
from workbench.panels.compare_state import (
    LOADS,
    SIZES,
    Compared,
    CompareState,
    Entry,
    Simulated,
    ranks_of,
)
from workbench.panels.compare_traffic import traffic_of
from workbench.panels.replay_state import graph_of
from workbench.panels.running import worded
from workbench.plotting.load_curves import LoadCurve
from workbench.plotting.wire_tolerance import PERCENT
from workbench.programs import ExecutionGraph
from workbench.sensitivity.wires import wire_tolerance
from workbench.simulate.fabric.collectives import collective_times
from workbench.simulate.fabric.fabric import Fabric
from workbench.simulate.fabric.open_loop import run_traffic
from workbench.topology import Topology, TopologyMetrics
from workbench.topology.routing import route

MACHINE = "azure-hb96v3-hdr"
"""Whose o, G and S the program runs with where its wire latency is asked for."""

MESSAGES = 6000
"""Messages that are measured at each load."""

_CLOSE, _LEAST_LOAD = 0.055, 0.01
_PACKETS_IN_A_LANE = 4
_KEPT_FABRICS = 8

Key = tuple[object, ...]
Step = tuple[Key, str, Callable[[jobs.JobContext], None]]


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
class _Kept:
    """What has been found, by what it hangs on."""

    metrics: dict[Key, TopologyMetrics] = field(default_factory=dict)
    points: dict[Key, dict[float, Point]] = field(default_factory=dict)
    times: dict[Key, dict[int, float]] = field(default_factory=dict)
    tolerances: dict[Key, dict[float, float]] = field(default_factory=dict)
    notes: dict[Key, str] = field(default_factory=dict)


class Runner:
    """Runs what is missing for a comparison, and keeps what it has found."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._turn = threading.Lock()
        self._kept = _Kept()
        self._graphs: dict[Key, ExecutionGraph] = {}
        self._fabrics: dict[Key, Fabric] = {}
        self.version = 0

    def found(self, compared: Compared) -> Simulated:
        """Return what has been found for a comparison so far.

        Args:
            compared: the topologies, and what the controls held.
        """
        kept, names = self._kept, compared.shown
        with self._lock:
            found = Simulated(notes=tuple(self._notes(compared)))
            for entry, _ in names.values():
                word = entry.word
                metrics, load, times, wires = _keys(compared, word)
                if metrics in kept.metrics:
                    found.metrics[word] = kept.metrics[metrics]
                if load in kept.points:
                    found.curves[word] = _curve(kept.points[load])
                if times in kept.times:
                    found.times[word] = dict(kept.times[times])
                if wires in kept.tolerances:
                    found.tolerances[word] = kept.tolerances[wires]
        return found

    def work(self, ctx: jobs.JobContext, compared: Compared) -> Simulated:
        """Run what is missing; once stopped, return what has been found.

        Args:
            ctx: of the job.
            compared: the topologies, and what the controls held.
        """
        done = 0
        # A run that was stopped may not have ended yet.
        with self._turn:
            while not ctx.stopping and (step := next(self._missing(compared), None)):
                key, text, run = step
                left = sum(1 for _ in self._missing(compared))
                ctx.progress(done, done + left, text)
                try:
                    run(ctx)
                except SimulationHalted:
                    break
                except WorkbenchError as error:
                    with self._lock:
                        self._kept.notes[key] = worded(error)
                done += 1
                self.version += 1
        return self.found(compared)

    def missing(self, compared: Compared) -> bool:
        """Return whether anything is left to run.

        Args:
            compared: the topologies, and what the controls held.
        """
        return next(self._missing(compared), None) is not None

    def forget(self, word: str) -> None:
        """Forget what was found for a topology whose word now stands for another.

        Args:
            word: of the topology.
        """
        with self._lock:
            kept = self._kept
            for table in (kept.metrics, kept.points, kept.times, kept.tolerances, kept.notes):
                for key in [key for key in table if key[1] == word]:
                    del table[key]
            for key in [key for key in self._fabrics if key[0] == word]:
                del self._fabrics[key]

    def _notes(self, compared: Compared) -> Iterator[str]:
        for name, (entry, _) in compared.shown.items():
            for key in _keys(compared, entry.word):
                if key in self._kept.notes:
                    yield f"{name}: {self._kept.notes[key]}"

    def _missing(self, compared: Compared) -> Iterator[Step]:
        """Yield what is left to run: what is quick first, then load by load in turn."""
        state, kept = compared.state, self._kept
        shown = [(name, entry) for name, (entry, _) in compared.shown.items()]
        for name, entry in shown:
            key = _metrics_key(entry.word)
            if key not in kept.metrics and key not in kept.notes:
                yield key, f"bisection of {name}", self._metrics_step(key, entry)
        for name, entry in shown:
            key = _wires_key(state, entry.word)
            if key not in kept.tolerances and key not in kept.notes:
                yield key, f"{state.program.name} on {name}", self._wires_step(key, state, entry)
        for size in SIZES:
            for name, entry in shown:
                key = _times_key(compared, entry.word)
                if size not in kept.times.get(key, {}) and key not in kept.notes:
                    text = f"{state.operation} of {size:,} bytes on {name}"
                    yield key, text, self._times_step(key, compared, entry, size)
        waiting = [
            (len(kept.points.get(key, {})), name, entry, key, load)
            for name, entry in shown
            if (key := _load_key(state, entry.word)) not in kept.notes
            and (load := next_load(kept.points.get(key, {}))) is not None
        ]
        # Those with the fewest loads first, so that all curves grow together.
        for _, name, entry, key, load in sorted(waiting, key=lambda one: one[0]):
            yield key, f"load {load:g} on {name}", self._load_step(key, state, entry, load)

    def _metrics_step(self, key: Key, entry: Entry) -> Callable[[jobs.JobContext], None]:
        def step(ctx: jobs.JobContext) -> None:
            found = slow_metrics_of(entry.topology, ctx.stop_event.cell)
            # A cut that was stopped is the best so far, and no more.
            if not ctx.stopping:
                with self._lock:
                    self._kept.metrics[key] = found

        return step

    def _wires_step(
        self, key: Key, state: CompareState, entry: Entry
    ) -> Callable[[jobs.JobContext], None]:
        def step(ctx: jobs.JobContext) -> None:
            program = state.program.name, state.program.serial
            if program not in self._graphs:
                self._graphs[program] = graph_of(state.program.make(), {})
            model = profile(MACHINE).loggps.replace(errors={})
            found = wire_tolerance(self._graphs[program], model, entry.topology, percent=PERCENT)
            with self._lock:
                self._kept.tolerances[key] = {p: s * 1e9 for p, s in found.items()}

        return step

    def _times_step(
        self, key: Key, compared: Compared, entry: Entry, size: int
    ) -> Callable[[jobs.JobContext], None]:
        def step(ctx: jobs.JobContext) -> None:
            state = compared.state
            found = collective_times(
                Fabric(entry.topology, None, flow_routing(state.routing), "flow", state.seed),
                state.operation,
                state.algorithm,
                (size,),
                ranks=ranks_of(compared),
                halt=ctx.stop_event.cell,
            )
            with self._lock:
                self._kept.times.setdefault(key, {}).update(found)

        return step

    def _load_step(
        self, key: Key, state: CompareState, entry: Entry, load: float
    ) -> Callable[[jobs.JobContext], None]:
        def step(ctx: jobs.JobContext) -> None:
            found = run_traffic(
                self._fabric(state, entry),
                traffic_of(entry.topology, state.traffic, state.seed),
                load,
                messages=MESSAGES,
                seed=state.seed,
                halt=ctx.stop_event.cell,
            )
            point = Point(found.mean_latency_s * 1e6, found.accepted, bool(found.saturated))
            with self._lock:
                self._kept.points.setdefault(key, {})[load] = point

        return step

    def _fabric(self, state: CompareState, entry: Entry) -> Fabric:
        key = entry.word, state.routing, state.seed
        if key not in self._fabrics:
            while len(self._fabrics) >= _KEPT_FABRICS:
                self._fabrics.pop(next(iter(self._fabrics)))
            self._fabrics[key] = simulated_fabric(entry.topology, state.routing, state.seed)
        return self._fabrics[key]


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


def simulated_fabric(topology: Topology, routing: str, seed: int) -> Fabric:
    """Return a network of SNAPPR's default ports whose buffers hold some packets in each lane.

    Args:
        topology: the network.
        routing: by name.
        seed: of the random routes.

    Raises:
        WorkbenchError: the routing does not fit the topology.
    """
    routes = route(topology, routing, seed=seed)
    model = SNAPPR()
    least = _PACKETS_IN_A_LANE * routes.lanes * model.mtu
    if model.switch_credits < least:
        model = model.with_values({"switch.credits": least})
    return Fabric(topology, model, routes, seed=seed)


def flow_routing(routing: str) -> str:
    """Return the routing that the fluid model takes: one that looks at no queue.

    Args:
        routing: by name.
    """
    return routing if routing in ("minimal", "valiant") else "minimal"


def _curve(points: dict[float, Point]) -> LoadCurve:
    return LoadCurve(
        list(points),
        [one.latency_us for one in points.values()],
        [one.accepted for one in points.values()],
        [one.saturated for one in points.values()],
    )


def _keys(compared: Compared, word: str) -> tuple[Key, Key, Key, Key]:
    """Return what a topology's metrics, loads, times and tolerances are kept by."""
    state = compared.state
    return (
        _metrics_key(word),
        _load_key(state, word),
        _times_key(compared, word),
        _wires_key(state, word),
    )


def _metrics_key(word: str) -> Key:
    return "metrics", word


def _load_key(state: CompareState, word: str) -> Key:
    return "load", word, state.traffic, state.routing, state.seed


def _times_key(compared: Compared, word: str) -> Key:
    state = compared.state
    routing = flow_routing(state.routing)
    return "times", word, state.collective, routing, state.seed, ranks_of(compared)


def _wires_key(state: CompareState, word: str) -> Key:
    return "wires", word, state.program.name, state.program.serial
