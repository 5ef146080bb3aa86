from __future__ import annotations

import math

import numpy as np
import pytest

from tests.cases import for_each
from workbench.tune.history import History
from workbench.tune.recommendation import recommended
from workbench.tune.space.axes import Grid
from workbench.tune.space.space import TuningSpace

SPACE = TuningSpace({"x": Grid(tuple(range(30)))})


def truth(x: int) -> float:
    return 1.0 + (x - 12) ** 2 / 100.0


@for_each("minimise", [True, False])
def test_a_model_chooses_better_than_the_least_of_noisy_values(minimise: bool) -> None:
    regrets: dict[str, list[float]] = {"least": [], "model": []}
    for seed in range(12):
        rng = np.random.default_rng(seed)
        history = History(SPACE, minimise=minimise)
        # Eight repeats, of which the model learns how large the noise is.
        for x in [*range(30), *range(0, 30, 4)]:
            value = truth(x) * math.exp(0.2 * rng.normal())
            history.append({"x": x}, value if minimise else -value)
        least, model = history.best(), recommended(history)
        assert least is not None and model is not None
        for name, found in (("least", least), ("model", model)):
            regrets[name].append(truth(found[0]["x"]) - 1.0)  # type: ignore[arg-type]
        assert abs(model[1]) == pytest.approx(1.0, abs=0.35)
        assert (model[1] > 0.0) == minimise
    assert np.mean(regrets["model"]) < 0.5 * np.mean(regrets["least"])


def test_little_known_is_recommended_as_it_is() -> None:
    history = History(SPACE)
    assert recommended(history) is None
    history.append({"x": 1}, 1.0, status="pruned")
    assert recommended(history) is None
    history.append({"x": 4}, 5.0)
    history.append({"x": 5}, 4.0)
    assert recommended(history) == ({"x": 5}, 4.0)


def test_what_was_pruned_or_failed_is_never_recommended() -> None:
    history = History(SPACE)
    for x in (0, 4, 20, 28):
        history.append({"x": x}, truth(x))
    history.append({"x": 12}, 0.1, status="pruned")
    history.append({"x": 11}, math.nan, status="failed")
    found = recommended(history)
    assert found is not None and found[0]["x"] in (0, 4, 20, 28)
