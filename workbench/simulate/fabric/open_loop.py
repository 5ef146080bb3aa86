"""Traffic whose hosts send whatever becomes of their messages: latency and accepted load.

A run warms up, measures, and goes on under the same load until all messages generated while
measuring have arrived, or until it is plain that the network cannot carry them (Dally, Towles:
Principles and Practices of Interconnection Networks, 2004, section 23.1).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from kernels.fabric import layout
from workbench.checks import whole
from workbench.errors import ConfigurationError, ParameterError
from workbench.models import PISCES
from workbench.provenance import Provenance
from workbench.simulate.fabric.fabric import Fabric
from workbench.simulate.fabric.network import NetworkState, build, wiring_of
from workbench.simulate.fabric.result import ChannelStatistics, FabricResult, QueueSeries
from workbench.simulate.fabric.traffic_draws import draws_of
from workbench.simulate.ticks import CLOCK_END, TICKS_PER_SECOND, byte_delay, moment_ticks, ticks
from workbench.suggestions import did_you_mean
from workbench.tasks import Task, task_of
from workbench.topology.traffic import Traffic, traffic

Process = Literal["poisson", "bernoulli"]
PROCESSES: tuple[Process, ...] = get_args(Process)

MOST_KEPT = 2**20
"""Most latencies that are kept of a run; of more, every second, third, … is."""

MOST_MESSAGES = 10**12
"""Most messages that a run may be asked to measure."""

_LEAST_MESSAGES_EACH = 50
"""Messages of a host at full load, in the time that is measured. The mean latency of an 8x8x8 torus
at load 0.7 is 3.55 µs with 25, 3.69 with 50, 3.71 with 100, 3.74 with 200 (``messages=100``)."""

_LEAST_CROSSINGS = 10
"""Times of a lone packet on the longest route, in the time that is measured: the same mean latency
is 3.33 µs with 2, 3.62 with 5, 3.69 with 10, 3.74 with 20, 3.72 with 40."""

_DRAIN = 2
"""Times that a run may last again until its messages have arrived; with 1 and with 4 the results of
a tornado on an 8x8 torus are the same, just below and just above saturation."""

_CHUNKS = 8  # parts in which it drains, and may end; with 4 and with 16 the same results
_HOPELESS = 0.8
"""Accepted share of the offered load below which a run does not drain. A tornado of load 0.37 on an
8x8 torus is accepted to 86 %: drained, its messages take 18.5 µs on average; those that arrive
without, 62 %, took 17.0. With 0.6, runs without end in sight are drained: 29.8 µs at load 0.43."""


def run_traffic(
    fabric: Fabric,
    pattern: str | Traffic = "uniform",
    load: float = 0.5,
    *,
    message_bytes: int | None = None,
    process: Process = "poisson",
    messages: int = 20_000,
    warm_up_s: float | None = None,
    measure_s: float | None = None,
    samples: int = 32,
    seed: int = 0,
    task: Task | None = None,
) -> FabricResult:
    """Return the result of open-loop traffic at one load (simulated).

    Args:
        fabric: the network.
        pattern: of ``workbench.topology.traffic.PATTERNS``, or one made before.
        load: bytes that a host generates, as a share of its injection bandwidth, above 0 up to 1.
        message_bytes: size of a message, bytes; None takes one packet, the model's mtu.
        process: arrivals of messages: ``poisson``, or ``bernoulli``, with a fixed chance at each
            message's time.
        messages: messages measured at each load, at least; each host also generates 50 on average
            at full load.
        warm_up_s: seconds before measuring; None takes as long as is measured.
        measure_s: seconds to measure; None takes what ``messages`` needs.
        samples: of the queues while measuring.
        seed: of the traffic.
        task: gets the simulated time, in ticks, with each sample; once it is stopped, the run ends.

    Raises:
        ParameterError: an argument is not accepted.
        ConfigurationError: packets could not move, or the clock would run out.
        SimulationHalted: the task was stopped.
    """
    fabric.checked()
    if fabric.congestion == "flow":
        raise ParameterError(
            "open-loop traffic is simulated as packets; take congestion 'packet' or 'packet-flow'",
            key="congestion",
        )
    if not 0.0 < load <= 1.0:
        raise ParameterError(f"load must be above 0 and at most 1; got {load!r}", key="load")
    if process not in PROCESSES:
        raise ParameterError(
            f"process must be one of {', '.join(PROCESSES)}; got {process!r}"
            f"{did_you_mean(process, PROCESSES)}",
            key="process",
        )
    for key, value, most in (("messages", messages, MOST_MESSAGES), ("samples", samples, 2**20)):
        whole(value, key, 1, most)
    seed = whole(seed, "seed", 0, 2**62 - 1)
    size = fabric.ports.mtu
    if message_bytes is not None:
        size = whole(message_bytes, "message_bytes", 1, 2**31 - 1, unit="B")
    drawn = traffic(fabric.topology, pattern) if isinstance(pattern, str) else pattern
    run = _Run(fabric, drawn, load, size, process, seed)
    run.plan(messages, warm_up_s, measure_s)
    return run.result(samples, task_of(task))


class _Run:
    """One run: its plan, its network and its counts."""

    def __init__(
        self,
        fabric: Fabric,
        drawn: Traffic,
        load: float,
        size: int,
        process: Process,
        seed: int,
    ) -> None:
        from kernels.fabric import traffic as kernel

        if drawn.topology != fabric.topology:
            raise ParameterError(
                f"the traffic must be of {fabric.topology.name}; got that of {drawn.topology.name}",
                key="pattern",
            )
        self.kernel = kernel
        self.fabric, self.load, self.size = fabric, load, size
        self.pattern, self.drawn = drawn.name, draws_of(drawn)
        self.process, self.seed = process, seed
        self.each = byte_delay(fabric.ports.injection_bandwidth) * size
        if self.each == 0:
            raise ConfigurationError(
                "a host must take some time to send, as load is a share of its bandwidth; "
                f"{fabric.ports.injection_bandwidth:g} B/s leave none: lower "
                "node.nic.injection.bandwidth to 1e16 B/s or less",
                rule="injection bandwidth <= 1e16 B/s",
                keys=("node.nic.injection.bandwidth",),
            )
        self.settings = np.zeros(kernel.N_SETTINGS, np.int64)
        self.settings[kernel.PROCESS] = PROCESSES.index(process)
        self.settings[kernel.SEED] = seed
        self.settings[kernel.SLOT] = self.each
        self.settings[kernel.MESSAGE_BYTES] = size
        # PISCES charges a packet's last byte itself, and SNAPPR's physical variant here.
        physical = fabric.ports.variant == "repaired" and not isinstance(fabric.ports, PISCES)
        self.settings[kernel.WHOLE] = physical

    def plan(self, messages: int, warm_up_s: float | None, measure_s: float | None) -> None:
        """Set the ticks at which measuring begins and ends."""
        kernel, model = self.kernel, self.fabric.ports
        senders = float(self.drawn.rate.sum())
        crossing = ticks(
            model.injection_latency
            + model.ejection_latency
            + self.fabric.routes.longest * model.link_latency
        )
        shortest = max(
            messages * self.each / (self.load * senders),
            _LEAST_MESSAGES_EACH * self.each,
            _LEAST_CROSSINGS * crossing,
        )
        if measure_s is None and not shortest < CLOCK_END:
            raise ParameterError(
                f"what is measured must end before the clock does, at "
                f"{CLOCK_END / TICKS_PER_SECOND:.0f} s; {messages:.3g} messages at load "
                f"{self.load:.3g} take {shortest / TICKS_PER_SECOND:.3g} s: raise load, or lower "
                "messages",
                key="load",
            )
        measure = int(shortest) if measure_s is None else moment_ticks(measure_s)
        warm_up = measure if warm_up_s is None else moment_ticks(warm_up_s)
        if measure < 1 or warm_up < 0:
            raise ParameterError(
                "measure_s must be above 0 and warm_up_s at least 0; got "
                f"{measure_s!r} and {warm_up_s!r}",
                key="measure_s",
            )
        moment_ticks((warm_up + measure) * (1 + _DRAIN) / TICKS_PER_SECOND)
        self.settings[kernel.FROM] = warm_up
        self.settings[kernel.TO] = warm_up + measure
        expected = self.load * senders * measure / self.each
        self.settings[kernel.STRIDE] = max(1, int(np.ceil(1.2 * expected / MOST_KEPT)))
        self.expected = expected

    def result(self, samples: int, task: Task) -> FabricResult:
        """Run the kernel from sample to sample and return the result."""
        kernel = self.kernel
        start, end = int(self.settings[kernel.FROM]), int(self.settings[kernel.TO])
        topology = self.fabric.topology
        with np.errstate(divide="ignore"):
            mean = self.each / (self.load * self.drawn.rate)
        drawn = self.drawn
        pattern = kernel.Pattern(
            drawn.row,
            drawn.first,
            drawn.until,
            drawn.low,
            drawn.count,
            np.where(np.isfinite(mean), mean, 0.0),
            self.settings,
        )
        kept = min(MOST_KEPT, int(1.2 * self.expected) + 4096)
        tally = kernel.Tally(
            np.zeros(kernel.N_COUNTS, np.int64),
            np.zeros(2),
            np.zeros(kept, np.int64),
            np.zeros(kernel.MOST_HOPS, np.int64),
            np.zeros(topology.num_hosts, np.int64),
        )
        state = _network(self.fabric)
        began = time.perf_counter()
        kernel.begin(state.s, state.q, pattern)
        serve = self._server(state, pattern, tally, task)
        step = max((end - start) // samples, 1)
        times = np.concatenate((np.arange(start, 0, -step)[::-1], np.arange(start, end, step)[1:]))
        series: list[tuple[float, ...]] = []
        channels = len(self.fabric.routes.channels.source)
        total = np.zeros(channels)
        most = np.zeros(channels, np.int64)
        before = _statistics(state, 0)
        for at in [*times.tolist(), end]:
            serve(at)
            queued = _queued(state, at, self.fabric.ports.mtu)
            series.append(self._sample(tally.counts, at, queued))
            if at == start:
                before = _statistics(state, at)
            elif at > start:
                total += queued
                np.maximum(most, queued, out=most)
            task.report(at, end, f"{at / end:.0%} of the simulated time")
        spent = _statistics(state, end) - before
        generated = int(tally.counts[kernel.MEASURED])
        offered = generated * self.size / self._full(end - start)
        accepted = int(tally.counts[kernel.BYTES_IN]) / self._full(end - start)
        if accepted >= _HOPELESS * offered:
            self._drain(serve, tally.counts, end)
        seconds = time.perf_counter() - began
        delivered = int(tally.counts[kernel.MEASURED_IN])
        average = tally.sums[0] / delivered if delivered else float("nan")
        spread = tally.sums[1] / delivered - average**2 if delivered else float("nan")
        measured = sum(1 for row in series if row[0] > start / TICKS_PER_SECOND)
        columns = np.array(series).T
        hops = tally.hops[: int(np.flatnonzero(tally.hops).max(initial=0)) + 1]
        return FabricResult(
            fabric=self.fabric,
            pattern=self.pattern,
            nominal_load=self.load,
            generated=generated,
            delivered=delivered,
            accepted=accepted,
            offered=offered,
            mean_latency_s=float(average) / TICKS_PER_SECOND,
            std_latency_s=float(np.sqrt(max(spread, 0.0))) / TICKS_PER_SECOND
            if delivered
            else float("nan"),
            latencies_s=np.sort(tally.latency[: int(tally.counts[kernel.KEPT])]) / TICKS_PER_SECOND,
            hops=hops.copy(),
            received=tally.received,
            channel=ChannelStatistics(
                busy_s=spent[0] / TICKS_PER_SECOND,
                stalled_s=spent[1] / TICKS_PER_SECOND,
                n_bytes=spent[2],
                packets=spent[3],
                mean_queue=total / max(measured, 1),
                most_queued=most,
            ),
            series=QueueSeries(
                time_s=columns[0],
                between_routers=columns[1],
                to_hosts=columns[2],
                at_hosts=columns[3],
                under_way=columns[4].astype(np.int64),
            ),
            window_s=(end - start) / TICKS_PER_SECOND,
            message_bytes=self.size,
            packet_hops=int(state.s[layout.HOPS_TAKEN]),
            seconds=seconds,
            lanes=self.fabric.routes.lanes,
            seed=self.seed,
            complete=delivered == generated,
            provenance=Provenance(
                origin="simulated",
                title=f"{self.pattern} traffic on {topology.name}",
                details={
                    "model": repr(self.fabric.ports),
                    "routing": self.fabric.routing_name,
                    "lanes": str(self.fabric.routes.lanes),
                    "process": self.process,
                    **({"interface": limits} if (limits := self.fabric.interface.about) else {}),
                },
            ),
        )

    def _full(self, window: int) -> float:
        """Return the bytes that all senders generate in a window at load 1."""
        return float(self.drawn.rate.sum()) * window / (self.each / self.size)

    def _server(
        self, state: NetworkState, pattern: Any, tally: Any, task: Task
    ) -> Callable[[int], None]:
        """Return the function that serves the network up to a tick."""
        routes = self.fabric.routes.tables()
        depth, seen = np.zeros((2, max(len(routes.leads_to), 1)), np.int32)
        kernel, halt = self.kernel.run, task.stop_event.cell

        def serve(until: int) -> None:
            state.run(
                lambda s, t, q: kernel(s, t, q, routes, depth, seen, pattern, tally, until, halt)
            )

        return serve

    def _sample(
        self, counts: NDArray[np.int64], at: int, queued: NDArray[np.int64]
    ) -> tuple[float, ...]:
        """Return a row of the series of queues."""
        between = self.fabric.routes.channels.between_routers
        to_hosts = between + self.fabric.topology.num_hosts
        return (
            at / TICKS_PER_SECOND,
            float(queued[:between].sum()),
            float(queued[between:to_hosts].sum()),
            float(queued[to_hosts:].sum()),
            float(counts[self.kernel.GENERATED] - counts[self.kernel.DELIVERED]),
        )

    def _drain(self, serve: Callable[[int], None], counts: NDArray[np.int64], end: int) -> None:
        """Run until every measured message has arrived, within a limit."""
        for chunk in range(1, _DRAIN * _CHUNKS + 1):
            if counts[self.kernel.MEASURED_IN] == counts[self.kernel.MEASURED]:
                return
            serve(end + end * chunk // _CHUNKS)


def _network(fabric: Fabric) -> NetworkState:
    """Return the network, idle."""
    routes = fabric.routes
    adaptive = routes.scheme in ("ugal-l", "par") or routes.choice == "least"
    return build(
        wiring_of(routes.channels, routes.lanes),
        fabric.ports,
        overlay=False,
        adaptive=adaptive,
        interface=fabric.interface,
    )


def _statistics(state: NetworkState, at: int) -> NDArray[np.int64]:
    """Return ticks busy and stalled, bytes and packets of each channel, int64[4, channels]."""
    cells = (layout.BYTES_SENT, layout.STALLED, layout.BYTES_SENT, layout.PACKETS_SENT)
    found = np.array([state.channel_cells(cell) for cell in cells])
    found[0] *= state.byte_ticks
    # A port counts a packet when it has credits for it; what is not sent yet is taken off.
    free = state.channel_cells(layout.NEXT_FREE)
    found[0] -= np.maximum(free - at, 0)
    # A stall counts when it ends; what there is of it by now is added.
    found[1] += np.maximum(at - np.maximum(free, state.channel_cells(layout.WAITING_SINCE)), 0)
    return found


def _queued(state: NetworkState, at: int, packet_bytes: int) -> NDArray[np.int64]:
    """Return the packets queued at each channel: those without credit, and those to be sent."""
    from kernels.fabric.traffic import count_unsent

    each = np.maximum(state.byte_ticks * packet_bytes, 1)
    backlog = np.maximum(state.channel_cells(layout.NEXT_FREE) - at, 0)
    waiting = state.channel_cells(layout.N_PENDING).copy()
    at_hosts = waiting[-state.wiring.num_hosts :]
    at_hosts[:] = 0
    count_unsent(state.s, state.q, at_hosts)
    queued: NDArray[np.int64] = waiting - (-backlog // each)
    return queued
