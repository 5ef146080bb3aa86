"""Studies on a PostgreSQL server, a real one that these tests start for themselves."""

from __future__ import annotations

import subprocess
import sys
import threading
from datetime import datetime
from functools import partial
from pathlib import Path

import optuna
import pytest

from tests.unit.fit.store.trials import trial_in
from workbench import datasets
from workbench.errors import StudyError, StudyHeldError
from workbench.fit import FitStudy, fit
from workbench.fit.space import SearchSpace
from workbench.fit.store import stored_studies, study_file
from workbench.fit.store.study_file import StudyFile
from workbench.models import LogP
from workbench.storage import database

PROBLEM = {"loss": "rmsre", "seed": 0}
SPACE = SearchSpace.for_model(LogP())
trial = partial(trial_in, SPACE)


def test_a_fit_on_a_server_is_the_fit_in_a_file_and_is_taken_up(
    address: str, tmp_path: Path
) -> None:
    curve = datasets.load("azure-hb96v3-hdr")
    fit(curve, "logp", trials=8, study=address)
    result = fit(curve, "logp", trials=14, study=address)
    whole = fit(curve, "logp", trials=14, study=tmp_path / "fits.db")
    assert result.losses.tolist() == whole.losses.tolist()
    assert result.model == whole.model
    name = "azure-hb96v3-hdr-logp-rmsre-both-seed0-least-squares"
    seen = stored_studies.read_study(address, name)
    assert seen is not None
    assert seen.losses.tolist() == whole.losses.tolist()
    assert seen.values == whole.values
    assert stored_studies.read_progress(address, [name]) == {
        name: stored_studies.StoredProgress(14, whole.best_loss)
    }


def test_trials_on_a_server_are_what_optuna_would_have_written(address: str) -> None:
    assert stored_studies.read_study(address, "one") is None
    file = StudyFile(address, "one", PROBLEM)
    for one in (trial(0), trial(1, 1e30, "credits < mtu"), trial(2, 0.25)):
        file.append(one, SPACE.distributions(), datetime.now())
    file.close()
    storage = optuna.storages.RDBStorage(database.locate(address).address)
    study = optuna.load_study(study_name="one", storage=storage)
    assert [t.value for t in study.trials] == [1.5, 1e30, 0.25]
    assert [t.params for t in study.trials] == [dict(trial(n).values) for n in range(3)]
    assert study.user_attrs == {study_file.PROBLEM: PROBLEM}
    storage.engine.dispose()
    again = StudyFile(address, "one", PROBLEM)
    assert [(t.values, t.loss, t.invalid) for t in again.trials] == [
        (t.values, t.loss, t.invalid)
        for t in (trial(0), trial(1, 1e30, "credits < mtu"), trial(2, 0.25))
    ]
    again.close()
    with pytest.raises(StudyError, match="seed was 0 and is 1"):
        StudyFile(address, "one", {**PROBLEM, "seed": 1})


def test_a_study_is_held_by_one_at_a_time_and_that_can_be_seen(address: str) -> None:
    names = [f"study {n}" for n in range(8)]  # keys of either sign
    files = [StudyFile(address, name, PROBLEM) for name in names[:4]]
    place = database.locate(address)
    assert place.held(names) == set(names[:4])
    with pytest.raises(StudyHeldError, match="is being run by another notebook or process"):
        StudyFile(address, names[0], PROBLEM)
    for file in files:
        file.close()
        file.close()
    assert place.held(names) == set()
    StudyFile(address, names[0], PROBLEM).close()


HOLD = """
import sys
from workbench.fit.store.study_file import StudyFile
file = StudyFile(sys.argv[1], "one", {"loss": "rmsre", "seed": 0})
print("held", flush=True)
sys.stdin.readline()
"""


def test_a_killed_process_lets_go(address: str) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, address],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[3],
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(StudyHeldError):
            StudyFile(address, "one", PROBLEM)
        holder.kill()
    # the server sees the end of the connection, not of the process: a moment later
    for _ in range(1200):
        if not database.locate(address).held(["one"]):
            break
        threading.Event().wait(0.05)
    StudyFile(address, "one", PROBLEM).close()


def test_many_may_begin_a_database_at_once(address: str) -> None:
    failures: list[BaseException] = []

    def begin(number: int) -> None:
        try:
            StudyFile(address, f"study {number}", PROBLEM).close()
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=begin, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert len(stored_studies.read_progress(address, [f"study {n}" for n in range(4)])) == 4


def test_a_server_that_is_not_there_is_an_error_without_the_password() -> None:
    address = "postgresql://me:secret@127.0.0.1:1/studies"
    for attempt in (
        lambda: StudyFile(address, "one", PROBLEM),
        lambda: stored_studies.read_study(address, "one"),
        lambda: FitStudy(datasets.load("azure-hb96v3-hdr"), "logp", study=address),
    ):
        with pytest.raises(StudyError, match="cannot be opened as a study file") as caught:
            attempt()
        assert "secret" not in str(caught.value)
