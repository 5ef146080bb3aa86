"""What becomes of runs when Slurm, a node, the network or this process fails."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.unit.tune.runners.fake_slurm import FakeSlurm
from tests.unit.tune.runners.waiting import wait
from tests.unit.tune.tuned import bowl
from workbench.tasks import Task
from workbench.tune import Invocation, search
from workbench.tune.experiment import Experiment
from workbench.tune.runners import (
    RunHandle,
    RunnerError,
    RunRequest,
    Slurm,
    slurm,
    slurm_files,
    slurm_queue,
    slurm_submission,
)
from workbench.tune.store.stored_experiments import load_result, stored_experiments

OPTIONS: dict[str, Any] = {"heuristic": "random", "initial": 2, "budget": 3}


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeSlurm:
    """A Slurm that does what a test says, and is asked again at once when it was silent."""
    for module in (slurm, slurm_queue, slurm_submission):
        monkeypatch.setattr(module, "AGAIN_S", 0.0)
    return FakeSlurm(tmp_path / "fake", monkeypatch)


@pytest.fixture
def runner(tmp_path: Path, fake: FakeSlurm) -> Slurm:
    return Slurm(tmp_path / "runs", poll_s=0.0)


def start(runner: Slurm, limit_s: float | None = None) -> RunHandle:
    return runner.start(RunRequest({}, Invocation(("true",)), timeout_s=limit_s))


def folder(runner: Slurm) -> Path:
    (found,) = runner.folder.iterdir()
    return found


def begin(runner: Slurm, clock_s: float) -> None:
    (folder(runner) / "began").write_text(f"{clock_s}\n")


def end(runner: Slurm, clock_s: float, status: int = 0) -> None:
    (folder(runner) / "ended").write_text(f"{clock_s} {status}\n")


def test_jobs_of_a_process_that_died_before_it_knew_their_numbers_are_cancelled(
    tmp_path: Path, fake: FakeSlurm, monkeypatch: pytest.MonkeyPatch
) -> None:
    where, runs = tmp_path / "t.db", tmp_path / "runs"
    with (
        monkeypatch.context() as patch,
        Experiment(bowl(), Slurm(runs), store=where, jobs=2, **OPTIONS) as experiment,
    ):
        # As a kill does: nothing is noted, nothing ended, and the locks go.
        patch.setattr(search.Search, "_note_job", lambda self, flight: 1 / 0)
        patch.setattr(search.Search, "_release_all", lambda self: None)
        with pytest.raises(ZeroDivisionError):
            experiment.run()
    assert fake.states == {"1_0": "PENDING", "1_1": "PENDING"}
    assert stored_experiments(where)[0].state == "stopped"
    other = f"bowl {runs}/bowl-random-seed0-0-0123456789ab-01234567"
    fake.stand("70", "RUNNING", other)
    fake.switch("runs")
    with Experiment(bowl(), Slurm(runs), store=where, **OPTIONS) as experiment:
        assert len(experiment.run()) == 3
    states = fake.states
    assert (states["1_0"], states["1_1"], states["70"]) == ("CANCELLED", "CANCELLED", "RUNNING")
    assert load_result(where).counts["complete"] == 3
    assert list(runs.iterdir()) == []


def test_without_an_owner_only_noted_jobs_are_cancelled(
    tmp_path: Path, runner: Slurm, fake: FakeSlurm
) -> None:
    for number in ("70", "71"):
        fake.stand(number, "RUNNING", f"mine {tmp_path}/runs/my--tool-{number}")
    (runner.folder / "my--tool-71").mkdir(parents=True)
    runner.cancel_orphans("", {"70"})
    assert fake.states == {"70": "CANCELLED", "71": "RUNNING"}
    assert (runner.folder / "my--tool-71").is_dir()


def test_a_job_that_sbatch_did_not_hear_of_is_found_and_not_submitted_twice(
    runner: Slurm, fake: FakeSlurm
) -> None:
    fake.switch("deaf")
    handle = start(runner)
    assert handle.job_id == ""
    assert runner.waits_for == "Slurm does not answer"
    assert handle.poll() is None
    assert handle.job_id == "1"
    assert fake.states == {"1": "PENDING"}
    assert handle.poll() is None
    assert runner.waits_for == ""


def test_a_controller_that_is_away_is_waited_for(
    runner: Slurm, fake: FakeSlurm, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake.switch("away")
    handle = start(runner)
    assert handle.poll() is None
    fake.switch("away", False)
    assert handle.poll() is None
    assert handle.job_id == "1"
    fake.switch("away")
    assert handle.poll() is None
    # The program's own clock is on the disk, whoever answers.
    begin(runner, 10.0)
    end(runner, 12.5)
    output = wait(handle)
    assert (output.state, output.seconds) == ("completed", 2.5)
    monkeypatch.setattr(slurm_queue, "PATIENCE_S", 0.0)
    with pytest.raises(RunnerError, match="Unable to contact"):
        wait(start(runner))


def test_a_run_begins_anew_where_its_job_is_put_back_into_the_queue(
    runner: Slurm, fake: FakeSlurm, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = [0.0]
    monkeypatch.setattr(slurm_files, "time", SimpleNamespace(monotonic=lambda: clock[0]))
    handle = start(runner, limit_s=0.3)
    assert " --requeue " in fake.log
    begin(runner, 10.0)
    fake.stand("1", "RUNNING")
    assert handle.poll() is None
    # The node is taken away: the program is killed and its script may still say so.
    fake.stand("1", "PENDING")
    assert handle.poll() is None
    end(runner, 11.0, 143)
    clock[0] = 9.0
    assert handle.poll() is None
    (folder(runner) / "ended").unlink()
    assert handle.poll() is None
    assert fake.states == {"1": "PENDING"}
    begin(runner, 20.0)
    fake.stand("1", "RUNNING")
    assert handle.poll() is None
    end(runner, 24.0)
    output = wait(handle)
    assert (output.state, output.seconds) == ("completed", 4.0)


def test_a_run_at_its_limit_is_cancelled_until_slurm_has_heard(
    runner: Slurm, fake: FakeSlurm
) -> None:
    handle = start(runner, limit_s=0.0)
    begin(runner, 10.0)
    fake.stand("1", "RUNNING")
    fake.switch("away")
    assert handle.poll() is None
    fake.switch("away", False)
    assert wait(handle).state == "timeout"
    assert fake.states == {"1": "CANCELLED"}


def test_files_of_another_machine_may_be_late_but_not_for_ever(
    runner: Slurm, fake: FakeSlurm, monkeypatch: pytest.MonkeyPatch
) -> None:
    handle = start(runner)
    fake.stand("1", "COMPLETED")
    assert handle.poll() is None
    # Half of the news is none: a run of 0 s would be the best of all.
    end(runner, 12.0)
    assert handle.poll() is None
    begin(runner, 10.0)
    assert wait(handle).seconds == 2.0
    monkeypatch.setattr(slurm, "LATE_S", 0.0)
    handle = start(runner)
    fake.stand("2", "COMPLETED")
    output = wait(handle)
    assert output.state == "failed"
    assert "no file arrived in" in output.reason


@pytest.mark.parametrize(
    ("state", "outcome", "reason"),
    [
        ("FAILED", "failed", "Slurm: FAILED"),
        ("NODE_FAIL", "failed", "Slurm: NODE_FAIL"),
        ("TIMEOUT", "failed", "Slurm: TIMEOUT"),
        ("CANCELLED", "cancelled", "Slurm: CANCELLED"),
    ],
)
def test_what_slurm_says_of_a_job_without_an_end_is_reported(
    runner: Slurm, fake: FakeSlurm, state: str, outcome: str, reason: str
) -> None:
    handle = start(runner, limit_s=60.0)
    fake.stand("1", state)
    output = wait(handle)
    assert (output.state, output.reason) == (outcome, reason)


def test_a_task_that_slurm_has_forgotten_keeps_no_array_waiting(
    runner: Slurm, fake: FakeSlurm, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(slurm, "LATE_S", 0.0)
    first, second = runner.start_many([RunRequest({}, Invocation(("true",)))] * 2)
    (folder(runner) / "1" / "slurm.out").write_text("of the second")
    fake.purge("1_0")
    output = wait(first)
    assert (output.state, output.reason) == ("failed", "Slurm: the job is not known any more")
    assert output.stderr == ""
    assert second.poll() is None
    fake.stand("1_1", "FAILED")
    assert wait(second).stderr == "of the second"


def test_an_array_that_a_user_cancels_while_it_waits_is_one_job(
    runner: Slurm, fake: FakeSlurm
) -> None:
    handles = runner.start_many([RunRequest({}, Invocation(("true",)))] * 2)
    for task in ("1_0", "1_1"):
        fake.purge(task)
    fake.stand("1", "CANCELLED", "as Slurm tells it")
    assert [wait(handle).state for handle in handles] == ["cancelled"] * 2


def test_a_job_that_could_not_be_cancelled_is_when_the_experiment_goes_on(
    tmp_path: Path, runner: Slurm, fake: FakeSlurm, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search, "_GRACE_S", 0.1)
    where, task = tmp_path / "t.db", Task()

    def leave() -> None:
        while not fake.states:
            time.sleep(0.01)
        fake.switch("away")
        task.stop()

    with Experiment(bowl(), runner, store=where, **OPTIONS) as experiment:
        thread = threading.Thread(target=leave)
        thread.start()
        assert len(experiment.run(task=task)) == 0
        thread.join()
        # Nobody knows whether it runs: it is not given back.
        assert stored_experiments(where)[0].running == 1
        fake.switch("away", False)
        fake.switch("runs")
        assert experiment.run().counts["complete"] == 3
    assert fake.states["1"] == "CANCELLED"


def test_what_is_refused_leaves_nothing(runner: Slurm, fake: FakeSlurm) -> None:
    (fake.folder / "sbatch").write_text(
        "#!/bin/sh\necho 'sbatch: error: no such partition' >&2; exit 1"
    )
    with pytest.raises(
        RunnerError, match="sbatch must accept the job; it printed: no such partition"
    ):
        start(runner)
    assert list(runner.folder.iterdir()) == []
