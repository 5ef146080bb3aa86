"""The protocol model is found again from its own curve, thresholds included."""

from __future__ import annotations

import numpy as np
import pytest

from workbench.fit import LOSSES, FitStudy, SearchSpace, fit
from workbench.fit.engines import FitProblem, Values
from workbench.fit.engines.least_squares import LeastSquaresEngine
from workbench.fit.initial_guess import StartPoint
from workbench.fit.losses import target_points
from workbench.measure import OSUCurve
from workbench.models import Protocol
from workbench.simulate import simulate_osu

TRUE = Protocol(
    short_max=64,
    eager_max=8192,
    short_latency=2.3e-6,
    short_overhead=3.1e-7,
    eager_latency=3.4e-6,
    eager_overhead=4.1e-7,
    eager_bandwidth=9e9,
    rendezvous_handshake=7e-6,
    rendezvous_bandwidth=17e9,
)


@pytest.fixture(scope="module")
def machine() -> OSUCurve:
    return simulate_osu(TRUE)


def test_a_protocol_machine_is_found_again(machine: OSUCurve) -> None:
    result = fit(machine, "protocol", engine="least-squares", trials=800)
    # the curve is exact; what is left is six digits and the last gain of the descent
    assert result.rmspe["joint"] < 0.1
    sizes = machine.sizes
    for key, true in (("short.max_size", 64), ("eager.max_size", 8192)):
        # any value between two measured sizes is the same threshold
        assert np.count_nonzero(sizes <= result.values[key]) == np.count_nonzero(sizes <= true)
    for key in ("short.latency", "eager.latency", "rendezvous.bandwidth"):
        assert result.values[key] == pytest.approx(TRUE.get(key), rel=0.05)


def search(machine: OSUCurve, first: list[StartPoint], trials: int) -> list[tuple[float, Values]]:
    """Loss and values of each trial."""
    space = SearchSpace.for_model(TRUE)
    measured = target_points(machine)
    loss = LOSSES["rmsre"]
    engine = LeastSquaresEngine(FitProblem(space, 0, first, measured, machine.sizes.tolist(), loss))
    seen = []
    for _ in range(trials):
        values = engine.propose()
        points = target_points(simulate_osu(TRUE.with_values(values), machine.sizes))
        seen.append((loss(points, measured), values))
        engine.tell(values, seen[-1][0], lambda points=points: points)
    return seen


def test_a_wrong_threshold_is_moved_to_where_it_belongs(machine: OSUCurve) -> None:
    own = {key: float(TRUE.get(key)) for key in SearchSpace.for_model(TRUE).keys}
    off = {**own, "short.max_size": 16.0, "eager.max_size": 32768.0}
    seen = search(machine, [off], 700)
    loss, values = min(seen, key=lambda pair: pair[0])
    assert seen[0][0] > 0.05
    # the pace is the slower of copy and wire: a descent may end in the crease between the two
    assert loss < 0.01
    assert 64 <= values["short.max_size"] < 128
    assert 8192 <= values["eager.max_size"] < 16384


def test_the_best_of_the_first_values_is_refined_first(machine: OSUCurve) -> None:
    own = {key: float(TRUE.get(key)) for key in SearchSpace.for_model(TRUE).keys}
    far = {**own, "short.latency": 5e-4, "eager.latency": 5e-4, "eager.bandwidth": 1e8}
    near = {**own, "short.latency": 2.2e-6}
    seen = search(machine, [far, near], 60)
    assert seen[0][1]["eager.latency"] == 5e-4
    assert seen[1][1]["short.latency"] == 2.2e-6
    assert all(
        values["eager.latency"] < 1e-4 for _, values in seen[1:13]
    )  # fresh slopes alone are 11


def test_simulations_that_are_cut_short_teach_nothing(machine: OSUCurve) -> None:
    study = FitStudy(machine, "protocol", engine="least-squares")
    study.run(20)
    proposed = study._search.propose()

    def cut_short() -> None:
        raise RuntimeError("cut short")

    with pytest.raises(RuntimeError, match="cut short"):
        study._search.tell(proposed, 1.0, cut_short)
    assert study._search.propose() == proposed
