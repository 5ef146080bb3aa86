"""Collective benchmarks from SST/macro's configurations: reading, refusing, running, stopping."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st

from kernels.fabric import layout
from tests.cases import for_each
from workbench.errors import (
    ConfigurationError,
    ParameterError,
    ParseError,
    SimulationHalted,
    WorkbenchError,
)
from workbench.simulate.fabric import sst
from workbench.simulate.fabric.sst import run_collective
from workbench.simulate.fabric.sst_configuration import read_configuration

MACHINE = Path(__file__).parents[3] / "conformance" / "sstmacro-fabric" / "snappr.ini"
TORUS = {
    "topology.name": "torus",
    "topology.geometry": "[4,4]",
    "switch.router.name": "torus_minimal",
    "node.app1.mode": "allgather",
    "node.app1.min_size": "64",
    "node.app1.max_size": "4096",
    "node.app1.launch_cmd": "aprun -n 16 -N 1",
}
DRAGONFLY = TORUS | {
    "topology.name": "dragonfly",
    "topology.geometry": "[4,9]",
    "topology.h": "2",
    "topology.inter_group": "circulant",
    "switch.router.name": "dragonfly_minimal",
}


def test_a_configuration_says_what_runs():
    c = read_configuration(MACHINE, TORUS | {"node.app1.mpi.allgather": "ring"})
    assert (c.ranks, c.mode, c.algorithm) == (16, "allgather", "ring")
    assert c.sizes == (64, 256, 1024, 4096)
    assert (c.iterations, c.eager_cutoff) == (1, 512)
    assert c.machine == "4x4 torus"
    assert c.network.wiring.num_hosts == 16


@for_each(
    "changed, says",
    [
        ({"topology.name": "hypercube"}, "torus or fat_tree or dragonfly"),
        ({"switch.router.name": "torus_valiant"}, "torus_minimal"),
        ({"topology.geometry": "[4,0]"}, "at least 1"),
        ({"topology.geometry": "[4,four]"}, "whole numbers"),
        ({"topology.geometry": "[100,100]"}, "at most 4096 switches"),
        ({"topology.geometry": "[999999999,999999999]"}, "at most 4096 switches"),
        ({"topology.concentration": "4096", "topology.geometry": "[300]"}, "1048576 ports"),
        ({"topology.h": "2"}, "not a key of this topology, which has topology.concentration"),
        ({"topology.concentration": "0"}, "from 1 to 4096"),
        ({"node.app1.mode": "alltoallv"}, "allgather or alltoall or allreduce"),
        ({"node.app1.mpi.allgather": "direct"}, "must be one of bruck, ring"),
        ({"node.app1.max_size": "32"}, "must be at least node.app1.min_size = 64"),
        ({"node.app1.max_size": "4 parsecs"}, "parsecs"),
        ({"node.app1.coll_iters": "0"}, "whole number from 1"),
        ({"node.app1.launch_cmd": "aprun -n 17 -N 1"}, "1 to 16 ranks"),
        ({"node.app1.launch_cmd": "aprun -n 16 -N 2"}, "N ranks, one a node"),
        ({"node.app1.launch_cmd": "run"}, "N ranks, one a node"),
        ({"switch.credits": "1500"}, "switch.credits = 1500 B on 2 lanes is 750 B each"),
        ({"switch.link.latency": "0ns"}, "a link must take some time: switch.link.latency"),
        ({"node.nic.mtv": "512"}, "did you mean node.nic.mtu"),
    ],
)
def test_what_is_not_modelled_is_refused(changed, says):
    with pytest.raises((ParameterError, ConfigurationError), match=says):
        run_collective(MACHINE, TORUS | changed)


@for_each("key", ["topology.name", "node.app1.mode", "node.app1.min_size"])
def test_what_is_missing_is_named(key):
    given_keys = {name: text for name, text in TORUS.items() if name != key}
    with pytest.raises(ParseError, match=f"{key} is missing"):
        read_configuration(MACHINE, given_keys)


def test_a_dragonfly_whose_groups_are_apart_is_refused():
    with pytest.raises(ConfigurationError, match=r"reach all groups.*raise topology\.h"):
        read_configuration(MACHINE, DRAGONFLY | {"topology.geometry": "[2,9]"})


def test_a_fat_tree_whose_ports_do_not_match_is_refused():
    shape = {
        "num_agg_subtrees": "2",
        "leaf_switches_per_subtree": "2",
        "agg_switches_per_subtree": "2",
        "num_core_switches": "2",
        "up_ports_per_leaf_switch": "3",
        "down_ports_per_agg_switch": "2",
        "up_ports_per_agg_switch": "2",
        "down_ports_per_core_switch": "4",
    }
    changed = {"topology.name": "fat_tree", "switch.router.name": "fat_tree"}
    changed |= {f"topology.{key}": text for key, text in shape.items()}
    base = {key: text for key, text in TORUS.items() if key != "topology.geometry"}
    with pytest.raises(ConfigurationError, match="got 6 and 4"):
        read_configuration(MACHINE, base | changed)


@given(st.sampled_from(sorted(TORUS)), st.text(max_size=30))
def test_any_text_is_read_or_refused(key, text):
    try:
        read_configuration(MACHINE, TORUS | {key: text})
    except WorkbenchError as error:
        assert str(error)


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(content):
    with pytest.raises(WorkbenchError):
        read_configuration(content)


def test_one_rank_waits_for_none():
    changed = {"node.app1.launch_cmd": "aprun -n 1 -N 1"}
    assert set(run_collective(MACHINE, TORUS | changed).times_s) == {0.0}


@pytest.mark.jit_only
def test_ranks_use_the_first_nodes_of_a_larger_machine():
    changed = {"node.app1.launch_cmd": "aprun -n 3 -N 1"}
    result = run_collective(MACHINE, TORUS | changed)
    assert result.of_ranks_s.shape == (3, 4)
    assert np.all(result.of_ranks_s > 0)
    assert np.array_equal(result.of_ranks_s[0], result.times_s)
    assert "simulated" in repr(result)
    drawn = [one.data_source.data for one in result.plot().renderers]
    assert drawn[0]["size"] == list(result.sizes)
    assert drawn[0]["time"] == pytest.approx(list(result.time_us().values()), rel=1e-12)


@pytest.mark.jit_only
def test_a_run_that_outgrows_its_room_goes_on(monkeypatch):
    expected = run_collective(MACHINE, DRAGONFLY)
    grown = []

    def tight(*arguments, **options):
        state = build(*arguments, **options)
        state.q = state.q[: (layout.RECORDS_MARGIN + 8) * layout.RECORD].copy()
        state.s = state.s[: state.s[layout.END] + layout.STATE_MARGIN + 8].copy()
        grown.append((state, len(state.q), len(state.s)))
        return state

    build = sst.build
    monkeypatch.setattr(sst, "build", tight)
    result = run_collective(MACHINE, DRAGONFLY)
    assert result.time_us() == expected.time_us()
    state, records, cells = grown[0]
    assert len(state.q) > records
    assert len(state.s) > cells


@pytest.mark.jit_only
def test_a_run_can_be_stopped(stopped):
    with pytest.raises(SimulationHalted):
        run_collective(MACHINE, TORUS | {"node.app1.coll_iters": "1000"}, task=stopped)


@pytest.mark.jit_only
def test_a_second_run_gives_the_same():
    first, second = (run_collective(MACHINE, DRAGONFLY) for _ in range(2))
    assert np.array_equal(first.of_ranks_s, second.of_ranks_s)
    assert first.packet_hops == second.packet_hops
