"""The control for a file of measured run times: upload, what was read, and refusals."""

from __future__ import annotations

import html
from collections.abc import Callable, Mapping
from pathlib import PurePath

import ipywidgets as widgets

from workbench.measure import MeasuredRuns, read_measured_runs
from workbench.panels.error_line import ErrorLine
from workbench.panels.style import push_button, wrapping_row
from workbench.panels.upload import Upload
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
        self.error = ErrorLine()
        self.upload = Upload(
            "Measured run times",
            self.take_upload,
            self.error,
            width="170px",
            tooltip=COLUMNS,
            accept=".csv,.txt,.tsv",
        )
        self._about = widgets.HTML()
        self._chip = widgets.HBox()
        self.widget = widgets.VBox([wrapping_row(self.upload, self._chip, self._about), self.error])

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
            text = "; ".join([repr(runs).partition("(")[2].rpartition(")")[0], *runs.notes])
            self._about.value = f"<span style='{SMALL}'>{html.escape(text)}</span>"
        self._changed(runs, name)
