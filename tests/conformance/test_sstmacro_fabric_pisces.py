"""Collectives over many PISCES switches take as long as SST/macro v11.1 printed.

All fourteen recorded runs to the printed digits, and four that were noted with three.
"""

import json
from pathlib import Path

import pytest

from tests.cases import for_each
from workbench.simulate.fabric.sst import run_collective

pytestmark = [pytest.mark.conformance, pytest.mark.jit_only]

HERE = Path(__file__).parent / "sstmacro-fabric"
RECORDED = json.loads((HERE / "pisces.json").read_text())


def time_us(run):
    overrides = {
        **RECORDED["topologies"][run["topology"]],
        **run["overrides"],
        "node.app1.mode": run["mode"],
        "node.app1.min_size": str(run["size"]),
        "node.app1.max_size": str(run["size"]),
    }
    result = run_collective(HERE / RECORDED["ini"], overrides)
    assert not result.beyond_sstmacro
    return result.time_us()[run["size"]]


def test_all_fourteen_runs_are_here():
    assert len(RECORDED["runs"]) == 14
    assert {run["topology"] for run in RECORDED["runs"]} == {"torus", "fat_tree"}


@for_each("run", RECORDED["runs"])
def test_printed_digits(run):
    assert time_us(run) == pytest.approx(run["time_us"], rel=1e-8, abs=0.6e-9)


@for_each("run", RECORDED["rounded"])
def test_rounded_figures(run):
    last_digit = 0.1 if run["time_us"] < 100 else 1.0
    assert abs(time_us(run) - run["time_us"]) <= last_digit / 2
