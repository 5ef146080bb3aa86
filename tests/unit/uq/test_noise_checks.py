"""Checks of several noise models in one figure."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from bokeh.models import ColumnDataSource

from tests.unit.uq.ring import measured, ring
from workbench.errors import ParameterError
from workbench.plotting import describe_noise_checks
from workbench.tasks import Task
from workbench.uq import NoiseChecks, check_noise_models, simulation_based_calibration

PAIRS = (("relative", "relative"), ("relative", "constant"))


@pytest.fixture(scope="module")
def checks() -> NoiseChecks:
    return check_noise_models(ring(), measured(), PAIRS, datasets=20, seed=1)


def test_each_check_is_that_of_its_pair(checks: NoiseChecks, tmp_path: Path) -> None:
    alone = simulation_based_calibration(
        ring(), measured(), noise="relative", fitted="constant", datasets=20, seed=1
    )
    np.testing.assert_array_equal(checks.of("relative", "constant").ranks, alone.ranks)
    assert checks.of("relative").fitted == "relative"
    assert checks.of("relative").coverage.min() > checks.of("relative", "constant").coverage.min()
    with pytest.raises(ParameterError, match="relative fitted by relative, relative fitted by con"):
        checks.of("student-t")
    assert checks.to_frame()["fitted"].tolist() == ["relative", "constant"]
    again = NoiseChecks.load(checks.save(tmp_path / "checks.json"))
    assert again.to_frame().equals(checks.to_frame())


def test_the_figure_has_a_row_a_pair_and_its_points(checks: NoiseChecks) -> None:
    layout = checks.plot()
    sources = {one.name: one.data for one in layout.select({"type": ColumnDataSource})}
    points = sources["next replica"]
    right, wrong = (points["row"] < 0.5, points["row"] > 0.5)
    kinds = np.array(checks.checks[0].kinds) == "next replica"
    np.testing.assert_allclose(points["coverage"][right], 100 * checks.checks[0].coverage[kinds])
    assert right.sum() == wrong.sum() == kinds.sum()
    text = describe_noise_checks(checks)
    assert text.startswith("Within chance: relative.")
    assert "Relative data fitted by constant: " in text


def test_a_stop_keeps_finished_pairs_and_progress_counts_all() -> None:
    seen: list[tuple[int, int]] = []
    task = Task(lambda now: seen.append((now.done, now.total)))
    check_noise_models(ring(), measured(), PAIRS, datasets=2, task=task)
    assert seen == [(1, 4), (2, 4), (3, 4), (4, 4)]
    with pytest.raises(ParameterError, match="pairs must not be empty"):
        check_noise_models(ring(), measured(), ())
