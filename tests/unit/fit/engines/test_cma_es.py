"""CMA-ES on functions whose minima are known."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from workbench.fit import LOSSES, SearchSpace
from workbench.fit.engines import FitProblem
from workbench.fit.engines.cma_es import CMAESEngine
from workbench.models import SNAPPR

SPACE = SearchSpace.for_model(SNAPPR())
OWN = {key: float(SNAPPR().get(key)) for key in SPACE.keys}


def search(
    function: Callable[[NDArray[np.float64]], float], trials: int
) -> tuple[CMAESEngine, NDArray[np.float64], NDArray[np.float64]]:
    """Return the engine, the positions tried and their losses."""
    engine = CMAESEngine(FitProblem(SPACE, 2, [OWN], np.ones(2), (1, 2), LOSSES["rmsre"]))
    positions, losses = [], []
    for _ in range(trials):
        values = engine.propose()
        positions.append([SPACE[key].position(value) for key, value in values.items()])
        losses.append(function(np.array(positions[-1])))
        engine.tell(values, losses[-1], lambda: None)
    return engine, np.array(positions), np.array(losses)


def test_a_valley_that_is_not_along_an_axis_is_followed() -> None:
    def valley(x: NDArray[np.float64]) -> float:
        steps = np.diff(x)
        return float(np.square(x.sum() - 4.8).sum() + 100.0 * np.square(steps).sum())

    _, positions, losses = search(valley, 1200)
    # 8 dimensions all at 0.6; a search that knew no covariance would still be at about 0.1
    assert losses.min() < 1e-4
    assert np.abs(positions[losses.argmin()] - 0.6).max() < 0.02


def test_it_starts_about_the_model_and_restarts_wider_elsewhere() -> None:
    engine, positions, _ = search(lambda x: 1.0, 600)
    first = positions[1:11]
    assert np.abs(first - positions[0]).mean() < 0.15
    assert engine._restarts > 0
    assert engine._optimizer is not None
    assert engine._optimizer.population_size > 10
