"""What a fit's trial costs beside its simulation; printed, not judged by the clock."""

from __future__ import annotations

import statistics
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.benchmarks.conftest import Table
from workbench import datasets, tasks
from workbench.fit import LOSSES, SearchSpace, fit, model_to_fit
from workbench.fit.engines import FitProblem
from workbench.fit.engines.tpe import TPEEngine
from workbench.fit.initial_guess import starting_points
from workbench.fit.store import StoredTrial, StudyFile, read_trials
from workbench.models import SNAPPR
from workbench.simulate import simulate_osu

MACHINE = "azure-hb96v3-hdr"
SLOWEST = "alps-gh200-slingshot11"  # of the shipped curves, 400 trials each


def milliseconds(work: Callable[[], Any], rounds: int) -> float:
    """Median time of one call, in ms."""
    times = []
    for _ in range(rounds):
        began = time.perf_counter()
        work()
        times.append(time.perf_counter() - began)
    return 1e3 * statistics.median(times)


@pytest.mark.parametrize("known", [100, 1000, 2000])
def test_the_search_proposes(known: int) -> None:
    space = SearchSpace.for_model(SNAPPR())
    search = TPEEngine(FitProblem(space, 0, [], np.ones(1), (1,), LOSSES["rmsre"]))
    values = {d.key: d.clip((d.low * d.high) ** 0.5) for d in space.dimensions}
    for n in range(known):
        moved = {d.key: d.clip(values[d.key] * (1 + n / known)) for d in space.dimensions}
        search.tell(moved, float(n), lambda: None)

    def trial() -> None:
        search.tell(search.propose(), 1.0, lambda: None)

    print(f"\nTPE with {known} trials known: {milliseconds(trial, 20):.1f} ms a trial")


def test_a_trial_is_written(tmp_path: Path) -> None:
    space = SearchSpace.for_model(SNAPPR())
    values = {d.key: d.clip((d.low * d.high) ** 0.5) for d in space.dimensions}
    file = StudyFile(tmp_path / "fits.db", "one", {})
    numbers = iter(range(1000))
    milliseconds_each = milliseconds(
        lambda: file.append(StoredTrial(next(numbers), values, 1.0)), 100
    )
    file.close()
    print(f"\na trial written: {milliseconds_each:.2f} ms")


def processor_seconds(work: Callable[[], Any]) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began


def test_two_thousand_trials_of_the_slowest_machine(table: Table, tmp_path: Path) -> None:
    curve, model = datasets.load(SLOWEST), model_to_fit("snappr")
    study, name = tmp_path / "fits.db", "one"
    whole = processor_seconds(
        lambda: fit(curve, model, trials=2000, engine="tpe", study=study, name=name)
    )
    trials = read_trials(study, name)
    space = SearchSpace.for_model(model)
    first = starting_points(model, curve, space)
    problem = FitProblem(space, 0, first, np.ones(1), (1,), LOSSES["rmsre"])

    def search() -> None:
        engine = TPEEngine(problem)
        for trial in trials:
            assert engine.propose() == trial.values
            engine.tell(dict(trial.values), trial.loss, lambda: None)

    alone = processor_seconds(search)
    table.add(
        "5",
        f"2000 TPE trials of SNAPPR, {SLOWEST}",
        whole,
        "s",
        at_most=2,
        ratio=whole / alone,
        reference="TPE without simulation",
    )


def test_a_fit_is_made(tmp_path: Path) -> None:
    curve = datasets.load(MACHINE)
    began = time.perf_counter()
    result = fit(curve, "snappr", trials=300, study=tmp_path / "fits.db")
    seconds = time.perf_counter() - began
    print(f"\n{result}\n300 trials in {seconds:.1f} s, {result.invalid} refused")
    assert result.success


def test_a_simulation_is_answered_while_a_fit_runs() -> None:
    curve = datasets.load(MACHINE)
    model = SNAPPR()
    simulate_osu(model)
    quiet = milliseconds(lambda: simulate_osu(model), 30)
    job = tasks.submit(fit, curve, trials=100_000)
    while job.progress.done < 200 and not job.finished:
        time.sleep(0.01)
    times = []
    for _ in range(40):
        began = time.perf_counter()
        simulate_osu(model)
        times.append(1e3 * (time.perf_counter() - began))
        threading.Event().wait(0.05)
    began = time.perf_counter()
    job.stop()
    job.result(30)
    stopped = 1e3 * (time.perf_counter() - began)
    p95 = statistics.quantiles(times, n=20)[-1]
    print(
        f"\nsimulate_osu {quiet:.1f} ms alone; beside a fit median {statistics.median(times):.1f}"
        f" ms, p95 {p95:.1f} ms; stop acted after {stopped:.0f} ms"
    )
