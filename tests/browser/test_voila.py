"""Notebooks in Voilà: they open, a control changes what is drawn, and a file is saved.

All else about the panels is tested in JupyterLab, with the same widgets and the same kernels. What
differs in Voilà is tested here: its page, its connection to the kernel, and the outputs of cells on
that page. `make test` opens the notebooks of SMOKE_TEST, `make deep` opens the others too.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.browser.servers import ROOT, Server

Act = Callable[[Any], object]


def press(label: str = "") -> Act:
    """Return a function that presses arrow keys on the panel's first slider or a labelled one."""

    def act(page: Any) -> None:
        row = page.locator(".workbench-panel .widget-slider")
        if label:
            row = row.filter(has=page.get_by_text(label, exact=True))
        row.locator(".noUi-handle").first.focus()
        for _ in range(5):
            page.keyboard.press("ArrowRight")

    return act


def choose(label: str, index: int) -> Act:
    """Return a function that selects an entry of the first list with that label."""
    return lambda page: (
        page.locator(".workbench-panel")
        .get_by_label(label, exact=True)
        .first.select_option(index=index)
    )


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
# One of WHOLE, and the space-time diagram with its own canvas. The panels of uncertainty and of
# variability are tested in Voilà too, with jobs that report their progress.
SMOKE_TEST = {"00-start-here", "05-latency-tolerance"}


def test_every_notebook_is_opened() -> None:
    assert set(CONTROLS) == {path.stem for path in (ROOT / "notebooks").glob("[0-9]*.ipynb")}


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=() if name in SMOKE_TEST else pytest.mark.deep) for name in CONTROLS],
)
def test_it_opens_and_a_control_changes_it(
    voila: Server,
    page: Any,
    until: Callable[..., float],
    steady: Callable[..., Any],
    keep: Callable[[str], Path],
    name: str,
) -> None:
    said, act = CONTROLS[name]
    watch = voila.open(page, f"{name}.ipynb", whole=name in WHOLE)
    panel = page.locator(".workbench-panel").first
    sentence = panel.get_by_text(re.compile(said)).first
    sentence.wait_for()
    panel.evaluate("e => e.scrollIntoView()")
    # A file comes to the page with a figure.
    panel.locator(".bk-Figure").first.wait_for()
    before = steady(sentence.inner_text)
    keep("opened")
    export = panel.get_by_role("tab", name="Export")
    if export.count():
        export.click()
        with page.expect_download() as download:
            panel.get_by_role("button", name="CSV", exact=True).first.click()
        assert b"," in Path(download.value.path()).read_bytes()
        panel.get_by_role("tab").first.click()
    act(page)
    until(lambda: panel.get_by_text(re.compile(said)).all_inner_texts()[:1] != [before])
    keep("changed")
    assert page.locator("[data-mime-type$=stderr], [data-mime-type$=error]").count() == 0
    assert watch.errors == []
    assert watch.outside == []
