from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from tests.cases import for_each
from workbench.datasets import load
from workbench.errors import ParameterError
from workbench.fit import FitStudy
from workbench.fit.trust.generalise import cross_target, generalisation_table, hold_out
from workbench.fit.trust.thresholds import open_thresholds, settle_thresholds
from workbench.measure import OSUCurve
from workbench.models import LogP, Protocol
from workbench.simulate import simulate_osu
from workbench.tasks import Task

TRUTH = Protocol().with_values({"short.max_size": 512, "eager.max_size": 16384})


@pytest.fixture(scope="module")
def ideal() -> OSUCurve:
    """A curve the protocol model has made itself, so that whatever it misses is not known."""
    return simulate_osu(TRUTH)


@for_each("phase", [0, 1])
def test_a_model_that_is_right_is_right_where_its_regime_is_determined(
    ideal: OSUCurve, phase: int
) -> None:
    held = hold_out(ideal, TRUTH, phase=phase, trials=60)
    assert held.fitted[phase] and not held.fitted[1 - phase]
    # it starts at the truth, so what is left is rounding to whole ticks
    assert held.fitted_rmspe["joint"] < 1e-3
    assert held.determined_rmspe["joint"] < 1e-3


def test_sizes_between_two_regimes_are_open(ideal: OSUCurve) -> None:
    # phase 0 fits 256 B and 1 KiB, 16 KiB and 64 KiB
    held = hold_out(ideal, TRUTH, phase=0, trials=5)
    sizes = ideal.sizes[held.open].tolist()
    assert sizes == [512, 32768]
    assert "without 512 B, 32 KiB, whose regime is open" in repr(held)
    frame = held.to_frame()
    assert frame.loc[frame["open"], "size_bytes"].tolist() == sizes
    assert not (frame["fitted"] & frame["open"]).any()


def test_an_open_threshold_goes_to_the_greatest_value_that_fits_as_well(ideal: OSUCurve) -> None:
    part = ideal.select(np.arange(23) % 2 == 0, "even")
    with FitStudy(part, TRUTH, engine="least-squares") as study:
        result = study.run(5)
    assert open_thresholds(result) == {
        "short.max_size": (256, 1023),
        "eager.max_size": (16384, 65535),
    }
    settled = settle_thresholds(result)
    assert (settled.get("short.max_size"), settled.get("eager.max_size")) == (1023, 65535)
    same = simulate_osu(settled, part.sizes)
    assert np.array_equal(same.latency_s, simulate_osu(result.model, part.sizes).latency_s)


def test_without_settling_the_fitted_model_itself_is_looked_at(ideal: OSUCurve) -> None:
    held = hold_out(ideal, TRUTH, settle=False, trials=5)
    assert held.model == held.result.model


def test_a_model_without_thresholds_leaves_no_size_open() -> None:
    held = hold_out(simulate_osu(LogP()), LogP(), trials=20)
    assert not held.open.any()
    assert held.determined_rmspe == held.held_out_rmspe
    assert "open" not in repr(held)


def test_the_ratio_is_that_of_the_errors_at_the_sizes_it_names() -> None:
    curve = load("azure-hb96v3-hdr")
    held = hold_out(curve, "logp", phase=1, trials=60)
    latency, bandwidth = curve.percent_error(held.simulated)
    both = np.concatenate([latency[~held.fitted], bandwidth[~held.fitted]])
    assert held.held_out_rmspe["joint"] == pytest.approx(np.sqrt(np.mean(both**2)), rel=1e-12)
    assert held.ratio == held.held_out_rmspe["joint"] / held.fitted_rmspe["joint"]


def test_straight_lines_are_exact_on_a_power_law() -> None:
    sizes = 2 ** np.arange(8)
    curve = OSUCurve(
        "power", sizes, 1e-6 * sizes**0.5, 1e9 * sizes**0.25, simulate_osu(LogP()).provenance
    )
    held = hold_out(curve, "logp", phase=1, trials=5)
    assert held.interpolated_rmspe["joint"] < 1e-10  # rounding of logarithms


def test_a_fit_to_one_benchmark_is_looked_at_in_the_other(ideal: OSUCurve) -> None:
    crossed = cross_target(ideal, TRUTH, fitted="bandwidth", trials=5)
    assert (crossed.fitted, crossed.predicted) == ("bandwidth", "latency")
    assert crossed.result.target == "bandwidth"
    # it started at the truth, so nothing but rounding to whole ticks is left
    assert crossed.fitted_rmspe < 1e-3 and crossed.predicted_rmspe < 1e-3
    assert "fitted to bandwidth alone" in repr(crossed)


def test_the_other_benchmark_has_no_part_in_a_fit_to_one() -> None:
    curve = load("azure-hb96v3-hdr")
    other = replace(curve, bandwidth_Bps=3.0 * curve.bandwidth_Bps)
    first, second = (cross_target(c, "protocol", trials=60) for c in (curve, other))
    assert first.result.values == second.result.values
    assert first.predicted_rmspe != second.predicted_rmspe


def test_the_table_has_four_checks_a_machine_and_model_and_can_be_stopped() -> None:
    curves = [load("azure-hb96v3-hdr")]
    table = generalisation_table(curves, ("logp",), trials=10)
    assert table["check"].tolist() == [
        "sizes from the first",
        "sizes from the second",
        "latency alone",
        "bandwidth alone",
    ]
    assert np.allclose(table["ratio"], table["predicted"] / table["fitted"], rtol=1e-12)
    task = Task(lambda row: task.stop())
    short = generalisation_table(curves, ("logp",), trials=10, task=task)
    assert len(short) == 1


def test_an_exact_fit_has_no_ratio_to_speak_of() -> None:
    held = hold_out(simulate_osu(LogP()), LogP(), trials=5)
    assert held.fitted_rmspe["joint"] == held.held_out_rmspe["joint"] == 0.0
    assert math.isnan(held.ratio)


@for_each("every, phase", [(1, 0), (2, 2), (2, -1)])
def test_a_choice_that_holds_nothing_out_is_refused(every: int, phase: int) -> None:
    with pytest.raises(ParameterError, match="every must be at least 2"):
        hold_out(load("azure-hb96v3-hdr"), "logp", every=every, phase=phase)


def test_both_benchmarks_leave_nothing_to_predict() -> None:
    with pytest.raises(ParameterError, match="one benchmark"):
        cross_target(load("azure-hb96v3-hdr"), "logp", fitted="both")
