from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from tests.cases import for_each
from workbench.errors import DatasetError, ParameterError, ParseError
from workbench.models import SNAPPR, Profile, Protocol, profile, profiles
from workbench.provenance import Provenance


def example(**changes: Any) -> Profile:
    values: dict[str, Any] = {
        "machine": "made-up",
        "model": Protocol(eager_latency=1.5e-6, eager_bandwidth=1.23456789e10),
        "rmspe": {"joint": 4.2, "latency": 3.0, "bandwidth": math.nan},
        "provenance": Provenance("simulated", "Protocol fitted to something made up"),
        "intervals": {"eager.latency": (1.4e-6, 1.6e-6), "eager.max_size": (8192, 16384)},
    }
    return Profile(**(values | changes))


def test_a_profile_derives_loggps_with_the_errors_of_its_intervals() -> None:
    loggps = example().loggps
    assert loggps.L == 1.5e-6
    assert loggps.G == 1 / 1.23456789e10
    # 90 % of a normal distribution lie within 1.645 standard errors on either side
    assert loggps.errors["L"] == pytest.approx(1e-7 / 1.645, rel=1e-3)
    assert set(loggps.errors) == {"L", "S"}
    assert example(intervals={}).loggps.errors == {}


def test_a_profile_is_read_back_as_it_was_written(tmp_path: Path) -> None:
    known = example()
    path = known.save(tmp_path / "made-up.json")
    again = Profile.load(path)
    assert again == known
    assert again.model == known.model
    assert math.isnan(again.rmspe["bandwidth"])
    assert again != example(machine="other")
    assert "RMSPE 4.2 %" in repr(again)
    assert "8 KiB to 16 KiB" in again._repr_html_()
    assert "1.40 µs to 1.60 µs" in again._repr_html_()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["made-up.json"]


@for_each(
    "intervals, message",
    [
        ({"eager.latency": (2.0, 1.0)}, "interval of eager.latency must be two"),
        ({"eager.latency": (0.0, math.inf)}, "interval of eager.latency must be two"),
        ({"eager.latencies": (0.0, 1.0)}, "did you mean eager.latency"),
    ],
)
def test_an_interval_that_is_none_is_refused(
    intervals: dict[str, tuple[float, float]], message: str
) -> None:
    with pytest.raises(ParameterError, match=message):
        example(intervals=intervals)


def _without(key: str) -> Any:
    def damage(values: dict[str, Any]) -> None:
        del values[key]

    return damage


def _another_model(values: dict[str, Any]) -> None:
    values["model"]["ini"] = SNAPPR().to_ini()


def _another_latency(values: dict[str, Any]) -> None:
    values["loggps"]["L"] = 9.9e-6


@for_each(
    "damage, message",
    [
        (_without("format"), "must have .format."),
        (_without("rmspe"), "'rmspe' is missing"),
        (lambda values: values.update(version=99), "has version 99; this release reads 1"),
        (lambda values: values["rmspe"].pop("joint"), "'joint' is missing"),
        (_another_model, "its model must be protocol; the .ini holds snappr"),
        (_another_latency, "LogGPS parameters are not those of its model"),
    ],
)
def test_a_damaged_profile_says_what_is_wrong(tmp_path: Path, damage: Any, message: str) -> None:
    path = example().save(tmp_path / "made-up.json")
    values = json.loads(path.read_text())
    damage(values)
    path.write_text(json.dumps(values), encoding="utf-8")
    with pytest.raises(ParseError, match=message) as caught:
        Profile.load(path)
    assert caught.value.source == "made-up.json"


def test_text_that_is_no_json_is_refused_with_its_line(tmp_path: Path) -> None:
    path = example().save(tmp_path / "made-up.json")
    path.write_text("\n".join(path.read_text("utf-8").splitlines()[:4]), encoding="utf-8")
    with pytest.raises(ParseError, match="may be cut short") as caught:
        Profile.load(path)
    assert caught.value.line == 4


def test_shipped_profiles_are_found_by_the_name_of_their_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(profiles, "data_folder", lambda: tmp_path)
    assert profiles.profiles() == ()
    with pytest.raises(DatasetError, match="known: none is shipped"):
        profile("made-up")
    (tmp_path / "profiles").mkdir()
    example().save(tmp_path / "profiles" / "made-up.json")
    assert profiles.profiles() == ("made-up",)
    assert profile("made-up") == example()
    with pytest.raises(DatasetError, match="did you mean made-up"):
        profile("made_up")
