"""What a fit's trial costs beside its simulation; printed, not judged by the clock."""

from __future__ import annotations

import statistics
import threading
import time
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import optuna
import pytest

from workbench import datasets
from workbench.fit import LOSSES, SearchSpace, fit, submit
from workbench.fit.engines import Problem
from workbench.fit.engines.tpe import TPE
from workbench.fit.store.study_file import StoredTrial, StudyFile
from workbench.models import SNAPPR
from workbench.simulate import simulate_osu
from workbench.storage import database

MACHINE = "azure-hb96v3-hdr"


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
    search = TPE(Problem(space, 0, [], np.ones(1), (1,), LOSSES["rmsre"]))
    values = {d.key: d.clip((d.low * d.high) ** 0.5) for d in space.dimensions}
    for n in range(known):
        moved = {d.key: d.clip(values[d.key] * (1 + n / known)) for d in space.dimensions}
        search.tell(moved, float(n), lambda: None)

    def trial() -> None:
        search.tell(search.propose(), 1.0, lambda: None)

    print(f"\nTPE with {known} trials known: {milliseconds(trial, 20):.1f} ms a trial")


@pytest.mark.parametrize(("schema", "how"), [(12, "its rows"), (-1, "optuna's add_trial")])
def test_a_trial_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, schema: int, how: str
) -> None:
    monkeypatch.setattr(database, "KNOWN_SCHEMA", schema)
    space = SearchSpace.for_model(SNAPPR())
    distributions = space.distributions()
    values = {d.key: d.clip((d.low * d.high) ** 0.5) for d in space.dimensions}
    file = StudyFile(tmp_path / "fits.db", "one", {})
    numbers = iter(range(1000))

    def write() -> None:
        file.append(StoredTrial(next(numbers), values, 1.0), distributions, datetime.now())

    print(f"\na trial written as {how}: {milliseconds(write, 100):.2f} ms")
    file.close()
    study = optuna.load_study(study_name="one", storage=f"sqlite:///{tmp_path / 'fits.db'}")
    assert len(study.trials) == 100


def test_a_fit_is_made(tmp_path: Path) -> None:
    curve = datasets.load(MACHINE)
    began = time.perf_counter()
    result = fit(curve, trials=300, study=tmp_path / "fits.db")
    seconds = time.perf_counter() - began
    print(f"\n{result}\n300 trials in {seconds:.1f} s, {result.invalid} refused")
    assert result.success


def test_a_simulation_is_answered_while_a_fit_runs() -> None:
    curve = datasets.load(MACHINE)
    model = SNAPPR()
    simulate_osu(model)
    quiet = milliseconds(lambda: simulate_osu(model), 30)
    job = submit(curve, trials=100_000)
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
