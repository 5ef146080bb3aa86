from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import ipywidgets as widgets
import pytest
from bokeh.layouts import column
from bokeh.models import ColumnDataSource
from bokeh.plotting import figure

from workbench.errors import ParameterError
from workbench.panels import live_view
from workbench.panels.error_line import ErrorLine
from workbench.panels.export_tab import write_file
from workbench.panels.live_view import Downloads, LiveView
from workbench.panels.number_field import NumberField
from workbench.panels.panel import Panel
from workbench.panels.style import mark_stale


class Small(Panel[str]):
    SETTINGS = ("size", "rule")

    def __init__(self) -> None:
        super().__init__()
        source = ColumnDataSource({"x": [1, 2]}, name="points")
        plot = figure()
        plot.scatter("x", "x", source=source)
        self._view = LiveView(plot)
        self._pressed: list[str] = []
        buttons = [widgets.Button(description=text) for text in ("Start", "Stop", "Hidden")]
        for button in buttons:
            button.on_click(lambda one: self._pressed.append(one.description))
        buttons[1].disabled = True
        buttons[2].layout.display = "none"
        pages = [
            widgets.HTML("<p>one <b>bold</b></p><p>&lt;two&gt;</p>"),
            widgets.Textarea("x = 1"),
        ]
        tabs = widgets.Tab(pages, titles=("Words", "Python"), selected_index=0)
        self.widget = widgets.VBox([*buttons, tabs])
        rules = widgets.Dropdown(options=["none", "all"])
        self._held: dict[str, Any] = {"size": NumberField(8, 1, 99), "rule": rules}

    @property
    def controls(self) -> dict[str, Any]:
        """The two controls."""
        return self._held

    def _outcome(self) -> str:
        return f"{self.size}, {self.rule}"

    def _errors(self) -> list[ErrorLine]:
        return [self._held["size"].error]

    def _live_views(self) -> list[LiveView]:
        return [self._view]


def test_settings_are_attributes() -> None:
    panel = Small()
    panel.size = 16
    assert (panel.size, panel.rule) == (16, "none")
    assert panel.wait() == "16, none" and not panel.running
    panel.controls["size"].typed.value = 100
    assert "a whole number from 1 to 99" in panel.error and panel.size == 16
    assert {"size", "rule", "widget"} <= set(dir(panel))
    with pytest.raises(AttributeError, match="colour cannot be set; size, rule can"):
        panel.colour = "red"
    with pytest.raises(AttributeError, match="Small has no attribute colour"):
        _ = panel.colour
    with pytest.raises(AttributeError, match=r"sise cannot be set; did you mean size\?"):
        panel.sise = 3
    with pytest.raises(AttributeError, match=r"Small has no attribute rul; did you mean rule\?"):
        _ = panel.rul


def test_what_is_in_sight_is_read_and_pressed() -> None:
    panel = Small()
    assert panel.buttons == {"Start": True, "Stop": False}
    panel.press("Start")
    assert panel._pressed == ["Start"]
    for text in ("Stop", "Hidden", "Strat"):
        with pytest.raises(ParameterError, match="button must be one of Start; got"):
            panel.press(text)
    assert panel.text == "one bold\n<two>"
    panel.open("Python")
    assert panel.text == "x = 1"
    with pytest.raises(ParameterError, match=r"got 'Pyton'; did you mean Python\?"):
        panel.open("Pyton")
    assert panel.drawn("points") == {"x": [1, 2]}
    with pytest.raises(ParameterError, match="no figure has a source named 'lines'"):
        panel.drawn("lines")
    assert not panel.stale
    mark_stale(panel.widget.children[0], True)
    assert panel.stale


def test_a_panel_that_is_not_made_yet_has_no_settings() -> None:
    unmade = Small.__new__(Small)
    with pytest.raises(AttributeError, match="_held"):
        _ = unmade.size
    assert not hasattr(unmade, "rule")


def test_a_page_gets_what_it_lacks_and_only_that(monkeypatch: pytest.MonkeyPatch) -> None:
    panel = Small()
    view, sent = panel._view, []
    monkeypatch.setattr(view, "send", lambda content, buffers: sent.append(content))
    page = {"kind": "shown", "view": "page", "number": 0}
    drawn = view.document
    view.receive(page)
    assert view.document == drawn, "the page has drawn the present document"
    with view.one_patch():
        view.figure.title.text = "never seen"
        view.figure.title.text = "drawn since"
    assert [one["number"] for one in sent] == [1] and "never seen" not in sent[0]["patch"]
    view.receive({"kind": "lacks", "view": "opened later", "number": 0})
    assert "drawn since" in view.document
    panel._ipython_display_()
    assert json.loads(view.document)["number"] == 1, "it is not sent again"


def test_a_figure_out_of_sight_is_drawn_when_it_comes_into_sight(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    upper, lower = figure(), figure()
    view, sent = LiveView(column(upper, lower)), []
    monkeypatch.setattr(view, "send", lambda content, buffers: sent.append(content["patch"]))

    def page(seen: bool) -> None:
        view.receive({"kind": "seen", "view": "page", "seen": [[lower.id, seen]]})

    page(False)
    for text in ("first", "second"):
        upper.title.text = lower.title.text = text
    assert len(sent) == 2 and all(lower.title.id not in one for one in sent)
    page(True)
    assert len(sent) == 3 and "second" in sent[2] and "first" not in sent[2]
    page(False)
    lower.title.text = "saved"
    Downloads(upper).offer("a.txt", "text")
    assert any("saved" in one for one in sent[3:]), "what is saved is the present figure"
    source = ColumnDataSource({"x": [1]})
    lower.scatter("x", "x", source=source)
    count = len(sent)
    for x in range(live_view._MOST_HELD + 1):
        source.stream({"x": [x]})
    assert len(sent) == count
    page(True)
    assert len(sent) == count
    assert json.loads(view.document)["number"] == count, "the document instead of many patches"


def test_an_error_is_reported_where_it_belongs() -> None:
    line = ErrorLine()

    def refuse() -> None:
        raise ParameterError("size must be positive; got -1", key="size")

    line.guard(refuse)
    assert line.message == "size must be positive; got -1"
    with pytest.raises(ZeroDivisionError):
        line.guard(lambda: 1 // 0)


def test_a_suffix_tells_the_file(tmp_path: Path) -> None:
    target = tmp_path / "rows.csv"
    assert write_file(target, [".csv"], lambda suffix: ("rows", f"a {suffix}")) == target
    assert target.read_text() == "a .csv"
    with pytest.raises(ParameterError, match=r"one of \.csv, \.json; got 'rows\.txt'"):
        write_file(tmp_path / "rows.txt", [".csv", ".json"], lambda suffix: ("", ""))
    assert not (tmp_path / "rows.txt").exists()
