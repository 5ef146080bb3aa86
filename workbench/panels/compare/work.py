"""The comparison's topologies, drawings and mean loads, computed in a thread and cached."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Mapping

from workbench import tasks
from workbench.errors import WorkbenchError
from workbench.panels.cache import Cache
from workbench.panels.compare.metrics import metrics_of
from workbench.panels.compare.state import (
    ComparedTopology,
    CompareState,
    StaticComparison,
    split_upload,
)
from workbench.panels.compare.traffic import traffic_of
from workbench.panels.job_controls import error_text
from workbench.plotting.topology.columns import drawn_links
from workbench.plotting.topology.layout import topology_layout
from workbench.topology import Topology, parse_topology
from workbench.topology.files.hosts import hosts_set, with_hosts
from workbench.topology.link_load import LinkLoads, link_loads
from workbench.topology.traffic import refuse_matrix

_KEPT = 24  # chosen: six settings of four topologies, which the user may go back to


class Comparer:
    """Builds topologies, and computes their metrics and mean loads."""

    def __init__(self) -> None:
        self._entries: Cache[ComparedTopology] = Cache(_KEPT)
        self._loads: Cache[LinkLoads] = Cache(_KEPT)
        self._serials = itertools.count(1)
        self._given: dict[str, tuple[int, Topology]] = {}

    @property
    def given(self) -> tuple[str, ...]:
        """The names of topologies that were given or uploaded."""
        return tuple(self._given)

    def work(
        self, state: CompareState, before: StaticComparison | None = None, *, task: tasks.Task
    ) -> StaticComparison:
        """Return the results of each slot; an error in one does not affect the others."""
        # A slot with an invalid spec keeps its entry of before, under the new traffic.
        entries: list[ComparedTopology | None] = []
        loads: list[LinkLoads | None] = []
        errors: list[str] = []
        for number, spec in enumerate(state.specs):
            task.report(number, len(state.specs), f"computing {spec}")
            if task.stopping:
                raise tasks.JobError("stopped before the topologies were compared")
            entry = load = None
            said = ""
            try:
                entry = self._entry(spec) if spec else None
            except WorkbenchError as error:
                said = error_text(error)
                entry = None if before is None else before.entries[number]
            try:
                load = None if entry is None else self._load(task, entry, state)
            except WorkbenchError as error:
                said = said or error_text(error)
            entries.append(entry)
            loads.append(load)
            errors.append(said)
        return StaticComparison(state, tuple(entries), tuple(loads), tuple(errors))

    def foresee(self, task: tasks.Task) -> None:
        """Prepare for the first change of traffic or routing."""
        # Imports take a fifth of a second; detours load the networks shown first.
        traffic_of(parse_topology("torus:4"), "longest-matching", 0)
        for entry in self._entries.values():
            with contextlib.suppress(WorkbenchError):
                link_loads(entry.topology, routing="valiant", task=task)

    def take(self, graphs: Mapping[str, Topology]) -> None:
        """Keep topologies that were given or uploaded, by name."""
        for spec, graph in graphs.items():
            # An earlier run may still use another graph of this name.
            self._given[spec] = next(self._serials), graph

    def _entry(self, spec: str) -> ComparedTopology:
        uploaded, hosts = split_upload(spec)
        serial, graph = self._given.get(uploaded, (0, None))

        def make() -> ComparedTopology:
            made = parse_topology(spec) if graph is None else graph
            if graph is not None and hosts:
                made = with_hosts(graph, **hosts_set(hosts))
            # Larger networks have no load, and their distances and drawing take minutes as well.
            refuse_matrix(made)
            layout = topology_layout(made)
            return ComparedTopology(
                spec, made, layout, drawn_links(made, layout), metrics_of(made), serial
            )

        return self._entries.made((spec, serial), make)

    def _load(self, task: tasks.Task, entry: ComparedTopology, state: CompareState) -> LinkLoads:
        key = entry.key, state.sent, state.load_routing
        return self._loads.made(
            key,
            lambda: link_loads(
                entry.topology,
                traffic_of(entry.topology, *state.sent),
                routing=state.load_routing,
                task=task,
            ),
        )
