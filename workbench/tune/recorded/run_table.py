"""The runs of one component as rows of a CSV file."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from workbench.errors import ParameterError, ParseError
from workbench.result import NanEqual
from workbench.tune.space.axes import AnyAxis, Range
from workbench.tune.space.constraints import Configuration, TunedValue
from workbench.tune.space.space import TuningSpace

STATISTICS = ("avg_us", "min_us", "p50_us", "p99_us", "max_us")
"""Columns of latencies in µs that a file may have after ``seconds``."""

_HEAD = ("round", "started", "load", "state", "bytes")


@dataclass(frozen=True)
class RecordedMeasurement(NanEqual):
    """One run at one size: a row of a file."""

    round: int  # pass over all configurations, from 0
    configuration: Configuration  # canonical
    size: int  # bytes
    seconds: float  # of a run of this size alone, its start included; nan if failed
    latencies_us: Mapping[str, float]  # by column; empty if failed
    started: str = ""  # of the program, ISO 8601; empty where meaningless
    load: float = math.nan  # load average then; nan if unknown
    state: str = "completed"  # or why not: ``failed``, ``timeout``, ``cancelled``


@dataclass(frozen=True)
class RecordedTable:
    """The runs of one component."""

    component: str  # such as ``allreduce``; its file is named so
    space: TuningSpace
    statistics: tuple[str, ...] = STATISTICS  # columns of latencies in the file
    value: str = "p50_us"  # the column that counts
    runs: tuple[RecordedMeasurement, ...] = ()  # in the order of the rows

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the file's columns."""
        return (*_HEAD, *self.space.names, "seconds", *self.statistics)

    def line(self, run: RecordedMeasurement) -> str:
        """Return the row of a run, with its line end."""
        values = self.space.canonical(run.configuration)
        cells = [
            str(run.round),
            run.started,
            _number(run.load),
            run.state,
            str(run.size),
            *("" if value is None else str(value) for value in values.values()),
            _number(run.seconds),
            *(_number(run.latencies_us.get(name, math.nan)) for name in self.statistics),
        ]
        return ",".join(cells) + "\n"

    def head(self) -> str:
        """Return the first line of the file."""
        return ",".join(self.columns) + "\n"

    def parse(self, text: str, source: str) -> tuple[RecordedMeasurement, ...]:
        """Return the runs in a file's text; ``source`` names the file in errors."""
        lines = text.splitlines()
        if not lines or tuple(lines[0].split(",")) != self.columns:
            raise ParseError(
                f"the columns must be {','.join(self.columns)}; got "
                f"{lines[0][:200] if lines else 'an empty file'!r}",
                source=source,
                line=1,
            )
        values = {name: _known(axis) for name, axis in self.space.axes.items()}
        # Each configuration stands in many rows, one a round and size.
        seen: dict[tuple[str, ...], Configuration] = {}
        return tuple(
            self._run(line, values, seen, source, at)
            for at, line in enumerate(lines[1:], 2)
            if line
        )

    def _run(
        self,
        line: str,
        values: Mapping[str, Mapping[str, TunedValue]],
        seen: dict[tuple[str, ...], Configuration],
        source: str,
        at: int,
    ) -> RecordedMeasurement:
        cells = line.split(",")
        if len(cells) != len(self.columns):
            raise ParseError(
                f"a row must have {len(self.columns)} fields; got {len(cells)}",
                source=source,
                line=at,
            )
        row = dict(zip(self.columns, cells, strict=True))
        try:
            texts = tuple(row[name] for name in values)
            if texts not in seen:
                read = (_read(row[name], self.space.axes[name], values[name]) for name in values)
                seen[texts] = self.space.canonical(dict(zip(values, read, strict=True)))
            return RecordedMeasurement(
                int(row["round"]),
                seen[texts],
                int(row["bytes"]),
                float(row["seconds"] or "nan"),
                {name: float(row[name]) for name in self.statistics if row[name]},
                row["started"],
                float(row["load"] or "nan"),
                row["state"],
            )
        except (ValueError, ParameterError) as error:
            raise ParseError(f"a row must hold a run; {error}", source=source, line=at) from error


def _number(value: float) -> str:
    return f"{value:.7g}" if math.isfinite(value) else ""


def _known(axis: AnyAxis) -> dict[str, TunedValue]:
    if isinstance(axis, Range):
        return {}
    values: Sequence[TunedValue | None] = axis.values
    return {str(value): value for value in values if value is not None}


def _read(text: str, axis: AnyAxis, known: Mapping[str, TunedValue]) -> TunedValue | None:
    if not text:
        return None
    if isinstance(axis, Range):
        return float(text)
    if text not in known:
        raise ValueError(f"{text!r} is not one of {', '.join(known)}")
    return known[text]
