"""The row of buttons: files and links go to the page, and what comes from it is opened."""

from __future__ import annotations

import base64
import re
import sys
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from tests.cases import for_each
from workbench.panels import ExplorePanel, FitPanel, ReplayPanel, Session
from workbench.panels.session import page, row
from workbench.panels.session.page import page_of, session_of_page
from workbench.panels.session.session import session_of_query


@pytest.fixture
def panel() -> ExplorePanel:
    return ExplorePanel()


@pytest.fixture
def shown(panel: ExplorePanel, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return a function that shows the panel on a Voilà page with a query."""
    monkeypatch.setattr(page, "_taken", set())

    def show(query: str) -> ExplorePanel:
        monkeypatch.setenv("QUERY_STRING", query)
        panel._ipython_display_()
        return panel

    return show


def carried(panel: ExplorePanel, name: str) -> dict[str, Any]:
    """Report that the page is ready, as it does, and return what the panel sends to it."""
    view = panel._row.views[0]
    assert view.drawn(name)["token"] == [], "what is sent before the page is ready is lost"
    view.receive({"kind": "shown", "view": "page", "number": 0})
    return dict(view.drawn(name))


def test_a_session_is_sent_to_the_page_and_opened_from_it(panel: ExplorePanel) -> None:
    panel.injection_latency = 3e-7
    panel.press("Save session")
    sent = carried(panel, "file")
    assert sent["name"] == ["ExplorePanel-session.json"]
    content = base64.b64decode(sent["base64"][0])
    other = ExplorePanel()
    other._row.open.take({"state.json": content})
    assert other.session() == panel.session() and "state.json is open." in other.text
    before = other.session()
    other._row.open.take({"state.json": content[:-3]})
    assert "cut short" in other.error and other.session() == before
    other.press("Save session")
    assert other.error == ""


def test_a_link_is_sent_and_one_that_is_too_long_is_refused(panel: ExplorePanel) -> None:
    panel.press("Copy link")
    sent = carried(panel, "link")
    assert sent["page"] == ["notebooks/00-start-here.ipynb"]
    assert session_of_query(sent["query"][0].removeprefix("session=")) == panel.session()
    fit = FitPanel()
    noise = "".join(f"# {number * 2654435761 % 2**32:x}\n" for number in range(500))
    fit.upload({"mine.csv": noise + fit.measured.to_csv()})
    fit.press("Copy link")
    assert re.search(r"at most 2,000 characters; .* use Save session", fit.error)


def test_the_session_of_the_address_is_opened_once(panel: ExplorePanel, shown: Any) -> None:
    other = ExplorePanel()
    other.machine = "aws-hpc6a-efa"
    query = other.session().to_query()
    assert shown(f"token=x&{query}&theme=dark").session() == other.session()
    assert "Opened from the link." in panel.text
    panel.machine = "azure-hb96v3-hdr"
    assert shown(query).machine == "aws-hpc6a-efa"
    panel.machine = "azure-hb96v3-hdr"
    assert shown(query).machine == "azure-hb96v3-hdr", "shown again, it keeps its state"


def test_further_cells_do_not_change_what_a_link_opens(
    panel: ExplorePanel, shown: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    cells: list[Callable[[], None]] = []
    monkeypatch.setattr(row, "after_each_cell", cells.append)
    panel.machine = "aws-hpc6a-efa"
    wanted = panel.session()
    panel.machine = "azure-hb96v3-hdr"
    shown(wanted.to_query())
    [after_cell] = cells
    panel.machine, panel.injection_latency = "azure-hb96v3-hdr", 1e-6
    after_cell()
    assert panel.session() == wanted


def test_a_kernel_that_was_started_ahead_waits_once_for_its_page(
    shown: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    waited: list[None] = []
    voila = SimpleNamespace(wait_for_request=lambda: waited.append(None))
    monkeypatch.setitem(sys.modules, "voila.utils", voila)
    monkeypatch.setenv("VOILA_PREHEAT", "True")
    page._wait_for_page.cache_clear()
    shown("")
    shown("")
    page._wait_for_page.cache_clear()
    assert len(waited) == 1


@for_each("query", ["", "theme=dark", Session("FitPanel", {}).to_query()])
def test_an_address_of_something_else_is_left_alone(shown: Any, query: str) -> None:
    assert shown(query).error == ""


@for_each("query", ["session=", "session=abc", "session=%ff%00", "session=é&" * 99])
def test_a_damaged_address_shows_an_error_and_the_usual_state(shown: Any, query: str) -> None:
    panel = shown(query)
    assert panel.error and panel.machine == "azure-hb96v3-hdr"


def test_the_notebook_is_the_open_one_if_it_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JPY_SESSION_NAME", "/home/me/my own.ipynb")
    assert page_of("FitPanel") == "/home/me/my own.ipynb"
    monkeypatch.setenv("JPY_SESSION_NAME", "")
    assert page_of("FitPanel") == "notebooks/01-fit-a-machine.ipynb"
    assert session_of_page("FitPanel") is None


def test_undo_waits_until_there_is_a_step(panel: ExplorePanel) -> None:
    panel._ipython_display_()
    assert not panel.buttons["↶ Undo"] and not panel.buttons["↷ Redo"]
    panel.controls["injection_latency"].input.value += 3
    panel.press("↶ Undo")
    assert not panel.buttons["↶ Undo"] and panel.buttons["↷ Redo"]
    panel.press("↷ Redo")
    assert panel.buttons["↶ Undo"] and not panel.buttons["↷ Redo"]


def test_a_refusal_after_the_jobs_is_shown_in_the_row() -> None:
    panel = ReplayPanel()
    panel.wait(60)
    panel._late = {"semantics": "none such"}
    panel.refresh()
    assert "none such is not a known semantics" in panel.error
