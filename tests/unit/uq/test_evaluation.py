"""Designs that are evaluated: in processes and threads, stopped, killed, failed and resumed."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from bokeh.models import LayoutDOM
from numpy.typing import NDArray

from tests.unit import commands
from tests.unit.uq.simulators import NETWORK, allgather
from workbench import tasks
from workbench.cli import main
from workbench.errors import DatasetError, ParameterError, ParseError, StudyError
from workbench.storage.database import locate
from workbench.tasks import Progress, Task
from workbench.uq import (
    DesignPlan,
    Replicas,
    SimulatorRuns,
    calibrate,
    evaluate_design,
    read_design,
)
from workbench.workers import rows

FloatArray = NDArray[np.float64]

ROOT = Path(__file__).parents[3]
TESTS = [f"test {n}" for n in range(6)]
PLAN = DesignPlan("ring", NETWORK, 100, holdout=20, rows_at_once=16)
ROUNDS = DesignPlan(
    "rounds",
    points=1000,
    model="rounds",
    settings={"collective": "gather", "algorithm": "binomial", "nodes": [64], "block_bytes": [8]},
    holdout=10,
)


def same(one: SimulatorRuns, other: SimulatorRuns) -> bool:
    """Return whether two results have the same runs, to the last bit."""
    return one.to_frame().equals(other.to_frame()) and one.all_failed == other.all_failed


def test_rows_are_those_of_the_function_however_they_are_evaluated(tmp_path: Path) -> None:
    told: list[Progress] = []
    whole = evaluate_design(
        PLAN, tmp_path / "1.db", model=allgather, tests=TESTS, workers=1, task=Task(told.append)
    )
    assert np.array_equal(whole.points, PLAN.design)
    assert np.array_equal(whole.times, allgather(PLAN.design))
    assert whole.holdout is not None
    assert np.array_equal(whole.holdout.times, allgather(PLAN.holdout_design))
    assert (whole.pending, whole.all_failed, whole.provenance.origin) == (0, (), "simulated")
    assert (told[-1].done, told[-1].total) == (120, 120)
    assert told[0].message == "0 of 120 rows"
    assert told[-1].message == "120 of 120 rows"
    threads = evaluate_design(
        PLAN.replace(rows_at_once=7), tmp_path / "2.db", model=allgather, tests=TESTS, workers=4
    )
    assert same(threads, whole)
    assert same(read_design(PLAN, tmp_path / "1.db", tests=TESTS), whole)
    assert whole.holdout_error(whole.surrogate()).maximum.max() < 0.01


def test_rows_that_are_there_are_only_read(tmp_path: Path) -> None:
    calls: list[int] = []

    def counted(points: FloatArray) -> FloatArray:
        calls.append(len(points))
        return allgather(points)

    def evaluate(plan: DesignPlan) -> SimulatorRuns:
        return evaluate_design(plan, tmp_path / "d.db", model=counted, tests=TESTS, workers=1)

    evaluate(PLAN)
    assert calls == [16] * 7 + [8]
    evaluate(PLAN)
    assert len(calls) == 8
    # The hold-out of the shorter design begins the rest of the longer one.
    longer = evaluate(PLAN.replace(points=128))
    assert sum(calls) == 148
    assert np.array_equal(longer.times, allgather(longer.points))
    with pytest.raises(StudyError, match=r"for another problem: .*seed was 0 and is 1"):
        evaluate(PLAN.replace(seed=1))


def test_rows_of_a_release_with_other_digits_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = ROUNDS.replace(points=20, holdout=0)
    evaluate_design(plan, tmp_path / "d.db", workers=1)
    times = DesignPlan.times
    monkeypatch.setattr(DesignPlan, "times", lambda self, x: times(self, x) * (1 + 2e-16))
    evaluate_design(plan, tmp_path / "d.db", workers=1)  # it is only read
    with pytest.raises(StudyError, match=r"this release computes differently \(run 0: "):
        evaluate_design(plan.replace(points=24), tmp_path / "d.db", workers=1)


def fragile(points: FloatArray) -> FloatArray:
    """Fail beyond a bandwidth, and give no time beyond another."""
    if (points[:, 0] > 8.5e9).any():
        raise ZeroDivisionError("no room\nleft")
    times = allgather(points)
    times[points[:, 1] < 2.2e9, 3] = np.nan
    return times


def test_a_row_that_fails_is_named_and_the_others_are_kept(tmp_path: Path) -> None:
    def evaluate(model: object, *, retry_failed: bool = False) -> SimulatorRuns:
        return evaluate_design(
            PLAN,
            tmp_path / "d.db",
            model=model,  # type: ignore[arg-type]
            tests=TESTS,
            workers=1,
            retry_failed=retry_failed,
        )

    runs = evaluate(fragile)
    raised = PLAN.rows[:, 0] > 8.5e9
    lost = raised | (PLAN.rows[:, 1] < 2.2e9)
    assert len(runs.all_failed) == lost.sum() > raised.sum() > 2
    assert np.array_equal(runs.numbers, np.flatnonzero(~lost[:100]))
    assert np.array_equal(runs.times, allgather(PLAN.design)[~lost[:100]])
    first = int(np.flatnonzero(raised)[0])
    text = next(one for one in runs.failed if one.startswith(f"run {first} "))
    assert text.endswith("): ZeroDivisionError: no room left")
    assert f"max bandwidth={PLAN.rows[first, 0]:g} B/s" in text
    nan = "the time of test 3 must be above 0 s and finite; got nan"
    assert sum(one.endswith(nan) for one in runs.all_failed) == (lost & ~raised).sum()
    assert f"{lost.sum()} runs failed" in repr(runs)

    again = SimulatorRuns.load(runs.save(tmp_path / "package"))
    assert same(again, runs)
    assert again.plan == PLAN
    assert evaluate(allgather).all_failed == runs.all_failed
    assert evaluate(allgather, retry_failed=True).all_failed == ()


def test_a_function_of_the_wrong_shape_fails_at_every_row(tmp_path: Path) -> None:
    plan = DesignPlan("ring", NETWORK, 3)
    runs = evaluate_design(
        plan, tmp_path / "d.db", model=lambda points: points[:, 0], tests=["a"], workers=1
    )
    assert runs.times.shape == (0, 1)
    assert len(runs.failed) == 3
    assert "must return times of shape (1, 1)" in runs.failed[0]
    assert SimulatorRuns.load(runs.save(tmp_path / "package")).failed == runs.failed


def test_a_stopped_evaluation_goes_on_where_it_was(tmp_path: Path) -> None:
    begun = threading.Event()

    def slow(points: FloatArray) -> FloatArray:
        begun.set()
        assert stop.wait(30) or len(points) < 16
        return allgather(points)

    stop = threading.Event()
    job = tasks.submit(evaluate_design, PLAN, tmp_path / "d.db", model=slow, tests=TESTS, workers=1)
    assert begun.wait(30)
    assert job.partial.pending == 120
    job.stop()
    stop.set()
    runs = job.result(30)
    assert job.state == "stopped"
    assert (runs.pending, len(runs.points)) == (104, 16)  # the call in flight is kept
    assert "104 not evaluated yet" in repr(runs)
    resumed = evaluate_design(PLAN, tmp_path / "d.db", model=allgather, tests=TESTS, workers=1)
    whole = evaluate_design(PLAN, tmp_path / "w.db", model=allgather, tests=TESTS, workers=1)
    assert same(resumed, whole)


def test_rows_that_another_evaluates_are_left_to_it(tmp_path: Path) -> None:
    path = tmp_path / "d.db"
    place = locate(path)
    place.prepare()
    told: list[Progress] = []
    with place.hold("ring 16 to 31"):
        runs = evaluate_design(
            PLAN, path, model=allgather, tests=TESTS, workers=1, task=Task(told.append)
        )
    assert runs.pending == 16
    assert (told[-1].done, told[-1].total) == (104, 120)
    assert told[-1].message.endswith(" to go, run by another notebook or process")
    assert evaluate_design(PLAN, path, model=allgather, tests=TESTS, workers=1).pending == 0


SCRIPT = """
import sys
from workbench.tasks import Task
from workbench.uq import DesignPlan, evaluate_design
evaluate_design(DesignPlan.from_yaml(sys.argv[1]), sys.argv[2], workers=2,
    task=Task(lambda now: print(now.done, flush=True)))
"""


def test_a_killed_evaluation_goes_on_to_the_same_digits(tmp_path: Path) -> None:
    path, plan = tmp_path / "d.db", tmp_path / "plan.yaml"
    ROUNDS.to_yaml(plan)
    # no `if __name__` guard, as people write scripts: processes must not run it again
    with subprocess.Popen(
        [sys.executable, "-c", SCRIPT, str(plan), str(path)],
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    ) as parent:
        assert parent.stdout is not None
        for line in parent.stdout:
            if int(line) >= 20:
                parent.kill()
                break
        parent.wait(600)
    before = read_design(ROUNDS, path)
    assert 20 <= len(before.points) < ROUNDS.points
    at_once = ROUNDS.replace(rows_at_once=ROUNDS.row_count)
    resumed = evaluate_design(at_once, path, workers=1)
    whole = evaluate_design(at_once, tmp_path / "whole.db", workers=1)
    assert resumed.pending == 0
    assert same(resumed, whole)


def test_a_piece_whose_processes_died_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def doomed(work: object, pieces: list[object], *_: object) -> None:
        for piece in pieces:
            answer = {"state": "failed", "message": "the process was killed by signal 9"}
            work.note(piece.name, answer)  # type: ignore[attr-defined]

    monkeypatch.setattr(rows, "do_pieces", doomed)
    runs = evaluate_design(
        PLAN.replace(rows_at_once=60), tmp_path / "d.db", model=allgather, tests=TESTS
    )
    assert runs.pending == 120
    assert runs.failed == (
        "runs 0 to 59: the process was killed by signal 9",
        "runs 60 to 119: the process was killed by signal 9",
    )


def test_runs_become_a_calibration_and_a_figure(tmp_path: Path) -> None:
    runs = evaluate_design(PLAN, tmp_path / "d.db", model=allgather, tests=TESTS, workers=1)
    truth = np.array([[6e9, 4e9, 1e-6, 1e-7]])
    errors = np.exp(0.02 * np.random.default_rng(0).standard_normal((6, 10)))
    columns = {"nodes": [128, 128, 256, 256, 512, 512], "bytes": [1, 8, 8, 32, 1, 32]}
    # The replicas name the tests in another order, without the last.
    order = [4, 3, 2, 1, 0]
    replicas = Replicas.of(
        list(allgather(truth)[0, order, None] * errors[order]),
        [TESTS[n] for n in order],
        {name: np.array(values)[order] for name, values in columns.items()},
    )
    problem = runs.problem(replicas, title="a ring")
    assert problem.series[0] == "512 nodes"
    assert problem.sizes.tolist() == [1, 32, 8, 8, 1]
    assert problem.surrogate_error.max() < 0.01
    assert np.abs(problem.nominal_error).max() < 0.5
    assert (problem.nominal[:, None] == runs.times[:, order].T).all(axis=0).any()
    posterior = calibrate(problem.surrogate, replicas, draws=200, burn_in=200, chains=2)
    low, high = np.quantile(posterior.parameters.reshape(-1, 4)[:, 0], [0.005, 0.995])
    assert low < 6e9 < high
    with pytest.raises(ParameterError, match="tests of the replicas must be among"):
        runs.problem(Replicas.of([[1.0]], ["other"]))
    with pytest.raises(ParameterError, match="sizes must hold one number of bytes a test"):
        runs.problem(Replicas.of([[1.0]], [TESTS[0]]))
    assert isinstance(runs.plot(), LayoutDOM)
    assert isinstance(runs.plot(TESTS[2], height=100), LayoutDOM)
    with pytest.raises(ParameterError, match="did you mean test"):
        runs.plot("test 9")
    assert "<table" in runs._repr_html_()
    assert len(json.loads(runs.to_json())["times"]) == 100


def test_arguments_that_do_not_suit_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "d.db"
    with pytest.raises(ParameterError, match="names no model, so the simulator must be given"):
        evaluate_design(PLAN, path)
    with pytest.raises(ParameterError, match="model and tests must be given together"):
        evaluate_design(PLAN, path, model=allgather)
    with pytest.raises(ParameterError, match="a plan that names rounds"):
        evaluate_design(ROUNDS, path, model=allgather, tests=TESTS)
    with pytest.raises(ParameterError, match="tests must be one label or more, each once"):
        evaluate_design(PLAN, path, model=allgather, tests=["a", "a"])
    with pytest.raises(ParameterError, match="workers must be a whole number of at least 1"):
        evaluate_design(ROUNDS, path, workers=0)
    with pytest.raises(ParameterError, match="with cluster= leave it out"):
        evaluate_design(ROUNDS, path, workers=2, cluster=object())
    assert not path.exists()
    empty = read_design(ROUNDS, path)
    assert (empty.pending, len(empty.points)) == (1010, 0)
    with pytest.raises(ParameterError, match="must have hold-out points"):
        SimulatorRuns(NETWORK, ("a",), np.ones((0, 4)), np.ones((0, 1))).holdout_error(None)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match=r"times must have the shape \(2, 1\)"):
        SimulatorRuns(NETWORK, ("a",), NETWORK.sample(2), np.ones((2, 2)))


def test_a_damaged_package_is_refused(tmp_path: Path) -> None:
    plan = DesignPlan("ring", NETWORK, 4)
    runs = evaluate_design(plan, tmp_path / "d.db", model=allgather, tests=TESTS, workers=1)
    folder = runs.save(tmp_path / "package")
    assert same(SimulatorRuns.load(folder), runs)
    table = folder / "runs.csv"
    table.write_text(table.read_text().replace("0,", "1,", 1))
    with pytest.raises(DatasetError, match=r"runs.csv must have the checksum"):
        SimulatorRuns.load(folder)
    descriptor = folder / "datapackage.json"
    descriptor.write_text(descriptor.read_text().replace('"parameters"', '"other"'))
    with pytest.raises((ParseError, DatasetError)):
        SimulatorRuns.load(folder)


def test_the_shell_evaluates_stores_and_shows(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plan = ROUNDS.replace(points=60, rows_at_once=20)
    file = tmp_path / "plan.yaml"
    plan.to_yaml(file)
    words = ("uq", "evaluate", str(file))
    shown = commands.answer(" ".join(words), capsys, "--show")
    assert (shown["pending"], shown["runs"]) == (70, 0)
    found = commands.answer(
        " ".join(words), capsys, "--workers", "1", "--save", str(tmp_path / "package")
    )
    assert (found["pending"], found["runs"], found["holdout"]) == (0, 60, 10)
    assert found["origin"] == "simulated"
    assert found["database"] == str(tmp_path / "plan.db")
    assert found["largest_error"] > 0
    runs = SimulatorRuns.load(tmp_path / "package")
    assert runs.plan == plan
    assert plan.simulator is not None
    assert np.array_equal(runs.times, plan.simulator.times(plan.design))
    assert main([*words, "--show"]) == 0
    out = capsys.readouterr().out
    assert "SimulatorRuns(60 runs of 64 nodes, 8 B, 10 to judge by)" in out
    assert "% off at the hold-out points" in out
    DesignPlan("mine", NETWORK, 4).to_yaml(file)
    assert "must name its model" in commands.refusal(capsys, *words)
