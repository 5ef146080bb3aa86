"""Replays for the panel, in a thread, with a cache of programs and graphs."""

from __future__ import annotations

from workbench import tasks
from workbench.panels.program_sources import AnyProgram, ProgramCache
from workbench.panels.replay.state import MANY_OPERATIONS, ReplayState, ShownReplay
from workbench.simulate.replay import replay
from workbench.simulate.root_causes import root_causes
from workbench.simulate.waiting import has_causes

_KEPT_PROGRAMS, _KEPT_GRAPHS = 3, 6  # chosen: some programs, and two algorithms of each


class Replayer:
    """Builds programs and graphs, caches the last few, and replays them."""

    def __init__(self) -> None:
        self._cache = ProgramCache(_KEPT_PROGRAMS, _KEPT_GRAPHS)

    def quick(self, state: ReplayState) -> bool:
        """Return whether a slider may wait for the replay; unknown programs count as small."""
        graph = self._cache.known_graph(state.source, state.algorithms)
        return graph is None or graph.num_ops <= MANY_OPERATIONS

    def program(self, state: ReplayState) -> AnyProgram | None:
        """Return a state's program from the cache, or None."""
        return self._cache.known_program(state.source)

    def work(self, state: ReplayState, task: tasks.Task) -> ShownReplay:
        """Build what is not in the cache, and replay."""
        task.report(0, 0, "making the program")
        program = self._cache.program(state.source)
        task.report(0, 0, "choosing messages for its collectives")
        graph = self._cache.graph(state.source, state.algorithms)
        result = replay(
            graph,
            # A replay takes the values; standard errors would only lengthen its caption.
            state.model.replace(errors={}),
            semantics=state.semantics,
            times=True,
            task=task,
        )
        causes = root_causes(result) if has_causes(result) else None
        return ShownReplay(state, program, result, causes)
