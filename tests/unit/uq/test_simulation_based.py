"""Checks of the intervals themselves: right where the noise model is, and plainly wrong if not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.cases import for_each
from tests.unit.uq.ring import measured, ring
from workbench import tasks
from workbench.errors import ParameterError
from workbench.uq import CalibrationCheck, Replicas, simulation_based_calibration

SURROGATE, LIKE = ring(), measured()


def check(**options: Any) -> CalibrationCheck:
    return simulation_based_calibration(SURROGATE, LIKE, **{"datasets": 20, "seed": 1} | options)


@for_each("noise", ["relative", "hierarchical", "constant", "student-t"])
def test_intervals_of_the_right_noise_model_cover(noise: str, tmp_path: Path) -> None:
    found = check(noise=noise)
    assert found.calibrated, found.verdict
    assert found.verdict.startswith("calibrated: 90 % intervals covered")
    low, high = found.band
    assert 0.6 < low < 0.9 < high <= 1.0
    assert found.unconverged <= 2
    again = CalibrationCheck.load(found.save(tmp_path / "check.json"))
    assert again.verdict == found.verdict


def test_relative_noise_fitted_by_one_sigma_is_found_out() -> None:
    found = check(noise="relative", fitted="constant")
    assert not found.calibrated
    assert found.verdict.startswith("not calibrated")
    frame = found.to_frame().set_index("quantity")
    assert frame["coverage"]["512 nodes, 32 KB"] < 0.75
    assert frame["coverage"]["128 nodes, 8 KB"] == 1.0
    assert frame["kind"]["512 nodes, 32 KB"] == "further test"
    assert "s" not in frame.index


def test_a_discrepancy_fitted_as_noise_is_found_out() -> None:
    found = check(noise="hierarchical", fitted="relative")
    assert not found.calibrated
    assert found.coverage[:4].min() < found.band[0]


def test_datasets_do_not_depend_on_threads_and_a_stop_keeps_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    whole = check(datasets=6, noise="gaussian-process", held_out=3)
    monkeypatch.setattr(tasks, "cores", lambda: 1)
    seen: list[tuple[int, int]] = []

    def report(now: tasks.Progress) -> None:
        seen.append((now.done, now.total))
        if now.done == 2:
            task.stop()

    task = tasks.Task(report)
    part = check(datasets=6, noise="gaussian-process", held_out=3, task=task)
    assert seen[:2] == [(1, 6), (2, 6)]
    assert 2 <= part.datasets < 6
    assert part.requested == 6
    np.testing.assert_array_equal(part.ranks, whole.ranks[: part.datasets])
    assert whole.quantities[-1] == LIKE.tests[3]


def test_bad_arguments_are_named() -> None:
    with pytest.raises(ParameterError, match="held_out must be at most 19"):
        check(held_out=20)
    with pytest.raises(ParameterError, match="level must be at most"):
        check(level=90)
    with pytest.raises(ParameterError, match="at least 2 tests"):
        simulation_based_calibration(SURROGATE, Replicas.of([[1.0]]))
    with pytest.raises(ParameterError, match="2; it predicts 20"):
        simulation_based_calibration(SURROGATE, Replicas.of([[1.0], [2.0]]))
