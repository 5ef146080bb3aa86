"""Studies: many fits as one plan, run side by side; they can be stopped, resumed and watched.

plan = StudyPlan("which-loss", ["azure-hb96v3-hdr", "llnl-dane-omnipath"], trials=500)
result = run(plan, "which-loss.db")
result.select(target="both").table()    # RMSPE in percent, loss by machine
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.lazy import lazy_exports

if TYPE_CHECKING:
    from workbench.study.archive import shipped as shipped
    from workbench.study.cell import (
        Cell as Cell,
        CellProgress as CellProgress,
        CellResult as CellResult,
    )
    from workbench.study.findings import findings as findings
    from workbench.study.influence import (
        Influence as Influence,
        influence as influence,
    )
    from workbench.study.model_choice import ModelChoice as ModelChoice
    from workbench.study.plan import StudyPlan as StudyPlan
    from workbench.study.result import StudyResult as StudyResult
    from workbench.study.run import run as run
    from workbench.study.status import StudyStatus as StudyStatus, status as status
else:
    __getattr__, __dir__ = lazy_exports(__name__)
