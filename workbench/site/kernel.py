"""Inside a notebook's kernel: figures and panels become plain data, and no BokehJS is loaded."""

from __future__ import annotations

import hashlib
import logging
import sys
from pathlib import Path
from typing import Any

from bokeh.io.notebook import install_notebook_hook
from bokeh.io.state import curstate
from IPython import get_ipython
from IPython.display import display

from workbench.panels.panel import Panel
from workbench.site.stills import FIGURE, PANEL, figure_still, panel_still

LOADED = "application/vnd.workbench.loaded+json"


def record() -> None:
    """Let this kernel display its figures and panels as plain data."""
    # It warns that Python is not called back by a page without a kernel.
    logging.getLogger("bokeh.embed.util").setLevel(logging.ERROR)
    install_notebook_hook("jupyter", _load, _show, _refuse, overwrite=True)
    # As if BokehJS were there: `workbench.panels.setup` then leaves the hook alone.
    curstate().output_notebook()
    shell: Any = get_ipython()
    shell.display_formatter.ipython_display_formatter.for_type(Panel, _show_panel)


def report_files(root: str) -> None:
    """Display the files below a folder that this kernel has imported, with their SHA-256."""
    folder = Path(root)
    found = {}
    for module in list(sys.modules.values()):
        path = Path(getattr(module, "__file__", None) or "/")
        if path.is_relative_to(folder) and path.suffix == ".py":
            name = path.relative_to(folder).as_posix()
            found[name] = hashlib.sha256(path.read_bytes()).hexdigest()
    display({LOADED: found}, raw=True)  # type: ignore[no-untyped-call]


def _load(resources: Any, verbose: bool, hide_banner: bool, load_timeout: int) -> None:
    """Load nothing: the page has BokehJS."""


def _show(figure: Any, state: Any, notebook_handle: Any) -> None:
    display({FIGURE: figure_still(figure)}, raw=True)  # type: ignore[no-untyped-call]


def _refuse(*_: Any) -> None:
    raise NotImplementedError("a page without a kernel shows no Bokeh server application")


def _show_panel(panel: Panel[Any]) -> None:
    display({PANEL: panel_still(panel), "text/plain": repr(panel)}, raw=True)  # type: ignore[no-untyped-call]
