"""Where results go beyond SST/macro v11.1: fat trees on which it ends, packets it never places."""

from pathlib import Path

import pytest
from hypothesis import assume, given, strategies as st

from tests.cases import for_each
from workbench.errors import ConfigurationError
from workbench.simulate.fabric.sst import run_collective
from workbench.simulate.fabric.sst_configuration import read_configuration
from workbench.simulate.fabric.sst_limits import check_fat_tree, fat_tree_limit

MACHINES = Path(__file__).parents[3] / "conformance" / "sstmacro-fabric"
KEYS = (
    "num_agg_subtrees",
    "leaf_switches_per_subtree",
    "agg_switches_per_subtree",
    "num_core_switches",
    "up_ports_per_leaf_switch",
    "down_ports_per_agg_switch",
    "up_ports_per_agg_switch",
    "down_ports_per_core_switch",
)
GOOD = (2, 2, 2, 2, 2, 2, 2, 4)


def shape(*numbers):
    return dict(zip(KEYS, numbers, strict=True))


def run(numbers, size=64, machine="snappr.ini", **more):
    keys = {f"topology.{key}": str(number) for key, number in shape(*numbers).items()}
    return run_collective(
        MACHINES / machine,
        keys
        | {
            "topology.name": "fat_tree",
            "topology.concentration": "2",
            "switch.router.name": "fat_tree",
            "node.app1.mode": "allgather",
            "node.app1.min_size": str(size),
            "node.app1.max_size": str(size),
            "node.app1.launch_cmd": f"aprun -n {2 * numbers[0] * numbers[1]} -N 1",
        }
        | more,
    )


def sstmacro_ends(trees, leaves, aggs, cores, leaf_up, agg_down, agg_up, core_down):
    """FatTree::checkInput and connectedOutports, and SnapprSwitch::connectInput, as loops."""
    if core_down < trees or agg_down < leaves or core_down % trees or agg_down % leaves:
        return True
    if agg_up * aggs < cores or leaf_up < aggs or leaf_up % aggs:
        return True
    taken = set()
    for tree in range(trees):
        for place in range(leaves):
            for up in range(leaf_up):
                to, port = divmod(place + up * leaves, agg_down)
                taken.add(("agg", tree, to, port))
        for place in range(aggs):
            for down in range(agg_down):
                port = place + down // leaves * leaves
                where = ("leaf", tree, down % leaves, port)
                if port >= leaf_up or where in taken:
                    return True
                taken.add(where)
            for up in range(agg_up):
                number = up * aggs * trees + place * trees + tree
                taken.add(("core", *divmod(number, core_down)))
    for core in range(cores):
        for down in range(core_down):
            number = core * core_down + down
            port = agg_down + number // (aggs * trees)
            where = ("agg", number % trees, number % (aggs * trees) // trees, port)
            if where in taken:
                return True
            taken.add(where)
    return False


@given(st.tuples(*[st.integers(1, 4)] * 3), st.integers(1, 3), st.integers(1, 8), st.data())
def test_the_rule_is_what_sstmacros_loops_come_to(counts, agg_up, leaf_up, data):
    trees, leaves, aggs = counts
    assume(leaves * leaf_up % aggs == 0)
    ports = trees * aggs * agg_up
    core_down = data.draw(st.sampled_from([d for d in range(1, ports + 1) if ports % d == 0]))
    made = (trees, leaves, aggs, ports // core_down)
    made += (leaf_up, leaves * leaf_up // aggs, agg_up, core_down)
    try:
        check_fat_tree(shape(*made))
    except ConfigurationError:
        assert sstmacro_ends(*made)
        return
    assert bool(fat_tree_limit(shape(*made))) == sstmacro_ends(*made)


@for_each("numbers", [(3, 2, 2, 6, 2, 2, 2, 2), (2, 2, 2, 2, 1, 1, 2, 4)])
def test_a_tree_with_a_leaf_out_of_reach_is_refused(numbers):
    with pytest.raises(ConfigurationError, match=r"a port to each leaf or subtree below.*raise"):
        run(numbers)


@pytest.mark.jit_only
@for_each(
    "numbers, why",
    [
        ((2, 3, 2, 4, 4, 6, 4, 4), "as many of the one as of the other in a subtree, not 3 and 2"),
        ((2, 2, 3, 6, 6, 4, 2, 2), "in a subtree, not 2 and 3"),
        ((2, 2, 2, 4, 3, 3, 3, 3), "down_ports_per_core_switch = 3 to be a multiple"),
    ],
)
def test_a_result_that_sstmacro_does_not_have_says_so(numbers, why):
    result = run(numbers)
    assert why in result.beyond_sstmacro
    assert f"beyond SST/macro v11.1: {result.beyond_sstmacro}" in result.provenance.caption()
    assert "as SST/macro" not in repr(result)


@pytest.mark.jit_only
def test_packets_that_sstmacro_never_places_are_reported():
    of_200 = {"node.nic.injection.mtu": "200"}
    beyond = run(GOOD, 401, "pisces.ini", **of_200)
    assert "a message of 401 B in packets of 200 B ends in one of 1 B" in beyond.beyond_sstmacro
    assert "beyond SST/macro v11.1" in repr(beyond)
    # Of three bytes, stored and forwarded, or on the LogP overlay they are placed.
    assert not run(GOOD, 403, "pisces.ini", **of_200).beyond_sstmacro
    simple = {"node.nic.injection.arbitrator": "simple", "switch.arbitrator": "simple"}
    assert not run(GOOD, 401, "pisces.ini", **of_200, **simple).beyond_sstmacro
    overlay = {"node.nic.negligible_size": "4096"}
    same = run(GOOD, 401, "pisces.ini", **of_200, **overlay)
    assert not same.beyond_sstmacro
    assert "as SST/macro v11.1" in repr(same)
    # The announcement of 64 B, too, may end in such a packet.
    small = {"node.nic.injection.mtu": "63", "node.nic.negligible_size": "0"}
    assert "64 B in packets of 63 B" in run(GOOD, 4095, "pisces.ini", **small).beyond_sstmacro


def test_what_the_benchmark_reduces_is_looked_at_too():
    """An allreduce halves: 9 B of 8 ranks are sent as 4 and 5, 2 and 3, and 1 and 2 bytes."""
    text = (MACHINES / "pisces.ini").read_text()
    c = read_configuration(
        text,
        {f"topology.{key}": str(number) for key, number in shape(*GOOD).items()}
        | {
            "topology.name": "fat_tree",
            "topology.concentration": "2",
            "switch.router.name": "fat_tree",
            "node.app1.mode": "allreduce",
            "node.app1.min_size": "9",
            "node.app1.max_size": "9",
            "node.app1.launch_cmd": "aprun -n 8 -N 1",
            "node.nic.negligible_size": "0",
        },
    )
    assert "ends in one of 1 B" in run_collective(c).beyond_sstmacro
