"""The results of the tuning panel: the displayed experiment, and those it is compared with."""

from __future__ import annotations

import json
import time
from pathlib import Path

from workbench.errors import ParameterError
from workbench.panels.tuning.controls import TuningControls
from workbench.panels.tuning.subjects import subject_of
from workbench.panels.tuning.view import TuningView
from workbench.tune.result import TuningResult
from workbench.tune.store.stored_experiments import load_result, stored_experiments

FILES = {
    ".csv": "a table with one row per run",
    ".json": "everything, including the programs' output; workbench tune show reads it",
}
"""Descriptions of a result's files, by suffix."""

_PARTS_S = 1.5  # chosen: tables and three figures, of which each run changes little


class ShownExperiments:
    """The displayed experiment, and all that ran here or were loaded."""

    def __init__(self, view: TuningView, controls: TuningControls) -> None:
        self._view, self._controls = view, controls
        self.result: TuningResult | None = None  # of the displayed experiment, so far
        self._all: dict[str, tuple[str, TuningResult]] = {}
        self._drawn = (-1, 0.0)

    @property
    def compared(self) -> dict[str, TuningResult]:
        """The experiments of the chosen subject, by their search settings."""
        word = self._controls.subject.value
        return {
            name.partition(": ")[2] or name: one
            for name, (about, one) in self._all.items()
            if about == word
        }

    def begin(self) -> None:
        """Show the figures, and draw all parts of the next result."""
        self._drawn = (-1, 0.0)
        self._view.blank(False)

    def draw(self, result: TuningResult) -> None:
        """Draw an experiment if it has new runs."""
        runs, drawn_s = self._drawn
        if len(result) == runs:
            return
        self.result = result
        self._view.show(result)
        now = time.monotonic()
        if runs < 0 or now - drawn_s > _PARTS_S:
            self._view.show_parts(result)
            drawn_s = now
        self._drawn = (len(result), drawn_s)

    def keep(self, word: str, result: TuningResult) -> None:
        """Draw a finished experiment of a subject, and add it to the comparison."""
        self.begin()
        self.draw(result)
        self._all.pop(result.name, None)
        # One that was stopped in a queue has nothing to compare.
        if result.records:
            self._all[result.name] = (word, result)
        self.compare()

    def compare(self) -> None:
        """Draw the experiments of the subject together."""
        self._view.compare(self.compared, self._controls.chosen.recorded)

    def load(self, store: str) -> None:
        """Add the experiments of a store (SQLite file or PostgreSQL address) to the comparison."""
        found = {}
        for one in stored_experiments(store):
            word = subject_of(one.name, str(one.problem["component"]), self._controls.known)
            if word and one.runs:
                found[one.name] = (word, load_result(store, one.name))
        if not found:
            raise ParameterError(
                f"{store} must hold experiments on a subject of the list; it holds none",
                key="store",
            )
        self._all |= found
        self.compare()

    def turn(self, result: TuningResult | None) -> None:
        """Show the last experiment of the chosen subject; None shows an empty panel."""
        self.compare()
        self.result = None
        self._view.blank(True)
        if result is not None:
            self.begin()
            self.draw(result)

    def forget(self) -> None:
        """Remove all experiments from the comparison."""
        self._all.clear()
        self.compare()

    def file(self, suffix: str) -> tuple[str, str]:
        """Return name and content of a file of the displayed result, by a suffix of ``FILES``."""
        result = self.result
        if result is None:
            raise ParameterError("there is no run yet; press Start", key="path")
        if suffix == ".csv":
            return result.name, result.to_frame().to_csv(index=False)
        return result.name, json.dumps(result.to_dict(), indent=1) + "\n"

    def save(self, path: str | Path) -> Path:
        """Write the displayed result to a file with a suffix of ``FILES``."""
        target = Path(path)
        if target.suffix not in FILES:
            raise ParameterError(
                f"the file's suffix must be one of {', '.join(FILES)}; got {target.name!r}",
                key="path",
            )
        target.write_text(self.file(target.suffix)[1], encoding="utf-8")
        return target
