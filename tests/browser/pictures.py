"""Make the pictures of the notebooks' cards: each is the top of a panel's figure, in Voilà.

python -m tests.browser.pictures 04-replay-a-program

Without a name, the pictures of the notebooks that have none yet.
"""

from __future__ import annotations

import argparse
import io
import os
import re
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
from PIL import Image
from playwright.sync_api import sync_playwright

from tests.browser.servers import ROOT, serve
from tests.browser.test_voila import CONTROLS
from workbench.workshop import cards

IMAGES = ROOT / "notebooks" / "images"
SIZE = (640, 360)  # pixels: a card's picture is half as wide, on a fine screen
COLOURS = (64, 32, 16, 8)  # as many as a file of this size can hold
MOST_BYTES = 60_000
WIDE = {"width": 1000, "height": 900}
PATIENCE_MS = 300_000
# Where a panel shows more than a card can: which figure, and which share of the panel's width.
CUTS = {
    "00-start-here": (0, 0.5),
    "01-fit-a-machine": (1, 0.5),
    "02-which-loss": (0, 0.55),
    "03-message-regimes": (0, 0.5),
    "05-latency-tolerance": (1, 1.0),
    "07-compare-topologies": (0, 0.5),
    "09-which-heuristic": (0, 0.55),
    "10-how-sure": (0, 0.5),
    "11-who-slowed-my-job": (0, 0.58),
    "12-forecast-the-next-steps": (0, 0.55),
    "13-against-reality": (0, 0.6),
    "14-the-papers": (0, 0.6),
    "lessons/1-what-a-message-costs": (0, 0.5),
    "lessons/4-which-network": (0, 0.5),
    "lessons/6-how-sure-are-we": (0, 0.36),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("notebooks", nargs="*", metavar="NAME", help="such as lessons/1-...")
    names = parser.parse_args().notebooks or [*without_picture()]
    with (
        tempfile.TemporaryDirectory() as folder,
        serve("voila", Path(folder)) as server,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=os.environ["WORKBENCH_CHROMIUM"])
        page = browser.new_page(viewport=WIDE)
        page.set_default_timeout(PATIENCE_MS)
        for name in names:
            server.open(page, f"{name}.ipynb", whole=name not in CONTROLS)
            if name in CONTROLS:
                panel = page.locator(".workbench-panel").first
                panel.get_by_text(re.compile(CONTROLS[name][0])).first.wait_for()
            path = IMAGES / f"{Path(name).name}.png"
            path.write_bytes(small(steady(page, *CUTS.get(name, (0, 1.0)))))
            print(f"{path.relative_to(ROOT)}: {path.stat().st_size} B")


def without_picture() -> Iterator[str]:
    """Yield the notebooks that have no picture, but for those that only have text."""
    for card in cards(ROOT / "notebooks"):
        content = nbformat.read(ROOT / "notebooks" / card.path, as_version=4)
        if not card.picture and any(cell.cell_type == "code" for cell in content.cells):
            yield card.path.removesuffix(".ipynb")


def steady(page: Any, figure: int, share: float) -> bytes:
    """Return the picture of a panel's figure once it no longer changes."""
    before = b""
    while before != (now := picture(page, figure, share)):
        before = now
        time.sleep(1)
    return now


def picture(page: Any, figure: int, share: float) -> bytes:
    """Return the part of a page from the upper left corner of a figure, 16 by 9."""
    drawn = page.locator(".bk-Figure").nth(figure)
    drawn.evaluate("e => e.scrollIntoView()")
    time.sleep(1)  # pages scroll smoothly
    box = drawn.bounding_box()
    around = page.locator(".workbench-panel, .jp-OutputArea-output").filter(has=drawn)
    panel = around.first.bounding_box()
    width = share * min(panel["x"] + panel["width"] - box["x"], WIDE["width"] - box["x"])
    height = min(width * SIZE[1] / SIZE[0], WIDE["height"] - box["y"])
    width = height * SIZE[0] / SIZE[1]
    clip = {"x": box["x"], "y": box["y"], "width": width, "height": height}
    shot: bytes = page.screenshot(clip=clip)
    return shot


def small(png: bytes) -> bytes:
    """Return a picture as a card needs it."""
    image = Image.open(io.BytesIO(png)).convert("RGB").resize(SIZE, Image.Resampling.LANCZOS)
    for colours in COLOURS:
        out = io.BytesIO()
        image.quantize(colours).save(out, "PNG", optimize=True)
        if len(out.getvalue()) <= MOST_BYTES:
            break
    return out.getvalue()


if __name__ == "__main__":
    main()
