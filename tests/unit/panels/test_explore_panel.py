from __future__ import annotations

import threading
import time
from typing import Any

import pytest

from workbench import datasets
from workbench.errors import ParameterError
from workbench.measure import OSUCurve
from workbench.models import MODELS, PISCES
from workbench.panels import ExplorePanel
from workbench.panels.fit import simulation_job
from workbench.simulate import simulate_osu

LATENCY = "node.nic.injection.latency"


def test_a_slider_moves_the_curve_and_the_sentence() -> None:
    panel = ExplorePanel()
    panel.wait(60)
    before = panel.text
    panel.controls["injection_latency"].input.value += 3
    panel.wait(60)
    expected = simulate_osu(panel.model, sizes=panel.curve.sizes)
    assert panel.drawn("simulated")["latency"] == expected.latency_us.tolist()
    assert panel.text != before


def test_the_error_stands_beside_the_slider_and_the_curve_stays() -> None:
    panel = ExplorePanel()
    before = panel.wait(60)
    panel.controls["mtu"].text.value = "16MB"
    assert "node.nic.mtu" in panel.controls["mtu"].error.message
    assert panel.curve is before


def test_another_machine_and_a_mistake() -> None:
    panel = ExplorePanel()
    panel.controls["machine"].value = "llnl-dane-omnipath"
    assert datasets.load("llnl-dane-omnipath").provenance.title in panel.text
    with pytest.raises(ParameterError, match="did you mean"):
        panel.set("node.nic.injecton.latency", 1e-6)


def test_a_bare_number_is_refused_and_an_implausible_value_is_marked() -> None:
    panel = ExplorePanel()
    before, control = panel.wait(60), panel.controls["injection_latency"]
    control.text.value = "1"
    assert "got '1', which has no unit" in control.error.message
    assert panel.model == MODELS["snappr"]()
    control.text.value = "5ms"
    assert "5 ms lies outside the slider, 1 ns to 1 ms" in panel.error
    assert panel.wait() is not before, "it is simulated all the same"
    assert not panel.stale


def test_curves_of_other_values_are_dimmed_and_it_says_why() -> None:
    panel = ExplorePanel()
    before = panel.wait(60)
    panel.injection_latency = 1
    assert panel.wait() is before
    message = panel.controls["injection_latency"].error.message
    assert "simulated time must stay below" in message
    assert "the curves are of earlier values" in message
    assert panel.stale
    panel.injection_latency = "300ns"
    assert panel.wait() is not before
    assert panel.error == ""
    assert not panel.stale


@pytest.mark.usefixtures("slow_packets_of_1_B")
def test_what_takes_long_says_so_and_can_be_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    panel = ExplorePanel()
    before = panel.wait(60)
    assert "▶ Simulate" not in panel.buttons
    panel.mtu = 1
    assert panel.running
    assert "▶ Simulate" in panel.buttons
    assert panel.stale
    assert panel.error == "1 B lies outside the slider, 128 B to 16 MB; check its unit"
    while panel.refresh() and "the curves are of earlier values" not in panel.text:
        time.sleep(0.01)
    assert "the curves are of earlier values" in panel.text
    panel.stop()
    assert panel.wait(60) is before
    assert not panel.running
    assert "stopped; the curves are of earlier values" in panel.text
    monkeypatch.setattr(simulation_job, "_AT_ONCE_S", 0.0)
    panel.mtu = 64
    curve = panel.wait(30)
    assert curve.latency_us.tolist() == simulate_osu(panel.model, curve.sizes).latency_us.tolist()
    assert "▶ Simulate" not in panel.buttons
    assert not panel.stale


def test_before_the_first_curve_it_speaks_of_no_earlier_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    compiled = threading.Event()

    def slow(*arguments: Any, **options: Any) -> OSUCurve:
        assert compiled.wait(30)
        return simulate_osu(*arguments, **options)

    monkeypatch.setattr(simulation_job, "simulate_osu", slow)
    panel = ExplorePanel()
    while panel.refresh() and "simulating" not in panel.text:
        time.sleep(0.01)
    assert "compiling the simulator the first time takes some seconds" in panel.text
    assert "earlier" not in panel.text
    compiled.set()
    assert panel.wait(30) is not None
    assert "compiling" not in panel.text


def test_settings_are_attributes_and_a_typing_error_is_reported() -> None:
    panel = ExplorePanel()
    panel.machine = "llnl-dane-omnipath"
    assert datasets.load("llnl-dane-omnipath").provenance.title in panel.text
    assert panel.mtu == 4096
    with pytest.raises(AttributeError, match="latncy cannot be set"):
        panel.latncy = "1us"
    with pytest.raises(AttributeError, match="did you mean injection_latency"):
        panel.injection_latncy = "1us"
    with pytest.raises(ParameterError, match="did you mean llnl-dane-omnipath"):
        panel.machine = "llnl-dane-omnipaht"


def test_the_sentence_says_where_the_clock_of_sstmacro_runs_back() -> None:
    panel = ExplorePanel()
    assert "runs back" not in panel.text
    measured = panel._picture.measured
    panel._picture.draw(measured, simulate_osu(PISCES(negligible_size=0), measured.sizes))
    assert "the clock of SST/macro runs back (latency at 1 B" in panel.text
