"""The latency in the table of an OSU benchmark: of one size, or a weighted sum."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from workbench.checks import integer, whole
from workbench.errors import ParameterError
from workbench.tune.target.osu_rows import OSURow, osu_rows, rate_heading
from workbench.tune.target.run_output import Output, TargetError, ending, finite


@dataclass(frozen=True)
class OSULatency:
    """The latency in the table of an OSU benchmark, in microseconds; less is better.

    One size, or the sum over all sizes with weights. SHAMan's ``parse_osu_output`` is the sum
    with ``weights="size"``, in bytes times microseconds; its ``parse_osu_output_1024`` one size.

    Attributes:
        size: message size in bytes; where neither it nor weights are given, the table must have
            one row.
        weights: ``size``, ``equal``, or the weight of each size in bytes; sizes that it does not
            name count nothing.
        statistic: the column to read, such as ``Avg``, ``Min``, ``P50`` or ``Median``; the first
            column of numbers where it is empty.

    Raises:
        ParameterError: both a size and weights are given, or they are out of range.
    """

    size: int | None = None
    weights: str | Mapping[int, float] | None = None
    statistic: str = ""

    def __post_init__(self) -> None:
        if self.size is not None and self.weights is not None:
            raise ParameterError(
                "a size and weights exclude one another; leave one of them out", key="weights"
            )
        if self.size is not None:
            object.__setattr__(self, "size", whole(self.size, "size", 0, unit="B"))
        if isinstance(self.weights, Mapping):
            for size, weight in self.weights.items():
                number = isinstance(weight, int | float) and math.isfinite(weight)
                if integer(size) is None or not number:
                    raise ParameterError(
                        "weights must be a number for each size in bytes; "
                        f"got {weight!r} for {size!r}",
                        key="weights",
                    )
            if not self.weights:
                raise ParameterError("weights must name at least one size", key="weights")
            object.__setattr__(self, "weights", MappingProxyType(dict(self.weights)))
        elif self.weights not in (None, "size", "equal"):
            raise ParameterError(
                f"weights must be size, equal, or a number for each size; got {self.weights!r}",
                key="weights",
            )

    @property
    def minimise(self) -> bool:
        """Less is better."""
        return True

    @property
    def unit(self) -> str:
        """Microseconds; bytes times microseconds for the sum weighted by size."""
        return "B·µs" if self.weights == "size" else "µs"

    @property
    def label(self) -> str:
        """A few words for axes and tables."""
        what = f"{self.statistic} latency".strip()
        if self.weights is not None:
            return f"weighted sum of {what}"
        return what if self.size is None else f"{what} at {self.size} B"

    def read(self, output: Output) -> float:
        """Return the latency of one size, or the weighted sum.

        Args:
            output: what the run took and printed.

        Raises:
            TargetError: there is no such row or column.
        """
        rows = self._rows(output)
        if isinstance(self.weights, Mapping):
            return finite(
                math.fsum(w * self._row(rows, size).value for size, w in self.weights.items()),
                "the weighted sum",
            )
        if self.weights is not None:
            weighted = self.weights == "size"
            total = math.fsum(row.value * (row.size if weighted else 1) for row in rows)
            return finite(total, "the weighted sum")
        if self.size is not None:
            return self._row(rows, self.size).value
        if len(rows) != 1:
            raise TargetError(
                f"a table of {len(rows)} sizes needs a size or weights to be one number; sizes "
                f"are {_listed(rows)}; name one, such as size: {rows[0].size}"
            )
        return rows[0].value

    def to_dict(self) -> dict[str, Any]:
        """Return plain values that JSON can hold; ``target_from_dict`` reads them back."""
        weights: Any = self.weights
        if isinstance(weights, Mapping):
            weights = {str(size): weight for size, weight in weights.items()}
        return {
            "kind": "osu",
            "size": self.size,
            "weights": weights,
            "statistic": self.statistic,
        }

    def _rows(self, output: Output) -> list[OSURow]:
        rate = rate_heading(output.stdout)
        if rate:
            raise TargetError(
                f"the table must be one of latencies, of which less is better; got {rate!r}; "
                "read a rate with target: {regex: '^4096 +([0-9.]+)', maximise: true}"
            )
        rows = osu_rows(output.stdout, self.statistic)
        if not rows:
            column = f" with a column {self.statistic}" if self.statistic else ""
            raise TargetError(
                f"the output must have the table of an OSU benchmark{column}; got {ending(output)}"
            )
        return rows

    def _row(self, rows: list[OSURow], size: int) -> OSURow:
        for row in rows:
            if row.size == size:
                return row
        raise TargetError(
            f"the table must have a row of {size} B; it has {_listed(rows)}; "
            "let the benchmark run that size"
        )


def _listed(rows: list[OSURow]) -> str:
    sizes = [str(row.size) for row in rows]
    return ", ".join(sizes if len(sizes) <= 12 else [*sizes[:10], "…", sizes[-1]])
