from __future__ import annotations

import dataclasses
import json
import math

import numpy as np
import pytest

from tests.cases import for_each
from workbench.errors import ParameterError
from workbench.fit import FitResult, SearchSpace, fit, huber
from workbench.fit.losses import find_loss, find_target, rmspe_by_target
from workbench.fit.trust.identify import Identifiability, identify
from workbench.fit.trust.interval_scan import Interval
from workbench.measure import OSUCurve
from workbench.models import SNAPPR, LogP, NetworkModel, Protocol
from workbench.simulate import simulate_osu
from workbench.tasks import Task

OUT_IN, HOP = "switch.out_in_latency", "switch.hop_latency"
INJECTION = "node.nic.injection.latency"


def fitted(
    model: NetworkModel,
    measured: OSUCurve,
    space: SearchSpace,
    *,
    loss: str = "rmsre",
    target: str = "both",
) -> FitResult:
    """A result as a fit would give it whose best values are the model's own."""
    simulated = simulate_osu(model, measured.sizes)
    return FitResult(
        model=model,
        measured=measured,
        simulated=simulated,
        loss=loss,
        target=find_target(target),
        space=space,
        rmspe=rmspe_by_target(simulated, measured),
        losses=np.array([0.0]),
        seed=0,
        seconds=0.0,
        success=True,
        message="made up",
    )


def noisy(curve: OSUCurve, sd: float, seed: int) -> OSUCurve:
    rng = np.random.default_rng(seed)
    latency, bandwidth = np.exp(rng.normal(0.0, sd, (2, len(curve))))
    return dataclasses.replace(
        curve, latency_s=curve.latency_s * latency, bandwidth_Bps=curve.bandwidth_Bps * bandwidth
    )


@pytest.fixture(scope="module")
def logp() -> Identifiability:
    model = LogP().with_values({OUT_IN: "1us", HOP: "900ns", INJECTION: "100ns"})
    space = SearchSpace.for_model(model)
    return identify(fitted(model, noisy(simulate_osu(model), 0.02, 1), space))


def test_two_latencies_that_only_add_up_are_reported_as_their_sum(logp: Identifiability) -> None:
    assert logp.sums == ((OUT_IN, HOP),)
    assert logp.pairs[0][:2] == (OUT_IN, HOP)
    assert logp.pairs[0][2] < -0.99
    assert logp.verdicts[OUT_IN] == f"only its sum with {HOP}"
    # Each may be nothing if the other follows, so that only their upper ends are found.
    assert {OUT_IN, HOP} <= set(logp.bounded)
    assert "only the sum of" in repr(logp)


def test_of_a_sum_each_part_may_be_nothing_if_the_other_follows(logp: Identifiability) -> None:
    held, refitted = logp.held[OUT_IN], logp.refitted[OUT_IN]
    assert held.low > 0.8e-6
    assert refitted.at_low
    # the whole sum is 1.9 us, which 46 points with 2 % of noise tell to a few percent
    assert 1.85e-6 < refitted.high < 2.1e-6


def test_a_parameter_without_effect_is_flat() -> None:
    # 4 MiB in packets of 4 KiB never fill 16 MB of buffer, and no receiver is slower than the link
    model = SNAPPR()
    space = (
        SearchSpace.for_model(model)
        .with_bounds("node.nic.buffer", "8MB", "64MB")
        .with_bounds("node.nic.injection.latency", "100ns", "10us")
    )
    for key in space.keys[:]:
        if key not in ("node.nic.buffer", "node.nic.injection.latency"):
            space = space.fix(key)
    found = identify(
        fitted(model.with_values({"node.nic.buffer": "16MB"}), simulate_osu(model), space)
    )
    assert found.flat == ("node.nic.buffer",)
    assert found.verdicts["node.nic.buffer"] == "the data do not determine it"
    assert found.informed[found.keys.index("node.nic.buffer")] == 0.0
    assert [*found.undetermined[0]] == ["node.nic.buffer"]
    assert found.verdicts["node.nic.injection.latency"].startswith("± ")


def test_the_true_values_lie_within_the_stated_intervals() -> None:
    """Of 95 % intervals over 12 noisy curves at least 80 % must hold the truth.

    Fewer than 80 % of 36 would come by chance less than once in a thousand times (binomial with
    0.95); points that the model does not fit exactly have no part in it here.
    """
    truth = LogP().with_values({OUT_IN: "1us", INJECTION: "300ns"})
    space = SearchSpace.for_model(truth).fix(HOP).fix("node.nic.injection.bandwidth")
    inside = []
    for seed in range(12):
        curve = noisy(simulate_osu(truth), 0.03, seed)
        found = identify(
            fit(curve, truth, engine="least-squares", trials=80, space=space), scan=False
        )
        for key, (low, high) in found.intervals().items():
            inside.append(low <= float(truth.get(key)) <= high)
    assert len(inside) == 36
    assert np.mean(inside) >= 0.8


def test_the_standard_error_is_that_of_theory_where_one_latency_is_all_there_is() -> None:
    """One scale of every latency: ln L has the error sd / sqrt(n)."""
    # 64 messages of a byte each: the wire's own time is nothing beside a latency of 1 ms
    truth = LogP().with_values({OUT_IN: 1e-3, HOP: 0.0, INJECTION: 0.0})
    space = SearchSpace.for_model(truth).with_bounds(OUT_IN, 1e-4, 1e-2)
    for key in space.keys[:]:
        if key != OUT_IN:
            space = space.fix(key)
    exact = simulate_osu(truth, [1, 2, 4, 8, 16, 32, 64, 128])
    curve = noisy(exact, 0.05, 3)
    found = identify(fitted(truth, curve, space, target="latency"), scan=False)
    residuals = np.log(exact.latency_s / curve.latency_s)
    expected = math.sqrt(residuals @ residuals / 7) / math.sqrt(8)
    # the bounds count for 1e-4 of it, and ln(1.01) is taken for 0.01
    assert found.relative_error[0] == pytest.approx(expected, rel=1e-3)


def test_a_threshold_has_the_interval_between_two_measured_sizes() -> None:
    model = Protocol().with_values({"short.max_size": 300, "eager.max_size": 20000})
    found = identify(
        fitted(model, noisy(simulate_osu(model), 0.01, 4), SearchSpace.for_model(model))
    )
    assert found.thresholds == {"short.max_size": (256, 511), "eager.max_size": (16384, 32767)}
    assert "short.max_size" not in found.keys
    assert found.held["eager.max_size"].low == 16384
    assert found.held["eager.max_size"].high == 32767
    assert found.verdicts["eager.max_size"] == (
        "any value from 16 KiB to below 32 KiB gives the same"
    )


def test_a_value_at_a_bound_is_reported() -> None:
    model = LogP().with_values({OUT_IN: "2us"})
    space = SearchSpace.for_model(model).with_bounds(OUT_IN, "1us", "2us").fix(HOP)
    found = identify(fitted(model, simulate_osu(model), space), scan=False)
    assert found.at_bound == {OUT_IN: "upper"}
    assert found.verdicts[OUT_IN].startswith("at its upper bound; ")


def test_a_search_that_had_not_ended_is_named() -> None:
    truth = LogP()
    space = SearchSpace.for_model(truth)
    off = truth.with_values({OUT_IN: "2.4us"})
    found = identify(fitted(off, simulate_osu(truth), space))
    assert found.lower_loss < 0.9 * find_loss("rmsre")(
        simulate_osu(off).latency_us, simulate_osu(truth).latency_us
    )
    assert "the fit had not converged" in repr(found)


def test_intervals_hold_the_fitted_value_and_refitted_ones_hold_the_held(
    logp: Identifiability,
) -> None:
    for key, value in logp.values.items():
        held, refitted = logp.held[key], logp.refitted[key]
        assert refitted.low <= held.low <= value <= held.high <= refitted.high


def test_what_is_found_is_a_table_and_plain_values(logp: Identifiability) -> None:
    frame = logp.to_frame()
    assert frame["parameter"].tolist() == list(logp.values)
    assert frame.loc[frame["parameter"] == OUT_IN, "verdict"].item() == f"only its sum with {HOP}"
    assert json.loads(json.dumps(logp.to_dict(), allow_nan=False))["sums"] == [[OUT_IN, HOP]]
    assert f"only its sum with {HOP}" in logp._repr_html_()


def test_a_stop_leaves_what_was_not_scanned_yet() -> None:
    model = LogP()
    result = fitted(model, simulate_osu(model), SearchSpace.for_model(model))
    task = Task(lambda _: task.stop())
    found = identify(result, task=task)
    assert list(found.held) == [result.space.keys[0]]
    assert len(found.verdicts) == 5


def test_a_failed_fit_is_refused() -> None:
    model = LogP()
    result = fitted(model, simulate_osu(model), SearchSpace.for_model(model))
    with pytest.raises(ParameterError, match="must have succeeded"):
        identify(dataclasses.replace(result, success=False))


def test_a_fit_with_another_huber_delta_is_looked_into_by_its_name() -> None:
    model = LogP()
    loss = huber(5.0)
    result = fitted(
        model, noisy(simulate_osu(model), 0.02, 5), SearchSpace.for_model(model), loss=loss.name
    )
    assert find_loss("huber(5)").title == loss.title
    assert identify(result, scan=False).keys == result.space.keys
    with pytest.raises(ParameterError, match="loss must be one of"):
        find_loss("huber(five)")


def test_a_result_can_be_asked_itself() -> None:
    model = LogP()
    result = fitted(model, simulate_osu(model), SearchSpace.for_model(model))
    assert result.identify(scan=False).to_dict() == identify(result, scan=False).to_dict()


@for_each(
    "low, high, at_low, at_high, state",
    [
        (0.8e-6, 1.5e-6, False, False, "known"),
        (0.8e-6, 1.7e-6, False, False, "bounded"),
        (1e-9, 1.2e-6, True, False, "bounded"),
        (0.8e-6, 1e-3, False, True, "bounded"),
        (1e-9, 1e-3, True, True, "unknown"),
    ],
)
def test_a_bound_on_one_side_is_no_knowledge_of_a_value(
    logp: Identifiability, low: float, high: float, at_low: bool, at_high: bool, state: str
) -> None:
    found = dataclasses.replace(
        logp, refitted={**logp.refitted, OUT_IN: Interval(low, high, at_low, at_high)}
    )
    assert found.state(OUT_IN) == state
    assert (
        OUT_IN in {"known": found.known, "bounded": found.bounded, "unknown": found.unknown}[state]
    )
    assert f"{len(found.known)} known within a factor of 2" in repr(found)
    assert found.to_frame().set_index("parameter").loc[OUT_IN, "state"] == state
    assert f">{state}</td>" in found._repr_html_()


def test_every_parameter_is_in_one_state_without_a_scan_too(logp: Identifiability) -> None:
    for found in (logp, identify(logp.result, scan=False)):
        assert sorted((*found.known, *found.bounded, *found.unknown)) == sorted(found.values)
