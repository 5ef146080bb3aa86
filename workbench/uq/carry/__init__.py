"""A posterior carried on: run times, latency tolerance, comparisons and crossovers with intervals.

posterior = fit("azure-hb96v3-hdr", "protocol").posterior()
posterior.makespan("cg-8").plot()
posterior.tolerance("cg-8", percent=(1, 2, 5)).to_frame()
posterior.latency_curve("cg-8").plot()                      # T(L) and λ_L as bands
posterior.compare("cg-8", "torus:2x2x2", "fat-tree:4")      # which is faster, with what probability
posterior.crossover("allreduce", "ring", "recursive-doubling", nodes=64)

Each is a function here too, with the posterior as its first argument. All take ``draws``, ``seed``
and ``task``; the same seed means the same draws, whatever the question. In a thread with progress:

tasks.submit(posterior.makespan, "cg-8")
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.lazy import lazy_exports

if TYPE_CHECKING:
    from workbench.uq.carry.collectives import (
        compare_collective as compare_collective,
        crossover_of_calibrations as crossover_of_calibrations,
    )
    from workbench.uq.carry.comparison import compare as compare
    from workbench.uq.carry.crossover import crossover as crossover
    from workbench.uq.carry.program import (
        latency_curve as latency_curve,
        makespan as makespan,
        tolerance as tolerance,
    )
else:
    __getattr__, __dir__ = lazy_exports(__name__)
