"""The stall curve that ships: fitted to the packet simulator by ``fit_stall_curve``."""

from __future__ import annotations

from functools import cache

from workbench.datasets import data_folder
from workbench.variability.world.stall_curve import StallCurve

SHIPPED = data_folder() / "variability" / "stall-curve" / "curve.json"


@cache
def shipped_stall_curve() -> StallCurve:
    """Return the curve that was fitted to the packet simulator."""
    return StallCurve.load(SHIPPED)
