"""Counters of the network's interfaces, of TCP and of the queues before the link.

with NetworkCounters(network) as counters:
    before = counters.read()
    after = counters.read()
"""

from __future__ import annotations

import contextlib
import socket
import struct
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from workbench.variability.recording.network import (
    LINK,
    PORT,
    SIDES,
    LinkNetwork,
    LinkRecordingError,
    lines_of,
    opened,
)

TOWARDS = {"left": "EAST", "right": "WEST"}
"""Direction of what a side sends over the link."""

GAUGES = frozenset({f"LINK_{towards}_BACKLOG" for towards in TOWARDS.values()})
"""Counters that go up and down: their value at the end of a step counts, not the difference."""

_DUMP_QUEUES = struct.pack("=IHHII4xiIII", 36, 38, 0x301, 1, 0, 0, 0, 0, 0)  # RTM_GETQDISC
_ROOT = 0xFFFFFFFF  # TC_H_ROOT of linux/pkt_sched.h
_STATS, _QUEUE = 7, 3  # TCA_STATS2 of linux/rtnetlink.h, TCA_STATS_QUEUE of linux/gen_stats.h


class NetworkCounters:
    """Readings of all counters at once, a context manager.

    Names: ``JOB_`` are those of our job's two hosts, ``LINK_EAST_`` and ``LINK_WEST_`` those of the
    link in its two directions, ``SYS_`` those of the users' hosts; each ``SYS_`` counter is of a
    side. Bytes and packets are as the interfaces count them, with headers.
    """

    def __init__(self, network: LinkNetwork) -> None:
        self._network = network
        self._open = contextlib.ExitStack()
        self._files: dict[tuple[str, str], int] = {}
        self._queues: dict[str, tuple[socket.socket, int]] = {}

    def __enter__(self) -> Self:
        with contextlib.ExitStack() as unfinished:
            for side in SIDES:
                for role in ("job", "users", "switch"):
                    for kind in ("dev", "snmp"):
                        name = f"{side}-{role}"
                        file = opened(unfinished, self._network, name, f"net/{kind}")
                        self._files[name, kind] = file
                asked, index = self._network.inside(f"{side}-switch", _ask_queues)
                self._queues[side] = unfinished.enter_context(asked), index
            self._open = unfinished.pop_all()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._open.close()

    def read(self) -> dict[str, int]:
        """Return the counters by name, since the network was made; gauges as they are."""
        found: dict[str, int] = {}
        retransmitted = 0
        for side in SIDES:
            direction = f"LINK_{TOWARDS[side]}"
            link = _interface(self._files[f"{side}-switch", "dev"], LINK)
            queue = _root_queue(*self._queues[side])
            found |= {
                f"{direction}_BYTES": link.sent_bytes,
                f"{direction}_PACKETS": link.sent_packets,
                f"{direction}_DROPS": queue.drops,
                f"{direction}_OVERLIMITS": queue.overlimits,
                f"{direction}_BACKLOG": queue.backlog_bytes,
            }
            job = _interface(self._files[f"{side}-job", "dev"], PORT)
            users = _interface(self._files[f"{side}-users", "dev"], PORT)
            retransmitted += _retransmitted(self._files[f"{side}-job", "snmp"])
            found |= {
                f"JOB_{side.upper()}_BYTES": job.sent_bytes,
                f"JOB_{side.upper()}_PACKETS": job.sent_packets,
                f"SYS_{side.upper()}_BYTES": users.sent_bytes,
                f"SYS_{side.upper()}_PACKETS": users.sent_packets,
                f"SYS_{side.upper()}_RETRANSMITTED": _retransmitted(
                    self._files[f"{side}-users", "snmp"]
                ),
            }
        return dict(sorted((found | {"JOB_RETRANSMITTED": retransmitted}).items()))


@dataclass(frozen=True)
class _Interface:
    sent_bytes: int
    sent_packets: int


@dataclass(frozen=True)
class _Queue:
    backlog_bytes: int
    drops: int
    overlimits: int


def _interface(file: int, name: str) -> _Interface:
    """Return what an interface has sent, from /proc/net/dev."""
    for line in lines_of(file):
        head, _, rest = line.partition(":")
        if head.strip() == name:
            numbers = [int(word) for word in rest.split()]
            return _Interface(numbers[8], numbers[9])
    raise LinkRecordingError(f"/proc/net/dev must list the interface {name}; it does not")


def _retransmitted(file: int) -> int:
    """Return the number of TCP segments sent again, from /proc/net/snmp."""
    names, values = (line.split() for line in lines_of(file) if line.startswith("Tcp:"))
    return int(values[names.index("RetransSegs")])


def _ask_queues() -> tuple[socket.socket, int]:
    """Return a netlink socket of this thread's namespace and the index of the link in it."""
    asked = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, socket.NETLINK_ROUTE)
    asked.settimeout(5)
    asked.bind((0, 0))
    return asked, socket.if_nametoindex(LINK)


def _root_queue(asked: socket.socket, index: int) -> _Queue:
    """Return the state of the queue before the link (rtnetlink(7), struct gnet_stats_queue)."""
    asked.send(_DUMP_QUEUES)
    found: _Queue | None = None
    while True:
        data = asked.recv(1 << 16)
        while len(data) >= 16:
            length, kind = struct.unpack_from("=IH", data)
            if kind in (2, 3):  # an error, or done
                if found is None:
                    raise LinkRecordingError("the kernel must report the link's queue; it does not")
                return found
            interface, _, parent = struct.unpack_from("=4xiII", data, 16)
            if interface == index and parent == _ROOT:
                statistics = dict(_attributes(data[36:length])).get(_STATS, b"")
                queue = dict(_attributes(statistics)).get(_QUEUE, bytes(20))
                _, backlog, drops, _, overlimits = struct.unpack_from("=IIIII", queue)
                found = _Queue(backlog, drops, overlimits)
            data = data[(length + 3) & ~3 :]


def _attributes(data: bytes) -> list[tuple[int, bytes]]:
    """Return the attributes of a netlink message, by type."""
    found = []
    while len(data) >= 4:
        length, kind = struct.unpack_from("=HH", data)
        if length < 4:
            break
        found.append((kind & 0x3FFF, data[4:length]))
        data = data[(length + 3) & ~3 :]
    return found


@dataclass(frozen=True)
class MachineLoad:
    """How busy the machine was."""

    load: float  # average number of runnable processes in the last minute
    busy_s: float  # of all cores that were not idle, since the system started
    idle_s: float  # of all cores that were idle


def machine_load() -> MachineLoad:
    """Return how busy the machine is, and was."""
    load = float(Path("/proc/loadavg").read_text().split()[0])
    ticks = [int(word) for word in Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9]]
    idle = ticks[3] + ticks[4]
    return MachineLoad(load, (sum(ticks) - idle) / 100, idle / 100)
