"""Databases are named, locked and let go, whoever comes at the same moment."""

from __future__ import annotations

import contextlib
import sqlite3
import threading
from pathlib import Path

import pytest
from optuna.study import StudyDirection

from workbench.errors import StudyError, StudyHeldError
from workbench.storage import database
from workbench.storage.database import problem_differences


def test_addresses_of_databases_are_read_and_shown_without_their_password() -> None:
    place = database.locate("postgresql://me:secret@host:5433/studies")
    assert place.address == "postgresql+psycopg://me:secret@host:5433/studies"
    assert place.where == "postgresql://me:***@host:5433/studies"
    assert database.locate("postgres://host/s").address == "postgresql+psycopg://host/s"
    other = "postgresql+psycopg2://host/s"
    assert database.locate(other).address == other
    assert "secret" not in repr(place)
    with pytest.raises(StudyError, match="must be an SQLite file or begin with postgresql://"):
        database.locate("mysql://host/s")
    with pytest.raises(StudyError, match="must read like postgresql://"):
        database.locate("postgresql://host:port/s")


def test_a_study_is_let_go_and_taken_over_by_many_without_two_ever_holding_it(
    tmp_path: Path,
) -> None:
    place = database.locate(tmp_path / "fits.db")
    place.prepare()
    holders: list[int] = []
    most: list[int] = []
    failures: list[BaseException] = []

    def grab(number: int) -> None:
        try:
            for _ in range(8):
                try:
                    with place.hold("one"):
                        holders.append(number)
                        most.append(len(holders))
                        holders.remove(number)
                except StudyHeldError:
                    continue
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=grab, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert set(most) == {1}
    assert place.held(["one"]) == set()
    assert not list(tmp_path.glob(".*lock"))


@pytest.mark.parametrize("name", ["what?.db", "100%41.db", "a#b ö.db"])
def test_optuna_opens_the_file_that_is_named(tmp_path: Path, name: str) -> None:
    place = database.locate(tmp_path / name)
    place.prepare()
    storage = place.open_storage()
    storage.create_new_study([StudyDirection.MINIMIZE], "one")
    storage.engine.dispose()
    with contextlib.closing(sqlite3.connect(tmp_path / name)) as connection:
        assert connection.execute("SELECT study_name FROM studies").fetchall() == [("one",)]
    assert {path.name for path in tmp_path.iterdir()} == {name}


def test_problems_differ_where_a_value_does_but_not_where_the_release_does() -> None:
    stored = {"workbench": "1", "seed": 0, "values": [1, 2], "text": "x" * 100}
    assert problem_differences(stored, {**stored, "workbench": "2", "values": (1, 2)}) == []
    assert problem_differences(stored, {**stored, "seed": 1}) == ["seed was 0 and is 1"]
    (cut,) = problem_differences(stored, {**stored, "text": ""})
    assert cut == f"text was {'x' * 77}... and is "
