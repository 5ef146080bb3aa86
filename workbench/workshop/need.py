"""What a class needs: seats, warm kernels, memory and processors."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path

import nbformat

from workbench import jobs
from workbench.errors import ParameterError
from workbench.workshop.forks import ForkServer
from workbench.workshop.memory import free_bytes, held_bytes, kernel_bytes, own_bytes
from workbench.workshop.visitors import VisitorTable, shipped_visitors

SERVER_BYTES = 200_000_000
"""The memory set aside for the server itself."""

KEPT = 6
"""Most warm kernels that are replaced when they are taken, which takes time from the class."""

_SLOW_S = 0.3
"""The answer of a slider from which a class is warned."""

_QUIET = 0.5
"""The most load of a machine that measures nothing else."""


@dataclass(frozen=True)
class Need:
    """What a server for a class needs, and what this machine has.

    Attributes:
        people: in the class.
        seats: pages that may be open at once: one for each, and a tenth more.
        warm: kernels that have begun a notebook and wait for its page when the class comes; one
            for each where kernels are forked, as their start takes little.
        kept: of them, those that are replaced when a page takes them.
        notebook: name of the notebook that was run to measure a kernel.
        kernel: memory of a kernel that has run it, without what kernels share, in bytes.
        shared: memory that forked kernels share, in bytes; 0 where each is started by itself.
        free: memory that new processes can have, in bytes.
        cores: processors.
        visitors: what simulated visitors measured.
    """

    people: int
    seats: int
    warm: int
    kept: int
    notebook: str
    kernel: int
    shared: int
    free: int
    cores: int
    visitors: VisitorTable | None

    @property
    def memory(self) -> int:
        """The most memory that all kernels and the server hold, in bytes."""
        return (self.seats + self.kept) * self.kernel + self.shared + SERVER_BYTES

    @property
    def p95_s(self) -> float | None:
        """The time in s in which a slider answers 95 of 100 moves while all move sliders."""
        if self.visitors is None:
            return None
        return self.visitors.p95_s(self.people / self.cores)

    @property
    def slow(self) -> bool:
        """Whether the processors are too few for a class that moves sliders all at once."""
        return self.p95_s is not None and self.p95_s > _SLOW_S

    def to_text(self) -> str:
        """Return the need and what there is, in a few lines."""
        beside = f" beside {_mb(self.shared)} that all share" if self.shared else ""
        lines = [
            f"{self.people} people: at most {self.seats} open pages, a kernel each, and "
            f"{self.warm} kernels that wait for a page of {self.notebook}",
            f"memory: a kernel holds {_mb(self.kernel)}{beside} (measured now, with "
            f"{self.notebook}), all and the server at most {_mb(self.memory)}; {_mb(self.free)} "
            "are free",
        ]
        if self.visitors is not None and self.p95_s is not None:
            busy = " beside other work" if self.visitors.load_average > _QUIET else ""
            lines.append(
                f"processors: {self.cores}; while all {self.people} move a slider once a second, "
                f"95 of 100 moves are answered within {self.p95_s * 1000:.0f} ms, by what "
                f"{self.visitors.cores} processors of {self.visitors.machine} took{busy}"
            )
        if self.slow:
            lines.append(
                "that is slow: let people work in pairs, or take a machine with more processors"
            )
        return "\n".join(lines)


def need(people: int, notebook: str | Path, forks: ForkServer | None = None) -> Need:
    """Return what a class needs, with the memory of a kernel measured now.

    Args:
        people: in the class.
        notebook: that is run to measure a kernel; some seconds, and more if kernels are compiled.
        forks: what forks the kernels of this process, see `forked_kernels`.

    Raises:
        ParameterError: the machine has too little memory for so many.
    """
    if people < 1:
        raise ParameterError(f"people must be at least 1; got people={people}", key="people")
    path = Path(notebook)
    cells = nbformat.read(path, as_version=4).cells
    with tempfile.TemporaryDirectory() as folder:
        kernel = kernel_bytes(cells, folder, held_bytes if forks is None else own_bytes)
    shared = held_bytes(forks.pid) if forks is not None else 0
    # What is shared is loaded already.
    free = free_bytes() + shared
    return _need(people, path.name, kernel, shared, free, jobs.cores(), shipped_visitors())


def _need(
    people: int,
    notebook: str,
    kernel: int,
    shared: int,
    free: int,
    cores: int,
    visitors: VisitorTable | None,
) -> Need:
    """Return the need, with as many warm kernels as memory allows."""
    seats = people + -(-people // 10)
    wanted = seats * kernel + shared + SERVER_BYTES
    room = (free - shared - SERVER_BYTES) // kernel
    if room < seats:
        fit = max(0, room * 10 // 11)
        fewer = f"ask for at most {fit}, " if fit else ""
        raise ParameterError(
            f"people={people} need {seats} kernels of {_mb(kernel)} each, "
            f"{_mb(wanted)} with the server, and {_mb(free)} are free; "
            f"{fewer}end other programs or take a larger machine",
            key="people",
        )
    kept = min(KEPT, people, room - seats)
    warm = people if shared else kept
    return Need(people, seats, warm, kept, notebook, kernel, shared, free, cores, visitors)


def _mb(size: int) -> str:
    return f"{size / 1e9:.1f} GB" if size >= 1e9 else f"{size / 1e6:.0f} MB"
