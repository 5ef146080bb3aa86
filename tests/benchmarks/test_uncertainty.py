"""How soon the panel of uncertainty shows another noise model, from stored chains."""

from __future__ import annotations

import statistics
import time

import pytest

from workbench.panels import UncertaintyPanel


@pytest.mark.parametrize("view", ["posterior", "prediction"])
def test_another_noise_model_is_drawn(view: str) -> None:
    panel = UncertaintyPanel("fugaku/gather")
    panel.run()
    panel.wait()
    panel.view = view
    panel.wait()
    seconds = []
    for noise in ("relative", "hierarchical", "student-t", "constant"):
        began = time.perf_counter()
        panel.noise = noise
        panel.wait()
        seconds.append(time.perf_counter() - began)
    print(f"\n{view}: another noise model after {statistics.median(seconds):.2f} s")
