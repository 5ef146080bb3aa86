"""What traffic over a fabric came to: accepted load, latencies, and what each channel did."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from workbench.html_table import html_table
from workbench.provenance import Provenance
from workbench.result import Drawing, StoredResult
from workbench.simulate.fabric.fabric import Fabric
from workbench.units import format_quantity

if TYPE_CHECKING:
    import pandas as pd

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]

PERCENTS = (1.0, 5.0, 25.0, 50.0, 75.0, 90.0, 95.0, 99.0, 99.9, 100.0)
"""Percentiles of the latency that are written out."""


@dataclass(frozen=True, eq=False)
class ChannelStatistics:
    """Each channel's counters while measuring; numbered as in `workbench.topology.channels`.

    Attributes:
        busy_s: float64[channels], time spent sending, s.
        stalled_s: float64[channels], time free to send while packets waited for credits, s.
        n_bytes: int64[channels], bytes of the packets that got their credits.
        packets: int64[channels], packets that got their credits.
        mean_queue: float64[channels], packets queued, mean of the samples.
        most_queued: int64[channels], packets queued, maximum of the samples.
    """

    busy_s: FloatArray
    stalled_s: FloatArray
    n_bytes: IntArray
    packets: IntArray
    mean_queue: FloatArray
    most_queued: IntArray


@dataclass(frozen=True, eq=False)
class QueueSeries:
    """The number of queued packets over time, warm-up included.

    Attributes:
        time_s: float64[samples], s.
        between_routers: float64[samples], packets queued at channels between routers.
        to_hosts: float64[samples], packets queued at channels to hosts.
        at_hosts: float64[samples], packets queued at the hosts that send them.
        under_way: int64[samples], messages sent and not yet received.
    """

    time_s: FloatArray
    between_routers: FloatArray
    to_hosts: FloatArray
    at_hosts: FloatArray
    under_way: IntArray


@dataclass(frozen=True, eq=False)
class FabricResult(StoredResult):
    """Open-loop traffic at one load (simulated).

    A load of 1 is the bandwidth of a host's injection for every host of the pattern that sends the
    most. Latency runs from the time a message is generated until its last packet is there, so the
    wait at its host is in it; a message is one packet unless ``message_bytes`` is above the mtu.

    Statistics: `figures` (one number each), `latency_s` (percentiles), ``hops``, `to_frame` (each
    channel's utilisation, stalls and queue), `routers` (each router's counters), `queues` (depth
    over time), `link_utilisation` (for drawings); `plot` shows them.

    Attributes:
        fabric: the network.
        pattern: of the traffic.
        nominal_load: asked for, as a share of the hosts' bandwidth.
        generated: messages generated while measuring.
        delivered: how many of these arrived before the run ended.
        accepted: bytes delivered while measuring, as a share of the hosts' bandwidth.
        offered: bytes generated while measuring, likewise: the nominal load but for chance.
        mean_latency_s: of the messages delivered, s; nan for none.
        std_latency_s: their standard deviation, s.
        latencies_s: float64[kept], latencies of some of them, evenly chosen, ascending.
        hops: int64[n], messages by the channels between routers they took.
        received: int64[hosts], bytes each host got while measuring.
        channel: what each channel did while measuring.
        series: queues over time.
        window_s: how long was measured.
        message_bytes: size of a message.
        packet_hops: packets that left a port in the whole run, hosts' ports included.
        seconds: wall time of the kernel.
        lanes: virtual channels of each channel.
        seed: of the traffic.
        complete: whether all messages generated while measuring arrived.
        provenance: what was simulated.
    """

    FORMAT: ClassVar[str] = "workbench-fabric-traffic"
    VERSION: ClassVar[int] = 2
    WHAT: ClassVar[str] = "a result of traffic"

    fabric: Fabric
    pattern: str
    nominal_load: float
    generated: int
    delivered: int
    accepted: float
    offered: float
    mean_latency_s: float
    std_latency_s: float
    latencies_s: FloatArray
    hops: IntArray
    received: IntArray
    channel: ChannelStatistics
    series: QueueSeries
    window_s: float
    message_bytes: int
    packet_hops: int
    seconds: float
    lanes: int
    seed: int
    complete: bool
    provenance: Provenance

    plot = Drawing("plot_traffic")

    @property
    def saturated(self) -> bool:
        """Whether the network delivers less than is offered, beyond what chance explains.

        That is where some measured message never arrived, or where deliveries fall short of what
        was generated by 5 % and by four standard deviations of a Poisson count.
        """
        slack = max(0.05, 4.0 / max(self.generated, 1) ** 0.5)
        return not self.complete or self.accepted < (1.0 - slack) * self.offered

    def latency_s(self, percent: ArrayLike) -> Any:
        """Return percentiles of the latency, s; nan where no message arrived.

        Args:
            percent: 0 to 100, one or several.
        """
        asked = np.asarray(percent, np.float64)
        if not len(self.latencies_s):
            return np.full_like(asked, np.nan)[()]
        return np.percentile(self.latencies_s, asked)

    @property
    def mean_hops(self) -> float:
        """Channels between routers that a message took, on average."""
        total = int(self.hops.sum())
        return float(np.arange(len(self.hops)) @ self.hops) / total if total else float("nan")

    @property
    def utilisation(self) -> FloatArray:
        """Share of the measured time that each channel was sending, float64[channels]."""
        return self.channel.busy_s / self.window_s

    @property
    def link_utilisation(self) -> FloatArray:
        """The larger share of a link's two directions, float64[links], for drawings."""
        of_links = np.zeros(self.fabric.topology.num_links)
        numbered = self.fabric.channels
        np.maximum.at(of_links, numbered.link, self.utilisation[: numbered.between_routers])
        return of_links

    @property
    def stalled(self) -> FloatArray:
        """Share of the measured time that each channel waited for credits, float64[channels]."""
        return self.channel.stalled_s / self.window_s

    @property
    def kinds(self) -> NDArray[Any]:
        """The class of each channel's link, ``ejection`` or ``injection``, object[channels]."""
        numbered = self.fabric.channels
        kinds: NDArray[Any] = np.array(self.fabric.topology.classes, object)[numbered.link_class]
        between, hosts = numbered.between_routers, self.fabric.topology.num_hosts
        kinds[between : between + hosts] = "ejection"
        kinds[between + hosts :] = "injection"
        return kinds

    def to_frame(self) -> pd.DataFrame:
        """Return a row for each channel.

        Returns:
            ``channel``, ``kind``, ``source``, ``target`` (routers; the host at a host's channel),
            ``utilisation`` and ``stalled`` (shares of the measured time), ``bytes`` and ``packets``
            (sent while measuring), ``mean_queue`` and ``most_queued`` (packets).
        """
        import pandas as pd

        numbered = self.fabric.channels
        return pd.DataFrame(
            {
                "channel": np.arange(len(numbered.source)),
                "kind": self.kinds,
                "source": numbered.source,
                "target": numbered.target,
                "utilisation": self.utilisation,
                "stalled": self.stalled,
                "bytes": self.channel.n_bytes,
                "packets": self.channel.packets,
                "mean_queue": self.channel.mean_queue,
                "most_queued": self.channel.most_queued,
            }
        )

    def routers(self) -> pd.DataFrame:
        """Return a row for each router: the counters of its output ports, those to hosts included.

        Returns:
            ``router``, ``group`` (-1 for none), ``ports``, ``bytes`` and ``packets`` (sent while
            measuring), ``utilisation`` and ``stalled`` (shares of the measured time, means over
            the ports), ``mean_queue`` (packets, of all ports together).
        """
        import pandas as pd

        numbered = self.fabric.channels
        n, hosts = self.fabric.topology.num_routers, self.fabric.topology.num_hosts
        between = numbered.between_routers
        owner = np.concatenate(
            (numbered.source[:between], numbered.source[between : between + hosts])
        )
        mine = slice(0, between + hosts)

        def summed(values: NDArray[Any]) -> NDArray[np.float64]:
            return np.bincount(owner, weights=values[mine], minlength=n).astype(np.float64)

        ports = np.bincount(owner, minlength=n)
        return pd.DataFrame(
            {
                "router": np.arange(n),
                "group": self.fabric.topology.group,
                "ports": ports,
                "bytes": summed(self.channel.n_bytes).astype(np.int64),
                "packets": summed(self.channel.packets).astype(np.int64),
                "utilisation": summed(self.utilisation) / np.maximum(ports, 1),
                "stalled": summed(self.stalled) / np.maximum(ports, 1),
                "mean_queue": summed(self.channel.mean_queue),
            }
        )

    def queues(self) -> pd.DataFrame:
        """Return a row for each sample of the queues, warm-up included.

        Returns:
            ``time_us``; ``between_routers``, ``to_hosts`` and ``at_hosts`` (packets queued at the
            channels of that kind), ``under_way`` (messages sent and not yet received).
        """
        import pandas as pd

        return pd.DataFrame(self._queue_columns())

    def figures(self) -> dict[str, Any]:
        """Return the statistics that are one value, by name; utilisation is that between routers.

        Loads, utilisation and stalls are shares, other units are in the names.
        """
        median, p90, p99, most = (float(x) for x in self.latency_s([50, 90, 99, 100]))
        between = slice(0, self.fabric.channels.between_routers)
        busy, stalled = self.utilisation[between], self.stalled[between]
        return {
            "simulated": True,
            "topology": self.fabric.topology.name,
            "routing": self.fabric.routing_name,
            "congestion": self.fabric.congestion,
            "lanes": self.lanes,
            "pattern": self.pattern,
            "load": self.nominal_load,
            "offered": self.offered,
            "accepted": self.accepted,
            "saturated": self.saturated,
            "mean_latency_us": self.mean_latency_s * 1e6,
            "std_latency_us": self.std_latency_s * 1e6,
            "median_latency_us": median * 1e6,
            "p90_latency_us": p90 * 1e6,
            "p99_latency_us": p99 * 1e6,
            "max_latency_us": most * 1e6,
            "mean_hops": self.mean_hops,
            "mean_utilisation": float(busy.mean()) if len(busy) else 0.0,
            "max_utilisation": float(busy.max(initial=0.0)),
            "mean_stalled": float(stalled.mean()) if len(stalled) else 0.0,
            "max_stalled": float(stalled.max(initial=0.0)),
            "generated": self.generated,
            "delivered": self.delivered,
            "window_us": self.window_s * 1e6,
            "message_bytes": self.message_bytes,
            "packet_hops": self.packet_hops,
            "seconds": self.seconds,
            "seed": self.seed,
        }

    def to_dict(self, *, tables: bool = False) -> dict[str, Any]:
        """Return plain values that JSON can hold: `figures`, percentiles, hops and queues.

        ``latency_percentiles_us`` is by percent, ``hops`` the messages that took 0, 1, 2, …
        channels between routers, ``queues`` the columns of `queues`.

        Args:
            tables: whether the columns of `to_frame` are there as ``channels``, and those of
                `routers` as ``routers``.
        """
        latencies = zip(PERCENTS, self.latency_s(PERCENTS).tolist(), strict=True)
        found = {
            **self.figures(),
            "latency_percentiles_us": {f"{percent:g}": s * 1e6 for percent, s in latencies},
            "hops": self.hops.tolist(),
            "queues": {name: column.tolist() for name, column in self._queue_columns().items()},
        }
        if tables:
            found["channels"] = self.to_frame().to_dict("list")
            found["routers"] = self.routers().to_dict("list")
        return found

    def _queue_columns(self) -> dict[str, NDArray[Any]]:
        series = self.series
        return {
            "time_us": series.time_s * 1e6,
            "between_routers": series.between_routers,
            "to_hosts": series.to_hosts,
            "at_hosts": series.at_hosts,
            "under_way": series.under_way,
        }

    def _said(self) -> str:
        if not self.delivered:
            return "no message arrived"
        p99 = float(self.latency_s(99))
        state = ", saturated" if self.saturated else ""
        return (
            f"load {self.nominal_load:.3g}, accepted {self.accepted:.3g}{state}, latency "
            f"{format_quantity(self.mean_latency_s, 'time')} mean, "
            f"{format_quantity(p99, 'time')} p99"
        )

    def _check(self) -> None:
        network, samples = self.fabric.topology, len(self.series.time_s)
        channels = 2 * (network.num_links + network.num_hosts)
        self._check_lengths(
            {"received": network.num_hosts}
            | {f"channel.{field.name}": channels for field in fields(self.channel)}
            | {f"series.{field.name}": samples for field in fields(self.series)}
        )

    def __repr__(self) -> str:
        return (
            f"FabricResult(simulated: {self.fabric.topology.name}, {self.fabric.routing_name} "
            f"routing, {self.pattern} traffic; {self._said()})"
        )

    def _repr_html_(self) -> str:
        shown = {
            name: f"{value:.4g}" if isinstance(value, float) else str(value)
            for name, value in self.figures().items()
        }
        return html_table(shown.items(), caption=self.provenance.caption())
