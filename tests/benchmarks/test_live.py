"""How soon things answer outside of a browser: a slider's move, a stop, a breath, an import."""

from __future__ import annotations

import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

from tests.unit.fit.test_halt import SLOW
from tests.unit.study.plans import small_plan
from workbench import datasets, tasks
from workbench.fit import FitStudy
from workbench.panels import RegimePanel
from workbench.panels.replay.panel import ReplayPanel
from workbench.study import run

IMPORT = """
import time
began = time.perf_counter()
import workbench
print(time.perf_counter() - began)
"""


def moves(what: str, move: Callable[[int], None], places: range) -> None:
    """Print what a slider's moves take, from the new value until all is drawn from it."""
    times = []
    for place in places:
        began = time.perf_counter()
        move(place)
        times.append(1e3 * (time.perf_counter() - began))
    print(
        f"\n{what}: a move takes {statistics.median(times):.0f} ms (median), {min(times):.0f} least"
    )


def test_a_slider_of_the_regime_panel() -> None:
    threshold = RegimePanel().controls["threshold"].input
    moves("RegimePanel", lambda place: setattr(threshold, "value", place), range(10, 15))


def test_a_slider_of_the_replay_panel() -> None:
    panel = ReplayPanel()
    slider = panel.controls["L_us"].input

    def move(place: int) -> None:
        slider.value = place
        panel.wait()

    moves("ReplayPanel, its first program", move, range(30, 150, 10))


def test_a_stop_in_a_slow_trial() -> None:
    study, task = FitStudy(datasets.load("azure-hb96v3-hdr"), SLOW), tasks.Task()
    thread = threading.Thread(target=study.run, args=(2000,), kwargs={"task": task})
    thread.start()
    time.sleep(1)
    began = time.perf_counter()
    task.stop()
    thread.join()
    print(f"\na fit ends {time.perf_counter() - began:.2f} s after its stop, in a trial of seconds")


def test_a_stop_of_a_study(tmp_path: Path) -> None:
    job = tasks.submit(run, small_plan(trials=100_000), tmp_path / "s.db", workers=2)
    while job.progress.done < 20:
        time.sleep(0.05)
    began = time.perf_counter()
    job.stop()
    job.result()
    print(f"\na study on two processes ends {time.perf_counter() - began:.2f} s after its stop")


def test_another_thread_beside_python_work_that_breathes() -> None:
    def busy(task: tasks.Task) -> None:
        while not task.stopping:
            sum(range(20_000))
            task.breathe()

    job, waits = tasks.submit(busy), []
    for _ in range(20):
        began = time.perf_counter()
        sum(range(20_000))
        waits.append(1e3 * (time.perf_counter() - began))
        time.sleep(0.001)
    job.stop()
    job.result()
    print(
        f"\n0.3 ms of Python beside work that breathes: {statistics.median(waits):.1f} ms (median)"
    )


def test_import_of_the_package() -> None:
    command = [sys.executable, "-c", IMPORT]
    runs = [subprocess.run(command, capture_output=True, check=True) for _ in range(5)]
    print(f"\nimport workbench: {1e3 * min(float(run.stdout) for run in runs):.0f} ms, least of 5")
