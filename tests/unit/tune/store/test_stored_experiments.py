"""Experiments in a database: killed, taken up, shared, looked at."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.cases import for_each
from tests.unit.tune.tuned import COMPONENT, SPACE, bowl, noisy
from workbench.errors import ParameterError, StudyError
from workbench.fit.store import StudyFile
from workbench.tasks import Task
from workbench.tune import Grid, TuningSpace, environment, read_components, search
from workbench.tune.experiment import Experiment, resume, tune
from workbench.tune.history import History
from workbench.tune.result import TuningResult
from workbench.tune.runners import Function
from workbench.tune.store.stored_experiments import find_experiment, load_result, stored_experiments

# A program that is run by the hundred leaves pipes to the garbage collector when it is killed.
OTHER = """\
import sys
from tests.unit.tune.tuned import bowl
from workbench.tasks import Task
from workbench.tune.experiment import Experiment
where, budget, nap_s, options = sys.argv[1], int(sys.argv[2]), float(sys.argv[3]), sys.argv[4]
with Experiment(bowl(nap_s), store=where, budget=budget, **eval(options)) as experiment:
    def report(word):
        print(word, flush=True)
        sys.stdin.readline()
    report("ready")
    experiment.run(task=Task(lambda record: report(record.number)))
print("done", flush=True)
"""


def other(where: str | Path, budget: int, nap_s: float, **options: Any) -> subprocess.Popen[str]:
    """Start a process that waits, with an open experiment and after each run, for a line."""
    words = [sys.executable, "-c", OTHER, str(where), str(budget), str(nap_s), repr(options)]
    return subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def go(process: subprocess.Popen[str], after: str = "ready") -> None:
    """Let a process go on when it has said so."""
    assert process.stdout is not None
    assert process.stdout.readline() == f"{after}\n"
    assert process.stdin is not None
    process.stdin.write("\n")
    process.stdin.flush()


def close(process: subprocess.Popen[str]) -> None:
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.close()
    process.stdout.close()
    process.wait()


def runs(result: TuningResult) -> list[Any]:
    return [record.run for record in result.records]


def without_clock(result: TuningResult) -> list[Any]:
    return [(r.number, *(getattr(r.run, name) for name in NOT_TIMED)) for r in result.records]


NOT_TIMED = ("configuration", "value", "status", "initial", "resampled", "repeat")


def test_a_store_changes_nothing_of_what_is_found(tmp_path: Path) -> None:
    options: dict[str, Any] = {"heuristic": "annealing", "resampling": "improved", "budget": 30}
    kept = tune(SPACE, Function(noisy), store=tmp_path / "t.db", **options)
    assert runs(kept) == runs(tune(SPACE, Function(noisy), **options))
    found = load_result(tmp_path / "t.db")
    assert runs(found) == runs(kept)
    assert found.records == kept.records
    assert found.stop_reason == kept.stop_reason == "the budget of 30 runs is spent"
    assert found.best == kept.best


def test_an_experiment_that_was_killed_goes_on_as_if_it_never_was(tmp_path: Path) -> None:
    where = tmp_path / "t.db"
    options: dict[str, Any] = {
        "heuristic": "annealing",
        "resampling": ("static", {"runs": 2}),
        "seed": 5,
    }
    process = other(where, 200, 0.02, **options)
    for after in ("ready", *map(str, range(8))):
        go(process, after)
    os.kill(process.pid, signal.SIGKILL)
    close(process)
    (killed,) = stored_experiments(where)
    assert killed.state == "stopped"
    # One run was in flight or has just ended; it is neither lost for ever nor there twice.
    assert 8 <= killed.runs <= 9
    with Experiment(bowl(0.02), store=where, budget=18, **options) as experiment:
        assert experiment.done == killed.runs
        result = experiment.run()
    straight = tune(bowl(0.02), budget=18, **options)
    assert without_clock(result) == without_clock(straight)
    assert len(result.sessions) == 2
    assert result.sessions[0]["host"]
    with resume(where, component=bowl(0.02), budget=20) as again:
        assert len(again.run()) == 20


def test_two_processes_share_an_experiment(tmp_path: Path) -> None:
    where = tmp_path / "t.db"
    options: dict[str, Any] = {"heuristic": "genetic", "resampling": "static", "initial": 6}
    pair = [other(where, 18, 0.03, **options) for _ in range(2)]
    for process in pair:
        go(process)
    for process in pair:
        assert process.stdout is not None and process.stdin is not None
        assert process.stdout.readline().strip().isdigit()  # each has made a run
    for process in pair:
        process.stdin.close()
    for process in pair:
        assert process.stdout.read().endswith("done\n")
        close(process)
    result = load_result(where)
    assert sorted(record.number for record in result.records) == list(range(18))
    assert sorted(r.number for r in result.records if r.run.initial) == list(range(6))
    assert len({record.worker for record in result.records}) == 2
    assert len(result.sessions) == 2
    assert result.stop_reason == "the budget of 18 runs is spent"


def test_repeats_are_counted_over_all_processes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    where = tmp_path / "t.db"
    space = TuningSpace({"n": Grid.of([1, 2])})
    # What two processes store that run one configuration at once: neither knows of the other's.
    monkeypatch.setattr(History, "runs_of", lambda self, configuration: ())
    tune(space, Function(lambda c: c["n"]), store=where, heuristic="random", budget=6)
    monkeypatch.undo()
    found = load_result(where)
    assert max(record.run.repeat for record in found.records) >= 2
    assert [record.run for record in found.records] == list(found.history)


def test_runs_of_a_process_that_died_are_restarted_by_the_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    where = tmp_path / "t.db"
    monkeypatch.setenv("PAUSE_S", "30")
    process = other(where, 30, 0.0, heuristic="random", initial=3)
    monkeypatch.undo()
    go(process)
    while stored_experiments(where)[0].running == 0:
        time.sleep(0.02)
    assert stored_experiments(where)[0].state == "running"
    assert len(load_result(where).pending) == 1
    with pytest.raises(StudyError, match="space was"):
        Experiment(bowl(), store=where, heuristic="random", initial=3, axes={"A": [1, 2], "B": [1]})
    os.kill(process.pid, signal.SIGKILL)
    close(process)
    with Experiment(bowl(), store=where, heuristic="random", initial=3, budget=5) as experiment:
        result = experiment.run()
    assert [record.number for record in result.records] == [0, 1, 2, 3, 4]
    assert load_result(where).pending == ()
    # The one under which processes choose stays; that of the dead one is gone.
    assert len(list(tmp_path.glob(".*.lock"))) == 1


def test_another_experiment_of_that_name_is_refused(tmp_path: Path) -> None:
    where = tmp_path / "t.db"
    tune(SPACE, Function(noisy), store=where, name="one", heuristic="random", budget=3)
    with pytest.raises(StudyError, match="problem: seed was 0 and is 1; choose another name"):
        tune(SPACE, Function(noisy), store=where, name="one", heuristic="random", seed=1)
    StudyFile(where, "fit", {}).close()
    with pytest.raises(StudyError, match="it was of kind fit and is of kind experiment"):
        tune(SPACE, Function(noisy), store=where, name="fit", heuristic="random", budget=3)
    assert [one.name for one in stored_experiments(where)] == ["one"]
    with pytest.raises(StudyError, match="must hold the experiment 'two'; it holds one"):
        find_experiment(where, "two")
    assert stored_experiments(tmp_path / "none.db") == ()


def test_a_stored_experiment_is_made_again_from_its_store(tmp_path: Path) -> None:
    where = tmp_path / "t.db"
    tune("sort", store=where, heuristic="random", budget=3, initial=2, seed=9, stopping=None)
    with resume(where) as experiment:
        assert experiment.component is not None
        assert experiment.component.name == "sort"
        assert experiment.settings.seed == 9
        assert experiment.settings.budget == 3
        assert len(experiment.run(4)) == 4
    where = tmp_path / "function.db"
    tune(SPACE, Function(noisy), store=where, heuristic="random", budget=3)
    with pytest.raises(ParameterError, match="pass it again"):
        resume(where)
    with resume(where, runner=Function(noisy), budget=5) as experiment:
        assert len(experiment.run()) == 5


@for_each(
    "old, new, says",
    [
        ("A-3", "A-4", "command was .* and is"),
        ("B: {type: int, default: 5", "B: {type: int, suffix: k, default: 5", "parameter B was"),
        ("NAP: {type: float, default: 0", "NAP: {type: float, default: 1", "parameter NAP was"),
        ("NAP: {type: float, default: 0", "NAP: {type: float, optional: true", "parameter NAP was"),
    ],
)
def test_runs_of_another_program_are_not_added_to_an_experiment(
    tmp_path: Path, old: str, new: str, says: str
) -> None:
    where, file = tmp_path / "t.db", tmp_path / "bowl.yaml"
    file.write_text(COMPONENT)
    with Experiment(read_components(file)["bowl"], store=where, heuristic="random"):
        pass
    with resume(where) as experiment:
        assert experiment.name == "bowl-random-seed0"
    assert old in COMPONENT
    file.write_text(COMPONENT.replace(old, new))
    with pytest.raises(StudyError, match=says):
        resume(where)


def experiment(where: Path, budget: int) -> Experiment:
    return Experiment(
        SPACE, Function(noisy), store=where, name="one", heuristic="random", budget=budget
    )


def test_what_one_process_writes_the_other_reads_and_what_was_given_back_neither(
    tmp_path: Path,
) -> None:
    where = tmp_path / "t.db"
    task = Task(lambda record: task.stop() if record.number == 6 else None)
    with experiment(where, 12) as first, experiment(where, 12) as second:
        first.run(4)
        # A run that is under way when the search is stopped is forgotten.
        second.run(task=task)
        assert second.done == 7
        assert len(first.run(9)) == 9
        result = second.run()
    assert [record.number for record in result.records] == list(range(12))
    assert len({record.worker for record in result.records}) == 2
    assert load_result(where).records == result.records


def test_the_order_of_runs_and_sessions_is_no_matter_of_clocks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    where, clock = tmp_path / "t.db", iter(range(1000))

    class Backwards(datetime):
        @classmethod
        def now(cls, tz: Any = None) -> datetime:
            return datetime.now(tz) - timedelta(hours=next(clock))

    monkeypatch.setattr(search, "datetime", Backwards)
    monkeypatch.setattr(environment, "datetime", Backwards)
    for budget in (4, 7):
        with experiment(where, budget) as one:
            result = one.run()
    ended = [record.ended for record in result.records]
    assert ended == sorted(ended, reverse=True)
    assert [record.number for record in result.records] == list(range(7))
    found = load_result(where)
    assert found.records == result.records
    assert [session["budget"] for session in found.sessions] == [4, 7]


def test_an_experiment_on_a_server_is_that_in_a_file(address: str, tmp_path: Path) -> None:
    options: dict[str, Any] = {"heuristic": "genetic", "resampling": "improved", "budget": 16}
    whole = tune(SPACE, Function(noisy), store=tmp_path / "t.db", **options)
    tune(SPACE, Function(noisy), store=address, **{**options, "budget": 9})
    with resume(address, runner=Function(noisy), budget=16) as experiment:
        assert experiment.done == 9
        result = experiment.run()
    assert runs(result) == runs(whole)
    (stored,) = stored_experiments(address)
    assert (stored.runs, stored.state) == (16, "finished")
