"""``workbench osu`` prints what SST/macro v11.1 printed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cases import for_each
from workbench.cli import main

pytestmark = pytest.mark.conformance

SETS = Path(__file__).parent / "sstmacro"
RECORDED = sorted(SETS.glob("*.json"))

RELATIVE = 1e-8  # nine digits after the point are printed, and most figures are above 0.1
LAST_DIGIT_US = 0.6e-9  # what rounding to nine digits leaves of latencies far below
# PISCES delivers packets of one and two bytes by letting the clock wrap round in double precision,
# in steps of 2048 ticks: where 0.0 is printed, what is left depends on the time of day.
ONE_PICOSECOND_US = 1e-6


def osu(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    status = main(["osu", *words, "--json"])
    out, err = capsys.readouterr()
    assert status == 0, err
    printed: dict[str, Any] = json.loads(out)
    return printed


def test_all_nineteen_sets_are_here() -> None:
    assert len(RECORDED) == 19


@for_each("counts", ["default", "recorded"])
@for_each("path", RECORDED)
def test_recorded_set(capsys: pytest.CaptureFixture[str], path: Path, counts: str) -> None:
    recorded = json.loads(path.read_text())
    words = ["--config", str(SETS / recorded["ini"]), "--window", str(recorded["window"])]
    for key, text in recorded["overrides"].items():
        words += ["-p", f"{key}={text}"]
    if counts == "recorded":
        words += ["--iterations", str(recorded["iters"]["lat_iters"])]
        words += ["--warmup", str(recorded["iters"]["lat_skip"])]
    printed = osu(capsys, *words)
    assert printed["variant"] == "sstmacro"
    assert printed["latency_us"].keys() == recorded["latency_us"].keys()
    assert len(recorded["latency_us"]) == 23
    for size, latency_us in recorded["latency_us"].items():
        rest = LAST_DIGIT_US if latency_us else ONE_PICOSECOND_US
        assert printed["latency_us"][size] == pytest.approx(latency_us, rel=RELATIVE, abs=rest)
        bandwidth_MBps = recorded["bandwidth_MBps"][size]
        assert printed["bandwidth_MBps"][size] == pytest.approx(
            bandwidth_MBps, rel=RELATIVE, abs=0.0
        )


def test_without_a_file_the_set_is_that_of_snappr_ini(capsys: pytest.CaptureFixture[str]) -> None:
    changes = ("-p", "switch.link.bandwidth=6GB/s")
    file = ("--config", str(SETS / "snappr.ini"))
    assert osu(capsys) == osu(capsys, *file)
    assert osu(capsys, *changes) == osu(capsys, *file, *changes)
    assert osu(capsys, *changes) != osu(capsys)
