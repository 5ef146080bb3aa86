"""A network of routers and hosts as the arrays that the kernels simulate."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from kernels.fabric import calendar, layout
from workbench.errors import ConfigurationError, SimulationHalted, WorkbenchError
from workbench.models import PISCES, SNAPPR
from workbench.simulate.fabric.network_interface import NetworkInterface
from workbench.simulate.fabric.port_model import (
    fill_arbiters,
    fill_own_ports,
    fill_ports,
    lookahead,
    model_cells,
)
from workbench.simulate.ticks import CLOCK_END, refuse_time
from workbench.topology.channels import Channels

IntArray = NDArray[np.int64]

_MOST_RECORDS = 2**26
"""Most records of a run: 4 GiB."""
_MOST_STATE = 2**29
"""Most cells of the state, int64: 4 GiB, too."""
_LINE = 8
"""Cells of a line of the cache."""
_WINDOW_BITS = 3
"""A window is 4 to 8 buckets of the calendar long."""


@dataclass(frozen=True, eq=False)
class Wiring:
    """The channels between routers and hosts, and the lanes of packets.

    Numbered as in ``Channels``: D between routers, then one to each of N hosts, one from each.
    """

    num_routers: int  # R
    source: NDArray[np.int32]  # (D,), router that sends on each channel
    target: NDArray[np.int32]  # (D,), router that it leads to
    host_router: NDArray[np.int32]  # (N,), router of each host
    lanes: int  # virtual channels of each channel
    dimension: IntArray  # (D,), the coordinate that a channel changes, -1 for none
    wraps: IntArray  # (D,), 1 for channels across the dateline of their dimension
    lane_step: IntArray  # (D,), added to a packet's lane after each channel
    order: IntArray  # (D,), places of the channels in a router's order within a tick
    channels: Channels | None = None  # where the topology states links' bandwidths or latencies

    @property
    def num_hosts(self) -> int:
        """Number of hosts, N."""
        return len(self.host_router)

    @property
    def between_routers(self) -> int:
        """Number of channels between routers, D."""
        return len(self.source)


def wiring_of(channels: Channels, lanes: int) -> Wiring:
    """Return the wiring of a topology, for routings that set the lanes themselves."""
    between = channels.between_routers
    stated = channels.topology.unequal or len(channels.topology.link_latency)
    return Wiring(
        num_routers=channels.topology.num_routers,
        source=channels.source[:between],
        target=channels.target[:between],
        host_router=channels.topology.host_router,
        lanes=lanes,
        dimension=np.full(between, -1, np.int64),
        wraps=np.zeros(between, np.int64),
        lane_step=np.zeros(between, np.int64),
        order=np.arange(between, dtype=np.int64),
        channels=channels if stated else None,
    )


@dataclass(eq=False)
class NetworkState:
    """A network under simulation: the kernels' three arrays."""

    s: IntArray  # settings and state, see kernels.fabric.layout
    t: NDArray[np.int32]  # tables
    q: IntArray  # records
    wiring: Wiring = field(repr=False)

    def run(self, kernel: Callable[[IntArray, NDArray[np.int32], IntArray], int]) -> int:
        """Run a host layer to its end, with more room if it needs some; return OK or DEADLOCK."""
        while True:
            status = int(kernel(self.s, self.t, self.q))
            if status in (layout.OK, layout.DEADLOCK):
                return status
            if status == layout.HALTED:
                raise SimulationHalted("the simulation was stopped before it finished")
            if status == layout.CLOCK_RAN_OUT:
                refuse_time(CLOCK_END)
            if status == layout.NO_RECORDS and len(self.q) < _MOST_RECORDS * layout.RECORD:
                self.q = _longer(self.q)
            elif status == layout.NO_STATE and len(self.s) < _MOST_STATE:
                self.s = _longer(self.s)
            else:
                raise WorkbenchError(
                    f"more than {_MOST_RECORDS} packets and messages are in flight at once; "
                    "send less, or in larger packets"
                )

    def channel_cells(self, cell: int) -> IntArray:
        """Return one cell of every channel, int64[D + 2 N], such as ``layout.BYTES_SENT``."""
        start = int(self.s[layout.AT_CHANNEL])
        count = self.wiring.between_routers + 2 * self.wiring.num_hosts
        return self.s[start + cell :: int(self.s[layout.CHANNEL_STEP])][:count]

    @property
    def byte_ticks(self) -> IntArray:
        """The ticks of a byte at the port of every channel, int64[D + 2 N]."""
        at = self.s[layout.AT_PORTS] + layout.N_PORT * _port_of(self.wiring) + layout.BYTE
        found: IntArray = self.s[at]
        return found


def build(
    wiring: Wiring,
    model: SNAPPR | PISCES,
    *,
    layer_cells: int = 0,  # cells of state for the host layer
    rotors: IntArray | None = None,  # (n, 3), see kernels.fabric.sst_routes
    route: NDArray[np.int32] | None = None,  # (R, R), SST/macro's; None: kernels.fabric.routing
    candidates: NDArray[np.int32] | None = None,  # channels that rotors turn through
    hops: NDArray[np.int32] | None = None,  # (R, R), on the LogP overlay; None: one everywhere
    overlay: bool = True,  # messages up to negligible_size take the LogP overlay
    adaptive: bool = False,  # the routing asks for queue lengths
    interface: NetworkInterface | None = None,  # of every host
    in_turn: bool = False,  # messages that the interface slows enter one after the other
) -> NetworkState:
    """Return the arrays of an idle network."""
    routers, hosts, between = wiring.num_routers, wiring.num_hosts, wiring.between_routers
    channels = between + 2 * hosts
    turning = np.zeros((0, 3), np.int64) if rotors is None else rotors
    slot_data, slot_credit = _slots(wiring)
    before = _lane_cells(wiring.lanes)
    step = before + layout.N_CHANNEL + _LINE - layout.LANES_SHARE
    sizes = {
        layout.AT_DUE: routers + hosts,
        layout.AT_TODO: 2 * (routers + hosts),
        layout.AT_CALENDAR: calendar.N_CALENDAR,
        layout.AT_PORTS: (3 + (channels if wiring.channels is not None else 0)) * layout.N_PORT,
        layout.AT_CHANNEL: channels * step,
        layout.AT_ROUTER: routers * layout.N_ROUTER,
        layout.AT_HOST: hosts * layout.N_HOST,
        layout.AT_ROTOR: turning.size,
        layout.AT_LAYER: layer_cells,
        layout.AT_MODEL: model_cells(model, routers, channels, wiring.lanes),
    }
    lines = [-(-size // _LINE) * _LINE for size in sizes.values()]
    ends = np.cumsum([layout.N_SETTINGS, *lines])
    at = dict(zip(sizes, ends[:-1].tolist(), strict=True))
    used = int(ends[-1])
    s = _zeros(used + 16 * channels + 2 * layout.STATE_MARGIN)
    for cell, start in at.items():
        s[cell] = start
    s[layout.N_ROUTERS], s[layout.N_HOSTS] = routers, hosts
    s[layout.N_BETWEEN], s[layout.N_LANES] = between, wiring.lanes
    s[layout.END], s[layout.USED] = used, 1
    s[at[layout.AT_DUE] : at[layout.AT_DUE] + routers + hosts] = layout.NEVER
    s[at[layout.AT_ROTOR] : at[layout.AT_ROTOR] + turning.size] = turning.ravel()
    _routers(wiring, _cells(s, at[layout.AT_ROUTER], routers, layout.N_ROUTER))
    h = _cells(s, at[layout.AT_HOST], hosts, layout.N_HOST)
    for cell in (layout.CREDIT_DUE, layout.DATA_DUE, layout.QUEUE_DUE, layout.ARBITRATION):
        h[:, cell] = layout.NEVER
    h[:, layout.ROUTER] = wiring.host_router
    s[layout.AT_CHANNEL] += before
    s[layout.CHANNEL_STEP] = step
    block = _cells(s, at[layout.AT_CHANNEL], channels, step)
    c, credits_of = block[:, before:], block[:, before - layout.N_LANE :: -layout.N_LANE]
    c[:, layout.SLOT_DATA], c[:, layout.SLOT_CREDIT] = slot_data, slot_credit
    source, target = _ends(wiring)
    c[:, layout.SOURCE], c[:, layout.ARRIVES] = source, target << layout.COMPONENT_SHIFT
    c[:, layout.WAITING_SINCE] = c[:, layout.WATCHED] = layout.NEVER
    c[:between, layout.PASSAGE] = np.where(
        wiring.dimension < 0, -1 - wiring.lane_step, wiring.dimension << 1 | wiring.wraps
    )
    ports = _cells(s, at[layout.AT_PORTS], 3, layout.N_PORT)
    fill_ports(s, ports, credits_of[:, : wiring.lanes], h, wiring.lanes, model)
    if wiring.channels is not None:
        s[layout.OWN_PORTS] = 1
        own = _cells(s, at[layout.AT_PORTS] + 3 * layout.N_PORT, channels, layout.N_PORT)
        fill_own_ports(own, ports, credits_of[:, : wiring.lanes], wiring.channels, model)
    s[layout.ROUTING], s[layout.ADAPTIVE] = route is None, adaptive
    if not overlay:
        s[layout.NEGLIGIBLE] = -1
    if interface is not None:
        s[layout.MESSAGE_BYTE], s[layout.STARTUP] = interface.byte_ticks, interface.startup_ticks
        s[layout.IN_TURN] = in_turn
    table = _tables(s, routers, route, candidates, hops if overlay else None)
    s[layout.LOOKAHEAD] = lookahead(s, model, hops, wiring.channels, overlay=overlay)
    if interface is not None and interface.control_ticks is not None:
        s[layout.LOOKAHEAD] = min(s[layout.LOOKAHEAD], interface.control_ticks)
    s[layout.BUCKET_BITS] = max(int(s[layout.LOOKAHEAD]).bit_length() - _WINDOW_BITS, 0)
    records = layout.RECORDS_MARGIN * 4 + 16 * hosts
    if isinstance(model, PISCES):
        records += routers + channels
    q = _zeros(records * layout.RECORD)
    if isinstance(model, PISCES):
        fill_arbiters(s, q, model)
    return NetworkState(s, table, q, wiring)


def _port_of(wiring: Wiring) -> IntArray:
    """Return the place of each channel's cells among those of ports, int64[D + 2 N]."""
    between, hosts = wiring.between_routers, wiring.num_hosts
    if wiring.channels is not None:
        return 3 + np.arange(between + 2 * hosts)
    return np.repeat(np.arange(3), (between, hosts, hosts))


def _lane_cells(lanes: int) -> int:
    """Return the cells of a channel's lanes, of which those of two share a line with its own."""
    more = lanes * layout.N_LANE - layout.LANES_SHARE
    return layout.LANES_SHARE + max(0, -(-more // _LINE) * _LINE)


def _zeros(cells: int) -> IntArray:
    """Return zeros that start at a cache line, so that a record lies in one line."""
    # 2 % less time for the allgather on 512 nodes (tests/benchmarks/test_fabric.py).
    whole = np.zeros(cells + _LINE, np.int64)
    start = -whole.ctypes.data // whole.itemsize % _LINE
    return whole[start : start + cells]


def _longer(array: IntArray) -> IntArray:
    """Return a copy of twice the length; what is behind the old end is 0."""
    longer = _zeros(2 * len(array))
    longer[: len(array)] = array
    return longer


def _cells(s: IntArray, start: int, count: int, each: int) -> IntArray:
    """Return a part of the state as a table of `count` rows."""
    return s[start : start + count * each].reshape(count, each)


def _ends(wiring: Wiring) -> tuple[IntArray, IntArray]:
    """Return the components at both ends of every channel."""
    hosts = np.arange(wiring.num_hosts, dtype=np.int64) + wiring.num_routers
    at = wiring.host_router.astype(np.int64)
    source = np.concatenate((wiring.source.astype(np.int64), at, hosts))
    target = np.concatenate((wiring.target.astype(np.int64), hosts, at))
    return source, target


def _slots(wiring: Wiring) -> tuple[IntArray, IntArray]:
    """Return the slots of each channel's data and credits at their routers, -1 at hosts.

    Their order is SST/macro's of links: between routers (data, then credits), data from hosts,
    credits of the channels to hosts.
    """
    between, hosts = wiring.between_routers, wiring.num_hosts
    host = np.arange(hosts, dtype=np.int64)
    channel = np.arange(between, dtype=np.int64)
    rank = np.empty(between, np.int64)
    rank[np.argsort(wiring.order, kind="stable")] = channel
    at = wiring.host_router.astype(np.int64)
    router = np.concatenate((wiring.target, wiring.source, at, at)).astype(np.int64)
    place = np.concatenate((2 * rank, 2 * rank + 1, 2 * between + host, 2 * between + hosts + host))
    order = np.lexsort((place, router))
    first = np.zeros(wiring.num_routers + 1, np.int64)
    np.cumsum(np.bincount(router, minlength=wiring.num_routers), out=first[1:])
    local = np.empty(len(order), np.int64)
    local[order] = np.arange(len(order)) - first[router[order]]
    if len(local) and local.max() > layout.HELD_SLOT // 2:
        raise ConfigurationError(
            f"a router must have fewer than {layout.HELD_SLOT // 4} ports; got {local.max() // 2}",
            rule="ports of a router",
            keys=(),
        )
    data, credit = np.full((2, between + 2 * hosts), -1, np.int64)
    data[:between], credit[:between] = local[:between], local[between : 2 * between]
    data[between + hosts :] = local[2 * between : 2 * between + hosts]
    credit[between : between + hosts] = local[2 * between + hosts :]
    return data, credit


def _routers(wiring: Wiring, r: IntArray) -> None:
    """Fill in the routers' cells."""
    if len(wiring.source) and (np.diff(wiring.source) >= 0).all():
        edges = np.searchsorted(wiring.source, np.arange(wiring.num_routers + 1))
        r[:, layout.PORTS], r[:, layout.PORTS_END] = edges[:-1], edges[1:]


def _tables(
    s: IntArray,
    routers: int,
    route: NDArray[np.int32] | None,
    candidates: NDArray[np.int32] | None,
    hops: NDArray[np.int32] | None,
) -> NDArray[np.int32]:
    """Return the tables in one array, their places written into the state."""
    parts: list[NDArray[np.int32]] = []
    length = 0
    for cell, part in (
        (layout.AT_ROUTE, route),
        (layout.AT_CANDIDATE, candidates),
        (layout.AT_HOPS, hops),
    ):
        s[cell] = -1
        if part is not None:
            s[cell] = length
            parts.append(np.ascontiguousarray(part, np.int32).ravel())
            length += parts[-1].size
    return np.concatenate(parts) if parts else np.zeros(1, np.int32)
