"""Tables for runs that route as SST/macro's routers do, and so have none."""

from __future__ import annotations

import numpy as np

from kernels.fabric.routing import N_SETTINGS, Routes


def no_routes() -> Routes:
    """Return empty tables of ``kernels.fabric.routing``, of the types that its kernels take."""
    parts = dict.fromkeys(Routes._fields, np.zeros(0, np.int32))
    for name, shape, kind in (
        ("row", (0, 0), np.int32),
        ("hops", (0, 0), np.uint8),
        ("lane_step", (0,), np.int8),
        ("dimension", (0,), np.int8),
        ("wraps", (0,), np.int8),
        ("settings", (N_SETTINGS,), np.int64),
    ):
        parts[name] = np.zeros(shape, kind)
    return Routes(**parts)
