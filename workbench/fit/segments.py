"""Where a measured curve breaks: regimes of message sizes, each with costs of its own."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from workbench.arrays import FloatArray
from workbench.measure import OSUCurve

_FEWEST = 2  # sizes in a segment; one alone would fit whatever it is
_WINDOW = 64  # messages that osu_bw has under way at once, its default
_COSTS = 4  # of a segment
_REPEATABLE = 0.01
"""Relative error below which a better fit says nothing about regimes: half the middle half of the
runs is 0.6 to 0.7 % of their median latency on the quietest shipped machines (azure-hb96v3-hdr,
gcp-c2d-ethernet-gke; ``datasets.load(name).latency_spread``, the median over the sizes)."""


@dataclass(frozen=True)
class Segment:
    """Consecutive sizes s whose messages have the same costs.

    A message takes ``flight + 2 (overhead + copy s) + wire s``; of a window of many, one ends each
    ``overhead + copy s`` or ``wire s``, whichever is longer.
    """

    last: int  # largest size, bytes
    flight: float  # s
    overhead: float  # s, of each host
    copy: float  # s/B, of each host
    wire: float  # s/B
    missed: float  # sum of the squares of the relative errors

    @property
    def constant(self) -> float:
        """What a message takes besides its bytes, s."""
        return self.flight + 2 * self.overhead


Cut = tuple[Segment, ...]


class Segments:
    """All segments of a curve, each with the costs at least 0 that fit it best."""

    def __init__(self, sizes: FloatArray, latency_s: FloatArray, each_s: FloatArray) -> None:
        self._n = len(sizes)
        self._points = int(np.isfinite([latency_s, each_s]).sum())
        self._segments = dict(_segments(sizes, latency_s, each_s))

    def cuts(self, count: int, ways: int = 1) -> list[Cut]:
        """Return the ``ways`` best cuts into ``count`` segments, best first; none if too short."""
        cuts = itertools.combinations(range(_FEWEST, self._n - _FEWEST + 1), count - 1)
        possible = np.array([(0, *cut, self._n) for cut in cuts], np.int64).reshape(-1, count + 1)
        possible = possible[(np.diff(possible) >= _FEWEST).all(axis=1)]
        missed = np.zeros((self._n + 1, self._n + 1))
        for edges, segment in self._segments.items():
            missed[edges] = segment.missed
        order = np.argsort(missed[possible[:, :-1], possible[:, 1:]].sum(axis=1), kind="stable")
        return [
            tuple(self._segments[i, j] for i, j in itertools.pairwise(edges))
            for edges in possible[order[:ways]].tolist()
        ]

    def shows(self, count: int) -> bool:
        """Return whether the curve shows ``count`` regimes rather than one less.

        By Bayes's information criterion, in which a segment counts for its costs and its edge.
        """
        more, fewer = self.cuts(count), self.cuts(count - 1)
        if not more or not fewer:
            return False
        squares = [sum(part.missed for part in cut) for cut in (more[0], fewer[0])]
        noise = self._points * _REPEATABLE**2
        gain = self._points * math.log((squares[1] + noise) / (squares[0] + noise))
        return gain > (_COSTS + 1) * math.log(self._points)


def segments_of(curve: OSUCurve) -> Segments:
    """Return the segments of a curve; for one whose numbers were seen just now, the same ones."""
    each_s = curve.sizes / curve.bandwidth_Bps
    return _of_numbers(*(tuple(x.tolist()) for x in (curve.sizes, curve.latency_s, each_s)))


@lru_cache(maxsize=4)  # a fit asks twice, its panel once more
def _of_numbers(*columns: tuple[float, ...]) -> Segments:
    return Segments(*(np.array(column, np.float64) for column in columns))


def _segments(
    sizes: FloatArray, latency: FloatArray, each: FloatArray
) -> Iterator[tuple[tuple[int, int], Segment]]:
    """Yield the segments from size i up to size j, by (i, j)."""
    one, none = np.ones(len(sizes)), np.zeros(len(sizes))
    # Seconds for each unit of flight, overhead, copy and wire: of a message, and of a window's
    # messages where the host or the wire is slower. A window ends with a short message.
    way = np.stack([one, 2 * one, 2 * sizes, sizes], axis=1)
    paced = [
        np.stack([none, one, sizes, none], axis=1),
        np.stack([none, none, none, sizes], axis=1),
    ]
    host, wire = ((way + (_WINDOW - 1) * pace) / _WINDOW for pace in paced)
    known = np.isfinite(latency)
    reply = latency[known][0] / _WINDOW if known.any() else 0.0
    # Divided by what was measured, so that the squares are of relative errors.
    way, host, wire = way / latency[:, None], host / each[:, None], wire / each[:, None]
    wanted = (each - reply) / each
    for i in range(len(sizes)):
        for j in range(i + _FEWEST, len(sizes) + 1):
            alone, window = (i + np.flatnonzero(np.isfinite(t[i:j])) for t in (latency, each))
            best = min(
                (
                    _fitted(way[alone], host[window], wire[window], wanted[window], slower)
                    for slower in range(len(window) + 1)
                ),
                key=lambda found: found[-1],
            )
            yield (i, j), Segment(int(sizes[j - 1]), *best)


def _fitted(
    way: FloatArray, host: FloatArray, wire: FloatArray, wanted: FloatArray, slower: int
) -> tuple[float, float, float, float, float]:
    """Return the costs and what they miss, the host being slower up to a size, the wire above."""
    from scipy.optimize import nnls

    matrix = np.vstack([way, host[:slower], wire[slower:]])
    right = np.concatenate([np.ones(len(way)), wanted])
    scale = np.linalg.norm(matrix, axis=0)
    scale[scale == 0.0] = 1.0
    costs = nnls(matrix / scale, right)[0] / scale
    window = np.maximum(host @ costs, wire @ costs)
    missed = np.concatenate([way @ costs - 1.0, window - wanted])
    flight, overhead, copied, wired = costs.tolist()
    return flight, overhead, copied, wired, float(missed @ missed)
