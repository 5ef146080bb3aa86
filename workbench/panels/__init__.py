"""Panels for notebooks: what a button does is a method, what a slider holds is an attribute.

Each is a small program over the other sub-packages; nothing is computed here that they do not
offer to a script as well.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.lazy import lazy_exports
from workbench.panels.setup import setup as setup

if TYPE_CHECKING:
    from workbench.panels.compare.panel import ComparePanel as ComparePanel
    from workbench.panels.fit.explore import ExplorePanel as ExplorePanel
    from workbench.panels.fit.panel import FitPanel as FitPanel
    from workbench.panels.papers.panel import PapersPanel as PapersPanel
    from workbench.panels.placement.panel import PlacementPanel as PlacementPanel
    from workbench.panels.regime.panel import RegimePanel as RegimePanel
    from workbench.panels.replay.panel import ReplayPanel as ReplayPanel
    from workbench.panels.search_comparison.panel import (
        SearchComparisonPanel as SearchComparisonPanel,
    )
    from workbench.panels.session.opening import open_session as open_session
    from workbench.panels.session.session import Session as Session, read_session as read_session
    from workbench.panels.study.panel import StudyPanel as StudyPanel
    from workbench.panels.tuning.panel import TuningPanel as TuningPanel
    from workbench.panels.uq.panel import UncertaintyPanel as UncertaintyPanel
    from workbench.panels.validation.panel import ValidationPanel as ValidationPanel
    from workbench.panels.variability.blame_panel import BlamePanel as BlamePanel
    from workbench.panels.variability.forecast_panel import ForecastPanel as ForecastPanel
    from workbench.tolerance.panel import TolerancePanel as TolerancePanel
else:
    __getattr__, __dir__ = lazy_exports(__name__)
