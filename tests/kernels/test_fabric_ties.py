"""Credits that come in one tick come in SST/macro's order, which symmetric runs depend on."""

from pathlib import Path

import pytest

from tests.reference.fabric_config import fabric_config
from tests.reference.fabric_hosts import run_collective as run_reference
from workbench.ini_grammar import override, read_document
from workbench.simulate.fabric.sst import run_collective

pytestmark = pytest.mark.jit_only

MACHINE = Path(__file__).parents[1] / "conformance" / "sstmacro-fabric" / "snappr.ini"

RUNS = [("[6,6]", 36, "alltoall", 4096), ("[8,4]", 32, "allgather", 16384)]
"""Of 405 tori with tight credits, the smallest two with another time on rank 0 where credits of one
tick come in the order in which their packets were queued."""


@pytest.mark.parametrize(("geometry", "ranks", "mode", "size"), RUNS)
def test_credits_of_one_tick(geometry, ranks, mode, size):
    keys = {
        "topology.name": "torus",
        "topology.geometry": geometry,
        "topology.concentration": "1",
        "switch.router.name": "torus_minimal",
        "switch.credits": "8192",
        "node.nic.credits": "8192",
        "node.app1.mode": mode,
        "node.app1.min_size": str(size),
        "node.app1.max_size": str(size),
        "node.app1.launch_cmd": f"aprun -n {ranks} -N 1",
    }
    document = read_document(MACHINE)
    override(document, keys)
    expected = run_reference(fabric_config({k: e.text for k, e in document.entries.items()}))
    assert run_collective(MACHINE, keys).time_us() == pytest.approx(expected, rel=1e-12)
