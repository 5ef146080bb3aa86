"""A program replayed on LogGOPS: when each rank ends, as LogGOPSim would say.

Hoefler, Schneider, Lumsdaine: LogGOPSim - Simulating Large-Scale Applications in the LogGOPS
Model, HPDC 2010. A message of s bytes takes its sender's core for o + (s - 1) O and its interface
for g + (s - 1) G; L after those o it is there, and takes the receiver's core for
o + (s - 1) max(O, G) and its interface for g + (s - 1) G, whether a receive is posted or not. Above
S bytes a send ends when the message meets its receive. A message uses the core and interface that
its send names, on both sides.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import get_args

import numpy as np
from numpy.typing import NDArray

from kernels.loggops import layout, replay as kernel, retries
from kernels.loggops.matching import Waiting, empty_waiting, with_more_room
from kernels.loggops.queues import empty_queues
from workbench.errors import ParameterError, SimulationHalted
from workbench.models import LogGPS
from workbench.programs.deadlock import explain, refuse_peers
from workbench.programs.find_program import ProgramLike, graph_of
from workbench.programs.graph import RECV, SEND, ExecutionGraph
from workbench.provenance import Provenance
from workbench.simulate.noise import Noise, kernel_noise
from workbench.simulate.picoseconds import CLOCK_END, PS_PER_S, PicosecondCosts
from workbench.simulate.replay_result import ReplayResult, ReplayTimes, Semantics, Ties
from workbench.suggestions import did_you_mean
from workbench.tasks import Task, task_of

SEMANTICS: tuple[str, ...] = get_args(Semantics)
TIES: tuple[str, ...] = get_args(Ties)

_MOST_QUEUES = 2**27  # 2 GiB: kernels.loggops.queues has 4 cells, int32, for each


def replay(
    program: ProgramLike,
    model: LogGPS,
    *,
    semantics: Semantics = "loggopsim",
    times: bool = False,
    compatible: bool = False,
    ties: Ties = "stable",
    noise: Noise | None = None,
    task: Task | None = None,
) -> ReplayResult:
    """Return the result of a program's replay on a machine of these LogGOPS parameters.

    With ``loggopsim`` the answer is LogGOPSim's to the nanosecond where the parameters are whole
    nanoseconds and the program has one core a rank, no empty messages, and receives on the same
    side of S as their messages. There LogGOPSim has quirks, which ``compatible`` brings back; by
    default an empty message costs no bytes (LogGOPSim: minus one), what waits for an operation on
    another core starts when that has ended (at that core's own free time, which may be earlier),
    and the message's size decides whether a send is synchronous (now the receive's, now the
    message's; successors may never run). A compatible replay runs LogGOPSim's plain loop, slower.

    G and O may be any real number: each product with a size is rounded to a picosecond.

    Args:
        program: what the ranks do; a ``Program`` is taken with its default algorithms.
        model: L, o, g in s, G and O in s/B, S in bytes; S of 2147483647 stands for no limit.
        semantics: ``loggopsim``, with contention for cores and interfaces, or ``llamp``, without.
        times: also keep when each operation ran and what it waited for.
        compatible: reproduce LogGOPSim's quirks of empty messages and of several cores a rank.
        ties: order of more than 16 operations of a kind that become free together: as they stand
            in the program (``stable``) or as GNU's ``std::sort`` leaves them (``libstdc++``), as
            in LogGOPSim's usual builds.
        noise: disturbances of the cores; None for none.
        task: its progress counts the operations and messages that have been queued; once it is
            stopped, the run ends within milliseconds.

    Raises:
        ProgramError: operations are left that nothing can start or complete, or a peer is no rank.
        ParameterError: an option is not known, or a time is beyond a clock of 2^62 ps.
        SimulationHalted: the task was stopped.
    """
    for key, value, known in (("semantics", semantics, SEMANTICS), ("ties", ties, TIES)):
        if value not in known:
            raise ParameterError(
                f"{key} must be one of {', '.join(known)}; got {value!r}"
                f"{did_you_mean(value, known)}",
                key=key,
            )
    graph, task = graph_of(program), task_of(task)
    events = graph.num_ops + int((graph.kind == SEND).sum())
    task.report(0, events, f"replaying {graph.num_ops:,} operations")
    if semantics == "llamp":
        if compatible or noise is not None:
            raise ParameterError(
                "semantics llamp has neither quirks nor noise; leave compatible and noise out",
                key="compatible" if compatible else "noise",
            )
        from workbench.simulate.llamp import replay_llamp

        return replay_llamp(graph, model, times=times, task=task)
    run = _Run(graph, model, task, times=times, ties=ties, noise=noise)
    status = run.as_loggopsim() if compatible else run.in_order()
    if status == layout.HALTED:
        raise SimulationHalted("the replay was stopped before it finished")
    if status == layout.CLOCK_RAN_OUT or run.latest() > CLOCK_END:
        raise ParameterError(
            f"simulated time must stay below {CLOCK_END / PS_PER_S:.0f} s, where the clock ends; "
            "lower the parameters, or replay a shorter program",
            key="model",
        )
    if status == layout.STUCK:
        raise explain(graph, run.left, PicosecondCosts.of(model).S)
    return run.result(compatible)


class _Run:
    """One run: the program's arrays as the kernels take them, and the room they need."""

    def __init__(
        self,
        graph: ExecutionGraph,
        model: LogGPS,
        task: Task,
        *,
        times: bool,
        ties: Ties,
        noise: Noise | None,
    ) -> None:
        self.graph, self.model, self.noise = graph, model, noise
        self._ties: Ties = ties
        refuse_peers(graph)
        costs = PicosecondCosts.of(model)
        largest, longest, least, wild, cpus, nics = kernel.inspect(
            graph.rank_start, graph.kind, graph.size, graph.peer, graph.tag, graph.cpu, graph.nic
        )
        costs.check_sizes(int(least), int(largest), int(longest))
        cpu, n_cpus = _numbered(graph.cpu, cpus)
        nic, n_nics = _numbered(graph.nic, nics)
        if graph.num_ranks * (n_cpus + 2 * n_cpus * n_nics + 1) > _MOST_QUEUES:
            raise ParameterError(
                f"{graph.num_ranks} ranks of {n_cpus} cores and {n_nics} interfaces are more than "
                "a replay can hold; use fewer different cpus and nics",
                key="program",
            )
        self._program = layout.Program(
            graph.rank_start,
            graph.kind,
            graph.size,
            graph.peer,
            graph.tag,
            cpu,
            nic,
            graph.requires.start,
            graph.requires.ops,
            graph.irequires.start,
            graph.irequires.ops,
            wild,
        )
        self._costs = kernel_costs(costs, n_cpus, n_nics, like_libstdcxx=ties == "libstdc++")
        self._halt, self._progress = task.stop_event.cell, task.counter
        self._state = np.zeros(layout.N_STATE, np.int64)
        n, cores = graph.num_ops, graph.num_ranks * n_cpus
        self._clocks = layout.idle_clocks(graph.num_ranks, n_cpus, n_nics, times)
        self._noise = kernel_noise(noise, cores, graph.num_ranks)
        self.left = np.empty(n, np.int32)
        at = np.zeros(n + 1, np.int64)
        at[n] = layout.NEVER
        self._pending = layout.Pending(
            self.left, at, np.empty(n + 1, np.uint32), np.empty(n, np.int32)
        )
        kept = n if times else 1
        self._kept = layout.Kept(
            times,
            np.zeros(kept, np.int64),
            np.zeros(kept, np.int64),
            np.zeros(kept, np.int64),
            np.full(kept, -1, np.int32),
            np.full(kept, -1, np.int32),
            np.zeros(kept, np.uint8),
            np.full(kept, -1, np.int32),
            np.zeros(kept, np.uint8),
        )
        self._seconds = 0.0

    def in_order(self) -> int:
        """Run without retries; return the status."""
        n, costs = len(self.left), self._costs
        own_end = np.empty(n if costs.cpus > 1 else 1, np.int64)
        queues = empty_queues(self.graph.num_ranks, n, costs.cpus, costs.nics)
        return self._run(
            lambda waiting, freed: kernel.replay(
                self._program,
                costs,
                self._noise,
                self._pending,
                own_end,
                self._kept,
                self._clocks,
                queues,
                waiting,
                freed,
                self._state,
                self._halt,
                self._progress,
            )
        )

    def as_loggopsim(self) -> int:
        """Run as LogGOPSim does; return the status."""
        n = len(self.left)
        source_of, ran = np.full(n, -1, np.int32), np.zeros(n, np.bool_)
        heap = np.empty(n + 1, np.int32)
        return self._run(
            lambda waiting, freed: retries.replay(
                self._program,
                self._costs,
                self._noise,
                self._pending,
                source_of,
                self._kept,
                self._clocks,
                heap,
                ran,
                waiting,
                freed,
                self._state,
                self._halt,
                self._progress,
            )
        )

    def _run(self, run: Callable[[Waiting, layout.Freed], int]) -> int:
        began = time.perf_counter()
        program = self._program
        most = kernel.count_dependencies(
            program.rank_start,
            program.req_start,
            program.req_ops,
            program.ireq_start,
            program.ireq_ops,
            self.left,
        )
        if most < 0:
            raise ParameterError(
                "dependencies must join operations of one rank; make the graph with "
                "Dependents.from_pairs",
                key="program",
            )
        freed = layout.room_for_freed(int(most))
        waiting = empty_waiting(self.graph.num_ranks)
        while (status := int(run(waiting, freed))) == layout.TABLE_FULL:
            waiting = with_more_room(waiting)
        self._seconds = time.perf_counter() - began
        return status

    def latest(self) -> int:
        """Return the latest end of a core, ps."""
        return int(self._clocks.nexto.max(initial=0))

    def result(self, compatible: bool) -> ReplayResult:
        """Return the result of the run."""
        graph = self.graph
        finish = self._clocks.nexto.reshape(graph.num_ranks, -1)
        # As unsigned numbers, which LogGOPSim's times are; only its quirks make one negative.
        finish_ps = finish.view(np.uint64).max(axis=1).view(np.int64)
        unrun = int((self.left > 0).sum())
        return ReplayResult(
            graph=graph,
            model=self.model,
            semantics="loggopsim",
            compatible=compatible,
            finish_ps=finish_ps,
            events=int(self._state[layout.COUNT]),
            seconds=self._seconds,
            times=self._times() if self._kept.wanted else None,
            provenance=Provenance(
                "simulated",
                f"{graph.source}, LogGOPSim's semantics, {self.model}"
                + (f", {self.noise}" if self.noise is not None else ""),
            ),
            noise_ps=None if self.noise is None else self._noise.total,
            notes=(f"{unrun} operations never ran, which LogGOPSim does not report",)
            if unrun
            else (),
            ties=self._ties,
        )

    def _times(self) -> ReplayTimes:
        kept = self._kept
        for causes in (kept.cause, kept.post_cause):
            by_message = np.flatnonzero(causes < -1)
            causes[by_message] = kept.match[-2 - causes[by_message]]
        receives = self.graph.kind == RECV
        return ReplayTimes(
            start_ps=kept.start,
            begin_ps=np.where(receives, kept.begin, kept.start),
            end_ps=kept.end,
            match=kept.match,
            cause=np.where(receives, kept.cause, kept.post_cause),
            cause_kind=np.where(receives, kept.cause_kind, kept.post_cause_kind),
            post_cause=kept.post_cause,
            post_cause_kind=kept.post_cause_kind,
        )


def kernel_costs(
    costs: PicosecondCosts, cpus: int, nics: int, *, like_libstdcxx: bool = False
) -> layout.Costs:
    """Return a model's parameters for the kernels, on ranks of some cores and interfaces."""
    return layout.Costs(
        latency=costs.L,
        overhead=costs.o,
        gap=costs.g,
        g_byte=costs.G.whole,
        o_byte=costs.O.whole,
        g_real=costs.G.real,
        o_real=costs.O.real,
        eager=costs.S,
        cpus=cpus,
        nics=nics,
        like_libstdcxx=like_libstdcxx,
    )


def _numbered(names: NDArray[np.uint8], used: NDArray[np.bool_]) -> tuple[NDArray[np.uint8], int]:
    """Return cores or interfaces numbered without gaps, and their number."""
    count = int(used.sum())
    if count == 0 or used[:count].all():
        return names, max(count, 1)
    return (np.cumsum(used) - 1).astype(np.uint8)[names], count
