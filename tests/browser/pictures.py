"""The pictures of the notebooks: ``python -m tests.browser.pictures`` takes them from the site.

README, the site's first page and the list of a server show them. Each is the top of the first panel
of its notebook, as the site draws it, and small enough for a repository.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from workbench.diagnosis import find_chromium
from workbench.site.build import ROOT, notebooks

SITE = ROOT / ".cache" / "site" / "html"
WIDTH, HEIGHT = 640, 400
MOST_BYTES = 60_000

_ALONE = """([width]) => {
  const still = document.querySelector('.workbench-still')
  document.body.replaceChildren(still)
  document.body.style.cssText = `width:${width}px;margin:0;background:white`
  still.querySelectorAll('.workbench-player, .workbench-text').forEach(one => one.remove())
  window.dispatchEvent(new Event('resize'))
}"""


def take_picture(page: Any, source: Path, target: Path) -> bool:
    """Save the picture of a built page's first panel; return whether it has one."""
    page.goto(source.as_uri())
    if page.locator(".workbench-still").count() == 0:
        return False
    page.locator(".workbench-still").first.scroll_into_view_if_needed()
    page.locator(".workbench-still[data-drawn]").first.wait_for()
    page.evaluate(_ALONE, [WIDTH])
    page.wait_for_timeout(1500)  # titles fit themselves to the width, and are drawn again
    target.parent.mkdir(exist_ok=True)
    page.screenshot(path=target, clip={"x": 0, "y": 0, "width": WIDTH, "height": HEIGHT})
    return True


def main() -> int:
    """Take the pictures of all notebooks; return the process's exit code."""
    from playwright.sync_api import sync_playwright

    large = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=find_chromium(), args=["--no-sandbox", "--disable-gpu"]
        )
        page = browser.new_page(viewport={"width": 1000, "height": 800}, color_scheme="light")
        for path in notebooks():
            source = SITE / path.relative_to(ROOT).with_suffix(".html")
            target = path.parent / "images" / f"{path.stem}.png"
            if source.exists() and take_picture(page, source, target):
                size = target.stat().st_size
                print(f"{target.relative_to(ROOT)}: {size / 1000:.0f} KB")
                large += [target.name] if size > MOST_BYTES else []
        browser.close()
    if large:
        print(f"larger than {MOST_BYTES / 1000:.0f} KB: {', '.join(large)}", file=sys.stderr)
    return 1 if large else 0


if __name__ == "__main__":
    sys.exit(main())
