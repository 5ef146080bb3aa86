"""How long a posterior takes to be carried on, with 100 draws."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest

from workbench.fit import fit
from workbench.programs.collectives import schedule
from workbench.simulate.fabric import Fabric
from workbench.topology import parse_topology
from workbench.uq import FitPosterior

ALLREDUCE = schedule("allreduce", "rabenseifner", 64, size=65536).graph()
NETWORKS = "torus:4x4x4", "fat-tree:8"
FABRICS = [Fabric(parse_topology(spec), congestion="flow") for spec in NETWORKS]
QUESTIONS: dict[str, Callable[[FitPosterior], Any]] = {
    "run time of cg-8": lambda one: one.makespan("cg-8"),
    "tolerance of cg-8": lambda one: one.tolerance("cg-8"),
    "T(L) of cg-8": lambda one: one.latency_curve("cg-8"),
    "cg-8 on two topologies": lambda one: one.compare("cg-8", "torus:2x2x2", "fat-tree:4"),
    "allreduce of 64 on two topologies": lambda one: one.compare(ALLREDUCE, *NETWORKS),
    "allreduce of 64 on two fabrics, flows": lambda one: one.compare(ALLREDUCE, *FABRICS),
    "crossover of ring and doubling, 64": lambda one: one.crossover(
        "allreduce", "ring", "recursive-doubling", nodes=64
    ),
    "crossover of Rabenseifner and doubling, 64": lambda one: one.crossover(
        "allreduce", "rabenseifner", "recursive-doubling", nodes=64
    ),
}


@pytest.fixture(scope="module")
def posterior() -> FitPosterior:
    found = fit("azure-hb96v3-hdr", "protocol", trials=200).posterior(chain_draws=500)
    for question in QUESTIONS.values():
        if question is not QUESTIONS["allreduce of 64 on two fabrics, flows"]:
            question(found)  # compiled, and programs read
    found.compare(ALLREDUCE, *FABRICS, draws=1)
    assert isinstance(found, FitPosterior)
    return found


@pytest.mark.parametrize("question", QUESTIONS)
def test_an_answer_takes_seconds(posterior: FitPosterior, question: str) -> None:
    began = time.perf_counter()
    found = QUESTIONS[question](posterior)
    print(f"\n{question}: {time.perf_counter() - began:.2f} s; {found}")
