from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.cases import for_each
from workbench import datasets, machines, models
from workbench.errors import DatasetError, ParameterError, ParseError
from workbench.machines import Machine, known, loggps_of
from workbench.models import SNAPPR, Protocol
from workbench.provenance import Provenance

MODEL = Protocol(eager_latency=1.5e-6, eager_bandwidth=1.23456789e10)
ENDS = {"eager.latency": (1.4e-6, 1.6e-6), "eager.max_size": (8192.0, 16384.0)}


def example(**changes: Any) -> Machine:
    intervals = changes.get("intervals", ENDS)
    errors = {key: (high - low) / (2 * 1.6448536269514722) for key, (low, high) in ENDS.items()}
    values: dict[str, Any] = {
        "name": "made-up",
        "model": MODEL,
        "loggps": loggps_of(MODEL, None, errors if intervals else None),
        "rmspe": {"joint": 4.2, "latency": 3.0, "bandwidth": math.nan},
        "provenance": Provenance("simulated", "Protocol fitted to something made up"),
        "intervals": intervals,
    }
    return Machine(**(values | changes))


def test_loggps_of_a_protocol_has_the_errors_of_its_intervals() -> None:
    machine = example()
    assert machine.loggps.L == 1.5e-6
    assert machine.loggps.G == 1 / 1.23456789e10
    # 90 % of a normal distribution lie within 1.645 standard errors on either side
    assert machine.errors["eager.latency"] == pytest.approx(1e-7 / 1.645, rel=1e-3)
    assert machine.loggps.errors["L"] == pytest.approx(machine.errors["eager.latency"])


def test_a_machine_is_read_back_as_it_was_written(tmp_path: Path) -> None:
    curve = datasets.load("azure-hb96v3-hdr")
    whole = example(measured=curve, within=curve.alone("latency")).with_parts(
        topology="fat-tree:16", ranks_per_node=64, switch_latency="90ns"
    )
    for machine in (example(), whole):
        again = Machine.load(machine.save(tmp_path / "made-up.json"))
        assert again.to_dict() == machine.to_dict()
        assert again.model == machine.model
        assert math.isnan(again.rmspe["bandwidth"])
    assert "RMSPE 4.2 %" in repr(again)
    assert "8 KiB to 16 KiB" in again._repr_html_()
    assert "1.40 µs to 1.60 µs" in again._repr_html_()
    assert [path.name for path in tmp_path.iterdir()] == ["made-up.json"]


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


def test_parts_are_given_derived_or_assumed_and_say_so() -> None:
    machine = example()
    given = machine.with_parts("measured", "a probe", link_bandwidth="25GB/s", ranks_per_node=4)
    assert given.part("link_bandwidth") == machines.KnownPart(25e9, "measured", "a probe")
    assert machine.part("link_bandwidth").value == pytest.approx(1.23456789e10)
    assert machine.part("link_bandwidth").source == "assumed"
    # two hosts on one switch have the machine's L
    host, switch = (machine.number(f"{one}_latency") for one in ("host", "switch"))
    assert 2 * host + switch == pytest.approx(machine.loggps.L)
    measured = example(measured=datasets.load("azure-hb96v3-hdr"))
    assert measured.part("link_bandwidth").source == "published"
    most = np.nanmax(datasets.load("azure-hb96v3-hdr").bandwidth_Bps)
    assert measured.part("link_bandwidth").value == most
    with pytest.raises(
        ParameterError, match=r"must have topology .* machine set FILE.json topology"
    ):
        machine.part("topology")
    rows = {row.part: (row.value, row.source) for row in given.to_frame().itertuples()}
    assert rows["ranks_per_node"] == ("4", "measured")
    assert rows["link_bandwidth"] == ("25 GB/s", "measured")


@for_each(
    "part, message",
    [
        ({"links": 3}, "a machine has the parts ranks_per_node"),
        ({"link_bandwidth": "25us"}, "link_bandwidth must be"),
        ({"link_bandwidth": 0.0}, "link_bandwidth must be a number of at least 1"),
        ({"ranks_per_node": 0}, "ranks_per_node must be a whole number of at least 1"),
        ({"library": "openmpi"}, "did you mean open-mpi"),
        ({"topology": "fat-trees:16"}, "fat-tree"),
        ({"switch_latency": -1.0}, "switch_latency must be a number of at least 0"),
    ],
)
def test_a_part_that_cannot_be_is_refused(part: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        example().with_parts(**part)


def _without(key: str) -> Any:
    def damage(values: dict[str, Any]) -> None:
        del values[key]

    return damage


def _another_model(values: dict[str, Any]) -> None:
    values["model"]["ini"] = SNAPPR().to_ini()


def _another_part(values: dict[str, Any]) -> None:
    values["given"] = {"links": {"value": 1, "source": "measured", "note": ""}}


@for_each(
    "damage, message",
    [
        (_without("format"), "must have .format."),
        (_without("rmspe"), "rmspe is missing"),
        (lambda values: values.update(version=99), "has version 99; this release reads 1"),
        (_another_model, "variant of SNAPPR must be one of"),
        (
            lambda values: values.update(given={"links": {"value": 1, "source": "measured"}}),
            "parts",
        ),
        (lambda values: values.update(measured=3), "measured must be of type OSUCurve"),
    ],
)
def test_a_damaged_file_says_what_is_wrong(tmp_path: Path, damage: Any, message: str) -> None:
    path = example().save(tmp_path / "made-up.json")
    values = json.loads(path.read_text())
    damage(values)
    path.write_text(json.dumps(values), encoding="utf-8")
    with pytest.raises(ParseError, match=message) as caught:
        machines.load(path)
    assert caught.value.source == "made-up.json"


def test_text_that_is_no_json_is_refused_with_its_line(tmp_path: Path) -> None:
    path = example().save(tmp_path / "made-up.json")
    path.write_text("\n".join(path.read_text("utf-8").splitlines()[:4]), encoding="utf-8")
    with pytest.raises(ParseError, match="may be cut short") as caught:
        machines.load(path)
    assert caught.value.line == 4


def test_machines_are_known_by_name_file_and_ini(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert machines.own() == ()
    assert set(machines.names()) == set(datasets.list().names)
    machine = machines.load("azure-hb96v3-hdr")
    assert machine.curve.name == "azure-hb96v3-hdr"
    path = machines.keep(example())
    assert path == Path("machines/made-up.json")
    assert machines.names()[0] == "made-up"
    assert machines.load("made-up").to_dict() == machines.load(path).to_dict()
    with pytest.raises(DatasetError, match="did you mean made-up"):
        machines.load("made_up")
    with pytest.raises(DatasetError, match="it is a model alone: fit it to OSU output"):
        _ = machines.load("made-up").curve
    for name in ("mine", "azure-hb96v3-hdr"):  # the name of a dataset makes it none
        Path(f"{name}.ini").write_text(models.SNAPPR().to_ini(), encoding="utf-8")
        alone = machines.load(f"{name}.ini")
        assert (alone.name, alone.model) == (name, models.SNAPPR())
        with pytest.raises(DatasetError, match="it is a model alone"):
            _ = alone.curve
    assert alone.loggps.S == models.SNAPPR().mpi.max_eager_msg_size
    with pytest.raises(OSError, match="absent"):
        machines.load("absent.json")


def test_a_machine_is_kept_under_a_name_that_is_no_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert known.keep(example(name="../a b/c")) == Path("machines/a-b-c.json")
