"""Panels for notebooks: what a button does is a method, what a slider holds is an attribute.

Each is a small program over the other sub-packages; nothing is computed here that they do not
offer to a script as well.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from workbench.panels.setup import setup

if TYPE_CHECKING:
    from workbench.panels.explore_panel import ExplorePanel
    from workbench.panels.fit_panel import FitPanel

__all__ = ["ExplorePanel", "FitPanel", "setup"]


def __getattr__(name: str) -> Any:
    # The cell that calls setup() should answer before the heavy imports of the panels begin.
    if name == "FitPanel":
        from workbench.panels.fit_panel import FitPanel

        return FitPanel
    if name == "ExplorePanel":
        from workbench.panels.explore_panel import ExplorePanel

        return ExplorePanel
    raise AttributeError(f"module 'workbench.panels' has no attribute {name!r}")
