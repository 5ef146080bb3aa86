"""The plain-Python reference computes what SST/macro v11.1 printed for many switches."""

import json
from pathlib import Path

import pytest

from tests.reference.fabric_config import fabric_config
from tests.reference.fabric_hosts import run_collective
from workbench.models.ini_grammar import override, read_document

pytestmark = pytest.mark.conformance

HERE = Path(__file__).parent / "sstmacro-fabric"
PISCES = json.loads((HERE / "pisces.json").read_text())
LONG = ("alltoall", 8192), ("allgather", 8192)
"""The runs that take plain Python longer than all others together; the kernel runs them."""


def entries(recorded):
    """Return SST/macro's keys and texts for a recorded run."""
    document = read_document(HERE / PISCES["ini"])
    benchmark = {
        "node.app1.mode": recorded["mode"],
        "node.app1.min_size": str(recorded["size"]),
        "node.app1.max_size": str(recorded["size"]),
    }
    if recorded["algorithm"]:
        benchmark[f"node.app1.mpi.{recorded['mode']}"] = recorded["algorithm"]
    override(document, {**PISCES["topologies"][recorded["topology"]], **benchmark})
    return {key: entry.text for key, entry in document.entries.items()}


def name(recorded):
    words = (recorded["topology"], recorded["mode"], recorded["algorithm"], str(recorded["size"]))
    return "-".join(word for word in words if word)


SHORT = [run for run in PISCES["runs"] if (run["mode"], run["size"]) not in LONG]


def test_all_fourteen_runs_are_here():
    assert len(PISCES["runs"]) == 14
    assert len(SHORT) == 9


@pytest.mark.parametrize("recorded", SHORT, ids=name)
def test_pisces(recorded):
    time_us = run_collective(fabric_config(entries(recorded)))[recorded["size"]]
    assert time_us == pytest.approx(recorded["time_us"], rel=1e-8, abs=0.6e-9)
