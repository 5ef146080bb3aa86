"""Panels for notebooks: what a button does is a method, what a slider holds is an attribute.

Each is a small program over the other sub-packages; nothing is computed here that they do not
offer to a script as well.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from workbench.panels.setup import setup

if TYPE_CHECKING:
    from workbench.panels.compare_panel import ComparePanel
    from workbench.panels.explore_panel import ExplorePanel
    from workbench.panels.fit_panel import FitPanel
    from workbench.panels.placement_panel import PlacementPanel
    from workbench.panels.regime_panel import RegimePanel
    from workbench.panels.replay_panel import ReplayPanel
    from workbench.panels.study_panel import StudyPanel
    from workbench.panels.tolerance_panel import TolerancePanel
    from workbench.panels.tuning_panel import TuningPanel
    from workbench.panels.tuning_study_panel import TuningStudyPanel

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
    "ComparePanel": "compare_panel",
    "ExplorePanel": "explore_panel",
    "FitPanel": "fit_panel",
    "PlacementPanel": "placement_panel",
    "RegimePanel": "regime_panel",
    "ReplayPanel": "replay_panel",
    "StudyPanel": "study_panel",
    "TolerancePanel": "tolerance_panel",
    "TuningPanel": "tuning_panel",
    "TuningStudyPanel": "tuning_study_panel",
}


def __getattr__(name: str) -> Any:
    # The cell that calls setup() should answer before the heavy imports of the panels begin.
    if name not in _HOME:
        raise AttributeError(f"module 'workbench.panels' has no attribute {name!r}")
    return getattr(import_module(f"workbench.panels.{_HOME[name]}"), name)
