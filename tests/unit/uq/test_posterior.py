"""The sampler against known distributions, and how a calibration is stopped, resumed and judged."""

from __future__ import annotations

import sys
import types
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.cases import for_each
from tests.unit.uq.ring import BOX, TRUTH, line, measured, polynomials, ring
from workbench import tasks
from workbench.errors import ParameterError, ParseError, WorkbenchError
from workbench.parameters import Parameter
from workbench.uq import Posterior, Replicas, calibrate, noise_model
from workbench.uq.parameters import ParameterBox

SURROGATE = ring()


def same_draws(a: Posterior, b: Posterior) -> bool:
    names = ("parameters", "hyper", "log_posterior", "times")
    return all(np.array_equal(getattr(a, name), getattr(b, name)) for name in names)


def test_a_normal_posterior_has_the_known_mean_and_covariance() -> None:
    # Linear times, known sigma: normal, far from the box's ends; parameters are coordinates / 2.
    slopes = np.array([[1.0, 0.8], [0.9, 1.0], [1.0, -0.2]])
    sigma, replicas, centre = 0.1, 10, np.array([0.1, -0.2])
    constants = np.full(3, 5.0)
    data = Replicas.of([[t] * replicas for t in constants + slopes @ centre])
    noise = noise_model("constant", data).fix(sigma=sigma)
    found = calibrate(line(slopes, constants), data, noise=noise, draws=10_000, seed=3)
    assert found.converged, found.verdict
    coordinates = 2 * found.parameters.reshape(-1, 2) - 1
    covariance = np.linalg.inv(slopes.T @ slopes * replicas / sigma**2)
    sd = np.sqrt(np.diag(covariance))
    # At least 5000 effective draws: 4 standard errors are 0.06 sd of a mean, 0.08 of a variance.
    np.testing.assert_allclose((coordinates.mean(axis=0) - centre) / sd, 0, atol=0.06)
    relative = np.cov(coordinates.T) / np.outer(sd, sd) - covariance / np.outer(sd, sd)
    np.testing.assert_allclose(relative, 0, atol=0.08)


def test_a_normal_prior_is_met_where_the_data_say_nothing() -> None:
    surrogate = line(np.zeros((1, 1)), np.ones(1), mean=0.4, sd=0.05)
    noise = noise_model("constant", Replicas.of([[1.0]])).fix(sigma=1.0)
    drawn = calibrate(surrogate, Replicas.of([[1.0]]), noise=noise, seed=1).parameters
    assert drawn.mean() == pytest.approx(0.4, abs=0.004)
    assert drawn.std() == pytest.approx(0.05, abs=0.003)


@for_each("noise", ["relative", "hierarchical", "student-t", "constant"])
def test_the_truth_is_found(noise: str) -> None:
    found = calibrate(SURROGATE, measured(), noise=noise, draws=2000)
    table = found.summary().set_index("quantity")
    off = (table["mean"][list(BOX.names)] - TRUTH) / table["sd"][list(BOX.names)]
    assert np.abs(off).max() < 4
    if noise in ("relative", "hierarchical"):
        assert table["mean"]["s"] == pytest.approx(0.05, rel=0.15)
    assert found.converged, found.verdict
    assert 0.15 < found.acceptance < 0.45
    assert found.evaluations_per_s > 0


def test_the_same_seed_gives_the_same_draws_on_any_number_of_threads(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    options: dict[str, Any] = {"draws": 700, "burn_in": 600}
    first = calibrate(SURROGATE, measured(), seed=4, **options)
    monkeypatch.setattr(tasks, "cores", lambda: 1)
    assert same_draws(first, calibrate(SURROGATE, measured(), seed=4, **options))
    assert not same_draws(first, calibrate(SURROGATE, measured(), seed=5, **options))


@for_each("stop_at", [500, 900, 1900])
def test_a_stop_keeps_the_draws_and_a_resumed_run_equals_a_long_one(
    stop_at: int, tmp_path: Path
) -> None:
    seen: list[tuple[int, int]] = []

    def report(now: tasks.Progress) -> None:
        seen.append((now.done, now.total))
        if now.done >= stop_at:
            task.stop()

    task = tasks.Task(report)

    options: dict[str, Any] = {"draws": 2100, "burn_in": 900, "seed": 2}
    whole = calibrate(SURROGATE, measured(), **options)
    part = calibrate(SURROGATE, measured(), task=task, **options)
    assert same_draws(part, task.partial)
    assert seen[-1] == ({500: 500, 900: 900, 1900: 1900}[stop_at], 3000)
    assert part.draws == max(stop_at - 900, 0)
    np.testing.assert_array_equal(part.parameters, whole.parameters[:, : part.draws])
    stored = Posterior.load(part.save(tmp_path / "part.json"))
    assert same_draws(stored, part)
    assert same_draws(whole, calibrate(SURROGATE, measured(), resume=stored, **options))
    if not part.draws:
        assert "there are 0 draws" in part.verdict
        assert len(part.summary()) == 0
        with pytest.raises(ParameterError, match="stopped in its burn-in"):
            part.sample(5)


def test_more_draws_may_be_asked_of_a_finished_run() -> None:
    short = calibrate(SURROGATE, measured(), draws=500, burn_in=700)
    longer = calibrate(SURROGATE, measured(), draws=1300, burn_in=700, resume=short)
    assert same_draws(longer, calibrate(SURROGATE, measured(), draws=1300, burn_in=700))


def test_two_modes_and_short_chains_have_not_converged() -> None:
    box = ParameterBox((Parameter("x", "", 0.0, 1.0),))
    coefficients = np.array([[4 / 3], [0.0], [2 / 3]])  # 1 + x^2 in coordinates
    square = polynomials(box, np.array([[0], [1], [2]]), coefficients, False)
    data = Replicas.of([[1.49, 1.5, 1.51] * 10])
    two = calibrate(square, data, noise="relative", draws=2000)
    assert not two.converged
    assert two.verdict.startswith("not converged: R-hat of x is")
    short = calibrate(SURROGATE, measured(), draws=50, burn_in=50, thin=1)
    assert "run longer" in short.verdict
    assert "draws=1000" in short.verdict


def test_a_parameter_at_its_bound_is_named() -> None:
    data = measured()
    fast = Replicas.of([row / 3 for row in data.rows])
    found = calibrate(SURROGATE, fast, noise="relative", draws=500)
    assert "Max BW at its upper bound" in found.at_bounds
    assert "Max BW at its upper bound" in repr(found)


def test_summary_frame_and_samples_agree(tmp_path: Path) -> None:
    found = calibrate(SURROGATE, measured(tau=0.03), draws=500)
    frame = found.to_frame()
    assert len(frame) == 4 * 500
    summary = found.summary()
    assert summary["quantity"].tolist() == [*BOX.names, "tau", "s"]
    assert summary["mean"][0] == pytest.approx(frame["Max BW"].mean())
    values, hyper = found.sample(50, seed=1)
    assert values.shape == (50, 4)
    assert hyper.shape == (50, 2)
    assert set(values[:, 0]) <= set(frame["Max BW"])
    np.testing.assert_allclose(found.times[1, 7], SURROGATE.predict(found.parameters[1, 7:8])[0])
    again = Posterior.load(found.save(tmp_path / "posterior.json"))
    assert again.verdict == found.verdict
    assert again.noise == found.noise
    assert "Max BW" in found.to_json()
    assert "Max BW" in found._repr_html_()
    replace(found, parameters=found.parameters[:, :, :3].copy()).save(tmp_path / "posterior.json")
    with pytest.raises(ParseError, match="parameters must be"):
        Posterior.load(tmp_path / "posterior.json")


def test_gaussian_process_takes_named_columns() -> None:
    found = calibrate(
        SURROGATE,
        measured(tau=0.03),
        noise="gaussian-process",
        coordinates=["nodes"],
        draws=200,
        burn_in=200,
    )
    assert found.coordinates == ("nodes",)
    assert found.hyper.shape == (4, 200, 4)


@for_each("version", ["0.23.4", "1.3.0"])
def test_arviz_gets_draws_by_name(version: str, monkeypatch: pytest.MonkeyPatch) -> None:
    class Arviz(types.ModuleType):
        __version__ = version

        @staticmethod
        def from_dict(*groups: Any, **named: Any) -> Any:
            return groups[0] if groups else named

    monkeypatch.setitem(sys.modules, "arviz", Arviz("arviz"))
    found = calibrate(SURROGATE, measured(), draws=10, burn_in=10)
    groups = found.to_arviz()
    np.testing.assert_array_equal(groups["posterior"]["Link BW"], found.parameters[:, :, 1])
    assert groups["sample_stats"]["lp"].shape == (4, 10)
    monkeypatch.setitem(sys.modules, "arviz", None)
    with pytest.raises(WorkbenchError, match="pip install arviz"):
        found.to_arviz()


@for_each(
    "options, words",
    [
        ({"noise": "gauss"}, "noise must be one of constant"),
        ({"chains": 0}, "chains must be a whole number of at least 1"),
        ({"draws": 0.5}, "draws must be a whole number"),
        ({"noise": "gaussian-process", "coordinates": ["size"]}, r"there are: nodes, KB.*'size'"),
    ],
)
def test_bad_arguments_are_named(options: dict[str, Any], words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        calibrate(SURROGATE, measured(), **options)


def test_what_does_not_fit_together_is_refused() -> None:
    with pytest.raises(ParameterError, match="tests of replicas, 2; it predicts 20"):
        calibrate(SURROGATE, Replicas.of([[1], [2]]))
    with pytest.raises(ParameterError, match="use noise='hierarchical'"):
        calibrate(SURROGATE, measured(columns=False), noise="gaussian-process")
    negative = line(np.zeros((1, 1)), -np.ones(1))
    with pytest.raises(ParameterError, match="times above 0 s somewhere in the box"):
        calibrate(negative, Replicas.of([[1.0]]), noise="relative")
    short = calibrate(SURROGATE, measured(), draws=10, burn_in=10)
    for changed, word in (
        ({"seed": 1}, "seed"),
        ({"burn_in": 11}, "burn_in"),
        ({"noise": "relative"}, "noise"),
        ({"draws": 5}, "at least the 10"),
    ):
        options: dict[str, Any] = {"draws": 20, "burn_in": 10} | changed
        with pytest.raises(ParameterError, match=word):
            calibrate(SURROGATE, measured(), resume=short, **options)
    with pytest.raises(ParameterError, match="the same times"):
        calibrate(SURROGATE, measured(seed=1), resume=short, draws=20, burn_in=10)
