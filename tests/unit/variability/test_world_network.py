"""The network of a world: ways and detours like those of the packets, and stalls like theirs."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest
from bokeh.models import ColumnDataSource

from tests.cases import for_each
from workbench.plotting import describe_stall_check, plot_stall_check
from workbench.provenance import Provenance
from workbench.simulate.fabric import Fabric
from workbench.variability import StallCheck, StallCurve, check_stalls
from workbench.variability.world.congestion import bytes_on_links, link_state, stalls_of
from workbench.variability.world.flows import job_flows
from workbench.variability.world.loads import MachineLoads, machine_loads
from workbench.variability.world.machine import ROUTERS, WorldMachine, WorldPreset, world_machine
from workbench.variability.world.packet_check import CHECK_SEEDS, rank_correlation
from workbench.variability.world.routes import detours_of, minimal_ways
from workbench.variability.world.shipped_curve import shipped_stall_curve
from workbench.variability.world.stall_curve import detour_share


@cache
def machine() -> WorldMachine:
    return world_machine(WorldPreset("three", 3, 3, 12, 2, 0, 0.0, 1.0))


@cache
def loads() -> MachineLoads:
    rng = np.random.default_rng(0)
    nodes = rng.permutation(machine().nodes)
    flows = [
        job_flows({"all-to-all": 1.0}, nodes[at : at + 256], nodes[:0], rng) for at in (0, 256)
    ]
    return machine_loads(machine(), flows, np.array([1e9, 2e9]))


def test_minimal_ways_have_the_links_of_the_routing() -> None:
    rng = np.random.default_rng(0)
    source, target = rng.integers(machine().routers, size=(2, 500))
    ways = minimal_ways(machine(), source, target)
    tables = Fabric(machine().topology, routing="minimal").routes.tables()
    hops = tables.hops[source, tables.column[target]]
    taken = np.bincount(ways.pair, ways.share, len(source))
    np.testing.assert_allclose(taken, hops, rtol=1e-12)
    begins = np.bincount(ways.pair[ways.first], ways.share[ways.first], len(source))
    np.testing.assert_allclose(begins, source != target, rtol=1e-12)
    assert (machine().source[ways.link[ways.first]] == source[ways.pair[ways.first]]).all()


def test_detours_carry_each_byte_over_all_their_links() -> None:
    detours = detours_of(machine())
    sent = np.repeat([[1.0], [2.0]], machine().routers, axis=0)
    none = np.zeros_like(sent)
    for found in (detours.bytes_on(sent, none), detours.bytes_on(none, sent)):
        assert found.sum() == pytest.approx(float(sent[:, 0] @ detours.hops), rel=1e-9)


def test_weights_are_the_transposed_loads() -> None:
    rng = np.random.default_rng(1)
    detours = detours_of(machine())
    sent, received = rng.random((2, 2 * machine().routers, 1))
    weight = rng.random(len(machine().source))
    out, into = detours.weigh(weight)
    direct = float(weight @ detours.bytes_on(sent, received)[:, 0])
    assert direct == pytest.approx(float(out @ sent[:, 0] + into @ received[:, 0]), rel=1e-12)


def test_what_stays_in_a_group_takes_detours_in_it() -> None:
    detours = detours_of(machine())
    sent = np.zeros((2 * machine().routers, 1))
    sent[:ROUTERS] = 1.0
    carried = detours.bytes_on(sent, sent)[: machine().between, 0] > 0
    here = machine().source[: machine().between] < ROUTERS
    assert (carried == (here & (machine().kind[: machine().between] < 2))).all()


def test_bytes_on_the_links_of_nodes_do_not_depend_on_ways() -> None:
    every = np.ones((len(loads().rate), 1))
    near = bytes_on_links(loads(), every, every)
    far = bytes_on_links(loads(), every, np.zeros_like(every))
    nodes = slice(machine().between, None)
    np.testing.assert_allclose(near[nodes], far[nodes], rtol=1e-12)
    assert near[machine().from_nodes].sum() == pytest.approx(loads().rate.sum())
    assert far[: machine().between].sum() > 1.5 * near[: machine().between].sum()


@for_each("x", [0.1, 0.5, 0.9])
@for_each("y", [0.0, 0.3, 0.8])
def test_detours_are_taken_as_often_as_by_queues_of_all_lengths(x: float, y: float) -> None:
    n = np.arange(1, 800)
    for ratio in (1.0, 2.0):
        # Detours are shorter for n packets on the minimal way where fewer than n / ratio wait.
        fewer = 1.0 - y ** np.ceil(n / ratio)
        expected = float(((1 - x) * x**n * fewer).sum())
        found = float(detour_share(np.array(x), np.array(y), np.array(ratio)))
        assert found == pytest.approx(expected, abs=1e-9)


def test_stalls_grow_with_the_load_and_stay_shares() -> None:
    curve = shipped_stall_curve()
    rng = np.random.default_rng(2)
    low = rng.random((len(machine().source), 1)) * 0.6
    (_, less), (_, more) = stalls_of(machine(), low, curve), stalls_of(machine(), 1.5 * low, curve)
    assert (less >= 0).all() and (more < 1).all()
    assert more.mean() > 1.5 * less.mean()
    _, none = stalls_of(machine(), np.zeros_like(low), curve)
    assert (none == 0).all()
    assert (less[machine().to_nodes] == 0).all()


def test_more_traffic_takes_more_detours() -> None:
    found = [link_state(loads(), np.full(len(loads().rate), at)) for at in (0.1, 1.0)]
    assert found[0].minimal.mean() > found[1].minimal.mean() > 0.3


@pytest.fixture(scope="module")
def checked() -> StallCheck:
    return check_stalls(1, seed=CHECK_SEEDS[0], messages=20_000)


def test_stalls_of_flows_agree_with_packets_as_far_as_chance_allows(checked: StallCheck) -> None:
    # 20 000 packets leave much to chance: two simulations agree by less than 0.7.
    assert checked.chance_rank > 0.4
    assert checked.stall_rank > checked.chance_rank - 0.1
    assert checked.utilisation_rank > 0.85


@pytest.mark.deep
@for_each("groups", [1, 2])
@for_each("seed", CHECK_SEEDS)
def test_stalls_of_flows_agree_with_packets(groups: int, seed: int) -> None:
    assert check_stalls(groups, seed=seed).stall_rank >= 0.8


def test_another_curve_is_another_agreement(checked: StallCheck) -> None:
    blind = StallCurve(1.0, 0.0, 1e-9, 0.0, Provenance("simulated", "stalls nowhere"))
    flat = check_stalls(1, seed=CHECK_SEEDS[0], messages=5_000, curve=blind)
    assert flat.flow_stall.max() < 1e-6 < checked.flow_stall.max()


def test_the_check_is_kept_and_drawn(checked: StallCheck, tmp_path: Path) -> None:
    read = StallCheck.load(checked.save(tmp_path / "check.json"))
    assert repr(read) == repr(checked)
    drawn = {one.name: one for one in plot_stall_check(checked).select({"type": ColumnDataSource})}
    assert {"row", "column"} <= set(drawn)
    assert len(drawn["row"].data["packets"]) == int((checked.kind == 0).sum())
    assert f"agree by {checked.stall_rank:.2f}" in describe_stall_check(checked)


def test_rank_correlation_is_that_of_scipy() -> None:
    from scipy.stats import spearmanr

    one, other = np.random.default_rng(0).integers(0, 9, (2, 100)).astype(float)
    assert rank_correlation(one, other) == pytest.approx(spearmanr(one, other).statistic)
