from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from bokeh.models import Div

from tests.unit.uq.simulators import NETWORK, FloatArray, allgather, unit_box
from workbench.errors import ParameterError
from workbench.plotting import describe_sobol
from workbench.uq import (
    Parameter,
    ParameterBox,
    SobolIndices,
    Surrogate,
    design,
    fit_surrogate,
    sobol_indices,
)

ANGLES = ParameterBox([Parameter(n, "", -np.pi, np.pi) for n in ("x", "y", "z")])
AB = unit_box("a", "b")


def ishigami(x: FloatArray) -> FloatArray:
    a, b, c = x.T
    return np.stack([np.sin(a) + 7 * np.sin(b) ** 2 + 0.1 * c**4 * np.sin(a)], axis=1)


def fitted(box: ParameterBox, points: FloatArray, times: FloatArray, degree: int) -> Surrogate:
    return fit_surrogate(box, points, times, degrees=(degree,), hyperbolic=(1.0,))


def test_the_ishigami_function_has_its_analytic_indices() -> None:
    points = design(ANGLES, 1024)
    surrogate = fitted(ANGLES, points, ishigami(points), 12)
    found = sobol_indices(surrogate)
    variances = {
        "x": 0.5 * (1 + 0.1 * np.pi**4 / 5) ** 2,
        "y": 7**2 / 8,
        "xz": 0.1**2 * np.pi**8 * (1 / 18 - 1 / 50),
    }
    whole = sum(variances.values())
    first = [variances["x"] / whole, variances["y"] / whole, 0]
    total = [first[0] + variances["xz"] / whole, first[1], variances["xz"] / whole]
    # sines cut off at degree 12
    assert found.first[0] == pytest.approx(first, abs=1e-3)
    assert found.total[0] == pytest.approx(total, abs=1e-3)
    assert found.second[0, 0, 2] == pytest.approx(variances["xz"] / whole, abs=1e-3)
    assert np.array_equal(found.second, found.second.transpose(0, 2, 1))
    assert not found.projected.any()


def test_the_mean_does_not_count_and_shares_add_up() -> None:
    points = design(AB, 32)
    a, b = points.T
    times = np.stack([1000 + 3 * a + 2 * b, 1000 + a + b + 3 * a * b, 5 + 0 * a], axis=1)
    found = sobol_indices(fit_surrogate(AB, points, times, transform="none"))
    assert found.first[0] == pytest.approx([9 / 13, 4 / 13], abs=1e-9)
    assert found.total[0] == pytest.approx([9 / 13, 4 / 13], abs=1e-9)
    # variances 1/3, 1/3 and 9/9
    assert found.first[1] == pytest.approx([0.2, 0.2], abs=1e-9)
    assert found.total[1] == pytest.approx([0.8, 0.8], abs=1e-9)
    assert found.second[1] == pytest.approx(np.array([[0, 0.6], [0.6, 0]]), abs=1e-9)
    assert np.isnan(found.first[2]).all()
    assert np.isnan(found.total[2]).all()


def test_of_a_logarithmic_surrogate_the_indices_are_those_of_the_time() -> None:
    points = design(AB, 64)
    s, t = 1.5, 1.0
    times = np.exp(s * points[:, :1] + t * points[:, 1:])
    surrogate = fit_surrogate(AB, points, np.hstack([times, times]))
    assert surrogate.logarithmic.all()
    found = sobol_indices(surrogate)
    assert found.projected.all()

    def relative_variance(k: float) -> float:
        """Return Var(exp(k u)) / E(exp(k u))^2 for u uniform over -1 to 1."""
        return float((np.sinh(2 * k) / (2 * k)) / (np.sinh(k) / k) ** 2 - 1)

    v, w = relative_variance(s), relative_variance(t)
    whole = v + w + v * w
    # polynomials of degree 5 in place of exponentials
    assert found.first[1] == pytest.approx([v / whole, w / whole], abs=1e-4)
    assert found.second[0, 0, 1] == pytest.approx(v * w / whole, abs=1e-4)


def test_intervals_hold_the_indices_and_shrink_with_the_error() -> None:
    points = design(NETWORK, 60)
    times = allgather(points)
    widths = []
    for noise in (0.001, 0.05):
        noisy = times * np.exp(noise * np.random.default_rng(1).normal(size=times.shape))
        surrogate = fit_surrogate(NETWORK, points, noisy, degrees=(1, 2))
        found = sobol_indices(surrogate, points, noisy, refits=50)
        assert found.first_interval is not None and found.total_interval is not None
        low, high = found.first_interval
        assert found.first_interval.shape == (2, 6, 4)
        assert (low <= high).all()
        widths.append(float((high - low).mean()))
        again = sobol_indices(surrogate, points, noisy, 50)
        assert again.first_interval is not None
        assert np.array_equal(found.first_interval, again.first_interval)
        truth = sobol_indices(fit_surrogate(NETWORK, points, times, degrees=(1, 2))).first
        largest = truth.argmax(axis=1)
        rows = np.arange(6)
        assert (low[rows, largest] - 0.02 <= truth[rows, largest]).all()
        assert (truth[rows, largest] <= high[rows, largest] + 0.02).all()
    assert widths[0] < 0.5 * widths[1]  # the error of degree 2 remains


def test_refits_need_the_runs_of_the_surrogate() -> None:
    points = design(AB, 32)
    times = 3 + points[:, :1] * points[:, 1:]
    surrogate = fit_surrogate(AB, points, times)
    with pytest.raises(ParameterError, match="points and times must be given for refits"):
        sobol_indices(surrogate, refits=10)
    for other in (times + points[:, :1], times[::-1], np.hstack([times, times])):
        with pytest.raises(ParameterError, match="must be those that the surrogate was fitted to"):
            sobol_indices(surrogate, points, other, refits=10)


def test_indices_are_shown_and_saved(tmp_path: Path) -> None:
    points = design(NETWORK, 105)
    times = allgather(points)
    found = sobol_indices(fit_surrogate(NETWORK, points, times), points, times, refits=20)
    loaded = SobolIndices.load(found.save(tmp_path / "indices.json"))
    assert np.array_equal(loaded.second, found.second)
    assert loaded.first_interval is not None
    assert repr(loaded) == repr(found)
    frame = loaded.to_frame()
    assert len(frame) == 24
    assert list(frame.columns[2:]) == [
        "first",
        "total",
        "first_low",
        "first_high",
        "total_low",
        "total_high",
    ]
    assert "max bandwidth 0." in repr(found)
    constant = sobol_indices(fit_surrogate(NETWORK, points, np.full((105, 1), 2.0)))
    assert repr(constant) == "SobolIndices(1 tests; no time depends on a parameter)"


def test_correlated_inputs_are_named_with_what_to_use_instead(tmp_path: Path) -> None:
    points = design(NETWORK, 128)
    surrogate = fit_surrogate(NETWORK, points, allgather(points), degrees=(1, 2))
    alone = sobol_indices(surrogate, samples=NETWORK.sample(2000, 3))
    assert alone.warning == ""
    assert sobol_indices(surrogate, points, allgather(points)).warning == ""
    # As of a posterior: the data fix a sum of two parameters, and leave the others alone.
    rng = np.random.default_rng(5)
    x = rng.uniform(-0.9, 0.9, (500, 4))
    x[:, 2] = np.clip(-x[:, 0] + 0.05 * rng.standard_normal(500), -1, 1)
    found = sobol_indices(surrogate, samples=NETWORK.from_unit(x))
    ((a, b, correlation),) = found.correlated
    assert (a, b) == ("max bandwidth", "injection latency")
    assert correlation == pytest.approx(-0.99, abs=0.02)
    assert "max bandwidth with injection latency by -0.99" in found.warning
    assert "use shapley_effects(surrogate, samples)" in found.warning
    assert found.warning in repr(found)
    assert found.warning in describe_sobol(found)
    assert np.array_equal(found.first, alone.first)
    heads = [div.text for div in found.plot().select({"type": Div})]
    assert any("which they are not: inputs are correlated" in text for text in heads)
    again = SobolIndices.load(found.save(tmp_path / "indices.json"))
    assert again.warning == found.warning
    # A correlated design, of the surrogate itself.
    units = NETWORK.to_unit(points)
    units[:, 1] = 0.8 * units[:, 0] + 0.2 * units[:, 1]
    slanted = NETWORK.from_unit(units)
    fitted_there = fit_surrogate(NETWORK, slanted, allgather(slanted), degrees=(1,))
    designed = sobol_indices(fitted_there, slanted, allgather(slanted))
    assert designed.correlated[0][:2] == ("max bandwidth", "link bandwidth")
    both = sobol_indices(surrogate, samples=NETWORK.from_unit(x[:, [0, 0, 2, 2]]))
    assert "more pairs" in both.warning
    assert sobol_indices(surrogate, samples=points[:5]).correlated == ()
    fixed = NETWORK.from_unit(np.column_stack([x[:, :3], np.zeros(500)]))
    assert len(sobol_indices(surrogate, samples=fixed).correlated) == 1
