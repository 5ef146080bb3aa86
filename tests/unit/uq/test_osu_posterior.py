"""The posterior of a fit: bands that hold the truth, models drawn, and what follows from them."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest

from tests.unit.uq.fits import SIZES, fitted
from workbench.errors import ParameterError
from workbench.models import LogGPS, LogP, NetworkModel, Protocol
from workbench.simulate import simulate_osu
from workbench.tolerance import analyse, running_example
from workbench.uq import FitPosterior, PushedForward, posterior_of_fit
from workbench.uq.fit_runs import simulated_times

TRUTH = LogP().with_values(
    {
        "switch.out_in_latency": 1.3e-6,
        "switch.bandwidth": 1.1e10,
        "node.nic.injection.bandwidth": 1.4e10,
    }
)
KEYS = ("switch.out_in_latency", "switch.bandwidth", "node.nic.injection.bandwidth")


@pytest.fixture(scope="module")
def posterior() -> FitPosterior:
    found = fitted(TRUTH, KEYS, 1).posterior(noise="relative", seed=1)
    assert isinstance(found, FitPosterior)
    return found


def test_bands_and_parameters_hold_the_truth(posterior: FitPosterior) -> None:
    assert posterior.warnings == ()
    assert posterior.effective > 0.5 * posterior.draws
    frame = posterior.to_frame().set_index("parameter")
    assert set(frame.index) == set(KEYS)
    for key in ("switch.out_in_latency", "switch.bandwidth"):
        low, high = frame.loc[key, ["low", "high"]]
        assert low < TRUTH.get(key) < high < 1.2 * low
    bands = posterior.curves([0.9])
    true = simulate_osu(TRUTH, SIZES)
    shown = np.concatenate([true.latency_us, true.bandwidth_MBps])
    inside = (bands["low"] <= shown) & (shown <= bands["high"])
    assert inside.mean() > 0.8
    assert list(bands["benchmark"].unique()) == ["latency", "bandwidth"]
    wide = posterior.curves([0.9], noise=True)
    held = (wide["low"] <= wide["measured"]) & (wide["measured"] <= wide["high"])
    assert held.mean() > 0.8
    assert (wide["high"] / wide["low"]).median() > (bands["high"] / bands["low"]).median()


def test_models_are_of_the_fitted_class_and_repeatable(posterior: FitPosterior) -> None:
    models = posterior.models(5, seed=3)
    assert [type(model) for model in models] == [LogP] * 5
    assert models == posterior.models(5, seed=3)
    assert models != posterior.models(5, seed=4)
    assert len({model.get(KEYS[0]) for model in models}) > 1
    assert all(
        model.get("switch.hop_latency") == TRUTH.get("switch.hop_latency") for model in models
    )


def test_times_of_draws_are_those_of_the_model(posterior: FitPosterior) -> None:
    row = int(posterior.weights.argmax())
    values = dict(zip(posterior.keys, posterior.values[row].tolist(), strict=True))
    times = simulated_times(posterior.result, TRUTH.with_values(values))
    np.testing.assert_allclose(times, posterior.times[row], rtol=1e-9)  # 1 / (1 / b) is rounded


def test_anything_is_pushed_through_the_draws(posterior: FitPosterior) -> None:
    def time_s(model: NetworkModel) -> float:
        return float(simulate_osu(model, [65536], benchmarks=("latency",)).latency_s[0])

    found = posterior.push(lambda model: {"A": time_s(model), "B": 1.01 * time_s(model)}, 40)
    assert found.values.shape == (40, 2)
    assert found.probability_below("A", "B") == 1.0
    assert found.probability_below("A", "A") == 0.5
    low, high = found.to_frame([0.9]).loc[0, ["low", "high"]]
    assert low <= time_s(TRUTH) <= high
    assert 0.0 < found.probability_below("A", float(np.median(found.of("A")))) < 1.0
    assert posterior.push(time_s, 3).names == ("value",)
    with pytest.raises(ParameterError, match="one of A, B; got 'C'"):
        found.of("C")


def test_quantities_that_change_are_refused(posterior: FitPosterior) -> None:
    lengths = iter(range(1, 9))
    with pytest.raises(ParameterError, match="the same quantities"):
        posterior.push(lambda _: [0.0] * next(lengths), 4)


def test_a_posterior_is_saved_and_read_back(posterior: FitPosterior, tmp_path: Path) -> None:
    again = FitPosterior.load(posterior.save(tmp_path / "posterior.json"))
    assert again.models(3) == posterior.models(3)
    assert repr(again) == repr(posterior)
    assert set(json.loads(again.to_json())["keys"]) == {*KEYS}
    assert KEYS[0] in posterior._repr_html_()
    pushed = PushedForward(("a",), np.array([[1.0], [2.0]]))
    assert repr(PushedForward.load(pushed.save(tmp_path / "pushed.json"))) == repr(pushed)


def test_chains_of_a_fit_go_on_from_where_they_are(posterior: FitPosterior) -> None:
    before = posterior.posterior
    wanted = before.draws + 200
    options = {"noise": "relative", "chain_draws": wanted, "seed": 1}
    found = posterior_of_fit(posterior.result, **options, draws=100, resume=posterior)
    assert found.rounds == posterior.rounds
    assert found.posterior.draws == wanted
    np.testing.assert_array_equal(found.posterior.parameters[:, : before.draws], before.parameters)
    with pytest.raises(ParameterError, match="resume must come from the same seed"):
        posterior_of_fit(posterior.result, **options | {"seed": 3}, resume=posterior)


def test_tolerance_of_a_program_follows_from_a_fit_of_protocol() -> None:
    truth = Protocol()
    program, _ = running_example()

    def added_s(model: NetworkModel) -> dict[str, float]:
        assert isinstance(model, Protocol)
        machine = LogGPS.from_protocol(model)
        found = analyse(program, machine, percent=[5.0], contention=False)
        return {"L": machine.L, "tolerated": found.tolerance[5.0]}

    keys = ("eager.latency", "eager.bandwidth")
    found = posterior_of_fit(fitted(truth, keys, 2), noise="relative", draws=100)
    frame = found.push(added_s, 30).to_frame([0.9]).set_index("quantity")
    for name, value in added_s(truth).items():
        assert frame.loc[name, "low"] < value < frame.loc[name, "high"]
    assert frame.loc["L", "high"] < 1.1 * frame.loc["L", "low"]


def test_a_fit_that_found_nothing_has_no_posterior(posterior: FitPosterior) -> None:
    failed = dataclasses.replace(posterior.result, success=False, simulated=None)
    with pytest.raises(ParameterError, match="succeeded"):
        posterior_of_fit(failed)
    with pytest.raises(ParameterError, match="gaussian-process"):
        posterior_of_fit(posterior.result, noise="none")


@pytest.mark.parametrize(("sets", "least"), [(4, 3), pytest.param(15, 11, marks=pytest.mark.deep)])
def test_intervals_cover_as_often_as_they_say(sets: int, least: int) -> None:
    """90 % intervals: fewer hits than ``least`` have a probability of 5 % and of 1 %."""
    keys = KEYS[:2]
    hits = dict.fromkeys(keys, 0)
    for seed in range(sets):
        rng = np.random.default_rng(100 + seed)
        truth = TRUTH.with_values(
            {key: float(TRUTH.get(key)) * float(rng.uniform(0.8, 1.2)) for key in keys}
        )
        found = posterior_of_fit(
            fitted(truth, keys, seed), noise="relative", draws=100, chain_draws=300, seed=seed
        )
        frame = found.to_frame().set_index("parameter")
        for key in keys:
            low, high = frame.loc[key, ["low", "high"]]
            hits[key] += bool(low <= truth.get(key) <= high)
    assert all(number >= least for number in hits.values()), hits
