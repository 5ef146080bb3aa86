from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from workbench.errors import ParameterError
from workbench.plotting import describe_study, plot_study, study_heatmap
from workbench.study import StudyResult


def test_every_place_shows_the_number_of_its_cell(study: StudyResult) -> None:
    data = study_heatmap(study).source.data
    assert len(data["error"]) == 6
    for loss, machine, error, name in zip(
        data["row_name"], data["column_name"], data["error"], data["cell"], strict=True
    ):
        cell = study.one(loss=loss, machine=machine, target="both")
        assert error == pytest.approx(cell.rmspe["joint"], rel=1e-12)  # a square and its root
        assert name == cell.cell.name


def test_several_machines_in_one_place_are_one_set_of_points(study: StudyResult) -> None:
    drawn = study_heatmap(study, error="latency", columns="target")
    data = drawn.source.data
    at = next(
        i for i in range(9) if (data["row_name"][i], data["column_name"][i]) == ("mae", "bandwidth")
    )
    cells = study.select(loss="mae", target="bandwidth").cells
    errors = np.concatenate([cell.percent_error()["latency"].to_numpy() for cell in cells])
    # The machines have 23 sizes each, so the mean over machines is the mean over points.
    assert data["latency"][at] == pytest.approx(np.sqrt(np.mean(errors**2)), rel=1e-9)
    assert data["fits"][at] == 2
    assert "2 machines" in drawn.figure.title.text


def test_a_click_can_be_told_and_is_forgotten_when_other_errors_are_drawn(
    study: StudyResult,
) -> None:
    drawn = study_heatmap(study)
    source = drawn.source
    source.selected.indices = [3]
    assert source.data["cell"][3] in {cell.cell.name for cell in study}
    drawn.show(study, error="bandwidth", target="latency")
    assert drawn.source is source
    assert source.selected.indices == []
    assert "simulated bandwidth" in drawn.figure.title.text
    assert "fitted to latency" in drawn.figure.title.text


def test_a_cell_without_a_fit_is_grey_and_has_a_dash(study: StudyResult) -> None:
    first, *others = study.cells
    failed = replace(first, rmspe=dict.fromkeys(first.rmspe, np.nan), values={}, status="failed")
    data = study_heatmap(StudyResult(study.plan, (failed, *others))).source.data
    assert (data["text"][0], data["cell"][0], data["fits"][0]) == ("–", "", 0)
    assert np.isnan(data["error"][0])
    assert "–" not in data["text"][1:]


def test_the_reading_names_the_winner_and_ties(study: StudyResult) -> None:
    text = describe_study(study)
    # RMSPE is a hundred times RMSRE: the same search ends at the same place.
    assert "rmsre and rmspe, on 2 of 2 machines" in text
    worst = study.select(loss="mae", target="both").cells
    percent = np.sqrt(np.mean([cell.rmspe["joint"] ** 2 for cell in worst]))
    assert f"mae the most with {percent:.0f} %" in text


def test_what_is_not_there_is_refused_with_what_is(study: StudyResult) -> None:
    with pytest.raises(ParameterError, match="joint, latency, bandwidth; got 'total'"):
        plot_study(study, error="total")
    with pytest.raises(ParameterError, match="no cell of the study has machine cray"):
        plot_study(study, machine="cray")
    with pytest.raises(ParameterError, match="distinguished by machine, model"):
        plot_study(study, rows="colour")
    with pytest.raises(ParameterError, match="must differ"):
        plot_study(study, rows="machine")
