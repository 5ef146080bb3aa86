"""Studies on disk: what Optuna reads there, who may write, what is refused."""

from __future__ import annotations

import contextlib
import math
import sqlite3
import subprocess
import sys
import threading
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import optuna
import pytest

from tests.unit.fit.store.trials import trial_in
from workbench import datasets
from workbench.errors import StudyError
from workbench.fit import FitStudy, fit
from workbench.fit.space import SearchSpace
from workbench.fit.store import stored_studies, study_file
from workbench.fit.store.stored_studies import read_trials
from workbench.fit.store.study_file import StoredTrial, StudyFile
from workbench.models import SNAPPR
from workbench.storage import database, locks, optuna_internals

PROBLEM = {"loss": "rmsre", "seed": 0, "workbench": "1"}
SPACE = SearchSpace.for_model(SNAPPR())
trial = partial(trial_in, SPACE)
DISTRIBUTIONS = SPACE.distributions()


def append(file: StudyFile, *trials: StoredTrial) -> None:
    for one in trials:
        file.append(one, DISTRIBUTIONS, datetime.now())


def plain(frozen: optuna.trial.FrozenTrial) -> dict[str, Any]:
    return {
        "number": frozen.number,
        "state": frozen.state,
        "params": frozen.params,
        "distributions": frozen.distributions,
        "value": frozen.value,
        "user_attrs": frozen.user_attrs,
        "ordered": frozen.datetime_start <= frozen.datetime_complete,
    }


@pytest.mark.parametrize("schema", [optuna_internals.KNOWN_SCHEMA, -1])
def test_optuna_reads_what_was_written_either_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, schema: int
) -> None:
    # -1: a release of Optuna whose tables are not known is written through its own calls
    monkeypatch.setattr(optuna_internals, "KNOWN_SCHEMA", schema)
    path = tmp_path / "fits.db"
    file = StudyFile(path, "one", PROBLEM)
    append(file, trial(0), trial(1, 1e30, "credits < mtu"), trial(2, 0.25))
    file.close()

    reference = optuna.create_study()
    for one in (trial(0), trial(1, 1e30, "credits < mtu"), trial(2, 0.25)):
        reference.add_trial(
            optuna.trial.create_trial(
                params=dict(one.values),
                distributions=DISTRIBUTIONS,
                value=one.loss,
                user_attrs={"invalid": one.invalid} if one.invalid else None,
            )
        )
    study = optuna.load_study(study_name="one", storage=f"sqlite:///{path}")
    assert [plain(t) for t in study.trials] == [plain(t) for t in reference.trials]
    assert study.best_value == 0.25
    assert study.direction == optuna.study.StudyDirection.MINIMIZE
    assert study.user_attrs == {study_file.PROBLEM: PROBLEM}


def test_a_study_is_taken_up_with_its_trials_to_the_last_bit(tmp_path: Path) -> None:
    written = [trial(0), trial(1, 1e30, "credits < mtu"), trial(2, 1 / 3)]
    file = StudyFile(tmp_path / "fits.db", "one", PROBLEM)
    append(file, *written)
    file.close()
    again = StudyFile(tmp_path / "fits.db", "one", {**PROBLEM, "workbench": "2"})
    assert [(t.number, t.values, t.loss, t.invalid) for t in again.trials] == [
        (t.number, t.values, t.loss, t.invalid) for t in written
    ]
    assert all(isinstance(t.values["node.nic.mtu"], int) for t in again.trials)
    append(again, trial(3))
    again.close()
    assert not list(tmp_path.glob(".*lock"))


def test_two_studies_share_a_file_while_both_are_written(tmp_path: Path) -> None:
    path = tmp_path / "fits.db"
    first, second = StudyFile(path, "one", PROBLEM), StudyFile(path, "two", PROBLEM)
    failures: list[BaseException] = []

    def write(file: StudyFile) -> None:
        try:
            append(file, *(trial(n) for n in range(50)))
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=write, args=(file,)) for file in (first, second)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    first.close()
    second.close()
    assert failures == []
    names = optuna.get_all_study_names(f"sqlite:///{path}")
    assert names == ["one", "two"]
    for name in names:
        study = optuna.load_study(study_name=name, storage=f"sqlite:///{path}")
        assert [t.number for t in study.trials] == list(range(50))


def test_one_study_is_held_by_one_at_a_time(tmp_path: Path) -> None:
    path = tmp_path / "fits.db"
    file = StudyFile(path, "one", PROBLEM)
    with pytest.raises(StudyError, match="is being run by another notebook or process"):
        StudyFile(path, "one", PROBLEM)
    file.close()
    file.close()
    StudyFile(path, "one", PROBLEM).close()


def test_trials_that_another_program_adds_are_noticed(tmp_path: Path) -> None:
    path = tmp_path / "fits.db"
    file = StudyFile(path, "one", PROBLEM)
    append(file, trial(0))
    other = optuna.load_study(study_name="one", storage=f"sqlite:///{path}")
    other.add_trial(
        optuna.trial.create_trial(
            params=dict(trial(1).values), distributions=DISTRIBUTIONS, value=1.0
        )
    )
    with pytest.raises(StudyError, match="it held 1 trials and now holds 2"):
        append(file, trial(1))
    file.close()


def test_a_trial_out_of_turn_is_refused(tmp_path: Path) -> None:
    # as after an interrupt that fell between writing a trial and learning from it
    file = StudyFile(tmp_path / "fits.db", "one", PROBLEM)
    append(file, trial(0))
    with pytest.raises(StudyError, match="trial 1 of the study 'one' must come next; got trial 0"):
        append(file, trial(0))
    file.close()


def test_another_problem_is_refused_and_says_what_differs(tmp_path: Path) -> None:
    path = tmp_path / "fits.db"
    StudyFile(path, "one", PROBLEM).close()
    with pytest.raises(StudyError, match="seed was 0 and is 1"):
        StudyFile(path, "one", {**PROBLEM, "seed": 1})
    with pytest.raises(StudyError, match="loss was rmsre and is mae; seed was 0 and is 1"):
        StudyFile(path, "one", {**PROBLEM, "seed": 1, "loss": "mae"})
    StudyFile(path, "one", PROBLEM).close()  # a refusal lets go of the study


def test_a_study_that_is_not_ours_is_refused(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'fits.db'}"
    foreign = optuna.create_study(study_name="theirs", storage=url)
    foreign.add_trial(optuna.trial.create_trial(value=1.0))
    with pytest.raises(StudyError, match="is not a fit of the workbench"):
        StudyFile(url, "theirs", PROBLEM)


def test_files_that_cannot_be_studies_are_refused(tmp_path: Path) -> None:
    text = tmp_path / "notes.txt"
    text.write_text("not a database, " * 100)
    with pytest.raises(StudyError, match="must be an SQLite database of the workbench's studies"):
        StudyFile(text, "one", PROBLEM)
    assert text.read_text().startswith("not a database")
    with pytest.raises(StudyError, match="is a folder"):
        StudyFile(tmp_path, "one", PROBLEM)
    with pytest.raises(StudyError, match="must exist to hold"):
        StudyFile(tmp_path / "nowhere" / "fits.db", "one", PROBLEM)
    with pytest.raises(StudyError, match="must be a file"):
        StudyFile(":memory:", "one", PROBLEM)
    with pytest.raises(StudyError, match="cannot be opened as a study file"):
        StudyFile("nosuchdatabase://host/db", "one", PROBLEM)


def test_a_database_that_is_no_study_file_is_refused_unchanged(tmp_path: Path) -> None:
    path = tmp_path / "fits.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE trials (something INTEGER)")
    connection.close()
    with pytest.raises(StudyError, match="must be an SQLite database of the workbench's studies"):
        StudyFile(path, "one", PROBLEM)


def test_optunas_own_logging_level_is_left_alone(tmp_path: Path) -> None:
    before = optuna.logging.get_verbosity()
    try:
        optuna.logging.set_verbosity(optuna.logging.DEBUG)
        StudyFile(tmp_path / "fits.db", "one", PROBLEM).close()
        assert optuna.logging.get_verbosity() == optuna.logging.DEBUG
    finally:
        optuna.logging.set_verbosity(before)


CREATE = """
import sys, time
from workbench.fit.store.study_file import StudyFile
import optuna
print("ready", flush=True)
sys.stdin.readline()
for n in range(3):
    StudyFile(f"{sys.argv[1]}/{n}.db", sys.argv[2], {"loss": "rmsre"}).close()
"""


def test_processes_that_begin_a_file_at_once_all_succeed(tmp_path: Path) -> None:
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", CREATE, str(tmp_path), f"study {n}"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=Path(__file__).parents[3],
        )
        for n in range(4)
    ]
    for writer in writers:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "ready\n"
    for writer in writers:
        assert writer.stdin is not None
        writer.stdin.write("\n")
        writer.stdin.flush()
    outcomes = [(writer.communicate(timeout=60)[1], writer.returncode) for writer in writers]
    assert outcomes == [("", 0)] * len(writers)
    for n in range(3):
        names = optuna.get_all_study_names(f"sqlite:///{tmp_path / f'{n}.db'}")
        assert sorted(names) == [f"study {m}" for m in range(4)]


def test_a_file_that_another_writes_is_started_when_the_writer_is_done(tmp_path: Path) -> None:
    path = tmp_path / "fits.db"
    optuna.create_study(study_name="theirs", storage=f"sqlite:///{path}")
    writer = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    assert writer.execute("PRAGMA journal_mode").fetchone() == ("delete",)
    writer.execute("BEGIN IMMEDIATE")
    done = threading.Timer(0.2, writer.close)
    done.start()
    StudyFile(path, "one", PROBLEM).close()
    done.join()
    with contextlib.closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)


def test_a_file_whose_making_was_cut_short_is_made_again(tmp_path: Path) -> None:
    path = tmp_path / "fits.db"
    path.touch()
    StudyFile(path, "one", PROBLEM).close()
    assert optuna.get_all_study_names(f"sqlite:///{path}") == ["one"]


def test_who_holds_a_study_can_be_seen_without_holding_it(tmp_path: Path) -> None:
    path = tmp_path / "fits.db"
    place = database.locate(path)
    assert place.held(["one", "two"]) == set()
    file = StudyFile(path, "one", PROBLEM)
    assert place.held(["one", "two"]) == {"one"}
    file.close()
    assert place.held(["one", "two"]) == set()
    # what a killed process leaves behind holds nothing
    locks.lock_file(path, "one").touch()
    assert place.held(["one", "two"]) == set()
    StudyFile(path, "one", PROBLEM).close()


@pytest.mark.parametrize("schema", [optuna_internals.KNOWN_SCHEMA, -1])
def test_a_look_at_a_study_sees_what_its_file_holds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, schema: int
) -> None:
    monkeypatch.setattr(optuna_internals, "KNOWN_SCHEMA", schema)
    path = tmp_path / "fits.db"
    assert stored_studies.read_study(path, "one") is None
    assert stored_studies.read_progress(path, ["one"]) == {}
    assert not path.exists()
    file = StudyFile(path, "one", PROBLEM)
    append(file, trial(0), trial(1, 1e30, "credits < mtu"), trial(2, 0.25), trial(3, 0.25))
    StudyFile(path, "empty", PROBLEM).close()
    found = stored_studies.read_study(path, "one")
    assert found is not None
    assert found.losses.tolist() == [1.5, math.inf, 0.25, 0.25]
    assert found.values == trial(2).values
    assert [type(value) for value in found.values.values()] == [
        type(trial(2).values[key]) for key in found.values
    ]
    assert (found.problem, found.refused) == (PROBLEM, "credits < mtu")
    assert found.seconds >= 0
    assert stored_studies.read_study(path, "two") is None
    assert stored_studies.read_progress(path, ["one", "two", "empty"]) == {
        "one": stored_studies.StoredProgress(4, 0.25),
        "empty": stored_studies.StoredProgress(0, math.inf),
    }
    file.close()


@pytest.mark.parametrize(("loss", "base"), [("rmspe", "rmsre"), ("rmse", "mse")])
def test_trials_taken_over_from_an_equivalent_loss_are_those_it_would_have_tried(
    loss: str, base: str, tmp_path: Path
) -> None:
    curve = datasets.load("azure-hb96v3-hdr")
    own, twin, taken = (tmp_path / name for name in ("own.db", "twin.db", "taken.db"))
    expected = fit(curve, "logp", engine="tpe", loss=loss, trials=60, study=own)
    with FitStudy(curve, "logp", engine="tpe", loss=base, study=twin) as study:
        study.run(50)
        name = study.name
    with FitStudy(curve, "logp", engine="tpe", loss=loss, study=taken) as study:
        study.copy_trials(read_trials(twin, name))
        assert study.done == 50
        with pytest.raises(StudyError, match="it must have no trials"):
            study.copy_trials(read_trials(twin, name))
        found = study.run(60)
    np.testing.assert_array_equal(found.losses, expected.losses)
    assert found.values == expected.values
    assert (
        fit(curve, "logp", engine="tpe", loss=loss, trials=60, study=taken).values
        == expected.values
    )
