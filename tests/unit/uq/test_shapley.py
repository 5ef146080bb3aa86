from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

from tests.cases import for_each
from tests.unit.uq.simulators import FloatArray, unit_box
from workbench.errors import ParameterError
from workbench.uq import (
    Parameter,
    ParameterBox,
    Surrogate,
    design,
    fit_surrogate,
    shapley_effects,
    sobol_indices,
)

WIDE = ParameterBox([Parameter(name, "", -8.0, 8.0) for name in "abc"])


def of_linear_gaussian(slopes: FloatArray, covariance: FloatArray) -> FloatArray:
    """Return the Shapley effects of slopes @ x by their definition, over all orders."""
    dimensions = len(slopes)

    def left(known: tuple[int, ...]) -> float:
        """Return the variance once some are known."""
        rest = [i for i in range(dimensions) if i not in known]
        inner = covariance[np.ix_(rest, rest)]
        if known:
            across = covariance[np.ix_(rest, known)]
            inner = inner - across @ np.linalg.solve(covariance[np.ix_(known, known)], across.T)
        return float(slopes[rest] @ inner @ slopes[rest])

    effects = np.zeros(dimensions)
    orders = list(permutations(range(dimensions)))
    for order in orders:
        for place, i in enumerate(order):
            effects[i] += left(order[:place]) - left(order[: place + 1])
    return np.asarray(effects / len(orders) / left(()))


@pytest.fixture(scope="module")
def linear() -> Surrogate:
    points = design(WIDE, 32)
    return fit_surrogate(WIDE, points, 30 + points @ np.array([[1.0, 0], [1.5, 0], [-1, 0]]))


@for_each("correlation", [0.0, 0.5, -0.8])
def test_a_linear_gaussian_model_has_its_analytic_effects(
    linear: Surrogate, correlation: float
) -> None:
    covariance = np.array([[1, correlation, 0.2], [correlation, 1, 0], [0.2, 0, 1.5]])
    samples = np.random.default_rng(3).multivariate_normal(np.zeros(3), covariance, 5000)
    found = shapley_effects(linear, samples)
    assert found[0].sum() == pytest.approx(1, abs=1e-12)
    wanted = of_linear_gaussian(np.array([1, 1.5, -1]), covariance)
    # standard error of 5000 samples about 0.01
    assert found[0] == pytest.approx(wanted, abs=0.03)
    assert np.isnan(found[1]).all()


def test_of_independent_parameters_effects_lie_between_first_and_total_indices() -> None:
    box = unit_box("a", "b")
    points = design(box, 32)
    surrogate = fit_surrogate(box, points, 5 + points[:, :1] + points[:, :1] * points[:, 1:])
    found = shapley_effects(surrogate, box.sample(4000))[0]
    indices = sobol_indices(surrogate)
    # an interaction is shared by halves
    assert found == pytest.approx((indices.first[0] + indices.total[0]) / 2, abs=0.02)


def test_samples_that_tell_nothing_are_refused(linear: Surrogate) -> None:
    with pytest.raises(ParameterError, match="at least 100 rows"):
        shapley_effects(linear, np.zeros((20, 3)))
    repeated = np.repeat(np.random.default_rng(0).normal(size=(100, 3)), 4, axis=0)
    with pytest.raises(ParameterError, match="100 different ones of 400; thin the chain"):
        shapley_effects(linear, repeated)
    many = unit_box(*(f"p{i}" for i in range(13)))
    points = design(many, 64)
    surrogate = fit_surrogate(many, points, 2 + points[:, :1], degrees=(1,))
    with pytest.raises(ParameterError, match="at most 12 parameters; got 13"):
        shapley_effects(surrogate, points)
