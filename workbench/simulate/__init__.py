"""Programs on models: what a run takes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.lazy import lazy_exports

if TYPE_CHECKING:
    from workbench.simulate.critical_path import PathStep
    from workbench.simulate.noise import Noise
    from workbench.simulate.osu import BENCHMARKS, simulate_osu
    from workbench.simulate.picoseconds import ByteCost, PicosecondCosts
    from workbench.simulate.replay import replay
    from workbench.simulate.replay_result import ReplayResult, ReplayTimes
else:
    __getattr__, __dir__ = lazy_exports(__name__)

__all__ = [
    "BENCHMARKS",
    "ByteCost",
    "Noise",
    "PathStep",
    "PicosecondCosts",
    "ReplayResult",
    "ReplayTimes",
    "replay",
    "simulate_osu",
]
