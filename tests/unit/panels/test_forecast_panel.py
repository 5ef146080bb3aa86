"""The panel of forecasts on the recording that ships, on a small world and on a user's table."""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from workbench.errors import ParameterError
from workbench.panels import ForecastPanel
from workbench.variability import Forecast
from workbench.variability.tables.steps import FEATURES
from workbench.variability.world.scene import WorldSettings


@pytest.fixture(scope="module")
def made() -> ForecastPanel:
    panel = ForecastPanel()
    until_forecast(panel)
    panel.stop()
    panel.wait(60)
    return panel


@pytest.fixture
def panel(made: ForecastPanel) -> Iterator[ForecastPanel]:
    yield made
    made.source, made.view, made.model = "emulated", "run", ""
    made.m, made.k = 10, 20
    made.stop()
    made.wait(60)


def until_forecast(panel: ForecastPanel) -> Forecast:
    """Wait for the forecast by ridge, which is there before the others."""
    end = time.monotonic() + 60
    while panel.found is None and time.monotonic() < end:
        panel.refresh()
        time.sleep(0.02)
    assert panel.found is not None, panel.error
    return panel.found


def step_table(folder: Path, runs: int = 12, steps: int = 16) -> Path:
    """Write steps whose time follows a counter; each run has its own level."""
    rng = np.random.default_rng(5)
    load = rng.random((runs, 1)) + 0.1 * rng.random((runs, steps))
    rows = [
        (f"r{run}", step, 1 + load[run, step], 100 * load[run, step], rng.random())
        for run in range(runs)
        for step in range(steps)
    ]
    path = folder / "my steps.csv"
    pd.DataFrame(rows, columns=["run id", "iteration", "seconds", "RT_RB_STL", "NOISE"]).to_csv(
        path, index=False
    )
    return path


def test_it_opens_on_the_recording_with_ridge_at_once(panel: ForecastPanel) -> None:
    steps, found = panel.steps, panel.found
    assert steps is not None and found is not None
    assert (found.m, found.k) == (10, 20)
    assert panel.figures == [
        "Step times of run r049 (emulated)",
        "Forecasts of run r049 (emulated)",
    ]
    assert panel.run == int(np.nansum(steps.time_s, axis=1).argmax())
    assert panel.drawn("run steps")["time"].tolist() == steps.time_s[panel.run].tolist()
    assert "ridge forecast" in panel.text and "emulated: a shared link" in panel.text
    assert panel.error == ""


def test_a_model_may_be_chosen_before_it_is_there(panel: ForecastPanel) -> None:
    panel.model = "attention"
    assert "ridge forecast" in panel.text


def test_stop_leaves_what_ridge_forecast(panel: ForecastPanel) -> None:
    assert panel.found is not None
    assert panel.found.models == ("ridge", "persistence", "mean-trajectory")
    assert "stopped; ridge only" in panel.text
    assert not panel.running


def test_another_moment_is_drawn_at_once(panel: ForecastPanel) -> None:
    found = panel.found
    assert found is not None
    began = time.monotonic()
    panel.at = 31
    assert time.monotonic() - began < 1.0  # 10 ms on a machine at rest
    window = int(np.flatnonzero((found.run == panel.run) & (found.at == 31))[0])
    ahead = panel.drawn("ahead")
    assert ahead["step"].tolist() == [30.5, 50.5]
    assert ahead["actual"][0] == pytest.approx(found.actual_s[window] / 20, rel=1e-12)
    assert ahead["predicted"][0] == pytest.approx(found.predicted_s[0, window] / 20, rel=1e-12)
    assert ahead["low"][0] < ahead["predicted"][0] < ahead["high"][0]
    panel.select("forecasts", 3)
    assert panel.at == found.m + 3
    panel.model = "persistence"
    assert "persistence forecast" in panel.text
    with pytest.raises(ParameterError, match="step must be a number from 10 to 40"):
        panel.at = 50
    assert panel.at == found.m + 3


def test_the_code_makes_what_is_shown(panel: ForecastPanel) -> None:
    panel.at = 22
    scope: dict[str, Any] = {}
    exec(panel.python, scope)
    assert panel.found is not None
    assert (scope["found"].predicted_s == panel.found.predicted_s).all()
    titles = [child[0].title.text for child in scope["figure"].children]
    assert titles == panel.figures


@pytest.mark.parametrize("view", ["grid", "leakage", "long"])
def test_each_view_has_its_result_and_its_code(
    panel: ForecastPanel, view: str, tmp_path: Path
) -> None:
    panel.view = view
    panel.take_steps(step_table(tmp_path))
    panel.wait(120)
    assert panel.error == "" and panel.result is not None and panel.figures
    scope: dict[str, Any] = {}
    with contextlib.chdir(tmp_path):
        exec(panel.python, scope)
    assert scope["found"].to_frame().equals(panel.result.to_frame())
    assert len(pd.read_csv(panel.save(tmp_path / "table.csv"))) == len(panel.result.to_frame())
    content = json.loads(panel.save(tmp_path / "all.json").read_text())
    assert content["data"]["origin"] == "measured" and content["shown"]["view"] == view


def test_relevance_is_found_in_a_table_of_the_user(panel: ForecastPanel, tmp_path: Path) -> None:
    path = step_table(tmp_path, runs=5)  # of which each is left out once
    panel.source = "own"
    panel._own.upload.take({path.name: path.read_bytes()})
    assert panel.error == ""
    found = until_forecast(panel)
    assert (found.m, found.k) == (2, 5)
    assert "columns={'run': 'run id', 'step': 'iteration', 'time_s': 'seconds'}" in panel.python
    assert "measured: my steps.csv" in panel.text
    panel.stop()
    panel.wait(60)
    panel.view = "deviation"
    panel.wait(120)
    assert panel.result is not None
    assert panel.result.to_frame()["counter"][0] == "RT_RB_STL"
    scope: dict[str, Any] = {}
    with contextlib.chdir(tmp_path):
        exec(panel.python, scope)
    assert scope["found"].relevance.tolist() == panel.result.relevance.tolist()
    # Counters of the job's own routers unless all are asked for; the code says which.
    assert "features=" not in panel.python
    panel.explaining = FEATURES
    panel.wait(120)
    assert "features=('app', 'placement', 'io', 'sys')" in panel.python


def test_a_refusal_stands_beside_its_control(panel: ForecastPanel, tmp_path: Path) -> None:
    path = step_table(tmp_path)
    path.write_text(path.read_text().replace("r3,4,", "r3,four,"))
    panel.take_steps(path)
    assert panel._own.error.message.startswith("my steps.csv:54: ")
    assert panel.steps is None and "Upload a table of steps" in panel.text
    with pytest.raises(ParameterError, match="no column 'tme'"):
        panel.take_steps(path, {"time_s": "tme"})
    panel.take_steps(step_table(tmp_path))
    until_forecast(panel)
    panel.m, panel.k = 10, 20
    panel.wait(60)
    assert "m + k must be at most the number of steps of a run, 16" in panel._work.error.message
    assert panel.figures  # the run's steps stay
    with pytest.raises(ParameterError, match="m must be a whole number from 1"):
        panel.m = 0
    with pytest.raises(ParameterError, match="suffix must be one of"):
        panel.save(tmp_path / "a.png")


def test_a_made_up_world_has_the_windows_of_the_paper(panel: ForecastPanel) -> None:
    panel.preset, panel.application, panel.runs = "small", "amg-128", 10
    panel.source = "generated"
    assert panel.running and "The world is being made" in panel.text
    while panel.steps is None and panel.refresh():
        time.sleep(0.05)
    found = until_forecast(panel)
    panel.stop()
    panel.wait(60)
    assert (found.m, found.k) == (8, 10)
    assert panel._source is not None and panel._source.world is not None
    assert panel._source.world.settings == WorldSettings("small", "amg-128", 10, 0, True)
    assert "synthetic: AMG-like" in panel.text
    assert panel._source.grid == ((3, 8), (5, 10))
    assert "Cause" in dict(panel.controls["view"].options)
    panel.source = "emulated"
    assert "Cause" not in dict(panel.controls["view"].options)


@pytest.mark.deep
def test_relevance_stands_beside_the_cause(panel: ForecastPanel) -> None:
    panel.application, panel.runs, panel.source = "amg-128", 12, "generated"
    panel.generate()
    panel.wait(600)
    panel.view = "cause"
    panel.wait(600)
    assert panel.error == "" and panel.figures == ["Relevance", "Cause"]
    scope: dict[str, Any] = {}
    exec(panel.python, scope)
    assert scope["found"].to_frame().equals(panel.result.to_frame())
    panel.view = "long"
    panel.wait(600)
    assert panel.result is not None and panel.result.run_names == ("long-run-1",)
