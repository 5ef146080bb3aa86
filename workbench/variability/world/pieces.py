"""Runs of a world as pieces of work: each is on disk before it is reported, so work goes on."""

from __future__ import annotations

import json
import tempfile
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workbench.atomic_write import replace_file
from workbench.errors import ParameterError, StudyError
from workbench.jsonfile import read_json
from workbench.result import StoredResult
from workbench.variability.world.scene import WorldSettings
from workbench.workers.run import choose_executor, do_pieces
from workbench.workers.work import Answer, PiecedWork, WorkPiece, ended

SETTINGS = "world.json"
"""File of a store that holds what its world is made from."""

_PERFORMER = "workbench.variability.world.pieces"


@dataclass(frozen=True)
class WorldProgress:
    """How far the work on a world is.

    Attributes:
        done: runs that are done.
        total: all runs.
        what: is done with them.
    """

    done: int
    total: int
    what: str

    def line(self) -> str:
        """Return one line for people, e.g. ``12 of 200 runs simulated``."""
        return f"{self.done} of {self.total} runs {self.what}"


@dataclass(frozen=True, eq=False)
class RunPiece(StoredResult):
    """What was computed about a run: its number, and arrays whose meaning the work knows."""

    run: int
    first: NDArray[np.float64] = field(metadata={"axes": 2})
    second: NDArray[np.float64] = field(metadata={"axes": 2})


def do_runs(
    settings: WorldSettings,
    task: str,  # one of ``TASKS``
    options: Mapping[str, Any],  # of the task; values that JSON can hold
    runs: Sequence[int],
    store: str | Path | None,
    workers: int | None,
    stop: threading.Event | None,
    on_progress: Callable[[WorldProgress], None] | None,
) -> dict[int, RunPiece]:
    """Return what a task computes about runs, those so far where ``stop`` was set."""
    if store is None:
        with tempfile.TemporaryDirectory(prefix="workbench-world-") as made:
            return do_runs(settings, task, options, runs, made, workers, stop, on_progress)
    folder = Path(store)
    folder.mkdir(parents=True, exist_ok=True)
    _claim(folder, settings)
    said = _WORDS[task]
    name = task + "".join(f"-{key}-{value}" for key, value in sorted(options.items()))
    done = {run for run in runs if _piece_file(folder, name, run).is_file()}
    failed: list[str] = []

    def note(_: str, answer: Answer) -> None:
        if answer["state"] == "failed":
            failed.append(str(answer["message"]))
        elif answer["state"] == "done":
            done.add(answer["run"])
            report()

    def report() -> None:
        if on_progress is not None:
            on_progress(WorldProgress(len(done), len(runs), said))

    report()
    order = {"settings": asdict(settings), "task": task, "options": dict(options), "name": name}
    todo = [WorkPiece(f"{name}-{run}", {**order, "run": run}) for run in runs if run not in done]
    executor = choose_executor(min(workers, len(todo)) if workers and todo else workers, None)
    work = PiecedWork(_PERFORMER, folder, note)
    do_pieces(work, todo, executor, stop or threading.Event())
    if failed:
        raise StudyError(f"a run of the world failed: {failed[0]}")
    return {run: RunPiece.load(_piece_file(folder, name, run)) for run in sorted(done)}


def perform(
    order: Mapping[str, Any],
    database: str,
    stop: threading.Event,
    note: Callable[[Answer], None],
) -> Answer:
    """Do the piece of an order and keep it in a folder; see ``workbench.workers``."""
    from workbench.variability.world.tasks import TASKS

    settings, run = WorldSettings(**order["settings"]), int(order["run"])
    first, second = TASKS[order["task"]](settings, run, **order["options"])
    RunPiece(run, first, second).save(_piece_file(Path(database), order["name"], run))
    return {**ended("done"), "run": run}


_WORDS = {
    "simulate": "simulated",
    "times": "timed",
    "leave-one-out": "simulated again without each user",
    "shapley": "simulated again with users in turn",
    "classes": "simulated again with links of infinite capacity",
}


def _piece_file(folder: Path, name: str, run: int) -> Path:
    return folder / f"{name}-{run:05d}.json"


def _claim(folder: Path, settings: WorldSettings) -> None:
    """Record what a store's world is made from; ParameterError if it is of another world."""
    path, wanted = folder / SETTINGS, asdict(settings)
    if not path.is_file():
        replace_file(path, (json.dumps(wanted, indent=1) + "\n").encode())
        return
    found = read_json(path, "settings of a world")
    other = [key for key, value in wanted.items() if found.get(key) != value]
    if other:
        key = other[0]
        raise ParameterError(
            f"{folder} holds runs of another world, whose {key} is {found.get(key)!r}; got "
            f"{wanted[key]!r}: take the same settings, or another folder",
            key=key,
        )


def remove_pieces(folder: Path) -> None:
    """Remove the pieces of a world that is complete."""
    for path in folder.iterdir():
        if path.suffix in (".json", ".npz") and path.stem.rsplit("-", 1)[-1].isdigit():
            path.unlink()
    (folder / SETTINGS).unlink(missing_ok=True)
