"""Programs on models: what a run takes."""

from workbench.simulate.osu import BENCHMARKS, simulate_osu

__all__ = ["BENCHMARKS", "simulate_osu"]
