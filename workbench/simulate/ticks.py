"""A model's parameters as the integers the kernels count in: ticks of 1e-16 s, as SST/macro's."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from kernels.two_node import layout
from workbench.errors import ConfigurationError, ParameterError
from workbench.models import (
    PISCES,
    SNAPPR,
    LogP,
    LogPMemory,
    NetworkModel,
    NullMemory,
    Protocol,
    SnapprMemory,
    SSTMacroModel,
)

TICKS_PER_SECOND = 1e16  # SST/macro's: its tick is 100 attoseconds
TICKS_PER_NS, TICKS_PER_PS = 10**7, 10**4  # of these ticks, as ints: times stay exact
CLOCK_END = 2**61
"""The tick at which a run on a fabric is given up: 231 s; the two-node clock goes further."""

LONGEST_DELAY = 2**59
"""The tick that no single delay may reach: 58 s. A few of them fit behind the clock's end."""

_BYTE_DELAYS = (
    layout.P_OVERLAY_BYTE,
    layout.P_INJECT_BYTE,
    layout.P_LINK_BYTE,
    layout.P_NIC_BYTE,
    layout.P_XBAR_BYTE,
)
_ARBITERS = {"simple": layout.SIMPLE, "null": layout.NULL, "cut_through": layout.CUT_THROUGH}


def ticks(seconds: float) -> int:
    """Return a time in whole ticks, cut off as SST/macro does."""
    if not abs(seconds * TICKS_PER_SECOND) < LONGEST_DELAY:
        refuse_delay(seconds)
    return int(seconds * TICKS_PER_SECOND)


def moment_ticks(seconds: float) -> int:
    """Return a moment or a period of a run on a fabric in ticks, rounded towards zero."""
    if not abs(seconds * TICKS_PER_SECOND) < CLOCK_END:
        refuse_time(CLOCK_END)
    return int(seconds * TICKS_PER_SECOND)


def refuse_delay(seconds: float) -> NoReturn:
    """Refuse a delay that is too long for a clock of 1e-16 s."""
    raise ConfigurationError(
        f"each delay must stay below {LONGEST_DELAY / TICKS_PER_SECOND:.0f} s, for simulated time "
        f"is counted in 1e-16 s; one of this run is {seconds:.3g} s; lower the latencies and "
        "delays, raise the bandwidths, or simulate smaller messages",
        rule="delay < longest delay",
        keys=(),
    )


def refuse_time(clock_end: int, advice: str = "") -> NoReturn:
    """Refuse a run that did not end before ``clock_end``, in ticks."""
    raise ConfigurationError(
        f"simulated time must stay below {clock_end / TICKS_PER_SECOND:.0f} s, where the clock "
        "ends; this run takes longer; lower the latencies and delays, raise the bandwidths, or "
        f"simulate smaller messages{advice}",
        rule="simulated time < end of the clock",
        keys=(),
    )


def byte_delay(bandwidth_Bps: float) -> int:
    """Return the whole ticks that a byte takes; this rounds a bandwidth by about 1e-6."""
    return ticks(1.0 / bandwidth_Bps)


def model_ticks(model: NetworkModel) -> NDArray[np.int64]:
    """Return the kernel's parameters, int64[N_PARAMETERS], see ``kernels.two_node.layout``."""
    p = np.zeros(layout.N_PARAMETERS, np.int64)
    if isinstance(model, Protocol):
        p[layout.P_NETWORK] = layout.PROTOCOL
        p[layout.P_EAGER0_MAX] = p[layout.P_EAGER1_MAX] = model.eager_max
        p[layout.P_CONTROL_FLIGHT] = ticks(model.rendezvous_handshake / 2)
        return p
    if not isinstance(model, SNAPPR | LogP | PISCES):
        raise ParameterError(f"a model must be SNAPPR, LogP, PISCES or Protocol; got {model!r}")
    p[layout.P_REPAIRED] = model.variant == "repaired"
    p[layout.P_EAGER0_MAX] = model.mpi.max_vshort_msg_size
    p[layout.P_EAGER1_MAX] = model.mpi.max_eager_msg_size
    p[layout.P_HEADER_DELAY] = ticks(model.mpi.post_header_delay)
    p[layout.P_RDMA_DELAY] = ticks(model.mpi.post_rdma_delay)
    if isinstance(model, LogP):
        p[layout.P_NETWORK] = layout.LOGP
        _overlay(p, model, model.negligible_size)
    elif isinstance(model, SNAPPR):
        p[layout.P_NETWORK] = layout.SNAPPR
        _overlay(p, model.logp, model.negligible_size)
        _snappr(p, model)
    else:
        p[layout.P_NETWORK] = layout.PISCES
        _overlay(p, model.logp, model.negligible_size)
        _pisces(p, model)
    p[layout.P_INJECT_LATENCY] = ticks(model.injection_latency)
    p[layout.P_INJECT_BYTE] = byte_delay(model.injection_bandwidth)
    if isinstance(model.memory, SnapprMemory):
        p[layout.P_CHANNEL_BYTE] = byte_delay(model.memory.channel_bandwidth)
        p[layout.P_CHUNK] = model.memory.flow_mtu
        if isinstance(model, PISCES) and model.variant == "sstmacro":
            # Only where the clock may be set back can a copy find its channels busy.
            p[layout.P_CHANNELS] = model.memory.num_channels
    return p


def _overlay(p: NDArray[np.int64], part: Any, negligible_size: int) -> None:
    p[layout.P_NEGLIGIBLE] = negligible_size
    p[layout.P_OVERLAY] = ticks(part.out_in_latency) + ticks(part.hop_latency)
    p[layout.P_OVERLAY_BYTE] = byte_delay(part.bandwidth)


def _snappr(p: NDArray[np.int64], model: SNAPPR) -> None:
    p[layout.P_MTU] = model.mtu
    p[layout.P_FLOW_CONTROL] = model.nic_flow_control
    p[layout.P_CONGESTION] = model.congestion
    p[layout.P_NIC_CREDITS] = model.nic_credits
    p[layout.P_SWITCH_CREDITS] = model.switch_credits
    p[layout.P_BUFFER] = model.nic_buffer
    p[layout.P_EJECT_LATENCY] = ticks(model.ejection_latency)
    p[layout.P_LINK_BYTE] = byte_delay(model.link_bandwidth)
    p[layout.P_NIC_BYTE] = byte_delay(model.nic_bandwidth)
    p[layout.P_INJECT_FLIT] = model.injection_flit_size * byte_delay(model.injection_bandwidth)
    p[layout.P_LINK_FLIT] = model.link_flit_size * byte_delay(model.link_bandwidth)


def _pisces(p: NDArray[np.int64], model: PISCES) -> None:
    p[layout.P_MTU] = model.mtu
    p[layout.P_FLOW_CONTROL] = 1
    p[layout.P_NIC_CREDITS] = model.nic_credits
    p[layout.P_SWITCH_CREDITS] = model.link_credits
    p[layout.P_EJECT_LATENCY] = ticks(model.ejection_latency)
    p[layout.P_LINK_BYTE] = byte_delay(model.link_bandwidth)
    p[layout.P_XBAR_BYTE] = byte_delay(model.xbar_bandwidth)
    p[layout.P_INJECT_ARBITER] = _ARBITERS[model.injection_arbitrator]
    p[layout.P_XBAR_ARBITER] = _ARBITERS[model.xbar_arbitrator]
    p[layout.P_LINK_ARBITER] = _ARBITERS[model.link_arbitrator]
    fastest = max(model.injection_bandwidth, model.link_bandwidth, model.xbar_bandwidth)
    if byte_delay(fastest) == 0:
        raise ConfigurationError(
            "PISCES divides by the time of a byte, which must be at least one tick of 1e-16 s; "
            f"got a bandwidth of {fastest:.3g} B/s; lower it to 1e16 B/s or less",
            rule="bandwidth <= 1e16 B/s",
            keys=("switch.link.bandwidth", "switch.xbar.bandwidth", "node.nic.injection.bandwidth"),
        )


def check_clock(p: NDArray[np.int64], table: NDArray[np.int64], largest: int, window: int) -> None:
    """Refuse parameters with which a window of messages could outlast the clock."""
    slowest = max(int(p[cell]) for cell in _BYTE_DELAYS)
    # Two neighbours of a full window may wait for each other's messages, one after the other.
    longest = max(slowest * largest, int(table[:, layout.WIRE_TICKS].max()))
    if longest * 2 * (window + 2) >= LONGEST_DELAY:
        refuse_delay(longest / TICKS_PER_SECOND)


def size_table(model: NetworkModel, sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the costs of messages of these sizes (bytes), int64[n + 3, N_SIZE_COLUMNS]."""
    # The last rows are the messages that start a program, see kernels.two_node.layout.
    sizes = np.append(sizes, (layout.INIT_BYTES, 0, layout.LAUNCH_BYTES))
    table = np.zeros((len(sizes), layout.N_SIZE_COLUMNS), np.int64)
    table[:, layout.SIZE_BYTES] = sizes
    if isinstance(model, Protocol):
        _protocol_costs(table, model, sizes)
    elif isinstance(model, SSTMacroModel):
        _sstmacro_costs(table, model, sizes)
    return table


def _protocol_costs(table: NDArray[np.int64], model: Protocol, sizes: NDArray[np.int64]) -> None:
    """Fill in the costs of the regime each size falls into."""
    regimes = np.array([model.regime_of(size) for size in sizes.tolist()])
    for chosen, flight, overhead, copy_bandwidth, bandwidth in (
        (
            regimes == "short",
            model.short_latency,
            model.short_overhead,
            model.short_copy_bandwidth,
            model.eager_bandwidth,
        ),
        (
            regimes == "eager",
            model.eager_latency,
            model.eager_overhead,
            model.eager_copy_bandwidth,
            model.eager_bandwidth,
        ),
        (
            regimes == "rendezvous",
            model.eager_latency,
            model.rendezvous_overhead,
            model.rendezvous_copy_bandwidth,
            model.rendezvous_bandwidth,
        ),
        (
            regimes == "middle",
            model.middle_latency,
            model.middle_overhead,
            model.middle_copy_bandwidth,
            model.middle_bandwidth,
        ),
    ):
        n_bytes = sizes[chosen]
        _check_product(byte_delay(bandwidth), n_bytes)
        _check_product(byte_delay(copy_bandwidth), n_bytes)
        table[chosen, layout.FLIGHT_TICKS] = ticks(flight)
        table[chosen, layout.WIRE_TICKS] = n_bytes * byte_delay(bandwidth)
        host = ticks(overhead) + n_bytes * byte_delay(copy_bandwidth)
        table[chosen, layout.COPY_TICKS] = table[chosen, layout.PIN_TICKS] = host


def _check_product(each: int, n_bytes: NDArray[np.int64]) -> None:
    """Refuse byte delays whose products with these sizes outlast the clock."""
    if n_bytes.size and each * int(n_bytes.max()) >= LONGEST_DELAY:
        refuse_delay(each * int(n_bytes.max()) / TICKS_PER_SECOND)


def _sstmacro_costs(
    table: NDArray[np.int64], model: SSTMacroModel, sizes: NDArray[np.int64]
) -> None:
    """Fill in the costs of copying and pinning (a fixed time, and a time for each page).

    Of a copy, bytes beyond the last word of ``lib_compute_access_width`` bits cost nothing; up to
    ``negligible_compute_bytes`` only the instructions count.
    """
    mpi, core = model.mpi, model.processor
    word = core.lib_compute_access_width // 8
    moved = sizes // word * word
    works = [_instructions(model, int(n)) for n in moved]
    requests = [int(work / n) if n else 0 for work, n in zip(works, moved.tolist(), strict=True)]
    uses_memory = moved > core.negligible_compute_bytes
    # The launch is moved by the memory alone, if there is one.
    moved[layout.LAUNCH_ROW] = layout.LAUNCH_BYTES
    works[layout.LAUNCH_ROW] = requests[layout.LAUNCH_ROW] = 0
    uses_memory[layout.LAUNCH_ROW] = not isinstance(model.memory, NullMemory)
    table[:, layout.COPY_BYTES] = moved
    table[:, layout.REQUEST_TICKS] = requests
    table[:, layout.COPY_TICKS] = _within_clock(
        _memory_ticks(model, n, request) if used else work
        for n, request, work, used in zip(
            moved.tolist(), requests, works, uses_memory.tolist(), strict=True
        )
    )
    if not isinstance(model.memory, NullMemory):
        table[:, layout.COPY_ON_LINK] = uses_memory
    fixed, each = ticks(mpi.rdma_pin_latency), ticks(mpi.rdma_page_delay)
    table[:, layout.PIN_TICKS] = _within_clock(
        fixed + -(-int(size) // mpi.rdma_page_size) * each for size in sizes
    )


def _within_clock(durations: Iterable[int]) -> list[int]:
    """Return the durations in ticks, or refuse the longest."""
    listed = list(durations)
    if max(listed) >= LONGEST_DELAY:
        refuse_delay(max(listed) / TICKS_PER_SECOND)
    return listed


def _instructions(model: SSTMacroModel, moved: int) -> int:
    """Return the ticks of the instructions of a copy of whole words."""
    core = model.processor
    turns = moved // (core.lib_compute_access_width // 8)
    instructions = turns + int(2 * turns * core.lib_compute_loop_overhead)
    return int(float(ticks(1.0 / core.frequency / core.parallelism)) * instructions)


def _memory_ticks(model: SSTMacroModel, moved: int, request: int) -> int:
    """Return the ticks an idle memory takes; a byte is asked for every `request` ticks."""
    if isinstance(model.memory, LogPMemory):
        each = request + byte_delay(model.memory.bandwidth)
        return ticks(model.memory.latency) + int(float(each) * moved)
    if isinstance(model.memory, SnapprMemory):
        return _copy_in_chunks(model.memory, moved, request)
    if model.variant == "sstmacro":
        raise ConfigurationError(
            f"SST/macro never finishes a copy of {moved} B with the null memory model "
            "(more than node.proc.negligible_compute_bytes="
            f"{model.processor.negligible_compute_bytes} B); "
            "choose the logp or snappr memory model, or variant 'repaired', where such a copy "
            "takes no time",
            rule="copied bytes <= node.proc.negligible_compute_bytes",
            keys=("node.proc.negligible_compute_bytes",),
        )
    return 0


def _copy_in_chunks(memory: SnapprMemory, size: int, request: int) -> int:
    """Return the ticks of a copy through channels taken in turn, one chunk outstanding."""
    each = byte_delay(memory.channel_bandwidth)
    free = [0] * memory.num_channels
    chunk = size % memory.flow_mtu or memory.flow_mtu
    now, left, channel = 0, size, 0
    while True:
        now = max(now + request * chunk, free[channel])
        free[channel] = now + each * chunk
        left -= chunk
        if not left:
            return free[channel]
        channel = (channel + 1) % memory.num_channels
        chunk = memory.flow_mtu
