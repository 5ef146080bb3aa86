"""Calibrated collectives carried on: shapes compared, and the size where algorithms change."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from workbench.errors import ParameterError
from workbench.uq import PushedCrossover, carry, noise_model
from workbench.uq.collectives import (
    CollectiveCalibration,
    CollectiveTest,
    MeasuredCollective,
    calibrate_collective,
)
from workbench.uq.collectives.models import RoundModel

pytestmark = pytest.mark.usefixtures("short_chains")

TRUTH = np.array([2e-6, 3e-7, 5e-6, 8192.0, 6e9, 1.2, 0.5, 0.3, 0.1, 1e9])
SIZES = (64, 1024, 16384, 262144, 4194304)
SHAPES = {8: (2, 2, 2), 64: (4, 4, 4)}


def calibrated(algorithm: str, noise: str = "relative") -> CollectiveCalibration:
    """Return a short calibration to times of an allreduce with 1 % of noise."""
    tests = tuple(CollectiveTest(n, size, 1, SHAPES[n]) for n in SHAPES for size in SIZES)
    times = RoundModel("allreduce", algorithm).times(TRUTH[None], tests)[0]
    rng = np.random.default_rng(3)
    replicas = tuple(time * np.exp(0.01 * rng.standard_normal(4)) for time in times)
    measured = MeasuredCollective("toy", "allreduce", algorithm, tests, replicas)
    return calibrate_collective(
        measured, model=f"rounds:{algorithm}", noise=noise, chains=2, draws=100, burn_in=200
    )


@pytest.fixture(scope="module")
def ring() -> CollectiveCalibration:
    return calibrated("ring")


@pytest.fixture(scope="module")
def doubling() -> CollectiveCalibration:
    return calibrated("recursive-doubling", "gaussian-process")


def at_truth(found: CollectiveCalibration) -> CollectiveCalibration:
    """Return a calibration whose draws are all the truth, under noise without a discrepancy."""
    posterior = found.posterior
    return replace(
        found,
        posterior=replace(
            posterior,
            noise=noise_model("relative", posterior.replicas),
            hyper=np.full((posterior.chains, posterior.draws, 1), 0.01),
            parameters=np.broadcast_to(TRUTH, posterior.parameters.shape).copy(),
        ),
    )


def test_shapes_are_compared_by_the_model_itself(doubling: CollectiveCalibration) -> None:
    tests = [CollectiveTest(64, 4194304, 1, shape) for shape in ((4, 4, 4), (64,), (2, 2, 16))]
    exact = carry.compare_collective(at_truth(doubling), *tests, draws=3)
    times = RoundModel("allreduce", "recursive-doubling").times(TRUTH[None], tests)
    np.testing.assert_array_equal(exact.values, np.repeat(times, 3, axis=0))
    found = carry.compare_collective(doubling, *tests, draws=50)
    assert found.probabilities[tests[0].label] == 1.0
    assert found.origin is not None and "toy" in found.origin.provenance.caption()
    names = {"calibration": doubling, "CollectiveTest": CollectiveTest, **vars(carry)}
    assert eval(found.origin.python, names).to_json() == found.to_json()
    with pytest.raises(ParameterError, match="two tests to compare"):
        carry.compare_collective(doubling, tests[0])


def test_the_crossover_of_two_calibrations(
    ring: CollectiveCalibration, doubling: CollectiveCalibration, tmp_path: Path
) -> None:
    exact = carry.crossover_of_calibrations(
        at_truth(ring), at_truth(doubling), nodes=64, shape=(4, 4, 4), draws=2
    )
    size = int(exact.crossing[0])
    assert exact.crossing[1] == exact.fitted == size
    for at, faster in ((size - 1, False), (size, True)):
        test = [CollectiveTest(64, at, 1, (4, 4, 4))]
        times = [
            RoundModel("allreduce", name).times(TRUTH[None], test)[0, 0]
            for name in ("ring", "recursive-doubling")
        ]
        assert (times[0] < times[1]) == faster
    found = carry.crossover_of_calibrations(
        ring, doubling, nodes=64, shape=(4, 4, 4), draws=60, seed=1
    )
    assert found.above == "ring"
    low, high = found.to_frame([0.9]).loc[0, ["low (B)", "high (B)"]]
    assert low < size < high < 2 * low
    assert "gaussian-process" not in found.verdict
    names = {"first": ring, "second": doubling, **vars(carry)}
    assert eval(found.times.origin.python, names).to_json() == found.to_json()
    again = PushedCrossover.load(found.save(tmp_path / "found.json"))
    assert again.to_json() == found.to_json()
    with pytest.raises(ParameterError, match="one collective; got allreduce and bcast"):
        carry.crossover_of_calibrations(ring, replace(doubling, collective="bcast"), nodes=64)


def test_a_calibration_is_no_fit(ring: CollectiveCalibration) -> None:
    with pytest.raises(ParameterError, match="compare_collective"):
        carry.makespan(ring, "cg-8")  # type: ignore[arg-type]
