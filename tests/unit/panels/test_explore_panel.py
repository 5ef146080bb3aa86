from __future__ import annotations

import pytest

from workbench.errors import ParameterError
from workbench.panels import ExplorePanel
from workbench.simulate import simulate_osu

LATENCY = "node.nic.injection.latency"


def test_a_slider_moves_the_curve_and_the_sentence() -> None:
    panel = ExplorePanel()
    before = panel._picture.reading.value
    panel._controls[LATENCY].input.value += 3
    expected = simulate_osu(panel.model, sizes=panel._picture.measured.sizes)
    assert panel._picture.figures.simulated.data["latency"] == expected.latency_us.tolist()
    assert panel._picture.reading.value != before


def test_the_error_stands_beside_the_slider_and_the_curve_stays() -> None:
    panel = ExplorePanel()
    before = panel.curve
    panel._controls["node.nic.mtu"].text.value = "16MB"
    assert "node.nic.mtu" in panel._controls["node.nic.mtu"].error.message
    assert panel.curve is before


def test_another_machine_and_a_mistake() -> None:
    panel = ExplorePanel()
    panel._machine.value = "llnl-dane-omnipath"
    assert panel._picture.measured.name == "llnl-dane-omnipath"
    with pytest.raises(ParameterError, match="did you mean"):
        panel.set("node.nic.injecton.latency", 1e-6)
