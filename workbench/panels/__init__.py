"""Panels for notebooks: what a button does is a method, what a slider holds is an attribute.

Each is a small program over the other sub-packages; nothing is computed here that they do not
offer to a script as well.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from workbench.panels.setup import setup

if TYPE_CHECKING:
    from workbench.panels.compare.panel import ComparePanel
    from workbench.panels.fit.explore import ExplorePanel
    from workbench.panels.fit.panel import FitPanel
    from workbench.panels.placement.panel import PlacementPanel
    from workbench.panels.regime.panel import RegimePanel
    from workbench.panels.replay.panel import ReplayPanel
    from workbench.panels.study.panel import StudyPanel
    from workbench.panels.tolerance.panel import TolerancePanel
    from workbench.panels.tuning.panel import TuningPanel
    from workbench.panels.tuning_study.panel import TuningStudyPanel

__all__ = [
    "ComparePanel",
    "ExplorePanel",
    "FitPanel",
    "PlacementPanel",
    "RegimePanel",
    "ReplayPanel",
    "StudyPanel",
    "TolerancePanel",
    "TuningPanel",
    "TuningStudyPanel",
    "setup",
]

_HOME = {
    "ComparePanel": "compare.panel",
    "ExplorePanel": "fit.explore",
    "FitPanel": "fit.panel",
    "PlacementPanel": "placement.panel",
    "RegimePanel": "regime.panel",
    "ReplayPanel": "replay.panel",
    "StudyPanel": "study.panel",
    "TolerancePanel": "tolerance.panel",
    "TuningPanel": "tuning.panel",
    "TuningStudyPanel": "tuning_study.panel",
}


def __getattr__(name: str) -> Any:
    # The cell that calls setup() should answer before the heavy imports of the panels begin.
    if name not in _HOME:
        raise AttributeError(f"module 'workbench.panels' has no attribute {name!r}")
    return getattr(import_module(f"workbench.panels.{_HOME[name]}"), name)
