"""Fits with a simulator that takes microseconds: repeatable, resumable, never without an answer."""

from __future__ import annotations

import contextlib
import dataclasses
import math
import threading
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.cases import for_each
from workbench import datasets, tasks
from workbench.errors import ParameterError, StudyError
from workbench.fit import LOSSES, FitStudy, SearchSpace, TrialReport, first_guess, fit
from workbench.fit.store import StoredProgress, StudyFile, read_progress
from workbench.measure import OSUCurve
from workbench.models import SNAPPR
from workbench.provenance import Provenance
from workbench.tasks import Task

pytestmark = pytest.mark.usefixtures("toy")

TRIALS = 60


def test_a_fit_finds_a_better_model_than_it_began_with(machine: OSUCurve) -> None:
    result = fit(machine, "snappr", trials=150)
    assert result.success
    assert result.trials == 150
    assert result.losses[0] > 2 * result.best_loss
    assert result.best_loss == result.losses.min() == result.convergence[-1]
    assert result.rmspe["joint"] == pytest.approx(100 * result.best_loss, rel=1e-12)
    assert 0 < result.invalid < 150
    assert result.message == "150 trials"


def test_the_first_trials_are_the_model_and_what_the_curve_suggests(machine: OSUCurve) -> None:
    seen: list[TrialReport] = []
    model = SNAPPR().with_values({"node.nic.injection.latency": 321e-9})
    fit(machine, model, trials=3, task=Task(seen.append))
    assert seen[0].values["node.nic.injection.latency"] == 321e-9
    assert seen[0].values["node.nic.mtu"] == 4096
    assert seen[1].values["node.nic.injection.latency"] == pytest.approx(
        machine.latency_s[0] / 2, rel=1e-12
    )
    assert seen[1].values["switch.link.bandwidth"] == machine.bandwidth_Bps.max()


def test_a_first_guess_leaves_what_the_curve_says_nothing_about(machine: OSUCurve) -> None:
    own = SNAPPR()
    guess = first_guess(machine, own)
    assert guess.get("node.nic.injection.latency") != own.get("node.nic.injection.latency")
    for key in ("node.nic.mtu", "node.nic.credits", "switch.credits"):
        assert guess.get(key) == own.get(key), key


def test_the_same_seed_gives_the_same_fit_and_another_another(machine: OSUCurve) -> None:
    first, second, other = (
        fit(machine, "snappr", engine="tpe", trials=TRIALS, seed=seed) for seed in (3, 3, 4)
    )
    assert first.losses.tolist() == second.losses.tolist()
    assert first.model == second.model
    assert other.losses.tolist() != first.losses.tolist()


@for_each("loss", list(LOSSES))
@for_each("target", ["both", "latency", "bandwidth"])
def test_every_loss_and_target_reports_every_rmspe(
    machine: OSUCurve, loss: str, target: str
) -> None:
    result = fit(machine, "snappr", loss=loss, target=target, trials=12)
    assert set(result.rmspe) == {"joint", "latency", "bandwidth"}
    assert all(math.isfinite(value) for value in result.rmspe.values())
    assert result.points == {"both": 45, "latency": 22, "bandwidth": 23}[target]


def test_a_stopped_and_resumed_fit_goes_on_as_if_it_had_not_been(
    machine: OSUCurve, tmp_path: Path
) -> None:
    whole = fit(machine, "snappr", trials=TRIALS)

    def stop_at_25(report: TrialReport) -> None:
        if report.done == 25:
            task.stop()

    task, path = Task(stop_at_25), tmp_path / "fits.db"
    part = fit(machine, "snappr", trials=TRIALS, study=path, name="a", task=task)
    assert part.trials == 25
    assert part.success
    assert part.message == f"stopped after 25 of {TRIALS} trials"
    rest = fit(machine, "snappr", trials=TRIALS, study=path, name="a")
    assert rest.losses.tolist() == whole.losses.tolist()
    assert rest.model == whole.model
    assert read_progress(path, ["a"]) == {"a": StoredProgress(TRIALS, whole.best_loss)}


def test_a_study_with_enough_trials_is_only_read(machine: OSUCurve, tmp_path: Path) -> None:
    path = tmp_path / "fits.db"
    first = fit(machine, "snappr", trials=20, study=path)
    calls: list[TrialReport] = []
    again = fit(machine, "snappr", trials=10, study=path, task=Task(calls.append))
    assert calls == []
    assert again.losses.tolist() == first.losses.tolist()
    assert again.seconds == pytest.approx(first.seconds, abs=0.2)  # stored stamps are by trial


@for_each(
    "change, difference",
    [
        ({"seed": 1}, "seed was 0 and is 1"),
        ({"loss": "mae"}, "loss was Root mean square relative error and is Mean absolute error"),
        ({"target": "latency"}, "target was both and is latency"),
        ({"model": "logp"}, "model was snappr and is logp"),
        ({"model": SNAPPR(variant="repaired")}, "variant was sstmacro and is repaired"),
        ({"model": SNAPPR(mtu=512)}, "model values was"),
        ({"space": SearchSpace.for_model(SNAPPR()).fix("node.nic.mtu")}, "space was"),
    ],
)
def test_a_study_of_another_problem_is_refused(
    machine: OSUCurve, tmp_path: Path, change: dict[str, object], difference: str
) -> None:
    path = tmp_path / "fits.db"
    fit(machine, "snappr", trials=3, study=path, name="a")
    with pytest.raises(StudyError, match=difference):
        fit(machine, **{"model": "snappr", "trials": 6, "study": path, "name": "a", **change})  # type: ignore[arg-type]


def test_another_machine_in_the_same_study_is_refused(machine: OSUCurve, tmp_path: Path) -> None:
    path = tmp_path / "fits.db"
    fit(machine, "snappr", trials=3, study=path, name="a")
    slower = OSUCurve(
        name=machine.name,
        sizes=machine.sizes,
        latency_s=machine.latency_s * 2,
        bandwidth_Bps=machine.bandwidth_Bps,
        provenance=machine.provenance,
    )
    with pytest.raises(StudyError, match="measurements was"):
        fit(slower, "snappr", trials=3, study=path, name="a")


def test_losses_of_a_simulator_that_has_changed_are_refused(
    machine: OSUCurve, tmp_path: Path
) -> None:
    path = tmp_path / "fits.db"
    fit(machine, "snappr", trials=5, study=path, name="a")
    with FitStudy(machine, "snappr", study=path, name="a") as study:
        problem = study.problem()
    with contextlib.closing(StudyFile(path, "a", problem)) as file:
        best = min(file.trials, key=lambda trial: trial.loss)
        file.append(replace(best, number=5, loss=best.loss / 2))
    with pytest.raises(StudyError, match="this release computes differently"):
        fit(machine, "snappr", trials=9, study=path, name="a")


def test_the_default_name_says_what_the_study_is(machine: OSUCurve) -> None:
    assert FitStudy(machine, "snappr").name == "toy-snappr-rmsre-both-seed0-least-squares"
    named = FitStudy(
        machine,
        SNAPPR(variant="repaired"),
        engine="tpe",
        loss="mae",
        target="latency",
        seed=2,
    )
    assert named.name == "toy-snappr-repaired-mae-latency-seed2"


def test_a_fit_in_which_nothing_can_be_simulated_is_a_result(machine: OSUCurve) -> None:
    space = (
        SearchSpace.for_model(SNAPPR())
        .with_bounds("node.nic.credits", "1KB", "2KB")
        .with_bounds("node.nic.mtu", "4KB", "8KB")
    )
    result = fit(machine, "snappr", space=space, trials=15)
    assert not result.success
    assert result.simulated is None
    assert result.invalid == 15
    assert result.best_loss == math.inf
    assert result.best_trial == -1
    assert "credits" in result.message
    assert "no valid configuration in 15 trials" in repr(result)
    assert "no configuration could be simulated" in result._repr_html_()
    assert result.percent_error()["latency"].isna().all()
    assert math.isnan(result.rmspe["joint"])


def test_a_result_is_there_before_the_first_trial(machine: OSUCurve) -> None:
    result = FitStudy(machine, "snappr").result()
    assert (result.success, result.trials) == (False, 0)
    assert result.convergence.tolist() == []


def test_results_read_from_another_thread_are_whole(machine: OSUCurve) -> None:
    running = FitStudy(machine, "snappr")
    worker = threading.Thread(target=running.run, args=(120,))
    worker.start()
    seen = []
    while worker.is_alive():
        result = running.result()
        if result.success:
            # what is shown belongs together: the model's loss is the least of those listed
            again = LOSSES["rmsre"](
                np.concatenate([result.simulated.latency_us, result.simulated.bandwidth_MBps]),
                np.concatenate([machine.latency_us, machine.bandwidth_MBps]),
            )
            assert again == result.losses.min()
            seen.append(result.best_loss)
    worker.join()
    assert seen == sorted(seen, reverse=True)
    assert running.result().trials == 120


def test_one_study_is_run_by_one_thread_at_a_time(machine: OSUCurve) -> None:
    running = FitStudy(machine, "snappr")
    refused: list[str] = []

    def again(report: TrialReport) -> None:
        with pytest.raises(StudyError, match="is running already") as caught:
            running.run(5)
        refused.append(str(caught.value))

    running.run(2, task=Task(again))
    assert len(refused) == 2
    assert running.run(4).trials == 4


def test_a_fit_as_a_job_reports_stops_and_keeps_its_result(machine: OSUCurve) -> None:
    job = tasks.submit(fit, machine, "snappr", trials=100_000)
    while job.progress.done < 20 and not job.finished:
        pass
    assert job.partial.trials > 0
    job.stop()
    result = job.result(10.0)
    assert job.state == "stopped"
    assert 20 <= result.trials == job.progress.done < 100_000
    assert job.progress.message.startswith("best loss")


@for_each(
    "wrong, message",
    [
        ({"model": "omnet"}, "snappr, logp, pisces"),
        ({"loss": "mape"}, "rmsre, rmspe, mae"),
        ({"target": "all"}, "both, latency, bandwidth"),
        ({"seed": -1}, "seed must be a whole number of at least 0; got -1"),
        ({"trials": 0}, "trials must be a whole number of at least 1; got 0"),
        ({"trials": 1.5}, "got 1.5"),
        ({"trials": True}, "got True"),
    ],
)
def test_arguments_that_are_wrong_say_what_is_right(
    machine: OSUCurve, wrong: dict[str, object], message: str
) -> None:
    with pytest.raises(ParameterError, match=message):
        fit(machine, **{"trials": 1, **wrong})  # type: ignore[arg-type]


def test_a_target_that_was_not_measured_is_refused() -> None:
    curve = OSUCurve(
        name="half",
        sizes=np.array([1, 2]),
        latency_s=np.array([1e-6, 1e-6]),
        bandwidth_Bps=np.array([np.nan, np.nan]),
        provenance=Provenance(origin="synthetic", title="latency only"),
    )
    with pytest.raises(ParameterError, match="needs measured bandwidth; half has none"):
        fit(curve, "snappr", trials=1)
    result = fit(curve, "snappr", target="latency", trials=5)
    assert result.points == 2
    assert math.isnan(result.rmspe["bandwidth"])
    assert "bandwidth" not in repr(result).split("RMSPE")[1].split(")")[0]


def test_a_fixed_value_the_model_refuses_is_refused_at_once(machine: OSUCurve) -> None:
    space = SearchSpace.for_model(SNAPPR())
    with pytest.raises(ParameterError):
        space.fix("node.nic.mtu", -1)
    held = fit(machine, "snappr", space=space.fix("node.nic.mtu", 512), trials=4)
    assert held.model.get("node.nic.mtu") == 512
    assert "node.nic.mtu" not in held.values


def test_a_fit_to_one_benchmark_never_sees_the_other() -> None:
    curve = datasets.load("azure-hb96v3-hdr")
    other = dataclasses.replace(curve, bandwidth_Bps=curve.bandwidth_Bps / 7, bandwidth_spread=None)
    fits = [fit(c, "logp", target="latency", trials=15) for c in (curve, other)]
    assert fits[0].values == fits[1].values
