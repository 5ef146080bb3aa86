"""Speed of placements, and what the search gains on Algorithm 3 in the same seconds.

Algorithm 3 is given the seconds that the search took: it starts from block, round-robin and volume
and then from random placements, until they are over, and the best one counts.
"""

import time

import numpy as np
import pytest

from tests.benchmarks.test_lowering import seconds
from workbench import topology
from workbench.models import LogGPS
from workbench.placement import METHODS, compare_placements
from workbench.placement.message_graph import MessageGraph
from workbench.placement.methods import (
    algorithm_3,
    block,
    by_volume,
    round_robin,
    shuffled,
)
from workbench.placement.problem import PlacementProblem
from workbench.programs import generate
from workbench.tolerance.wires import Wires

MODEL = LogGPS(L=1.4e-6, o=5e-7, g=0, G=1.3e-11, O=0, S=262144)
NETWORK = topology.dragonfly(a=4, p=8, g=8)
RANKS = 256


def renumbered(program, seed=7):
    """Return a program whose ranks are numbered at random."""
    graph = program.graph()
    return graph.select(np.random.default_rng(seed).permutation(graph.num_ranks).tolist())


HALO = {"dims": 3, "cells": 8, "iterations": 3, "jitter": 0.1, "rng": 2}
CASES = {
    "halo": lambda: generate.halo(RANKS, **HALO).graph(),
    "halo, renumbered": lambda: renumbered(generate.halo(RANKS, **HALO)),
    "cg, renumbered": lambda: renumbered(
        generate.cg(RANKS, iterations=3, cells=32, jitter=0.05, rng=1)
    ),
    "wavefront, renumbered": lambda: renumbered(generate.sweep(RANKS)),
    "random": lambda: generate.random_program(RANKS, rng=3).graph(),
}


def test_a_pass_and_its_path():
    graph = generate.cg(RANKS, iterations=10).graph()
    messages = MessageGraph(graph, MODEL)
    latency = Wires.of(NETWORK, RANKS).latency_ps()[messages.source, messages.destination]
    forward = seconds(lambda: messages.makespan_ps(latency), 9)
    back = seconds(messages.path, 9)
    print(
        f"\n{graph.num_ops} operations: pass {forward * 1e3:.2f} ms, "
        f"{forward / graph.num_ops * 1e9:.1f} ns an operation; path {back * 1e3:.2f} ms"
    )
    assert messages.num_messages > 0


@pytest.mark.parametrize("name", CASES)
def test_search_against_algorithm_3_in_the_same_seconds(name):
    graph = CASES[name]()
    frame = compare_placements(graph, MODEL, NETWORK, seed=1)
    found = frame.set_index("method").loc["search"]
    wires = Wires.of(NETWORK, RANKS)
    problem = PlacementProblem(MessageGraph(graph, MODEL), wires, wires.latency_ps())
    rng = np.random.default_rng(1)
    starts = [block(problem), round_robin(problem), by_volume(problem, rng)]
    least, runs, end = np.inf, 0, time.perf_counter() + found["seconds"]
    while time.perf_counter() < end:
        start = starts[runs] if runs < len(starts) else shuffled(problem, rng)
        least, runs = min(least, algorithm_3(problem, start)[1] / 1e3), runs + 1
    print(f"\n{name}, {graph.num_ops} operations on {NETWORK.name}\n{frame.round(3).to_string()}")
    print(
        f"Algorithm 3 {runs} times in as long: {least:.0f} ns; search {found['T_ns']:.0f} ns, "
        f"{100 * (1 - found['T_ns'] / least):.2f} % less"
    )
    assert frame["method"].tolist() == list(METHODS)
    assert found["T_ns"] <= frame["T_ns"][:4].min()
