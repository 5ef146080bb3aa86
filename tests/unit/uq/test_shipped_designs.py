"""Designs that ship: the rows are what the simulator gives, and their surrogates are accurate."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.cases import for_each
from workbench.errors import DatasetError
from workbench.uq import (
    DesignPlan,
    design,
    design_comparison,
    fit_surrogate,
    shipped_design,
    shipped_designs,
)
from workbench.uq.collectives import HOPPER, validate_collective
from workbench.uq.collectives.gemini import BOX, GeminiCollective, paper_tests
from workbench.uq.collectives.gemini_fabric import FabricCollective
from workbench.uq.collectives.validation import HOLDOUT_POINTS, POINTS

ROOT = Path(__file__).resolve().parents[3] / "datasets" / "designs"
COUNTS = {"grid": {"allgather": 1296, "gather": 216, "scatter": 216}}
VARIED = {
    "allgather": ("Max BW", "Link BW", "Inj Lat", "Hop Lat"),
    "gather": ("Max BW", "Link BW", "Inj BW"),
    "scatter": ("Max BW", "Link BW", "Inj BW"),
}
KINDS = ("grid", "sobol", "flow-sobol")
NAMES = [f"{collective}-{kind}" for collective in VARIED for kind in KINDS]


@pytest.mark.parametrize("rows", [1, pytest.param(10**6, marks=pytest.mark.deep)])
@pytest.mark.parametrize("name", NAMES)
def test_rows_of_a_shipped_design_are_those_of_its_plan(name: str, rows: int) -> None:
    collective, _, kind = name.partition("-")
    runs = shipped_design(name)
    plan, held = runs.plan, runs.holdout
    assert plan == DesignPlan.from_yaml(ROOT / name / "plan.yaml")
    assert plan is not None
    assert held is not None
    assert (plan.name, runs.failed, runs.pending) == (name, (), 0)
    assert runs.provenance.origin == "simulated"
    assert len(runs.points) == COUNTS.get(kind, {}).get(collective, POINTS)
    assert runs.box.names == (VARIED[collective] if kind == "grid" else BOX.names)
    assert runs.tests == tuple(test.label for test in paper_tests(collective))
    assert len(held.points) == HOLDOUT_POINTS
    assert np.array_equal(runs.points, plan.design)
    assert np.array_equal(held.points, plan.holdout_design)
    # All rows are the simulator's to the last bit; make deep tries each. Fluid messages of an
    # allgather take a second for each.
    for each in (runs, held) if name != "allgather-flow-sobol" or rows > 1 else (held,):
        some = np.random.default_rng(0).permutation(len(each.points))[:rows]
        assert np.array_equal(plan.times(each.points[some]), each.times[some])


def test_all_shipped_designs_are_known() -> None:
    assert shipped_designs() == tuple(sorted(NAMES))
    with pytest.raises(DatasetError, match="did you mean gather-grid"):
        shipped_design("gather-gird")


@for_each("collective", [*VARIED])
def test_the_study_of_the_paper_reads_what_it_would_run(collective: str) -> None:
    """The rows of its design and of its hold-out are those of one sequence, as they ship."""
    runs = shipped_design(f"{collective}-sobol")
    assert runs.holdout is not None
    assert np.array_equal(runs.points, design(BOX, POINTS))
    assert np.array_equal(runs.holdout.points, design(BOX, HOLDOUT_POINTS, skip=POINTS))
    machine = GeminiCollective(collective, paper_tests(collective), HOPPER)
    assert np.array_equal(runs.times[:2], machine(runs.points[:2]))
    fluid = shipped_design(f"{collective}-flow-sobol")
    assert np.array_equal(fluid.points, runs.points)
    part = FabricCollective(collective, paper_tests(collective)[4:6], "flow")
    assert np.array_equal(fluid.times[3:4, 4:6], part(runs.points[3:4]))
    study = validate_collective(collective)
    expected = runs.surrogate(degrees=(1, 2, 3))
    assert study.surrogate.to_json() == expected.to_json()
    assert np.array_equal(study.holdout.maximum, runs.holdout_error(expected).maximum)
    # Fewer points and tests are the first ones; those of the hold-out follow them.
    tests = part.tests
    fewer = validate_collective(collective, model="flow", tests=tests, points=48)
    again = fit_surrogate(BOX, runs.points[:48], fluid.times[:48, 4:6], degrees=(1, 2, 3))
    assert fewer.surrogate.to_json() == again.to_json()
    error = again.holdout_error(runs.points[48:96], fluid.times[48:96, 4:6])
    assert np.array_equal(fewer.holdout.maximum, error.maximum)


def test_third_order_holds_the_paper_s_accuracy_with_fewer_runs() -> None:
    """Within 1 % at 100 points, as Wilke et al. report, from grids and from 256 points."""
    found = design_comparison()
    frame = found.to_frame()
    assert frame["terms"].tolist() == [35, 120, 120, 20, 120, 120, 20, 120, 120]
    assert frame["runs"].tolist() == [1296, 256, 256, 216, 256, 256, 216, 256, 256]
    assert (frame["largest error (%)"] < 1).all()
    assert (frame["rms error (%)"] < frame["largest error (%)"]).all()
    assert (frame["tests above 1 %"] == 0).all()
    assert "9 fits of allgather, scatter, gather" in repr(found)
    # By hand: the Sobol' surrogate at the first hold-out point of the grid.
    runs, grid = shipped_design("gather-sobol"), shipped_design("gather-grid")
    assert grid.plan is not None
    assert grid.holdout is not None
    surrogate = runs.surrogate(degrees=(3,), hyperbolic=(1.0,), transform="none")
    error = surrogate.predict(grid.plan.completed(grid.holdout.points)) / grid.holdout.times - 1
    assert found.largest[-1] == pytest.approx(np.abs(error).max(), rel=1e-9)
    worse = design_comparison(("gather",), degree=2)
    assert worse.largest[0] > found.largest[6]
