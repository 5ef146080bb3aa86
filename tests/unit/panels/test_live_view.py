"""What a live view sends to a page that says what it has drawn."""

from __future__ import annotations

import re
from types import SimpleNamespace
from typing import Any

import ipywidgets as widgets
import pytest
from bokeh.models import ColumnDataSource
from bokeh.plotting import figure

from workbench.panels import last_picture
from workbench.panels.last_picture import HINT, LastPicture
from workbench.panels.live_view import LiveView


def test_the_document_is_sent_again_only_to_a_page_that_lacks_a_patch(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    fig, source = figure(), ColumnDataSource(data={"x": [1], "y": [1]})
    fig.line("x", "y", source=source)
    view, sent = LiveView(fig), list[dict[str, Any]]()
    monkeypatch.setattr(view, "send", lambda content, _buffers=None: sent.append(content))
    source.data = {"x": [1], "y": [2]}
    assert [one["number"] for one in sent] == [1]
    first = view.document
    view.receive({"kind": "shown", "view": "a", "number": 0, "seen": []})
    assert sent[1:] == [{"number": 1}], "the patch is on its way: no document"
    assert view.document == first
    view.receive({"kind": "lacks", "view": "a", "number": 0})
    second = view.document
    assert second != first
    source.data = {"x": [1], "y": [3]}
    view.receive({"kind": "lacks", "view": "a", "number": 0})
    assert view.document == second, "it asked before it had that document"
    view.receive({"kind": "shown", "view": "a", "number": 2, "seen": []})
    assert len(sent) == 3


def test_the_file_holds_the_last_picture_of_the_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[Any] = []
    place = SimpleNamespace(update=lambda output, raw: shown.append(output))
    monkeypatch.setattr(last_picture, "display", lambda one, **options: shown.append(one) or place)
    view = LiveView(figure())
    box = widgets.VBox([view])
    LastPicture(box).display(view)
    assert shown[0] is box and HINT in shown[1]["text/html"] and "<img" not in shown[1]["text/html"]
    assert view.pictured
    view.receive({"kind": "picture", "view": "a"}, [memoryview(b"png")])
    html = shown[2]["text/html"]
    assert 'src="data:image/png;base64,cG5n"' in html
    hidden = re.search(r"<style>(\.[\w-]+) ", box.children[1].value)
    assert hidden is not None and hidden[1][1:] in html, "the box hides the picture"
