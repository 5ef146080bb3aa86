"""How soon the panel of uncertainty shows another noise model, and what a simulated point takes."""

from __future__ import annotations

import statistics
import time

import pytest

from workbench.panels import UncertaintyPanel
from workbench.uq.collectives import CollectiveTest, FabricCollective
from workbench.uq.collectives.gemini import NOMINAL


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


@pytest.mark.parametrize(
    ("collective", "nodes", "congestion"),
    [
        ("gather", 512, "flow"),
        ("gather", 2048, "flow"),
        ("scatter", 512, "flow"),
        ("allgather", 512, "flow"),
        ("gather", 512, "packet"),
        ("gather", 512, "packet-flow"),
    ],
)
def test_a_collective_on_hopper(collective, nodes, congestion) -> None:
    machine = FabricCollective(collective, (CollectiveTest(nodes, 32768),), congestion)
    seconds = []
    for _ in range(4):
        began = time.perf_counter()
        ((simulated,),) = machine([NOMINAL])
        seconds.append(time.perf_counter() - began)
    print(
        f"\n{collective} of 32 KiB on {nodes} nodes, {congestion}: {seconds[0]:.2f} s at first, "
        f"then {min(seconds[1:]) * 1e3:.0f} ms, simulated {simulated * 1e3:.4f} ms"
    )
