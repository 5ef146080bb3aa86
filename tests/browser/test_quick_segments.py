"""Segments that change their colours only are drawn as pictures, which look the same."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
from bokeh.document import Document
from bokeh.embed import file_html
from bokeh.events import DocumentReady
from bokeh.layouts import row
from bokeh.models import CustomJS
from bokeh.resources import INLINE
from numpy.typing import NDArray
from PIL import Image

from tests.browser.panel import Steady
from workbench import topology
from workbench.panels.quick_redraw import QUICK_REDRAW
from workbench.panels.quick_segments import QUICK_SEGMENTS
from workbench.plotting.topology.map import topology_map

NETWORK = topology.parse_topology("torus:4x4x8")
WIDE, TALL = 400, 320
FEW, MANY = slice(0, WIDE), slice(WIDE, 2 * WIDE)

# Counts from when it has run; a stroke of a picture counts too.
COUNT = """() => {
  window.strokes = 0
  for (const kind of [CanvasRenderingContext2D, OffscreenCanvasRenderingContext2D]) {
    const {stroke} = kind.prototype
    kind.prototype.stroke = function (...path) {
      window.strokes += 1
      return stroke.apply(this, path)
    }
  }
}"""

RESCALE = """end => {
  for (const model of Bokeh.documents[0]._all_models.values()) {
    if (model.type === 'LinearColorMapper') {
      model.high = end
    }
  }
}"""

ZOOM = """() => {
  for (const model of Bokeh.documents[0]._all_models.values()) {
    if (model.type === 'Range1d') {
      model.setv({start: 0.4 * model.start, end: 0.5 * model.end})
    }
  }
}"""


def write_page(path: Path, *, quick: bool) -> None:
    """Write a page with maps of few and of many loads, with a panel's scripts or without."""
    few, many = topology.link_loads(NETWORK).link, np.linspace(0.1, 1.0, NETWORK.num_links)
    figures = [
        topology_map(NETWORK, load, height=TALL, bar=False, rescaled=True).figure
        for load in (few, many)
    ]
    for fig in figures:
        fig.update(sizing_mode="fixed", width=WIDE, toolbar_location=None)
    document = Document()
    document.add_root(row(figures, spacing=0))
    for code in (QUICK_REDRAW, QUICK_SEGMENTS) if quick else ():
        document.js_on_event(DocumentReady, CustomJS(code=code))
    path.write_text(file_html(document, INLINE), "utf-8")


def pixels(png: bytes) -> NDArray[np.int64]:
    """Return a picture's colours as int64[height, width, 3]."""
    return np.asarray(Image.open(io.BytesIO(png)).convert("RGB")).astype(np.int64)


def drawn(
    page: Any, path: Path, steady: Steady
) -> tuple[list[NDArray[np.int64]], NDArray[np.int64], int]:
    """Return the maps at some ends of the scale, zoomed in, and the strokes of the last scale."""
    page.goto(path.as_uri())
    page.locator(".bk-Figure").first.wait_for()
    steady(page.screenshot)
    page.evaluate(COUNT)
    seen = []
    for end in (2.0, 0.7, 0.3):
        page.evaluate("() => { window.strokes = 0 }")
        page.evaluate(RESCALE, end)
        seen.append(pixels(steady(page.locator(".bk-Row").screenshot)))
    strokes = page.evaluate("() => window.strokes")
    page.evaluate(ZOOM)
    return seen, pixels(steady(page.locator(".bk-Row").screenshot)), strokes


def test_links_that_change_their_colours_look_as_if_they_were_drawn_one_by_one(
    page: Any, tmp_path: Path, steady: Steady
) -> None:
    found = {}
    for quick in (False, True):
        write_page(tmp_path / f"{quick}.html", quick=quick)
        found[quick] = drawn(page, tmp_path / f"{quick}.html", steady)
    (plain, plain_zoom, each), (quickly, zoom, strokes) = found[False], found[True]
    for one, other in zip(plain, quickly, strict=True):
        difference = np.abs(one - other)
        # A 255th is lost with each line that lies over others, on a picture as on the page.
        assert difference[:, FEW].max() <= 16
        assert difference[:, FEW].mean() < 0.5
        # As many colours as links are drawn one by one.
        assert not difference[:, MANY].any()
    # Scales differ, so that equal pictures mean something.
    assert np.abs(quickly[0] - quickly[1])[:, FEW].max() > 50
    # None of the map's links is drawn again, and no router, which are on a layer that stays.
    assert each - strokes == NETWORK.num_links
    # That layer is cut where the frame ends: what differs is white but for the pixels of the cut.
    outside = np.abs(plain_zoom - zoom).max(axis=2) > 16
    assert outside.sum() > 100
    assert (zoom[outside] == 255).all(axis=1).mean() > 0.5
