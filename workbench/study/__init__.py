"""Studies: many fits as one plan, run side by side; they can be stopped, resumed and watched.

plan = StudyPlan("which-loss", ["azure-hb96v3-hdr", "llnl-dane-omnipath"], trials=500)
result = run(plan, "which-loss.db")
result.select(target="both").table()    # RMSPE in percent, loss by machine
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.lazy import lazy_exports

if TYPE_CHECKING:
    from workbench.study.archive import shipped
    from workbench.study.cell import Cell, CellProgress, CellResult
    from workbench.study.findings import findings
    from workbench.study.influence import Influence, influence, submit_influence
    from workbench.study.model_choice import ModelChoice
    from workbench.study.plan import StudyPlan
    from workbench.study.result import StudyResult
    from workbench.study.run import run, submit
    from workbench.study.status import StudyStatus, status
else:
    __getattr__, __dir__ = lazy_exports(__name__)

__all__ = [
    "Cell",
    "CellProgress",
    "CellResult",
    "Influence",
    "ModelChoice",
    "StudyPlan",
    "StudyResult",
    "StudyStatus",
    "findings",
    "influence",
    "run",
    "shipped",
    "status",
    "submit",
    "submit_influence",
]
