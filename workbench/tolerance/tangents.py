"""Where T(L) bends, and how much latency it tolerates, by tangents: exact, without a step.

T(L) is convex and made of lines with whole slopes and intercepts. Where two tangents meet there is
either a bend, or T lies above and has a line between them. Both are found by T at the two
picoseconds beside the meeting point, its steepest line at the one and its flattest at the other:
2 lanes a line and 2 a bend, 4 together. What lies between two neighbouring picoseconds is taken
for one bend.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from workbench.tolerance.sweep_passes import Side, TangentLine

LinesAt = Callable[[Sequence[tuple[int, Side]]], list[TangentLine]]


@dataclass(frozen=True)
class Bend:
    """A latency at which T changes its slope."""

    x_ps: Fraction
    left: TangentLine  # below it
    right: TangentLine  # above it


@dataclass(frozen=True)
class _Gap:
    """An interval, with the lines that T touches at its two ends."""

    x1: int
    line1: TangentLine
    x2: int
    line2: TangentLine

    @property
    def meeting(self) -> Fraction:
        return _meeting(self.line1, self.line2)


def bends(lines: LinesAt, lo_ps: int, hi_ps: int) -> list[Bend]:
    """Return all latencies inside an interval at which T changes its slope, ascending."""
    first, last = lines([(lo_ps, "right"), (hi_ps, "left")])
    found: list[Bend] = []
    gaps = [_Gap(lo_ps, first, hi_ps, last)]
    while gaps:
        open_gaps = [gap for gap in gaps if gap.line1 != gap.line2]
        remaining: list[_Gap] = []
        for gap in open_gaps:
            # A tangent of one end that goes through the other end is T in between.
            if gap.meeting in (gap.x1, gap.x2):
                found.append(Bend(gap.meeting, gap.line1, gap.line2))
            else:
                remaining.append(gap)
        points: list[tuple[int, Side]] = []
        for gap in remaining:
            tick, rest = divmod(gap.meeting.numerator, gap.meeting.denominator)
            if rest == 0:
                points += [(tick, "left"), (tick, "right")]
            else:
                points += [(tick, "right"), (tick + 1, "left")]
        tangents = lines(points) if points else []
        gaps = []
        for i, gap in enumerate(remaining):
            below, above = tangents[2 * i : 2 * i + 2]
            at_below, at_above = points[2 * i][0], points[2 * i + 1][0]
            if below != above:
                found.append(Bend(_meeting(below, above), below, above))
            gaps.append(_Gap(gap.x1, gap.line1, at_below, below))
            gaps.append(_Gap(at_above, above, gap.x2, gap.line2))
    return sorted(found, key=lambda bend: bend.x_ps)


def most_latencies(
    lines: LinesAt, base_ps: int, steepest: TangentLine, percents: Sequence[Fraction]
) -> list[int | None]:
    """Return for each percentage the largest latency in ps at which T exceeds its base by no more.

    None: T never gets so long. Tangents from above and chords from below bound the latency, for
    all percentages in the same passes.
    """
    base = lines([(base_ps, "right")])[0]
    T = base.at(base_ps)
    if steepest.slope == 0:
        return [None] * len(percents)
    searches = [_Search(int(T * (1 + p / 100)), base_ps, base, steepest) for p in percents]
    while open_searches := [search for search in searches if not search.done]:
        points = [point for search in open_searches for point in search.points()]
        tangents = iter(lines(points))
        for search in open_searches:
            search.learn([next(tangents) for _ in search.points()])
    return [search.low for search in searches]


class _Search:
    """The largest whole x with T(x) <= bound: between ``low``, where that holds, and ``high``."""

    def __init__(
        self, bound_ps: int, base_ps: int, base: TangentLine, steepest: TangentLine
    ) -> None:
        self.bound = bound_ps
        self.low, self.low_line = base_ps, base
        self.high = _last_below(steepest, bound_ps)
        # The last latency at which T was found above the bound, and its tangent there.
        self.top = self.high
        self.top_line: TangentLine | None = None
        self._tighten(base)

    @property
    def done(self) -> bool:
        return self.low >= self.high

    def points(self) -> list[tuple[int, Side]]:
        """Return the next points of T to evaluate: the highest possible latency, and one below."""
        if self.top_line is None:
            return [(self.high, "left")]
        return [(self.high, "left"), (self._chord(), "right")]

    def learn(self, tangents: list[TangentLine]) -> None:
        """Tighten the bounds by the tangents at ``points()``."""
        high, chord = self.high, self._chord() if self.top_line else None
        if tangents[0].at(high) <= self.bound:
            self.low = high
            return
        if chord is not None:
            self.low, self.low_line = chord, tangents[1]
            self._tighten(tangents[1])
        self.top, self.top_line = high, tangents[0]
        self._tighten(tangents[0])

    def _tighten(self, line: TangentLine) -> None:
        if line.slope > 0:
            self.high = min(self.high, _last_below(line, self.bound))

    def _chord(self) -> int:
        """Return the latency at which the chord of two known points reaches the bound, or less."""
        if self.top_line is None:
            return self.low
        T_low, T_top = self.low_line.at(self.low), self.top_line.at(self.top)
        step = (self.bound - T_low) * (self.top - self.low) // (T_top - T_low)
        return min(self.low + step, self.high)


def _last_below(line: TangentLine, bound_ps: int) -> int:
    return (bound_ps - line.intercept_ps) // line.slope


def _meeting(one: TangentLine, other: TangentLine) -> Fraction:
    return Fraction(one.intercept_ps - other.intercept_ps, other.slope - one.slope)
