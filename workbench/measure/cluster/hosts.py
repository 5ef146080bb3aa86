"""Hosts of an emulated cluster: network namespaces, each with a TAP device as its network card."""

from __future__ import annotations

import contextlib
import os
import struct
from typing import Self

from workbench.measure.cluster.errors import ClusterError
from workbench.namespaces import Namespaces

PORT = "eth0"
MOST_HOSTS = 64  # PORTS of switch.c
_TUN = "/dev/net/tun"
# TUNSETIFF, IFF_TAP and IFF_NO_PI of linux/if_tun.h, which Python does not have.
_TUNSETIFF = 0x400454CA
_TAP, _NO_HEADER = 0x0002, 0x1000  # Ethernet frames; nothing before them
_SEGMENTS = 500  # that a connection may send before the first answer: no slow start


class EmulatedHosts(Namespaces):
    """Hosts ``host0``, ``host1``, ..., a context manager: NamespaceError or ClusterError."""

    def __init__(self, number: int, *, mtu: int) -> None:
        super().__init__([f"host{i}" for i in range(number)])
        self._mtu = mtu
        self.devices: list[int] = []  # descriptors of the TAP devices, in the order of the hosts
        self._devices = contextlib.ExitStack()

    def __enter__(self) -> Self:
        with contextlib.ExitStack() as unfinished:
            super().__enter__()
            unfinished.push(self)
            for number, name in enumerate(self.names):
                device = self.inside(name, _new_device)
                self._devices.callback(os.close, device)
                self.devices.append(device)
                self._bring_up(name, f"10.78.0.{number + 1}/24")
            unfinished.pop_all()
        return self

    def __exit__(self, *error: object) -> None:
        self._devices.close()
        self.devices.clear()
        super().__exit__(None, None, None)

    def _bring_up(self, name: str, address: str) -> None:
        port = ["dev", PORT]
        self.command(name, ["ip", "link", "set", *port, "mtu", str(self._mtu)])
        self.command(name, ["ip", "address", "add", address, *port])
        self.command(name, ["ip", "link", "set", *port, "up"])
        windows = ["initcwnd", str(_SEGMENTS), "initrwnd", str(_SEGMENTS)]
        self.command(name, ["ip", "route", "change", "10.78.0.0/24", *port, *windows])


def _new_device() -> int:
    """Return the descriptor of a new TAP device in the namespace of this thread."""
    import fcntl  # of Unix alone: others may load this module, and have no namespaces

    try:
        device = os.open(_TUN, os.O_RDWR | os.O_CLOEXEC)
    except OSError as error:
        raise ClusterError(
            f"{_TUN} must be open to this user for an emulated cluster; {error.strerror}; load the "
            "module tun, start a container with --device /dev/net/tun, or run as root"
        ) from error
    try:
        request = struct.pack("16sH22x", PORT.encode(), _TAP | _NO_HEADER)
        fcntl.ioctl(device, _TUNSETIFF, request)
    except OSError as error:
        os.close(device)
        raise ClusterError(f"the kernel must make a TAP device; {error.strerror}") from error
    return device
