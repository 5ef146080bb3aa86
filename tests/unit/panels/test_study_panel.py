from __future__ import annotations

import base64
import io
import json
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from workbench.errors import ParameterError
from workbench.measure import OSUCurve
from workbench.models import read_ini
from workbench.panels import StudyPanel
from workbench.study import CellResult, StudyResult

AZURE, AWS = "azure-hb96v3-hdr", "aws-hpc6a-efa"


def click(panel: StudyPanel, row: str, column: str) -> None:
    """Select a place of the heatmap as the page does."""
    data = panel.drawn("heatmap")
    places = list(zip(data["row_name"], data["column_name"], strict=True))
    panel.select("heatmap", places.index((row, column)))


def drawn_errors(panel: StudyPanel) -> dict[tuple[str, str], float]:
    data = panel.drawn("heatmap")
    places = zip(data["row_name"], data["column_name"], strict=True)
    return dict(zip(places, data["error"], strict=True))


def test_it_opens_on_the_first_fit_with_its_curves(shared_study_panel: StudyPanel) -> None:
    cell = shared_study_panel.result.cells[0]
    assert shared_study_panel.chosen.cell is cell
    drawn = shared_study_panel.drawn("simulated")
    assert drawn["latency"] == cell.simulated().latency_us.tolist()
    assert shared_study_panel.drawn("errors")["error"] == [
        *cell.percent_error()["latency"],
        *cell.percent_error()["bandwidth"],
    ]
    assert shared_study_panel.error == ""
    assert "published" in shared_study_panel.text
    assert "Least RMSPE" in shared_study_panel.text


def test_the_heatmap_shows_the_table_of_the_python_line(shared_study_panel: StudyPanel) -> None:
    shared_study_panel.value = "bandwidth"
    shared_study_panel.target = "latency"
    shared_study_panel.open("Python")
    lines = "".join(shared_study_panel.text.partition("from workbench")[1:]).split("\n\n")[0]
    scope: dict[str, object] = {"result": shared_study_panel.result}
    exec(lines, scope)
    table = scope["table"]
    assert isinstance(table, pd.DataFrame)
    assert drawn_errors(shared_study_panel) == {
        (row, column): pytest.approx(table.loc[row, column])
        for row in ("rmsre", "mae")
        for column in (AZURE, AWS)
    }


def test_a_click_shows_the_fit_of_that_place(shared_study_panel: StudyPanel) -> None:
    click(shared_study_panel, "mae", AWS)
    assert (shared_study_panel.loss, shared_study_panel.machine) == ("mae", AWS)
    expected = shared_study_panel.result.one(machine=AWS, loss="mae", target="both", regime="all")
    assert shared_study_panel.chosen.cell is expected
    assert (
        shared_study_panel.drawn("simulated")["latency"] == expected.simulated().latency_us.tolist()
    )
    assert (
        shared_study_panel.drawn("measured")["latency"] == expected.measured().latency_us.tolist()
    )
    shared_study_panel.open("Parameters")
    for key in expected.values:
        assert key in shared_study_panel.text


def test_a_list_does_what_a_click_does(shared_study_panel: StudyPanel) -> None:
    shared_study_panel.loss = "mae"
    shared_study_panel.machine = AWS
    (at,), data = shared_study_panel.selected("heatmap"), shared_study_panel.drawn("heatmap")
    assert (data["row_name"][at], data["column_name"][at]) == ("mae", AWS)
    assert data["cell"][at] == shared_study_panel.chosen.cell.cell.name


def test_other_rows_compare_something_else(shared_study_panel: StudyPanel) -> None:
    shared_study_panel.rows = "regime"
    shared_study_panel.loss = "mae"
    expected = shared_study_panel.result.select(loss="mae", target="both").table(rows="regime")
    assert drawn_errors(shared_study_panel)["low", AWS] == pytest.approx(expected.loc["low", AWS])
    click(shared_study_panel, "low", AWS)
    assert shared_study_panel.chosen.cell.cell.regime == "low"
    assert shared_study_panel.chosen.measured.sizes.max() == 512
    assert shared_study_panel.loss == "mae", "what is not an axis stays"


def test_a_pinned_fit_stands_beside_the_next(shared_study_panel: StudyPanel) -> None:
    shared_study_panel.pin()
    first = shared_study_panel.chosen
    click(shared_study_panel, "mae", AWS)
    assert shared_study_panel.pinned is first
    assert first.simulated is not None
    assert shared_study_panel.drawn("fitted")["latency"] == first.simulated.latency_us.tolist()
    assert shared_study_panel.drawn("other")["latency"] == first.measured.latency_us.tolist()
    figures = len(shared_study_panel.figures)
    shared_study_panel.open("Parameters")
    for fit in (first, shared_study_panel.chosen):
        assert f"{fit.cell.rmspe['joint']:.3g}" in shared_study_panel.text
    shared_study_panel.unpin()
    assert shared_study_panel.drawn("fitted")["latency"] == []
    assert len(shared_study_panel.figures) == figures - 1, "the errors of A"


def test_points_of_one_machine_are_drawn_once(shared_study_panel: StudyPanel) -> None:
    shared_study_panel.pin()
    shared_study_panel.loss = "mae"
    assert shared_study_panel.drawn("other")["latency"] == []


def test_the_python_line_gives_the_fit_that_is_shown(shared_study_panel: StudyPanel) -> None:
    click(shared_study_panel, "mae", AWS)
    scope: dict[str, object] = {"result": shared_study_panel.result}
    exec(shared_study_panel.python, scope)
    np.testing.assert_array_equal(
        scope["simulated"].latency_s, shared_study_panel.chosen.simulated.latency_s
    )


def test_a_run_of_ones_own_is_shown_and_left_again(shared_study_panel: StudyPanel) -> None:
    shared_study_panel.run(machine=AWS, model="protocol", engine="least-squares", trials=5, seed=3)
    fit = shared_study_panel.wait(60)
    assert fit.own
    assert (fit.cell.cell.model, fit.cell.cell.engine, fit.cell.trials) == (
        "protocol",
        "least-squares",
        5,
    )
    assert shared_study_panel.selected("heatmap") == []
    scope: dict[str, object] = {}
    exec(shared_study_panel.python, scope)
    np.testing.assert_array_equal(scope["simulated"].latency_s, fit.simulated.latency_s)
    shared_study_panel.open("Parameters")
    assert "short.latency" in shared_study_panel.text
    click(shared_study_panel, "rmsre", AZURE)
    assert shared_study_panel.chosen.cell is shared_study_panel.result.cells[0]


def test_a_run_can_be_stopped(study_panel: StudyPanel) -> None:
    run = study_panel.run(model="logp", trials=100_000)
    while len(run.losses) < 3:
        time.sleep(0.01)
    assert study_panel.running
    study_panel.open("Run your own")
    assert not study_panel.buttons["▶ Start"]
    study_panel.stop()
    fit = study_panel.wait(30)
    assert 3 <= fit.cell.trials < 100_000
    assert fit.cell.status == "stopped"
    assert study_panel.buttons["▶ Start"]


def test_a_run_that_is_not_offered_is_refused(shared_study_panel: StudyPanel) -> None:
    with pytest.raises(ParameterError, match="did you mean tpe"):
        shared_study_panel.run(engine="tpee")
    with pytest.raises(ParameterError, match="machine, model, loss"):
        shared_study_panel.run(machines=AWS)


def test_a_figure_of_all_fits_follows_the_regime_and_is_kept(study_panel: StudyPanel) -> None:
    figure = study_panel._tabs.figures["Convergence"]  # its views are compared
    study_panel.open("Convergence")
    study_panel.wait(60)
    (view,) = figure.views
    study_panel.regime = "low"
    study_panel.wait(60)
    assert study_panel.error == ""
    assert figure.views != [view]
    study_panel.regime = "all"
    assert figure.views == [view], "kept"


def simulations(
    monkeypatch: pytest.MonkeyPatch, each: Callable[[str], None] = lambda name: None
) -> list[str]:
    """Return the list to which each simulation of a fit adds its name, once it has called."""
    simulated = CellResult.simulated
    names: list[str] = []

    def counted(fit: CellResult, **options: Any) -> OSUCurve:
        each(fit.cell.name)
        curve = simulated(fit, **options)
        names.append(fit.cell.name)
        return curve

    monkeypatch.setattr(CellResult, "simulated", counted)
    return names


def test_each_fit_is_simulated_once_for_all_figures(
    study_panel: StudyPanel, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = simulations(monkeypatch)
    for title in ("Errors by size", "Curves", "Errors by size", "Convergence"):
        study_panel.open(title)
        study_panel.wait(60)
        assert study_panel.error == "", title
        assert len(study_panel._tabs.figures[title].views) == 1, title
    drawn = study_panel.result.select(regime="all")
    assert sorted(names) == sorted(fit.cell.name for fit in drawn)


def test_a_figure_says_how_far_it_is_and_stays_stopped_until_it_is_asked_for(
    study_panel: StudyPanel, monkeypatch: pytest.MonkeyPatch
) -> None:
    third, go_on = threading.Event(), threading.Event()

    def hold_at_third(name: str) -> None:
        if len(names) == 2:
            third.set()
            assert go_on.wait(60)

    names = simulations(monkeypatch, hold_at_third)
    figure = study_panel._tabs.figures["Errors by size"]
    study_panel.open("Errors by size")
    assert third.wait(60)
    assert study_panel.refresh()
    fits = len(study_panel.result.select(regime="all"))
    assert f"2 of {fits} fits simulated" in figure.status.value
    assert figure._work.progress.value == pytest.approx(2 / fits)
    figure.stop_button.click()
    go_on.set()
    study_panel.wait(60)
    assert "stopped after" in figure.status.value
    assert f"2 of {fits} fits simulated" in figure.status.value
    assert (len(names), figure.views, study_panel.error) == (2, [], "")

    study_panel.value = "bandwidth"  # redraws the panel, and must not draw what was stopped
    assert not figure.busy
    figure.draw.click()
    study_panel.wait(60)
    assert len(figure.views) == 1
    assert len(names) == len(set(names)) == fits, "what was simulated before Stop is kept"


def test_files_hold_what_is_shown(shared_study_panel: StudyPanel, tmp_path: Path) -> None:
    click(shared_study_panel, "mae", AWS)
    frame = pd.read_csv(shared_study_panel.save(tmp_path / "a.csv"))
    assert len(frame) == len(shared_study_panel.result)
    content = json.loads(shared_study_panel.save(tmp_path / "a.json").read_text())
    assert content["values"] == dict(shared_study_panel.chosen.cell.values)
    assert content["measured"]["provenance"]["origin"] == "published"
    assert (
        read_ini(shared_study_panel.save(tmp_path / "a.ini"))
        == shared_study_panel.chosen.cell.model()
    )
    with pytest.raises(ParameterError, match=r"\.csv, \.json, \.ini"):
        shared_study_panel.save(tmp_path / "a.xls")


def test_a_button_sends_the_file_to_the_browser(shared_study_panel: StudyPanel) -> None:
    shared_study_panel.open("Export")
    shared_study_panel.press("CSV")
    offered = shared_study_panel.drawn("file")
    assert offered["name"] == ["small.csv"]
    text = base64.b64decode(offered["base64"][0]).decode()
    assert len(pd.read_csv(io.StringIO(text))) == len(shared_study_panel.result)
    shared_study_panel.open("Export")
    shared_study_panel.press("PNG fit")
    (said,) = shared_study_panel._fit.downloads._picture.data["caption"]
    assert shared_study_panel.chosen.measured.provenance.caption() in said and "simulated" in said
    shared_study_panel.press("PNG heatmap")
    (said,) = shared_study_panel.drawn("picture")["caption"]
    assert said.endswith(f"published: {', '.join(shared_study_panel.result.plan.machines)}.")


def test_only_a_click_is_taken_back_from_the_page(shared_study_panel: StudyPanel) -> None:
    """Whatever else a page echoes is older than what Python has by then."""
    view, source = shared_study_panel._heatmap.view, shared_study_panel._heatmap.heatmap.source
    source.data = before = dict(source.data)

    def page_says(model: object, attr: str, new: object) -> None:
        view.receive({"kind": "changed", "id": model.id, "attr": attr, "value": new})

    page_says(shared_study_panel._heatmap.heatmap.figure, "height", 10)
    assert shared_study_panel._heatmap.heatmap.figure.height != 10
    place = before["row_name"].index("mae")
    page_says(source.selected, "indices", [place])
    assert shared_study_panel.loss == "mae"


def test_a_study_without_a_fitted_cell_says_why(small_study: StudyResult, tmp_path: Path) -> None:
    cell = replace(
        small_study.cells[0],
        values={},
        rmspe=dict.fromkeys(small_study.cells[0].rmspe, float("nan")),
        best_loss=float("inf"),
        message="no configuration could be simulated",
    )
    panel = StudyPanel(StudyResult(small_study.plan, (cell, *small_study.cells[1:])))
    assert "no configuration could be simulated" in panel.text
    panel.open("Export")
    panel.press("INI")
    assert "no fitted model" in panel.error
    content = json.loads(panel.save(tmp_path / "a.json").read_text())
    assert content["simulated"] is None
    assert content["fit"]["joint"] is None


def test_an_empty_study_is_refused(small_study: StudyResult) -> None:
    with pytest.raises(ParameterError, match="must have a cell"):
        StudyPanel(StudyResult(small_study.plan, ()))


def test_the_panel_prints_itself_in_one_line(shared_study_panel: StudyPanel) -> None:
    assert "\n" not in repr(shared_study_panel)
    assert {"loss", "machine", "pin", "run"} <= set(dir(shared_study_panel))
    with pytest.raises(AttributeError, match="machine"):
        shared_study_panel.machines = AWS


def test_a_run_with_a_number_out_of_range_is_not_started(study_panel: StudyPanel) -> None:
    study_panel.open("Run your own")
    study_panel._own.controls["trials"].typed.value = 2.5  # the settings of a run are its arguments
    study_panel.press("▶ Start")
    assert not study_panel.running
    assert "Trials must be a whole number from 1 to 1,000,000; got 2.5" in study_panel.error
    assert "correct Trials first" in study_panel.error
