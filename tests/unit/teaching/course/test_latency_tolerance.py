"""The answers of lesson 3, found by other ways than the lesson's."""

from __future__ import annotations

import pytest

from workbench import machines, programs
from workbench.models import LogGPS
from workbench.teaching.course import latency_tolerance as lesson
from workbench.tolerance import LatencyLP, analyse


def test_both_algorithms_take_equally_long_where_the_lines_cross() -> None:
    given = lesson.RING_UP_TO.drawn("")
    crossing = 1e-6 * lesson.RING_UP_TO.solve(given)
    builder = programs.ProgramBuilder(given.ranks)
    builder.collective("allreduce", given.size)
    model = LogGPS(L=crossing, o=given.o, g=0, G=1 / given.bandwidth, O=0, S=2**30)
    doubling, ring = (
        analyse(builder.build().graph(allreduce=name), model, contention=False).T
        for name in ("recursive-doubling", "ring")
    )
    # Clocks of both are whole picoseconds, of some tens of steps each.
    assert doubling == pytest.approx(ring, rel=1e-6)


def test_the_linear_program_allows_the_latency_that_a_us_buys() -> None:
    given = lesson.LATENCY_FOR_TIME.drawn("")
    program, model = programs.load(given.program), machines.load(given.machine).loggps
    linear = LatencyLP(program, model)
    bought = linear.largest_latency(linear.solve().T + 1e-6) - model.L
    # The sweep's latencies are whole picoseconds.
    assert lesson.LATENCY_FOR_TIME.solve(given) == pytest.approx(1e9 * bought, abs=2e-3)


def test_a_calculation_by_hand_finds_the_first_bend() -> None:
    for name in ("", "Ada", "Grace"):
        given = lesson.FIRST_BEND.drawn(name)
        by_hand = 1e6 * (given.compute - 2 * given.o) / 2
        # The sweep's latencies are whole picoseconds.
        assert lesson.FIRST_BEND.solve(given) == pytest.approx(by_hand, abs=2e-6)
