"""One cell of a study, fitted or read; only the database holds its result."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from workbench.errors import StudyHeldError, WorkbenchError
from workbench.fit import FitStudy, TrialReport, rmspe_by_target
from workbench.fit.engines import RANK_ENGINES
from workbench.fit.losses import target_points
from workbench.fit.store import StoredStudy, read_study, read_trials
from workbench.simulate import simulate_osu
from workbench.storage.database import problem_differences
from workbench.study.cell import Cell, CellProgress, CellResult, CellState, improvements
from workbench.study.model_choice import ModelChoice
from workbench.tasks import Task
from workbench.workers.work import HELD, Answer


def fit_order(cell: Cell, choice: ModelChoice, trials: int) -> dict[str, Any]:
    """Return the order of a cell's fit, for ``perform``."""
    return {"cell": asdict(cell), "choice": choice.plain(), "trials": trials}


def perform(order: Mapping[str, Any], database: str, task: Task) -> Answer:
    """Fit the cell of an order; see ``workbench.workers``."""
    cell, choice = Cell(**order["cell"]), ModelChoice.coerce(order["choice"])
    return _answer(_fitted(cell, choice, order["trials"], database, task))


def _answer(progress: CellProgress) -> Answer:
    return {
        "state": progress.state,
        "message": progress.message,
        "trials": progress.trials,
        "best_loss": progress.best_loss,
    }


def _fitted(
    cell: Cell,
    choice: ModelChoice,
    trials: int,  # including those of earlier runs
    database: str | Path,
    task: Task,
) -> CellProgress:
    """Continue a cell's fit to ``trials`` trials or a stop; return its state, errors included."""

    def report(trial: TrialReport) -> None:
        progress = CellProgress(cell, "running", trial.done, trials, trial.best_loss)
        task.report(trial.done, trials, detail=_answer(progress))

    try:
        with _study(cell, choice, database) as study:
            _copy_trials(study, cell, choice, trials, database)
            result = study.run(trials, task=task.part(report))
    except StudyHeldError:
        return CellProgress(cell, "running", 0, trials, message=HELD)
    except WorkbenchError as error:
        return CellProgress(cell, "failed", 0, trials, message=str(error))
    state: CellState = "done" if result.trials >= trials else "stopped"
    return CellProgress(cell, state, result.trials, trials, result.best_loss)


def read_cell(
    cell: Cell,
    choice: ModelChoice,
    trials: int,
    database: str | Path,
    *,
    held: bool = False,  # whether a process runs it now
) -> CellResult:
    """Return the result of a cell from the database; holds nothing and writes nothing."""
    try:
        stored = read_study(database, cell.name)
        if stored is None or not len(stored.losses):
            return CellResult(cell, choice, "running" if held else "waiting")
        return _result(cell, choice, trials, stored, held)
    except WorkbenchError as error:
        return CellResult(cell, choice, "failed", message=str(error))


def _copy_trials(
    study: FitStudy, cell: Cell, choice: ModelChoice, trials: int, database: str | Path
) -> None:
    """Copy the trials of the cell with the equivalent loss, if all of them are there.

    RMSPE is a hundred times RMSRE, and RMSE the root of MSE: TPE tries the same for both.
    """
    if study.done or not study.loss.rises_with or cell.engine not in RANK_ENGINES:
        return
    twin = replace(cell, loss=study.loss.rises_with)
    found = read_study(database, twin.name)
    if found is None or len(found.losses) < trials:
        return
    if not problem_differences(found.problem, _study(twin, choice).problem()):
        study.copy_trials(read_trials(database, twin.name)[:trials])


def _study(cell: Cell, choice: ModelChoice, database: str | Path | None = None) -> FitStudy:
    return FitStudy(
        cell.measured(),
        choice.build(),
        loss=cell.loss,
        target=cell.target,
        seed=cell.seed,
        engine=cell.engine,
        study=database,
        name=cell.name,
        space=choice.space(),
    )


def _result(
    cell: Cell, choice: ModelChoice, trials: int, stored: StoredStudy, held: bool
) -> CellResult:
    study = _study(cell, choice)
    differences = problem_differences(stored.problem, study.problem())
    if differences:
        return CellResult(
            cell,
            choice,
            "failed",
            message=f"the study {cell.name!r} was made for another problem: "
            f"{'; '.join(differences)}; choose another database, or the plan it was made with",
        )
    done = len(stored.losses)
    state: CellState = "done" if done >= trials else "running" if held else "stopped"
    rmspe = dict.fromkeys(("joint", "latency", "bandwidth"), math.nan)
    message = f"{done} of {trials} trials" if done < trials else f"{done} trials"
    best = float(stored.losses.min())
    if stored.values:
        simulated = simulate_osu(choice.build().with_values(stored.values), study.curve.sizes)
        rmspe = rmspe_by_target(simulated, study.curve)
        observed = target_points(study.curve, study.target)
        now = study.loss(target_points(simulated, study.target), observed)
        # Stored losses cannot be compared with new ones if the simulator has changed.
        if now != best:
            return CellResult(
                cell,
                choice,
                "failed",
                message=f"the study {cell.name!r} holds losses that this release computes "
                f"differently (best {best:.6g}, now {now:.6g}); choose another database",
            )
    elif stored.refused:
        message = f"{message}; no configuration could be simulated: {stored.refused}"
    return CellResult(
        cell,
        choice,
        state,
        rmspe=rmspe,
        best_loss=best,
        trials=done,
        refused=int((stored.losses == math.inf).sum()),
        seconds=stored.seconds,
        values=dict(stored.values),
        convergence=improvements(stored.losses),
        message=message,
    )
