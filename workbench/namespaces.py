"""Network namespaces without names, which the kernel removes with the process that made them.

with Namespaces(["one", "other"]) as namespaces:
    namespaces.command("one", ["ip", "address"])

Nothing outside them is changed. A program in one of them may need a host name of its own: `agent`
writes a script that starts programs so, as the launchers of MPI expect it of ``ssh``.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import shlex
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self, TypeVar

from workbench.errors import WorkbenchError

_NEW_NET = 0x40000000  # CLONE_NEWNET
_TOOLS = ("ip", "tc", "nsenter", "unshare", "setpriv")
_RUN_S = 30  # chosen: ip and tc answer at once; a system that takes longer hangs
# In a namespace only those that the kernel allows everybody can be chosen: BBR, which some kernels
# have by default, hardly gives way to other flows.
_SETTINGS = {
    "net/ipv4/tcp_congestion_control": "reno",
    "net/ipv4/tcp_slow_start_after_idle": "0",
    "net/ipv4/tcp_no_metrics_save": "1",
    "net/ipv6/conf/all/disable_ipv6": "1",
}

# Starts what follows in a namespace, under a name of its own: Open MPI takes processes under one
# name for neighbours in one memory.
_AGENT = """#!/bin/sh
case $1 in -*) shift ;; esac
host=$1
shift
exec nsenter --net="$(cat {folder}/$host)" unshare --uts \\
    sh -c 'hostname "$0" && exec sh -c "$1"' "$host" "$*"
"""

_T = TypeVar("_T")


class NamespaceError(WorkbenchError):
    """Network namespaces are not possible here, or a command in one failed."""


class Namespaces:
    """Network namespaces, a context manager: NamespaceError where the system allows none."""

    def __init__(self, names: Sequence[str]) -> None:
        self.names = tuple(names)
        self._open = contextlib.ExitStack()
        self._descriptors: dict[str, int] = {}

    def __enter__(self) -> Self:
        check_system()
        with contextlib.ExitStack() as unfinished:
            for name in self.names:
                self._descriptors[name] = _new_namespace()
                unfinished.callback(os.close, self._descriptors[name])
                self.inside(name, _tune)
                self.command(name, ["ip", "link", "set", "dev", "lo", "up"])
            self._open = unfinished.pop_all()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._open.close()
        self._descriptors.clear()

    def path(self, name: str) -> str:
        """Return a path by which other processes enter a namespace while this one lives."""
        return f"/proc/{os.getpid()}/fd/{self._descriptors[name]}"

    def inside(self, name: str, work: Callable[[], _T]) -> _T:
        """Return what work returns within a namespace; sockets and files it opens stay of it."""

        def enter() -> _T:
            _checked(_libc().setns(self._descriptors[name], _NEW_NET), "setns")
            return work()

        return _in_thread(enter)

    def command(self, name: str, words: Sequence[str]) -> str:
        """Return the output of a short command within a namespace."""

        def run() -> str:
            done = subprocess.run(
                words, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=_RUN_S
            )
            if done.returncode != 0:
                raise NamespaceError(
                    f"{' '.join(words)} must succeed in {name}; it ended with status "
                    f"{done.returncode}: {done.stderr.strip()[-300:]}"
                )
            return done.stdout

        return self.inside(name, run)

    def cable(self, one: str, name: str, other: str, other_name: str) -> None:
        """Join an interface of one namespace to one of another."""
        peer = ["peer", "name", other_name, "netns", self.path(other)]
        self.command(one, ["ip", "link", "add", "name", name, "type", "veth", *peer])

    def agent(self, folder: Path) -> Path:
        """Return a script ``agent NAME COMMAND``, which runs the command in a namespace.

        The folder holds it and a file for each namespace; the agent works while this process lives.
        """
        for name in self.names:
            (folder / name).write_text(self.path(name))
        agent = folder / "agent"
        agent.write_text(_AGENT.format(folder=shlex.quote(str(folder))))
        agent.chmod(0o700)
        return agent


def alone(command: Sequence[str]) -> list[str]:
    """Return a command that runs another in a process namespace of its own.

    The kernel ends it with the thread that starts it, however that ends, and all processes that it
    has started with it.
    """
    return [
        "setpriv",
        "--pdeathsig",
        "KILL",
        "unshare",
        "--pid",
        "--fork",
        "--kill-child",
        *command,
    ]


def check_system() -> None:
    """Raise NamespaceError where namespaces cannot be made, with what to do."""
    if sys.platform != "linux":
        raise NamespaceError(f"network namespaces are of Linux; this is {sys.platform}")
    if lacking := [tool for tool in _TOOLS if shutil.which(tool) is None]:
        raise NamespaceError(
            f"{', '.join(lacking)} must be installed (Debian, Ubuntu: sudo apt-get install "
            "iproute2 util-linux)"
        )
    try:
        os.close(_new_namespace())
    except PermissionError as error:
        raise NamespaceError(
            "network namespaces need root, or a user namespace where the kernel allows them: start "
            "the command as root or as `unshare --user --map-root-user workbench ...`; "
            f"{error.strerror}"
        ) from error
    except OSError as error:
        raise NamespaceError(
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


def congestion_control(namespaces: Namespaces, name: str) -> str:
    """Return the congestion control of TCP in a namespace."""
    path = Path("/proc/sys/net/ipv4/tcp_congestion_control")
    return namespaces.inside(name, lambda: path.read_text().strip())


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
