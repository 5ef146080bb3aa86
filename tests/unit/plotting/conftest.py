from __future__ import annotations

import numpy as np
import pytest

from workbench import datasets
from workbench.fit import FitResult, FitStudy
from workbench.measure import OSUCurve, Spread
from workbench.provenance import Provenance
from workbench.study import StudyPlan, StudyResult, run

SIZES = np.array([1, 512, 8192, 1 << 20])


@pytest.fixture
def measured() -> OSUCurve:
    latency = np.array([1e-6, 2e-6, 4e-6, 100e-6])
    bandwidth = np.array([4e6, np.nan, 10e9, 20e9])
    spread = Spread(
        latency * 0.5, latency * 0.9, latency, latency * 1.1, latency * 3, np.full(4, 84)
    )
    about = Provenance("published", "A machine", "doi:10/x", "MIT", {"statistic": "median"})
    return OSUCurve("a-machine", SIZES, latency, bandwidth, about, latency_spread=spread)


@pytest.fixture
def simulated() -> OSUCurve:
    latency = np.array([1e-6, 4e-6, 5e-6, 50e-6])
    bandwidth = np.array([8e6, 1e9, 10e9, 10e9])
    return OSUCurve("sim", SIZES, latency, bandwidth, Provenance("simulated", "SNAPPR"))


MACHINES = ("azure-hb96v3-hdr", "llnl-dane-omnipath")


@pytest.fixture(scope="session")
def study(tmp_path_factory: pytest.TempPathFactory) -> StudyResult:
    """Real fits, short ones: two machines, three losses of which two rank alike, three targets."""
    plan = StudyPlan(
        "small",
        MACHINES,
        losses=("rmsre", "rmspe", "mae"),
        targets=("both", "latency", "bandwidth"),
        models=("logp",),
        trials=15,
    )
    return run(plan, tmp_path_factory.mktemp("study") / "small.db", workers=1)


@pytest.fixture(scope="session")
def fits() -> tuple[FitResult, FitResult]:
    """A LogP and a SNAPPR of one machine, fitted over all sizes."""
    curve = datasets.load(MACHINES[0])
    return FitStudy(curve, "logp").run(10), FitStudy(curve, "snappr").run(4)
