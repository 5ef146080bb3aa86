"""The programs of the validation: small, of known structure, asleep where others would compute."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

from workbench.errors import ParameterError
from workbench.measure.cluster.costs import PACE
from workbench.mpi import Launcher, Recipe
from workbench.suggestions import did_you_mean

TIMEOUT_S = 120.0
"""Seconds a program has to end; the longest shipped run took 1.9 s."""

_FOLDER = Path(__file__).resolve().parent / "programs"


@dataclass(frozen=True)
class ValidationProgram:
    """A program to measure under added latency.

    Attributes:
        name: of its source file, too.
        title: what it does, for captions.
        arguments: its arguments, as the source's first comment explains them.
        message_bytes: size of most of its messages, at which its overhead is measured.
        algorithms: of its collectives, forced in the MPI and used by the prediction.
        path: of the program where it is none of ours; empty for ours.
        slowdown: make each rank's processor so many times slower, by sleeping between calls. A
            program that computes in earnest, on ranks that outnumber the processors, needs it: so
            many times that the processors are idle mostly, or ranks wait for them.
    """

    name: str
    title: str
    arguments: tuple[str, ...]
    message_bytes: int
    algorithms: Mapping[str, str] = field(default_factory=dict)
    path: str = ""
    slowdown: float = 1.0

    @property
    def source(self) -> Path:
        """Its source file."""
        return _FOLDER / f"{self.name}.c"

    def build(self, launcher: Launcher) -> Path:
        """Return the path of the program; ours is compiled for an MPI where it is not yet.

        Args:
            launcher: of the MPI.

        Raises:
            MPIError: there is no compiler, or it fails.
        """
        if self.path:
            return Path(self.path).resolve()
        recipe = Recipe(
            f"the program {self.name}",
            self.name,
            "validation",
            ("-std=gnu11", "-O2", f"-I{PACE.parent}"),
            (self.source,),
            "MPI 2, Linux and glibc",
            headers=(PACE,),
        )
        path = recipe.place(launcher.compiler())
        recipe.make(launcher.compiler(), path)
        return path


_BARRIER = {"barrier": "dissemination"}
_PROGRAMS = (
    ValidationProgram(
        "halo2d",
        "halo exchange on a grid of ranks",
        ("60", "1024", "1500", "500"),
        1024,
        _BARRIER | {"allreduce": "recursive-doubling"},
    ),
    ValidationProgram(
        "cg",
        "conjugate gradients",
        ("60", "1024", "1600", "400"),
        512,
        _BARRIER | {"allreduce": "recursive-doubling"},
    ),
    ValidationProgram(
        "transpose",
        "transpose by all-to-all exchange",
        ("60", "1024", "2000"),
        1024,
        _BARRIER | {"alltoall": "pairwise"},
    ),
    ValidationProgram(
        "master_worker",
        "master and workers, results from any source",
        ("150", "1024", "3000"),
        512,
        _BARRIER,
    ),
    ValidationProgram(
        "ring_pipeline", "pipeline around a ring", ("100", "2048", "1000", "8"), 2048, _BARRIER
    ),
)
SUITE: Mapping[str, ValidationProgram] = MappingProxyType({p.name: p for p in _PROGRAMS})
"""The programs by name."""


def program_of(name: str) -> ValidationProgram:
    """Return a program of the suite; ParameterError where there is none of that name."""
    if name not in SUITE:
        raise ParameterError(
            f"program must be one of {', '.join(SUITE)}; got {name!r}{did_you_mean(name, SUITE)}",
            key="program",
        )
    return SUITE[name]
