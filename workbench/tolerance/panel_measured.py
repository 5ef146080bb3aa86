"""Measured run times in the tolerance panel: the upload, what was read, and refusals."""

from __future__ import annotations

import html
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePath

import ipywidgets as widgets

from workbench.errors import ParameterError
from workbench.measure import MeasuredRuns, read_measured_runs
from workbench.panels.error_line import ErrorLine
from workbench.panels.session.session import Files
from workbench.panels.settings import Setting
from workbench.panels.style import push_button, wrapping_row
from workbench.panels.upload import Upload
from workbench.plotting.theme import SMALL

COLUMNS = (
    "a CSV with a row for each run: latency_us, the latency that was added to the network's own, "
    "one way, and time_s; also repeat, program, ranks, load and flagged where they are known"
)
"""What a file of measured run times must hold."""


@dataclass(frozen=True, eq=False)
class MeasuredFile:
    """Run times that were measured, and the program that they were given for."""

    name: str  # of the file
    runs: MeasuredRuns
    program: str  # that was chosen

    @property
    def short_name(self) -> str:
        """The file's name without its folder."""
        return PurePath(self.name).name


class MeasuredControl:
    """The upload of run times, measured with the program that ``program`` returns the name of."""

    def __init__(self, program: Callable[[], str], changed: Callable[[], None]) -> None:
        self._program, self._changed = program, changed
        self.held: MeasuredFile | None = None
        self._own: dict[str, MeasuredRuns] = {}  # of sessions, by name
        self.error = ErrorLine()
        self.upload = Upload(
            "Measured run times",
            self._take_upload,
            self.error,
            width="170px",
            tooltip=COLUMNS,
            accept=".csv,.txt,.tsv",
        )
        self._about = widgets.HTML()
        self._chip = widgets.HBox()
        self.widget = widgets.VBox([wrapping_row(self.upload, self._chip, self._about), self.error])
        self.setting = Setting(
            self.upload,
            get=lambda: None if self.held is None else self.held.runs,
            take=self.take,
            save=self._saved,
            restore=self._restore,
        )

    def take(self, runs: MeasuredRuns | str | Path | None) -> None:
        """Draw run times: of a file, or what was read of one; None removes them."""
        if runs is None:
            self._hold(None)
        elif isinstance(runs, MeasuredRuns):
            self._hold(MeasuredFile(runs.provenance.source or "runs", runs, self._program()))
        else:
            self._hold(MeasuredFile(str(runs), read_measured_runs(runs), self._program()))

    def own_files(self) -> dict[str, Files]:
        """Return the file of a session, by its name."""
        if self.held is None:
            return {}
        name = self.held.short_name
        return {name: {name: self.held.runs.to_csv().encode()}}

    def take_own(self, name: str, files: Files) -> None:
        """Keep the run times of a session until they are chosen."""
        ((file, content),) = files.items()
        self._own[name] = read_measured_runs((file, content))

    def _take_upload(self, files: Mapping[str, bytes]) -> None:
        ((name, content),) = files.items()
        self._hold(MeasuredFile(name, read_measured_runs((name, content)), self._program()))

    def _saved(self) -> dict[str, str] | None:
        held = self.held
        return None if held is None else {"name": held.short_name, "program": held.program}

    def _restore(self, value: Mapping[str, str] | None) -> None:
        if value is None:
            self._hold(None)
            return
        name = value["name"]
        if self.held is not None and self.held.short_name == name:
            runs = self.held.runs
        elif name in self._own:
            runs = self._own[name]
        else:
            raise ParameterError(
                f"the session does not hold the measured run times {name!r}; upload them first",
                key="measured",
            )
        self._hold(MeasuredFile(name, runs, value["program"]))

    def _hold(self, held: MeasuredFile | None) -> None:
        self.error.say("")
        self.held = held
        self._chip.children, self._about.value = (), ""
        if held is not None:
            name = held.short_name
            chip = push_button(f"✕ {name}", "Remove it", width=f"{7 * len(name) + 48}px")
            chip.on_click(lambda _: self._hold(None))
            self._chip.children = (chip,)
            text = "; ".join([repr(held.runs).partition("(")[2][:-1], *held.runs.notes])
            self._about.value = f"<span style='{SMALL}'>{html.escape(text)}</span>"
        self._changed()
