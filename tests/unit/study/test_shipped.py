"""What ships was computed by this simulator: each number again, from the values beside it."""

from __future__ import annotations

from pathlib import Path

import pytest

from workbench import datasets, machines
from workbench.fit import rmspe_by_target
from workbench.simulate import simulate_osu
from workbench.study import StudyPlan, shipped

ROOT = Path(__file__).resolve().parents[3]
STUDIES = sorted(path.parent.name for path in (ROOT / "datasets" / "studies").glob("*/plan.yaml"))

# Errors are ratios of doubles that were summed in the same order; only the platform's rounding of
# a power or a root may differ.
ROUNDING = 1e-9


@pytest.mark.parametrize("cells", [12, pytest.param(10**6, marks=pytest.mark.deep)])
@pytest.mark.parametrize("name", STUDIES)
def test_cells_of_a_shipped_study_have_the_errors_of_their_values(name: str, cells: int) -> None:
    result = shipped(name)
    assert result.plan == StudyPlan.from_yaml(ROOT / "datasets" / "studies" / name / "plan.yaml")
    assert len(result) == len(result.plan.cells())
    for cell in list(result)[:: max(1, len(result) // cells)]:
        assert cell.status == "done"
        assert cell.trials == result.plan.trials
        assert rmspe_by_target(cell.simulated(), cell.measured()) == pytest.approx(
            cell.rmspe, rel=ROUNDING, nan_ok=True
        )


def test_every_shipped_machine_has_a_profile_with_the_errors_of_its_model() -> None:
    assert set(machines.shipped()) == set(datasets.list().names)
    for machine in machines.shipped():
        profile = machines.load(machine)
        curve = datasets.load(machine)
        simulated = simulate_osu(profile.model, curve.sizes)
        assert rmspe_by_target(simulated, curve) == pytest.approx(profile.rmspe, rel=ROUNDING)
        assert profile.loggps.L > 0
        assert profile.model.get("eager.max_size") == profile.loggps.S
