from __future__ import annotations

import re

import numpy as np
import pytest
from bokeh.models import Div, Line, Scatter
from bokeh.models.glyphs import Step
from bokeh.plotting import figure

from tests.cases import for_each
from workbench.errors import ParameterError
from workbench.plotting import (
    describe_study_convergence,
    describe_study_curves,
    describe_study_errors,
    plot_study_convergence,
    plot_study_curves,
    plot_study_errors,
)
from workbench.study import StudyResult


def figures(drawn: object) -> list[figure]:
    found = drawn.select({"type": figure})  # type: ignore[attr-defined]
    return sorted(found, key=lambda fig: int(fig.id[1:]))  # in the order they were made


def sources(fig: figure, glyph: type) -> list[dict[str, list[float]]]:
    return [r.data_source.data for r in fig.renderers if isinstance(r.glyph, glyph)]


def words(drawn: object) -> str:
    return " ".join(div.text for div in drawn.select({"type": Div}))  # type: ignore[attr-defined]


def test_a_line_for_each_loss_and_a_figure_for_each_machine_and_target(study: StudyResult) -> None:
    drawn = figures(plot_study_errors(study, "latency"))
    assert len(drawn) == 2 * 3
    assert {len(sources(fig, Line)) for fig in drawn} == {3}
    assert [fig.title.text for fig in drawn[:2]] == ["azure-hb96v3-hdr", "llnl-dane-omnipath"]


@for_each("what", ["latency", "bandwidth"])
def test_the_lines_are_the_percent_errors_of_the_cells(study: StudyResult, what: str) -> None:
    fig = figures(plot_study_errors(study, what, machine="llnl-dane-omnipath"))[1]
    cells = study.select(machine="llnl-dane-omnipath", target="latency")
    for data, cell in zip(sources(fig, Line), cells, strict=True):
        assert set(data["name"]) == {cell.cell.loss}
        expected = cell.percent_error()[what].to_numpy()
        np.testing.assert_allclose(data["percent"], expected, rtol=1e-12, atol=1e-10)
        # twice and half are as far from equal
        np.testing.assert_allclose(data["value"], 1 + expected / 100, rtol=1e-12)
    labels = fig.yaxis[0].major_label_overrides
    assert (labels[1.0], labels[3.0], labels[0.1]) == ("0", "+200", "−90")


def test_the_curves_stand_over_the_measured_points(study: StudyResult) -> None:
    drawn = plot_study_curves(study, "bandwidth", target="both")
    first = figures(drawn)[0]
    cell = study.one(machine="azure-hb96v3-hdr", loss="rmsre", target="both")
    assert sources(first, Scatter)[0]["value"] == cell.measured().bandwidth_MBps.tolist()
    assert sources(first, Line)[0]["value"] == cell.simulated().bandwidth_MBps.tolist()
    assert "measured (published)" in words(drawn)
    assert "simulated: logp" in words(drawn)


def test_convergence_ends_at_the_best_loss_and_at_the_last_trial(study: StudyResult) -> None:
    drawn = figures(plot_study_convergence(study))
    cells = [
        study.one(loss=loss, machine=machine, target="both")
        for loss in study.plan.losses
        for machine in study.plan.machines
    ]
    for fig, cell in zip(drawn, cells, strict=True):
        data = sources(fig, Step)[0]
        assert data["trial"][-1] == cell.trials == study.plan.trials
        assert data["loss"][-1] == cell.best_loss
        assert (np.diff(data["loss"]) <= 0).all()
        assert data["trial"][:-1] == (cell.convergence[0] + 1).tolist()


def test_only_outer_figures_carry_labels_and_rows_share_their_scale(study: StudyResult) -> None:
    drawn = figures(plot_study_convergence(study))
    assert [fig.yaxis[0].axis_label for fig in drawn] == [
        "rmsre (ratio)",
        None,
        "rmspe (%)",
        None,
        "mae",
        None,
    ]
    assert [fig.xaxis[0].visible for fig in drawn] == [False] * 4 + [True] * 2
    assert drawn[0].y_range is drawn[1].y_range
    assert drawn[0].y_range is not drawn[2].y_range
    assert len({id(fig.x_range) for fig in drawn}) == 1


def test_a_row_of_little_figures_is_wide_enough_for_its_losses(study: StudyResult) -> None:
    for fig in figures(plot_study_convergence(study)):
        losses = sources(fig, Step)[0]["loss"]
        assert fig.y_range.start < min(losses) <= max(losses) < fig.y_range.end
        for tick in fig.yaxis[0].ticker.ticks:
            assert fig.y_range.start < tick < fig.y_range.end


def test_the_readings_are_of_the_numbers_drawn(study: StudyResult) -> None:
    text = describe_study_convergence(study, loss="rmsre")
    near = []
    for cell in study.select(target="both", loss="rmsre"):
        trials, losses = cell.convergence
        near.append(int(trials[np.flatnonzero(losses <= 1.05 * losses[-1])[0]]) + 1)
    assert f"at trial {max(near)} of {study.plan.trials}" in text
    assert f"{sum(at <= 15 for at in near)} of 2 fits" in text

    text = describe_study_errors(study, "latency", loss="mae", machine="llnl-dane-omnipath")
    small = [
        cell.percent_error()["latency"].loc[:512].abs().to_numpy()
        for cell in study.select(loss="mae", machine="llnl-dane-omnipath")
    ]
    assert f"up to 512 B {np.median(np.concatenate(small)):.0f} %" in text

    text = describe_study_curves(study, loss="rmsre")
    cells = study.select(loss="rmsre", target="latency").cells
    median = np.median([cell.rmspe["bandwidth"] for cell in cells])
    found = re.search(r"latency alone: latency (\d+) %, bandwidth (\d+) %", text)
    assert found is not None
    assert int(found[2]) == round(median)


def test_a_study_that_has_not_started_is_reported_as_empty(study: StudyResult) -> None:
    from workbench.study import CellResult

    waiting = StudyResult(study.plan, tuple(CellResult(cell.cell, cell.choice) for cell in study))
    assert "No fit has found" in describe_study_convergence(waiting)
    with pytest.raises(ParameterError, match="run the study"):
        plot_study_errors(waiting)
    with pytest.raises(ParameterError, match="latency, bandwidth; got 'both'"):
        plot_study_errors(study, "both")
