"""What LLAMP leaves out: a program's time with its CPUs and NICs occupied, beside that without.

LLAMP's graph has no edge between two operations because they share a core or an interface, so a
rank that exchanges messages with many others at once seems faster than it is. The same program
replayed with LogGOPSim's semantics says by how much. The difference is explained resource by
resource: with the order in which each resource served its events kept, its edges are left out
of the replay's own graph, one resource after the other, and each time the longest path becomes
shorter or stays as it is (``kernels.contention``).

The order matters, for what one resource holds back another would often have held back too. It is
that of `RESOURCES`, from the full replay on, so that the core, which LogGOPSim occupies longest,
comes last and is given what it shares with the interfaces. `ResourceShare.alone_ps` shows the other
end: how much longer the graph without any limit becomes by that one resource. As orders are kept, a
resource's part includes what waits behind an event that is late for other reasons.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from kernels import contention as kernel
from kernels.loggops.llamp import count_missing
from workbench.html_table import html_table
from workbench.models import LogGPS
from workbench.programs.find_program import ProgramLike, graph_of
from workbench.programs.graph import CALC, RECV, SEND
from workbench.programs.graph_arrays import matched
from workbench.provenance import Provenance
from workbench.result import StoredResult
from workbench.simulate.llamp import replay_llamp
from workbench.simulate.picoseconds import PS_PER_S
from workbench.simulate.replay import kernel_costs, replay
from workbench.simulate.replay_result import CPU as CPU_CAUSE, ReplayResult, times_of
from workbench.tasks import Task
from workbench.units import format_quantity

if TYPE_CHECKING:
    import pandas as pd

WARN_PERCENT = 5.0
"""The difference above which a result without contention carries a warning."""

RESOURCES = {
    kernel.RECEIVE_NIC: "receive NIC",
    kernel.SEND_NIC: "send NIC",
    kernel.CPU_BYTES: "bytes on the CPU",
    kernel.CPU: "overheads and computations on the CPU",
}
"""What can be limited, in the order in which it is left out.

The interfaces are held for g and (s - 1) G by each message that arrives or leaves; the core for
(s - 1) O as it sends, for (s - 1) max(O, G) as it takes a message, and for one overhead or
computation at a time.
"""

RULES = "rules of the two"
"""What is left without any limit, mostly below 0: LogGOPSim takes a message as it comes, LLAMP
charges the receiver's o once the receive is posted, and a rendezvous its header, read and
acknowledgement, 3 L more."""


@dataclass(frozen=True)
class ResourceShare:
    """The part of a program's time that is due to one resource.

    Attributes:
        resource: its name.
        time_ps: time saved by lifting this resource's limit after those before it, ps; that of
            the rules may be negative. The sum over all resources is the whole difference.
        alone_ps: time that this limit alone adds to the program without any limit, ps.
    """

    resource: str
    time_ps: int
    alone_ps: int


@dataclass(frozen=True)
class ContentionReport(StoredResult):
    """A program's time with LogGOPSim's semantics beside LLAMP's.

    Attributes:
        source: name of the program.
        model: the parameters.
        llamp_ps: T without contention, ps.
        loggopsim_ps: T with cores and interfaces occupied, ps.
        shares: the difference by resource; their ``time_ps`` add up to it.
        provenance: what was simulated.
    """

    source: str
    model: LogGPS
    llamp_ps: int
    loggopsim_ps: int
    shares: tuple[ResourceShare, ...]
    provenance: Provenance

    @property
    def llamp_s(self) -> float:
        """Time without contention, s."""
        return self.llamp_ps / PS_PER_S

    @property
    def loggopsim_s(self) -> float:
        """Time with cores and interfaces occupied, s."""
        return self.loggopsim_ps / PS_PER_S

    @property
    def optimistic_percent(self) -> float:
        """How much below LogGOPSim's time LLAMP's is, in percent of LogGOPSim's."""
        total = self.loggopsim_ps
        return 100.0 * (total - self.llamp_ps) / total if total else 0.0

    @property
    def warning(self) -> str | None:
        """What to be warned of, or None up to 5 %."""
        percent = self.optimistic_percent
        if abs(percent) <= WARN_PERCENT:
            return None
        largest = max(self.shares, key=lambda share: abs(share.time_ps))
        word = "optimistic" if percent > 0 else "pessimistic"
        return (
            f"the times without contention are {abs(percent):.0f} % {word}: "
            f"{format_quantity(self.llamp_s, 'time')} against "
            f"{format_quantity(self.loggopsim_s, 'time')} with CPUs and NICs occupied as in "
            f"LogGOPSim, mostly by {largest.resource}"
        )

    def to_frame(self) -> pd.DataFrame:
        """Return one row a resource.

        Returns:
            ``resource``, ``time_ns``, ``percent`` of LogGOPSim's time, ``alone_ns``.
        """
        import pandas as pd

        total = self.loggopsim_ps or 1
        return pd.DataFrame(
            {
                "resource": [share.resource for share in self.shares],
                "time_ns": [share.time_ps / 1000 for share in self.shares],
                "percent": [100.0 * share.time_ps / total for share in self.shares],
                "alone_ns": [share.alone_ps / 1000 for share in self.shares],
            }
        )

    def __repr__(self) -> str:
        return (
            f"ContentionReport({self.source}: LLAMP {format_quantity(self.llamp_s, 'time')}, "
            f"LogGOPSim {format_quantity(self.loggopsim_s, 'time')}, "
            f"{self.optimistic_percent:.1f} % optimistic)"
        )

    def _repr_html_(self) -> str:
        times = [("LLAMP, no contention", self.llamp_ps)]
        times += [(share.resource, share.time_ps) for share in reversed(self.shares)]
        times.append(("LogGOPSim", self.loggopsim_ps))
        rows = ((name, f"{ps / 1000:,.3f}") for name, ps in times)
        return html_table(rows, caption=f"{self.source}: time by resource, ns")


def compare_contention(
    program: ProgramLike,
    model: LogGPS,
    *,
    llamp_ps: int | None = None,
    task: Task | None = None,
) -> ContentionReport:
    """Return a program's time with contention beside that without, and what the difference is.

    Args:
        program: a graph, or a program with whole collectives, which get its usual algorithms.
        model: the parameters; g and O count with contention only.
        llamp_ps: T without contention in ps, where it is known; None has it computed.
        task: its progress is that of the replay; once it is stopped, the replays end.

    Raises:
        ProgramError: the program cannot run to its end.
        ParameterError: a time is beyond what 64 bits of picoseconds hold.
        SimulationHalted: the task was stopped.
    """
    graph = graph_of(program)
    if llamp_ps is None:
        llamp_ps = replay_llamp(graph, model, task=task).makespan_ps
    full = replay(graph, model, times=True, task=task)
    makespan_ps = _relaxed(full)
    limited = np.ones(len(RESOURCES), bool)
    before = full.makespan_ps
    none = makespan_ps(~limited)
    shares = []
    for number, name in RESOURCES.items():
        limited[number] = False
        without = makespan_ps(limited)
        alone = np.arange(len(RESOURCES)) == number
        shares.append(ResourceShare(name, before - without, makespan_ps(alone) - none))
        before = without
    shares.append(ResourceShare(RULES, before - llamp_ps, none - llamp_ps))
    return ContentionReport(
        source=graph.source,
        model=model,
        llamp_ps=llamp_ps,
        loggopsim_ps=full.makespan_ps,
        shares=tuple(shares),
        provenance=Provenance(
            "simulated", f"{graph.source}, LogGOPSim's semantics beside LLAMP's, {model}"
        ),
    )


def _relaxed(result: ReplayResult) -> Callable[[NDArray[np.bool_]], int]:
    """Return T in ps by the resources that are limited, bool[4], and serve as in the replay."""
    graph, times, costs, n = result.graph, times_of(result), result.costs, result.graph.num_ops
    joined = matched(graph, times.match)
    rank = np.repeat(np.arange(graph.num_ranks, dtype=np.int32), np.diff(graph.rank_start))
    held = (graph.kind == RECV) & (times.post_cause_kind == CPU_CAUSE)
    hosts = kernel.Cores(graph.cpu, graph.nic, rank, held)
    send = np.flatnonzero(graph.kind == SEND)
    time, late = np.zeros(2 * n, np.int64), np.zeros(2 * n, np.uint8)
    time[:n] = times.start_ps
    time[n + send] = times.begin_ps[times.match[send]]
    late[:n] = (graph.kind == CALC) & (graph.size > 0)
    late[send] = costs.send_ps(graph.size[send]) > 0
    late[n + send] = costs.receive_ps(graph.size[send]) > 0
    missing = np.empty(n, np.int32)
    count_missing(graph.requires.ops, graph.irequires.ops, missing)
    order, room = np.empty(2 * n, np.int32), np.empty(2 * n + 1, np.int32)
    count = kernel.order_events(joined, costs.S, time, late, missing, room, order)
    ports = graph.num_ranks * graph.num_nics

    def makespan_ps(limited: NDArray[np.bool_]) -> int:
        room = kernel.Room(
            np.zeros(graph.num_ranks * graph.num_cpus, np.int64),
            np.zeros(ports, np.int64),
            np.zeros(ports, np.int64),
            np.zeros(n, np.int64),
            np.zeros(n, np.int64),
            np.full(n, -1, np.int64),
        )
        each = kernel_costs(costs, graph.num_cpus, graph.num_nics)
        return int(kernel.makespan(joined, hosts, order[:count], each, limited, room))

    return makespan_ps
