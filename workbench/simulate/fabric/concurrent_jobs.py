"""Several programs on one network at once: how much each is slowed down by the others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from workbench.arrays import IntArray
from workbench.errors import ParameterError
from workbench.html_table import html_table
from workbench.models import LogGPS
from workbench.programs.find_program import ProgramLike, graph_of
from workbench.programs.graph import Dependents, ExecutionGraph
from workbench.provenance import Provenance
from workbench.result import Drawing, StoredResult
from workbench.simulate.fabric.fabric import Fabric
from workbench.simulate.fabric.hosts import place_jobs
from workbench.simulate.fabric.program import replay_on
from workbench.simulate.fabric.program_result import FabricReplay
from workbench.simulate.ticks import TICKS_PER_SECOND
from workbench.tasks import Task
from workbench.units import format_quantity

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class SharedRun(StoredResult):
    """Jobs that ran on one fabric together, and each of them alone; simulated.

    Attributes:
        names: of the jobs.
        together: all jobs as one program, rank after rank, job after job.
        alone: each job on the same hosts, with the network to itself.
        first_rank: int64[jobs + 1]; the ranks of job j in ``together`` are those from
            ``first_rank[j]`` up to ``first_rank[j + 1]``.
        placement: how hosts were given to the jobs.
        provenance: what was simulated.
    """

    names: tuple[str, ...]
    together: FabricReplay
    alone: tuple[FabricReplay, ...]
    first_rank: IntArray
    placement: str
    provenance: Provenance

    plot = Drawing("plot_jobs")

    @property
    def shared_s(self) -> NDArray[np.float64]:
        """When the last rank of each job ends beside the others, s, float64[jobs]."""
        finish = self.together.finish_ticks
        bounds = zip(self.first_rank[:-1], self.first_rank[1:], strict=True)
        latest = np.array([finish[first:last].max(initial=0) for first, last in bounds])
        seconds: NDArray[np.float64] = latest / TICKS_PER_SECOND
        return seconds

    @property
    def alone_s(self) -> NDArray[np.float64]:
        """When the last rank of each job ends with the network to itself, s, float64[jobs]."""
        return np.array([run.makespan_s for run in self.alone])

    @property
    def slowdown(self) -> NDArray[np.float64]:
        """Each job's run time beside the others over that alone, float64[jobs]."""
        alone, shared = self.alone_s, self.shared_s
        return np.divide(shared, alone, out=np.ones(len(alone)), where=alone > 0)

    def hosts_of(self, job: int) -> IntArray:
        """Return the hosts of a job's ranks, int64[ranks].

        Args:
            job: its place in ``names``.
        """
        return self.together.hosts[self.first_rank[job] : self.first_rank[job + 1]]

    def to_frame(self) -> pd.DataFrame:
        """Return one row a job.

        Returns:
            ``job``, ``ranks``, ``hosts``, ``groups`` (-1 counts as none), ``alone_ns``,
            ``shared_ns``, ``slowdown``.
        """
        import pandas as pd

        network = self.together.topology
        hosts = [np.unique(self.hosts_of(job)) for job in range(len(self.names))]
        groups = [network.group[network.host_router[of_job]] for of_job in hosts]
        return pd.DataFrame(
            {
                "job": self.names,
                "ranks": np.diff(self.first_rank),
                "hosts": [len(of_job) for of_job in hosts],
                "groups": [len(np.unique(found[found >= 0])) for found in groups],
                "alone_ns": self.alone_s * 1e9,
                "shared_ns": self.shared_s * 1e9,
                "slowdown": self.slowdown,
            }
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain values that JSON can hold, times in ns."""
        together = self.together.to_dict()
        fields = ("topology", "congestion", "routing", "makespan_ns", "busiest_channel", "seconds")
        rows = self.to_frame().to_dict("records")
        return {
            "jobs": {
                row["job"]: {
                    "ranks": row["ranks"],
                    "hosts": row["hosts"],
                    "groups": row["groups"],
                    "alone_ns": row["alone_ns"],
                    "shared_ns": row["shared_ns"],
                    "slowdown": row["slowdown"],
                }
                for row in rows
            },
            "placement": self.placement,
            **{name: together[name] for name in fields},
        }

    def __repr__(self) -> str:
        jobs = ", ".join(
            f"{name} {slow:.2f}×" for name, slow in zip(self.names, self.slowdown, strict=True)
        )
        return (
            f"SharedRun({self.together.topology.name}, {self.placement}, "
            f"{self.together.congestion}: {jobs} as long as alone, simulated)"
        )

    def _repr_html_(self) -> str:
        rows = (
            (name, format_quantity(alone, "time"), format_quantity(shared, "time"), f"{slow:.2f}×")
            for name, alone, shared, slow in zip(
                self.names, self.alone_s, self.shared_s, self.slowdown, strict=True
            )
        )
        return html_table(rows, ("job", "alone", "shared", "slowdown"), self.provenance.caption())


def run_jobs(
    jobs: Mapping[str, ProgramLike],
    fabric: Fabric,
    *,
    host: LogGPS | None = None,
    placement: str = "block",
    ranks_per_host: int = 1,
    rng: np.random.Generator | int | None = None,
    in_turn: bool = True,
    resolution_ns: float = 0.0,
    task: Task | None = None,
) -> SharedRun:
    """Run programs on a fabric together, all started at once, and each of them alone.

    Alone a job has the hosts that it has together with the others, so that what differs is the
    traffic of the others.

    Args:
        jobs: the programs by name.
        fabric: network, model, routing and congestion.
        host: whose o, O and S hosts have; None takes messages at no cost, all of them eager.
        placement: one of ``PLACEMENTS``; no host has ranks of two jobs.
        ranks_per_host: how many ranks of a job a host takes.
        rng: of the placement ``random``.
        in_turn: see ``replay_on``.
        resolution_ns: see ``replay_on``.
        task: its progress is that of each run; once it is stopped, the run under way ends.

    Raises:
        ProgramError: a program cannot run to its end.
        ParameterError: there are no jobs, or they do not fit.
        SimulationHalted: the task was stopped.
    """
    if not jobs:
        raise ParameterError("jobs must hold at least one program", key="jobs")
    graphs = [graph_of(job) for job in jobs.values()]
    hosts = place_jobs(
        fabric.topology,
        [graph.num_ranks for graph in graphs],
        placement,
        ranks_per_host=ranks_per_host,
        rng=rng,
    )

    def run(graph: ExecutionGraph, at: IntArray) -> FabricReplay:
        return replay_on(
            graph,
            fabric,
            host=host,
            placement=at,
            in_turn=in_turn,
            resolution_ns=resolution_ns,
            task=task,
        )

    first_rank = np.cumsum([0, *(graph.num_ranks for graph in graphs)])
    names = tuple(jobs)
    return SharedRun(
        names=names,
        together=run(side_by_side(graphs, " beside ".join(names)), np.concatenate(hosts)),
        alone=tuple(run(graph, at) for graph, at in zip(graphs, hosts, strict=True)),
        first_rank=first_rank,
        placement=placement,
        provenance=Provenance(
            "simulated",
            f"{', '.join(names)} together on {fabric.topology.name}, {fabric.congestion} "
            f"congestion, {fabric.routing_name} routing, {placement} placement",
        ),
    )


def side_by_side(graphs: Sequence[ExecutionGraph], source: str = "jobs") -> ExecutionGraph:
    """Return programs as one: the ranks of the first, then of the second, and so on."""
    ops = np.cumsum([0, *(graph.num_ops for graph in graphs)])
    ranks = np.cumsum([0, *(graph.num_ranks for graph in graphs)])
    starts = [graph.rank_start[1:] + first for graph, first in zip(graphs, ops, strict=False)]
    peers = [
        np.where(graph.peer >= 0, graph.peer + first, graph.peer).astype(np.int32)
        for graph, first in zip(graphs, ranks, strict=False)
    ]
    return ExecutionGraph(
        rank_start=np.concatenate(([0], *starts)).astype(np.int64),
        kind=np.concatenate([graph.kind for graph in graphs]),
        size=np.concatenate([graph.size for graph in graphs]),
        peer=np.concatenate(peers),
        tag=np.concatenate([graph.tag for graph in graphs]),
        cpu=np.concatenate([graph.cpu for graph in graphs]),
        nic=np.concatenate([graph.nic for graph in graphs]),
        requires=_joined([graph.requires for graph in graphs], ops),
        irequires=_joined([graph.irequires for graph in graphs], ops),
        source=source,
    )


def _joined(parts: Sequence[Dependents], ops: IntArray) -> Dependents:
    edges = np.cumsum([0, *(len(part) for part in parts)])
    starts = [part.start[1:] + first for part, first in zip(parts, edges, strict=False)]
    return Dependents(
        np.concatenate(([0], *starts)).astype(np.int32),
        np.concatenate([part.ops + first for part, first in zip(parts, ops, strict=False)]).astype(
            np.int32
        ),
    )
