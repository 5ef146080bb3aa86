"""What the tests do with a panel: find its parts, save its files."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.browser.servers import Watch

# Figures have trees of their own. A screenshot would take the browser ten times as long.
_PICTURE = """top => {
  const inside = root => [...root.querySelectorAll('*')]
    .flatMap(one => one.shadowRoot === null ? [one] : [one, ...inside(one.shadowRoot)])
  const pixels = ({width, height}, context) => new Uint32Array(
    context.getImageData(0, 0, width, height).data.buffer)
  const origin = top.getBoundingClientRect()
  const told = [...inside(top), ...(top.shadowRoot === null ? [] : inside(top.shadowRoot))]
    .map(one => {
      const {x, y, width, height} = one.getBoundingClientRect()
      const place = [x - origin.x, y - origin.y, width, height].map(at => at.toFixed(0))
      const words = [...one.childNodes].map(({nodeValue}) => nodeValue).join('')
      const drawn = one.tagName === 'CANVAS' && one.width * one.height > 0
        ? pixels(one, one.getContext('2d')).reduce((sum, at) => Math.imul(sum ^ at, 16777619), 0)
        : 0
      // What is lower than a pixel shows nothing.
      return width >= 1 && height >= 1 ? [...place, words, drawn].join() : ''
    })
  return told.filter(line => line).join('\\n')
}"""

# The fixtures of conftest.py that are functions.
Until = Callable[..., float]
Keep = Callable[[str], None]
Steady = Callable[..., Any]
Show = Callable[..., Watch]


def to_the_top(page: Any) -> None:
    """Scroll the first panel to the top of the page."""
    page.locator(".workbench-panel").first.evaluate("e => e.scrollIntoView()")


def status(page: Any, words: str | re.Pattern[str]) -> str:
    """Return the only sentence of the panel with these words."""
    return str(page.locator(".workbench-panel [role=status]", has_text=words).inner_text())


def button(page: Any, name: str) -> Any:
    """Return the panel's button that is labelled exactly so."""
    return page.locator(".workbench-panel").get_by_role("button", name=name, exact=True)


def slider(page: Any, name: str) -> Any:
    """Return the handle of the slider that is labelled so."""
    row = page.locator(".widget-slider", has=page.get_by_text(name, exact=True))
    return row.locator(".noUi-handle").first


def figures(page: Any) -> list[Any]:
    """Return the panel's figures, from the top down and from the left."""
    found = page.locator(".workbench-panel .bk-Figure").all()
    boxes = [(one.bounding_box(), one) for one in found]
    return [one for box, one in sorted(boxes, key=lambda pair: (pair[0]["y"], pair[0]["x"]))]


def picture(shown: Any) -> str:
    """Return a text that differs when a figure or a panel looks different."""
    return str(shown.evaluate(_PICTURE))


def wait_until_still(page: Any, steady: Steady) -> None:
    """Wait until the first panel no longer changes, nor its place."""
    panel = page.locator(".workbench-panel").first
    steady(lambda: (picture(panel), panel.bounding_box()))


def saved(page: Any, button: Any) -> tuple[str, bytes]:
    """Press a button, and return the name and the content of the file the browser saves."""
    with page.expect_download() as download:
        button.click()
    return str(download.value.suggested_filename), Path(download.value.path()).read_bytes()


def stderr_outputs(page: Any) -> int:
    """Return the number of outputs to stderr that the notebook shows."""
    return int(page.locator(".jp-OutputArea-output[data-mime-type$=stderr]").count())
