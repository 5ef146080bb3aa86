"""Figures that are drawn again look the same with the page's quicker redrawing and without it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from bokeh.document import Document
from bokeh.embed import file_html
from bokeh.events import DocumentReady
from bokeh.layouts import column
from bokeh.models import CustomJS
from bokeh.plotting import figure
from bokeh.resources import INLINE

from tests.browser.panel import Steady
from workbench import datasets, models, plotting, programs, simulate
from workbench.panels.quick_layers import QUICK_LAYERS
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

COUNT_LAYOUTS = """() => {
  window.laid = 0
  const figure = Bokeh.Models.get('Plot').prototype.default_view.prototype
  const lay = figure.compute_layout
  figure.compute_layout = function () {
    window.laid += 1
    lay.call(this)
  }
}"""

# What has a layer of its own on the page.
LAYERS = """() => {
  const within = root => [...root.querySelectorAll('*')].flatMap(one => [
    one, ...(one.shadowRoot == null ? [] : within(one.shadowRoot))])
  return within(document).filter(one =>
    one.tagName === 'CANVAS' && one.checkVisibility({visibilityProperty: true})).length
}"""

SAVED = """async () => {
  const layer = await Bokeh.index.roots[0].export('svg')
  return (await layer.to_blob()).text()
}"""


def write_page(path: Path, layout: Any, *, quick: bool) -> None:
    """Write a page with a panel's scripts or without."""
    document = Document()
    document.add_root(layout)
    for code in (QUICK_REDRAW, QUICK_LAYERS) if quick else ():
        document.js_on_event(DocumentReady, CustomJS(code=code))
    path.write_text(file_html(document, INLINE), "utf-8")


def figures() -> Any:
    """Return figures with all kinds of parts."""
    measured = datasets.load("azure-hb96v3-hdr")
    simulated = simulate.simulate_osu(models.SNAPPR(), sizes=measured.sizes)
    model = models.profile("azure-hb96v3-hdr").loggps
    replayed = simulate.replay(programs.load("halo-8"), model, times=True)
    hatched = figure(width=300, height=150)
    hatched.vstrip([0, 1, 2], [1, 2, 3], fill_color=None, hatch_pattern=["/", "x", "o"])
    return column(
        plotting.plot_curve(measured, simulated),
        plotting.plot_percent_error(measured, simulated),
        plotting.plot_spacetime(replayed),
        hatched,
        sizing_mode="stretch_width",
    )


def test_figures_drawn_again_quickly_look_as_they_do_without(
    page: Any, tmp_path: Path, steady: Steady
) -> None:
    seen, saved, asked, layers = [], [], [], []
    before = page.viewport_size
    for quick in (False, True):
        path = tmp_path / f"{quick}.html"
        write_page(path, figures(), quick=quick)
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
        layers.append(page.evaluate(LAYERS))
        saved.append(re.sub(r'="(url\(#)?[A-Za-z]{12}\)?"', "", page.evaluate(SAVED)))  # of clips
    page.set_viewport_size(before)
    assert seen[0] == seen[1]
    assert saved[0] == saved[1]
    # The version of BokehJS is the known one, and what is left out is most of what it asks for.
    assert asked[1] < asked[0] / 4
    assert layers[1] < layers[0] / 2


def test_a_hidden_figure_does_not_lay_out_the_others_again(
    page: Any, tmp_path: Path, steady: Steady
) -> None:
    seen, laid = [], []
    for quick in (False, True):
        path = tmp_path / f"{quick}.html"
        shown = figure(width=300, height=150, title="shown")
        hidden = figure(width=300, height=150, x_range=(0, 1), y_range=["a"], visible=False)
        shown.line([0, 1], [1, 2])
        hidden.hbar(y=["a"], right=[1])
        write_page(path, column(shown, hidden), quick=quick)
        page.goto(path.as_uri())
        page.locator(".bk-Figure").first.wait_for()
        steady(page.screenshot)
        page.evaluate(COUNT_LAYOUTS)
        page.evaluate(CHANGE)
        seen.append(steady(page.screenshot))
        laid.append(page.evaluate("() => window.laid"))
    assert seen[0] == seen[1]
    assert laid[0] > laid[1] == 0
