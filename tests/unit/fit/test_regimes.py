from __future__ import annotations

import dataclasses
import math
from pathlib import Path

import numpy as np
import pytest

from tests.cases import for_each
from workbench import datasets, tasks
from workbench.errors import ParameterError
from workbench.fit import FitResult, SearchSpace, fit, rmspe_by_target
from workbench.fit.bolted import Bolted, ModelCurve
from workbench.fit.regimes import bolt, errors_by_threshold, fit_regimes, split
from workbench.measure import OSUCurve
from workbench.models import SNAPPR, LogP, NetworkModel, Protocol
from workbench.simulate import simulate_osu
from workbench.tasks import Task

MEASURED = datasets.load("azure-hb96v3-hdr")


def result(
    model: NetworkModel, measured: OSUCurve = MEASURED, *, success: bool = True
) -> FitResult:
    """A fit that found `model`, without the search."""
    simulated = simulate_osu(model, measured.sizes) if success else None
    nothing = dict.fromkeys(("joint", "latency", "bandwidth"), math.nan)
    return FitResult(
        model=model,
        measured=measured,
        simulated=simulated,
        loss="rmsre",
        target="both",
        space=SearchSpace.for_model(model),
        rmspe=nothing if simulated is None else rmspe_by_target(simulated, measured),
        losses=np.array([1.0 if success else math.inf]),
        seed=0,
        seconds=0.0,
        success=success,
        message="1 trials",
    )


LOW, HIGH = LogP(out_in_latency=1.4e-6), SNAPPR(injection_latency=1e-6)


def test_a_split_parts_the_sizes_at_the_threshold() -> None:
    low, high = split(MEASURED, 512)
    assert low.name == "azure-hb96v3-hdr[<=512]"
    assert high.name == "azure-hb96v3-hdr[>512]"
    assert low.sizes[-1] == 512
    assert high.sizes[0] == 1024
    assert len(low) + len(high) == len(MEASURED)
    assert [len(half) for half in split(MEASURED, 1000)] == [10, 13]


@for_each("threshold", [0, 4194304])
def test_a_split_leaves_something_on_both_sides(threshold: int) -> None:
    with pytest.raises(ParameterError, match="choose one from 1 to 4194303"):
        split(MEASURED, threshold)


def test_the_whole_is_the_lower_curve_below_and_the_upper_one_above() -> None:
    low, high = (result(m, half) for m, half in zip((LOW, HIGH), split(MEASURED), strict=True))
    bolted = Bolted(low, high, 512)
    assert low.simulated is not None
    assert high.simulated is not None
    assert bolted.simulated is not None
    assert bolted.success
    assert bolted.fitted_apart
    np.testing.assert_array_equal(
        bolted.simulated.latency_s, [*low.simulated.latency_s, *high.simulated.latency_s]
    )
    np.testing.assert_array_equal(
        bolted.simulated.bandwidth_Bps,
        [*low.simulated.bandwidth_Bps, *high.simulated.bandwidth_Bps],
    )
    whole = bolted.measured
    assert whole.name == MEASURED.name
    assert whole.provenance == MEASURED.provenance
    np.testing.assert_array_equal(whole.latency_s, MEASURED.latency_s)
    assert whole.latency_spread is not None
    assert MEASURED.latency_spread is not None
    np.testing.assert_array_equal(whole.latency_spread.p75, MEASURED.latency_spread.p75)
    assert bolted.simulated.provenance.origin == "simulated"
    assert "each half fitted to its own sizes" in bolted.simulated.provenance.caption()


def test_the_error_of_the_whole_comes_from_the_relative_error_at_each_size() -> None:
    low, high = (result(m, half) for m, half in zip((LOW, HIGH), split(MEASURED), strict=True))
    bolted = Bolted(low, high, 512)
    errors = bolted.percent_error()
    assert errors["half"].tolist() == ["low"] * 10 + ["high"] * 13
    squares = {name: errors[name].to_numpy() ** 2 for name in ("latency", "bandwidth")}
    # the same sums in another order: rounding only
    for name, values in squares.items():
        assert bolted.rmspe[name] == pytest.approx(math.sqrt(values.mean()), rel=1e-12)
    both = np.concatenate(list(squares.values()))
    assert bolted.rmspe["joint"] == pytest.approx(math.sqrt(both.mean()), rel=1e-12)
    assert bolted.rmspe_low == low.rmspe
    assert bolted.rmspe_high == high.rmspe
    weighted = (10 * low.rmspe["joint"] ** 2 + 13 * high.rmspe["joint"] ** 2) / 23
    assert bolted.rmspe["joint"] == pytest.approx(math.sqrt(weighted), rel=1e-12)
    frame = bolted.to_frame()
    assert frame["sizes"].to_dict() == {"low": 10, "high": 13, "whole": 23}
    assert frame["model"].to_dict() == {"low": "logp", "high": "snappr", "whole": "logp+snappr"}
    assert frame.loc["whole", "joint"] == bolted.rmspe["joint"]
    assert f"RMSPE {bolted.rmspe['joint']:.1f} %" in repr(bolted)
    assert bolted._repr_html_().count("<tr>") == 4


def test_fits_over_all_sizes_can_be_bolted_at_any_size() -> None:
    low, high = result(LOW), result(HIGH)
    frame = errors_by_threshold(low, high)
    assert frame.index.tolist() == [0, *MEASURED.sizes.tolist()]
    assert frame.loc[0, "joint"] == high.rmspe["joint"]
    assert frame.loc[4194304, "joint"] == low.rmspe["joint"]
    assert math.isnan(frame.loc[0, "low_joint"])
    assert math.isnan(frame.loc[4194304, "high_joint"])
    bolted = bolt(low, high, 8192)
    assert not bolted.fitted_apart
    assert "both models fitted to all sizes" in bolted.provenance.caption()
    assert frame.loc[8192, ["joint", "latency", "bandwidth"]].to_dict() == bolted.rmspe
    assert bolted.simulated is not None
    assert low.simulated is not None
    assert bolted.simulated.latency_s[13] == low.simulated.latency_s[13]
    assert bolt(low, high, 12000).rmspe == bolted.rmspe


def test_models_without_a_fit_are_bolted_like_fits() -> None:
    bare = bolt(ModelCurve(LOW, MEASURED), ModelCurve(HIGH, MEASURED), 2048)
    fitted = bolt(result(LOW), result(HIGH), 2048)
    assert bare.rmspe == fitted.rmspe
    assert bare.as_sstmacro() == fitted.as_sstmacro()


def test_halves_that_do_not_meet_are_refused() -> None:
    low, high = (result(m, half) for m, half in zip((LOW, HIGH), split(MEASURED), strict=True))
    with pytest.raises(ParameterError, match=r"threshold of 2048 B 1 KiB, 2 KiB would be in neit"):
        Bolted(low, high, 2048)
    with pytest.raises(ParameterError, match=r"256 B 512 B would be in neither"):
        bolt(low, high, 256)
    with pytest.raises(ParameterError, match="at least 0 B; got -1"):
        bolt(low, high, -1)
    with pytest.raises(ParameterError, match="over the same sizes"):
        errors_by_threshold(low, high)


def test_fits_of_two_machines_are_not_bolted() -> None:
    other = result(HIGH, datasets.load("llnl-dane-omnipath"))
    with pytest.raises(ParameterError, match="llnl-dane-omnipath differ at sizes they share"):
        bolt(result(LOW), other)


def test_a_half_that_could_not_be_simulated_leaves_the_whole_without_a_curve() -> None:
    low, high = result(LOW, success=False), result(HIGH)
    bolted = bolt(low, high, 512)
    assert not bolted.success
    assert bolted.simulated is None
    assert math.isnan(bolted.rmspe["joint"])
    assert math.isnan(bolted.rmspe_low["joint"])
    assert bolted.rmspe_high["joint"] > 0
    assert bolted.percent_error()["latency"].isna().all()
    assert "nan" in repr(bolted)
    # the half that failed is not used at all
    assert bolt(low, high, 0).rmspe == high.rmspe


@for_each(
    "low, high, reason",
    [
        (LOW, HIGH, ""),
        (SNAPPR(), HIGH, "not SNAPPR with SNAPPR"),
        (LOW, Protocol(), "not with Protocol"),
        (LOW, SNAPPR(variant="repaired"), "not 'repaired'"),
    ],
)
def test_it_says_whether_sstmacro_can_run_the_pair(
    low: NetworkModel, high: NetworkModel, reason: str
) -> None:
    bolted = bolt(result(low), result(high))
    assert bolted.runs_in_sstmacro == (not reason)
    assert reason in bolted.sstmacro_reason
    if reason:
        with pytest.raises(ParameterError, match=r"; bolt LogP to SNAPPR$"):
            bolted.as_sstmacro()


def test_the_model_sstmacro_would_run_has_the_lower_one_as_its_overlay() -> None:
    low, high = (result(m, half) for m, half in zip((LOW, HIGH), split(MEASURED), strict=True))
    bolted = Bolted(low, high, 512)
    model = bolted.as_sstmacro()
    assert model.negligible_size == 512
    assert model.logp.out_in_latency == LOW.out_in_latency
    assert model.logp.bandwidth == LOW.bandwidth
    assert model.replace(negligible_size=0, logp=HIGH.logp) == HIGH
    run = bolted.simulate_sstmacro()
    assert bolted.simulated is not None
    assert bolted.rmspe_sstmacro() == rmspe_by_target(run, MEASURED)
    # Its three control messages take the overlay, whose latency is 0.1 us longer each way here.
    large = MEASURED.sizes == 4194304
    slower = run.latency_s[large] - bolted.simulated.latency_s[large]
    overlay = LOW.out_in_latency + LOW.hop_latency
    assert overlay > HIGH.injection_latency + HIGH.ejection_latency
    assert slower[0] > 0


def test_each_half_is_fitted_by_itself_and_kept_under_its_own_name(tmp_path: Path) -> None:
    seen: list[float] = []
    options = {"seed": 3, "study": tmp_path / "fits.db", "loss": "rmspe"}
    bolted = fit_regimes(
        MEASURED, trials=4, task=Task(lambda report: seen.append(report.loss)), **options
    )
    assert len(seen) == 8
    assert bolted.fitted_apart
    assert (bolted.low.trials, bolted.high.trials) == (4, 4)
    low, high = split(MEASURED)
    # read from the file under the default names of the halves, not fitted again
    assert fit(low, "logp", trials=4, **options).losses.tolist() == bolted.low.losses.tolist()
    assert fit(high, "snappr", trials=4, **options).losses.tolist() == bolted.high.losses.tolist()
    again = fit_regimes(MEASURED, trials=4, **options)
    assert again.rmspe == bolted.rmspe


@for_each("name", ["name", "space"])
def test_what_belongs_to_one_fit_is_refused_for_two(name: str) -> None:
    with pytest.raises(TypeError, match=f"unexpected keyword argument '{name}'"):
        fit_regimes(MEASURED, trials=1, **{name: None})


def test_a_job_shows_the_pair_so_far_and_stops() -> None:
    job = tasks.submit(fit_regimes, MEASURED, threshold=1024, trials=3)
    bolted = job.result(timeout=60)
    assert (bolted.low.trials, bolted.high.trials) == (3, 3)
    assert job.progress.done == job.progress.total == 6
    assert bolted.threshold == 1024
    unending = tasks.submit(fit_regimes, MEASURED, trials=10**6)
    unending.stop()
    so_far = unending.result(timeout=60)
    assert so_far.low.trials < 10**6
    assert so_far.high.trials < 10**6
    assert isinstance(unending.partial, Bolted)


def test_a_pair_draws_itself() -> None:
    bolted = bolt(result(LOW), result(HIGH))
    assert bolted.plot() is not None
    frozen = dataclasses.FrozenInstanceError
    with pytest.raises(frozen):
        bolted.threshold = 1  # type: ignore[misc]


def test_models_without_a_fit_are_saved_and_read(tmp_path: Path) -> None:
    bare = bolt(ModelCurve(LOW, MEASURED), ModelCurve(HIGH, MEASURED), 2048)
    again = Bolted.load(bare.save(tmp_path / "bolted.json"))
    assert again.to_json() == bare.to_json()
    assert isinstance(again.low, ModelCurve)
