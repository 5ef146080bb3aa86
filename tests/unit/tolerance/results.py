"""Analyses without an analysis: curves of lines that are given."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np

from workbench.models import LogGPS
from workbench.provenance import Provenance
from workbench.tolerance.curve import LatencySensitivity

MODEL = LogGPS(L=1e-6, o=5e-7, g=0.0, G=1e-11, O=0.0, S=65536)


def from_lines(
    *lines: tuple[int, int],
    lo_ns: int = 1000,
    hi_ns: int = 20_000,
    percent: tuple[float, ...] = (1.0, 2.0, 5.0),
    **changes: Any,
) -> LatencySensitivity:
    """Return the analysis of T(L) = max over (intercept in ns, slope), ascending in slope."""
    bends = [Fraction(a1 - a2, s2 - s1) for (a1, s1), (a2, s2) in pairwise(lines)]
    inner = [float(x) for x in bends if lo_ns < x < hi_ns]
    corners = np.array([lo_ns, *inner, hi_ns], float) * 1e-9

    def T(L: float) -> float:
        return max(a * 1e-9 + s * L for a, s in lines)

    middle = (corners[:-1] + corners[1:]) / 2
    slopes = [max(lines, key=lambda line: line[0] * 1e-9 + line[1] * x)[1] for x in middle]
    base = T(lo_ns * 1e-9)

    def largest(p: float) -> float:
        bound = base * (1 + p / 100)
        return min((((bound - a * 1e-9) / s) for a, s in lines if s), default=math.inf)

    values: dict[str, Any] = {
        "source": "lines",
        "ranks": 2,
        "operations": 8,
        "messages": 3,
        "model": MODEL.replace(L=lo_ns * 1e-9),
        "T": base,
        "lambda_L_left": slopes[0],
        "lambda_L": slopes[0],
        "lambda_G": 400,
        "lambda_o": 6,
        "rho_L": lo_ns * 1e-9 * slopes[0] / base if base else 0.0,
        "tolerance": {p: largest(p) for p in percent},
        "corners": corners,
        "corner_T": np.array([T(x) for x in corners]),
        "slopes": np.array(slopes, np.int64),
        "critical_path": np.array([0, 4, 5], np.int64),
        "slack_ps": np.array([0, 1500], np.int64),
        "method": "sweep",
        "seconds": 0.25,
        "provenance": Provenance("simulated", "lines, LLAMP's semantics"),
    }
    return LatencySensitivity(**values | changes)
