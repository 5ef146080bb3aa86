"""Bends and largest latencies of the maximum of given lines, where they lie a few ticks apart."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import example, given, strategies as st

from tests.reference import sweep as slow
from workbench.tolerance.passes import TangentLine, bends, most_latencies

HI = 40

some_lines = st.sets(st.tuples(st.integers(0, 12), st.integers(0, 60)), min_size=1, max_size=8)


class Maximum:
    """The maximum of lines, which counts how often it is asked."""

    def __init__(self, lines):
        self.lines = lines
        self.asked = []

    def __call__(self, points):
        self.asked.append(len(points))
        found = []
        for x, side in points:
            slope = slow.slopes(self.lines, x)[side == "right"]
            found.append(TangentLine(slope, slow.makespan(self.lines, x) - slope * x))
        return found


def merged(lines):
    """Return (latency, slope below, slope above) with what lies inside one tick taken together."""
    ticks = {}
    for bend in slow.bends(lines, 0, HI):
        below, rest = divmod(bend.numerator, bend.denominator)
        ticks.setdefault((below, rest > 0), []).append(bend)
    found = []
    for (below, inside), there in sorted(ticks.items()):
        if inside:
            ends = slow.slopes(lines, below)[1], slow.slopes(lines, below + 1)[0]
            one, other = (TangentLine(a, slow.makespan(lines, x) - a * x) for a, x in
                          zip(ends, (below, below + 1), strict=True))  # fmt: skip
            at = Fraction(one.intercept_ps - other.intercept_ps, other.slope - one.slope)
            assert len(there) > 1 or at == there[0]
            found.append((at, *ends))
        else:
            found.append((Fraction(below), *slow.slopes(lines, below)))
    return found


@given(some_lines)
@example({(0, 10), (3, 0), (1, 8)})
def test_bends_are_those_of_the_maximum(lines):
    T = Maximum(lines)
    found = [(bend.x_ps, bend.left.slope, bend.right.slope) for bend in bends(T, 0, HI)]
    assert found == merged(lines)
    assert sum(T.asked) <= max(2, 4 * len(found))


@given(some_lines, st.integers(0, HI), st.integers(0, 400))
def test_the_most_latency_is_the_largest(lines, base, percent):
    T = Maximum(lines)
    steepest = TangentLine(*max(lines))
    found = most_latencies(T, base, steepest, [Fraction(percent), Fraction(10 * percent)])
    for p, most in zip((percent, 10 * percent), found, strict=True):
        bound = int(slow.makespan(lines, base) * (1 + Fraction(p, 100)))
        assert most == slow.tolerance(lines, bound)


def test_percentages_share_their_passes():
    """Two hundred lines round a parabola: a pass asks for all percentages at once."""
    T = Maximum({(a, 10**6 - 50 * a**2) for a in range(200)})
    steepest = TangentLine(*max(T.lines))
    assert None not in most_latencies(T, 0, steepest, [Fraction(1), Fraction(2), Fraction(5)])
    assert max(T.asked) == 6  # two lanes for each of three
    assert len(T.asked) <= 10
