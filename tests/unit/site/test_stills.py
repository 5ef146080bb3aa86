"""A panel as plain data: what a slider plays is what the panel shows at that value."""

from __future__ import annotations

from typing import Any

import ipywidgets as widgets
import pytest
from bokeh.document import Document
from bokeh.models import ColumnDataSource
from bokeh.plotting import figure

from workbench.errors import ParameterError
from workbench.panels import ExplorePanel
from workbench.panels.live_view import LiveView
from workbench.site import stills
from workbench.site.moves import MOVES, Move
from workbench.site.stills import panel_still, parts_of


class Growing:
    """A figure with a number of lines, and a sentence about it."""

    def __init__(self, steady: bool) -> None:
        self.source = ColumnDataSource({"x": [0, 1], "y": [0, 1]})
        self.figure = figure(title="1 line")
        self.figure.line("x", "y", source=self.source)
        self.sentence = widgets.HTML("<div role='note'>1</div>")
        row = widgets.HBox([widgets.Button(), widgets.HTML("nothing runs")])
        self.widget = widgets.VBox(
            [widgets.HTML("a label"), LiveView(self.figure), row, self.sentence]
        )
        self.python, self._lines, self._steady = "lines = 1", 1, steady

    @property
    def lines(self) -> int:
        return self._lines

    @lines.setter
    def lines(self, value: int) -> None:
        if value > 9:
            raise ParameterError(f"lines must be at most 9; got {value}")
        self._lines = value
        self.figure.title.text = f"{value} lines"
        self.sentence.value = f"<div role='note'>{value % 2}</div>"
        self.source.data = {"x": [0, 1], "y": [0, value]}
        if not self._steady:
            self.figure.line([0, 1], [value, 0])

    def wait(self, timeout: float) -> None:
        pass


@pytest.fixture
def move(monkeypatch: pytest.MonkeyPatch) -> Move:
    move = Move("lines", "Lines", [1, 2, 3], first=1)
    monkeypatch.setitem(MOVES, "Growing", move)
    return move


def test_changes_lead_from_each_value_to_each_other(move: Move) -> None:
    panel: Any = Growing(steady=True)
    still = panel_still(panel)
    assert still["move"] == {"name": "Lines", "labels": ["1", "2", "3"], "start": 1}
    assert still["python"] == "lines = 1"
    assert [list(part) for part in still["parts"]] == [["figure"], ["html"]]
    assert panel.lines == 1, "the setting is put back"
    page = Document.from_json(still["parts"][0]["figure"]["doc"])
    (source,) = page.select({"type": ColumnDataSource})
    assert list(source.data["y"]) == [0, 2]
    for value in (3, 1, 2):
        events = [
            {
                "kind": "ModelChanged",
                "model": {"id": one["model"]},
                "attr": one["property"],
                "new": one["values"][one["at"][value - 1]],
            }
            for one in still["changes"]
            if "model" in one
        ]
        page.apply_json_patch({"events": events})
        assert list(source.data["y"]) == [0, value]
        assert page.roots[0].title.text == f"{value} lines"
    (text,) = [one for one in still["changes"] if "model" not in one]
    assert [text["values"][at] for at in text["at"]] == [
        f"<div role='note'>{value % 2}</div>" for value in (1, 2, 3)
    ]


def test_where_models_come_and_go_each_value_has_whole_figures(move: Move) -> None:
    panel: Any = Growing(steady=False)
    still = panel_still(panel)
    assert "changes" not in still
    titles = [
        Document.from_json(frame[0]["figure"]["doc"]).roots[0].title.text
        for frame in still["frames"]
    ]
    assert titles == ["1 lines", "2 lines", "3 lines"]
    assert still["parts"] == still["frames"][1]


def test_values_that_a_panel_refuses_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(MOVES, "Growing", Move("lines", "Lines", [1, 99, 2], first=2))
    panel: Any = Growing(steady=True)
    still = panel_still(panel)
    assert still["move"] == {"name": "Lines", "labels": ["1", "2"], "start": 1}
    assert all(len(one["at"]) == 2 for one in still["changes"])
    page = Document.from_json(still["parts"][0]["figure"]["doc"])
    assert page.roots[0].title.text == "2 lines"


def test_a_panel_without_the_setting_stands_still(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(MOVES, "Growing", Move("columns", "Columns", [1, 2]))
    panel: Any = Growing(steady=True)
    assert panel_still(panel).keys() == {"python", "parts"}


def test_labels_of_controls_are_left_out() -> None:
    panel: Any = Growing(steady=True)
    assert [part.html for part in parts_of(panel)] == ["", "<div role='note'>1</div>"]


def test_a_panel_of_the_workbench_plays_its_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    move = Move("injection_latency", "Injection latency", ["300 ns", "2 us"])
    monkeypatch.setitem(MOVES, "ExplorePanel", move)
    panel = ExplorePanel("azure-hb96v3-hdr")
    panel.wait(60)
    before = panel.injection_latency
    still = panel_still(panel)
    assert panel.injection_latency == before
    sentences = [one["values"] for one in still["changes"] if "model" not in one]
    assert all(len(set(values)) == 2 for values in sentences)
    assert any("8 KiB message" in values[0] for values in sentences)
    assert "published" in "".join(part.get("html", "") for part in still["parts"])
    assert len([one for one in still["changes"] if one.get("property") == "data"]) >= 1


def test_every_panel_has_a_move() -> None:
    import workbench.panels

    panels = {name for name in workbench.panels.__all__ if name.endswith("Panel")}
    assert panels == MOVES.keys()
    for move in MOVES.values():
        assert 0 <= move.first < len(move.values) <= 20
        assert len(move.labels()) == len(set(move.labels())) == len(move.values)


def test_a_figure_by_itself_is_what_bokehjs_embeds() -> None:
    drawn = figure(title="by itself")
    assert stills.figure_still(drawn)["root_id"] == drawn.id
