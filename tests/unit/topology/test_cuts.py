"""Cuts into halves: as small as the table's, and never below its spectral bounds."""

from __future__ import annotations

from tests.cases import for_each
from workbench import topology
from workbench.topology.metrics.bisection import bisection


@for_each(
    "word, bound, cut",
    [
        ("slim-fly:19", 3429.5, 3439),
        ("spectralfly:11,7", 252.0, 288),
        ("spectralfly:23,11", 2607.6, 2886),
        ("xpander:11,20", 0.0, 376),  # drawn at random, by another seed than the table's
        ("jellyfish:722,29", 0.0, 3875),
    ],
)
def test_brackets_of_the_table(word: str, bound: float, cut: int) -> None:
    found = bisection(topology.parse_topology(word))
    assert bound <= found.lower <= found.upper <= cut
