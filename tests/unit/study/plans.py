"""Small plans for the tests: LogP simulates in less than a millisecond."""

from __future__ import annotations

from typing import Any

from workbench.study import StudyPlan

MACHINES = ("azure-hb96v3-hdr", "llnl-dane-omnipath")


def small_plan(**changes: Any) -> StudyPlan:
    plan = StudyPlan(
        "small", MACHINES, losses=("rmsre", "mae"), targets=("both",), models=("logp",), trials=12
    )
    return plan.replace(**changes)
