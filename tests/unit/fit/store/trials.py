"""Trials to be written into a study."""

from __future__ import annotations

from workbench.fit.space import SearchSpace
from workbench.fit.store.study_file import StoredTrial


def trial_in(space: SearchSpace, number: int, loss: float = 1.5, invalid: str = "") -> StoredTrial:
    """Return a trial with values inside of ``space``, others for each number."""
    values = {d.key: d.clip((d.low * d.high) ** 0.5 / (number + 1)) for d in space.dimensions}
    return StoredTrial(number, values, loss, invalid)
