"""What a host spends on a message, by the message's size: measured, or of a fitted model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from workbench.checks import number
from workbench.errors import ParameterError
from workbench.models.loggps import LogGPS
from workbench.models.netgauge import netgauge_rows, overheads_of
from workbench.models.protocol import Protocol
from workbench.result import StoredResult

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False, repr=False)
class OverheadTable(StoredResult):
    """Overheads of a host by message size, as Netgauge measures them.

    Between two sizes the overhead is on the line through both; below the first and above the last
    it is that of the first or the last.

    Attributes:
        sizes: float64[n], bytes, ascending.
        overhead_s: float64[n], s, mean of the sender's and the receiver's.
        notes: lines that were left out, each a sentence.

    Raises:
        ParameterError: there is no size, sizes do not ascend, or an overhead is negative.
    """

    sizes: NDArray[np.float64]
    overhead_s: NDArray[np.float64]
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        self._check()

    @classmethod
    def from_netgauge(cls, text: str, *, source: str = "text") -> OverheadTable:
        """Return the overheads that Netgauge's loggp module printed, one line a message size.

        Args:
            text: lines with ``L= s= o_s= o_r= g= G=``, times in microseconds, or the columns that
                ``-o`` writes; of lines with the same size the mean is taken.
            source: its name, for errors.

        Raises:
            ParseError: no such line was found, or one lacks a number.
        """
        rows, notes = netgauge_rows(text, source)
        found = overheads_of(rows, source)
        sizes, overheads = (np.array([*each], np.float64) for each in (found, found.values()))
        return cls(sizes, overheads, tuple(notes))

    def at(self, size_bytes: float) -> float:
        """Return the overhead of a message in s.

        Args:
            size_bytes: of the message.

        Raises:
            ParameterError: the size is negative.
        """
        size = number(size_bytes, "size_bytes", 0, unit="B")
        return float(np.interp(size, self.sizes, self.overhead_s))

    def to_frame(self) -> pd.DataFrame:
        """Return one row a size: ``size (B)``, ``overhead (µs)``."""
        import pandas as pd

        return pd.DataFrame({"size (B)": self.sizes, "overhead (µs)": self.overhead_s * 1e6})

    def __repr__(self) -> str:
        low, high = self.overhead_s.min() * 1e6, self.overhead_s.max() * 1e6
        return (
            f"OverheadTable({len(self.sizes)} sizes, {self.sizes[0]:g} to {self.sizes[-1]:g} B; "
            f"{low:.4g} to {high:.4g} µs)"
        )

    def _check(self) -> None:
        if not len(self.sizes) or (np.diff(self.sizes) <= 0).any() or (self.sizes < 0).any():
            raise ParameterError(
                "sizes must be at least one, and ascend from at least 0 bytes", key="sizes"
            )
        self._check_lengths({"overhead_s": len(self.sizes)})
        if not (np.isfinite(self.overhead_s) & (self.overhead_s >= 0)).all():
            raise ParameterError("overheads must be finite and at least 0 s", key="overhead_s")


Overheads = OverheadTable | Protocol | LogGPS
"""What knows a host's overhead by message size."""


def overhead_at(overheads: Overheads, size_bytes: float) -> float:
    """Return what a host spends on a message of a size, s.

    Of a fitted model it is the overhead of the size's regime, and the time of its copy; of LogGPS
    ``o + O s``.

    Args:
        overheads: a table, a protocol-aware model, or LogGPS parameters.
        size_bytes: of the message.

    Raises:
        ParameterError: the size is negative.
    """
    if isinstance(overheads, OverheadTable):
        return overheads.at(size_bytes)
    size = number(size_bytes, "size_bytes", 0, unit="B")
    if isinstance(overheads, LogGPS):
        return overheads.o + overheads.O * size
    regime = overheads.regime_of(size)
    copy = float(overheads.get(f"{regime}.copy_bandwidth"))
    return float(overheads.get(f"{regime}.overhead")) + size / copy
