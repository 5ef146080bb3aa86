"""Wire latency over topologies: LLAMP's figures, tolerances by hand and by brute force."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from tests.cases import for_each
from workbench import topology
from workbench.errors import ParameterError
from workbench.models import LogGPS
from workbench.placement.message_graph import MessageGraph
from workbench.programs import ExecutionGraph, generate, read_goal
from workbench.simulate import replay
from workbench.tolerance import Sweep, tolerance_figure
from workbench.tolerance.wires import (
    D_SWITCH_S,
    L_WIRE_S,
    Wires,
    along_wires,
    analyse_wires,
    topology_study,
    wire_sensitivity,
    wire_tolerance,
)

MODEL = LogGPS(L=1e-6, o=5e-7, g=0, G=1e-9, O=0, S=65535)
TREE, FLY = topology.fat_tree(16), topology.dragonfly(a=4, p=8, g=8)
SMALL = topology.dragonfly(a=2, p=2, g=3)


def message(peer: int, work_ns: int = 0) -> ExecutionGraph:
    """Rank 0 sends one byte to another rank, beside a computation."""
    idle = "".join(f"rank {r} {{\n}}\n" for r in range(1, peer))
    return read_goal(
        f"num_ranks {peer + 1}\nrank 0 {{\nsend 1b to {peer}\ncalc {work_ns}\n}}\n{idle}"
        f"rank {peer} {{\nrecv 1b from 0\n}}\n"
    )


def test_the_mean_latencies_of_llamps_study() -> None:
    """On the dragonfly's minimal routes; by distances, with two global links in some, 3.2725."""
    for network, hops, latency_ns in ((TREE, 4.451, 1974.3), (FLY, 3.2902, 1530.9)):
        mean_hops, mean = Wires.of(network, 256).means(L_WIRE_S)
        assert mean_hops == pytest.approx(hops, abs=5e-5 if network is FLY else 5e-4)
        assert round(mean * 1e9, 1) == latency_ns


def test_latency_is_wires_and_switches() -> None:
    wires = Wires.of(SMALL, 12)
    h = wires.hops.astype(np.int64)
    expected = np.where(h > 0, (h + 1) * 274_000 + h * 108_000, 0)
    np.testing.assert_array_equal(wires.latency_ps(), expected)
    by_class = wires.latency_ps({"terminal": 1e-9, "intra-group": 1e-8, "inter-group": 1e-7})
    counts = wires.wires.astype(np.int64)
    np.testing.assert_array_equal(
        by_class, counts @ np.array([1000, 10_000, 100_000]) + h * 108_000
    )


def test_ranks_of_one_host_need_no_wire() -> None:
    wires = Wires.of(SMALL, 3, [0, 0, 1], same_host_s=3e-7)
    assert wires.latency_ps(1e-9).tolist() == [
        [300_000, 300_000, 110_000],
        [300_000, 300_000, 110_000],
        [110_000, 110_000, 300_000],
    ]
    assert wires.means(1e-9) == (1.0, pytest.approx(110e-9))
    assert Wires.of(SMALL, 2, [4, 4]).means() == (0.0, 0.0)


def test_a_message_between_groups_by_hand() -> None:
    """Hosts 0 and 4 of the small dragonfly: terminal, global, terminal; or one local more."""
    graph = message(4)
    found = wire_sensitivity(graph, MODEL, SMALL)
    h = int(SMALL.hops([0, 4])[0, 1])
    assert found.T == pytest.approx(2 * 5e-7 + (h + 1) * L_WIRE_S + h * D_SWITCH_S, rel=1e-12)
    assert found.lambda_wire == (h + 1, h + 1)
    assert found.lambda_class == {
        "terminal": (2, 2),
        "intra-group": (h - 2, h - 2),
        "inter-group": (1, 1),
    }
    assert found.mean_hops == Wires.of(SMALL, 5).means()[0]


def test_tolerance_of_a_message_beside_work_by_hand() -> None:
    """The work takes 10 µs; with 1 % more, the message may take 10.1 µs in all."""
    graph = message(1, work_ns=10_000)
    found = wire_tolerance(graph, MODEL, SMALL, percent=(1, 2.5))
    assert found == {
        1: pytest.approx((10.1e-6 - 1e-6 - 108e-9) / 2, abs=0.5e-12),
        2.5: pytest.approx((10.25e-6 - 1e-6 - 108e-9) / 2, abs=0.5e-12),
    }
    inside = wire_tolerance(graph, MODEL, SMALL, percent=(1,), wire_class="inter-group")
    assert inside == {1: math.inf}


@for_each("wire_class", [None, "terminal", "intra-group", "inter-group"])
def test_a_tolerance_is_the_largest_latency_within_the_bound(wire_class: str | None) -> None:
    program = generate.cg(12, iterations=2, cells=16, jitter=0.2, rng=1)
    hosts = np.random.default_rng(2).permutation(12)
    found = wire_tolerance(program, MODEL, SMALL, hosts, (1, 5, 40), wire_class=wire_class)
    names = SMALL.classes
    graph = program.graph()
    wires = Wires.of(SMALL, 12, hosts)

    def T_ps(latency_ps: int) -> int:
        each = {
            name: latency_ps / 1e12 if wire_class in (None, name) else L_WIRE_S for name in names
        }
        return time_over(graph, wires.latency_ps(each))

    base = T_ps(274_000)
    for percent, tolerance in found.items():
        bound = base * (100 + percent) // 100
        latency = round(tolerance * 1e12)
        assert T_ps(latency) <= bound < T_ps(latency + 1)


def time_over(graph: ExecutionGraph, latency_ps: np.ndarray) -> int:
    """T with L by pair of ranks, by the kernel of placements: another way than the sweep's."""
    messages = MessageGraph(graph, MODEL)
    return messages.makespan_ps(latency_ps[messages.source, messages.destination])


def test_one_router_for_all_is_loggps_with_that_latency() -> None:
    program = generate.halo(8, dims=3, cells=4, iterations=2, jitter=0.1, rng=4)
    model = MODEL.replace(S=64)
    star = topology.dragonfly(a=1, p=8, g=1)
    found = wire_sensitivity(program, model, star, l_wire_s=5e-7, d_switch_s=2e-7)
    same = replay(program.graph(), model.replace(L=1.2e-6), semantics="llamp")
    assert round(found.T * 1e12) == same.makespan_ps
    assert found.lambda_wire[0] % 2 == 0


def test_the_sweep_over_wires_answers_all_a_sweep_does() -> None:
    program = generate.cg(12, iterations=2, jitter=0.1, rng=5)
    sweep = along_wires(Sweep(program, MODEL), Wires.of(SMALL, 12))
    found = wire_sensitivity(program, MODEL, SMALL)
    point = sweep.at(L_WIRE_S)
    assert (point.T, point.lambda_L_right) == (found.T, found.lambda_wire[1])
    assert sweep.tolerance((1,), L_WIRE_S) == wire_tolerance(program, MODEL, SMALL, percent=(1,))


def test_figure_11_is_the_sweep_over_all_wires() -> None:
    program = generate.cg(12, cells=32, iterations=2)
    found = analyse_wires(program, MODEL, SMALL, percent=[1], l_wire_s=300e-9)
    sweep = along_wires(Sweep(program, MODEL), Wires.of(SMALL, 12))
    for l_wire_s in (274e-9, 350e-9, 424e-9):
        assert found.T_of(l_wire_s) == pytest.approx(sweep.makespan(l_wire_s), abs=1e-12)
    assert found.T == sweep.makespan(300e-9)
    assert found.tolerance == wire_tolerance(program, MODEL, SMALL, percent=[1], l_wire_s=300e-9)
    one = wire_sensitivity(program, MODEL, SMALL, l_wire_s=300e-9)
    assert (found.lambda_L_left, found.lambda_L) == one.lambda_wire
    assert "l_wire 300 ns" in repr(found)
    drawn = tolerance_figure({"small": found, "again": found})
    assert drawn.share.xaxis[0].axis_label == "latency of a wire"
    assert drawn.slope.yaxis[0].axis_label == "λ_wire (wires)"
    assert drawn.time.title.text == "Run time over latency: 2 topologies"


def test_different_classes_start_from_different_latencies() -> None:
    graph = message(4)
    each = {"terminal": 1e-7, "intra-group": 2e-7, "inter-group": 9e-7}
    found = wire_sensitivity(graph, MODEL, SMALL, l_wire_s=each, d_switch_s=0)
    local = found.lambda_class["intra-group"][0]
    assert found.T == pytest.approx(1e-6 + 2e-7 + local * 2e-7 + 9e-7, rel=1e-12)
    tolerance = wire_tolerance(
        graph, MODEL, SMALL, percent=(0,), wire_class="inter-group", l_wire_s=each, d_switch_s=0
    )
    assert tolerance == {0: pytest.approx(9e-7)}


def test_the_study_has_a_row_for_each_program_and_topology() -> None:
    """The dragonfly's fewer hops make it the faster and the more tolerant, as in figure 11."""
    program = generate.cg(64, iterations=2, cells=64, jitter=0.05, rng=6)
    variants = {name: program.graph(allreduce=name) for name in ("recursive-doubling", "ring")}
    networks = topology.fat_tree(8), topology.dragonfly(a=4, p=4, g=4)
    frame = topology_study(variants, MODEL, networks, percent=(1, 5))
    assert frame["program"].tolist() == ["recursive-doubling"] * 2 + ["ring"] * 2
    assert list(frame.columns)[2:] == [
        "mean_hops",
        "mean_latency_ns",
        "T_ns",
        "lambda_wire",
        "tolerance_ns_1",
        "tolerance_ns_5",
    ]
    for name in variants:
        tree, fly = frame[frame["program"] == name].to_dict("records")
        assert fly["mean_hops"] < tree["mean_hops"]
        assert fly["T_ns"] < tree["T_ns"]
        assert 274 < tree["tolerance_ns_1"] < fly["tolerance_ns_1"]
        expected = wire_tolerance(variants[name], MODEL, networks[0], percent=(5,))[5]
        assert tree["tolerance_ns_5"] == pytest.approx(expected * 1e9)
    # A ring sends 2 (P - 1) messages one after the other where doubling sends log2 P.
    assert frame["lambda_wire"][2] > 5 * frame["lambda_wire"][0]


@for_each(
    "arguments, said",
    [
        ({"placement": [0, 1]}, "a host for each of 5 ranks"),
        ({"placement": [0, 1, 2, 3, 12]}, "hosts must be 0 to 11"),
        ({"topology": topology.fat_tree(2)}, "has 2 hosts for 5 ranks"),
        ({"wire_class": "blue"}, "wires of the classes terminal, intra-group, inter-group"),
        ({"l_wire_s": {"terminal": 1e-9}}, "a latency for each of terminal, intra-group"),
        (
            {"l_wire_s": {"terminal": 0.0, "intra-group": 1e-9, "inter-group": 1e-9}},
            "must start from one latency",
        ),
        ({"l_wire_s": -1.0}, "must be 0 to"),
        ({"d_switch_s": math.nan}, "must be 0 to"),
        ({"percent": (-1,)}, "percent must be"),
    ],
)
def test_what_does_not_fit_is_refused(arguments: dict[str, object], said: str) -> None:
    with pytest.raises(ParameterError, match=said):
        wire_tolerance(message(4), MODEL, **{"topology": SMALL, **arguments})  # type: ignore[arg-type]


def test_latencies_that_a_topology_states_are_not_left_out_without_a_word() -> None:
    stated = replace(SMALL, link_latency=np.full(SMALL.num_links, 1e-6))
    with pytest.warns(UserWarning, match="states a latency for each link.*l_wire_s"):
        Wires.of(stated, 4)
