"""Collectives over many SNAPPR switches take as long as SST/macro v11.1 printed, to the digits."""

import json
from pathlib import Path

import pytest

from tests.cases import for_each
from workbench.simulate.fabric.sst import run_collective

pytestmark = [pytest.mark.conformance, pytest.mark.jit_only]

HERE = Path(__file__).parent / "sstmacro-fabric"
RECORDED = json.loads((HERE / "snappr.json").read_text())
RANDOM = json.loads((HERE / "snappr-random.json").read_text())

RELATIVE = 1e-8
LAST_DIGIT_US = 0.6e-9  # nine digits after the point are printed


def times(recorded, run, overrides):
    """Return the times that the kernel computes for a recorded run, in us by size."""
    given = {**recorded["topologies"][run["topology"]], **run["overrides"], **overrides}
    result = run_collective(HERE / recorded["ini"], given)
    assert not result.beyond_sstmacro
    return result.time_us()


def test_all_runs_are_here():
    assert (len(RECORDED["runs"]), len(RANDOM["runs"])) == (43, 40)


@for_each("run", RECORDED["runs"])
def test_recorded(run):
    size = str(run["size"])
    overrides = {
        "node.app1.mode": run["mode"],
        "node.app1.min_size": size,
        "node.app1.max_size": size,
    }
    computed = times(RECORDED, run, overrides)
    wanted = pytest.approx(run["time_us"], rel=RELATIVE, abs=LAST_DIGIT_US)
    assert computed == {run["size"]: wanted}


@for_each("run", RANDOM["runs"])
def test_random_configuration(run):
    wanted = {
        int(size): pytest.approx(time_us, rel=RELATIVE, abs=LAST_DIGIT_US)
        for size, time_us in run["time_us"].items()
    }
    assert times(RANDOM, run, {}) == wanted
