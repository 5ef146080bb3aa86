"""Placements: what each method does on programs where it shows, and what they promise."""

from __future__ import annotations

import dataclasses
import json
from itertools import permutations

import numpy as np
import pytest

from tests.cases import for_each
from workbench import topology
from workbench.errors import ParameterError
from workbench.models import LogGPS
from workbench.placement import (
    METHODS,
    PlacementMethod,
    compare_placements,
    frame_of,
    place,
    place_all,
)
from workbench.placement.message_graph import MessageGraph
from workbench.programs import ExecutionGraph, Program, ProgramBuilder, generate
from workbench.tasks import Task
from workbench.tolerance.wires import Wires, wire_sensitivity, wire_tolerance

MODEL = LogGPS(L=1e-6, o=2e-7, g=0, G=1e-11, O=0, S=1 << 20)
NETWORK = topology.dragonfly(a=2, p=2, g=4)


def shuffled(program: Program, seed: int) -> ExecutionGraph:
    """The same program with its ranks numbered at random."""
    graph = program.graph()
    return graph.select(np.random.default_rng(seed).permutation(graph.num_ranks).tolist())


def bulk_and_chain(ranks: int = 16, rounds: int = 4) -> Program:
    """Neighbours exchange much, in the background; a token goes from half to half and hurries."""
    builder = ProgramBuilder(ranks)
    half = ranks // 2
    requests = {}
    for rank in range(ranks):
        requests[rank] = [
            builder.irecv(rank, rank ^ 1, 100_000, tag=1),
            builder.isend(rank, rank ^ 1, 100_000, tag=1),
        ]
    for _ in range(rounds):
        for rank in range(half):
            builder.send(rank, rank + half, 8, tag=2)
            builder.recv(rank + half, rank, 8, tag=2)
            builder.send(rank + half, rank, 8, tag=3)
            builder.recv(rank, rank + half, 8, tag=3)
    for rank in range(ranks):
        builder.wait(rank, requests[rank])
    return builder.build()


def test_every_method_places_every_rank_once() -> None:
    graph = shuffled(generate.halo(16, dims=2, cells=8, iterations=1, jitter=0.1, rng=1), 2)
    found = place_all(graph, MODEL, NETWORK, evaluations=50)
    assert tuple(found) == METHODS
    for method, placement in found.items():
        assert sorted(placement.hosts.tolist()) == list(range(16))
        assert placement.method == method
        # What it predicts is what another analysis finds.
        assert placement.T == wire_sensitivity(graph, MODEL, NETWORK, placement).T
        assert placement.block_T == found["block"].T
    assert found["block"].hosts.tolist() == list(range(16))
    assert found["search"].T <= min(p.T for m, p in found.items() if m != "algorithm-3")
    assert found["algorithm-3"].T <= found["block"].T


def test_round_robin_deals_to_routers_or_to_hosts() -> None:
    graph = generate.halo(8, dims=1, cells=8, iterations=1).graph()
    dealt = place(graph, MODEL, NETWORK, method="round-robin")
    assert dealt.hosts.tolist() == [0, 2, 4, 6, 1, 3, 5, 7]
    several = place(graph, MODEL, NETWORK, method="round-robin", ranks_per_host=2)
    assert several.hosts.tolist() == [0, 1, 2, 3, 0, 1, 2, 3]
    packed = place(graph, MODEL, NETWORK, method="block", ranks_per_host=2)
    assert packed.hosts.tolist() == [0, 0, 1, 1, 2, 2, 3, 3]


@for_each("method", ["volume", "metis"])
def test_bytes_show_the_hidden_neighbours(method: PlacementMethod) -> None:
    """Pairs that exchange bytes share a router, whatever their numbers."""
    builder = ProgramBuilder(16)
    partner = np.random.default_rng(5).permutation(16).reshape(8, 2)
    for a, b in partner.tolist():
        builder.send(a, b, 1000)
        builder.recv(b, a, 1000)
    program = builder.build()
    found = place(program, MODEL, NETWORK, method=method)
    routers = NETWORK.host_router[found.hosts]
    assert (routers[partner[:, 0]] == routers[partner[:, 1]]).all()
    assert found.mean_hops == 1


def test_volume_looks_at_bytes_and_the_others_at_the_critical_path() -> None:
    """Most bytes go between neighbours, but it is the small messages that everyone waits for."""
    program = bulk_and_chain()
    found = place_all(program, MODEL, NETWORK, seed=1, evaluations=600)
    T = {method: placement.T for method, placement in found.items()}
    assert found["volume"].mean_hops < found["search"].mean_hops
    assert T["search"] < 0.9 * min(T["volume"], T["algorithm-3"], T["block"])


def test_search_goes_on_where_algorithm_3_stops() -> None:
    """Three chains that are equally long: no single swap helps, and Algorithm 3 ends at once."""
    builder = ProgramBuilder(16)
    pairs = ((0, 8), (2, 10), (4, 12))
    for a, b in pairs:
        for _ in range(3):
            builder.send(a, b, 8)
            builder.recv(b, a, 8)
            builder.send(b, a, 8)
            builder.recv(a, b, 8)
    # Chains over equal distances: to the group after next.
    network = topology.dragonfly(a=1, p=2, g=8)
    found = place_all(builder.build(), MODEL, network, methods=("block", "algorithm-3", "search"))
    assert found["algorithm-3"].T == found["block"].T
    assert found["algorithm-3"].evaluations == 2
    assert found["search"].T < 0.8 * found["block"].T
    routers = network.host_router[found["search"].hosts]
    assert all(routers[a] == routers[b] for a, b in pairs)


def test_search_finds_the_best_of_all_mappings_of_five_ranks() -> None:
    """Algorithm 3 finds it for three of four such programs (301 of 400), search for 398 of 400."""
    network = topology.dragonfly(a=2, p=1, g=3)
    latency = Wires.of(network, 5).latency_ps()
    best_of_all: dict[PlacementMethod, int] = {"algorithm-3": 0, "search": 0}
    for seed in range(12):
        program = generate.random_program(5, rng=seed)
        messages = MessageGraph(program, MODEL)
        best = min(
            messages.makespan_ps(latency[order[messages.source], order[messages.destination]])
            for order in map(np.array, permutations(range(5)))
        )
        for method in best_of_all:
            found = place(program, MODEL, network, method=method, evaluations=500, seed=1)
            T_ps = round(found.T * 1e12)
            assert T_ps >= best
            best_of_all[method] += T_ps == best
    assert best_of_all["search"] >= 11
    assert best_of_all["algorithm-3"] < best_of_all["search"]


def test_the_same_seed_gives_the_same_placement() -> None:
    graph = generate.halo(16, dims=2, cells=8, iterations=1, jitter=0.2, rng=1).graph()
    for method in ("random", "volume", "metis", "search"):
        one, same, other = (
            place(graph, MODEL, NETWORK, method=method, seed=seed, evaluations=40)
            for seed in (3, 3, 4)
        )
        assert one.hosts.tolist() == same.hosts.tolist()
        assert one.seed == 3
        if method == "random":
            assert one.hosts.tolist() != other.hosts.tolist()
    assert place(graph, MODEL, NETWORK, method="block").seed is None


def test_free_hosts_are_used_where_that_helps() -> None:
    """Two ranks that talk, in an allocation whose first hosts are in different groups."""
    builder = ProgramBuilder(2)
    builder.send(0, 1, 8)
    builder.recv(1, 0, 8)
    found = place(builder.build(), MODEL, NETWORK, hosts=[0, 4, 8, 9], evaluations=50)
    assert NETWORK.hops(found.hosts)[0, 1] == 1
    assert found.gain > 0.25


def test_ranks_of_one_host_may_have_their_own_latency_and_gap() -> None:
    builder = ProgramBuilder(4)
    for a, b in ((0, 2), (1, 3)):
        builder.send(a, b, 10_001)
        builder.recv(b, a, 10_001)
    program = builder.build()
    near = place(program, MODEL, NETWORK, ranks_per_host=2, same_host_s=1e-7, same_host_G=2e-12)
    assert near.hosts[0] == near.hosts[2]
    assert near.T == pytest.approx(4e-7 + 1e-7 + 10_000 * 2e-12, rel=1e-12)
    # Where a host's own copying is slow, the wire is the better way.
    apart = place(program, MODEL, NETWORK, ranks_per_host=2, same_host_G=1e-9)
    assert apart.hosts[0] != apart.hosts[2]


def test_a_search_ends_when_asked_to(stopped: Task) -> None:
    graph = generate.halo(16, dims=2, cells=8, iterations=1, jitter=0.2, rng=1).graph()
    halted = place(graph, MODEL, NETWORK, task=stopped)
    assert stopped.progress.message == "placing 16 ranks: search"
    assert halted.evaluations < 10
    assert halted.T <= halted.block_T
    assert place(graph, MODEL, NETWORK, seconds=0.0).evaluations < 10


def test_a_placement_shows_itself() -> None:
    graph = generate.halo(8, dims=1, cells=8, iterations=1).graph()
    found = place(graph, MODEL, NETWORK, method="round-robin")
    assert repr(found).startswith("Placement(round-robin: 8 ranks on dragonfly, g=4, a=2, p=2")
    assert "as block" in repr(found)
    assert "less than block" in repr(dataclasses.replace(found, T=found.T / 2))
    assert "simulated" in found._repr_html_()
    frame = found.to_frame()
    assert frame.iloc[1].tolist() == [1, 2, 1, 0]
    values = json.loads(json.dumps(found.to_dict()))
    assert values["hosts"] == found.hosts.tolist()
    assert values["makespan_ns"] == pytest.approx(found.T * 1e9)
    assert wire_tolerance(graph, MODEL, NETWORK, found)[1] > 274e-9


def test_the_comparison_has_a_row_for_each_method() -> None:
    program = generate.halo(8, dims=1, cells=8, iterations=1)
    methods: tuple[PlacementMethod, ...] = ("block", "random")
    frame = compare_placements(program, MODEL, NETWORK, methods=methods, seed=2)
    assert frame["method"].tolist() == ["block", "random"]
    assert frame["less_than_block_percent"][0] == 0
    assert list(frame.columns) == list(
        frame_of(place_all(program, MODEL, NETWORK, evaluations=1).values()).columns
    )
    found = place(program, MODEL, NETWORK, method="random", seed=2)
    assert frame["T_ns"][1] == found.T * 1e9
    assert frame["mean_hops"][1] == found.mean_hops


@for_each(
    "arguments, said",
    [
        ({"method": "scotch"}, "method must be one of block, round-robin"),
        ({"ranks_per_host": 0}, "ranks_per_host must be a whole number of at least 1"),
        ({"hosts": [0, 0, 1]}, "hosts must each be named once"),
        ({"hosts": [0, 1]}, "a place for each of 4 ranks"),
        ({"hosts": [99]}, "hosts must be 0 to 15"),
        ({"evaluations": -1}, "evaluations must be a whole number of at least 0"),
        ({"same_host_G": -1.0}, "G must be"),
        ({"l_wire_s": -1.0}, "must be 0 to"),
    ],
)
def test_what_does_not_fit_is_refused(arguments: dict[str, object], said: str) -> None:
    program = generate.halo(4, dims=1, cells=8, iterations=1)
    with pytest.raises(ParameterError, match=said):
        place(program, MODEL, NETWORK, **arguments)  # type: ignore[arg-type]


def test_too_many_ranks_are_refused_with_what_to_do() -> None:
    program = generate.halo(32, dims=1, cells=8, iterations=1)
    with pytest.raises(ParameterError, match="more ranks_per_host"):
        place(program, MODEL, NETWORK)
    assert len(place(program, MODEL, NETWORK, method="block", ranks_per_host=2).hosts) == 32
