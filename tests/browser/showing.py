"""Panels in JupyterLab, one after the other on one page and in one kernel."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

from tests.browser.panel import to_the_top, wait_until_still
from tests.browser.servers import START_S, Server, Watch, run_command

HOME = "00-start-here.ipynb"

# The line beside a panel's buttons has no role.
_SENTENCES = ".workbench-panel :is([role=status], .widget-html-content)"
_PANEL = """() => {
  const content = window.jupyterapp?.shell?.currentWidget?.content
  const sources = content?.widgets?.map(cell => cell.model.sharedModel.source)
  if (!sources) return null
  content.activeCellIndex = sources.findIndex(source => source.startsWith('panel = '))
  return document.querySelector('.workbench-panel') && sources[content.activeCellIndex]
}"""
_WRITE = """text => {
  window.jupyterapp.shell.currentWidget.content.activeCell.model.sharedModel.setSource(text)
}"""
_READY = """() => {
  const widget = window.jupyterapp?.shell?.currentWidget
  return widget?.content?.model && widget.sessionContext?.isReady
    && widget.sessionContext.kernelDisplayStatus === 'idle'
}"""
_EXECUTE = """async code => {
  const {kernel} = window.jupyterapp.shell.currentWidget.sessionContext.session
  const {content} = await kernel.requestExecute({code, silent: true}).done
  return content.evalue ?? ''
}"""
_STOP = """
if "panel" in globals():
    if hasattr(panel, "stop"):
        panel.stop()
    panel.wait()
"""


def show_panel(
    lab: Server,
    page: Any,
    steady: Callable[..., Any],
    notebook: str,
    *said: re.Pattern[str] | str,
    arguments: str = "",
    quiet: Callable[[], object] = lambda: None,
) -> Watch:
    """Show a notebook's panel, or scroll to it where the test before has shown it.

    The cell that makes the panel runs in the open notebook 00, in the place of that notebook's own.
    A kernel and a page for each panel would load workbench and BokehJS fifteen times; make deep
    opens every notebook as it is.

    Args:
        lab: JupyterLab.
        page: of Playwright.
        steady: the fixture.
        notebook: file name.
        said: what the panel's sentences say once it is there.
        arguments: of the panel, instead of none.
        quiet: ends, or waits for, what would draw while the test looks.

    Returns:
        What the page does that it should not do, from now on.
    """
    source = _source(lab, notebook, arguments)
    shown = page.evaluate(_PANEL)
    if shown == source:
        to_the_top(page)
        return lab.watch(page)
    if page.url.startswith(lab.address):
        # What the pointer rests on would answer it as soon as it is drawn.
        page.mouse.move(0, 0)
        run_command(page, "notebook:clear-all-cell-outputs")
        page.locator(".workbench-panel").first.wait_for(state="detached")
        stop(page)
        watch = lab.watch(page)
    else:
        lab.end_kernels()  # which a failed test may have left computing
        watch = lab.watch(page)
        page.goto(f"{lab.address}/lab/tree/{HOME}?reset", wait_until="commit")
        page.wait_for_function(_READY, timeout=START_S * 1000)
        run_command(page, "application:toggle-left-area")
        page.evaluate(_PANEL)
        run_command(page, "notebook:run-all-above")
    page.evaluate(_PANEL)
    page.evaluate(_WRITE, source)
    run_command(page, "notebook:run-cell")
    page.locator(".workbench-panel .bk-Figure").first.wait_for(timeout=START_S * 1000)
    for words in said:
        page.locator(_SENTENCES, has_text=words).first.wait_for()
    to_the_top(page)
    quiet()
    wait_until_still(page, steady)
    return watch


def stop(page: Any) -> None:
    """Stop what the panel computes, if anything."""
    assert page.evaluate(_EXECUTE, _STOP) == ""


def settle(page: Any) -> None:
    """Wait until the panel has computed what it was asked for."""
    assert page.evaluate(_EXECUTE, "panel.wait()") == ""


def _source(lab: Server, notebook: str, arguments: str) -> str:
    """Return the cell of a notebook that makes its panel."""
    cells = json.loads((lab.folder / notebook).read_text("utf-8"))["cells"]
    source = next(s for cell in cells if (s := "".join(cell["source"])).startswith("panel = "))
    if arguments:
        assert "Panel()" in source
    return source.replace("Panel()", f"Panel({arguments})")
