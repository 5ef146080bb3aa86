"""Two sides of hosts and one link of limited rate between them, in network namespaces.

with LinkNetwork(rate_Mbps=100, queue_kB=512) as network:
    network.command("left-job", ["ip", "address"])

    left-job   left-users   left-mates        right-job   right-users   right-mates
        └──────────┼────────────┘                  └───────────┼────────────┘
              left-switch ──────── the link, both ways ──── right-switch
"""

from __future__ import annotations

import contextlib
import os
import socket
from collections.abc import Iterator
from typing import Self

from workbench.errors import WorkbenchError
from workbench.namespaces import NamespaceError, Namespaces

SIDES = ("left", "right")
_ROLES = ("job", "users", "mates")
HOSTS = tuple(f"{side}-{role}" for side in SIDES for role in _ROLES)
"""Namespaces with an address; ``left-switch`` and ``right-switch`` join them."""

LINK = "shared"  # interface of each switch
PORT = "eth0"  # interface of each host

_CONNECT_S = 30  # chosen: on one machine it takes milliseconds, but a busy one may pause
_SEND_BUFFER = 131072  # B: 10 ms at 100 Mbit/s, of which Linux makes twice as much


class LinkRecordingError(WorkbenchError):
    """The recording of a shared link is not possible here, or a run of it failed."""


class LinkNetwork(Namespaces):
    """The network, a context manager: NamespaceError where the system does not allow it."""

    def __init__(
        self,
        *,
        rate_Mbps: float,  # of the link, in each direction
        queue_kB: int,  # length of the queue before the link, in each direction
    ) -> None:
        super().__init__([*HOSTS, *(f"{side}-switch" for side in SIDES)])
        self._rate_Mbps, self._queue_kB = rate_Mbps, queue_kB
        self.shaper = ""  # the queueing discipline that limits the rate

    def __enter__(self) -> Self:
        with contextlib.ExitStack() as unfinished:
            super().__enter__()
            unfinished.push(self)
            self._connect()
            unfinished.pop_all()
        return self

    def address(self, host: str) -> str:
        """Return the address of a host."""
        return f"10.77.0.{1 + HOSTS.index(host)}"

    def _connect(self) -> None:
        """Lay the cables, set addresses and limit the link's rate."""
        switches = [f"{side}-switch" for side in SIDES]
        self.cable(switches[0], LINK, switches[1], LINK)
        for side, switch in zip(SIDES, switches, strict=True):
            self.command(switch, ["ip", "link", "add", "name", "switch", "type", "bridge"])
            for role in _ROLES:
                self.cable(switch, role, f"{side}-{role}", PORT)
            for name in (LINK, *_ROLES):
                self.command(switch, ["ip", "link", "set", "dev", name, "master", "switch"])
        for name in self.names:
            with_port = [PORT] if name in HOSTS else [LINK, *_ROLES, "switch"]
            if name in HOSTS:
                address = f"{self.address(name)}/24"
                self.command(name, ["ip", "address", "add", address, "dev", PORT])
            for interface in with_port:
                self.command(name, ["ip", "link", "set", "dev", interface, "up"])
        for switch in switches:
            self._limit(switch)

    def _limit(self, switch: str) -> None:
        """Limit what a switch sends over the link, by a token bucket or its hierarchical kin."""
        rate, queue = f"{self._rate_Mbps:g}mbit", self._queue_kB * 1000
        shape = ["tc", "qdisc", "add", "dev", LINK]
        bucket = ["tbf", "rate", rate, "burst", "64kb", "limit", str(queue)]
        try:
            self.command(switch, [*shape, "root", *bucket])
            self.shaper = "tbf"
        except NamespaceError as no_tbf:
            try:
                self.command(switch, [*shape, "root", "handle", "1:", "htb", "default", "1"])
                of_class = ["parent", "1:", "classid", "1:1", "htb", "rate", rate]
                self.command(switch, ["tc", "class", "add", "dev", LINK, *of_class])
                self.command(switch, [*shape, "parent", "1:1", "bfifo", "limit", str(queue)])
                self.shaper = "htb"
            except NamespaceError:
                raise LinkRecordingError(
                    "the kernel must have a token bucket, sch_tbf or sch_htb, to limit the link's "
                    f"rate; {no_tbf}"
                ) from no_tbf

    def connection(self, sender: str, receiver: str) -> tuple[socket.socket, socket.socket]:
        """Return the two ends of a new TCP connection between two hosts."""
        to = (self.address(receiver), 0)
        with self.inside(receiver, lambda: socket.create_server(to)) as server:
            server.settimeout(_CONNECT_S)
            there = server.getsockname()
            out = self.inside(sender, lambda: socket.create_connection(there, _CONNECT_S))
            # What is accepted is soon sent, not kept for seconds.
            out.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _SEND_BUFFER)
            into, _ = server.accept()
        return out, into


def opened(stack: contextlib.ExitStack, network: LinkNetwork, name: str, path: str) -> int:
    """Return a descriptor of a file below /proc/thread-self as a namespace shows it."""
    file = network.inside(name, lambda: os.open(f"/proc/thread-self/{path}", os.O_RDONLY))
    stack.callback(os.close, file)
    return file


def lines_of(file: int) -> Iterator[str]:
    """Yield the lines of an open file of /proc, from its start."""
    parts, offset = [], 0
    while part := os.pread(file, 65536, offset):
        parts.append(part)
        offset += len(part)
    yield from b"".join(parts).decode("ascii", "replace").splitlines()
