"""Synthetic programs with seeds: patterns of applications, at any number of ranks.

from workbench.programs import generate

generate.halo((8, 8, 8), neighbours=26, iterations=100, jitter=0.1, rng=1)

Collectives stay whole, so that their algorithms are chosen afterwards. All sizes are in bytes, all
times in nanoseconds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.lazy import lazy_exports

if TYPE_CHECKING:
    from workbench.programs.generate.cg import cg as cg
    from workbench.programs.generate.descriptor import (
        GENERATORS as GENERATORS,
        describe as describe,
        from_descriptor as from_descriptor,
    )
    from workbench.programs.generate.halo import halo as halo
    from workbench.programs.generate.pipelines import (
        master_worker as master_worker,
        ring_pipeline as ring_pipeline,
    )
    from workbench.programs.generate.random_programs import random_program as random_program
    from workbench.programs.generate.sweep import sweep as sweep
    from workbench.programs.generate.tiling import jittered as jittered, repeat as repeat
    from workbench.programs.generate.training import training as training
else:
    __getattr__, __dir__ = lazy_exports(__name__)
