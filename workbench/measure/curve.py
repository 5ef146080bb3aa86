"""Latency and bandwidth over message size: one type for measured and simulated values.

Units inside are SI (seconds, bytes per second); the properties and tables use the benchmarks' own
microseconds and MB/s, where 1 MB is 10^6 bytes.
"""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from workbench.arrays import FloatArray, IntArray
from workbench.errors import ParameterError
from workbench.html_table import html_table
from workbench.jsonfile import plain
from workbench.provenance import Provenance
from workbench.result import Drawing, StoredResult

if TYPE_CHECKING:
    import pandas as pd


OSU_SIZES: tuple[int, ...] = tuple(2**k for k in range(23))
"""The message sizes of osu_latency and osu_bw up to 4 MiB, in bytes."""

_QUARTILES = ("minimum", "p25", "median", "p75", "maximum")


@dataclass(frozen=True, eq=False)
class Spread:
    """Spread of the runs behind a curve, at each of its sizes.

    Attributes:
        minimum, p25, median, p75, maximum: float64[n], in the unit of the curve they belong to
            (seconds or bytes/s); nan where no run measured the size.
        count: int64[n], number of runs that measured the size.

    Raises:
        ParameterError: the arrays differ in length or are not one-dimensional.
    """

    minimum: FloatArray
    p25: FloatArray
    median: FloatArray
    p75: FloatArray
    maximum: FloatArray
    count: IntArray

    def __post_init__(self) -> None:
        for field in _QUARTILES:
            object.__setattr__(self, field, _frozen(getattr(self, field), np.float64, field))
        object.__setattr__(self, "count", _frozen(self.count, np.int64, "count"))
        lengths = {field: len(getattr(self, field)) for field in (*_QUARTILES, "count")}
        if len(set(lengths.values())) > 1:
            raise ParameterError(
                f"the arrays of a spread must have one length; got {lengths}", key="count"
            )

    @classmethod
    def from_quartiles(
        cls, quartiles: Sequence[ArrayLike] | FloatArray, count: ArrayLike
    ) -> Spread:
        """Return the spread of five rows, least to greatest, and the runs behind each column."""
        minimum, p25, median, p75, maximum = (np.asarray(row, np.float64) for row in quartiles)
        return cls(minimum, p25, median, p75, maximum, np.asarray(count, np.int64))

    def __len__(self) -> int:
        return len(self.count)

    def __repr__(self) -> str:
        used = self.count[self.count > 0]
        if not used.size:
            return f"Spread({len(self)} sizes, no runs)"
        low, high = int(used.min()), int(used.max())
        return f"Spread({len(self)} sizes, {low if low == high else f'{low} to {high}'} runs)"


@dataclass(frozen=True, eq=False)
class OSUCurve(StoredResult):
    """Latency and bandwidth of a pair of processes at each message size.

    Attributes:
        name: short name, used in legends and file names.
        sizes: int64[n], message sizes in bytes, ascending, at least 1.
        latency_s: float64[n], half of the round trip in seconds; nan where not measured.
        bandwidth_Bps: float64[n], bytes per second; nan where not measured.
        provenance: where the numbers came from; ``origin`` tells measured from simulated.
        latency_spread, bandwidth_spread: quartiles over several runs, where there were several.
        notes: what a reader of the source should know, such as lines that were not understood.

    Raises:
        ParameterError: the arrays differ in length, the sizes do not ascend from at least 1, or a
            latency or bandwidth is negative.
    """

    name: str
    sizes: IntArray
    latency_s: FloatArray
    bandwidth_Bps: FloatArray
    provenance: Provenance
    latency_spread: Spread | None = None
    bandwidth_spread: Spread | None = None
    notes: tuple[str, ...] = ()

    plot = Drawing("plot_curve")

    def __post_init__(self) -> None:
        # A fit builds thousands of these, so only what later code relies on is checked.
        sizes = _frozen(self.sizes, np.int64, "sizes")
        latency = _frozen(self.latency_s, np.float64, "latency_s")
        bandwidth = _frozen(self.bandwidth_Bps, np.float64, "bandwidth_Bps")
        object.__setattr__(self, "sizes", sizes)
        object.__setattr__(self, "latency_s", latency)
        object.__setattr__(self, "bandwidth_Bps", bandwidth)
        if not len(sizes) == len(latency) == len(bandwidth):
            raise ParameterError(
                "sizes, latency_s and bandwidth_Bps must have one length; got "
                f"{len(sizes)}, {len(latency)} and {len(bandwidth)}; put nan where a size was not "
                "measured",
                key="sizes",
            )
        if len(sizes) and (sizes[0] < 1 or (sizes[1:] <= sizes[:-1]).any()):
            raise ParameterError(
                "sizes must ascend from at least 1 byte without repeats; got "
                f"{_abbreviated(sizes)}; sort them and drop size 0",
                key="sizes",
            )
        for key, values in (("latency_s", latency), ("bandwidth_Bps", bandwidth)):
            if (values < 0).any():
                at = int(np.flatnonzero(values < 0)[0])
                raise ParameterError(
                    f"{key} must not be negative; got {values[at]:g} at {sizes[at]} bytes", key=key
                )
        for key, spread in (
            ("latency_spread", self.latency_spread),
            ("bandwidth_spread", self.bandwidth_spread),
        ):
            if spread is not None and len(spread) != len(sizes):
                raise ParameterError(
                    f"{key} must have one entry for each of the {len(sizes)} sizes; "
                    f"got {len(spread)}",
                    key=key,
                )

    @classmethod
    def from_osu_text(cls, text: str | bytes, *, name: str = "", bandwidth: str = "bw") -> OSUCurve:
        """Return the curve held by the output of osu_latency, osu_bw or both.

        ``workbench.measure.read_osu`` says what is understood; it reads files as well.

        Args:
            text: what the benchmarks printed.
            name: name of the curve; ``text`` where it is empty.
            bandwidth: which benchmark the bandwidth is taken from.

        Raises:
            ParseError: no table of a benchmark that is wanted could be read.
        """
        from workbench.measure.osu_read import read_osu

        return read_osu(("text", text), name=name, bandwidth=bandwidth)

    @property
    def latency_us(self) -> FloatArray:
        """Half of the round trip, float64[n] in microseconds."""
        return self.latency_s * 1e6

    @property
    def bandwidth_MBps(self) -> FloatArray:
        """Bandwidth, float64[n] in MB/s of 10^6 bytes."""
        return self.bandwidth_Bps * 1e-6

    def __len__(self) -> int:
        return len(self.sizes)

    def __repr__(self) -> str:
        measured = "".join(
            f", {label} {_short(low)} to {_short(high)} {unit}"
            for label, values, unit in (
                ("latency", self.latency_us, "us"),
                ("bandwidth", self.bandwidth_MBps, "MB/s"),
            )
            for low, high in _range(values)
        )
        sizes = (
            f"{len(self)} size{'s' if len(self) > 1 else ''} {byte_label(int(self.sizes[0]))} to "
            f"{byte_label(int(self.sizes[-1]))}"
            if len(self)
            else "no sizes"
        )
        return f"OSUCurve({self.name}, {self.provenance.origin}, {sizes}{measured})"

    def _repr_html_(self) -> str:
        rows = (
            (byte_label(size), _cell(latency), _cell(rate))
            for size, latency, rate in zip(
                self.sizes.tolist(),
                self.latency_us.tolist(),
                self.bandwidth_MBps.tolist(),
                strict=True,
            )
        )
        head = ("size", "latency (µs)", "bandwidth (MB/s)")
        caption = f"{self.name}: {self.provenance.caption()}"
        notes = "".join(f"<li>{html.escape(note)}</li>" for note in self.notes)
        return html_table(rows, head, caption, align="r") + (f"<ul>{notes}</ul>" if notes else "")

    def alone(self, benchmark: str) -> OSUCurve:
        """Return the curve without the other benchmark: its values nan, its spread left out.

        Args:
            benchmark: ``latency`` or ``bandwidth``, the one to keep.

        Raises:
            ParameterError: it is neither.
        """
        absent = np.full(len(self), np.nan)
        if benchmark == "latency":
            return replace(self, bandwidth_Bps=absent, bandwidth_spread=None)
        if benchmark == "bandwidth":
            return replace(self, latency_s=absent, latency_spread=None)
        raise ParameterError(
            f"benchmark must be latency or bandwidth; got {benchmark!r}", key="benchmark"
        )

    def columns(self) -> dict[str, FloatArray | IntArray]:
        """Return the columns of every export, by name: sizes in bytes, us, MB/s, then spreads.

        A spread adds ``latency_min_us`` to ``latency_max_us`` and ``latency_count``, and the same
        for the bandwidth.
        """
        columns: dict[str, FloatArray | IntArray] = {
            "size_bytes": self.sizes,
            "latency_us": self.latency_us,
            "bandwidth_MBps": self.bandwidth_MBps,
        }
        for what, unit, scale, spread in (
            ("latency", "us", 1e6, self.latency_spread),
            ("bandwidth", "MBps", 1e-6, self.bandwidth_spread),
        ):
            if spread is not None:
                for field, label in zip(
                    _QUARTILES, ("min", "p25", "median", "p75", "max"), strict=True
                ):
                    columns[f"{what}_{label}_{unit}"] = getattr(spread, field) * scale
                columns[f"{what}_count"] = spread.count
        return columns

    def select(self, keep: ArrayLike, label: str) -> OSUCurve:
        """Return the curve at some of its sizes, its spreads with it.

        Args:
            keep: bool[n], whether each size stays.
            label: what stays, in a few characters such as ``<=512``; the new curve is named
                ``<name>[<label>]`` and its provenance records the selection.

        Raises:
            ParameterError: ``keep`` is not one truth value for each size, or keeps none.
        """
        chosen = np.asarray(keep)
        if chosen.dtype != np.bool_ or chosen.shape != self.sizes.shape:
            raise ParameterError(
                f"keep must be one truth value for each of the {len(self)} sizes; got "
                f"{chosen.dtype} of shape {chosen.shape}; write it like curve.sizes <= 512",
                key="keep",
            )
        if not chosen.any():
            raise ParameterError(
                f"a selection must keep at least one size; {label!r} keeps none of the "
                f"{len(self)} of {self.name}",
                key="keep",
            )
        details = dict(self.provenance.details)
        part = f"{label}: {np.count_nonzero(chosen)} of {len(self)} sizes"
        details["selection"] = "; ".join(filter(None, (details.get("selection"), part)))
        return OSUCurve(
            name=f"{self.name}[{label}]",
            sizes=self.sizes[chosen],
            latency_s=self.latency_s[chosen],
            bandwidth_Bps=self.bandwidth_Bps[chosen],
            provenance=replace(self.provenance, details=details),
            latency_spread=_part_of(self.latency_spread, chosen),
            bandwidth_spread=_part_of(self.bandwidth_spread, chosen),
            notes=self.notes,
        )

    def percent_error(self, simulated: OSUCurve) -> tuple[FloatArray, FloatArray]:
        """Return 100 (simulated - self) / self in percent, for latency and for bandwidth.

        Args:
            simulated: a curve at the same sizes.

        Returns:
            Two float64[n], positive where ``simulated`` is above; nan where either is.

        Raises:
            ParameterError: the curves have other sizes.
        """
        if not np.array_equal(self.sizes, simulated.sizes):
            raise ParameterError(
                f"curves must have the same sizes to be compared; got {len(self.sizes)} and "
                f"{len(simulated.sizes)} sizes; simulate with sizes=measured.sizes",
                key="sizes",
            )
        with np.errstate(divide="ignore", invalid="ignore"):
            latency = 100.0 * (simulated.latency_s / self.latency_s - 1.0)
            bandwidth = 100.0 * (simulated.bandwidth_Bps / self.bandwidth_Bps - 1.0)
        return latency, bandwidth

    def to_frame(self) -> pd.DataFrame:
        """Return one row a size, with the columns of ``columns``."""
        import pandas as pd

        return pd.DataFrame(self.columns())

    def to_dict(self) -> dict[str, Any]:
        """Return name, provenance and ``columns`` as values that JSON can hold, nan as None."""
        columns = {name: plain(values) for name, values in self.columns().items()}
        return {"name": self.name, "provenance": self.provenance.to_dict(), **columns}

    def to_csv(self, path: str | Path | None = None) -> str:
        """Return the curve as CSV text, and write it to ``path`` where one is given.

        Values have 12 significant digits, more than any benchmark prints; a size that was not
        measured is an empty field.

        Args:
            path: file to write, in UTF-8 with plain newlines.
        """
        columns = self.columns()
        lines = [",".join(columns)]
        lines += [
            ",".join("" if value != value else f"{value:.12g}" for value in row)
            for row in zip(*(column.tolist() for column in columns.values()), strict=True)
        ]
        text = "\n".join(lines) + "\n"
        if path is not None:
            Path(path).write_text(text, encoding="utf-8", newline="\n")
        return text


def byte_label(size: int) -> str:
    """Return ``8 KiB`` for 8192: exact, with a binary prefix where it divides the size."""
    for power, prefix in ((30, "Gi"), (20, "Mi"), (10, "Ki")):
        if size >= 1 << power and size % (1 << power) == 0:
            return f"{size >> power} {prefix}B"
    return f"{size} B"


def _frozen(values: ArrayLike, dtype: type[np.generic], key: str) -> NDArray[Any]:
    """Return a read-only copy of ``values``, so that no caller can change a curve afterwards."""
    array = np.array(values, dtype=dtype)
    if array.ndim != 1:
        raise ParameterError(f"{key} must be one-dimensional; got the shape {array.shape}", key=key)
    array.flags.writeable = False
    return array


def _part_of(spread: Spread | None, keep: NDArray[np.bool_]) -> Spread | None:
    if spread is None:
        return None
    return Spread(*(getattr(spread, field)[keep] for field in (*_QUARTILES, "count")))


def _range(values: FloatArray) -> list[tuple[float, float]]:
    """Return the least and greatest value that is not nan, or nothing where all are."""
    known = values[~np.isnan(values)]
    return [(float(known.min()), float(known.max()))] if known.size else []


def _short(value: float) -> str:
    return f"{value:.4g}" if value < 9999.5 else f"{value:.0f}"


def _cell(value: float) -> str:
    return "" if value != value else f"{value:.2f}"


def _abbreviated(sizes: IntArray) -> str:
    shown = ", ".join(str(size) for size in sizes[:8].tolist())
    return f"{shown}, …" if len(sizes) > 8 else shown
