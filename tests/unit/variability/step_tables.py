"""Tables of steps whose times and counters follow a level of congestion."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from workbench.provenance import Provenance
from workbench.variability import StepTable


def drawn_steps(runs: int = 24, steps: int = 20, seed: int = 0) -> StepTable:
    """Return runs whose congestion, an AR(1) process, slows steps down and drives two counters."""
    rng = np.random.default_rng(seed)
    level = np.zeros((runs, steps))
    level[:, 0] = rng.standard_normal(runs)
    for at in range(1, steps):
        level[:, at] = 0.95 * level[:, at - 1] + 0.3 * rng.standard_normal(runs)
    shape = 1 + 0.5 * (np.arange(steps) > 5)
    time = shape * np.exp(0.2 * level + 0.02 * rng.standard_normal(level.shape))
    counters = np.stack(
        [
            time * np.exp(level + 0.1 * rng.standard_normal(level.shape)),
            time * np.exp(0.8 * level + 0.3 * rng.standard_normal(level.shape)),
            time * np.exp(rng.standard_normal(level.shape)),
        ],
        axis=2,
    )
    return StepTable(
        tuple(f"r{run}" for run in range(runs)),
        np.full(runs, np.nan),
        time,
        ("RT_RB_STL", "RT_FLIT_TOT", "PT_PKT_TOT"),
        1e6 * counters,
        Provenance("synthetic", "an AR(1) process"),
    )


def write_steps(steps: StepTable, path: Path) -> Path:
    """Write a table as CSV with the columns that ``read_steps`` reads."""
    rows = ["run,step,time_s" + "".join(f",{name}" for name in steps.counters)]
    for run, name in enumerate(steps.run):
        for step in range(steps.steps):
            cells = (steps.time_s[run, step], *steps.values[run, step])
            rows.append(f"{name},{step + 1},{','.join(map(repr, map(float, cells)))}")
    path.write_text("\n".join(rows) + "\n")
    return path
