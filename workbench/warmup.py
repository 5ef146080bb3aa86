"""Compile every kernel once, so that nobody waits for it at the first picture."""

from __future__ import annotations

import time


def warm_up() -> dict[str, float]:
    """Simulate each model once, which fills numba's cache on disk.

    Returns:
        Seconds that each model's first simulation took, compilation included, by model name.
    """
    from workbench.models import MODELS
    from workbench.simulate import simulate_osu

    seconds: dict[str, float] = {}
    for name, model in MODELS.items():
        start = time.perf_counter()
        simulate_osu(model())
        seconds[name] = time.perf_counter() - start
    return seconds


if __name__ == "__main__":
    warm_up()
