from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from workbench.errors import ParameterError
from workbench.panels.search_comparison.panel import SearchComparisonPanel
from workbench.panels.search_comparison.state import first_state, recordings_of
from workbench.tune.search_comparison.files import SearchComparisonTables, shipped_search_comparison


@pytest.fixture(scope="module")
def tables() -> SearchComparisonTables:
    return shipped_search_comparison()


@pytest.fixture(scope="module")
def panel(tables: SearchComparisonTables) -> SearchComparisonPanel:
    """The panel that the tests share: its figures take a moment to make."""
    return SearchComparisonPanel(tables)


@pytest.fixture(autouse=True)
def as_at_first(panel: SearchComparisonPanel, tables: SearchComparisonTables) -> None:
    first = first_state(tables)
    # What the pruning list holds decides what the lists after it offer.
    for name in ("recording", "noise", "pruning", *(each.name for each in fields(first))):
        setattr(panel, name, getattr(first, name))
    panel.open("By collective")


def test_it_opens_with_the_first_of_the_ranking(panel: SearchComparisonPanel) -> None:
    assert panel.error == ""
    assert panel.recording == "simulated-12-ranks"
    assert (panel.rows["share"].iloc[0] >= panel.rows["share"]).all()
    assert panel.rows.iloc[0][["heuristic", "resampling"]].tolist() == [
        panel.heuristic,
        panel.resampling,
    ]
    assert panel.description.startswith(f"{panel.heuristic} with ")
    assert "is first with" in panel.description


def test_every_tab_follows_the_lists(panel: SearchComparisonPanel) -> None:

    def table() -> list[str]:
        return [line for line in panel.text.split("\n") if "\t" in line]

    shown: dict[str, Callable[[], Any]] = {
        "By collective": table,
        "By size": lambda: str(panel.drawn("sizes")["text"]),
        "Stopping": lambda: panel.text,
        "Noise": lambda: str(panel._view.noise.figure.yaxis.axis_label),
        "Pruning": lambda: panel.text,
        "All methods": table,
        "Python": lambda: panel.text,
    }
    for title, read in shown.items():
        panel.measure = "share"
        panel.recording = "simulated-12-ranks"
        panel.open(title)
        before = read()
        panel.recording, panel.measure = "open-mpi-4-ranks", "distance"
        assert read() != before, title
        assert panel.error == ""


def test_the_method_that_is_looked_at_is_bold_among_all(panel: SearchComparisonPanel) -> None:
    panel.heuristic, panel.resampling = "genetic", "static 3"
    panel.open("All methods")
    [row] = [line for line in panel._view.ranked.value.split("<tr") if "bold" in line]
    cells = ("genetic", "static 3", panel.stopping)
    assert all(f">{cell}</td>" in row for cell in cells)


def test_one_noise_points_at_heuristics_with_several(panel: SearchComparisonPanel) -> None:
    panel.open("Noise")
    panel.heuristic = "tpe"
    assert "to compare noises, choose surrogate-gp, " in panel.text
    panel.heuristic = "random"
    assert "to compare noises" not in panel.text


def test_lists_offer_what_was_searched(
    panel: SearchComparisonPanel, tables: SearchComparisonTables
) -> None:
    panel.recording = "open-mpi-4-ranks"
    assert panel.noise == "measured"
    with pytest.raises(ParameterError, match="noise"):
        panel.noise = "normal 5 %"
    panel.recording = "simulated-12-ranks"
    panel.noise = "normal 20 %"
    there = tables.methods[
        (tables.methods["recording"] == panel.recording) & (tables.methods["noise"] == panel.noise)
    ]
    assert set(panel.controls["heuristic"].options) == set(there["heuristic"])


def test_searches_that_prune_are_shown_where_there_are_any(
    panel: SearchComparisonPanel, tables: SearchComparisonTables
) -> None:
    with pytest.raises(ParameterError, match="pruning"):
        panel.pruning = "median"
    panel.recording = "simulated-576-ranks"
    panel.pruning = "median"
    assert panel.stopping == "budget"
    assert set(panel.rows["pruning"]) == {"median"}
    assert set(panel.controls["heuristic"].options) == set(panel.rows["heuristic"])
    assert "its runs ended by “median”" in panel.description
    assert set(panel.table["pruning"]) == {"median"}
    panel.open("Pruning")
    panel.heuristic = "random"
    text = panel.text
    assert "each search compared with the same one without pruning" in text
    [x] = panel._view.pruning.chosen["median"].data["x"]
    there = tables.prunings[tables.prunings["pick"] == "expected"].set_index(
        ["recording", "heuristic", "pruning"]
    )
    assert x == there.loc[(panel.recording, "random", "median"), "quicker"]
    panel.measure = "gain"
    assert "points of gain over the default" in panel.text
    panel.pruning, panel.heuristic = "none", "tpe"
    assert "does not prune tpe here; choose surrogate-gp, " in panel.text


def test_a_click_chooses_the_method(panel: SearchComparisonPanel) -> None:
    data = panel.drawn("heuristics")
    last = len(data["row_name"]) - 1
    wanted = data["row_name"][last], data["column_name"][last]
    assert wanted != (panel.heuristic, panel.resampling)
    panel.select("heuristics", last)
    assert (panel.heuristic, panel.resampling) == wanted
    assert panel.drawn("frame")["row"] == [data["row"][last]]
    assert panel.description.startswith(wanted[0])
    # A page sends back what it is told; nothing may be left that looks like a click.
    assert panel.selected("heuristics") == []


def test_python_gives_what_is_shown(panel: SearchComparisonPanel) -> None:
    drawn: list[Any] = []
    scope: dict[str, Any] = {"tables": panel.tables, "show": drawn.append}
    exec(panel.python.replace("from bokeh.io import show\n", ""), scope)
    pd.testing.assert_frame_equal(scope["table"], panel.table)
    assert len(scope["rows"]) == len(panel.rows)
    assert len(drawn) == 1


def test_the_table_is_saved(panel: SearchComparisonPanel, tmp_path: Path) -> None:
    text = panel.save(tmp_path / "rows.csv").read_text()
    read = pd.read_csv(io.StringIO(text), keep_default_na=False, na_values=[""])
    assert read["share"].tolist() == panel.rows["share"].tolist()
    with pytest.raises(ParameterError, match="suffix must be"):
        panel.save(tmp_path / "rows.json")


def test_a_comparison_of_some_recordings_is_shown_as_far_as_it_is(
    tables: SearchComparisonTables,
) -> None:
    some = {
        name: table[table["recording"] == "simulated-12-ranks"]
        for name, table in vars(tables).items()
        if name in ("methods", "collectives", "cells")
    }
    assert [*recordings_of(replace(tables, **some))] == ["simulated-12-ranks"]
    elsewhere = tuple(replace(plan, recordings=("elsewhere",)) for plan in tables.plans)
    assert recordings_of(replace(tables, plans=elsewhere)) == {}


def test_mistakes_are_reported(
    panel: SearchComparisonPanel, tables: SearchComparisonTables
) -> None:
    with pytest.raises(ParameterError, match="heuristic"):
        panel.heuristic = "oracle"
    with pytest.raises(ParameterError, match="tab must be one of"):
        panel.open("Nowhere")
    with pytest.raises(AttributeError, match="cannot be set"):
        panel.loss = "rmse"
    with pytest.raises(ParameterError, match="must hold searches of the recording"):
        first_state(tables, "another")
    with pytest.raises(ParameterError, match="a comparison must hold searches"):
        first_state(replace(tables, methods=tables.methods.iloc[:0]))
