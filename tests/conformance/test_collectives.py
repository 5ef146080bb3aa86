"""Collectives take as long as those that Schedgen makes take in LogGOPSim, to the nanosecond.

The figures are those of LogGOPSim with its default parameters on Schedgen's schedules of eight
ranks: the patterns are the same, so the times must be.
"""

from __future__ import annotations

import pytest

from tests.cases import for_each
from workbench.models import LogGPS
from workbench.programs.collectives import schedule
from workbench.simulate import replay

DEFAULTS = LogGPS(L=2.5e-6, o=1.5e-6, g=1e-6, G=6e-9, O=0.0, S=65535)


@pytest.mark.conformance
@for_each(
    "operation, algorithm, size, makespan_ns",
    [
        ("bcast", "linear", 1024, 54466),
        ("bcast", "binomial", 1024, 34914),
        ("reduce", "binomial", 1024, 34914),
        ("barrier", "dissemination", 0, 16500),
        ("allreduce", "ring", 4096, 119924),
        # Schedgen calls this recursive doubling; it halves the vector and doubles it again
        ("allreduce", "rabenseifner", 1024, 43716),
        ("gather", "linear", 512, 35962),
        ("scatter", "linear", 512, 32962),
    ],
)
def test_the_time_is_that_of_schedgens_pattern(
    operation: str, algorithm: str, size: int, makespan_ns: int
) -> None:
    result = replay(schedule(operation, algorithm, 8, size=size).graph(), DEFAULTS)
    assert result.makespan_ns == makespan_ns
