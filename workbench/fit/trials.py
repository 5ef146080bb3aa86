"""The trials of a stored fit: the best first, and which parameters set the best apart.

stored_trials("fits.db").head()
parameter_importance("fits.db")
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.errors import StudyError
from workbench.fit.engines import PAPER_ENGINE, RANK_ENGINES
from workbench.fit.result import short_key
from workbench.fit.space import SearchSpace
from workbench.fit.store import read_names, read_progress, read_study, read_trials, stored_space
from workbench.storage.importance import FEWEST_CONFIGURATIONS, ped_anova

if TYPE_CHECKING:
    import pandas as pd


def stored_trials(where: str | Path, name: str | None = None) -> pd.DataFrame:
    """Return the trials of a stored fit, the least loss first and the refused ones last.

    Columns: ``trial`` from 0, ``loss`` (inf where it was refused), ``ended_early`` where the loss
    is a lower bound, ``seconds``, ``refused`` (why), then the searched parameters in SI by key.

    Args:
        where: SQLite file, or the address of a PostgreSQL database.
        name: of the fit, as ``studies`` lists it; the one with most trials where it is None.

    Raises:
        StudyError: there is no such fit, or the file cannot be read.
    """
    import pandas as pd

    name, space = _named(where, name)
    rows = [
        (
            one.number,
            math.inf if one.invalid else one.loss,
            one.ended_early,
            one.seconds,
            one.invalid,
            *(one.values[key] for key in space.keys),
        )
        for one in read_trials(where, name)
    ]
    columns = ["trial", "loss", "ended_early", "seconds", "refused", *space.keys]
    frame = pd.DataFrame(rows, columns=columns)
    return frame.sort_values("loss", kind="stable", ignore_index=True)


def best_trials(where: str | Path, name: str | None = None, most: int = 20) -> list[list[str]]:
    """Return the texts of a table of a stored fit's best trials, its head first."""
    name, space = _named(where, name)
    frame = stored_trials(where, name)
    shown = frame[frame["refused"] == ""].head(most).to_dict("records")
    head = ["trial", "loss", *(short_key(key) for key in space.keys)]
    return [
        head,
        *(
            [str(row["trial"]), f"{row['loss']:.5g}"]
            + [d.text(row[d.key]) for d in space.dimensions]
            for row in shown
        ),
    ]


def describe_importance(where: str | Path, name: str | None = None) -> str:
    """Return what the importance of a stored fit's parameters means, as a sentence."""
    name, _ = _named(where, name)
    found = read_study(where, name)
    engine = PAPER_ENGINE if found is None else found.problem.get("engine", PAPER_ENGINE)
    text = "Importance: what sets the best tenth of these trials apart (PED-ANOVA)"
    if engine in RANK_ENGINES:
        return f"{text}."
    return (
        f"{text}. {engine} goes straight to the best values and moves all parameters at once, so "
        "one that the data do not determine may count too: Identifiability says which they do."
    )


def parameter_importance(where: str | Path, name: str | None = None) -> dict[str, float]:
    """Return each parameter's share in what sets the best tenth of a fit's trials apart.

    Largest first; they sum to 1. PED-ANOVA (Watanabe et al. 2023), as for tuning: a search that
    soon stays near the best tells of that neighbourhood. Empty for fewer than 20 trials.

    Args:
        where: SQLite file, or the address of a PostgreSQL database.
        name: of the fit, as ``studies`` lists it; the one with most trials where it is None.

    Raises:
        StudyError: there is no such fit, or the file cannot be read.
    """
    name, space = _named(where, name)
    known = [one for one in read_trials(where, name) if not one.invalid]
    if len(known) < FEWEST_CONFIGURATIONS:
        return {}
    places = {
        d.key: [d.position(float(one.values[d.key])) for one in known] for d in space.dimensions
    }
    return ped_anova(places, [one.loss for one in known])


def _named(where: str | Path, name: str | None) -> tuple[str, SearchSpace]:
    """Return a fit's name, the one with most trials for None, and what it searches."""
    known = read_names(where)
    if not known or name not in (None, *known):
        raise StudyError(
            f"{where} must hold the fit {name or ''!r}; it holds {', '.join(known) or 'none'}"
        )
    if name is None:
        progress = read_progress(where, known)
        name = max(known, key=lambda one: progress[one].trials if one in progress else 0)
    return name, stored_space(where, name)
