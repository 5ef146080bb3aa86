"""What a live view sends to a page that says what it has drawn."""

from __future__ import annotations

from typing import Any

import pytest
from bokeh.models import ColumnDataSource
from bokeh.plotting import figure

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
