"""Progress of a study, cell by cell, whichever process runs it."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.fit.store import StoredProgress, read_progress
from workbench.html_table import html_table
from workbench.result import StoredResult
from workbench.storage.database import locate
from workbench.study.cell import AXES, STATES, CellProgress, CellState
from workbench.study.plan import StudyPlan

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class StudyStatus(StoredResult):
    """Progress of a study.

    Attributes:
        plan: what is run.
        cells: how each of its cells stands, in the plan's order.
        eta_s: seconds until the last trial at the pace so far; nan where there is no pace yet.
    """

    plan: StudyPlan
    cells: tuple[CellProgress, ...]
    eta_s: float = math.nan

    @property
    def counts(self) -> dict[CellState, int]:
        """Number of cells in each state."""
        found = Counter(cell.state for cell in self.cells)
        return {state: found[state] for state in STATES}

    @property
    def trials(self) -> int:
        """Trials finished, at most those the plan asks for in each cell."""
        return sum(min(cell.trials, cell.total) for cell in self.cells)

    @property
    def total(self) -> int:
        """Trials the plan asks for."""
        return sum(cell.total for cell in self.cells)

    @property
    def finished(self) -> bool:
        """Whether every cell is done or failed."""
        return all(cell.state in ("done", "failed") for cell in self.cells)

    def to_frame(self) -> pd.DataFrame:
        """Return one row a cell: what it fits, its state, trials, best loss and message."""
        import pandas as pd

        return pd.DataFrame(
            [
                {
                    **{axis: getattr(progress.cell, axis) for axis in AXES},
                    "state": progress.state,
                    "trials": progress.trials,
                    "total": progress.total,
                    "best_loss": progress.best_loss,
                    "message": progress.message,
                }
                for progress in self.cells
            ]
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the status as values that JSON can hold."""
        return {
            "study": self.plan.name,
            "cells": dict(self.counts),
            "trials": self.trials,
            "total": self.total,
            "eta_s": self.eta_s,
        }

    def line(self) -> str:
        """Return one line for people, e.g. ``3 of 72 cells, 6100 of 144000 trials``."""
        counts = self.counts
        parts = [
            f"{counts['done']} of {len(self.cells)} cells",
            f"{self.trials} of {self.total} trials",
        ]
        parts += [f"{counts[state]} {state}" for state in ("running", "failed") if counts[state]]
        if math.isfinite(self.eta_s) and not self.finished:
            parts.append(f"{_duration(self.eta_s)} to go")
        return ", ".join(parts)

    def __repr__(self) -> str:
        return f"StudyStatus({self.plan.name}: {self.line()})"

    def _repr_html_(self) -> str:
        rows = (
            (p.cell.name, p.state, f"{p.trials} of {p.total}", _loss(p.best_loss), p.message)
            for p in self.cells
        )
        head = ("cell", "state", "trials", "best loss", "")
        return html_table(rows, head, repr(self), align="llrrl")


def status(plan: StudyPlan, database: str | Path) -> StudyStatus:
    """Return the progress of a study from its database; a running study is not disturbed.

    Args:
        plan: what is run.
        database: an SQLite file or a PostgreSQL address; one that is not there holds no trials.

    Raises:
        StudyError: the database cannot be read.
    """
    cells = plan.cells()
    names = [cell.name for cell in cells]
    stored = read_progress(database, names)
    place = locate(database)
    # A cell without trials may just be starting, so all names are queried.
    held = place.held(names) if place.exists else set()
    return StudyStatus(
        plan,
        tuple(
            _progress(CellProgress(cell, "waiting", 0, plan.trials), stored.get(name), name in held)
            for cell, name in zip(cells, names, strict=True)
        ),
    )


def _progress(waiting: CellProgress, stored: StoredProgress | None, held: bool) -> CellProgress:
    trials, best = (stored.trials, stored.best_loss) if stored is not None else (0, math.inf)
    state: CellState = "waiting"
    if trials >= waiting.total:
        state = "done"
    elif held:
        state = "running"
    elif trials:
        state = "stopped"
    return CellProgress(waiting.cell, state, trials, waiting.total, best)


def _duration(seconds: float) -> str:
    rounded_s = round(seconds)
    if rounded_s < 90:
        return f"{rounded_s} s"
    minutes = round(rounded_s / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes / 60:.1f} h"


def _loss(loss: float) -> str:
    return f"{loss:.4g}" if math.isfinite(loss) else ""
