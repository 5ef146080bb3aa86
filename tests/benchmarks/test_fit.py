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

from tests.benchmarks.conftest import Table
from workbench import datasets
from workbench.fit import LOSSES, SearchSpace, fit, model_to_fit, submit
from workbench.fit.engines import FitProblem, Values
from workbench.fit.engines.tpe import TPEEngine
from workbench.fit.initial_guess import starting_points
from workbench.fit.store.stored_studies import read_study, read_trials
from workbench.fit.store.study_file import StoredTrial, StudyFile
from workbench.models import SNAPPR
from workbench.simulate import simulate_osu
from workbench.storage import optuna_internals

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


@pytest.mark.parametrize(("schema", "how"), [(12, "its rows"), (-1, "optuna's add_trial")])
def test_a_trial_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, schema: int, how: str
) -> None:
    monkeypatch.setattr(optuna_internals, "KNOWN_SCHEMA", schema)
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


class PublicTPE(TPEEngine):
    """The same proposals by the public methods of ``TPESampler`` and of Optuna's memory storage."""

    def __init__(self, problem: FitProblem) -> None:
        super().__init__(problem)
        self._storage = optuna.storages.InMemoryStorage()
        optuna.create_study(storage=self._storage, study_name="one")
        self._study_id = self._storage.get_study_id_from_name("one")

    def tell(self, values: Values, loss: float, points: Any) -> None:
        super().tell(values, loss, points)
        trial = optuna.trial.create_trial(
            params={key: float(values[key]) for key in self._distributions},
            distributions=self._distributions,
            value=loss,
        )
        self._storage.create_new_trial(self._study_id, trial)

    def _draw(self) -> dict[str, float]:
        seed = np.random.SeedSequence((self._problem.seed, self._number)).generate_state(1)[0]
        sampler = optuna.samplers.TPESampler(seed=int(seed), multivariate=True, constant_liar=False)
        # A study reads its trials once only, hence a new one.
        study = optuna.load_study(study_name="one", storage=self._storage)
        trial = optuna.trial.create_trial(state=optuna.trial.TrialState.RUNNING)
        return sampler.sample_relative(study, trial, dict(self._distributions)) or {
            key: sampler.sample_independent(study, trial, key, distribution)
            for key, distribution in self._distributions.items()
        }


def processor_seconds(work: Callable[[], Any]) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began


def test_two_thousand_trials_by_private_and_public_ways(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The figures of ``workbench/storage/optuna_internals.py``."""
    curve, model, path, name = datasets.load(MACHINE), SNAPPR(), tmp_path / "fits.db", "one"
    space = SearchSpace.for_model(model)
    distributions = space.distributions()
    verbosity = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    took = {
        "fit": processor_seconds(
            lambda: fit(curve, model, trials=2000, engine="tpe", study=path, name=name)
        )
    }
    trials = read_trials(path, name)
    first = starting_points(model, curve, space)
    problem = FitProblem(space, 0, first, np.ones(1), (1,), LOSSES["rmsre"])

    def search(engine: TPEEngine) -> None:
        for trial in trials:
            assert engine.propose() == trial.values
            engine.tell(dict(trial.values), trial.loss, lambda: None)

    def store(where: Path) -> None:
        file = StudyFile(where, name, {})
        for trial in trials:
            file.append(trial, distributions, datetime.now())
        file.close()

    def journal() -> optuna.Study:
        backend = optuna.storages.journal.JournalFileBackend(str(tmp_path / "journal.log"))
        storage = optuna.storages.JournalStorage(backend)
        return optuna.create_study(storage=storage, study_name=name, load_if_exists=True)

    def store_in_journal() -> None:
        study = journal()
        for trial in trials:
            study.add_trial(
                optuna.trial.create_trial(
                    params=dict(trial.values), distributions=distributions, value=trial.loss
                )
            )

    took["search here"] = processor_seconds(lambda: search(TPEEngine(problem)))
    took["search by sample_relative"] = processor_seconds(lambda: search(PublicTPE(problem)))
    took["store here"] = processor_seconds(lambda: store(tmp_path / "rows.db"))
    took["read here"] = processor_seconds(lambda: read_study(path, name))
    took["store in a journal"] = processor_seconds(store_in_journal)
    took["read a journal"] = processor_seconds(lambda: journal().get_trials(deepcopy=False))
    monkeypatch.setattr(optuna_internals, "KNOWN_SCHEMA", -1)
    took["store by add_trial"] = processor_seconds(lambda: store(tmp_path / "optuna.db"))
    took["read by get_trials"] = processor_seconds(lambda: read_study(path, name))
    optuna.logging.set_verbosity(verbosity)
    print("\n" + "\n".join(f"{what}: {seconds:.2f} s" for what, seconds in took.items()))
    assert len(trials) == 2000
    assert took["store here"] < 0.25 * took["store by add_trial"]


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
