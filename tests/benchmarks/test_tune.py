"""What it costs to keep a run; printed, and judged by processor time alone."""

from __future__ import annotations

import time
from pathlib import Path

from workbench.tune.recorded.files import shipped_recording
from workbench.tune.recorded.replayed_experiment import replayed

RUNS = 200


def milliseconds_a_run(store: Path | None) -> tuple[float, float]:
    """Return wall and processor time of a run of a replayed search, in ms."""
    recorded = shipped_recording("open-mpi-4-ranks")["allreduce/65536"]
    with replayed(recorded, heuristic="random", budget=RUNS, store=store) as experiment:
        began_s, began_cpu_s = time.perf_counter(), time.process_time()
        experiment.run()
        took_s, cpu_s = time.perf_counter() - began_s, time.process_time() - began_cpu_s
    return 1e3 * took_s / RUNS, 1e3 * cpu_s / RUNS


def test_a_stored_run(tmp_path: Path) -> None:
    free, free_cpu = milliseconds_a_run(None)
    kept, kept_cpu = milliseconds_a_run(tmp_path / "tuning.db")
    print(
        f"\na replayed run: {free:.2f} ms ({free_cpu:.2f} of the processor) not kept, "
        f"{kept:.2f} ms ({kept_cpu:.2f}) kept"
    )
    assert kept_cpu - free_cpu < 100.0
