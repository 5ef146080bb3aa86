"""Runs over a link that users with known schedules shared, as tables in a folder.

recorded = shipped("emulated-link")
blame(recorded.runs, recorded.jobs)
recorded.crossing                       # the users who are to blame, by construction
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from workbench.arrays import FloatArray
from workbench.datapackage import (
    DESCRIPTOR,
    Column,
    PackagedResult,
    PackageFiles,
    read_descriptor,
    read_resource,
    table_resource,
)
from workbench.datasets import data_folder
from workbench.errors import DatasetError
from workbench.provenance import Provenance
from workbench.suggestions import did_you_mean
from workbench.text_table import numbers_of, read_text_table
from workbench.variability.tables.job_log import JobLog, read_jobs
from workbench.variability.tables.routines import RoutineTimes, read_routines
from workbench.variability.tables.runs import Runs, read_runs
from workbench.variability.tables.steps import StepTable, read_steps

if TYPE_CHECKING:
    import pandas as pd


_FOLDER = "variability"
_LICENCE = "MIT"
_REPAIR = "restore the folder, or wait until the recording that writes it has finished"


@dataclass(frozen=True)
class LinkUser:
    """A user of the link: the truth about who is to blame.

    Attributes:
        user: name.
        crosses: whether the traffic crosses the shared link.
        sender: host that sends.
        receiver: host that receives.
        rate_Mbps: sent on average while a job of it runs, if the network takes it.
        connections: number of TCP connections.
        pattern: of the rate within a job: ``steady``, ``bursts`` or ``waves``.
        companion: user beside whose jobs it mostly runs; empty for a schedule of its own.
    """

    user: str
    crosses: bool
    sender: str
    receiver: str
    rate_Mbps: float
    connections: int
    pattern: str
    companion: str


@dataclass(frozen=True, eq=False, repr=False)
class RecordedLink(PackagedResult):
    """Runs of a program over a shared link, with the causes of their delays.

    Attributes:
        name: of the recording.
        runs: when they ran, and how long they took.
        jobs: of all users, and the runs themselves.
        steps: their times and counters.
        users: the truth: who sends over the link, and how much.
        sent_kB: float64[runs, steps, users], what the network took from each user in each step.
        routines: where the program's time went.
        load_average: float64[runs, steps], runnable processes, mean of the last minute.
        busy: float64[runs, steps], share of the cores' time that was not idle.
        context: what was held constant.
        caveats: what a reader must know, each a sentence.
        created_by: the command that made it.
    """

    name: str
    runs: Runs
    jobs: JobLog
    steps: StepTable
    users: tuple[LinkUser, ...]
    sent_kB: NDArray[np.float64] = field(metadata={"axes": 3})
    routines: RoutineTimes
    load_average: NDArray[np.float64] = field(metadata={"axes": 2})
    busy: NDArray[np.float64] = field(metadata={"axes": 2})
    context: Mapping[str, Any]
    caveats: tuple[str, ...]
    created_by: str

    @property
    def provenance(self) -> Provenance:
        """Where the numbers come from."""
        return self.steps.provenance

    @property
    def crossing(self) -> tuple[str, ...]:
        """Users whose traffic crosses the link: to blame, by construction."""
        return tuple(user.user for user in self.users if user.crosses)

    def to_frame(self) -> pd.DataFrame:
        """Return a row a user: the truth, and the mean rate at which it sent, in Mbit/s."""
        import pandas as pd

        sent = np.nansum(self.sent_kB, axis=(0, 1)) * 8e-3 / np.nansum(self.steps.time_s)
        return pd.DataFrame([vars(user) for user in self.users]).assign(**{"sent (Mbit/s)": sent})

    def __repr__(self) -> str:
        times = self.runs.time_s
        return (
            f"RecordedLink({self.name}, {self.provenance.origin}: {len(self.runs)} runs of "
            f"{times.min():.4g} to {times.max():.4g} s, {self.steps.steps} steps each, "
            f"{len(self.users)} users of whom {len(self.crossing)} cross the link)"
        )

    def _package(self) -> tuple[Mapping[str, Any], PackageFiles]:
        steps, names = self.steps, [user.user for user in self.users]
        run, step = np.nonzero(np.isfinite(steps.time_s))
        places = list(zip(run.tolist(), step.tolist(), strict=True))
        of_step = [(steps.run[of], number) for of, number in places]
        tables: list[tuple[str, Mapping[str, Column], Iterable[Sequence[object]], str]] = [
            (
                "runs",
                _RUNS,
                zip(
                    self.runs.run,
                    _rounded(self.runs.start, 3),
                    _rounded(self.runs.end, 3),
                    _rounded(self.runs.time_s, 6),
                    strict=True,
                ),
                "one row a run",
            ),
            (
                "jobs",
                _JOBS,
                zip(
                    self.jobs.job,
                    self.jobs.user,
                    self.jobs.nodes.tolist(),
                    _rounded(self.jobs.start, 3),
                    _rounded(self.jobs.end, 3),
                    strict=True,
                ),
                "one row a job, the runs among them",
            ),
            (
                "steps",
                _STEPS | {name: _counter(name) for name in steps.counters},
                (
                    (*key, round(float(steps.time_s[at]), 6), *_whole(steps.values[at]))
                    for key, at in zip(of_step, places, strict=True)
                ),
                "one row a step; counters are what they rose by in the step, backlogs their "
                "value at its end",
            ),
            ("users", _USERS, (list(vars(user).values()) for user in self.users), "the truth"),
            (
                "sent",
                _KEYS | dict.fromkeys(names, _TAKEN),
                (
                    (*key, *_whole(self.sent_kB[at]))
                    for key, at in zip(of_step, places, strict=True)
                ),
                "the truth: what the network took from each user in each step",
            ),
            (
                "machine",
                _KEYS | _MACHINE,
                (
                    (*key, float(self.load_average[at]), float(self.busy[at]))
                    for key, at in zip(of_step, places, strict=True)
                ),
                "how busy the machine was",
            ),
            (
                "routines",
                _ROUTINES,
                (
                    (name, routine, round(float(time), 6))
                    for name, times in zip(self.routines.run, self.routines.time_s, strict=True)
                    for routine, time in zip(self.routines.routine, times, strict=True)
                ),
                "where the program's time went in each run, mean over its ranks",
            ),
        ]
        files: PackageFiles = []
        for name, columns, rows, about in tables:
            data = _csv(columns, rows)
            files.append((table_resource(name, data, columns, about), data))
        return {
            "name": self.name,
            "title": self.provenance.title,
            "origin": self.provenance.origin,
            "created_by": self.created_by,
            "licenses": [{"name": _LICENCE}],
            "context": dict(self.context),
            "caveats": list(self.caveats),
        }, files

    @classmethod
    def _from_package(cls, folder: Path, descriptor: Mapping[str, Any]) -> Self:
        for entry in descriptor["resources"]:
            read_resource(folder, descriptor, entry["path"], _REPAIR)
        provenance = Provenance(
            descriptor["origin"],
            str(descriptor["title"]),
            str(descriptor["name"]),
            str(descriptor["licenses"][0]["name"]),
            {key: str(value) for key, value in descriptor["context"].items()},
        )
        steps = read_steps(folder / "steps.csv", provenance=provenance)
        users = tuple(_users(folder / "users.csv"))
        sent = _by_step(folder / "sent.csv", [user.user for user in users], steps)
        machine = _by_step(folder / "machine.csv", ["load", "busy"], steps)
        return cls(
            str(descriptor["name"]),
            read_runs(folder / "runs.csv"),
            read_jobs(folder / "jobs.csv"),
            steps,
            users,
            sent,
            read_routines(folder / "routines.csv", provenance=provenance),
            machine[:, :, 0],
            machine[:, :, 1],
            dict(descriptor["context"]),
            tuple(map(str, descriptor["caveats"])),
            str(descriptor["created_by"]),
        )


def shipped(name: str) -> RecordedLink:
    """Return a recording that ships with the workbench, checked against its checksums.

    Args:
        name: ``emulated-link``.

    Raises:
        DatasetError: there is no such recording, or a file is not the one that is recorded.
    """
    known = [
        path.parent.name
        for path in sorted((data_folder() / _FOLDER).glob(f"*/{DESCRIPTOR}"))
        if "created_by" in read_descriptor(path.parent, "a descriptor")
    ]
    if name not in known:
        raise DatasetError(
            f"no recording is named {name!r}{did_you_mean(name, known)}; known: "
            f"{', '.join(known) or 'none'}"
        )
    return RecordedLink.load(data_folder() / _FOLDER / name)


_KEYS: dict[str, Column] = {
    "run": ("string", "", "name of the run"),
    "step": ("integer", "1", "number of the step, from 0"),
}
_RUNS: dict[str, Column] = {
    "run": ("string", "", "name of the run"),
    "start": ("number", "s", "start of its first step, since 1970-01-01 UTC"),
    "end": ("number", "s", "end of its last step"),
    "time_s": ("number", "s", "what its steps took"),
}
_JOBS: dict[str, Column] = {
    "job": ("string", "", "name of the job, or of the run that it is"),
    "user": ("string", "", "whose job it is"),
    "nodes": ("integer", "1", "emulated hosts that it uses"),
    "start": ("number", "s", "since 1970-01-01 UTC"),
    "end": ("number", "s", "since 1970-01-01 UTC"),
}
_STEPS: dict[str, Column] = {**_KEYS, "time_s": ("number", "s", "what the step took")}
_USERS: dict[str, Column] = {
    "user": ("string", "", "name"),
    "crosses": ("boolean", "", "whether the traffic crosses the shared link"),
    "sender": ("string", "", "host that sends"),
    "receiver": ("string", "", "host that receives"),
    "rate_Mbps": ("number", "Mbit/s", "offered on average while a job runs"),
    "connections": ("integer", "1", "TCP connections"),
    "pattern": ("string", "", "of the rate within a job"),
    "companion": ("string", "", "user beside whose jobs it mostly runs"),
}
_MACHINE: dict[str, Column] = {
    "load": ("number", "1", "runnable processes, mean of the last minute"),
    "busy": ("number", "1", "share of the cores' time that was not idle"),
}
_ROUTINES: dict[str, Column] = {
    "run": ("string", "", "name of the run"),
    "routine": ("string", "", "compute, which is sleeping, or the MPI routine without MPI_"),
    "time_s": ("number", "s", "mean over the ranks"),
}
_TAKEN: Column = ("integer", "kB", "what the network took from the user")
_OWNERS = {
    "JOB": "the job's hosts",
    "LINK": "the shared link, from left to right (EAST) or back (WEST)",
    "SYS": "the users' hosts on a side",
}
_WHAT_COUNTED = {
    "BYTES": ("B", "bytes sent, with headers"),
    "PACKETS": ("1", "packets sent"),
    "DROPS": ("1", "packets that found the queue before the link full"),
    "OVERLIMITS": ("1", "times that the queue had to wait for the link's rate"),
    "BACKLOG": ("B", "bytes in the queue at the end of the step"),
    "RETRANSMITTED": ("1", "TCP segments sent again"),
}


def _counter(name: str) -> Column:
    """Return the column of a counter, its meaning from the words of its name."""
    unit, counted = _WHAT_COUNTED[name.rpartition("_")[2]]
    return ("integer", unit, f"{_OWNERS[name.partition('_')[0]]}: {counted}")


def _csv(columns: Mapping[str, Column], rows: Iterable[Sequence[object]]) -> bytes:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(rows)
    return text.getvalue().encode()


def _rounded(values: FloatArray, digits: int) -> list[float]:
    return [round(value, digits) for value in values.tolist()]


def _whole(values: FloatArray) -> list[int]:
    return [round(value) for value in values.tolist()]


def _users(path: Path) -> Iterable[LinkUser]:
    table = read_text_table(path, "a table of users", _USERS)
    rate = numbers_of(table, "rate_Mbps", str(path))
    connections = numbers_of(table, "connections", str(path))
    for at, row in enumerate(table.to_dict("records")):
        yield LinkUser(
            row["user"],
            row["crosses"] == "True",
            row["sender"],
            row["receiver"],
            float(rate[at]),
            int(connections[at]),
            row["pattern"],
            row["companion"],
        )


def _by_step(path: Path, names: Sequence[str], steps: StepTable) -> FloatArray:
    """Return columns of a table as float64[runs, steps, names], in the order of ``steps``."""
    table = read_text_table(path, "a table of steps", ("run", "step", *names))
    row = np.array([steps.run.index(run) for run in table["run"]])
    column = numbers_of(table, "step", str(path)).astype(np.int64)
    found = np.full((len(steps), steps.steps, len(names)), np.nan)
    for at, name in enumerate(names):
        found[row, column, at] = numbers_of(table, name, str(path))
    return found
