"""Collectives on a Gemini-like torus, simulated: packets or fluid messages on every link.

    machine = FabricCollective("gather", paper_tests("gather"), "flow")
    machine(np.array([NOMINAL]))  # times[1, 28] in s

The parameters are those of ``gemini.BOX`` (Wilke et al., Table 3): one message has ``Max BW`` at
most and starts up for ``Inj Lat`` after the short message that announces it (``SMSG Lat`` and 64
bytes at ``SMSG BW``), an interface sends at ``Inj BW``, and each link, the one to a node included,
has ``Link BW`` and ``Hop Lat``, and so have the ways between nodes and routers ``Hop Lat``. Buffers
are known beforehand: a message enters the network when its sender has what it passes on, whether or
not its receiver is done with earlier ones, and messages of one node enter one after another.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from workbench.arrays import FloatArray, IntArray
from workbench.checks import whole
from workbench.errors import ParameterError
from workbench.models import PISCES, SNAPPR, LogGPS
from workbench.programs.collectives import schedule
from workbench.programs.graph import SEND, Dependents, ExecutionGraph
from workbench.simulate.fabric.fabric import (
    CONGESTIONS,
    LANE_CREDITS,
    NIC_CREDITS,
    Congestion,
    Fabric,
)
from workbench.simulate.fabric.flow import run_flow
from workbench.simulate.fabric.network_interface import NetworkInterface
from workbench.simulate.fabric.operations import HostCosts, ProgramRun, rank_ticks
from workbench.simulate.fabric.packets import run_packets
from workbench.simulate.fabric.paths import Paths, message_paths
from workbench.simulate.llamp import match_messages
from workbench.simulate.ticks import TICKS_PER_SECOND
from workbench.suggestions import did_you_mean
from workbench.topology import Topology, torus
from workbench.topology.channels import Channels, channels
from workbench.topology.routing import Routing, route
from workbench.uq.collectives.gemini import (
    ALGORITHM_OF,
    BOX,
    HOPPER,
    SMSG_BYTES,
    TorusPlaces,
    check_fit,
)
from workbench.uq.collectives.models import CollectiveTest

_ABOUT: dict[Congestion, str] = {
    "flow": "fluid messages over its links",
    "packet": "packets over its links",
    "packet-flow": "packets that share its links as they flow",
}
_CROSSBAR_BANDWIDTH = 1e12  # B/s, never full: Table 3 has no parameter of a crossbar
_OPS_OF_ROUND = 2
"""Operations of a rank in a round of a ring: it receives and sends."""


@dataclass(frozen=True)
class FabricCollective:
    """Times of a collective's tests, simulated on a torus, as a function of ``BOX``'s parameters.

    Times are those of the root until its messages have arrived, or of the last rank of an
    allgather. A test of a gather or scatter of 512 nodes takes tens of milliseconds with fluid
    messages, and seconds with packets, which look up the routes of all pairs of routers: those of
    Hopper take 20 s at first (tests/benchmarks/test_uncertainty.py).

    Attributes:
        collective: ``allgather``, ``gather`` or ``scatter``.
        tests: their nodes and bytes; one rank a node.
        congestion: how messages share links: ``packet``, ``packet-flow`` or ``flow``.
        places: where the nodes are.
        rounds: how many rounds of an allgather's ring are simulated; the others take what each of
            the second half of these takes. With 32 that is within 3 % of all rounds
            (tests/unit/uq/test_gemini_fabric.py). None simulates all.
        packet_bytes: size of packets.
    """

    collective: str
    tests: tuple[CollectiveTest, ...]
    congestion: Congestion
    places: TorusPlaces = HOPPER
    rounds: int | None = 32
    packet_bytes: int = 1024

    def __post_init__(self) -> None:
        check_fit(self.collective, self.tests, self.places)
        if self.congestion not in CONGESTIONS:
            raise ParameterError(
                f"congestion must be one of {', '.join(CONGESTIONS)}; got {self.congestion!r}"
                f"{did_you_mean(self.congestion, CONGESTIONS)}",
                key="congestion",
            )
        if self.rounds is not None:
            whole(self.rounds, "rounds", 2)
        whole(self.packet_bytes, "packet_bytes", 64, LANE_CREDITS // 2)

    @property
    def about(self) -> str:
        """What is simulated, for captions."""
        return _ABOUT[self.congestion]

    def __call__(self, values: ArrayLike) -> FloatArray:
        """Return the times in s, float64[n, tests], for float64[n, 7] in the order of ``BOX``."""
        rows = BOX.columns(values, "values").reshape(-1, len(BOX))
        out = np.empty((len(rows), len(self.tests)))
        for at, row in enumerate(rows):
            fabric = self.fabric(row)
            out[at] = [self._time(fabric, test) for test in self.tests]
        return out

    def fabric(self, values: ArrayLike) -> Fabric:
        """Return the network for float64[7] in the order of ``BOX``.

        Args:
            values: the parameters, SI.
        """
        max_bw, link_bw, hop, latency, inj_bw, smsg, smsg_bw = np.asarray(values, float).tolist()
        ways = {
            "mtu": self.packet_bytes,
            "injection_bandwidth": inj_bw,
            "link_bandwidth": link_bw,
            "injection_latency": hop,
            "ejection_latency": hop,
            "link_latency": hop,
            "nic_credits": NIC_CREDITS,
        }
        routing = None if self.congestion == "flow" else _routing(self.places)
        credits = LANE_CREDITS * (1 if routing is None else routing.lanes)
        model: SNAPPR | PISCES
        if self.congestion == "packet-flow":
            model = PISCES(
                **ways,
                link_credits=credits,
                switch_mtu=self.packet_bytes,
                xbar_bandwidth=_CROSSBAR_BANDWIDTH,
            )
        else:
            model = SNAPPR(
                **ways,
                switch_credits=credits,
                nic_bandwidth=link_bw,
                nic_buffer=NIC_CREDITS,
                variant="repaired",
            )
        return Fabric(
            _network(self.places).topology,
            model,
            "dimension-order" if routing is None else routing,
            self.congestion,
            interface=NetworkInterface(max_bw, latency + smsg + SMSG_BYTES / smsg_bw),
        )

    def _time(self, fabric: Fabric, test: CollectiveTest) -> float:
        """Return the time of one test, s."""
        part = _part(self.collective, test, self.rounds)
        hosts, paths = _placed(self.collective, test.ranks, self.places, self.rounds)
        run = _run(part, hosts, paths, fabric)
        if self.collective != "allgather":
            root = rank_ticks(part.graph.rank_start, run.end, run.arrived, 0)
            return root / TICKS_PER_SECOND
        ends = run.end.reshape(test.ranks, -1, _OPS_OF_ROUND).max(axis=(0, 2)) / TICKS_PER_SECOND
        done, further = len(ends), test.ranks - 1 - len(ends)
        half = done // 2
        each = (ends[-1] - ends[half - 1]) / (done - half) if further else 0.0
        return float(ends[-1] + further * each)


@dataclass(frozen=True, eq=False)
class _Part:
    """The messages of a test, or of its first rounds."""

    graph: ExecutionGraph
    match: NDArray[np.int32]


def _run(part: _Part, hosts: IntArray, paths: Paths, fabric: Fabric) -> ProgramRun:
    """Run messages to their end; hosts spend no time on them."""
    if fabric.congestion != "flow":
        return run_packets(part.graph, part.match, hosts, fabric, costs=HostCosts())
    return run_flow(
        part.graph,
        part.match,
        hosts,
        paths,
        fabric.channels,
        fabric.ports,
        costs=HostCosts(),
        interface=fabric.interface,
    )


@lru_cache(maxsize=4)
def _network(places: TorusPlaces) -> Channels:
    """Return a torus with its channels."""
    return channels(torus(places.shape, hosts=places.hosts, multiplicity=places.parallel or None))


@lru_cache(maxsize=2)
def _routing(places: TorusPlaces) -> Routing:
    """Return the routes of all pairs of a torus' routers; Hopper's take 20 s."""
    return route(_network(places).topology, "dimension-order")


@lru_cache(maxsize=128)
def _part(collective: str, test: CollectiveTest, rounds: int | None) -> _Part:
    """Return the messages of a test; of a ring the first rounds."""
    made = schedule(collective, ALGORITHM_OF[collective], test.ranks, size=test.block_bytes)
    graph = made.graph()
    if collective == "allgather" and rounds is not None and rounds < test.ranks - 1:
        graph = _first_ops(graph, _OPS_OF_ROUND * rounds)
    return _Part(graph, match_messages(graph, LogGPS(L=0, o=0, g=0, G=0, O=0, S=0)))


@lru_cache(maxsize=64)
def _placed(
    collective: str, ranks: int, places: TorusPlaces, rounds: int | None
) -> tuple[IntArray, Paths]:
    """Return the host of each rank, and the paths of the messages."""
    graph = _part(collective, CollectiveTest(ranks, 1), rounds).graph
    hosts = _hosts(_network(places).topology, places, ranks)
    sends = np.flatnonzero(graph.kind == SEND)
    ends = hosts[graph.rank_of(sends)], hosts[graph.peer[sends]]
    return hosts, message_paths(_network(places), *ends, side_by_side=True)


def _hosts(network: Topology, places: TorusPlaces, ranks: int) -> IntArray:
    """Return the host of each rank; a topology's first coordinate counts fastest."""
    nodes = places.of_ranks(ranks)
    where = np.unravel_index(nodes // places.hosts, places.shape)
    router = np.ravel_multi_index(where[::-1], places.shape[::-1])
    first = np.searchsorted(network.host_router, router)
    return np.asarray(first + nodes % places.hosts, np.int64)


def _first_ops(graph: ExecutionGraph, most: int) -> ExecutionGraph:
    """Return the first operations of each rank, which wait for no later one."""
    counts = np.diff(graph.rank_start)
    inside = np.arange(graph.num_ops) - np.repeat(graph.rank_start[:-1], counts) < most
    number = np.cumsum(inside) - 1
    waiting, awaited = graph.requires.pairs()
    kept = inside[waiting] & inside[awaited]
    after, before = (number[ops[kept]].astype(np.int32) for ops in (waiting, awaited))
    n, none = int(inside.sum()), np.zeros(0, np.int32)
    return ExecutionGraph(
        rank_start=np.concatenate(([0], np.cumsum(np.minimum(counts, most)))).astype(np.int64),
        kind=graph.kind[inside],
        size=graph.size[inside],
        peer=graph.peer[inside],
        tag=graph.tag[inside],
        cpu=graph.cpu[inside],
        nic=graph.nic[inside],
        requires=Dependents.from_pairs(after, before, n),
        irequires=Dependents.from_pairs(none, none, n),
        source=graph.source,
    )
