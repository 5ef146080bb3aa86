"""T(L) of a small program as what it is: the maximum over all its paths.

Every path is a line, slope times L and the rest; all different lines of all paths are kept, and
the bends of their maximum are found with fractions.
"""

from __future__ import annotations

from fractions import Fraction

from tests.reference.llamp import Costs, edges_of, match_in_order
from workbench.programs.graph import ExecutionGraph

Lines = set[tuple[int, int]]


def lines_of(
    graph: ExecutionGraph, o: int, G: float, S: int, match: dict[int, int] | None = None
) -> Lines:
    """Return (latencies, ps without them) of all paths, to any start or end."""
    joined = match_in_order(graph) if match is None else match
    without = edges_of(graph, Costs(0, o, G, S), joined)
    with_one = edges_of(graph, Costs(1, o, G, S), joined)
    edges = [
        (source, to, more - cost, cost)
        for (source, to, cost), (_, _, more) in zip(without, with_one, strict=True)
    ]
    lines: list[Lines] = [{(0, 0)} for _ in range(2 * graph.num_ops)]
    while True:
        grown = False
        for source, to, slope, cost in edges:
            reached = {(a + slope, b + cost) for a, b in lines[source]}
            grown |= not reached <= lines[to]
            lines[to] |= reached
        if not grown:
            return set().union({(0, 0)}, *lines)


def makespan(lines: Lines, L: int | Fraction) -> int | Fraction:
    """Return T at a latency, ps."""
    return max(a * L + b for a, b in lines)


def slopes(lines: Lines, L: int | Fraction) -> tuple[int, int]:
    """Return the least and the largest slope of the lines that reach T at a latency."""
    T = makespan(lines, L)
    reach = [a for a, b in lines if a * L + b == T]
    return min(reach), max(reach)


def bends(lines: Lines, lo: int, hi: int) -> list[Fraction]:
    """Return the latencies inside an interval at which the slope changes, ascending."""
    pairs = [(one, other) for one in lines for other in lines if one[0] < other[0]]
    meetings = {Fraction(b - d, c - a) for (a, b), (c, d) in pairs}
    return sorted(L for L in meetings if lo < L < hi and slopes(lines, L)[0] != slopes(lines, L)[1])


def tolerance(lines: Lines, bound: int) -> int | None:
    """Return the largest whole latency with T at most a bound, None where all are."""
    roots = [(bound - b) // a for a, b in lines if a > 0]
    return min(roots) if roots else None
