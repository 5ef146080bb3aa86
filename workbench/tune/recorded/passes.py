"""Recordings made in passes: every configuration once, in an order of its own, then again.

A slow hour of the machine then falls on all configurations alike. What a run measured is written at
once. A recording that was stopped is resumed, and a complete one is continued by asking for more
passes.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

import numpy as np

from workbench.atomic_write import replace_file
from workbench.checks import whole
from workbench.datapackage import DESCRIPTOR
from workbench.errors import ParameterError, ParseError
from workbench.tasks import Task
from workbench.tune.environment import environment
from workbench.tune.recorded.files import Description, read_tables, write_recording
from workbench.tune.recorded.run_table import RecordedMeasurement, RecordedTable
from workbench.tune.space.constraints import Configuration
from workbench.tune.space.space import TuningSpace


@dataclass(frozen=True)
class RecordingProgress:
    """The progress of a recording, counted in starts of its program."""

    started: int  # starts that are in the files
    wanted: int  # starts of the complete recording
    failed: int  # of those started, without a value

    @property
    def whole(self) -> bool:
        """Whether the recording is complete."""
        return self.started >= self.wanted


class Recordable(Protocol):
    """What is recorded, and how one configuration of it is run."""

    sizes: Sequence[int]  # bytes; each start measures all of them
    held: Mapping[str, object]  # what all runs share, such as the number of ranks
    unsaid: Mapping[str, object]  # of that, what a recording that does not say it was made with

    def table(self, name: str) -> RecordedTable:
        """Return the columns and the space of a table, by name, without runs."""

    def run(
        self, number: int, name: str, configuration: Configuration
    ) -> list[RecordedMeasurement]:
        """Run a configuration in pass ``number`` and return one row per size."""

    def title(self, names: Sequence[str]) -> str:
        """Return a few words for captions."""

    def caveats(self) -> tuple[str, ...]:
        """Return warnings for readers of the recording, each a sentence."""


def record_in_passes(
    folder: str | Path,
    recorded: Recordable,
    names: Sequence[str],
    task: Task,  # gets the number of starts before each, and what is next; ends after the run
    *,
    rounds: int,  # passes in total, those in the folder included
    seed: int,  # of the order of the runs
    created_by: str,  # the command, for the descriptor
    limit_s: float | None = None,  # no run is started later; None: no limit
) -> RecordingProgress:
    """Run every configuration of some tables in passes, and record each run in a folder."""
    work = _Recording(Path(folder), recorded, seed)
    work.open(names, created_by)
    deadline = math.inf if limit_s is None else time.monotonic() + limit_s
    left = work.left(rounds)
    try:
        for at, (number, name, configuration) in enumerate(left):
            if time.monotonic() >= deadline or task.stopping:
                break
            chosen = ", ".join(f"{k}={v}" for k, v in configuration.items() if v is not None)
            task.report(work.starts, work.starts + len(left) - at, f"{name} {chosen}")
            work.run(number, name, configuration)
    finally:
        work.close(created_by)
    return RecordingProgress(work.starts, work.starts + len(work.left(rounds)), work.failed)


def checked_rounds(rounds: int) -> int:
    """Return a number of passes, at least 1."""
    return whole(rounds, "rounds", 1)


class _Recording:
    """The files of one recording."""

    def __init__(self, folder: Path, recorded: Recordable, seed: int) -> None:
        self.folder, self.recorded, self.seed = folder, recorded, seed
        self.tables: dict[str, RecordedTable] = {}
        self.runs: dict[str, list[RecordedMeasurement]] = {}
        self.context: dict[str, object] = {}

    @property
    def starts(self) -> int:
        """Number of starts in the files."""
        return sum(map(len, self.runs.values())) // len(self.recorded.sizes)

    @property
    def failed(self) -> int:
        """Number of starts that gave no value."""
        bad = sum(run.state != "completed" for runs in self.runs.values() for run in runs)
        return bad // len(self.recorded.sizes)

    def open(self, names: Sequence[str], created_by: str) -> None:
        """Read the folder's files and create the missing ones."""
        self.folder.mkdir(parents=True, exist_ok=True)
        known: dict[str, RecordedTable] = {}
        if (self.folder / DESCRIPTOR).is_file():
            # The files of a recording that was killed are longer than the descriptor says.
            self._drop_torn_lines()
            description, tables = read_tables(self.folder, check=False)
            known = {table.component: table for table in tables}
            self.context = {**self.recorded.unsaid, **description.context}
        for key, value in self.recorded.held.items():
            if self.context.get(key, value) != value:
                raise ParameterError(
                    f"{self.folder} holds a recording with {key} {self.context[key]}; got {value}; "
                    f"use the same {key}, or name another folder",
                    key=key,
                )
        for name in dict.fromkeys([*known, *names]):
            own = self.recorded.table(name)
            table = known.get(name, own)
            if table.space.to_dict() != own.space.to_dict():
                raise ParameterError(
                    f"{self.folder} holds a recording of {name} over other values; name another "
                    "folder",
                    key="folder",
                )
            self.runs[name] = _whole(table.runs, self.recorded.sizes, own.space)
            self.tables[name] = replace(table, runs=())
        self.context |= self.recorded.held
        self._write(created_by)

    def left(self, rounds: int) -> list[tuple[int, str, Configuration]]:
        """Return the missing runs in order: pass, table and configuration."""
        found: list[tuple[int, str, Configuration]] = []
        done = {
            (run.round, name, self.tables[name].space.key(run.configuration))
            for name, runs in self.runs.items()
            for run in runs
        }
        everything = [
            (name, configuration)
            for name, table in self.tables.items()
            for configuration in table.space.all()
        ]
        for number in range(rounds):
            order = np.random.default_rng((self.seed, number)).permutation(len(everything))
            for name, configuration in (everything[at] for at in order):
                if (number, name, tuple(configuration.values())) not in done:
                    found.append((number, name, configuration))
        return found

    def run(self, number: int, name: str, configuration: Configuration) -> None:
        """Run one configuration and append its rows to the file."""
        rows = self.recorded.run(number, name, configuration)
        self.runs[name] += rows
        with (self.folder / f"{name}.csv").open("a", encoding="utf-8") as file:
            file.write("".join(map(self.tables[name].line, rows)))

    def close(self, created_by: str) -> None:
        """Write the descriptor with the checksums of the files."""
        here = environment()
        loads = [run.load for runs in self.runs.values() for run in runs]
        self.context |= {
            "system": here["system"],
            "processor": here["processor"],
            "cores": here["cores"],
            "starts": self.starts,
            "failed starts": self.failed,
        }
        if loads:
            low, middle, high = np.nanquantile(loads, (0.0, 0.5, 1.0))
            self.context["load average"] = f"{low:.1f} to {high:.1f}, median {middle:.1f}"
        self._write(created_by)

    def _write(self, created_by: str) -> None:
        write_recording(
            self.folder,
            Description(
                self.folder.resolve().name,
                self.recorded.title(list(self.tables)),
                "measured",
                created_by,
                self.context,
                self.recorded.caveats(),
            ),
            [replace(table, runs=tuple(self.runs[name])) for name, table in self.tables.items()],
        )

    def _drop_torn_lines(self) -> None:
        for path in self.folder.glob("*.csv"):
            data = path.read_bytes()
            if not data.endswith(b"\n"):
                replace_file(path, data[: data.rfind(b"\n") + 1])


def _whole(
    runs: Sequence[RecordedMeasurement], sizes: Sequence[int], space: TuningSpace
) -> list[RecordedMeasurement]:
    """Return the runs of the starts that have every size; raise on an unknown size."""
    count: dict[tuple[object, ...], set[int]] = {}
    for run in runs:
        if run.size not in sizes:
            raise ParseError(f"sizes must be {', '.join(map(str, sizes))}; got {run.size}")
        count.setdefault((run.round, *space.key(run.configuration)), set()).add(run.size)
    return [
        run for run in runs if len(count[(run.round, *space.key(run.configuration))]) == len(sizes)
    ]
