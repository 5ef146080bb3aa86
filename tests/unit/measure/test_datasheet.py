from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from workbench import datasets
from workbench.errors import DatasetError, ParseError
from workbench.measure.datasheet import DataSheet, datasheet, read_datasheet

ROOT = Path(__file__).resolve().parents[3]
MACHINES = tuple(datasets.list())


def sheet_text(**changes: Any) -> str:
    stated = {"value": "200Gb/s", "status": "published", "source": "a maker's brief", "url": ""}
    values: dict[str, Any] = {
        "machine": "made-up",
        "link_rate": stated,
        "switch_latency": {"value": "130ns", "status": "assumed", "note": "nobody states it"},
        "nic_latency": stated | {"value": "0.6us", "note": "upper end"},
    }
    return json.dumps(values | changes, indent=1)


@pytest.mark.parametrize("machine", MACHINES)
def test_every_machine_has_a_sheet_that_says_where_each_figure_is_from(machine: str) -> None:
    sheet = datasheet(machine)
    assert sheet.machine == machine
    assert set(sheet.quantities) == {"link_rate", "switch_latency", "nic_latency"}
    # 10 to 400 Gb/s, and latencies from one tenth to a few microseconds: a wrong unit is outside.
    assert 1.25e9 <= sheet.link_rate.value <= 5e10
    for latency in (sheet.switch_latency, sheet.nic_latency):
        assert 5e-8 <= latency.value <= 5e-6
    readme = (ROOT / "datasets" / machine / "README.md").read_text(encoding="utf-8")
    section = readme.partition("## Data sheet")[2].partition("\n## ")[0]
    for stated in sheet.quantities.values():
        assert stated.source or stated.note
        assert stated.url.startswith("https://") or not stated.url
        assert stated.note in section
        assert f"| {stated.status} |" in section
        number = stated.text.removesuffix("Gb/s").removesuffix("ns")
        assert f"| {number} {stated.text[len(number) :]} |" in section


def test_a_sheet_gives_si_values_and_tells_published_from_assumed() -> None:
    sheet = read_datasheet(sheet_text())
    assert isinstance(sheet, DataSheet)
    assert sheet.link_rate.value == 25e9
    assert sheet.switch_latency.value == 130e-9
    assert sheet.nic_latency.value == 600e-9
    assert sheet.assumed == ("switch_latency",)
    assert repr(sheet) == (
        "DataSheet(made-up, link 25 GB/s (published), switch 130 ns (assumed), "
        "NIC 600 ns (published))"
    )
    frame = sheet.to_frame()
    assert frame.loc["nic_latency", "stated"] == "0.6us"
    assert frame.loc["switch_latency", "note"] == "nobody states it"
    table = sheet._repr_html_()
    assert table.count("<tr>") == 4
    assert "a maker&#x27;s brief" in table


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"machine": 3}, "must name its machine"),
        ({"mtu": {}}, "got mtu too"),
        ({"link_rate": None}, "link_rate must be stated"),
        ({"link_rate": {"value": 200, "status": "published"}}, r"link_rate\.value must be a text"),
        ({"link_rate": {"value": "1GB/s", "status": "guessed"}}, "published, assumed; got 'gue"),
        ({"link_rate": {"value": "1GB/s", "status": "published"}}, r"source must say where"),
        ({"link_rate": {"value": "1GB/s", "status": "assumed"}}, r"note must say why"),
        (
            {"nic_latency": {"value": "1GB/s", "status": "assumed", "note": "x"}},
            r"nic_latency\.value must be a time",
        ),
        ({"nic_latency": {"value": "0ns", "status": "assumed", "note": "x"}}, "must be positive"),
    ],
)
def test_a_sheet_that_leaves_something_open_is_refused(
    changes: dict[str, Any], message: str
) -> None:
    with pytest.raises(ParseError, match=message) as caught:
        read_datasheet(sheet_text(**changes), source="made-up.json")
    assert caught.value.source == "made-up.json"


def test_text_that_is_no_json_is_refused_with_its_line() -> None:
    with pytest.raises(ParseError, match="must be JSON") as caught:
        read_datasheet(sheet_text().replace('"status"', "status", 1))
    assert caught.value.line == 5


def test_an_unknown_machine_is_refused() -> None:
    with pytest.raises(DatasetError, match="did you mean azure"):
        datasheet("azure_hb96v3_hdr")
