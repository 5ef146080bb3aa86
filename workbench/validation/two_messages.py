"""Two eager messages under added latency: which of four ways to add it they behave like.

    measure_two_messages("two-messages.json").to_frame()

Shen et al., LLAMP, section III-A and figure 8: a rank sends two messages, one after the other, to a
rank that has posted both receives. Expected is that the sender is not held, and that each message
takes one latency more. Where sends are held (B) the sender takes two latencies more; where a single
thread holds what arrives (C) the second message does. The paper's delay thread (D) is to do as
expected, and so is that of `workbench.measure.delay`, which is measured here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from workbench.arrays import FloatArray
from workbench.checks import number, whole
from workbench.datasets import data_folder
from workbench.errors import ParameterError
from workbench.measure.delay import run_delayed
from workbench.mpi import MPIError, find_launcher
from workbench.provenance import Provenance
from workbench.result import StoredResult
from workbench.validation.recording import provenance
from workbench.validation.suite import TIMEOUT_S, ValidationProgram

if TYPE_CHECKING:
    import pandas as pd

EXPECTED = "A, expected, and D, delay thread"

SCHEMES: Mapping[str, tuple[int, int, int]] = MappingProxyType(
    {EXPECTED: (0, 1, 1), "B, sends delayed": (2, 1, 2), "C, progress thread": (0, 1, 2)}
)
"""Latencies by which the sender is free later, and the first and second message are there."""

WITHIN = 0.1
"""Of a latency: so near a scheme is met. Schemes are a whole latency apart; ten runs of two
messages on two busy cores were 0.01 off in the median (`workbench validate messages`)."""

_LATENCIES_S = (5e-3, 20e-3)  # 50 and 200 times what a message takes without (0.1 ms)
_REPEATS = 20  # chosen: with 10 medians were within 0.015 of a latency, at a load of 4 on two cores
_PROGRAM = ValidationProgram("two_messages", "two eager messages", (), 1)
_LINE = re.compile(r"free (\d+) first (\d+) second (\d+)")


@dataclass(frozen=True, eq=False, repr=False)
class InjectedMessages(StoredResult):
    """When two messages of a rank were there, with latency added by a library in the program.

    Attributes:
        added_s: float64[latencies], s; the first is 0.
        times_s: float64[latencies, 3], medians, s after the sender began: when it was free again,
            when the first message was received, and the second.
        repeats: of each latency.
        provenance: where the times come from.
    """

    added_s: FloatArray
    times_s: FloatArray = field(metadata={"axes": 2})
    repeats: int
    provenance: Provenance

    def _check(self) -> None:
        self._check_lengths({"times_s": len(self.added_s)})

    @property
    def growth(self) -> FloatArray:
        """How much later than with nothing added, in added latencies, float64[latencies - 1, 3]."""
        grown: FloatArray = (self.times_s[1:] - self.times_s[0]) / self.added_s[1:, None]
        return grown

    def fits(self, scheme: str) -> bool:
        """Return whether all times are those of a scheme, within a tenth of the latency.

        Args:
            scheme: one of ``SCHEMES``.
        """
        return bool((np.abs(self.growth - SCHEMES[scheme]) <= WITHIN).all())

    def to_frame(self) -> pd.DataFrame:
        """Return one row for each scheme and each measured latency, in added latencies."""
        import pandas as pd

        rows: dict[str, Sequence[float]] = {**SCHEMES}
        for added, grown in zip(self.added_s[1:].tolist(), self.growth.tolist(), strict=True):
            rows[f"measured, {1e3 * added:g} ms added"] = grown
        columns = ["sender free later", "first message later", "second message later"]
        return pd.DataFrame(rows, index=columns).T

    def __repr__(self) -> str:
        fitting = [scheme for scheme in SCHEMES if self.fits(scheme)]
        return (
            f"InjectedMessages({self.repeats} times two messages at {len(self.added_s) - 1} "
            f"{self.provenance.origin} latencies: they fit {' and '.join(fitting) or 'no scheme'})"
        )


def measure_two_messages(
    path: str | Path,
    *,
    latencies_s: Sequence[float] = _LATENCIES_S,
    repeats: int = _REPEATS,
    mpirun: str | Path | None = None,
) -> InjectedMessages:
    """Time two messages between two ranks of this machine under added latency, and save the result.

    It takes seconds and no privilege.

    Args:
        path: of the result, ``.json``.
        latencies_s: to be added, beside 0, s.
        repeats: of each latency, of which the median counts.
        mpirun: launcher of the MPI; None takes the path's ``mpirun``.

    Raises:
        ParameterError: a value is out of range.
        MPIError: there is no MPI or compiler, or the program failed.
    """
    whole(repeats, "repeats", 1, 1000)
    added = [0.0, *(number(one, "latencies_s", 1e-6, 10) for one in latencies_s)]
    if len(added) < 2:
        raise ParameterError("latencies_s must hold at least one latency", key="latencies_s")
    launcher = find_launcher(mpirun)
    words = [str(_PROGRAM.build(launcher)), str(repeats)]
    times, mpi = [], ""
    for latency_s in added:
        said: list[str] = []
        run = run_delayed(
            words, 2, latency_s, mpirun=launcher, timeout=TIMEOUT_S, output=said.append
        )
        rows = [one.groups() for line in said if (one := _LINE.fullmatch(line.strip()))]
        if len(rows) != repeats:
            raise MPIError(f"{words[0]} must print {repeats} lines of times; it printed {said}")
        times.append(np.median(np.array(rows, np.float64), axis=0) / 1e9)
        mpi = run.mpi
    about = f"two eager messages between two ranks of one machine, {mpi}"
    found = InjectedMessages(
        np.array(added),
        np.array(times),
        repeats,
        provenance(about, "measured", "workbench validate messages", "median, from the first send"),
    )
    found.save(path)
    return found


def shipped_two_messages() -> InjectedMessages:
    """Return the shipped measurement of two messages."""
    return InjectedMessages.load(data_folder() / "validation" / "two-messages.json")
