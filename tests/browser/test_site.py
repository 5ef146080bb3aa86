"""The web site in a browser: from its folder, without a server, and without another machine."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.browser.servers import ROOT, watch
from workbench.panels import ExplorePanel
from workbench.site.build import build_site, copy_static
from workbench.site.moves import MOVES, Move
from workbench.site.pages import Records, place_of
from workbench.site.stills import panel_still

SLIDER = ".workbench-player input"
FIRST_FIGURE = ".workbench-figure"
NOTEBOOKS = [ROOT / "notebooks" / f"{name}.ipynb" for name in ("00-start-here", "glossary")]


def open_still(page: Any, path: Path) -> None:
    """Open a page and wait until its first figure is drawn."""
    page.goto(path.as_uri())
    page.locator(".workbench-still[data-drawn]").first.wait_for()


def play(page: Any, value: int) -> None:
    """Move the slider above a panel's figures to a value."""
    page.locator(SLIDER).first.fill(str(value))


@pytest.fixture
def small_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A page with one recorded panel, made without Sphinx."""
    static = tmp_path / "_static"
    copy_static(static)
    move = Move("injection_latency", "Injection latency", ["300 ns", "2 us", "4 us"], first=1)
    monkeypatch.setitem(MOVES, "ExplorePanel", move)
    record = panel_still(ExplorePanel("azure-hb96v3-hdr"))
    del record["python"]
    place = place_of(record, Records(static / "records"))
    page = tmp_path / "page.html"
    page.write_text(
        '<!DOCTYPE html><html data-content_root="./"><meta charset="utf-8">'
        '<link rel="stylesheet" href="_static/site.css"><script src="_static/site.js"></script>'
        f"<body>{place}</body></html>",
        encoding="utf-8",
    )
    return page


def test_a_panel_plays_without_a_kernel(
    page: Any, small_page: Path, until: Callable[..., float], steady: Callable[..., Any]
) -> None:
    seen = watch(page, "file:")
    open_still(page, small_page)
    figure = page.locator(FIRST_FIGURE).first
    sentence = page.locator(".workbench-text").first
    pictures, texts = [steady(figure.screenshot)], [sentence.inner_text()]
    for value in (2, 0):
        play(page, value)
        until(lambda: sentence.inner_text() not in texts)
        until(lambda: figure.screenshot() not in pictures)
        pictures.append(steady(figure.screenshot))
        texts.append(sentence.inner_text())
    play(page, 1)
    until(lambda: sentence.inner_text() == texts[0])
    until(lambda: figure.screenshot() == pictures[0])  # the way back leads to the same picture
    assert page.locator(".workbench-player output").inner_text() == "2 us"
    assert seen.errors == []
    assert seen.outside == []


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("sphinx", reason="make site installs it")
    target = tmp_path_factory.mktemp("site")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Sphinx's own extensions use what it is about to remove
        broken = build_site(target, NOTEBOOKS)
    # Not all notebooks are there.
    assert [line for line in broken if "no such file" not in line] == []
    return target / "html"


@pytest.mark.deep
def test_a_notebook_of_the_site_plays(
    page: Any, site: Path, steady: Callable[..., Any], keep: Callable[[str], None]
) -> None:
    seen = watch(page, "file:")
    open_still(page, site / "notebooks" / "00-start-here.html")
    before = steady(page.locator(FIRST_FIGURE).first.screenshot)
    play(page, 0)
    assert steady(page.locator(FIRST_FIGURE).first.screenshot) != before
    assert page.locator(".workbench-text", has_text="published").count()
    keep("notebook")
    assert seen.errors == []
    assert seen.outside == []


@pytest.mark.deep
def test_search_works_from_a_folder(page: Any, site: Path) -> None:
    seen = watch(page, "file:")
    page.goto(f"{(site / 'index.html').as_uri()}")
    page.locator("input[name=q]").first.fill("SNAPPR")
    page.keyboard.press("Enter")
    found = page.locator("#search-results li")
    found.first.wait_for()
    page.get_by_text("Search finished").wait_for()
    texts = found.all_inner_texts()
    assert any("workbench.models.SNAPPR" in text for text in texts)
    assert any("What a message costs" in text for text in texts)
    assert seen.errors == []
    assert seen.outside == []


@pytest.mark.deep
@pytest.mark.parametrize("name", ["papers/002", "reference/workbench.plotting"])
def test_what_is_wide_scrolls_by_itself(page: Any, site: Path, name: str) -> None:
    for width in (1366, 1000, 390):
        page.set_viewport_size({"width": width, "height": 800})
        page.goto((site / f"{name}.html").as_uri())
        page.locator("h1").wait_for()
        assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.deep
def test_the_reference_links_types_to_their_pages(page: Any, site: Path) -> None:
    seen = watch(page, "file:")
    page.goto((site / "reference" / "workbench.fit.html").as_uri())
    page.locator("#workbench\\.fit\\.fit").wait_for()
    page.locator("a.reference[href*='workbench.models.SNAPPR']").first.click()
    page.wait_for_url("**/reference/workbench.models.html#workbench.models.SNAPPR")
    assert page.locator("#workbench\\.models\\.SNAPPR").is_visible()
    assert seen.errors == []
    assert seen.outside == []
