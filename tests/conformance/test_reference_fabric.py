"""The plain-Python reference computes what SST/macro v11.1 printed for many switches.

The kernels are compared with every figure (test_sstmacro_fabric.py and ..._pisces.py);
the runs that take plain Python longer than all others together are left to them.
"""

import json
from pathlib import Path

import pytest

from tests.cases import for_each
from tests.reference.fabric_config import fabric_config
from tests.reference.fabric_hosts import run_collective
from workbench.ini_grammar import override, read_document

pytestmark = pytest.mark.conformance

HERE = Path(__file__).parent / "sstmacro-fabric"
SNAPPR, RANDOM, PISCES = (
    json.loads((HERE / f"{name}.json").read_text())
    for name in ("snappr", "snappr-random", "pisces")
)
LONG = ("allgather", "alltoall")


def short(recorded):
    return [run for run in recorded["runs"] if run["size"] <= 1024 or run["mode"] not in LONG]


def compute(recorded, run, benchmark):
    """Return the times of a recorded run, in us by size."""
    document = read_document(HERE / recorded["ini"])
    topology = recorded["topologies"][run["topology"]]
    override(document, {**topology, **run["overrides"], **benchmark})
    return run_collective(fabric_config({k: e.text for k, e in document.entries.items()}))


def check(recorded, run):
    size = str(run["size"])
    benchmark = {
        "node.app1.mode": run["mode"],
        "node.app1.min_size": size,
        "node.app1.max_size": size,
    }
    computed = compute(recorded, run, benchmark)[run["size"]]
    assert computed == pytest.approx(run["time_us"], rel=1e-8, abs=0.6e-9)


def check_random(run):
    wanted = {int(size): time_us for size, time_us in run["time_us"].items()}
    assert compute(RANDOM, run, {}) == pytest.approx(wanted, rel=1e-8, abs=0.6e-9)


@for_each("run", short(SNAPPR)[::4])
def test_snappr(run):
    check(SNAPPR, run)


@for_each("run", short(PISCES)[::3])
def test_pisces(run):
    check(PISCES, run)


@for_each("run", RANDOM["runs"][::5])
def test_random_snappr(run):
    check_random(run)


@pytest.mark.deep
@for_each("recorded", [SNAPPR, PISCES])
def test_each_short_run(recorded):
    for run in short(recorded):
        check(recorded, run)


@pytest.mark.deep
@for_each("run", RANDOM["runs"])
def test_each_random_snappr(run):
    check_random(run)
