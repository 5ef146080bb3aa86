"""The control for a file of measured run times: upload, what was read, and refusals."""

from __future__ import annotations

import html
from collections.abc import Callable, Mapping
from pathlib import PurePath
from typing import Any

import ipywidgets as widgets

from workbench.measure import MeasuredRuns, read_measured_runs
from workbench.panels import inputs
from workbench.panels.error_line import ErrorLine
from workbench.panels.style import push_button, wrapping_row
from workbench.plotting.theme import SMALL

COLUMNS = (
    "a CSV with a row for each run: latency_us, the latency that was added to the network's own, "
    "one way, and time_s; also repeat, program, ranks, load and flagged where they are known"
)
"""What a file of measured run times must hold."""


class MeasuredControl:
    """The upload of measured run times; ``changed`` gets them with the file's name, or None."""

    def __init__(self, changed: Callable[[MeasuredRuns | None, str], None]) -> None:
        self._changed = changed
        self.upload: Any = inputs.FileUpload(
            accept=".csv,.txt,.tsv",
            description="Measured run times",
            tooltip=COLUMNS,
            layout=widgets.Layout(width="220px", margin="2px 8px 2px 0"),
        )
        self._about = widgets.HTML()
        self._chip = widgets.HBox()
        self.error = ErrorLine()
        self.widget = widgets.VBox([wrapping_row(self.upload, self._chip, self._about), self.error])
        self.upload.observe(self._uploaded, "value")

    def take_upload(self, files: Mapping[str, bytes]) -> None:
        """Read an uploaded file, given by name."""
        ((name, content),) = files.items()
        self.take(read_measured_runs((name, content)), name)

    def take(self, runs: MeasuredRuns | None, name: str) -> None:
        """Draw these runs, of a file of that name or path; None removes them."""
        self.error.say("")
        if runs is None:
            self._chip.children, self._about.value = (), ""
        else:
            short = PurePath(name).name
            chip = push_button(f"✕ {short}", "Remove it", width=f"{7 * len(short) + 48}px")
            chip.on_click(lambda _: self.take(None, ""))
            self._chip.children = (chip,)
            text = repr(runs).partition("(")[2].rpartition(")")[0]
            self._about.value = f"<span style='{SMALL}'>{html.escape(text)}</span>"
        self._changed(runs, name)

    def _uploaded(self, change: Any) -> None:
        files = {item["name"]: bytes(item["content"]) for item in change["new"]}
        if not files:
            return
        self.error.guard(lambda: self.take_upload(files))
        # An empty value lets the same file be chosen again.
        self.upload.value = ()
