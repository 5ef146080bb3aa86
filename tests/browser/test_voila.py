"""Notebooks in Voilà: they open, a control changes what is drawn, and a file is saved.

All else about the panels is tested in JupyterLab, with the same widgets and the same kernels. What
differs in Voilà is tested here: its page, its connection to the kernel, and the outputs of cells on
that page. `make test` opens one page with a panel of each kind, `make deep` opens every notebook.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.browser.servers import ROOT, Server, Watch

Act = Callable[[Any], object]


def press(label: str = "") -> Act:
    """Return a function that presses arrow keys on the panel's first slider or a labelled one."""

    def act(panel: Any) -> None:
        row = panel.locator(".widget-slider")
        if label:
            row = row.filter(has=panel.page.get_by_text(label, exact=True))
        row.locator(".noUi-handle").first.focus()
        for _ in range(5):
            panel.page.keyboard.press("ArrowRight")

    return act


def choose(label: str, index: int) -> Act:
    """Return a function that selects an entry of the first list with that label."""
    return lambda panel: panel.get_by_label(label, exact=True).first.select_option(index=index)


# What the panel says when it is there, and what changes it.
CONTROLS: dict[str, tuple[str, Act]] = {
    "00-start-here": (r"8 KiB message: .* simulated", press("injection latency")),
    "01-fit-a-machine": (r"8 KiB message: .* simulated", press("injection latency")),
    "02-which-loss": (r"snappr on [\w-]+, \w+ over both", choose("Loss", 2)),
    "03-message-regimes": (r"LogP up to", press()),
    "04-replay-a-program": (r"until the last of \d+ ranks ends", press()),
    "05-latency-tolerance": (r"operations, analysed in", choose("allreduce", 2)),
    "06-where-to-place-ranks": (r"With the placement by", choose("Show the placement by", 1)),
    "07-compare-topologies": (r"carr(y|ies)", choose("Traffic", 1)),
    "08-tune-a-component": (r"budget of \d+ runs is spent", choose("Tune", 1)),
    "09-which-heuristic": (r"is first with", choose("Noise", 2)),
    "10-how-sure": (r"noise, .* held out: ", choose("Noise model", 1)),
    "11-who-slowed-my-job": (r"took [\d.]+ s, .* the mean of \d+ runs", press("Step")),
    "12-forecast-the-next-steps": (r"^After \d+ steps of ", press("Steps passed")),
    "13-against-reality": (r"run times differ by", choose("Recording", 1)),
    "14-the-papers": (r"^\d{3}-[\w-]+: ", choose("Row", 7)),
}
WHOLE = {"00-start-here", "02-which-loss"}  # their cells after the panel show tables and figures
# Curves, a diagram with its own canvas, and a table whose places can be clicked.
KINDS = ("00-start-here", "04-replay-a-program", "02-which-loss")


def test_every_notebook_is_opened() -> None:
    assert set(CONTROLS) == {path.stem for path in (ROOT / "notebooks").glob("[0-9]*.ipynb")}


def code_cells(path: Path) -> list[dict[str, Any]]:
    """Return the cells of code of a notebook."""
    cells = json.loads(path.read_text("utf-8"))["cells"]
    return [cell for cell in cells if cell["cell_type"] == "code"]


def change(panel: Any, name: str, until: Callable[..., float], steady: Callable[..., Any]) -> None:
    """Save a file from a panel that has an export, and change what it says by its control."""
    said, act = CONTROLS[name]
    sentence = panel.get_by_text(re.compile(said)).first
    sentence.wait_for()
    panel.evaluate("e => e.scrollIntoView()")
    # A file comes to the page with a figure.
    panel.locator(".bk-Figure").first.wait_for()
    before = steady(sentence.inner_text)
    export = panel.get_by_role("tab", name="Export")
    if export.count():
        export.click()
        with panel.page.expect_download() as download:
            panel.get_by_role("button", name="CSV", exact=True).first.click()
        assert b"," in Path(download.value.path()).read_bytes()
        panel.get_by_role("tab").first.click()
    act(panel)
    until(lambda: panel.get_by_text(re.compile(said)).all_inner_texts()[:1] != [before])


def assert_clean(page: Any, watch: Watch) -> None:
    """Hold that no cell, no console and no request went wrong."""
    assert page.locator("[data-mime-type$=stderr], [data-mime-type$=error]").count() == 0
    assert watch.errors == []
    assert watch.outside == []


def test_a_page_shows_a_panel_of_each_kind(
    voila: Server,
    page: Any,
    until: Callable[..., float],
    steady: Callable[..., Any],
    keep: Callable[[str], None],
) -> None:
    of_each = [code_cells(voila.folder / f"{name}.ipynb") for name in KINDS]
    content = json.loads((voila.folder / f"{KINDS[0]}.ipynb").read_text("utf-8"))
    content["cells"] = [of_each[0][0], *(cells[1] for cells in of_each)]
    (voila.folder / "kinds.ipynb").write_text(json.dumps(content))
    watch = voila.open(page, "kinds.ipynb", whole=True)
    panels = page.locator(".workbench-panel")
    until(lambda: panels.count() == len(KINDS))
    for panel, name in zip(panels.all(), KINDS, strict=True):
        change(panel, name, until, steady)
    keep("kinds")
    assert_clean(page, watch)


@pytest.mark.deep
@pytest.mark.parametrize("name", CONTROLS)
def test_it_opens_and_a_control_changes_it(
    voila: Server,
    page: Any,
    until: Callable[..., float],
    steady: Callable[..., Any],
    keep: Callable[[str], None],
    name: str,
) -> None:
    watch = voila.open(page, f"{name}.ipynb", whole=name in WHOLE)
    change(page.locator(".workbench-panel").first, name, until, steady)
    keep("changed")
    assert_clean(page, watch)
