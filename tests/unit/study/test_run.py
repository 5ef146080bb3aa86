"""Studies run here, in processes and as jobs; stopped, killed, held by others and gone on with."""

from __future__ import annotations

import contextlib
import importlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from tests.unit.study.plans import MACHINES, small_plan
from workbench import datasets, tasks
from workbench.errors import ParameterError, StudyError
from workbench.fit import FitStudy
from workbench.measure import OSUCurve
from workbench.study import StudyResult, StudyStatus, run, status
from workbench.tasks import Task

ROOT = Path(__file__).parents[3]
ENDLESS = 100_000


def losses(plan_database: Path, names: list[str]) -> dict[str, list[float]]:
    from workbench.fit.store import read_study

    found = {name: read_study(plan_database, name) for name in names}
    return {name: study.losses.tolist() for name, study in found.items() if study is not None}


def children(pid: int) -> list[int]:
    """Return the processes that fit for a process."""
    found = []
    for each in psutil.Process(pid).children():
        with contextlib.suppress(psutil.Error):  # it has ended
            if "workbench.workers.worker" in each.cmdline():
                found.append(each.pid)
    return found


def wait_for(condition: object, seconds: float = 600.0) -> None:
    assert callable(condition)
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not come to pass"
        time.sleep(0.05)


def test_processes_and_this_process_give_the_same_study_and_the_fits_alone(
    tmp_path: Path,
) -> None:
    plan = small_plan(losses=("mae",), regimes=("all", "low"))
    told: list[StudyStatus] = []
    many = run(plan, tmp_path / "many.db", workers=2, task=Task(told.append))
    one = run(plan, tmp_path / "one.db", workers=1)
    frames = [result.to_frame().drop(columns="seconds") for result in (many, one)]
    assert frames[0].equals(frames[1])
    assert set(frames[0]["status"]) == {"done"}
    assert told[-1].finished
    assert told[-1].counts["done"] == len(plan.cells()) == 4
    assert (told[-1].trials, told[-1].total) == (48, 48)

    cell = many.one(machine=MACHINES[1], loss="mae", regime="low")
    with FitStudy(cell.measured(), "logp", loss="mae", engine="tpe") as study:
        alone = study.run(plan.trials)
    assert (cell.values, cell.rmspe, cell.best_loss) == (alone.values, alone.rmspe, alone.best_loss)
    assert cell.convergence[1].tolist() == sorted(set(alone.convergence), reverse=True)
    assert cell.simulated().latency_s.tolist() == alone.simulated.latency_s.tolist()  # type: ignore[union-attr]
    assert cell.measured().sizes.max() == 512


def test_a_study_that_is_done_is_only_read(tmp_path: Path) -> None:
    plan = small_plan()
    first = run(plan, tmp_path / "s.db", workers=1)
    before = (tmp_path / "s.db").read_bytes()
    # no process would even start
    assert run(plan, tmp_path / "s.db", workers=64) == first
    assert (tmp_path / "s.db").read_bytes() == before
    assert StudyResult.read(plan, tmp_path / "s.db") == first
    longer = run(plan.replace(trials=15), tmp_path / "s.db", workers=1)
    assert set(longer.to_frame()["trials"]) == {15}


def test_stop_ends_a_run_at_once_and_it_goes_on_as_if_never_stopped(tmp_path: Path) -> None:
    plan = small_plan(losses=("rmsre",), trials=ENDLESS)
    path = tmp_path / "s.db"
    job = tasks.submit(run, plan, path, workers=2)
    wait_for(lambda: job.progress.done >= 5)
    partial = job.partial
    assert isinstance(partial, StudyResult)
    assert partial.trials > 0
    assert "running" in {cell.status for cell in partial}
    job.stop()
    result = job.result(timeout=60)  # the trials that are left would take hours
    assert job.state == "stopped"
    assert {cell.status for cell in result} <= {"stopped", "waiting"}
    assert status(plan, path).counts["running"] == 0

    trials = max(cell.trials for cell in result) + 3
    resumed = run(plan.replace(trials=trials), path, workers=1)
    whole = run(plan.replace(trials=trials), tmp_path / "whole.db", workers=1)
    frames = [r.to_frame().drop(columns="seconds") for r in (resumed, whole)]
    assert frames[0].equals(frames[1])


def test_a_run_that_is_stopped_before_it_begins_is_the_study_so_far(tmp_path: Path) -> None:
    task = Task()
    task.stop()
    for workers in (1, 2):
        result = run(small_plan(), tmp_path / "s.db", workers=workers, task=task)
        assert {cell.status for cell in result} == {"waiting"}
        assert not result.cells[0].success
        with pytest.raises(ParameterError, match="has no fitted model: the cell is waiting; run"):
            result.cells[0].model()


def test_a_killed_worker_loses_its_trial_in_flight_and_another_goes_on(tmp_path: Path) -> None:
    plan = small_plan(losses=("rmsre",), machines=MACHINES[:1], trials=30)
    plan = plan.replace(targets=("both", "latency"))
    killed: list[int] = []

    def kill_once(now: StudyStatus) -> None:
        if now.trials >= 5 and not killed:
            killed.append(children(os.getpid())[0])
            os.kill(killed[0], signal.SIGKILL)

    result = run(plan, tmp_path / "s.db", workers=2, task=Task(kill_once))
    assert killed
    assert {cell.status for cell in result} == {"done"}
    names = [cell.name for cell in plan.cells()]
    run(plan, tmp_path / "whole.db", workers=1)
    assert losses(tmp_path / "s.db", names) == losses(tmp_path / "whole.db", names)
    assert children(os.getpid()) == []


def test_a_cell_that_kills_every_worker_fails_with_the_reason(tmp_path: Path) -> None:
    plan = small_plan(losses=("rmsre",), machines=MACHINES[:1], trials=ENDLESS)
    shot: set[int] = set()

    def kill_always(now: StudyStatus) -> None:
        if now.counts["running"]:
            for child in set(children(os.getpid())) - shot:
                shot.add(child)
                os.kill(child, signal.SIGKILL)

    result = run(plan, tmp_path / "s.db", workers=2, task=Task(kill_always))
    (cell,) = result.cells
    assert cell.status == "failed"
    assert cell.message == "the process was killed by signal 9"
    assert cell.trials > 0  # what it had found stays


SCRIPT = """
import sys
from tests.unit.study.plans import small_plan
from workbench.study import run
from workbench.tasks import Task
run(small_plan(losses=("rmsre",), trials=100_000), sys.argv[1], workers=2,
    task=Task(lambda now: print(now.trials, flush=True)))
"""


def test_a_killed_run_leaves_no_orphans_and_goes_on_as_if_unharmed(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    # no `if __name__` guard, as people write scripts: processes must not run it again
    with subprocess.Popen(
        [sys.executable, "-c", SCRIPT, str(path)], stdout=subprocess.PIPE, text=True, cwd=ROOT
    ) as parent:
        assert parent.stdout is not None
        for line in parent.stdout:
            if int(line) >= 5:
                workers = children(parent.pid)
                parent.kill()
                break
        parent.wait(600)
    assert len(workers) == 2
    wait_for(lambda: not any(Path(f"/proc/{pid}").exists() for pid in workers))

    endless = small_plan(losses=("rmsre",), trials=ENDLESS)
    before = status(endless, path)
    assert before.trials >= 5
    assert before.counts["running"] == 0
    plan = endless.replace(trials=max(cell.trials for cell in before.cells) + 2)
    run(plan, path, workers=1)
    run(plan, tmp_path / "whole.db", workers=1)
    names = [cell.name for cell in plan.cells()]
    assert losses(path, names) == losses(tmp_path / "whole.db", names)


def test_a_cell_that_another_runs_is_left_to_it_and_looked_at_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Every trial is reported, so that none of the few below goes by unseen.
    monkeypatch.setattr(importlib.import_module("workbench.study.run"), "_REPORT_S", 0.0)
    plan = small_plan(losses=("rmsre",))
    path = tmp_path / "s.db"
    first = plan.cells()[0]
    with FitStudy(first.measured(), "logp", loss=first.loss, engine="tpe", study=path) as elsewhere:
        elsewhere.run(3)
        now = status(plan, path)
        assert [(c.state, c.trials) for c in now.cells] == [("running", 3), ("waiting", 0)]
        result = run(plan, path, workers=2)
        assert [cell.status for cell in result] == ["running", "done"]
        assert result.cells[0].message == "run by another notebook or process"
        assert result.cells[0].trials == 3

        # it lets go while the other cell is fitted: the second look finds it free
        longer = plan.replace(trials=25)

        def let_go(now: StudyStatus) -> None:
            if now.cells[1].trials >= 12:
                elsewhere.close()

        again = run(longer, path, workers=1, task=Task(let_go))
    assert [cell.status for cell in again] == ["done", "done"]


def test_a_cell_that_cannot_be_fitted_fails_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    load = datasets.load

    def without_bandwidth(name: str) -> OSUCurve:
        curve = load(name)
        if name == MACHINES[1]:
            return curve
        nothing = curve.bandwidth_Bps * float("nan")
        return OSUCurve(name, curve.sizes, curve.latency_s, nothing, curve.provenance)

    monkeypatch.setattr(datasets, "load", without_bandwidth)
    plan = small_plan(losses=("rmsre",), targets=("bandwidth", "latency"))
    result = run(plan, tmp_path / "s.db", workers=1)
    assert [cell.status for cell in result] == ["failed", "done", "done", "done"]
    assert "needs measured bandwidth" in result.cells[0].message


def test_a_study_of_another_problem_is_not_taken_for_this_one(tmp_path: Path) -> None:
    plan = small_plan(losses=("rmsre",), machines=MACHINES[:1])
    run(plan, tmp_path / "s.db", workers=1)
    changed = plan.replace(
        models=({"label": "logp2", "model": "logp", "values": {"switch.hop_latency": "1us"}},)
    )
    with FitStudy(
        changed.cells()[0].measured(), "logp", study=tmp_path / "s.db", name=changed.cells()[0].name
    ) as study:
        study.run(3)
    for result in (
        StudyResult.read(changed, tmp_path / "s.db"),
        run(changed, tmp_path / "s.db", workers=1),
    ):
        assert result.cells[0].status == "failed"
        assert "was made for another problem" in result.cells[0].message


def test_arguments_that_cannot_be_are_refused(tmp_path: Path) -> None:
    for workers in (0, True, 1.5):
        with pytest.raises(ParameterError, match="workers must be a whole number of at least 1"):
            run(small_plan(), tmp_path / "s.db", workers=workers)  # type: ignore[arg-type]
    with pytest.raises(StudyError, match="must exist to hold"):
        run(small_plan(), tmp_path / "nowhere" / "s.db")
    with pytest.raises(ParameterError, match="with cluster= leave it out"):
        run(small_plan(), tmp_path / "s.db", workers=2, cluster=object())
    with pytest.raises(
        ParameterError, match=r"cluster must be a dask\.distributed\.Client; got obj"
    ):
        run(small_plan(), tmp_path / "s.db", cluster=object())
    assert status(small_plan(), tmp_path / "never.db").counts["waiting"] == 4
    assert not (tmp_path / "never.db").exists()
