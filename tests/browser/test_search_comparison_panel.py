"""The comparison of searches as people look at it: a click, another recording, the tabs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.browser.layout import cut
from tests.browser.panel import Keep, Show, Until, picture
from tests.browser.servers import watch
from workbench.plotting.embedding import standalone_html
from workbench.plotting.searches.noise import plot_search_noise
from workbench.tune.search_comparison.files import shipped_search_comparison

NOTEBOOK = "09-which-heuristic.ipynb"


def test_a_click_chooses_a_method_and_the_tabs_follow(
    show: Show, page: Any, until: Until, keep: Keep
) -> None:
    show(NOTEBOOK, "is first with")
    keep("opened")
    panel = page.locator(".workbench-panel").first
    sentence = panel.locator("[role=status]").first
    tiles = panel.locator(".bk-Figure").first
    drawn, said = picture(tiles), sentence.inner_text()
    box = tiles.bounding_box()
    page.mouse.click(box["x"] + 0.25 * box["width"], box["y"] + 0.62 * box["height"])
    until(lambda: sentence.inner_text() != said)
    chosen = panel.get_by_label("Heuristic", exact=True).evaluate("e => e.selectedOptions[0].text")
    assert sentence.inner_text().startswith(chosen)
    until(lambda: picture(tiles) != drawn)
    for title, expected in (
        ("By size", "for each collective and message size"),
        ("Stopping", "gives the most"),
        ("Noise", "Share of the possible gain, without"),
        ("Pruning", "no search here that prunes"),
        ("By collective", "How good"),
    ):
        panel.get_by_role("tab", name=title).click()
        panel.get_by_text(expected).first.wait_for()
    # Fewer places, then more: each is drawn without an error.
    heuristics = panel.get_by_label("Heuristic", exact=True).locator("option")
    for noise, count in (("normal 20 %", 4), ("normal 5 %", 7)):
        drawn = picture(tiles)
        panel.get_by_label("Noise", exact=True).select_option(label=noise)
        until(lambda count=count: heuristics.count() == count)
        until(lambda drawn=drawn: picture(tiles) != drawn)
    panel.get_by_label("Recording", exact=True).select_option(label="measured: open-mpi-4-ranks")
    panel.get_by_text("open-mpi-4-ranks is measured").wait_for()
    keep("measured")
    assert cut(page) == []


_LEGEND = """() => [...window.Bokeh.documents[0].all_models]
  .find(one => one.type === 'Legend' && Number.isInteger(one.ncols))"""
_GO = """async legend => {
  const columns = legend.ncols
  legend.items.slice(1).forEach(item => { item.visible = false })
  for (let turn = 0; turn < 100 && legend.ncols > 1; turn++) {
    await null  // BokehJS calls scripts in a microtask; the view goes before the next timer
  }
  window.Bokeh.index.roots[0].remove()
  return new Promise(done => setTimeout(() => done([columns > 1, legend.ncols]), 0))
}"""


def test_a_figure_may_go_while_its_legend_is_fitted(page: Any, tmp_path: Path) -> None:
    """As when the page draws the whole document anew."""
    rows = shipped_search_comparison().methods
    path = tmp_path / "noise.html"
    path.write_text(standalone_html(plot_search_noise(rows), "noise"), "utf-8")
    seen = watch(page, "file:")
    page.goto(path.as_uri())
    assert page.evaluate(_GO, page.wait_for_function(_LEGEND)) == [True, 1]
    assert seen.errors == []
