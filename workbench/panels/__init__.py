"""Panels for notebooks: what a button does is a method, what a slider holds is an attribute.

Each is a small program over the other sub-packages; nothing is computed here that they do not
offer to a script as well.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.lazy import lazy_exports
from workbench.panels.setup import setup

if TYPE_CHECKING:
    from workbench.panels.compare.panel import ComparePanel
    from workbench.panels.fit.explore import ExplorePanel
    from workbench.panels.fit.panel import FitPanel
    from workbench.panels.papers.panel import PapersPanel
    from workbench.panels.placement.panel import PlacementPanel
    from workbench.panels.regime.panel import RegimePanel
    from workbench.panels.replay.panel import ReplayPanel
    from workbench.panels.search_comparison.panel import SearchComparisonPanel
    from workbench.panels.session.opening import open_session
    from workbench.panels.session.session import Session, read_session
    from workbench.panels.study.panel import StudyPanel
    from workbench.panels.tolerance.panel import TolerancePanel
    from workbench.panels.tuning.panel import TuningPanel
    from workbench.panels.uq.panel import UncertaintyPanel
    from workbench.panels.validation.panel import ValidationPanel
    from workbench.panels.variability.blame_panel import BlamePanel
    from workbench.panels.variability.forecast_panel import ForecastPanel
else:
    __getattr__, __dir__ = lazy_exports(__name__)

__all__ = [
    "BlamePanel",
    "ComparePanel",
    "ExplorePanel",
    "FitPanel",
    "ForecastPanel",
    "PapersPanel",
    "PlacementPanel",
    "RegimePanel",
    "ReplayPanel",
    "SearchComparisonPanel",
    "Session",
    "StudyPanel",
    "TolerancePanel",
    "TuningPanel",
    "UncertaintyPanel",
    "ValidationPanel",
    "open_session",
    "read_session",
    "setup",
]
