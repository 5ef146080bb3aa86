"""Programs on models: what a run takes."""

from workbench.simulate.osu import simulate_osu

__all__ = ["simulate_osu"]
