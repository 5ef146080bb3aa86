"""Runs of a world as pieces of work: each is on disk before it is reported, so work goes on."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workbench.atomic_write import replace_file
from workbench.errors import ParameterError, SimulationHalted, StudyError
from workbench.jsonfile import read_json
from workbench.result import StoredResult
from workbench.tasks import Task
from workbench.variability.world.scene import WorldSettings
from workbench.workers.run import choose_executor, do_pieces
from workbench.workers.work import Answer, PiecedWork, WorkPiece, ended

SETTINGS = "world.json"
"""File of a store that holds what its world is made from."""

_PERFORMER = "workbench.variability.world.pieces"


@dataclass(frozen=True, eq=False)
class RunPiece(StoredResult):
    """What was computed about a run: its number, and arrays whose meaning the work knows."""

    run: int
    first: NDArray[np.float64] = field(metadata={"axes": 2})
    second: NDArray[np.float64] = field(metadata={"axes": 2})


def do_runs(
    settings: WorldSettings,
    computation: str,  # one of ``COMPUTATIONS``
    options: Mapping[str, Any],  # of the computation; values that JSON can hold
    runs: Sequence[int],
    store: str | Path | None,
    workers: int | None,
    task: Task,
) -> dict[int, RunPiece]:
    """Return what is computed about runs, those so far once the task is stopped.

    SimulationHalted where none is done by then.
    """
    if store is None:
        with tempfile.TemporaryDirectory(prefix="workbench-world-") as made:
            return do_runs(settings, computation, options, runs, made, workers, task)
    folder = Path(store)
    folder.mkdir(parents=True, exist_ok=True)
    _claim(folder, settings)
    name = computation + "".join(f"-{key}-{value}" for key, value in sorted(options.items()))
    done = {run for run in runs if _piece_file(folder, name, run).is_file()}
    failed: list[str] = []

    def note(_: str, answer: Answer) -> None:
        if answer["state"] == "failed":
            failed.append(str(answer["message"]))
        elif answer["state"] == "done":
            done.add(answer["run"])
            report()

    def report() -> None:
        message = f"{len(done)} of {len(runs)} runs {_WORDS[computation]}"
        task.report(len(done), len(runs), message)

    report()
    order = {"settings": asdict(settings), "computation": computation}
    order |= {"options": dict(options), "name": name}
    todo = [WorkPiece(f"{name}-{run}", {**order, "run": run}) for run in runs if run not in done]
    executor = choose_executor(min(workers, len(todo)) if workers and todo else workers, None)
    work = PiecedWork(_PERFORMER, folder, note)
    do_pieces(work, todo, executor, task)
    if failed:
        raise StudyError(f"a run of the world failed: {failed[0]}")
    if not done:
        raise SimulationHalted("stopped before the first run was done; start it again")
    return {run: RunPiece.load(_piece_file(folder, name, run)) for run in sorted(done)}


def perform(order: Mapping[str, Any], database: str, task: Task) -> Answer:
    """Do the piece of an order and keep it in a folder; see ``workbench.workers``."""
    from workbench.variability.world.computations import COMPUTATIONS

    settings, run = WorldSettings(**order["settings"]), int(order["run"])
    first, second = COMPUTATIONS[order["computation"]](settings, run, **order["options"])
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
