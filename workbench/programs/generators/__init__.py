"""Synthetic programs with seeds: patterns of applications, at any number of ranks.

from workbench.programs import generate

generate.halo((8, 8, 8), neighbours=26, iterations=100, jitter=0.1, rng=1)

Collectives stay whole, so that their algorithms are chosen afterwards. All sizes are in bytes, all
times in nanoseconds.
"""

from __future__ import annotations

from workbench.programs.generators.cg import cg
from workbench.programs.generators.descriptor import GENERATORS, describe, from_descriptor
from workbench.programs.generators.halo import halo
from workbench.programs.generators.pipelines import master_worker, ring_pipeline
from workbench.programs.generators.random_programs import random_program
from workbench.programs.generators.sweep import sweep
from workbench.programs.generators.tiling import jittered, repeat
from workbench.programs.generators.training import training

__all__ = [
    "GENERATORS",
    "cg",
    "describe",
    "from_descriptor",
    "halo",
    "jittered",
    "master_worker",
    "random_program",
    "repeat",
    "ring_pipeline",
    "sweep",
    "training",
]
