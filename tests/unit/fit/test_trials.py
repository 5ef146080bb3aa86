"""The trials of a stored fit as tables, and what sets the best apart."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from workbench.errors import StudyError
from workbench.fit import SearchSpace, parameter_importance, stored_trials
from workbench.fit.store import StoredTrial, StudyFile, read_trials
from workbench.fit.trials import best_trials, describe_importance
from workbench.models import LogP

SPACE = SearchSpace.for_model(LogP())
MATTERS = "switch.bandwidth"


def store(where: Path, name: str, trials: int, engine: str) -> None:
    """Store trials whose loss is the distance of one parameter from the middle of its bounds."""
    file = StudyFile(where, name, {"space": SPACE.to_dict(), "engine": engine})
    rng = np.random.default_rng(3)
    for number in range(trials):
        places = {d.key: float(rng.uniform()) for d in SPACE.dimensions}
        values = {key: SPACE[key].at(place) for key, place in places.items()}
        invalid = "refused for the test" if number == 2 else ""
        file.append(StoredTrial(number, values, abs(places[MATTERS] - 0.5), invalid, 0.01))
    file.close()


def test_trials_are_sorted_and_the_longest_fit_is_the_usual_one(tmp_path: Path) -> None:
    where = tmp_path / "fits.db"
    store(where, "short", 5, "least-squares")
    store(where, "long", 60, "cma-es")
    frame = stored_trials(where)
    stored = read_trials(where, "long")
    losses = [math.inf if one.invalid else one.loss for one in stored]
    assert frame["loss"].tolist() == sorted(losses)
    assert frame["refused"].iloc[-1] == "refused for the test"
    best = stored[frame["trial"][0]]
    assert dict(frame.loc[0, list(best.values)]) == dict(best.values)
    assert len(stored_trials(where, "short")) == 5

    head, *rows = best_trials(where, most=3)
    assert [row[0] for row in rows] == [str(trial) for trial in frame["trial"][:3]]
    assert head[2:] == [".".join(key.split(".")[-2:]) for key in SPACE.keys]

    shares = parameter_importance(where)
    assert set(shares) == set(SPACE.keys)
    assert sum(shares.values()) == pytest.approx(1.0, rel=1e-9)
    assert next(iter(shares)) == MATTERS and shares[MATTERS] > 0.5
    assert parameter_importance(where, "short") == {}, "five trials say nothing"
    assert "do not determine" in describe_importance(where, "short")
    with pytest.raises(StudyError, match="must hold the fit 'other'; it holds long, short"):
        stored_trials(where, "other")
