"""Run times of programs under latency that was added to the network's own, one row a repeat.

runs = read_measured_runs("cg-8.csv")
runs.points().spread.median             # s, by added latency
runs.only(program="cg-8").plot()
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from workbench.arrays import FloatArray, IntArray
from workbench.errors import ParameterError
from workbench.measure.curve import Spread
from workbench.provenance import Provenance
from workbench.result import StoredResult
from workbench.suggestions import did_you_mean
from workbench.units import format_quantity

if TYPE_CHECKING:
    import pandas as pd

NEEDED = ("latency_us", "time_s")
OPTIONAL = ("repeat", "program", "ranks", "load", "flagged")
"""Columns of the CSV, those that it must have and those that it may have."""
ABOUT = ("origin", "title", "source", "licence")
"""What lines above the CSV state of its provenance; others are details."""


class RunPoints(NamedTuple):
    """Run times of one program, by the latency that was added."""

    added_s: FloatArray  # float64[points], s, one way, ascending
    spread: Spread  # of the run times in s, over the repeats of each


@dataclass(frozen=True, eq=False, repr=False)
class MeasuredRuns(StoredResult):
    """Times of runs of programs while the network's latency was raised by known amounts.

    Attributes:
        added_s: float64[runs], latency that was added to the network's own, one way, s.
        time_s: float64[runs], run time, s.
        repeat: int64[runs], number of the repeat.
        program: program of each run; empty where it is not known.
        ranks: int64[runs], MPI ranks; 0 where the number is not known.
        load_average: float64[runs], of the machine as the run began; nan where not known.
        flagged: bool[runs], whether the machine was busy with something else.
        provenance: where the numbers come from.
        notes: what was taken for granted, each a sentence.

    Raises:
        ParameterError: the arrays differ in length or are empty, a latency is negative, or a time
            not above 0.
    """

    added_s: FloatArray
    time_s: FloatArray
    repeat: IntArray
    program: tuple[str, ...]
    ranks: IntArray
    load_average: FloatArray
    flagged: NDArray[np.bool_]
    provenance: Provenance
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        self._check()

    @classmethod
    def of(
        cls,
        added_s: ArrayLike,
        time_s: ArrayLike,
        *,
        provenance: Provenance,
        program: str | Iterable[str] = "",
        ranks: ArrayLike = 0,
        repeat: ArrayLike | None = None,
        load_average: ArrayLike = math.nan,
        flagged: ArrayLike = False,
    ) -> MeasuredRuns:
        """Return runs from columns; one value stands for all runs.

        Args:
            added_s: latency that was added to each run, one way, s.
            time_s: run times, s.
            provenance: where the numbers come from.
            program: name of the program, or one of each run.
            ranks: MPI ranks; 0 for not known.
            repeat: number of each run's repeat; None counts those with the same added latency.
            load_average: the load average as each run began; nan for not known.
            flagged: whether the machine was busy with something else.

        Raises:
            ParameterError: the columns differ in length or are empty, a latency is negative, or a
                time not above 0.
        """
        time = np.atleast_1d(np.asarray(time_s, np.float64))
        count = len(time)
        added = _filled(added_s, count, np.float64)
        names = (program,) * count if isinstance(program, str) else tuple(program)
        names = tuple(" ".join(name.split()) for name in names)  # one line of the CSV a run
        many = _filled(ranks, count, np.int64)
        return cls(
            added,
            time,
            _counted(zip(added.tolist(), names, many.tolist(), strict=False))
            if repeat is None
            else _filled(repeat, count, np.int64),
            names,
            many,
            _filled(load_average, count, np.float64),
            _filled(flagged, count, np.bool_),
            provenance,
        )

    def __len__(self) -> int:
        return len(self.time_s)

    @property
    def programs(self) -> tuple[tuple[str, int], ...]:
        """Programs with their ranks, in the order of their first runs."""
        return tuple(dict.fromkeys(zip(self.program, self.ranks.tolist(), strict=True)))

    def only(self, program: str | None = None, ranks: int | None = None) -> MeasuredRuns:
        """Return the runs of a program, or on a number of ranks.

        Args:
            program: its name; None takes all.
            ranks: MPI ranks; None takes all.

        Raises:
            ParameterError: there is no such run.
        """
        kept = np.array(
            [
                program in (None, name) and ranks in (None, many)
                for name, many in zip(self.program, self.ranks.tolist(), strict=True)
            ],
            bool,
        )
        if not kept.any():
            known = [name for name, _ in self.programs]
            raise ParameterError(
                f"some run must be of {program or 'any program'}"
                f"{'' if ranks is None else f' on {ranks} ranks'}{did_you_mean(program, known)}; "
                f"there are {_listed(self.programs)}",
                key="program",
            )
        return self._of(kept)

    def points(self) -> RunPoints:
        """Return the spread of the run times at each added latency.

        A run that is flagged counts only where all at that latency are.

        Raises:
            ParameterError: the runs are of several programs or numbers of ranks.
        """
        if len(self.programs) > 1:
            raise ParameterError(
                "points must be of one program on one number of ranks; got "
                f"{_listed(self.programs)}: take one with "
                "only(program=..., ranks=...)",
                key="program",
            )
        added = np.unique(self.added_s)
        times = [self.time_s[self._counting(one)] for one in added.tolist()]
        quartiles = np.array([np.percentile(one, (0, 25, 50, 75, 100)) for one in times]).T
        return RunPoints(added, Spread.from_quartiles(quartiles, [len(one) for one in times]))

    def to_frame(self) -> pd.DataFrame:
        """Return one row for each program, number of ranks and added latency.

        Returns:
            ``program``, ``ranks``, ``added (µs)``, ``minimum (s)``, ``p25 (s)``, ``median (s)``,
            ``p75 (s)``, ``maximum (s)``, ``repeats``, ``flagged``: the runs that are flagged, and
            count only where no other has that latency.
        """
        import pandas as pd

        return pd.DataFrame([row for one in self.programs for row in self.only(*one)._rows()])

    def to_csv(self, path: str | Path | None = None) -> str:
        """Return all runs as the CSV that ``read_measured_runs`` reads, and write it to ``path``.

        Args:
            path: file to write, in UTF-8 with plain newlines; None writes none.
        """
        text = "".join(f"# {key}: {value}\n" for key, value in self._stated())
        table = io.StringIO()
        rows = csv.writer(table, lineterminator="\n")
        rows.writerow((*NEEDED, *OPTIONAL))
        columns = (
            self.added_s,
            self.time_s,
            self.repeat,
            self.ranks,
            self.load_average,
            self.flagged,
        )
        for name, added, time, number, many, load, busy in zip(
            self.program, *(column.tolist() for column in columns), strict=True
        ):
            rows.writerow(
                (
                    # 15 digits are what a product with 1e6 has; reading divides by it again.
                    f"{added * 1e6:.15g}",
                    repr(time),
                    number,
                    name,
                    many or "",
                    "" if math.isnan(load) else repr(load),
                    str(busy).lower(),
                )
            )
        text += table.getvalue()
        if path is not None:
            Path(path).write_text(text, encoding="utf-8", newline="\n")
        return text

    def __repr__(self) -> str:
        added = np.unique(self.added_s)
        ends = " to ".join(format_quantity(end, "time") for end in added[[0, -1]].tolist())
        flagged = int(self.flagged.sum())
        latencies = "1 added latency" if len(added) == 1 else f"{len(added)} added latencies"
        return (
            f"MeasuredRuns({_listed(self.programs)}; "
            f"{self.provenance.origin}: {len(self)} runs with {latencies}, {ends}"
            f"{f'; {flagged} on a busy machine' if flagged else ''})"
        )

    def _check(self) -> None:
        count = len(self.time_s)
        names = ("added_s", "repeat", "program", "ranks", "load_average", "flagged")
        lengths = {name: len(getattr(self, name)) for name in names}
        if not count or set(lengths.values()) != {count}:
            raise ParameterError(
                f"measured runs must have one value of each kind a run, and at least one run; got "
                f"{count} times and {', '.join(f'{n} {what}' for what, n in lengths.items())}",
                key="time_s",
            )
        for key, bad in (("added_s", self.added_s < 0), ("time_s", self.time_s <= 0)):
            values = getattr(self, key)
            wrong = bad | ~np.isfinite(values)
            if wrong.any():
                least = "at least 0" if key == "added_s" else "above 0"
                raise ParameterError(
                    f"{key} must be {least} s and finite; got {values[np.argmax(wrong)]:g} s",
                    key=key,
                )

    def _of(self, kept: NDArray[np.bool_]) -> MeasuredRuns:
        arrays = ("added_s", "time_s", "repeat", "ranks", "load_average", "flagged")
        parts: dict[str, Any] = {name: getattr(self, name)[kept] for name in arrays}
        return replace(self, program=tuple(np.array(self.program, object)[kept]), **parts)

    def _counting(self, added: float) -> NDArray[np.bool_]:
        """Return the runs with an added latency that statistics are of."""
        here: NDArray[np.bool_] = self.added_s == added
        steady = here & ~self.flagged
        return steady if steady.any() else here

    def _rows(self) -> Iterator[dict[str, object]]:
        """Yield the rows of one program's table."""
        added, spread = self.points()
        for at, one in enumerate(added.tolist()):
            quartiles = ("minimum", "p25", "median", "p75", "maximum")
            yield {
                "program": self.program[0],
                "ranks": int(self.ranks[0]),
                "added (µs)": one * 1e6,
                **{f"{name} (s)": float(getattr(spread, name)[at]) for name in quartiles},
                "repeats": int(spread.count[at]),
                "flagged": int(self.flagged[self.added_s == one].sum()),
            }

    def _stated(self) -> Iterator[tuple[str, str]]:
        """Yield what stands above the table, a line each."""
        about = {name: getattr(self.provenance, name) for name in ABOUT}
        for key, value in (about | dict(self.provenance.details)).items():
            if text := " ".join(str(value).split()):
                yield key, text


def _filled(values: ArrayLike, count: int, dtype: type[np.generic]) -> NDArray[Any]:
    """Return a column, of one value where one was given."""
    array = np.asarray(values, dtype)
    return np.full(count, array, dtype) if array.ndim == 0 else array


def _counted(keys: Iterable[tuple[object, ...]]) -> IntArray:
    """Return, for each key, how often it occurred before, int64[keys]."""
    seen: dict[tuple[object, ...], int] = {}
    numbers = []
    for key in keys:
        numbers.append(seen.get(key, 0))
        seen[key] = numbers[-1] + 1
    return np.array(numbers, np.int64)


def _case(program: str, ranks: int) -> str:
    return f"{program or 'a program'}{f' on {ranks} ranks' if ranks else ''}"


def _listed(cases: Sequence[tuple[str, int]], most: int = 6) -> str:
    more = f" and {len(cases) - most} more" if len(cases) > most else ""
    return ", ".join(_case(*one) for one in cases[:most]) + more
