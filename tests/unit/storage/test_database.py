"""Databases are named, made, locked and let go, whoever comes at the same moment."""

from __future__ import annotations

import contextlib
import sqlite3
import subprocess
import sys
import threading
from pathlib import Path

import optuna
import pytest

from tests.unit.storage.postgresql import address, server  # noqa: F401 - the fixtures
from workbench.errors import StudyError, StudyHeldError
from workbench.storage import database, locks
from workbench.storage.database import problem_differences
from workbench.storage.row_table import RowTable

ROOT = Path(__file__).parents[3]


def test_addresses_of_databases_are_read_and_shown_without_their_password() -> None:
    place = database.locate("postgresql://me:secret@host:5433/studies")
    assert place.address == "postgresql://me:secret@host:5433/studies"
    assert place.where == "postgresql://me:***@host:5433/studies"
    assert "secret" not in repr(place)
    assert database.locate("postgres://host/s").where == "postgres://host/s"
    with pytest.raises(StudyError, match="must be an SQLite file or begin with postgresql://"):
        database.locate("mysql://host/s")
    with pytest.raises(StudyError, match="must read like postgresql://"):
        database.locate("postgresql://host:port/s")
    with pytest.raises(StudyError, match="must be a file"):
        database.locate(":memory:")
    with pytest.raises(StudyError, match="cannot be used as a database of studies") as caught:
        RowTable("postgresql://me:secret@127.0.0.1:1/studies", "fit").read("one")
    assert "secret" not in str(caught.value)


def test_a_file_of_others_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    text, old, empty = tmp_path / "notes.txt", tmp_path / "old.db", tmp_path / "empty.db"
    text.write_text("not a database, " * 100)
    optuna.create_study(storage=f"sqlite:///{old}", study_name="one")
    for path, says in (
        (text, "notes.txt (must|cannot) be .*file is not a database"),
        (old, "tables of Optuna or an earlier release of the workbench .* left as it is; choose"),
        (tmp_path / "nowhere" / "fits.db", "must exist to hold"),
    ):
        before = path.read_bytes() if path.exists() else None
        with pytest.raises(StudyError, match=says):
            database.locate(path).prepare()
        if before is not None:
            with pytest.raises(StudyError, match=says):
                RowTable(path, "fit").read("one")
            assert path.read_bytes() == before
    # A process that was killed before it made the tables leaves an empty file.
    empty.touch()
    assert RowTable(empty, "fit").names() == []
    database.locate(empty).prepare()


@pytest.mark.parametrize("name", ["what?.db", "100%41.db", "a#b ö.db"])
def test_the_file_is_the_one_that_is_named(tmp_path: Path, name: str) -> None:
    place = database.locate(tmp_path / name)
    place.prepare()
    with place.hold("one"):
        assert place.held(["one", "two"]) == {"one"}
    assert place.held(["one"]) == set()
    # What a killed process leaves behind holds nothing.
    locks.lock_file(tmp_path / name, "one").touch()
    assert place.held(["one"]) == set()
    with place.hold("one"):
        pass
    assert {path.name for path in tmp_path.iterdir()} == {name}


CREATE = """
import sys
from workbench.storage.row_table import RowTable
print("ready", flush=True)
sys.stdin.readline()
for n in range(3):
    RowTable(f"{sys.argv[1]}/{n}.db", "fit").prepare(sys.argv[2], {"loss": "rmsre"})
"""


def test_processes_that_begin_a_file_at_once_all_succeed(tmp_path: Path) -> None:
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", CREATE, str(tmp_path), f"study {n}"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=ROOT,
        )
        for n in range(3)
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
        names = RowTable(tmp_path / f"{n}.db", "fit").names()
        assert names == [f"study {m}" for m in range(len(writers))]


def test_a_file_that_another_writes_waits_for_the_writer(tmp_path: Path) -> None:
    path = tmp_path / "fits.db"
    writer = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    writer.execute("BEGIN IMMEDIATE")
    done = threading.Timer(0.1, writer.close)
    done.start()
    database.locate(path).prepare()
    done.join()
    with contextlib.closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)


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


HOLD = """
import sys
from workbench.storage.database import locate
with locate(sys.argv[1]).hold("one"):
    print("held", flush=True)
    sys.stdin.readline()
"""


def test_a_killed_process_lets_go_on_a_server(address: str) -> None:  # noqa: F811 - the fixture
    place = database.locate(address)
    names = [f"study {n}" for n in range(8)]  # keys of either sign
    with contextlib.ExitStack() as stack:
        for name in names[:4]:
            stack.enter_context(place.hold(name))
        assert place.held(names) == set(names[:4])
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, address],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(StudyHeldError), place.hold("one"):
            pass
        holder.kill()
    # The server sees the end of the connection, not of the process: a moment later.
    for _ in range(1200):
        if not place.held(["one"]):
            break
        threading.Event().wait(0.05)
    with place.hold("one"):
        pass


def test_problems_differ_where_a_value_does_but_not_where_the_release_does() -> None:
    stored = {"workbench": "1", "seed": 0, "values": [1, 2], "text": "x" * 100}
    assert problem_differences(stored, {**stored, "workbench": "2", "values": (1, 2)}) == []
    assert problem_differences(stored, {**stored, "seed": 1}) == ["seed was 0 and is 1"]
    (cut,) = problem_differences(stored, {**stored, "text": ""})
    assert cut == f"text was {'x' * 77}... and is "
