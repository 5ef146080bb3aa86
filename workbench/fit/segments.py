"""Where a measured curve breaks: message sizes in regimes, each a cost and a cost per byte."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from workbench.measure import OSUCurve

FloatArray = NDArray[np.float64]

_FEWEST = 2


@dataclass(frozen=True)
class Segment:
    """Consecutive sizes over which latency and bandwidth are nearly straight lines."""

    last: int  # largest size, bytes
    latency: tuple[float, float] | None  # (s, s/B) of a message; None if not measured
    interval: tuple[float, float] | None  # (s, s/B) between messages of a window


def segmentations(curve: OSUCurve, count: int, ways: int) -> list[tuple[Segment, ...]]:
    """Return the ``ways`` best cuts of a curve into segments, best first; none if too short."""
    sizes = curve.sizes.astype(np.float64)
    series = {"latency": curve.latency_s, "interval": sizes / curve.bandwidth_Bps}
    lines = {
        (name, i, j): _line(sizes[i:j], times[i:j])
        for name, times in series.items()
        for i in range(len(sizes))
        for j in range(i + 1, len(sizes) + 1)
    }

    def missed(edges: tuple[int, ...]) -> float:
        return sum(lines[name, i, j][1] for name in series for i, j in itertools.pairwise(edges))

    cuts = itertools.combinations(range(_FEWEST, len(sizes) - _FEWEST + 1), count - 1)
    possible = np.array([(0, *cut, len(sizes)) for cut in cuts], np.int64).reshape(-1, count + 1)
    possible = possible[(np.diff(possible) >= _FEWEST).all(axis=1)]
    # A cut within one size of a better one at every edge is left out.
    best: list[tuple[int, ...]] = []
    for edges in sorted(map(tuple, possible.tolist()), key=missed):
        if len(best) < ways and all(np.abs(np.subtract(edges, other)).max() > 1 for other in best):
            best.append(edges)
    return [
        tuple(
            Segment(int(curve.sizes[j - 1]), lines["latency", i, j][0], lines["interval", i, j][0])
            for i, j in itertools.pairwise(edges)
        )
        for edges in best
    ]


def _line(sizes: FloatArray, times: FloatArray) -> tuple[tuple[float, float] | None, float]:
    """Return the best a, b >= 0 of times = a + b sizes, and the squared relative error."""
    known = np.isfinite(times) & (times > 0)
    if not known.any():
        return None, 0.0
    a, b = 1.0 / times[known], sizes[known] / times[known]
    aa, ab, bb = float(a @ a), float(a @ b), float(b @ b)
    candidates = [(float(a.sum()) / aa, 0.0), (0.0, float(b.sum()) / bb)]
    determinant = aa * bb - ab * ab
    if determinant > 1e-12 * aa * bb:
        both = (
            (bb * float(a.sum()) - ab * float(b.sum())) / determinant,
            (aa * float(b.sum()) - ab * float(a.sum())) / determinant,
        )
        if min(both) >= 0.0:
            candidates.append(both)
    errors = [float(np.square(x * a + y * b - 1.0).sum()) for x, y in candidates]
    best = int(np.argmin(errors))
    return candidates[best], errors[best]
