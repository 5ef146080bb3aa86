"""Jobs that share a network: who is slowed down, by how much, and who is not."""

from __future__ import annotations

import numpy as np
import pytest

from tests.cases import for_each
from tests.kernels.test_llamp import chains
from workbench import topology
from workbench.errors import ParameterError
from workbench.models import SNAPPR
from workbench.programs import generate
from workbench.programs.collectives import schedule
from workbench.programs.graph import RECV, SEND
from workbench.simulate.fabric.concurrent_jobs import run_jobs, side_by_side
from workbench.simulate.fabric.fabric import Fabric
from workbench.topology import Topology

MODEL = SNAPPR(injection_bandwidth=1e10, link_bandwidth=1e10, variant="repaired")
BYTE = 1e-10
LATENCY = 1e-6
SIZE = 1_000_000


def dumbbell():
    """Two routers of two hosts each, joined by one link."""
    return Topology(
        "dumbbell", 2, np.array([[0, 1]]), np.ones(1), ("terminal", "link"),
        np.array([0, 0, 1, 1]), np.full(2, -1),
    )  # fmt: skip


def across():
    """One message from one side to the other, by round robin."""
    return chains([(SEND, SIZE)], [(RECV, SIZE)])


def test_two_jobs_over_one_link_have_half_of_it_each() -> None:
    jobs = {"one": across(), "other": across()}
    run = run_jobs(jobs, Fabric(dumbbell(), MODEL, congestion="flow"), placement="round-robin")
    assert run.alone_s == pytest.approx([LATENCY + SIZE * BYTE] * 2, rel=1e-12)
    assert run.shared_s == pytest.approx([LATENCY + 2 * SIZE * BYTE] * 2, rel=1e-12)
    assert run.slowdown == pytest.approx([201 / 101] * 2, rel=1e-12)


def test_packets_of_two_jobs_share_the_link_as_well() -> None:
    run = run_jobs(
        {"one": across(), "other": across()},
        Fabric(dumbbell(), MODEL, congestion="packet"),
        placement="round-robin",
    )
    # Packet by packet: the last packets of both end within a packet's time of each other.
    assert run.slowdown == pytest.approx([201 / 101] * 2, rel=0.01)


@for_each("congestion", ["flow", "packet"])
def test_a_job_in_groups_of_its_own_is_not_slowed_down(congestion) -> None:
    network = topology.dragonfly(a=4, p=2, h=2)
    jobs = {
        "halo": generate.halo(8, iterations=1).graph(),
        "alltoall": schedule("alltoall", "linear", 8, size=100_000).graph(),
    }
    run = run_jobs(jobs, Fabric(network, MODEL, congestion=congestion), placement="by-group")
    assert run.slowdown.tolist() == [1.0, 1.0]
    assert run.to_frame()["groups"].tolist() == [1, 1]


def test_scattered_jobs_are_slowed_down() -> None:
    network = topology.dragonfly(a=4, p=2, h=2)
    graph = schedule("alltoall", "linear", 24, size=65_536).graph()
    fabric = Fabric(network, MODEL, "deterministic", "flow")
    run = run_jobs({"a": graph, "b": graph, "c": graph}, fabric, placement="random", rng=1)
    assert (run.slowdown > 1.1).all()
    again = run_jobs({"a": graph, "b": graph, "c": graph}, fabric, placement="random", rng=1)
    assert np.array_equal(run.slowdown, again.slowdown)


def test_side_by_side_keeps_each_program_as_it_is() -> None:
    graphs = [generate.cg(4, iterations=1).graph(), across(), generate.halo(8).graph()]
    joined = side_by_side(graphs, "three")
    assert joined.num_ranks == 14
    ranks = np.cumsum([0, *(graph.num_ranks for graph in graphs)])
    for graph, first, last in zip(graphs, ranks[:-1], ranks[1:], strict=True):
        assert joined.select(range(first, last)) == graph


def test_the_result_says_what_it_is() -> None:
    run = run_jobs(
        {"one": across(), "<other>": across()},
        Fabric(dumbbell(), MODEL, congestion="flow"),
        placement="round-robin",
    )
    assert "one 1.99×, <other> 1.99× as long as alone, simulated" in repr(run)
    assert "&lt;other&gt;" in run._repr_html_()
    assert run.to_dict()["jobs"]["one"]["slowdown"] == pytest.approx(201 / 101)
    assert run.hosts_of(1).tolist() == [1, 3]


def test_no_jobs_are_refused() -> None:
    with pytest.raises(ParameterError, match="at least one program"):
        run_jobs({}, Fabric(dumbbell(), MODEL, congestion="flow"))
