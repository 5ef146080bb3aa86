"""Placements for the panel, found in a thread one method after the other, each shown at once."""

from __future__ import annotations

import time
from dataclasses import replace
from functools import cache

from workbench import tasks
from workbench.panels.placement.state import Placed, PlacementState
from workbench.panels.program_sources import AnyProgram, ProgramCache
from workbench.placement import METHODS, Placement, PlacementMethod, place_each
from workbench.programs import ExecutionGraph
from workbench.simulate.picoseconds import PS_PER_S
from workbench.tolerance.pairs import PairSensitivity, pair_sensitivity
from workbench.tolerance.wires import Wires

_KEPT = 3  # chosen: the programs between which a user compares


class Placer:
    """Builds programs and graphs, caches the last few, and places their ranks."""

    def __init__(self) -> None:
        self._cache = ProgramCache(_KEPT, _KEPT)
        self._began = 0.0

    def program(self, state: PlacementState) -> AnyProgram | None:
        """Return a state's program from the cache, or None."""
        return self._cache.known_program(state.base.source)

    def work(self, state: PlacementState, task: tasks.Task) -> Placed:
        """Place the ranks by each method; a stop returns the placements found so far."""
        self._began = time.monotonic()
        task.report(0, 0, "making the program")
        program = self._cache.program(state.base.source)
        graph = self._cache.graph(state.base.source, state.base.algorithms)
        network = state.network.parse()
        # A pass takes the values; standard errors would only lengthen its caption.
        model = state.base.model.replace(errors={})
        placements: dict[PlacementMethod, Placement] = {}

        @cache
        def pairs_of(method: PlacementMethod) -> PairSensitivity:
            return self._pairs(graph, state, placements[method])

        each = place_each(graph, model, network, task=task, **state.options)
        found: list[Placed] = []
        task.partial_from(lambda: found[-1] if found else None)
        for method in METHODS:
            if task.stopping:
                break
            if method == "search":
                # The others take some milliseconds where programs are small. While the search
                # computes, the panel computes at half of its speed.
                pairs_of(found[-1].best)
                task.preview()
            self._began = time.monotonic()
            placements[method] = next(each)
            found.append(Placed(state, program, graph, dict(placements), pairs_of))
        if not found:
            raise tasks.JobError("stopped before a placement was found; press Place")
        return replace(found[-1], stopped=task.stopping)

    def how_far(self, job: tasks.Job[Placed], state: PlacementState) -> tuple[float, str]:
        """Return the share of the methods tried by the last job of `work`, and a status text."""
        progress = job.progress
        if not progress.total:
            return 0.0, f"{progress.message}, {job.elapsed_s:.1f} s"
        spent = time.monotonic() - self._began
        share = min(spent / state.effort.seconds, 1.0) if state.effort.seconds > 0 else 1.0
        text = f"{progress.message}, {spent:.1f} s of at most {state.effort.seconds:g} s"
        return (progress.done + share) / progress.total, text

    def _pairs(
        self, graph: ExecutionGraph, state: PlacementState, placement: Placement
    ) -> PairSensitivity:
        latencies = state.network.latencies
        l_wire_s = latencies.pop("l_wire_s")
        wires = Wires.of(placement.topology, graph.num_ranks, placement.hosts, **latencies)
        L = wires.latency_ps(l_wire_s) / PS_PER_S
        return pair_sensitivity(graph, state.base.model.replace(errors={}), L=L)
