"""What a class needs: seats, ready kernels and memory, and what this machine has."""

from __future__ import annotations

import contextlib
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import nbclient
import nbformat
import psutil
from traitlets.config import Config

from workbench.errors import ParameterError

SERVER_BYTES = 200_000_000
"""The memory set aside for Voilà: its PSS was 101 MB after four pages of lesson 1."""

_MOST_READY = 6
"""Most kernels that wait for a page. Chosen: one that is taken is replaced, which takes processors
from a class that comes all at once."""

TRANSPORT = {"transport": "ipc"} if sys.platform == "linux" else {}
"""How to reach kernels: by sockets in a folder of this user, so that no other user of the machine
can connect; elsewhere the names of such sockets are too long."""

PATIENCE_S = 900
"""For kernels to start and cells to run, on a machine that compiles or is busy."""

_MEASURE = """
import psutil
held = psutil.Process().memory_full_info()
own = held.rss - held.shared if hasattr(held, "shared") else held.uss
print(own, held.rss - own)
"""
_CGROUP = Path("/sys/fs/cgroup")


@dataclass(frozen=True)
class Need:
    """What a server for a class needs.

    Attributes:
        people: in the class.
        seats: pages that may be open at once: one for each, and a tenth more.
        ready: kernels that have run the notebook ahead and wait for a page of it.
        notebook: name of the notebook that was run to measure a kernel.
        kernel: memory of its own of a kernel that has run it, in bytes.
        shared: memory that all kernels share, such as libraries, in bytes.
        free: memory that new processes can have, in bytes.
    """

    people: int
    seats: int
    ready: int
    notebook: str
    kernel: int
    shared: int
    free: int

    @property
    def memory(self) -> int:
        """The most memory that all kernels and the server hold, in bytes."""
        return (self.seats + self.ready) * self.kernel + self.shared + SERVER_BYTES

    def to_text(self) -> str:
        """Return the need and what there is, in two lines."""
        return (
            f"{self.people} people: at most {self.seats} open pages, a kernel each, and "
            f"{self.ready} kernels that wait for a page of {self.notebook}\n"
            f"memory: a kernel holds {_mb(self.kernel)} beside {_mb(self.shared)} that all share "
            f"(measured now, with {self.notebook}), all and the server at most {_mb(self.memory)}; "
            f"{_mb(self.free)} are free"
        )


def need(people: int, notebook: str | Path) -> Need:
    """Return what a class needs, with the memory of a kernel measured now.

    Args:
        people: in the class.
        notebook: that is run to measure a kernel; some seconds, and more if kernels are compiled.

    Raises:
        ParameterError: the machine has too little memory for so many.
    """
    if people < 1:
        raise ParameterError(f"people must be at least 1; got people={people}", key="people")
    path = Path(notebook)
    return seats_for(people, path.name, *kernel_bytes(path), free_bytes())


def seats_for(people: int, notebook: str, kernel: int, shared: int, free: int) -> Need:
    """Return the need where a kernel holds so much, with as many ready ones as memory allows."""
    seats = people + -(-people // 10)
    room = (free - shared - SERVER_BYTES) // kernel
    if room < seats:
        fit = max(0, room * 10 // 11)
        fewer = f"ask for at most {fit}, " if fit else ""
        raise ParameterError(
            f"people={people} need {seats} kernels of {_mb(kernel)} each, with the server "
            f"{_mb(seats * kernel + shared + SERVER_BYTES)}, and {_mb(free)} are free; "
            f"{fewer}end other programs or take a larger machine",
            key="people",
        )
    ready = min(_MOST_READY, people, room - seats)
    return Need(people, seats, ready, notebook, kernel, shared, free)


def kernel_bytes(notebook: Path) -> tuple[int, int]:
    """Run a notebook and return the memory of its kernel in bytes: its own, and shared."""
    content = nbformat.read(notebook, as_version=4)
    content.cells.append(nbformat.v4.new_code_cell(_MEASURE))
    with tempfile.TemporaryDirectory() as folder:
        reached = {**TRANSPORT, "connection_file": str(Path(folder, "kernel.json"))}
        kernels = Config({"KernelManager": reached})
        nbclient.execute(
            content, cwd=folder, config=kernels, startup_timeout=PATIENCE_S, timeout=PATIENCE_S
        )
    own, shared = content.cells[-1].outputs[0].text.split()
    return int(own), int(shared)


def free_bytes() -> int:
    """Return the memory that new processes can have, in bytes; limits of a container count."""
    free = int(psutil.virtual_memory().available)
    with contextlib.suppress(OSError, ValueError, KeyError):
        most = int((_CGROUP / "memory.max").read_text())  # or "max"
        used = int((_CGROUP / "memory.current").read_text())
        lines = (_CGROUP / "memory.stat").read_text().splitlines()
        kept = int(dict(line.split() for line in lines)["inactive_file"])
        free = min(free, most - used + kept)
    return free


def _mb(size: int) -> str:
    return f"{size / 1e9:.1f} GB" if size >= 1e9 else f"{size / 1e6:.0f} MB"
