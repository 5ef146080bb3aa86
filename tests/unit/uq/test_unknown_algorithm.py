"""An unknown algorithm: probabilities of models, mixed predictions, and stopped calibrations."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from bokeh.models import ColumnDataSource
from numpy.testing import assert_allclose
from numpy.typing import NDArray
from scipy.stats import multivariate_normal

from tests.cases import for_each
from tests.unit import commands
from tests.unit.uq.ring import measured, ring
from workbench.cli import uq
from workbench.errors import ParameterError
from workbench.plotting import describe_algorithms
from workbench.tasks import Progress, Task
from workbench.uq import Replicas, calibrate, joint_log_score, log_score, predict, predict_mixture
from workbench.uq.collectives import (
    AlgorithmMixture,
    CollectiveTest,
    MeasuredCollective,
    calibrate_collective,
    calibrate_unknown,
    held_out,
    read_measured,
)
from workbench.uq.collectives.models import RoundModel, candidates_of
from workbench.uq.noise import NOISE_MODELS, places, squared_distances

FloatArray = NDArray[np.float64]
command = partial(commands.run, uq)
TRUTH = np.array([[2e-6, 3e-7, 5e-6, 8192.0, 6e9, 1.5, 0.5, 0.3, 0.05, 3e9]])
SIZES = (64, 1024, 16384, 131072)
HEAD = "system,benchmark,nodes,run,avg_us,block_bytes"


@pytest.fixture(scope="module", autouse=True)
def _few_scores(short_chains: None) -> Iterator[None]:
    """Score models by a fifth of the usual draws."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("workbench.uq.collectives.unknown_algorithm._SCORED", 300)
        yield


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Times of a binomial gather with known parameters, 2 % of model error, without a label."""
    rng = np.random.default_rng(3)
    tests = [CollectiveTest(nodes, size) for nodes in (8, 32, 128) for size in SIZES]
    rows = [HEAD]
    for test, time in zip(
        tests, RoundModel("gather", "binomial").times(TRUTH, tests)[0], strict=True
    ):
        off = 1e6 * time * np.exp(0.02 * rng.standard_normal())
        for run in range(4):
            us = off * np.exp(0.005 * rng.standard_normal())
            rows.append(f"toy,osu_gather,{test.nodes},{run},{us:.4f},{test.block_bytes}")
    path = tmp_path_factory.mktemp("measured") / "toy.csv"
    path.write_text("\n".join(rows) + "\n")
    return path


@pytest.fixture(scope="module")
def gather(file: Path) -> MeasuredCollective:
    return read_measured(file, "gather")


@pytest.fixture(scope="module")
def mixture(gather: MeasuredCollective) -> AlgorithmMixture:
    return calibrate_unknown(gather, chains=2, draws=200, burn_in=200, seed=1)


def stop_after(blocks: int, what: str = "") -> Task:
    """Return a task that is stopped after so many blocks of draws."""
    seen: list[str] = []

    def report(now: Progress) -> None:
        seen.extend([now.message] * now.message.startswith(what))
        if len(seen) >= blocks:
            task.stop()

    task = Task(report)
    return task


def test_the_algorithm_that_made_the_times_is_the_most_probable(mixture: AlgorithmMixture) -> None:
    assert mixture.models[0] == "rounds:binomial"
    assert mixture.probabilities[0] > 0.5
    # All held-out tests count as one, so that a wrong model stays possible.
    linear = mixture.probabilities[mixture.models.index("rounds:linear")]
    assert linear < mixture.probabilities[0] / 5
    assert mixture.probabilities.sum() == pytest.approx(1.0)
    assert (np.diff(mixture.log_scores) <= 0).all()
    assert [one.model for one in mixture.calibrations] == list(
        mixture.models[: len(mixture.calibrations)]
    )
    assert mixture.held_out == "32, 128 nodes"
    assert "rounds:binomial" in describe_algorithms(mixture)
    bars = next(one for one in mixture.plot().references() if isinstance(one, ColumnDataSource))
    assert_allclose(bars.data["percent"], 100 * mixture.probabilities)
    assert bars.data["model"] == list(mixture.models)


def test_a_mixture_predicts_and_is_kept(mixture: AlgorithmMixture, tmp_path: Path) -> None:
    tests = [CollectiveTest(256, 16384)]
    time = RoundModel("gather", "binomial").times(TRUTH, tests)[0]
    found = mixture.predict(tests)
    assert (found.low[1] < time).all()
    assert (time < found.high[1]).all()
    read = AlgorithmMixture.load(mixture.save(tmp_path / "mixture.json"))
    assert_allclose(read.predict(tests).median, found.median)
    assert repr(read) == repr(mixture)
    with pytest.raises(ParameterError, match="1 ranks a node"):
        mixture.predict([CollectiveTest(8, 64, 2)])


def test_a_label_adds_its_algorithm_to_the_candidates() -> None:
    usual = [one.name for one in candidates_of("allgather", "")]
    named = [one.name for one in candidates_of("allgather", "neighbor_ompi")]
    assert named == ["rounds:neighbour-exchange", *usual]


@for_each("what", ["score rounds:binomial", "calibrate"])
def test_a_stopped_mixture_goes_on_to_the_same_end(
    gather: MeasuredCollective, mixture: AlgorithmMixture, tmp_path: Path, what: str
) -> None:
    task = stop_after(1, what)
    options = {"chains": 2, "draws": 200, "burn_in": 200, "seed": 1}
    left = calibrate_unknown(gather, **options, task=task)
    assert left.stopped
    assert repr(task.partial) == repr(left)
    assert left.is_empty == (what == "score rounds:binomial")
    assert len(left.calibrations) == (what == "calibrate") * len(mixture.calibrations)
    left = AlgorithmMixture.load(left.save(tmp_path / "left.json"))
    found = calibrate_unknown(gather, **options, resume=left)
    assert not found.stopped
    assert found.models == mixture.models
    assert_allclose(found.log_scores, mixture.log_scores, rtol=0)
    for one, other in zip(found.calibrations, mixture.calibrations, strict=True):
        assert np.array_equal(one.posterior.parameters, other.posterior.parameters)


@pytest.mark.deep
def test_a_stopped_calibration_goes_on_to_the_same_end(gather: MeasuredCollective) -> None:
    options = {"model": "rounds:binomial", "chains": 2, "draws": 1500, "burn_in": 500, "seed": 2}
    whole = calibrate_collective(gather, **options)
    for blocks in (2, 2 + 4 * (whole.passes - 1)):
        left = calibrate_collective(gather, **options, task=stop_after(blocks))
        assert left.stopped
        found = calibrate_collective(gather, **options, resume=left)
        assert np.array_equal(found.posterior.parameters, whole.posterior.parameters)


def test_a_calibration_of_another_call_is_not_resumed(
    gather: MeasuredCollective, mixture: AlgorithmMixture
) -> None:
    one = mixture.calibrations[0]
    options = {"model": one.model, "chains": 2, "draws": 200, "burn_in": 200, "seed": 1}
    for change, message in (
        ({"noise": "relative"}, "same noise: it has gaussian-process, the call has relative"),
        ({"seed": 4}, "same seed: it has 1, the call has 4"),
        ({"model": "growth"}, "same model: it has rounds:binomial, the call has growth"),
        ({"chains": 3}, "same chains"),
    ):
        with pytest.raises(ParameterError, match=message):
            calibrate_collective(gather, **{**options, **change}, resume=one)
    with pytest.raises(ParameterError, match="same nodes and bytes"):
        calibrate_collective(gather.on([8, 32]), **options, resume=one)
    with pytest.raises(ParameterError, match="same seed"):
        calibrate_unknown(gather, seed=5, resume=mixture)


def test_one_number_of_nodes_is_scored_on_every_other_size(gather: MeasuredCollective) -> None:
    found = calibrate_unknown(gather.on([8]), task=stop_after(1))
    assert found.held_out == "every other size"
    with pytest.raises(ParameterError, match="two numbers of nodes, or four sizes; got 1 tests"):
        calibrate_unknown(gather.pick([0]))


def test_the_command_gives_probabilities_and_resumes(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = tmp_path / "store.json"
    words = ("--collective", "gather", "--draws", 300, "--seed", 1, "--store", store)
    assert command("calibrate", file, *words, "--noise", "relative", "--json") == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["algorithms"][0]["model"] == "rounds:binomial"
    assert sum(row["probability"] for row in shown["algorithms"]) == pytest.approx(1.0)
    assert shown["calibrations"][0]["model"] == "rounds:binomial"
    assert command("predict", store, "--nodes", 256, "--bytes", 1024, "--json") == 0
    assert len(json.loads(capsys.readouterr().out)["predictions"]) == 1
    more = (*words[:3], 400, *words[4:])
    assert command("calibrate", file, *more, "--noise", "relative", "--resume") == 0
    assert "probability" in capsys.readouterr().out
    assert AlgorithmMixture.load(store).draws == 400
    with pytest.raises(ParameterError, match="same noise: it has relative, the call has const"):
        command("calibrate", file, *words, "--noise", "constant", "--resume")
    with pytest.raises(ParameterError, match="hold a calibration of one model; it holds one of an"):
        command("calibrate", file, *words, "--model", "growth", "--resume")
    with pytest.raises(ParameterError, match="--model must not be given with --algorithm-unknown"):
        command("calibrate", file, *words, "--model", "growth", "--algorithm-unknown")
    with pytest.raises(ParameterError, match=r"none\.json does not exist"):
        command("calibrate", file, *words[:-1], tmp_path / "none.json", "--resume")


def test_a_label_that_names_no_known_algorithm_is_unknown(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Such as ``default-trix3`` of Fujitsu MPI."""
    head, *rows = file.read_text().splitlines()
    labelled, store = tmp_path / "trix3.csv", tmp_path / "store.json"
    labelled.write_text("\n".join([f"{head},algorithm", *(f"{r},default-trix3" for r in rows), ""]))
    words = ("--collective", "gather", "--algorithm", "default-trix3", "--store", store)
    options = ("--noise", "relative", "--draws", 100, "--json")
    assert command("calibrate", labelled, *words, *options) == 0
    shown = capsys.readouterr()
    assert "no algorithm of gather that is known here is called default-trix3" in shown.err
    assert {row["model"] for row in json.loads(shown.out)["algorithms"]} >= {"growth"}
    assert command("calibrate", labelled, *words, *options, "--model", "growth") == 0
    shown = capsys.readouterr()
    assert "no algorithm" not in shown.err
    assert json.loads(shown.out)["model"] == "growth"


class KilledError(BaseException):
    """Ends a command as a kill does."""


@pytest.mark.parametrize(
    ("model", "saves"), [("growth", 8), pytest.param("", 1, marks=pytest.mark.deep)]
)
def test_a_killed_calibration_goes_on_from_its_store(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, model: str, saves: int
) -> None:
    """Killed among the draws of one model, or of the first of a mixture."""
    words = ("--collective", "gather", "--noise", "relative", "--draws", 400, "--seed", 1)
    words += ("--model", model) * bool(model)
    store, whole, left = tmp_path / "store.json", tmp_path / "whole.json", [0] * saves

    def keep(self: uq._Store, task: Task) -> None:
        self.save(task.partial)
        if not task.progress.message.startswith("score"):
            left.pop()
        if not left:
            raise KilledError

    with monkeypatch.context() as patch:
        patch.setattr(uq._Store, "keep", keep)
        with pytest.raises(KilledError):
            command("calibrate", file, *words, "--store", store)
    assert uq._load(str(store)).stopped
    assert command("calibrate", file, *words, "--store", store, "--resume") == 0
    assert command("calibrate", file, *words, "--store", whole) == 0
    one, other = uq._load(str(store)), uq._load(str(whole))
    assert not one.stopped
    for a, b in zip(one.calibrations, other.calibrations, strict=True):
        assert np.array_equal(a.posterior.parameters, b.posterior.parameters)


def test_a_store_is_saved_every_few_seconds(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock, saved = [0.0], []
    monkeypatch.setattr(uq.time, "monotonic", lambda: clock[0])
    store, task = uq._Store(tmp_path / "store.json", resumed=False), Task()
    task.partial_from(lambda: clock[0])
    monkeypatch.setattr(store, "save", lambda found: saved.append((clock[0], found)))
    for second in range(10):
        clock[0] = float(second)
        store.keep(task)
    assert saved == [(3.0, 3), (6.0, 6), (9.0, 9)]


def test_a_check_mixes_the_models(gather: MeasuredCollective) -> None:
    rows = held_out(gather, noise="relative", draws=300, seed=1, unknown=True)
    assert rows["nodes"].tolist() == [128] * 4
    assert (rows["predicted (µs)"] / rows["measured (µs)"] - 1).abs().max() < 0.2


NEW = Replicas.of(
    [[8.1e-3, 8.2e-3], [9.5e-3], [2.0e-2, 2.1e-2, 2.05e-2]],
    ["a", "b", "c"],
    {"nodes": [160, 170, 640], "KB": [12, 13, 32]},
)


def new_times(values: FloatArray) -> FloatArray:
    """Return times of the tests of NEW, in s."""
    return np.asarray([8e-3, 9e-3, 2e-2] / (values[:, :1] / 1.8))


@for_each("noise", NOISE_MODELS)
def test_the_joint_score_of_one_test_is_its_score(noise: str) -> None:
    posterior = calibrate(ring(), measured(tau=0.03), noise=noise, draws=100, burn_in=200)
    first = NEW.select([0])
    alone = log_score(posterior, lambda values: new_times(values)[:, :1], first, draws=50)
    joint = joint_log_score(posterior, lambda values: new_times(values)[:, :1], first, draws=50)
    assert joint == pytest.approx(alone[0], rel=1e-9)


@for_each("beyond", [None, [0.3, 0.1, 0.05]])
def test_the_joint_score_is_that_of_a_normal_given_the_data(beyond: list[float] | None) -> None:
    posterior = calibrate(
        ring(), measured(tau=0.03), noise="gaussian-process", draws=50, burn_in=200
    )
    at = posterior.pick(1, 0)[0]
    tau, s, length, share = posterior.hyper.reshape(-1, 4)[at]
    values = posterior.parameters.reshape(-1, 4)[[at]]
    old = posterior.replicas
    simulated = np.concatenate([posterior.times.reshape(-1, len(old))[at], new_times(values)[0]])
    placed = np.concatenate([places(dict(each.columns), old) for each in (old, NEW)])
    smooth = np.exp(-0.5 * squared_distances(placed, placed) / length**2)
    own = share * np.eye(len(placed))
    shared = tau**2 * ((1 - share) * smooth + own)
    if beyond is not None:
        shared[len(old) :, len(old) :] += np.outer(beyond, beyond)
    test = np.repeat(np.arange(len(placed)), [len(row) for row in [*old.rows, *NEW.rows]])
    covariance = shared[np.ix_(test, test)] + s**2 * np.eye(len(test))
    off = np.log(np.concatenate([old.values, NEW.values])) - np.log(simulated[test])
    count = len(old.values)
    both = multivariate_normal.logpdf(off, cov=covariance)
    known = multivariate_normal.logpdf(off[:count], cov=covariance[:count, :count])
    expected = both - known - np.log(NEW.values).sum()
    # rtol: solves of matrices whose condition is about 1e5
    found = joint_log_score(posterior, new_times, NEW, draws=1, beyond=beyond)
    assert found == pytest.approx(expected, rel=1e-7)


@for_each("noise", ["relative", "hierarchical"])
def test_the_error_beyond_the_calibration_is_one_for_all_tests(noise: str) -> None:
    posterior = calibrate(ring(), measured(tau=0.03), noise=noise, draws=50, burn_in=200)
    at = posterior.pick(1, 0)
    names = posterior.noise.names
    hyper = dict(zip(names, posterior.hyper.reshape(-1, len(names))[at[0]], strict=True))
    beyond = np.array([0.3, 0.1, 0.05])
    test = np.repeat(np.arange(3), [len(row) for row in NEW.rows])
    covariance = np.outer(beyond[test], beyond[test]) + hyper["s"] ** 2 * np.eye(len(test))
    covariance += hyper.get("tau", 0.0) ** 2 * (test[:, None] == test)
    times = new_times(posterior.parameters.reshape(-1, 4)[at])[0]
    off = np.log(NEW.values) - np.log(times[test])
    expected = multivariate_normal.logpdf(off, cov=covariance) - np.log(NEW.values).sum()
    found = joint_log_score(posterior, new_times, NEW, draws=1, beyond=beyond)
    assert found == pytest.approx(expected, rel=1e-9)


@for_each("noise", ["constant", "student-t"])
def test_a_noise_model_without_normal_relative_errors_takes_no_error_beyond(noise: str) -> None:
    posterior = calibrate(ring(), measured(), noise=noise, draws=50, burn_in=100)
    with pytest.raises(ParameterError, match="beyond must be None"):
        joint_log_score(posterior, new_times, NEW, draws=10, beyond=[0.1, 0.1, 0.1])


def test_a_mixture_of_one_is_that_one_and_of_two_is_between() -> None:
    posterior = calibrate(ring(), measured(), noise="relative", draws=200, burn_in=200)
    tests, slow = ["a", "b", "c"], lambda values: 3 * new_times(values)
    alone = predict(posterior, new_times, tests, draws=100, seed=2)
    one = predict_mixture([(0.2, posterior, new_times)], tests, draws=100, seed=2)
    assert_allclose(one.low, alone.low, rtol=0)
    members = [(0.6, posterior, new_times), (0.4, posterior, slow), (0.0, posterior, slow)]
    both = predict_mixture(members, tests, draws=100)
    assert_allclose(both.median, alone.median, rtol=0.1)
    # 5 to 95 % of six parts around the first time and four around its triple
    assert_allclose(both.high[1], 3 * alone.high[1], rtol=0.1)
    assert (both.parameter[1] > 0.9 * alone.median).all()
    wide = predict_mixture(members, tests, draws=100, beyond=[[0.0] * 3, [0.5] * 3, [0.0] * 3])
    assert_allclose(wide.median, alone.median, rtol=0.1)
    assert (wide.high[1] > 1.5 * both.high[1]).all()  # of the second alone
    assert_allclose(wide.low, both.low, rtol=0.1)
    with pytest.raises(ParameterError, match="probability above 0 and one noise model"):
        predict_mixture([(0.0, posterior, slow)], tests)
