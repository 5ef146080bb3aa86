"""The plain-Python reference computes what SST/macro v11.1 printed for many switches.

The runs that take plain Python longer than all others together are left to the kernels.
"""

import json
from pathlib import Path

import pytest

from tests.reference.fabric_config import fabric_config
from tests.reference.fabric_hosts import run_collective
from workbench.models.ini_grammar import override, read_document

pytestmark = pytest.mark.conformance

HERE = Path(__file__).parent / "sstmacro-fabric"
SNAPPR, RANDOM, PISCES = (
    json.loads((HERE / f"{name}.json").read_text())
    for name in ("snappr", "snappr-random", "pisces")
)
LONG = ("allgather", "alltoall")


def short(recorded):
    return [run for run in recorded["runs"] if run["size"] <= 1024 or run["mode"] not in LONG]


def name(run):
    words = (run["topology"], run["mode"], str(run["size"]), *run["overrides"].values())
    return "-".join(word.replace(" ", "") for word in words)


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


@pytest.mark.parametrize("run", short(SNAPPR), ids=name)
def test_snappr(run):
    check(SNAPPR, run)


@pytest.mark.parametrize("run", short(PISCES), ids=name)
def test_pisces(run):
    check(PISCES, run)


@pytest.mark.parametrize("run", RANDOM["runs"], ids=lambda run: run["name"])
def test_random_snappr(run):
    wanted = {int(size): time_us for size, time_us in run["time_us"].items()}
    assert compute(RANDOM, run, {}) == pytest.approx(wanted, rel=1e-8, abs=0.6e-9)
