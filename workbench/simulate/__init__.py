"""Programs on models: what a run takes."""

from workbench.simulate.noise import Noise
from workbench.simulate.osu import BENCHMARKS, simulate_osu
from workbench.simulate.replay import replay
from workbench.simulate.replay_result import ReplayResult

__all__ = ["BENCHMARKS", "Noise", "ReplayResult", "replay", "simulate_osu"]
