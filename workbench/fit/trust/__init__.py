"""How far a fit can be trusted: what the data show, what else would do, what holds beyond them."""

from __future__ import annotations

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
