"""What is computed about the runs of a world: each is in a database before it is reported."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workbench.errors import SimulationHalted
from workbench.jsonfile import read_json
from workbench.result import StoredResult
from workbench.storage.row_table import RowTable, StoredRow
from workbench.tasks import Task
from workbench.variability.world.scene import WorldSettings
from workbench.workers.rows import RowWork
from workbench.workers.run import choose_executor

_DATABASE = "runs.db"
"""File of a store: rows by computation and run."""

_EARLIER = "world.json"
"""File of a store of an earlier release, with settings; its runs are files beside it."""


@dataclass(frozen=True, eq=False)
class RunPiece(StoredResult):
    """What was computed about a run: its number, and arrays whose meaning the work knows."""

    run: int
    first: NDArray[np.float64] = field(metadata={"axes": 2})
    second: NDArray[np.float64] = field(metadata={"axes": 2})

    @classmethod
    def of(cls, row: StoredRow) -> RunPiece:
        """Return the piece that is stored in a row."""
        return cls(row.number, *(np.array(one, np.float64, ndmin=2) for one in row.content))

    def row(self) -> StoredRow:
        """Return the row for the database."""
        return StoredRow([self.first.tolist(), self.second.tolist()], self.run)


def do_runs(
    settings: WorldSettings,
    computation: str,  # one of ``COMPUTATIONS``
    options: Mapping[str, Any],  # of the computation; values that JSON can hold
    runs: Sequence[int],
    store: str | Path | None,
    workers: int | None,
    task: Task,
) -> dict[int, RunPiece]:
    """Return the result of a computation for each run, or for the runs done before a stop.

    Raises SimulationHalted if the task is stopped before the first run is done.
    """
    if store is None:
        with tempfile.TemporaryDirectory(prefix="workbench-world-") as made:
            return do_runs(settings, computation, options, runs, made, workers, task)
    folder = Path(store)
    folder.mkdir(parents=True, exist_ok=True)
    table = RowTable(folder / _DATABASE, "world")
    if (folder / _EARLIER).is_file():
        _take_files(folder, table)
    name = computation + "".join(f"-{key}-{value}" for key, value in sorted(options.items()))
    table.prepare(name, asdict(settings))
    order = {"settings": asdict(settings), "computation": computation, "options": dict(options)}
    work = RowWork(table, __name__)
    work.add(name, order, runs)
    todo = len(work.pieces)
    executor = choose_executor(min(workers, todo) if workers and todo else workers, None)
    work.complete_all(f"runs {_WORDS[computation]}", executor, task)
    rows = table.read(name)
    found = {run: RunPiece.of(rows[run]) for run in runs if run in rows}
    if not found:
        raise SimulationHalted("stopped before the first run was done; start it again")
    return found


def compute(order: Mapping[str, Any], numbers: Sequence[int]) -> list[StoredRow]:
    """Compute what an order wants to know about runs; see ``workbench.workers.rows``."""
    from workbench.variability.world.computations import COMPUTATIONS

    settings, function = WorldSettings(**order["settings"]), COMPUTATIONS[order["computation"]]
    found = (RunPiece(run, *function(settings, run, **order["options"])) for run in numbers)
    return [piece.row() for piece in found]


_WORDS = {
    "simulate": "simulated",
    "times": "timed",
    "leave-one-out": "simulated again without each user",
    "shapley": "simulated again with users in turn",
    "classes": "simulated again with links of infinite capacity",
}


def _take_files(folder: Path, table: RowTable) -> None:
    """Move the runs that an earlier release kept as files into the database."""
    settings = read_json(folder / _EARLIER, "settings of a world")
    for path in sorted(folder.glob("*-[0-9][0-9][0-9][0-9][0-9].json")):
        name = path.stem.rpartition("-")[0]
        table.prepare(name, settings)
        table.write(name, [RunPiece.load(path).row()])
        path.unlink()
        path.with_suffix(".npz").unlink(missing_ok=True)
    (folder / _EARLIER).unlink()


def remove_pieces(folder: Path) -> None:
    """Remove the database of a world that is complete."""
    files = [folder / f"{_DATABASE}{end}" for end in ("", "-wal", "-shm")]
    for path in (*files, *folder.glob(f".{_DATABASE}.*.lock")):
        path.unlink(missing_ok=True)
