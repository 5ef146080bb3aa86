"""Two sides of hosts and one link of limited rate between them, in network namespaces.

with LinkNetwork(rate_Mbps=100, queue_kB=512) as network:
    network.command("left-job", ["ip", "address"])

The namespaces have no names: this process holds them open, and the kernel removes them with all
that is in them when it ends, however it ends. Nothing outside them is changed.

    left-job   left-users   left-mates        right-job   right-users   right-mates
        └──────────┼────────────┘                  └───────────┼────────────┘
              left-switch ──────── the link, both ways ──── right-switch
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import shutil
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self, TypeVar

from workbench.errors import WorkbenchError

SIDES = ("left", "right")
_ROLES = ("job", "users", "mates")
HOSTS = tuple(f"{side}-{role}" for side in SIDES for role in _ROLES)
"""Namespaces with an address; ``left-switch`` and ``right-switch`` join them."""

LINK = "shared"  # interface of each switch
PORT = "eth0"  # interface of each host

_NEW_NET = 0x40000000  # CLONE_NEWNET
_TOOLS = ("ip", "tc", "nsenter", "unshare", "setpriv")
_RUN_S = 30
_SEND_BUFFER = 131072
# In a namespace only those that the kernel allows everybody can be chosen: BBR, which some kernels
# have by default, hardly gives way to other flows.
_SETTINGS = {
    "net/ipv4/tcp_congestion_control": "reno",
    "net/ipv4/tcp_slow_start_after_idle": "0",
    "net/ipv4/tcp_no_metrics_save": "1",
    "net/ipv6/conf/all/disable_ipv6": "1",
}

_T = TypeVar("_T")


class LinkRecordingError(WorkbenchError):
    """The recording of a shared link is not possible here, or a run of it failed."""


class LinkNetwork:
    """The network, a context manager: LinkRecordingError where the system does not allow it."""

    def __init__(
        self,
        *,
        rate_Mbps: float,  # of the link, in each direction
        queue_kB: int,  # length of the queue before the link, in each direction
    ) -> None:
        self._rate_Mbps, self._queue_kB = rate_Mbps, queue_kB
        self._open = contextlib.ExitStack()
        self._namespaces: dict[str, int] = {}
        self.shaper = ""  # the queueing discipline that limits the rate

    def __enter__(self) -> Self:
        check_system()
        with contextlib.ExitStack() as unfinished:
            for name in (*HOSTS, *(f"{side}-switch" for side in SIDES)):
                self._namespaces[name] = _new_namespace()
                unfinished.callback(os.close, self._namespaces[name])
            self._connect()
            self._open = unfinished.pop_all()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._open.close()
        self._namespaces.clear()

    def address(self, host: str) -> str:
        """Return the address of a host."""
        return f"10.77.0.{1 + HOSTS.index(host)}"

    def path(self, name: str) -> str:
        """Return a path by which other processes enter a namespace while this one lives."""
        return f"/proc/{os.getpid()}/fd/{self._namespaces[name]}"

    def inside(self, name: str, work: Callable[[], _T]) -> _T:
        """Return what work returns within a namespace; sockets and files it opens stay of it."""

        def enter() -> _T:
            _checked(_libc().setns(self._namespaces[name], _NEW_NET), "setns")
            return work()

        return _in_thread(enter)

    def command(self, name: str, words: Sequence[str]) -> str:
        """Return the output of a short command within a namespace."""

        def run() -> str:
            done = subprocess.run(
                words, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=_RUN_S
            )
            if done.returncode != 0:
                raise LinkRecordingError(
                    f"{' '.join(words)} must succeed in {name}; it ended with status "
                    f"{done.returncode}: {done.stderr.strip()[-300:]}"
                )
            return done.stdout

        return self.inside(name, run)

    def _connect(self) -> None:
        """Lay the cables, set addresses and limit the link's rate."""
        switches = [f"{side}-switch" for side in SIDES]
        self._cable(switches[0], LINK, switches[1], LINK)
        for side, switch in zip(SIDES, switches, strict=True):
            self.command(switch, ["ip", "link", "add", "name", "switch", "type", "bridge"])
            for role in _ROLES:
                self._cable(switch, role, f"{side}-{role}", PORT)
            for name in (LINK, *_ROLES):
                self.command(switch, ["ip", "link", "set", "dev", name, "master", "switch"])
        for name in self._namespaces:
            self.inside(name, _tune)
            with_port = [PORT] if name in HOSTS else [LINK, *_ROLES, "switch"]
            if name in HOSTS:
                address = f"{self.address(name)}/24"
                self.command(name, ["ip", "address", "add", address, "dev", PORT])
            for interface in ("lo", *with_port):
                self.command(name, ["ip", "link", "set", "dev", interface, "up"])
        for switch in switches:
            self._limit(switch)

    def _cable(self, one: str, name: str, other: str, other_name: str) -> None:
        peer = ["peer", "name", other_name, "netns", self.path(other)]
        self.command(one, ["ip", "link", "add", "name", name, "type", "veth", *peer])

    def _limit(self, switch: str) -> None:
        """Limit what a switch sends over the link, by a token bucket or its hierarchical kin."""
        rate, queue = f"{self._rate_Mbps:g}mbit", self._queue_kB * 1000
        shape = ["tc", "qdisc", "add", "dev", LINK]
        bucket = ["tbf", "rate", rate, "burst", "64kb", "limit", str(queue)]
        try:
            self.command(switch, [*shape, "root", *bucket])
            self.shaper = "tbf"
        except LinkRecordingError as no_tbf:
            try:
                self.command(switch, [*shape, "root", "handle", "1:", "htb", "default", "1"])
                of_class = ["parent", "1:", "classid", "1:1", "htb", "rate", rate]
                self.command(switch, ["tc", "class", "add", "dev", LINK, *of_class])
                self.command(switch, [*shape, "parent", "1:1", "bfifo", "limit", str(queue)])
                self.shaper = "htb"
            except LinkRecordingError:
                raise LinkRecordingError(
                    "the kernel must have a token bucket, sch_tbf or sch_htb, to limit the link's "
                    f"rate; {no_tbf}"
                ) from no_tbf

    def connection(self, sender: str, receiver: str) -> tuple[socket.socket, socket.socket]:
        """Return the two ends of a new TCP connection between two hosts."""
        to = (self.address(receiver), 0)
        with self.inside(receiver, lambda: socket.create_server(to)) as server:
            server.settimeout(_RUN_S)
            there = server.getsockname()
            out = self.inside(sender, lambda: socket.create_connection(there, _RUN_S))
            # What is accepted is soon sent, not kept for seconds.
            out.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _SEND_BUFFER)
            into, _ = server.accept()
        return out, into


def check_system() -> None:
    """Raise LinkRecordingError where namespaces cannot be made, with what to do."""
    if sys.platform != "linux":
        raise LinkRecordingError(
            f"a link is recorded in Linux network namespaces; this is {sys.platform}"
        )
    if lacking := [tool for tool in _TOOLS if shutil.which(tool) is None]:
        raise LinkRecordingError(
            f"{', '.join(lacking)} must be installed (Debian, Ubuntu: sudo apt-get install "
            "iproute2 util-linux)"
        )
    try:
        os.close(_new_namespace())
    except PermissionError as error:
        raise LinkRecordingError(
            "network namespaces need root, or a user namespace where the kernel allows them: start "
            "the command as root or as `unshare --user --map-root-user workbench variability "
            f"record ...`; {error.strerror}"
        ) from error
    except OSError as error:
        raise LinkRecordingError(
            f"the kernel must make network namespaces; {error.strerror}"
        ) from error


def _new_namespace() -> int:
    """Return the descriptor of a new network namespace, which lives as long as it is open."""

    def make() -> int:
        _checked(_libc().unshare(_NEW_NET), "unshare")
        return os.open("/proc/thread-self/ns/net", os.O_RDONLY | os.O_CLOEXEC)

    return _in_thread(make)


def _tune() -> None:
    """Set what the namespace of this thread does with TCP, as far as its kernel has it."""
    for name, value in _SETTINGS.items():
        with contextlib.suppress(OSError):
            Path("/proc/sys", name).write_text(value)


def congestion_control(network: LinkNetwork) -> str:
    """Return the congestion control of TCP in the network."""
    path = Path("/proc/sys/net/ipv4/tcp_congestion_control")
    return network.inside(HOSTS[0], lambda: path.read_text().strip())


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _checked(status: int, call: str) -> None:
    if status != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{call}: {os.strerror(number)}")


def _in_thread(work: Callable[[], _T]) -> _T:
    """Return what work returns in a thread of its own: a namespace belongs to a thread."""
    result: list[_T] = []
    failed: list[BaseException] = []

    def run() -> None:
        try:
            result.append(work())
        except BaseException as error:
            failed.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    if failed:
        raise failed[0]
    return result[0]


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
