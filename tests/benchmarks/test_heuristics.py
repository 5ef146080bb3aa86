"""What a proposal costs; printed, not judged by the clock."""

from __future__ import annotations

import contextlib
import statistics
import time

import numpy as np
import pytest

from workbench.tune.heuristics import HEURISTICS, make_heuristic, surrogate
from workbench.tune.history import History
from workbench.tune.space.axes import Grid
from workbench.tune.space.space import TuningSpace

GRID = Grid(tuple(range(20)))
SPACE = TuningSpace({"a": GRID, "b": GRID})


def history_of(runs: int) -> History:
    rng = np.random.default_rng(0)
    history = History(SPACE)
    for _ in range(runs):
        configuration = SPACE.sample(rng)
        off = float(np.square(SPACE.encode(configuration) - 0.3).sum())
        history.append(configuration, (1.0 + off) * float(np.exp(0.05 * rng.normal())))
    return history


def milliseconds(name: str, history: History) -> float:
    """Median time of a proposal from scratch, in ms."""
    times = []
    for seed in range(5):
        heuristic = make_heuristic(name, SPACE, seed)
        began = time.perf_counter()
        heuristic.ask(history)
        times.append(time.perf_counter() - began)
    return 1e3 * statistics.median(times)


@pytest.mark.parametrize("name", HEURISTICS)
def test_a_heuristic_proposes(name: str) -> None:
    few, many = (milliseconds(name, history_of(runs)) for runs in (20, 150))
    print(f"\n{name}: {few:.1f} ms a proposal after 20 runs, {many:.1f} ms after 150")


def test_one_thread_is_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    history = history_of(150)
    one = milliseconds("surrogate-gp", history)
    monkeypatch.setattr(surrogate, "one_thread", contextlib.nullcontext)
    print(
        f"\nall BLAS threads: {milliseconds('surrogate-gp', history) / one:.1f} x the time of one"
    )
