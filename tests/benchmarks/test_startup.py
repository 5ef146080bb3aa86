"""From a fresh kernel to the first live picture in JupyterLab, with a cold and a warm cache."""

from __future__ import annotations

import re
import time
from pathlib import Path
from typing import Any

import pytest

from tests.benchmarks.conftest import Table
from tests.benchmarks.test_slider import write_floor
from tests.browser.servers import serve

pytestmark = [
    pytest.mark.browser,
    pytest.mark.filterwarnings("ignore:Session-scoped fixtures defined as instance methods"),
]

# The panel stands before its curve does while kernels are compiled.
SIMULATED = re.compile("8 KiB message: .* simulated")
RESTART_AND_RUN = """async () => {
  const lab = window.jupyterapp
  const {sessionContext} = lab.shell.currentWidget
  await lab.commands.execute('notebook:clear-all-cell-outputs')
  await sessionContext.session.kernel.restart()
  await lab.commands.execute('notebook:run-all-cells')
}"""


def seconds_to_picture(page: Any, simulated: bool = True) -> float:
    """Restart the kernel, run all cells, and return the seconds until a simulated curve stands."""
    began = time.monotonic()
    page.evaluate(f"() => {{ ({RESTART_AND_RUN})() }}")
    page.locator(".bk-Figure").first.wait_for(state="detached", timeout=20_000)
    page.locator(".bk-Figure").first.wait_for(timeout=120_000)
    if simulated:
        page.get_by_text(SIMULATED).first.wait_for(timeout=120_000)
    return time.monotonic() - began


def test_first_picture_of_a_fresh_kernel(page: Any, tmp_path: Path, table: Table) -> None:
    """The kernel's own start is in the figures; the server runs already."""
    page.set_viewport_size({"width": 1440, "height": 900})
    cache = tmp_path / "numba"
    (tmp_path / "lab").mkdir()
    with serve("lab", tmp_path / "lab", NUMBA_CACHE_DIR=str(cache)) as server:
        server.open(page, f"{write_floor(server.folder)}.ipynb", whole=True)
        page.wait_for_timeout(1000)
        bare = min(seconds_to_picture(page, simulated=False) for _ in range(2))
        began = time.monotonic()
        server.open(page, "00-start-here.ipynb")
        page.get_by_text(SIMULATED).first.wait_for(timeout=120_000)
        print(f"\nfirst picture, page opened, cold cache: {time.monotonic() - began:.1f} s")
        seconds: dict[str, list[float]] = {"warm": [], "cold": []}
        for kind in ("warm", "warm", "warm", "cold"):
            page.wait_for_timeout(1000)
            if kind == "cold":
                for path in cache.rglob("*.nb[ic]"):
                    path.unlink()
            seconds[kind].append(seconds_to_picture(page))
        for kind, most in (("warm", 2.0), ("cold", 8.0)):
            least = min(seconds[kind])
            against = {"ratio": least / bare, "reference": "a fresh kernel's bare BokehModel"}
            what = f"fresh kernel to first picture in JupyterLab, {kind} cache"
            table.add("3", what, least, "s", at_most=most, **against)
