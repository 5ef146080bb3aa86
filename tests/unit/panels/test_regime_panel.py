from __future__ import annotations

import json
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from workbench import datasets
from workbench.errors import ParameterError
from workbench.fit import rmspe_by_target
from workbench.models import read_ini
from workbench.panels import RegimePanel
from workbench.simulate import simulate_osu
from workbench.study import StudyResult

AZURE, AWS = "azure-hb96v3-hdr", "aws-hpc6a-efa"


def test_it_opens_on_the_fits_of_the_halves(
    regime_panel: RegimePanel, small_study: StudyResult
) -> None:
    regime_panel.high = "logp"
    for half, regime in (("low", "low"), ("high", "high")):
        cells = small_study.select(machine=AZURE, target="both", regime=regime)
        best = min(cells, key=lambda cell: cell.rmspe["joint"])
        assert getattr(regime_panel.bolted, half).model == best.model()
    assert "shipped fit to sizes up to 512 B" in regime_panel.text
    assert "published" in regime_panel.text


def test_a_model_without_a_fit_has_its_defaults_and_reports_it(regime_panel: RegimePanel) -> None:
    assert regime_panel.high == "snappr"
    assert "Large: defaults, not fitted" in regime_panel.text


def test_the_threshold_parts_the_curves(regime_panel: RegimePanel) -> None:
    low, high = regime_panel.bolted.low.model, regime_panel.bolted.high.model
    measured = datasets.load(AZURE)
    small = simulate_osu(low, measured.sizes).latency_us
    large = simulate_osu(high, measured.sizes).latency_us
    for threshold in (1, 512, 16384, 4194304):
        regime_panel.threshold = threshold
        drawn = regime_panel.drawn("simulated")["latency"]
        expected = np.where(measured.sizes <= threshold, small, large)
        np.testing.assert_array_equal(drawn, expected)
        assert regime_panel.drawn("threshold")["size"] == [threshold]


def test_the_errors_are_those_of_the_parts(regime_panel: RegimePanel) -> None:
    regime_panel.threshold = 4096
    measured, bolted = datasets.load(AZURE), regime_panel.bolted
    assert bolted.simulated is not None
    below = measured.sizes <= 4096
    parts = regime_panel.drawn("parts")
    for row, keep in enumerate((below, ~below, np.ones_like(below))):
        expected = rmspe_by_target(bolted.simulated.select(keep, ""), measured.select(keep, ""))
        assert parts["joint"][row] == pytest.approx(expected["joint"])
    by_size = regime_panel.drawn("thresholds")
    at = by_size["size"].index(4096)
    assert by_size["whole"][at] == pytest.approx(bolted.rmspe["joint"])


def test_the_slider_is_live(regime_panel: RegimePanel) -> None:
    """A move is drawn before it returns; `make bench` prints how long that takes."""
    slider = regime_panel.controls["threshold"]
    for threshold in (1024, 2048, 4096, 8192):
        slider.input.value = slider.scale.position(threshold)
        assert regime_panel.bolted.threshold == threshold
        drawn = regime_panel.drawn("simulated")["latency"]
        assert drawn == regime_panel.bolted.simulated.latency_us.tolist()


def test_another_machine_keeps_the_threshold(regime_panel: RegimePanel) -> None:
    regime_panel.threshold = 2048
    regime_panel.machine = AWS
    assert regime_panel.threshold == 2048
    assert regime_panel.bolted.measured.name == AWS
    drawn = regime_panel.drawn("measured")["latency"]
    assert drawn == datasets.load(AWS).latency_us.tolist()


def test_it_says_whether_sstmacro_can_run_the_pair(regime_panel: RegimePanel) -> None:
    assert "SST/macro can run this pair" in regime_panel.text
    regime_panel.low = "snappr"
    assert "one detailed network model" in regime_panel.text


def test_a_refit_shows_the_models_it_found(own_regime_panel: RegimePanel) -> None:
    own_regime_panel.high = "protocol"
    own_regime_panel.threshold = 4096
    own_regime_panel.trials = 8
    before = own_regime_panel.bolted.rmspe["joint"]
    job = own_regime_panel.run()
    assert own_regime_panel.controls["machine"].disabled
    assert own_regime_panel.controls["threshold"].enabled
    bolted = own_regime_panel.wait(60)
    found = job.result()
    assert bolted.low.model == found.low.model
    assert bolted.high.model == found.high.model
    assert bolted.rmspe["joint"] < before
    assert "refitted here to sizes up to 4 KiB" in own_regime_panel.text
    assert not own_regime_panel.controls["machine"].disabled
    own_regime_panel.high = "logp"
    own_regime_panel.high = "protocol"
    assert own_regime_panel.bolted.low.model == found.low.model, "kept while the panel lives"


def test_a_refit_can_be_stopped(own_regime_panel: RegimePanel) -> None:
    own_regime_panel.high = "logp"
    own_regime_panel.engine = "tpe"
    own_regime_panel.trials = 100_000
    job = own_regime_panel.run()
    while job.progress.done < 3:
        time.sleep(0.01)
    assert own_regime_panel.running
    own_regime_panel.stop()
    high = own_regime_panel.bolted.high.model
    bolted = own_regime_panel.wait(30)
    assert not own_regime_panel.running
    assert own_regime_panel.buttons["▶ Refit both halves here"]
    assert bolted.low.model == job.result().low.model
    assert bolted.high.model == high, "its turn had not come"
    assert "stays as it was" in own_regime_panel.text


def test_a_half_without_sizes_cannot_be_fitted(own_regime_panel: RegimePanel) -> None:
    own_regime_panel.threshold = 4194304
    with pytest.raises(ParameterError, match="both sides"):
        own_regime_panel.run()
    own_regime_panel.press("▶ Refit both halves here")
    assert "both sides" in own_regime_panel.error


def test_a_threshold_is_one_of_the_sizes(regime_panel: RegimePanel) -> None:
    with pytest.raises(ParameterError, match="one of the measured sizes"):
        regime_panel.threshold = 500
    slider, before = regime_panel.controls["threshold"], regime_panel.bolted
    slider.text.value = "500 B"
    said = "one of the measured sizes, 1 to 4194304 B; got '500 B'; the value stays"
    assert said in regime_panel.error and regime_panel.bolted is before
    slider.text.value = "2 KiB"
    assert (regime_panel.threshold, regime_panel.error) == (2048, "")


def test_the_python_line_gives_the_numbers_that_are_shown(regime_panel: RegimePanel) -> None:
    regime_panel.threshold = 2048
    scope: dict[str, object] = {}
    exec(regime_panel.python, scope)
    assert scope["bolted"].rmspe == regime_panel.bolted.rmspe
    regime_panel.open("Python")
    assert regime_panel.python in regime_panel.text
    assert "fit_regimes" in regime_panel.text


def test_files_hold_what_is_shown(own_regime_panel: RegimePanel, tmp_path: Path) -> None:
    own_regime_panel.threshold = 1024
    frame = pd.read_csv(own_regime_panel.save(tmp_path / "a.csv"))
    assert frame["half"].tolist() == ["low"] * 11 + ["high"] * 12
    assert frame["simulated_latency_us"].to_numpy() == pytest.approx(
        own_regime_panel.bolted.simulated.latency_us
    )
    content = json.loads(own_regime_panel.save(tmp_path / "a.json").read_text())
    assert content["threshold_bytes"] == 1024
    assert content["rmspe_percent"]["whole"]["joint"] == pytest.approx(
        own_regime_panel.bolted.rmspe["joint"]
    )
    model = read_ini(own_regime_panel.save(tmp_path / "a.ini"))
    assert model == own_regime_panel.bolted.as_sstmacro()
    own_regime_panel.low = "snappr"
    with pytest.raises(ParameterError, match="one detailed network"):
        own_regime_panel.save(tmp_path / "b.ini")
    own_regime_panel.open("Export")
    own_regime_panel.press("INI")
    assert "one detailed network" in own_regime_panel.error


def test_without_any_study_it_opens_on_defaults() -> None:
    panel = RegimePanel(AWS, [])
    assert "Small: defaults, not fitted" in panel.text
    assert panel.bolted.success


def test_the_panel_prints_itself_in_one_line(regime_panel: RegimePanel) -> None:
    assert "\n" not in repr(regime_panel)
    assert {"threshold", "low", "high", "run"} <= set(dir(regime_panel))


def test_a_number_out_of_range_is_reported_and_starts_no_refit(
    own_regime_panel: RegimePanel,
) -> None:
    trials = own_regime_panel.controls["trials"]
    trials.typed.value = 0
    assert "Trials each must be a whole number from 1" in own_regime_panel.error
    own_regime_panel.press("▶ Refit both halves here")
    assert not own_regime_panel.running
    assert "correct Trials each first" in own_regime_panel.error
    with pytest.raises(ParameterError, match="trials must be a whole number from 1"):
        own_regime_panel.trials = 0
