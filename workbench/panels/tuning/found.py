"""What the tuning panel has found: the experiment that is shown, and those it is compared with."""

from __future__ import annotations

import json
import time
from pathlib import Path

from workbench.errors import ParameterError
from workbench.panels.tuning.controls import TuningControls
from workbench.panels.tuning.subjects import subject_of
from workbench.panels.tuning.view import TuningView
from workbench.tune.result import TuningResult
from workbench.tune.store.store import load_result, stored_experiments

FILES = {
    ".csv": "one row a run, as a table",
    ".json": "everything, what the programs printed included; workbench tune show reads it",
}
"""What a result is written as, by suffix."""

_PARTS_S = 1.5


class TuningFound:
    """The result that is shown, and all that were found here or loaded.

    Attributes:
        result: of the experiment that is shown, as far as it is; None before there is any.

    Args:
        view: what draws them.
        controls: what says which subject they are of.
    """

    def __init__(self, view: TuningView, controls: TuningControls) -> None:
        self._view, self._controls = view, controls
        self.result: TuningResult | None = None
        self._all: dict[str, tuple[str, TuningResult]] = {}
        self._drawn = (-1, 0.0)

    @property
    def compared(self) -> dict[str, TuningResult]:
        """The experiments of the subject that is chosen, by how they searched."""
        word = self._controls.subject.value
        return {
            name.partition(": ")[2] or name: one
            for name, (about, one) in self._all.items()
            if about == word
        }

    def begin(self) -> None:
        """Draw the next result whole."""
        self._drawn = (-1, 0.0)
        self._view.blank(False)

    def draw(self, result: TuningResult) -> None:
        """Draw what is new of an experiment.

        Args:
            result: as far as it is.
        """
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
        """Draw an experiment that has ended, and compare it with the others.

        Args:
            word: of its subject.
            result: what it found.
        """
        self.begin()
        self.draw(result)
        self._all.pop(result.name, None)
        # One that was stopped in a queue has nothing to compare.
        if result.records:
            self._all[result.name] = (word, result)
        self.compare()

    def compare(self) -> None:
        """Draw the experiments of the subject over one another."""
        self._view.compare(self.compared, self._controls.chosen.recorded)

    def load(self, store: str) -> None:
        """Compare the experiments of a store, too.

        Args:
            store: SQLite file or PostgreSQL address.

        Raises:
            ParameterError: none of its experiments is of what can be tuned.
            StudyError: it cannot be read.
        """
        found = {}
        for one in stored_experiments(store):
            word = subject_of(one.name, str(one.problem["component"]), self._controls.known)
            if word and one.runs:
                found[one.name] = (word, load_result(store, one.name))
        if not found:
            raise ParameterError(
                f"{store} must hold experiments with what the list offers; it holds none",
                key="store",
            )
        self._all |= found
        self.compare()

    def turn(self, result: TuningResult | None) -> None:
        """Show the last experiment with the subject that is chosen, and no other subject's.

        Args:
            result: what it found; None where there is none.
        """
        self.compare()
        self.result = None
        self._view.blank(True)
        if result is not None:
            self.begin()
            self.draw(result)

    def list_store(self, store: str) -> None:
        """List all experiments of a store, also those of what is not chosen.

        Args:
            store: SQLite file or PostgreSQL address, empty for none.

        Raises:
            StudyError: it cannot be read.
        """
        self._view.list_store(store, stored_experiments(store) if store else ())

    def forget(self) -> None:
        """Compare nothing of what was found so far."""
        self._all.clear()
        self.compare()

    def file(self, suffix: str) -> tuple[str, str]:
        """Return name and content of the file that holds what is shown.

        Args:
            suffix: of ``FILES``.

        Raises:
            ParameterError: there is no result.
        """
        result = self.result
        if result is None:
            raise ParameterError("there is no run yet; press Start", key="path")
        if suffix == ".csv":
            return result.name, result.to_frame().to_csv(index=False)
        return result.name, json.dumps(result.to_dict(), indent=1) + "\n"

    def save(self, path: str | Path) -> Path:
        """Write what is shown.

        Args:
            path: file to write, with a suffix of ``FILES``.

        Raises:
            ParameterError: the suffix is none of these, or there is no result.
        """
        target = Path(path)
        if target.suffix not in FILES:
            raise ParameterError(
                f"the file's suffix must be one of {', '.join(FILES)}; got {target.name!r}",
                key="path",
            )
        target.write_text(self.file(target.suffix)[1], encoding="utf-8")
        return target
