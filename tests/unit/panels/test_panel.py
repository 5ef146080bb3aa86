from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import ipywidgets as widgets
import pytest
from bokeh.plotting import figure

from workbench.errors import ParameterError
from workbench.panels.error_line import ErrorLine
from workbench.panels.export_tab import write_file
from workbench.panels.live import LiveView
from workbench.panels.number_field import NumberField
from workbench.panels.panel import Panel


class Small(Panel[str]):
    SETTINGS = ("size", "rule")

    def __init__(self) -> None:
        super().__init__()
        self.widget = widgets.Label("small")
        self._view = LiveView(figure())
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


def test_a_panel_that_is_not_made_yet_has_no_settings() -> None:
    unmade = Small.__new__(Small)
    with pytest.raises(AttributeError, match="_held"):
        _ = unmade.size
    assert not hasattr(unmade, "rule")


def test_what_was_drawn_since_is_sent_when_it_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    panel = Small()
    sent: list[str] = []
    monkeypatch.setattr(
        LiveView, "_send", lambda view, message, buffers=None: sent.append(json.dumps(message))
    )
    panel._view._model.title.text = "drawn since"
    sent.clear()  # of the change itself
    assert panel._repr_mimebundle_().keys() == panel.widget._repr_mimebundle_().keys()
    assert "drawn since" in "".join(sent)


def test_a_page_is_told_to_send_back_nothing() -> None:
    view = LiveView(figure())
    [document] = json.loads(view.get_state()["render_bundle"])["docs_json"].values()
    assert "document_ready" in json.dumps(document["callbacks"], default=str)


def test_an_error_is_said_where_it_belongs() -> None:
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
