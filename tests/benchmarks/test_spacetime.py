"""How long the space-time diagram takes to sort a replay and to draw a window of it; printed.

pytest tests/benchmarks/test_spacetime.py -s
"""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from tests.unit.plotting.replays import ring
from workbench.plotting.replay.spacetime import plot_spacetime
from workbench.plotting.replay.spacetime_lod import visible
from workbench.plotting.replay.timeline import timeline

REPEATS = 5


def least_ms(run: Callable[[], object]) -> float:
    """Return the least of a few times: what else runs on the machine only ever adds."""
    times = []
    for _ in range(REPEATS):
        began = time.perf_counter()
        run()
        times.append(time.perf_counter() - began)
    return 1e3 * min(times)


@pytest.mark.parametrize(("ranks", "rounds"), [(216, 1543), (1024, 326), (8, 41667), (216, 15430)])
def test_a_window_of_a_large_replay(ranks: int, rounds: int) -> None:
    result = ring(ranks, rounds)
    began = time.perf_counter()
    shown = timeline(result, critical=False)
    print(
        f"\n{ranks} ranks, {result.graph.num_ops:,} operations: sorted in "
        f"{time.perf_counter() - began:.2f} s"
    )
    rows, end = (-0.5, ranks - 0.5), shown.makespan_ns
    for share in (1.0, 0.1, 0.01, 0.0001):
        window = (0.4 * end * (1 - share), 0.4 * end * (1 - share) + share * end)
        view = visible(shown, window, rows, (1000, 480))
        took = least_ms(lambda window=window: visible(shown, window, rows, (1000, 480)))
        print(
            f"  {100 * share:g} % of the time: {took:.1f} ms, {view.operations:,} operations, "
            f"{len(view.bars['left']):,} bars"
        )
        assert view.operations > 0


def test_a_figure_of_a_hundred_thousand_operations() -> None:
    result = ring(64, 521)
    took = least_ms(lambda: plot_spacetime(result, critical=False))
    whole = least_ms(lambda: plot_spacetime(result))
    print(
        f"\n{result.graph.num_ops:,} operations: {took:.0f} ms, with critical path {whole:.0f} ms"
    )
    assert result.graph.num_ops > 100_000
