"""A class rehearsed: simulated visitors of a server on this machine, a few and then many."""

from __future__ import annotations

import asyncio
import contextlib
import os
import platform
import random
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TextIO

import psutil

from workbench import jobs
from workbench.errors import ParameterError, WorkshopError
from workbench.workshop.memory import held_bytes
from workbench.workshop.need import KEPT
from workbench.workshop.visitor import Visitor
from workbench.workshop.visitors import VisitorTable, Visits, visits

NOTEBOOK = "00-start-here.ipynb"
MOVES = 20
_COUNTS = (1, 5, 10)
_FIRST_VALUE, _APART = 20, 3  # of the slider: no two visitors end at the same value
_MOST_PEOPLE = 40
_PATIENCE_S = 120.0
_LOOK_S, _IDLE = 1.0, 0.02  # a kernel that waits for messages takes less of a processor


def rehearse(notebooks: str | Path, people: int = 30, *, fork: bool = True) -> VisitorTable:
    """Let 1, 5, 10 and all visitors of a class open notebook 00, move a slider, and leave.

    All come at the same moment, each moves the slider 20 times, about a second apart, and all
    leave. Visitors draw nothing: that is the work of their own machines. A class of 30 takes some
    minutes.

    Args:
        notebooks: folder of the notebooks.
        people: in the class, at most 40.
        fork: whether kernels are copies of one process, where that is possible.

    Raises:
        ParameterError: there are too many people, or the machine has too little memory for them.
    """
    if not 1 <= people <= _MOST_PEOPLE:
        raise ParameterError(
            f"people must be 1 to {_MOST_PEOPLE} in a rehearsal; got people={people}", key="people"
        )
    load = os.getloadavg()[0]
    counts = [count for count in _COUNTS if count < people] + [people]
    found = tuple(_rehearsed(notebooks, people, count, fork) for count in counts)
    return VisitorTable(_processor(), jobs.cores(), NOTEBOOK, MOVES, fork, load, found)


def _rehearsed(notebooks: str | Path, people: int, count: int, fork: bool) -> Visits:
    """Let visitors come first to a server for a class."""
    with running(notebooks, people, fork=fork) as (process, address):
        _settle(process)
        return asyncio.run(_visit(process, address, count))


@contextlib.contextmanager
def running(notebooks: str | Path, people: int, *, fork: bool = True) -> Iterator[tuple[int, str]]:
    """Run the command that serves a class, and yield its process and its address."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    options = {"--people": people, "--port": port, "--token": "rehearsal", "--notebooks": notebooks}
    words = [str(word) for option in options.items() for word in option]
    command = [sys.executable, "-m", "workbench", "workshop", *words]
    if not fork:
        command.append("--no-fork")
    with (
        tempfile.TemporaryFile("w+") as said,
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=said, text=True) as server,
    ):
        try:
            yield server.pid, _address(server, said)
        finally:
            kernels = kernels_of(server.pid) if server.poll() is None else []
            server.send_signal(signal.SIGINT)
            server.wait(_PATIENCE_S)
            left = [kernel for kernel in kernels if psutil.pid_exists(kernel)]
    if left:
        raise WorkshopError(f"no kernel may outlive its server; {len(left)} did")


def _address(server: subprocess.Popen[str], said: TextIO) -> str:
    """Return the address that the command prints once it answers there."""
    for line in server.stdout or ():
        found = re.search(r"http://\S+", line)
        if found:
            return found[0]
    said.seek(0)
    raise WorkshopError(f"the server must start; it said {said.read()[-2000:]}")


async def _visit(server: int, address: str, count: int) -> Visits:
    """Let visitors come at once, each move a slider, and all leave."""
    waiting = len(kernels_of(server))
    guests = [Visitor(address, NOTEBOOK) for _ in range(count)]
    await asyncio.gather(*(guest.enter() for guest in guests))
    _settle(server)  # those that are replaced come to rest
    moves = [guest.move(_values(n), random.Random(n)) for n, guest in enumerate(guests)]
    await asyncio.gather(*moves)
    wrong = [guest for guest in guests if guest.held != guest.values[-1]]
    if wrong:
        raise WorkshopError(f"each visitor must have a kernel of its own; {len(wrong)} have not")
    # Those that still wait for a page hold less.
    memory = sorted(held_bytes(process) for process in kernels_of(server))[-count:]
    await asyncio.gather(*(guest.leave() for guest in guests))
    waiting = max(waiting - count, min(waiting, KEPT))
    with contextlib.suppress(WorkshopError):
        _wait(lambda: len(kernels_of(server)) <= waiting, "the kernels must end", seconds=15)
    left = max(0, len(kernels_of(server)) - waiting)
    pictures = [guest.picture_s for guest in guests]
    return visits(pictures, [s for guest in guests for s in guest.answers_s], memory, left)


def _values(visitor: int) -> range:
    """Return the values to which a visitor moves the slider."""
    first = _FIRST_VALUE + _APART * visitor
    return range(first, first + MOVES)


def _settle(server: int) -> None:
    """Wait until the kernels of a server have nothing to compute."""

    def quiet() -> bool:
        before = _used_s(server)
        time.sleep(_LOOK_S)
        used = sum(max(0.0, now - before.get(one, 0.0)) for one, now in _used_s(server).items())
        return used < _LOOK_S * _IDLE * (1 + len(before))

    _wait(quiet, "the kernels must come to rest")


def _used_s(server: int) -> dict[int, float]:
    """Return the processor time in s that each kernel of a server has used."""
    used = {}
    for kernel in kernels_of(server):
        with contextlib.suppress(psutil.Error):
            times = psutil.Process(kernel).cpu_times()
            used[kernel] = times.user + times.system
    return used


def _wait(holds: Callable[[], bool], what: str, seconds: float = _PATIENCE_S) -> None:
    end = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > end:
            raise WorkshopError(f"{what} within {seconds:g} s")
        time.sleep(0.1)


def kernels_of(server: int) -> list[int]:
    """Return the processes of the kernels of a server, which its own number names.

    A forked one has the command of its server, and the name that it gave itself.
    """
    children = psutil.Process(server).children(recursive=True)
    return [one.pid for one in children if any("ipykernel" in word for word in _words(one))]


def _words(process: psutil.Process) -> list[str]:
    try:
        return [process.name(), *process.cmdline()]
    except psutil.Error:  # it has just ended
        return []


def _processor() -> str:
    """Return the processor's name, where the system tells it."""
    with contextlib.suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()
