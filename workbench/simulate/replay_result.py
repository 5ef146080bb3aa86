"""The result of a replay: the end of each rank and, on request, the cause of each wait."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from workbench.arrays import IntArray
from workbench.errors import ParameterError
from workbench.facts import Fact
from workbench.models import LogGPS
from workbench.programs.graph import CALC, RECV, SEND, ExecutionGraph
from workbench.provenance import Provenance
from workbench.result import Drawing, StoredResult
from workbench.simulate.picoseconds import PS_PER_NS, PS_PER_S, PicosecondCosts, shown_ns

if TYPE_CHECKING:
    import pandas as pd

    from workbench.simulate.critical_path import PathStep

Semantics = Literal["loggopsim", "llamp"]
Ties = Literal["stable", "libstdc++"]

TIE_ORDERS: dict[Ties, str] = {
    "stable": "ties in program order",
    "libstdc++": "ties as libstdc++'s std::sort leaves them",
}
"""In which order operations run that become free together."""

DEPENDENCY, CPU, NIC, MESSAGE, STARTED = range(5)
"""What an operation waited for last: the end of another, the CPU, the NIC, the arrival of its
message, or, with ``irequires``, the start of another."""

CAUSE_NAMES = ("dependency", "cpu", "nic", "message", "started")


@dataclass(frozen=True, eq=False)
class ReplayTimes:
    """The times of each operation of a program, and the operation that each one waited for.

    Attributes:
        start_ps: int64[n], ps; a computation or send begins, a receive is posted.
        begin_ps: int64[n], ps; the host begins to work on it: ``start_ps`` for computations and
            sends; for a receive, when the host took its message, which may be before it is posted.
        end_ps: int64[n], ps; the host is done: after a computation; after a send's overhead, or
            for a synchronous send when its receiver released it; for a receive when its message was
            taken, or when it was posted if that is later.
        match: int32[n], the send of a receive, the receive of a send, -1 for computations.
        cause: int32[n], the operation that ``begin_ps`` waited for last; -1 if it waited for none.
            Where a message occupies a CPU or NIC, this is the number of its receive.
        cause_kind: uint8[n], how it waited: ``DEPENDENCY``, ``CPU``, ``NIC``, ``MESSAGE`` or
            ``STARTED``.
        post_cause: int32[n], the operation that ``start_ps`` waited for last; differs from
            ``cause`` for receives only. None if it was not kept.
        post_cause_kind: uint8[n], how it waited; None if it was not kept.
    """

    start_ps: IntArray
    begin_ps: IntArray
    end_ps: IntArray
    match: NDArray[np.int32]
    cause: NDArray[np.int32]
    cause_kind: NDArray[np.uint8]
    post_cause: NDArray[np.int32] | None = None
    post_cause_kind: NDArray[np.uint8] | None = None


@dataclass(frozen=True, eq=False)
class ReplayResult(StoredResult):
    """A program's run on LogGOPS.

    Attributes:
        graph: what was replayed.
        model: the parameters.
        semantics: ``loggopsim``, with contention for CPUs and NICs, or ``llamp``, without.
        compatible: whether LogGOPSim's quirks were on.
        finish_ps: int64[ranks], when each rank's host is free for good, ps.
        events: operations and messages, as LogGOPSim counts them.
        seconds: wall time of the kernel.
        times: of each operation, where they were asked for.
        provenance: what was simulated.
        noise_ps: int64[ranks], time that noise took from each rank, ps; None without noise.
        notes: what is to be known of the run, a sentence each.
        ties: order of operations that become free together, as it was asked for; ``llamp`` has no
            use for one.
    """

    graph: ExecutionGraph
    model: LogGPS
    semantics: Semantics
    compatible: bool
    finish_ps: IntArray
    events: int
    seconds: float
    times: ReplayTimes | None
    provenance: Provenance
    noise_ps: IntArray | None = None
    notes: tuple[str, ...] = field(default=())
    ties: Ties = "stable"

    plot = Drawing("plot_spacetime")

    @property
    def finish_s(self) -> NDArray[np.float64]:
        """When each rank ends, s, float64[ranks]."""
        return self.finish_ps / PS_PER_S

    @property
    def makespan_s(self) -> float:
        """When the last rank ends, s."""
        return self.makespan_ps / PS_PER_S

    @property
    def noise_s(self) -> NDArray[np.float64] | None:
        """Time that noise took from each rank, s, float64[ranks]; None without noise."""
        return None if self.noise_ps is None else self.noise_ps / PS_PER_S

    @property
    def finish_ns(self) -> list[int | float]:
        """When each rank ends, ns as LogGOPSim prints it; whole numbers are ``int``.

        LogGOPSim's clock is unsigned and wraps where zero-byte messages set it back below 0; a
        compatible replay then gives its figure, near 2^64 ns.
        """
        return [shown_ns(_unwrapped(ps)) for ps in self.finish_ps.tolist()]

    @property
    def makespan_ns(self) -> int | float:
        """When the last rank ends, ns as LogGOPSim prints it."""
        return shown_ns(self.makespan_ps)

    @property
    def makespan_ps(self) -> int:
        """When the last rank ends, ps."""
        return max((_unwrapped(ps) for ps in self.finish_ps.tolist()), default=0)

    @property
    def costs(self) -> PicosecondCosts:
        """The parameters in ps, as the replay used them."""
        return PicosecondCosts.of(self.model)

    def breakdown(self) -> pd.DataFrame:
        """Return each rank's core time until its end: compute, overhead, noise and waiting.

        Waiting is what is left: ``compute + overhead + noise + waiting = finish * cores``.
        Overhead is what messages cost the host, o and the bytes' share, on both sides. With
        ``llamp`` operations of a rank may overlap, then nothing is left and waiting is 0.

        Returns:
            One row a rank: ``rank``, ``cores``, ``finish_ns``, ``compute_ns``, ``overhead_ns``,
            ``noise_ns``, ``waiting_ns``.
        """
        import pandas as pd

        graph, costs, ranks = self.graph, self.costs, self.graph.num_ranks
        host = np.repeat(np.arange(ranks), np.diff(graph.rank_start))
        calc, send = graph.kind == CALC, np.flatnonzero(graph.kind == SEND)
        compute = _sums(host[calc], graph.size[calc] * PS_PER_NS, ranks)
        sizes = graph.size[send]
        if self.semantics == "loggopsim":
            sending, receiving = costs.send_ps(sizes), costs.receive_ps(sizes)
        else:
            sending = receiving = np.full(len(send), costs.o)
        overhead = _sums(host[send], sending, ranks) + _sums(graph.peer[send], receiving, ranks)
        noise = np.zeros(ranks, np.int64) if self.noise_ps is None else self.noise_ps
        cores = self._cores(host)
        waiting = self.finish_ps * cores - compute - overhead - noise
        return pd.DataFrame(
            {
                "rank": np.arange(ranks),
                "cores": cores,
                "finish_ns": self.finish_ps / PS_PER_NS,
                "compute_ns": compute / PS_PER_NS,
                "overhead_ns": overhead / PS_PER_NS,
                "noise_ns": noise / PS_PER_NS,
                "waiting_ns": np.maximum(waiting, 0) / PS_PER_NS,
            }
        )

    def waiting(self) -> pd.DataFrame:
        """Return each rank's waiting by cause; the causes add up to the waiting of ``breakdown``.

        A core waits from the end of its work to the begin of the next, and that begin says for
        what. The names are Scalasca's (Geimer et al.: The Scalasca performance toolset
        architecture, 2010), but the time that a message takes is no lateness here:

        - ``late_sender``: it waits for a message whose send has not begun yet;
        - ``late_receiver``: a send above S bytes waits for a receive that is not posted yet;
        - ``collective``: either of the two, of a collective's messages (Scalasca's wait at
          collective, message by message); known of programs, not of GOAL files;
        - ``transfer``: the other side is there, and the message is on its way, is being taken by
          the other host, or an interface is still occupied;
        - ``other``: a core without work until its rank's end, or waiting for another core.

        A message that comes before its receive is posted ends no wait: its core is then taken to
        wait for what ends the next.

        Returns:
            One row a rank: ``rank``, ``waiting_ns``, ``late_sender_ns``, ``late_receiver_ns``,
            ``collective_ns``, ``transfer_ns``, ``other_ns``.

        Raises:
            ParameterError: the replay kept no times, or had noise, quirks or llamp semantics.
        """
        from workbench.simulate.waiting import waiting_causes

        return waiting_causes(self)

    def root_causes(self) -> pd.DataFrame:
        """Return whose work before which calls made ranks wait, and how long in all, as a table.

        A wait is followed back to what delayed the rank that is waited for, as in Scalasca's delay
        analysis; `workbench.simulate.root_causes` says how. The rows add up to the waiting of
        ``breakdown``. On a network that takes no time at all, causes of one instant have no order,
        and some remain ``idle``.

        Returns:
            The costliest row first: ``activity`` (``compute``: work before the calls; ``messages``:
            overhead in them; ``network``: messages under way; ``idle``: cores without work),
            ``rank`` that did it, -1 for none, name of its ``call``, ``first`` and ``last`` number
            among its calls of this name, from 1, and ``waiting_ns`` that it caused on all ranks. Of
            GOAL files calls are sends and receives.

        Raises:
            ParameterError: the replay kept no times, or had noise, quirks or llamp semantics.
        """
        from workbench.simulate.root_causes import root_causes_frame

        return root_causes_frame(self)

    def critical_path(self) -> tuple[PathStep, ...]:
        """Return the chain of operations that set the makespan, from the last to the first.

        Raises:
            ParameterError: the replay kept no times.
        """
        from workbench.simulate.critical_path import critical_path

        return critical_path(self)

    def to_frame(self) -> pd.DataFrame:
        """Return one row an operation where times were kept, else one row a rank.

        Returns:
            Operations: ``op``, ``rank``, ``kind``, ``size``, ``peer``, ``tag``, ``start_ns``,
            ``begin_ns``, ``end_ns``, ``match``, ``cause``, ``waited_for``. Ranks: ``rank``,
            ``finish_ns``.
        """
        import pandas as pd

        graph, times = self.graph, self.times
        if times is None:
            return pd.DataFrame({"rank": np.arange(graph.num_ranks), "finish_ns": self.finish_ns})
        ops = np.arange(graph.num_ops)
        kinds = np.array(["", "send", "recv", "calc"], dtype=object)
        causes = np.array([*CAUSE_NAMES, "none"], dtype=object)
        waited = np.where(times.cause < 0, len(CAUSE_NAMES), times.cause_kind)
        return pd.DataFrame(
            {
                "op": ops,
                "rank": graph.rank_of(ops),
                "kind": kinds[graph.kind],
                "size": graph.size,
                "peer": graph.peer,
                "tag": graph.tag,
                "start_ns": times.start_ps / PS_PER_NS,
                "begin_ns": times.begin_ps / PS_PER_NS,
                "end_ns": times.end_ps / PS_PER_NS,
                "match": times.match,
                "cause": times.cause,
                "waited_for": causes[waited],
            }
        )

    def facts(self) -> tuple[Fact, ...]:
        """Return the makespan, how the program was replayed, and what its recording took."""
        first, recorded = float(self.finish_s.min(initial=np.inf)), self.graph.recorded
        compared = None if recorded is None else recorded.compare(self.makespan_s)
        rules = self._rules() + (", LogGOPSim's quirks on" if self.compatible else "")
        return (
            Fact("", "program", f"{self.graph.source}, {self.graph.num_ranks} ranks"),
            Fact("", "model", repr(self.model)),
            Fact("finish_ns", "", self.finish_ns),
            Fact("makespan_ns", "makespan", self.makespan_s, "time", plain=self.makespan_ns),
            Fact("", "first rank ends", first, "time"),
            Fact("events", "events", self.events),
            Fact("seconds", "", self.seconds),
            Fact("semantics", "semantics", rules, plain=self.semantics),
            Fact("ties", "", self.ties),
            Fact("", "recording", compared),
            Fact("recorded", "", None if recorded is None else recorded.to_dict()),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the facts, the model and where the ranks' time went as JSON can hold them."""
        return {
            "program": self.graph.source,
            "ranks": self.graph.num_ranks,
            "model": self.model.to_dict(),
            **super().to_dict(),
            "breakdown": None if self.times is None else self.breakdown().to_dict("list"),
            "provenance": self.provenance.to_dict(),
            "notes": list(self.notes),
        }

    def _check(self) -> None:
        times = () if self.times is None else fields(self.times)
        self._check_lengths(
            dict.fromkeys((f"times.{field.name}" for field in times), self.graph.num_ops)
            | dict.fromkeys(("finish_ps", "noise_ps"), self.graph.num_ranks)
        )

    def _rules(self) -> str:
        if self.semantics == "llamp":
            return self.semantics
        return f"{self.semantics}, {TIE_ORDERS[self.ties]}"

    def _cores(self, host: IntArray) -> IntArray:
        """Return the number of cores that each rank uses, arriving messages included."""
        graph = self.graph
        if graph.num_cpus == 1:
            return np.ones(graph.num_ranks, np.int64)
        posts = graph.kind != RECV
        used = np.zeros((graph.num_ranks, graph.num_cpus), bool)
        used[host[posts], graph.cpu[posts]] = True
        send = graph.kind == SEND
        used[graph.peer[send], graph.cpu[send]] = True
        cores: IntArray = np.maximum(used.sum(axis=1), 1)
        return cores


def _sums(host: NDArray[Any], values_ps: IntArray, ranks: int) -> IntArray:
    sums = np.zeros(ranks, np.int64)
    np.add.at(sums, host, values_ps)
    return sums


def _unwrapped(picoseconds: int) -> int:
    """Return LogGOPSim's figure for a clock that was set back below 0."""
    return picoseconds if picoseconds >= 0 else picoseconds + 2**64 * PS_PER_NS


def times_of(result: ReplayResult) -> ReplayTimes:
    """Return the times of a replay, or refuse one that kept none."""
    if result.times is None:
        raise ParameterError(
            "the times of the operations must be known; replay the program with times=True",
            key="times",
        )
    return result.times
