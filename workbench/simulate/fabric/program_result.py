"""The result of a program's run on a fabric: the ranks' ends, and the channels' loads."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from workbench.arrays import IntArray
from workbench.checks import whole
from workbench.errors import ParameterError
from workbench.facts import Fact
from workbench.models import LogGPS
from workbench.programs.graph import CALC, SEND, ExecutionGraph
from workbench.provenance import Provenance
from workbench.result import Drawing, StoredResult
from workbench.simulate.fabric.channel_rates import byte_ticks
from workbench.simulate.fabric.fabric import Fabric
from workbench.simulate.fabric.operations import rank_ticks
from workbench.simulate.ticks import TICKS_PER_NS, TICKS_PER_SECOND
from workbench.topology.channels import Channels, channels
from workbench.topology.topology import Topology

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class FabricReplay(StoredResult):
    """A program's run on a fabric; simulated.

    Attributes:
        graph: what was run.
        fabric: network, ports, routing and congestion.
        placement: name of the placement.
        hosts: int64[ranks], the host of each rank.
        host: whose o, O and S the hosts had; None where messages cost them nothing.
        finish_ticks: int64[ranks], when the last operation of each rank ended, 1e-16 s.
        channel_bytes: int64[channels], what each channel carried, by the numbers of `channels`.
        channel_most: int64[channels], most messages at once (with packets: packets that waited).
        seconds: wall time of the run.
        provenance: what was simulated.
        start_ticks: int64[n], when each operation started, if asked for; a receive: was posted.
        end_ticks: int64[n], when each ended, if asked for.
        arrived_ticks: int64[n], when the message of each send was at its receiver, -1 for all
            else, if asked for.
    """

    graph: ExecutionGraph
    fabric: Fabric
    placement: str
    hosts: IntArray
    host: LogGPS | None
    finish_ticks: IntArray
    channel_bytes: IntArray
    channel_most: IntArray
    seconds: float
    provenance: Provenance
    start_ticks: IntArray | None = None
    end_ticks: IntArray | None = None
    arrived_ticks: IntArray | None = None

    plot = Drawing("plot_fabric_replay")

    @property
    def topology(self) -> Topology:
        """The network."""
        return self.fabric.topology

    @property
    def congestion(self) -> str:
        """How channels are shared: ``packet``, ``packet-flow`` or ``flow``."""
        return str(self.fabric.congestion)

    @property
    def routing(self) -> str:
        """Name of the routing."""
        return self.fabric.routing_name

    @property
    def finish_s(self) -> NDArray[np.float64]:
        """When each rank ends, s, float64[ranks]."""
        return self.finish_ticks / TICKS_PER_SECOND

    @property
    def makespan_s(self) -> float:
        """When the last rank ends, s."""
        return int(self.finish_ticks.max(initial=0)) / TICKS_PER_SECOND

    @property
    def notes(self) -> tuple[str, ...]:
        """What is to be known of the run, a sentence each."""
        notes = self.fabric.notes
        most = int(self.channel_most.max(initial=0))
        if self.congestion != "flow" or most < 2:
            return notes
        return (
            *notes,
            f"up to {most} fluid messages shared a channel: the end may be far from that of "
            "packets, which wait for one another (synchronised pairwise exchanges ended 56 % too "
            "early to 12 % too late, bursts up to 150 % too late); where it matters run packets",
        )

    def rank_s(self, rank: int) -> float:
        """Return when a rank's operations have ended and its messages have arrived, s.

        Args:
            rank: whose.

        Raises:
            ParameterError: there is no such rank, or times were not kept.
        """
        rank = whole(rank, "rank", 0, self.graph.num_ranks - 1)
        if self.arrived_ticks is None or self.end_ticks is None:
            raise _times_needed()
        ticks = rank_ticks(self.graph.rank_start, self.end_ticks, self.arrived_ticks, rank)
        return ticks / TICKS_PER_SECOND

    @cached_property
    def channels(self) -> Channels:
        """The channels of the network."""
        return channels(self.topology)

    @property
    def utilisation(self) -> NDArray[np.float64]:
        """The share of its bandwidth that each channel used up to the end, float64[channels]."""
        delay = byte_ticks(self.channels, self.fabric.ports)
        end = max(int(self.finish_ticks.max(initial=0)), 1)
        share: NDArray[np.float64] = self.channel_bytes * delay / end
        return share

    @property
    def link_utilisation(self) -> NDArray[np.float64]:
        """The larger share of a link's two directions, float64[links], for drawings."""
        of_links = np.zeros(self.topology.num_links)
        between = self.utilisation[: self.channels.between_routers]
        np.maximum.at(of_links, self.channels.link, between)
        return of_links

    def to_frame(self) -> pd.DataFrame:
        """Return one row a rank: ``rank``, ``host``, ``router``, ``group``, ``finish_ns``."""
        import pandas as pd

        routers = self.topology.host_router[self.hosts]
        return pd.DataFrame(
            {
                "rank": np.arange(len(self.hosts)),
                "host": self.hosts,
                "router": routers,
                "group": self.topology.group[routers],
                "finish_ns": self.finish_ticks / TICKS_PER_NS,
            }
        )

    def channel_frame(self) -> pd.DataFrame:
        """Return one row a channel, the busiest first.

        Returns:
            ``channel``, ``class``, ``source``, ``target`` (routers, or the host at a host's link),
            ``bytes``, ``utilisation``, ``most_at_once``.
        """
        import pandas as pd

        numbered = self.channels
        frame = pd.DataFrame(
            {
                "channel": np.arange(len(self.channel_bytes)),
                "class": np.array(self.topology.classes, object)[numbered.link_class],
                "source": numbered.source,
                "target": numbered.target,
                "bytes": self.channel_bytes,
                "utilisation": self.utilisation,
                "most_at_once": self.channel_most,
            }
        )
        order = np.argsort(-self.channel_bytes, kind="stable")
        return frame.iloc[order].reset_index(drop=True)

    def message_frame(self) -> pd.DataFrame:
        """Return one row a message.

        Returns:
            ``send`` (its operation), ``source``, ``target`` (ranks), ``bytes``, ``sent_ns``,
            ``arrived_ns``.

        Raises:
            ParameterError: times were not kept.
        """
        import pandas as pd

        if self.arrived_ticks is None or self.start_ticks is None:
            raise _times_needed()
        sends = np.flatnonzero(self.graph.kind == SEND)
        return pd.DataFrame(
            {
                "send": sends,
                "source": self.graph.rank_of(sends),
                "target": self.graph.peer[sends],
                "bytes": self.graph.size[sends],
                "sent_ns": self.start_ticks[sends] / TICKS_PER_NS,
                "arrived_ns": self.arrived_ticks[sends] / TICKS_PER_NS,
            }
        )

    def facts(self) -> tuple[Fact, ...]:
        """Return the makespan, the network and how it was used."""
        calc, sends = (int((self.graph.kind == kind).sum()) for kind in (CALC, SEND))
        used = float(self.utilisation.max(initial=0))
        return (
            Fact("", "program", f"{self.graph.source}, {self.graph.num_ranks} ranks, simulated"),
            Fact("program", "", self.graph.source),
            Fact("topology", "topology", self.topology.name),
            Fact("congestion", "congestion", self.congestion),
            Fact("routing", "routing", self.routing),
            Fact("placement", "placement", self.placement),
            Fact("", "messages", sends),
            Fact("", "computations", calc),
            Fact("finish_ns", "", self.finish_ticks / TICKS_PER_NS),
            Fact("makespan_ns", "makespan", self.makespan_s, "time"),
            Fact("hosts", "", self.hosts),
            Fact("", "busiest channel", used, "share", "of its bandwidth"),
            Fact("busiest_channel", "", self._busiest()),
            Fact("seconds", "", self.seconds),
            Fact("notes", "", list(self.notes)),
        )

    def _busiest(self) -> dict[str, Any]:
        """Return the channel that carried the most bytes."""
        at, numbered = int(self.channel_bytes.argmax()), self.channels
        return {
            "class": self.topology.classes[numbered.link_class[at]],
            "source": int(numbered.source[at]),
            "target": int(numbered.target[at]),
            "bytes": int(self.channel_bytes[at]),
            "utilisation": float(self.utilisation[at]),
        }

    def _check(self) -> None:
        ranks, network = self.graph.num_ranks, self.fabric.topology
        channels = 2 * (network.num_links + network.num_hosts)
        self._check_lengths(
            dict.fromkeys(("hosts", "finish_ticks"), ranks)
            | dict.fromkeys(("channel_bytes", "channel_most"), channels)
            | dict.fromkeys(("start_ticks", "end_ticks", "arrived_ticks"), self.graph.num_ops)
        )
        network.checked_hosts(self.hosts)


def _times_needed() -> ParameterError:
    """Return the error of a run whose times were not kept."""
    return ParameterError(
        "the times of the messages must be known; run the program with times=True", key="times"
    )
