"""The OSU latency and bandwidth tests on a model: two nodes on one switch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from kernels.two_node import layout, run as kernel
from kernels.two_node.layout import CONTROL_BYTES
from workbench.arrays import FloatArray
from workbench.checks import whole
from workbench.errors import ConfigurationError, ParameterError, SimulationHalted, WorkbenchError
from workbench.measure import OSU_SIZES, OSUCurve
from workbench.models import NetworkModel, SSTMacroModel
from workbench.provenance import Provenance
from workbench.simulate.ticks import (
    TICKS_PER_SECOND,
    check_clock,
    model_ticks,
    refuse_time,
    size_table,
)
from workbench.tasks import Task, task_of

BENCHMARKS = ("latency", "bandwidth")
"""The tests there are: osu_latency and osu_bw."""

REPLY_BYTES = 4
"""Size of the message that ends a window of the bandwidth test."""


OSU_COUNTS = {"latency": ((100, 10_000), (10, 1000)), "bandwidth": ((10, 100), (2, 20))}
"""Warm-up and measured iterations of the OSU benchmarks (5.3.2): of sizes up to 8192 B, above."""

_LARGE_BYTES = 8192  # LARGE_MESSAGE_SIZE of the OSU benchmarks 5.3.2
_NOT_YET = np.iinfo(np.int64).min
_MOST_WINDOWS = 10**9  # chosen: of a µs each, they outlast the clock, 692 s
_FIRST_CAPACITY = 1024  # packets at once; times 8 it reaches the largest one exactly
_LARGEST_CAPACITY = 2**19  # 1.7 GB of room, touched only where it is used
# Without the detection of repetition the kernel compiles in 10 instead of 17 s, and a trial of
# SNAPPR takes 7 instead of 2 ms: so many events, 30 trials, of a process go without.
_PLAIN_EVENTS = 2**22


def simulate_osu(
    model: NetworkModel,
    sizes: Sequence[int] | NDArray[np.int64] = OSU_SIZES,
    *,
    iterations: int = 1,
    warmup: int = 1,
    osu_counts: bool = False,
    window: int = 64,
    fresh: bool = False,
    benchmarks: Sequence[str] = BENCHMARKS,
    enough: Callable[[FloatArray, FloatArray], bool] | None = None,
    task: Task | None = None,
) -> OSUCurve:
    """Return the latency and bandwidth that osu_latency and osu_bw would print on a model.

    As SST/macro does it: each test is one continuous simulation of all sizes, in ascending order,
    that starts from an idle network; what is still on its way when a size ends is there when the
    next begins. osu_latency calls MPI_Barrier before each size, osu_bw does not. The simulation is
    deterministic, so one warm-up and one measured iteration say nearly all that thousands would.

    PISCES' cut-through arbiter lets a packet of one or two bytes arrive before it was sent: the
    clock of SST/macro runs back. A note of the result names the sizes at which it did; their
    figures mean nothing, and a time that SST/macro prints as negative is 0.

    Args:
        model: the network with its MPI, see ``workbench.models``.
        sizes: message sizes in bytes, ascending, at least 1.
        iterations: measured ping-pongs and windows of each size.
        warmup: ping-pongs and windows of each size before those.
        osu_counts: as many iterations as the OSU benchmarks instead: 10,000 of latency and 100 of
            bandwidth up to 8 KiB, 1,000 and 20 above, after a warm-up of 1 % and 10 % of them.
        window: messages per window of the bandwidth test.
        fresh: start each size from an idle network.
        benchmarks: ``latency``, ``bandwidth`` or both; what is not asked for is nan.
        enough: asked after each size with what has been simulated so far, latencies (s) and
            bandwidths (B/s) as float64[n], nan where they are still to come; once it returns True
            the run ends and the remaining sizes stay nan. Not for ``fresh`` runs.
        task: once it is stopped, the run ends within milliseconds.

    Raises:
        ConfigurationError: a run of this model would deadlock or end early, or set SST/macro's
            clock back below 0.
        SimulationHalted: the task was stopped.
        ParameterError: sizes or counts are not accepted.
    """
    wanted = _checked_sizes(sizes)
    if osu_counts and (iterations, warmup) != (1, 1):
        raise ParameterError(
            f"osu_counts sets iterations and warmup itself; got iterations={iterations} and "
            f"warmup={warmup} with it; give either it or them",
            key="osu_counts",
        )
    iterations = whole(iterations, "iterations", 1, _MOST_WINDOWS)
    warmup = whole(warmup, "warmup", 0, _MOST_WINDOWS)
    unknown = [name for name in benchmarks if name not in BENCHMARKS]
    if unknown or not benchmarks:
        raise ParameterError(
            f"benchmarks must be among {', '.join(BENCHMARKS)}; got {list(benchmarks)}",
            key="benchmarks",
        )
    if not 1 <= window < 2**20:
        raise ParameterError(f"window must be 1 to {2**20 - 1}; got {window}", key="window")
    model.validate(largest_message=int(wanted[-1]))
    if isinstance(model, SSTMacroModel):
        _refuse_small_rendezvous(model, wanted)
    costs = np.append(wanted, REPLY_BYTES)
    p, table = model_ticks(model), size_table(model, costs)
    check_clock(p, table, int(wanted[-1]), window)
    p = np.concatenate([p, table.ravel()])
    p[layout.P_N_SIZES] = len(table)
    halt = task_of(task).stop_event.cell
    latency, bandwidth = np.full((2, len(wanted)), _NOT_YET, np.int64)
    set_back = np.zeros((2, len(wanted)), np.bool_)
    turns = {
        name: _counts(wanted, OSU_COUNTS[name] if osu_counts else ((warmup, iterations),) * 2)
        for name in BENCHMARKS
    }
    per_latency, per_rate = (turns[name][:, 1].astype(np.float64) for name in BENCHMARKS)

    def figures() -> tuple[FloatArray, FloatArray]:
        # PISCES can set the clock back (see kernels/two_node/arbiters.py): no time has passed then.
        latency_s = np.maximum(latency, 0) / (2.0 * per_latency * TICKS_PER_SECOND)
        with np.errstate(divide="ignore"):
            rate = wanted * float(window) * per_rate / np.maximum(bandwidth, 0) * TICKS_PER_SECOND
        return (
            np.where(latency == _NOT_YET, np.nan, latency_s),
            np.where(bandwidth == _NOT_YET, np.nan, rate),
        )

    def curve() -> OSUCurve:
        latency_s, bandwidth_Bps = figures()
        return OSUCurve(
            name=f"{model.name} ({model.variant})",
            sizes=wanted,
            latency_s=latency_s,
            bandwidth_Bps=bandwidth_Bps,
            provenance=Provenance(
                "simulated",
                f"two nodes on one switch, {type(model).__name__}, variant {model.variant}",
            ),
            notes=_where_set_back(wanted, set_back),
        )

    n = len(wanted)
    for first, last in [(i, i + 1) for i in range(n)] if fresh else [(0, n)]:
        p[layout.P_FIRST], p[layout.P_LAST] = first, last
        tests = []
        if "latency" in benchmarks:
            p[layout.P_WINDOW], p[layout.P_SHORT_REPLY] = 1, -1
            p[layout.P_BARRIER] = p[layout.P_NETWORK] != layout.PROTOCOL
            tests.append(_Test(p, turns["latency"], latency, set_back[0], halt))
        if "bandwidth" in benchmarks:
            p[layout.P_WINDOW], p[layout.P_SHORT_REPLY] = window, n
            p[layout.P_BARRIER] = 0
            tests.append(_Test(p, turns["bandwidth"], bandwidth, set_back[1], halt))
        # Size by size where `enough` may stop the run: the largest sizes cost most and come last.
        for size in range(first, last) if enough is not None else (last - 1,):
            for test in tests:
                test.run_through(size)
                if enough is not None and enough(*figures()):
                    return curve()
    return curve()


def _checked_sizes(sizes: Sequence[int] | NDArray[np.int64]) -> NDArray[np.int64]:
    wanted = np.asarray(sizes, np.int64)
    if wanted.ndim != 1 or not len(wanted):
        raise ParameterError("sizes must be a list of at least one size in bytes", key="sizes")
    if wanted[0] < 1 or wanted[-1] >= 2**38 or (wanted[1:] <= wanted[:-1]).any():
        raise ParameterError(
            f"sizes must ascend from at least 1 B without repeats; got {list(wanted)}", key="sizes"
        )
    return wanted


def _counts(sizes: NDArray[np.int64], counts: tuple[tuple[int, int], ...]) -> NDArray[np.int64]:
    """Return warm-up and measured iterations of each size, int64[n, 2]."""
    small, large = counts
    return np.where((sizes <= _LARGE_BYTES)[:, None], small, large)


def _where_set_back(sizes: NDArray[np.int64], set_back: NDArray[np.bool_]) -> tuple[str, ...]:
    """Return the note of a result on the sizes at which the clock ran back."""
    tests = [
        f"{name} at {', '.join(f'{size} B' for size in sizes[marks].tolist())}"
        for name, marks in zip(BENCHMARKS, set_back, strict=True)
        if marks.any()
    ]
    if not tests:
        return ()
    return (
        f"the clock of SST/macro runs back ({'; '.join(tests)}): PISCES' cut-through arbiter lets "
        "packets of 1 and 2 B arrive before they were sent; these figures mean nothing, and times "
        "that SST/macro prints as negative are 0 here; variant 'repaired' charges such packets",
    )


def _refuse_small_rendezvous(model: SSTMacroModel, sizes: NDArray[np.int64]) -> None:
    """Refuse a rendezvous below its 64 B header, where SST/macro aborts; also that of the reply."""
    eager = max(model.mpi.max_vshort_msg_size, model.mpi.max_eager_msg_size)
    smallest = min((size for size in (REPLY_BYTES, *sizes) if size > eager), default=CONTROL_BYTES)
    if model.variant == "sstmacro" and smallest < CONTROL_BYTES:
        raise ConfigurationError(
            f"a rendezvous must be of at least {CONTROL_BYTES} B, or SST/macro aborts: "
            "max eager msg size (node.app1.mpi.max_eager_msg_size) "
            f"{model.mpi.max_eager_msg_size} B sends messages of "
            f"{smallest} B by rendezvous (each window ends with a reply of {REPLY_BYTES} B); raise "
            f"it to at least {CONTROL_BYTES - 1}, or choose variant 'repaired'",
            rule=f"rendezvous messages >= {CONTROL_BYTES} B",
            keys=("node.app1.mpi.max_eager_msg_size", "node.app1.mpi.max_vshort_msg_size"),
        )


class _Test:
    """One running test: its parameters, its state, and the ticks of each size so far."""

    skip_what_repeats: bool | None = None  # None: once `plain_events` are many
    plain_events: ClassVar[int] = 0  # handled in this process without skipping what repeats

    def __init__(
        self,
        p: NDArray[np.int64],  # parameters and table of sizes; copied
        counts: NDArray[np.int64],  # (n, 2), warm-up and measured iterations of each size
        elapsed: NDArray[np.int64],  # (n,), out: ticks of each finished size
        set_back: NDArray[np.bool_],  # (n,), out: whether the clock ran back
        halt: NDArray[np.int8],  # (1,), ends the run if it is set
    ) -> None:
        self._p = p.copy()
        rows = self._p[layout.N_PARAMETERS :].reshape(-1, layout.N_SIZE_COLUMNS)
        rows[: len(counts), [layout.WARMUP, layout.ITERATIONS]] = counts
        self._elapsed = elapsed
        self._set_back = set_back
        self._halt = halt
        self._capacity = _FIRST_CAPACITY
        self.events = 0
        self._begin()

    def _begin(self) -> None:
        window, n_sizes = int(self._p[layout.P_WINDOW]), int(self._p[layout.P_N_SIZES])
        channels = int(self._p[layout.P_CHANNELS])
        cells = layout.state_cells(window, n_sizes, channels, self._capacity)
        self._state = np.empty(cells, np.int64)
        self._room = np.empty(0 if self.skip_what_repeats is False else 3 * cells, np.int64)
        self._p[layout.P_RESUMED] = 0

    def _kept(self) -> NDArray[np.int64] | None:
        """Return room for the earlier states, None to skip nothing that repeats."""
        pisces = self._p[layout.P_NETWORK] == layout.PISCES
        left = _PLAIN_EVENTS - _Test.plain_events
        if self.skip_what_repeats is not None or pisces or left <= 0:
            return self._room
        self._p[layout.P_MOST_EVENTS] = self.events + left
        return None

    def run_through(self, size: int) -> None:
        """Simulate all sizes up to that of this index, with more room for packets if needed."""
        self._p[layout.P_PAUSE] = size + 1
        while True:
            kept = self._kept()
            status, events = kernel.osu(
                self._state,
                kept,
                self._p,
                self._halt,
                self._elapsed,
                self._set_back,
                True if self._p[layout.P_NETWORK] == layout.PISCES else None,
            )
            self._p[layout.P_RESUMED] = 1
            self.events += int(events)
            if kept is None:
                _Test.plain_events += int(events)
            if status == kernel.OK:
                return
            if status == kernel.MANY_EVENTS:
                continue
            if status == kernel.HALTED:
                raise SimulationHalted("the simulation was stopped before it finished")
            if status == kernel.CLOCK_RAN_OUT:
                refuse_time(
                    layout.CLOCK_END,
                    ", or fewer iterations (osu_counts, in the shell --osu-counts, runs as many "
                    "as the OSU benchmarks)",
                )
            if status == kernel.CLOCK_BELOW_ZERO:
                raise ConfigurationError(
                    "SST/macro's clock runs back below 0 in this run, where it wraps to 1844 s, "
                    "and what it prints is no figure: its cut-through arbiter lets packets of 1 "
                    "and 2 B arrive before they were sent; choose variant 'repaired', another "
                    "arbitrator, or sizes that do not end in such a packet",
                    rule="clock >= 0",
                    keys=("node.nic.injection.arbitrator", "switch.arbitrator"),
                )
            if status == kernel.DEADLOCK:
                raise ConfigurationError(
                    "the simulated run came to a halt: a packet waits for credits that cannot "
                    "come; raise the credits or lower the mtu",
                    rule="credits return",
                    keys=("node.nic.mtu",),
                )
            if self._capacity == _LARGEST_CAPACITY:
                raise WorkbenchError(
                    f"more than {self._capacity} packets are in flight at once; "
                    "raise the mtu or lower the latencies"
                )
            self._capacity *= 8
            self._begin()
