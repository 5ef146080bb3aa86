"""What a result prints, tabulates, saves and reads back."""

from __future__ import annotations

import dataclasses
import json
import math
from pathlib import Path

import numpy as np
import pytest

from tests.cases import for_each
from workbench import datasets
from workbench.errors import ParseError
from workbench.fit import FitResult, SearchSpace, fit
from workbench.fit.result import PARAMETER_HEAD, short_key
from workbench.fit.trust.identify import DETERMINED
from workbench.measure import OSUCurve, Spread, rail_step
from workbench.models import PISCES, SNAPPR, LogP, NetworkModel, SnapprMemory, read_ini

pytestmark = pytest.mark.usefixtures("toy")


@pytest.fixture
def result(machine: OSUCurve) -> FitResult:
    return fit(machine, "snappr", trials=40)


def test_one_line_says_what_a_reader_asks_first(result: FitResult) -> None:
    line = repr(result)
    assert line.startswith("FitResult(SNAPPR, 8 parameters, 45 points, RMSPE ")
    assert (
        f"{result.rmspe['joint']:.1f} % (latency {result.rmspe['latency']:.1f}, bandwidth" in line
    )
    assert "\n" not in line


def test_values_at_a_bound_are_named(machine: OSUCurve) -> None:
    space = SearchSpace.for_model(SNAPPR()).with_bounds(
        "node.nic.injection.bandwidth", "1GB/s", "1.0001GB/s"
    )
    result = fit(
        machine,
        "snappr",
        space=space.with_bounds("node.nic.injection.latency", 1e-3, 0.9),
        trials=30,
    )
    assert result.at_bound["node.nic.injection.latency"] == "lower"
    assert "injection.latency at lower bound" in repr(result)
    frame = result.to_frame().set_index("parameter")
    assert frame.loc["node.nic.injection.latency", "at_bound"] == "lower"
    assert "<b>lower</b>" in result._repr_html_()


def test_short_keys_tell_the_searched_parameters_apart() -> None:
    for model in (SNAPPR().with_values({"node.nic.negligible_size": 256}), LogP(), PISCES()):
        keys = SearchSpace.for_model(model).keys
        assert len({short_key(key) for key in keys}) == len(keys)


def test_the_variant_is_reported(machine: OSUCurve) -> None:
    result = fit(machine, SNAPPR(variant="repaired"), trials=5)
    assert repr(result).startswith("FitResult(SNAPPR repaired, ")
    assert result.variant == "repaired"
    assert "variant repaired" in result._repr_html_()


def test_percent_error_is_signed_and_by_size(result: FitResult, machine: OSUCurve) -> None:
    errors = result.percent_error()
    assert errors.index.tolist() == machine.sizes.tolist()
    assert list(errors.columns) == ["latency", "bandwidth"]
    assert np.isnan(errors["latency"].iloc[3])
    assert result.simulated is not None
    expected = 100 * (result.simulated.latency_us[0] / machine.latency_us[0] - 1)
    assert errors["latency"].iloc[0] == pytest.approx(expected, rel=1e-9)
    rms = np.sqrt(np.nanmean(np.square(errors["latency"])))
    assert rms == pytest.approx(result.rmspe["latency"], rel=1e-12)


def test_tables_hold_the_fitted_values_and_both_curves(result: FitResult) -> None:
    frame = result.to_frame()
    assert frame["parameter"].tolist() == list(result.space.keys)
    assert dict(zip(frame["parameter"], frame["value"], strict=True)) == result.values
    assert set(frame["unit"]) == {"B", "s", "B/s"}
    curves = result.curves_frame()
    assert len(curves) == 23
    assert curves["simulated_latency_us"].notna().all()
    html = result._repr_html_()
    assert html.count("<tr>") == 1 + len(frame)
    assert "node.nic.injection.latency" in html


def test_a_report_has_standard_errors_bounds_and_correlations(result: FitResult) -> None:
    near = result.nearby
    assert near is not None and near.refitted == {}, "no scans in a first report"
    errors = result.to_frame().set_index("parameter")["stderr"]
    for key, share in zip(near.keys, near.relative_error, strict=True):
        determined = share < DETERMINED and key not in near.flat
        expected = share * result.values[key] if determined else np.nan
        assert errors[key] == pytest.approx(expected, rel=1e-12, nan_ok=True)
    assert 0 < errors.notna().sum() < len(errors), "some are determined, and some are not"
    rows = {row[0]: dict(zip(PARAMETER_HEAD, row, strict=True)) for row in result.parameter_rows()}
    assert list(rows) == list(result.space.keys)
    for key, row in rows.items():
        assert ("%" in row["±"]) == np.isfinite(errors[key])
        assert row["from"] == result.space[key].text(result.space[key].low)
    above = np.argwhere(np.triu(np.abs(near.correlation) >= 0.9, k=1))
    assert len(above) == len(near.correlated(0.9)) > 0
    for one, other in above:
        assert near.keys[one] in result.correlated and near.keys[other] in result.correlated
    assert result.correlated in result._repr_html_().replace("&#x27;", "'")


def test_a_report_leaves_standard_errors_that_take_long_to_the_caller(
    machine: OSUCurve, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("workbench.fit.result.MOST_SECONDS", 0.0)
    result = fit(machine, "snappr", trials=3)
    assert result.nearby is None and result.to_frame()["stderr"].isna().all()
    assert "left to identify(scan=False)" in result._repr_html_()
    assert result.identify(scan=False).keys == result.space.keys


def test_the_ini_is_the_fitted_model(result: FitResult) -> None:
    assert read_ini(result.to_ini()) == result.model


def test_provenance_says_simulated_and_of_what(result: FitResult) -> None:
    assert result.provenance.origin == "simulated"
    assert "fitted to a machine made up for tests" in result.provenance.title
    assert "40 least-squares trials, seed 0, variant sstmacro" in result.provenance.caption()


@for_each(
    "model",
    [
        SNAPPR(),
        SNAPPR(variant="repaired", memory=SnapprMemory()),
        LogP(),
        PISCES(variant="repaired"),
    ],
)
def test_a_saved_result_is_read_back_equal(
    machine: OSUCurve, tmp_path: Path, model: NetworkModel
) -> None:
    result = fit(machine, model, trials=8)
    path = result.save(tmp_path / "fit.json")
    again = FitResult.load(path)
    assert again == result
    assert again.model == result.model
    assert again.losses.tolist() == result.losses.tolist()
    assert again.space == result.space
    assert repr(again) == repr(result)
    assert [p.name for p in tmp_path.iterdir()] == ["fit.json"]


def test_spreads_notes_and_failures_are_saved_too(machine: OSUCurve, tmp_path: Path) -> None:
    n = len(machine)
    values = np.linspace(1e-6, 2e-6, n)
    values[2] = np.nan
    spread = Spread(values, values, values, values, values, np.arange(n))
    curve = OSUCurve(
        name="spread",
        sizes=machine.sizes,
        latency_s=machine.latency_s,
        bandwidth_Bps=machine.bandwidth_Bps,
        provenance=machine.provenance,
        latency_spread=spread,
        notes=("line 7 was not understood",),
    )
    space = (
        SearchSpace.for_model(SNAPPR())
        .with_bounds("node.nic.credits", "1KB", "2KB")
        .fix("node.nic.mtu", "8KB")
    )
    failed = fit(curve, "snappr", space=space, trials=3)
    again = FitResult.load(failed.save(tmp_path / "failed.json"))
    assert again == failed
    assert not again.success
    assert again.measured.notes == curve.notes
    assert again.space.fixed == {"node.nic.mtu": 8000}


def test_results_that_differ_are_not_equal(result: FitResult, machine: OSUCurve) -> None:
    assert result != fit(machine, "snappr", trials=40, seed=1)
    assert result != "a text"


def test_damaged_files_are_reported(result: FitResult, tmp_path: Path) -> None:
    path = result.save(tmp_path / "fit.json")
    whole = path.read_text()

    path.write_text(whole[: len(whole) // 2])
    with pytest.raises(ParseError, match=r"fit\.json:\d+: a saved FitResult must be JSON"):
        FitResult.load(path)

    path.write_text('{"format": "something else"}')
    with pytest.raises(ParseError, match=r"must have .format."):
        FitResult.load(path)

    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ParseError, match="UTF-8"):
        FitResult.load(path)

    values = json.loads(whole)
    path.write_text(json.dumps({**values, "version": 99}))
    with pytest.raises(ParseError, match="version 99"):
        FitResult.load(path)

    for key in ("model", "measured", "losses", "space", "rmspe", "target"):
        path.write_text(json.dumps({k: v for k, v in values.items() if k != key}))
        with pytest.raises(ParseError, match=f"{key} is missing"):
            FitResult.load(path)

    for key, wrong in (
        ("losses", [1, "x"]),
        ("model", {"name": 1}),
        ("target", "all"),
        ("measured", 3),
    ):
        path.write_text(json.dumps({**values, key: wrong}))
        with pytest.raises(ParseError, match="a saved FitResult must be complete, as it was saved"):
            FitResult.load(path)


def test_a_measurement_that_contradicts_itself_is_named_in_the_result() -> None:
    result = fit(datasets.load("gcp-c2d-ethernet-gce"), "logp", trials=3)
    assert "measured bandwidth contradicts latency" in repr(result)
    assert "no model of successive stages fits both" in result._repr_html_()
    assert fit(datasets.load("azure-hb96v3-hdr"), "logp", trials=3).contradiction == ""


def test_criteria_are_those_of_the_relative_errors(machine: OSUCurve) -> None:
    """By hand from the percent errors: n ln(mean square) + 2k, and ln n for each parameter."""
    result = fit(machine, "logp", trials=5)
    errors = result.percent_error().to_numpy().ravel() / 100.0
    known = errors[np.isfinite(errors)]
    n, k = len(known), len(result.space)
    likelihood = n * math.log(float((known**2).mean()))
    assert n == result.points
    assert result.aic == pytest.approx(likelihood + 2 * k)
    assert result.bic == pytest.approx(likelihood + math.log(n) * k)
    assert f"AIC {result.aic:.1f}, BIC {result.bic:.1f}" in result._repr_html_()
    nothing = dataclasses.replace(result, success=False, simulated=None)
    assert (nothing.aic, nothing.bic) == (math.inf, math.inf)


def test_a_model_that_leaves_much_names_one_that_follows_better() -> None:
    machine = datasets.load("llnl-dane-omnipath")
    poor = fit(machine, "snappr", trials=2)
    assert poor.rmspe["joint"] > 20
    left = f"snappr leaves {poor.rmspe['joint']:.1f} % (RMSPE); the model protocol leaves "
    assert poor.better.startswith(left)
    assert fit(machine, "protocol", trials=2).better == ""


def test_no_more_points_than_parameters_is_said_beside_the_errors(machine: OSUCurve) -> None:
    few = OSUCurve(
        "few",
        machine.sizes[:2],
        machine.latency_s[:2],
        np.full(2, np.nan),
        machine.provenance,
    )
    result = fit(few, "protocol", trials=2, target="latency")
    assert result.points == 2
    assert "no more points than parameters" in repr(result)
    assert "2 points cannot determine" in result._repr_html_()
    assert fit(machine, "logp", trials=2).underdetermined == ""


def test_a_bandwidth_that_steps_up_has_a_hint(machine: OSUCurve) -> None:
    sizes = 2 ** np.arange(10, 23)
    one, two = sizes / (3e-7 + sizes / 12e9), sizes / (2e-6 + sizes / 24e9)
    nothing = np.full(len(sizes), np.nan)
    for rates, hint in ((np.where(sizes < 65536, one, two), "over 2 rails"), (one, ""), (two, "")):
        curve = OSUCurve("rails", sizes, nothing, rates, machine.provenance)
        said = rail_step(curve)
        assert hint in said
        assert bool(said) == bool(hint)
        assert fit(curve, "logp", trials=2, target="bandwidth").rails == said
    for name in ("azure-hb96v3-hdr", "llnl-dane-omnipath", "aws-hpc6a-efa"):
        assert rail_step(datasets.load(name)) == ""
