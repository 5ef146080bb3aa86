"""How far a fit can be trusted: what the data show, what else would do, what holds beyond them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.lazy import lazy_exports

if TYPE_CHECKING:
    from workbench.fit.trust.bootstrap import Intervals, intervals, submit_intervals
    from workbench.fit.trust.generalise import (
        CrossTarget,
        HoldOut,
        cross_target,
        generalisation_table,
        hold_out,
    )
    from workbench.fit.trust.identify import Identifiability, identify
    from workbench.fit.trust.thresholds import settle_thresholds
else:
    __getattr__, __dir__ = lazy_exports(__name__)

__all__ = [
    "CrossTarget",
    "HoldOut",
    "Identifiability",
    "Intervals",
    "cross_target",
    "generalisation_table",
    "hold_out",
    "identify",
    "intervals",
    "settle_thresholds",
    "submit_intervals",
]
