from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.polynomial.legendre import legval

from kernels.uq.polynomials import predict_many
from tests.cases import for_each
from tests.unit.uq.simulators import NETWORK, allgather, unit_box
from workbench.errors import ParameterError
from workbench.uq import Surrogate, design, fit_surrogate, multi_indices
from workbench.uq.legendre import LegendreBasis, polynomial_values

ABC = unit_box("a", "b", "c")


@pytest.fixture(scope="module")
def network() -> Surrogate:
    points = design(NETWORK, 216)
    return fit_surrogate(NETWORK, points, allgather(points))


def cubic(points: Any) -> Any:
    a, b, c = np.asarray(points).T
    return np.stack([3 + a * b * c - 0.5 * b**3, 2 + a - 0.25 * c**2, 4 + 0 * a], axis=1)


def test_a_basis_of_total_degree_has_all_terms_up_to_it() -> None:
    assert multi_indices(2, 2).tolist() == [[0, 0], [1, 0], [0, 1], [2, 0], [1, 1], [0, 2]]
    for dimensions, degree in ((4, 3), (3, 5), (1, 4), (6, 2), (2, 0)):
        found = multi_indices(dimensions, degree)
        assert len(found) == math.comb(dimensions + degree, degree)
        assert len(np.unique(found, axis=0)) == len(found)
        assert found.sum(axis=1).max() == degree


def test_a_hyperbolic_basis_keeps_powers_and_drops_interactions() -> None:
    # sqrt(1) + sqrt(1) = 2 = sqrt(4): the product of two parameters comes with degree 4.
    assert [1, 1] not in multi_indices(2, 3, 0.5).tolist()
    assert [1, 1] in multi_indices(2, 4, 0.5).tolist()
    for q in (1.0, 0.75, 0.5):
        norms = (multi_indices(3, 5, q) ** q).sum(axis=1) ** (1 / q)
        assert norms.max() == pytest.approx(5, rel=1e-9)
        assert [0, 0, 5] in multi_indices(3, 5, q).tolist()


def test_a_polynomial_is_its_own_surrogate() -> None:
    points = design(ABC, 64)
    found = fit_surrogate(ABC, points, cubic(points))
    assert found.chosen == ((3, 1.0), (2, 0.75), (1, 1.0))
    assert not found.logarithmic.any()
    others = design(ABC, 50, "latin-hypercube")
    assert found.predict(others) == pytest.approx(cubic(others), abs=1e-10)
    assert found.holdout_error(others, cubic(others)).maximum.max() < 1e-10
    # 3 + abc - b^3/2, with b^3 = 3/5 P1 + 2/5 P3
    at = found.indices.tolist()
    for row, value in (([0, 0, 0], 3.0), ([1, 1, 1], 1.0), ([0, 1, 0], -0.3), ([0, 3, 0], -0.2)):
        assert found.coefficients[at.index(row), 0] == pytest.approx(value, abs=1e-12)


@for_each("logarithmic", [False, True])
def test_the_leave_one_out_error_is_that_of_fits_without_each_point(logarithmic: bool) -> None:
    points = design(NETWORK, 40)
    times = allgather(points)
    found = fit_surrogate(
        NETWORK,
        points,
        times,
        degrees=(2,),
        hyperbolic=(1.0,),
        transform="log" if logarithmic else "none",
    )
    basis = polynomial_values(NETWORK.to_unit(points), multi_indices(4, 2))
    targets = np.log(times) if logarithmic else times
    errors = np.empty_like(times)
    for n in range(40):
        rest = np.arange(40) != n
        predicted = basis[n] @ np.linalg.lstsq(basis[rest], targets[rest])[0]
        errors[n] = (np.exp(predicted) if logarithmic else predicted) / times[n] - 1
    # 15 terms and 40 points: rounding by their condition number, far below 1e6
    assert found.loo_error == pytest.approx(np.sqrt((errors**2).mean(axis=0)), rel=1e-9)


def test_an_exponential_is_fitted_by_its_logarithm() -> None:
    points = design(ABC, 64)
    times = np.exp(3 * points[:, :1] + points[:, 1:2] * points[:, 2:])
    auto = fit_surrogate(ABC, points, np.hstack([times, times - 30]))
    assert auto.logarithmic.tolist() == [True, False]  # the second has no logarithm
    assert auto.chosen[0][0] == 2
    assert auto.loo_error[0] < 1e-10
    assert auto.predict(points)[:, 0] == pytest.approx(times[:, 0], rel=1e-10)
    plain = fit_surrogate(ABC, points, times, transform="none")
    assert plain.loo_error[0] > 0.01


def test_a_network_is_predicted_within_the_paper_s_one_percent(network: Surrogate) -> None:
    others = design(NETWORK, 100, "latin-hypercube", seed=9)
    error = network.holdout_error(others, allgather(others))
    assert error.maximum.max() < 0.01
    assert (error.rms < error.maximum).all()
    assert network.loo_error.max() < 0.005


def test_the_kernel_is_the_sum_of_products_of_legendre_polynomials(network: Surrogate) -> None:
    rng = np.random.default_rng(0)
    x = rng.uniform(-1, 1, (20, 4))
    indices = multi_indices(4, 5)
    coefficients = rng.normal(size=(len(indices), 3))
    logarithmic = np.array([False, True, False])
    out = np.empty((20, 3))
    predict_many(x, indices, coefficients, logarithmic, 5, out)
    wanted = np.zeros((20, 3))
    for row, row_coefficients in zip(indices, coefficients, strict=True):
        product = np.ones(20)
        for i, degree in enumerate(row):
            product *= legval(x[:, i], [0] * degree + [1])
        wanted += product[:, None] * row_coefficients
    wanted[:, 1] = np.exp(wanted[:, 1])
    # 126 terms of size 1; an exponent near 30 magnifies its rounding
    assert out == pytest.approx(wanted, rel=1e-11, abs=1e-12)
    assert network.predict_unit(x[0]) == pytest.approx(network.predict_unit(x)[0], rel=1e-15)


def test_predictions_have_the_shape_of_the_values(network: Surrogate) -> None:
    values = design(NETWORK, 24)
    flat = network.predict(values)
    assert flat.shape == (24, 6)
    assert network.predict(values[0]).shape == (6,)
    assert np.array_equal(network.predict(values.reshape(2, 3, 4, 4)).reshape(24, 6), flat)
    assert network.predict(values[:0]).shape == (0, 6)
    assert np.array_equal(network.predict_unit(NETWORK.to_unit(values)), flat)


def test_a_surrogate_is_the_same_after_json_and_on_disk(network: Surrogate, tmp_path: Path) -> None:
    values = design(NETWORK, 10)
    read = Surrogate.from_dict(json.loads(json.dumps(network.to_dict())))
    loaded = Surrogate.load(network.save(tmp_path / "surrogate.json"))
    for other in (read, loaded):
        assert other.box == network.box
        assert other.chosen == network.chosen
        assert other.loo_error.tolist() == network.loo_error.tolist()
        assert np.array_equal(other.predict(values), network.predict(values))
    assert repr(network) == repr(read)
    with pytest.raises(ParameterError, match="must have all its attributes"):
        Surrogate.from_dict({"box": NETWORK.to_dict()})
    with pytest.raises(ParameterError, match="loo_error must have the shape"):
        Surrogate.from_dict(network.to_dict() | {"loo_error": []})


def test_a_surrogate_lists_its_tests(network: Surrogate) -> None:
    frame = network.to_frame()
    assert list(frame.columns) == ["test", "degree", "q", "transform", "loo_error"]
    assert len(frame) == network.tests == 6
    assert repr(network).startswith("Surrogate(max bandwidth, link bandwidth, injection latency")


def test_values_outside_the_box_are_refused(network: Surrogate) -> None:
    outside = design(NETWORK, 3)
    outside[1, 2] = 4e-6
    with pytest.raises(
        ParameterError, match="injection latency must be from 5e-07 to 3e-06 s"
    ) as e:
        network.predict(outside)
    assert "got 4e-06 s in row 1; fit a surrogate in a wider box" in str(e.value)
    with pytest.raises(ParameterError, match="got nan"):
        network.predict_unit([0, 0, 0, np.nan])
    with pytest.raises(ParameterError, match="coordinates must have 4 columns"):
        network.predict_unit([0.0, 0.0])


def test_runs_that_cannot_be_fitted_are_refused(network: Surrogate) -> None:
    points = design(ABC, 32)
    times = cubic(points)
    broken = times.copy()
    broken[7, 1] = np.nan
    with pytest.raises(ParameterError, match="row 7, test 1 is nan"):
        fit_surrogate(ABC, points, broken)
    with pytest.raises(ParameterError, match="row for each run"):
        fit_surrogate(ABC, points, times[:-1])
    with pytest.raises(ParameterError, match="above 0 for transform='log'; row"):
        fit_surrogate(ABC, points, times - 4, transform="log")
    with pytest.raises(ParameterError, match="points must be at least 6 different ones"):
        fit_surrogate(ABC, points[:5], times[:5])
    with pytest.raises(ParameterError, match="did you mean log"):
        fit_surrogate(ABC, points, times, transform="logs")  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="degrees and hyperbolic"):
        fit_surrogate(ABC, points, times, degrees=())
    with pytest.raises(ParameterError, match="column for each of the 6 tests; got 3"):
        network.holdout_error(design(NETWORK, 32), times)
    with pytest.raises(ParameterError, match="at most 20000 terms"):
        multi_indices(40, 5)


def test_points_on_a_coarse_grid_determine_only_low_degrees() -> None:
    points = design(ABC, 3, "grid")
    x = ABC.to_unit(points)
    assert LegendreBasis.at(x, multi_indices(3, 2)).determined
    for rows in ([[0, 0, 0], [1, 0, 0], [3, 0, 0]], [[n, 0, 0] for n in range(30)]):
        assert not LegendreBasis.at(x, np.array(rows)).determined
    found = fit_surrogate(ABC, points, cubic(points))
    assert max(degree for degree, _ in found.chosen) <= 2
