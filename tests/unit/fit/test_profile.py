from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
from workbench.fit.profile import to_profile, write_profiles

from workbench import datasets
from workbench.errors import ParameterError
from workbench.fit import FitResult, fit
from workbench.fit.trust.bootstrap import intervals
from workbench.models import LogGPS, Profile, Protocol

MACHINE = "azure-hb96v3-hdr"


@pytest.fixture(scope="module")
def fitted() -> FitResult:
    return fit(datasets.load(MACHINE), "protocol", trials=5)


def test_a_profile_holds_the_fit_and_says_how_it_was_made(fitted: FitResult) -> None:
    profile = to_profile(fitted, {"eager.latency": (1e-6, 2e-6)})
    assert profile.machine == MACHINE
    assert profile.model == fitted.model
    assert profile.rmspe == fitted.rmspe
    assert isinstance(fitted.model, Protocol)
    assert profile.loggps == LogGPS.from_protocol(fitted.model, errors=profile.errors)
    assert profile.loggps.errors["L"] > 0
    told = profile.provenance.details
    assert (told["engine"], told["trials"], told["seed"], told["loss"]) == (
        "least-squares",
        "5",
        "0",
        "rmsre",
    )
    assert told["measured"] == fitted.measured.provenance.caption()
    assert profile.provenance.origin == "simulated"


def test_profiles_are_written_by_one_call(fitted: FitResult, tmp_path: Path) -> None:
    folder = tmp_path / "profiles"
    ends = {"eager.latency": (1e-6, 2e-6)}
    made = write_profiles(folder, [MACHINE], intervals=lambda _: ends, trials=5)
    assert [path.name for path in folder.iterdir()] == [f"{MACHINE}.json"]
    assert Profile.load(folder / f"{MACHINE}.json") == made[0] == to_profile(fitted, ends)
    path = to_profile(fitted).save(tmp_path / "one.json")
    assert Profile.load(path) == to_profile(fitted)


def test_refits_give_their_percentiles_and_are_named(fitted: FitResult) -> None:
    drawn = intervals(fitted, draws=2, trials=3)
    profile = to_profile(fitted, drawn)
    assert set(profile.intervals) == set(fitted.values)
    low, _, high = drawn.percentiles("eager.latency")
    assert profile.intervals["eager.latency"] == (low, high)
    assert "2 refits" in profile.provenance.details["intervals"]


def test_a_curve_without_spread_has_no_intervals(tmp_path: Path) -> None:
    def unasked(_: FitResult) -> dict[str, tuple[float, float]]:
        raise AssertionError

    machine = "alps-gh200-slingshot11"
    (made,) = write_profiles(tmp_path, [machine], intervals=unasked, trials=1)
    assert made.intervals == {}


def test_other_models_and_failed_fits_make_no_profile(fitted: FitResult) -> None:
    with pytest.raises(ParameterError, match="got logp; fit with model='protocol'"):
        to_profile(fit(fitted.measured, "logp", trials=1))
    failed = dataclasses.replace(fitted, success=False, message="stopped after 0 of 5 trials")
    with pytest.raises(ParameterError, match="did not: stopped after 0 of 5 trials"):
        to_profile(failed)
