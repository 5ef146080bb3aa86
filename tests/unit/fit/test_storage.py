"""Studies on disk: what Optuna reads there, who may write, what is refused."""

from __future__ import annotations

import sqlite3
import threading
from datetime import datetime
from pathlib import Path
from typing import Any

import optuna
import pytest

from workbench.errors import StudyError
from workbench.fit import storage
from workbench.fit.space import SearchSpace
from workbench.fit.storage import StoredTrial, StudyFile
from workbench.models import SNAPPR

PROBLEM = {"loss": "rmsre", "seed": 0, "workbench": "1"}
SPACE = SearchSpace.for_model(SNAPPR())
DISTRIBUTIONS = SPACE.distributions()


def trial(number: int, loss: float = 1.5, invalid: str = "") -> StoredTrial:
    values = {d.key: d.clip((d.low * d.high) ** 0.5 / (number + 1)) for d in SPACE.dimensions}
    return StoredTrial(number, values, loss, invalid)


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


@pytest.mark.parametrize("schema", [storage._KNOWN_SCHEMA, -1])
def test_optuna_reads_what_was_written_either_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, schema: int
) -> None:
    # -1: a release of Optuna whose tables are not known is written through its own calls
    monkeypatch.setattr(storage, "_KNOWN_SCHEMA", schema)
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
    assert study.user_attrs == {storage.PROBLEM: PROBLEM}


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


def test_trials_that_somebody_else_adds_are_noticed(tmp_path: Path) -> None:
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
    with pytest.raises(StudyError, match="is no fit of the workbench"):
        StudyFile(url, "theirs", PROBLEM)


def test_files_that_cannot_be_studies_are_refused(tmp_path: Path) -> None:
    text = tmp_path / "notes.txt"
    text.write_text("not a database, " * 100)
    with pytest.raises(StudyError, match="must be a study file"):
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
    with pytest.raises(StudyError, match="must be a study file"):
        StudyFile(path, "one", PROBLEM)


def test_optunas_own_logging_level_is_left_alone(tmp_path: Path) -> None:
    before = optuna.logging.get_verbosity()
    try:
        optuna.logging.set_verbosity(optuna.logging.DEBUG)
        StudyFile(tmp_path / "fits.db", "one", PROBLEM).close()
        assert optuna.logging.get_verbosity() == optuna.logging.DEBUG
    finally:
        optuna.logging.set_verbosity(before)
