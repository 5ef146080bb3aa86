"""Simulations for the comparison, one after the other in a thread, each shown when finished."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping

from workbench import machines
from workbench.errors import SimulationHalted, WorkbenchError
from workbench.panels.compare.deferred import (
    PATTERNS,
    resilience_of,
    throughput_of,
)
from workbench.panels.compare.metrics import slow_metrics_of
from workbench.panels.compare.result_cache import (
    LoadPoint,
    ResultCache,
    ResultKey,
    load_key,
    metrics_key,
    next_load,
    resilience_key,
    throughput_key,
    times_key,
    wires_key,
)
from workbench.panels.compare.state import (
    COLLECTIVE_MODELS,
    SIZES,
    WIRE_MACHINE,
    ComparedTopology,
    CompareState,
    Simulated,
    StaticComparison,
    collective_routing,
    ranks_of,
)
from workbench.panels.compare.traffic import traffic_of
from workbench.panels.job_controls import error_text
from workbench.programs import ExecutionGraph
from workbench.programs.find_program import graph_of
from workbench.simulate.fabric.collectives import collective_times
from workbench.simulate.fabric.fabric import Congestion, Fabric
from workbench.simulate.fabric.open_loop import run_traffic
from workbench.tasks import Progress, Task
from workbench.tolerance.curve import PERCENT
from workbench.tolerance.wires import wire_tolerance

MESSAGES = 20_000
"""Messages measured at each load; with fewer, UGAL-L has not yet found its detours."""

_KEPT_FABRICS = 12  # chosen: four topologies, each with three models or routings
_KEPT_PAIRS = 100_000_000  # of routers, some 5 bytes of routes each
_PARTS = 1000  # of a step, for a bar of progress that counts whole parts

Simulation = Callable[[Task], None]
Step = tuple[ResultKey, str, Simulation]


class ComparisonRunner:
    """Runs the missing simulations of a comparison, and keeps their results."""

    def __init__(self) -> None:
        self._turn = threading.Lock()
        self._kept = ResultCache()
        self._graphs: dict[ResultKey, ExecutionGraph] = {}
        self._fabrics: dict[ResultKey, Fabric] = {}
        self.version = 0

    def found(self, compared: StaticComparison) -> Simulated:
        """Return the results so far for a comparison."""
        return self._kept.found(compared)

    def work(self, compared: StaticComparison, task: Task) -> Simulated:
        """Run the missing simulations; a stop returns the results so far."""
        done = 0
        # A run that was stopped may not have ended yet.
        with self._turn:
            while not task.stopping and (missing := self._missing(compared)):
                key, text, run = missing[0]
                steps = done + len(missing)
                task.report(done, steps, text)
                try:
                    run(_step_of(task, done, steps, text))
                except SimulationHalted:
                    break
                except WorkbenchError as error:
                    with self._kept.lock:
                        self._kept.notes[key] = error_text(error)
                done += 1
                self.version += 1
        return self.found(compared)

    def missing(self, compared: StaticComparison) -> bool:
        """Return whether a simulation is missing."""
        return bool(self._missing(compared))

    def _missing(self, compared: StaticComparison) -> list[Step]:
        """Return the missing simulations: quick ones first, then load by load in turn."""
        with self._kept.lock:
            return list(self._left(compared))

    def _left(self, compared: StaticComparison) -> Iterator[Step]:
        kept = self._kept
        for table, steps in (
            (kept.metrics, self._metrics),
            (kept.resilience, self._resilience),
            (kept.tolerances, self._wires),
        ):
            for key, text, run in steps(compared):
                if key not in table and key not in kept.notes:
                    yield key, text, run
        yield from self._collectives(compared)
        yield from self._loads(compared)
        for key, text, run in self._throughputs(compared):
            if key not in kept.throughput and key not in kept.notes:
                yield key, text, run

    def _metrics(self, compared: StaticComparison) -> Iterator[Step]:
        for name, (entry, _) in compared.shown.items():
            key = metrics_key(entry)

            def run(
                task: Task,
                key: ResultKey = key,
                entry: ComparedTopology = entry,
            ) -> None:
                found = slow_metrics_of(entry.topology, task)
                # A stopped search has only the best cut so far.
                if not task.stopping:
                    with self._kept.lock:
                        self._kept.metrics[key] = found

            yield key, f"measures of {name}", run

    def _resilience(self, compared: StaticComparison) -> Iterator[Step]:
        seed = compared.state.seed
        for name, (entry, _) in compared.shown.items():
            key = resilience_key(compared.state, entry)

            def run(
                task: Task,
                key: ResultKey = key,
                entry: ComparedTopology = entry,
            ) -> None:
                found = resilience_of(entry.topology, seed, task)
                with self._kept.lock:
                    self._kept.resilience[key] = found

            yield key, f"failing links of {name}", run

    def _throughputs(self, compared: StaticComparison) -> Iterator[Step]:
        for pattern in PATTERNS:
            for name, (entry, _) in compared.shown.items():
                key = throughput_key(entry, pattern)

                def run(
                    task: Task,
                    key: ResultKey = key,
                    entry: ComparedTopology = entry,
                    pattern: str = pattern,
                ) -> None:
                    found = throughput_of(entry.topology, pattern, task)
                    # Bounds that were stopped may still be far apart.
                    if not task.stopping:
                        with self._kept.lock:
                            self._kept.throughput[key] = found

                yield key, f"throughput of {name}, {pattern}", run

    def _wires(self, compared: StaticComparison) -> Iterator[Step]:
        state = compared.state
        for name, (entry, _) in compared.shown.items():
            key = wires_key(state, entry)

            def run(
                task: Task,
                key: ResultKey = key,
                entry: ComparedTopology = entry,
            ) -> None:
                program = state.program.name, state.program.serial
                if program not in self._graphs:
                    self._graphs[program] = graph_of(state.program.make(), {})
                model = machines.load(state.machine or WIRE_MACHINE).loggps.replace(errors={})
                graph = self._graphs[program]
                found = wire_tolerance(graph, model, entry.topology, percent=PERCENT)
                with self._kept.lock:
                    self._kept.tolerances[key] = {p: s * 1e9 for p, s in found.items()}

            yield key, f"{state.program.name} on {name}", run

    def _collectives(self, compared: StaticComparison) -> Iterator[Step]:
        kept, operation = self._kept, compared.state.operation
        for size in SIZES:
            for name, (entry, _) in compared.shown.items():
                key = times_key(compared, entry)
                if size not in kept.times.get(key, {}) and key not in kept.notes:
                    text = f"{operation} of {size:,} bytes on {name}"
                    yield key, text, self._collective(key, compared, entry, size)

    def _collective(
        self, key: ResultKey, compared: StaticComparison, entry: ComparedTopology, size: int
    ) -> Simulation:
        def run(task: Task) -> None:
            state = compared.state
            found = collective_times(
                self._fabric(
                    state,
                    entry,
                    collective_routing(state),
                    COLLECTIVE_MODELS[state.model].congestion,
                ),
                state.operation,
                state.algorithm,
                (size,),
                host=machines.load(state.machine).loggps if state.machine else None,
                ranks=ranks_of(compared),
                task=task,
            )
            # Nothing where it was stopped.
            if found:
                with self._kept.lock:
                    self._kept.times.setdefault(key, {}).update(found)

        return run

    def _loads(self, compared: StaticComparison) -> Iterator[Step]:
        state, kept = compared.state, self._kept
        waiting = [
            (len(kept.points.get(key, {})), name, entry, key, load)
            for name, (entry, _) in compared.shown.items()
            if (key := load_key(state, entry)) not in kept.notes
            and (load := next_load(kept.points.get(key, {}))) is not None
        ]
        # Those with the fewest loads first, so that all curves grow together.
        for _, name, entry, key, load in sorted(waiting, key=lambda one: one[0]):
            yield key, f"load {load:g} on {name}", self._load(key, state, entry, load)
        # The same loads with other seeds, once the loads are fixed.
        for run in range(1, state.runs):
            for name, (entry, _) in compared.shown.items():
                key = load_key(state, entry, run)
                for load in kept.points.get(load_key(state, entry), {}):
                    if load not in kept.points.get(key, {}) and key not in kept.notes:
                        text = f"load {load:g} on {name}, run {run + 1} of {state.runs}"
                        yield key, text, self._load(key, state, entry, load, run)

    def _load(
        self,
        key: ResultKey,
        state: CompareState,
        entry: ComparedTopology,
        load: float,
        number: int = 0,
    ) -> Simulation:
        def run(task: Task) -> None:
            found = run_traffic(
                self._fabric(state, entry, state.routing, "packet"),
                traffic_of(entry.topology, *state.sent),
                load,
                messages=MESSAGES,
                seed=state.seed + number,
                task=task,
            )
            point = LoadPoint(found.mean_latency_s * 1e6, found.accepted, bool(found.saturated))
            with self._kept.lock:
                self._kept.points.setdefault(key, {})[load] = point

        return run

    def _fabric(
        self, state: CompareState, entry: ComparedTopology, routing: str, congestion: Congestion
    ) -> Fabric:
        """Return a fabric, from the cache if its routes have been computed before."""
        key = entry.key, routing, congestion, state.seed, state.machine
        kept = self._fabrics
        if key not in kept:
            made = entry.topology, routing, congestion, state.seed
            kept[key] = (
                machines.fabric_of(machines.load(state.machine), *made)
                if state.machine
                else Fabric(made[0], None, *made[1:])
            )
            while len(kept) > 1 and (len(kept) > _KEPT_FABRICS or _pairs(kept) > _KEPT_PAIRS):
                kept.pop(next(iter(kept)))
        return kept[key]


def _pairs(fabrics: Mapping[ResultKey, Fabric]) -> int:
    return sum(one.topology.num_routers**2 for one in fabrics.values())


def _step_of(task: Task, done: int, steps: int, text: str) -> Task:
    """Return the task of a step; all steps count as equally long."""

    def report(now: Progress) -> None:
        share = _PARTS * now.done // max(now.total, 1)
        task.report(_PARTS * done + share, _PARTS * steps, f"{text}, {now.message}")

    return task.part(report)
