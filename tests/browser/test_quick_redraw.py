"""Figures that are drawn again look the same with the page's quicker redrawing and without it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from bokeh.document import Document
from bokeh.embed import file_html
from bokeh.events import DocumentReady
from bokeh.layouts import column
from bokeh.models import CustomJS
from bokeh.resources import INLINE

from tests.browser.panel import Steady
from workbench import datasets, models, plotting, programs, simulate
from workbench.panels.quick_redraw import QUICK_REDRAW

# Other data, ranges, colours, titles, and an entry less in a legend; then a wider page.
CHANGE = """() => {
  for (const model of Bokeh.documents[0]._all_models.values()) {
    if (model.type === 'ColumnDataSource') {
      model.data = Object.fromEntries(Object.entries(model.data).map(([name, column]) =>
        [name, name === 'y' ? column.map(value => 0.7 * value) : column]))
    } else if (model.type === 'Range1d') {
      model.end = model.start + 0.9 * (model.end - model.start)
    } else if (model.type === 'Line') {
      model.line_color = {value: 'black'}
      model.line_width = {value: 3}
    } else if (model.type === 'Title') {
      model.text = `again: ${model.text}`
    } else if (model.type === 'Legend') {
      model.items.at(-1).visible = false
    }
  }
}"""

COUNT = """() => {
  window.asked = 0
  const computed = window.getComputedStyle
  window.getComputedStyle = (...about) => {
    window.asked += 1
    return computed(...about)
  }
}"""


def write_page(path: Path, *, quick: bool) -> None:
    """Write a page of figures with all kinds of parts."""
    measured = datasets.load("azure-hb96v3-hdr")
    simulated = simulate.simulate_osu(models.SNAPPR(), sizes=measured.sizes)
    model = models.profile("azure-hb96v3-hdr").loggps
    replayed = simulate.replay(programs.load("halo-8"), model, times=True)
    document = Document()
    document.add_root(
        column(
            plotting.plot_curve(measured, simulated),
            plotting.plot_percent_error(measured, simulated),
            plotting.plot_spacetime(replayed),
            sizing_mode="stretch_width",
        )
    )
    if quick:
        document.js_on_event(DocumentReady, CustomJS(code=QUICK_REDRAW))
    path.write_text(file_html(document, INLINE), "utf-8")


def test_figures_drawn_again_quickly_look_as_they_do_without(
    page: Any, tmp_path: Path, steady: Steady
) -> None:
    seen, asked = [], []
    before = page.viewport_size
    for quick in (False, True):
        path = tmp_path / f"{quick}.html"
        write_page(path, quick=quick)
        page.set_viewport_size({"width": 1000, "height": 900})
        page.goto(path.as_uri())
        page.locator(".bk-Figure").first.wait_for()
        steady(page.screenshot)
        assert page.evaluate("() => window.workbenchQuickRedraw ?? false") == quick
        page.evaluate(COUNT)
        page.evaluate(CHANGE)
        steady(page.screenshot)
        page.set_viewport_size({"width": 1300, "height": 900})
        seen.append(steady(page.screenshot))
        asked.append(page.evaluate("() => window.asked"))
    page.set_viewport_size(before)
    assert seen[0] == seen[1]
    # The version of BokehJS is the known one, and what is left out is most of what it asks for.
    assert asked[1] < asked[0] / 4
