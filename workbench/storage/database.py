"""Databases of studies: an SQLite file, or a PostgreSQL database that many machines share.

database = locate("fits.db")
database.prepare()              # makes its tables, whoever else does so at the same moment
with database.hold("a study"):  # one process at a time, until the context or the process ends
    ...
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import sqlite3
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import SplitResult, urlsplit

from workbench.errors import StudyError
from workbench.storage.locks import BUSY_S, busy, hold_file, is_held

PROBLEMS = "workbench_problems"
"""The table of what rows were made for, by name; see ``workbench.storage.row_table``."""

OUTCOMES = "workbench_outcomes"
"""The table of the rows, by name and number."""

_TABLES = (
    f"CREATE TABLE IF NOT EXISTS {PROBLEMS}"
    " (name TEXT PRIMARY KEY, kind TEXT NOT NULL, problem TEXT NOT NULL)",
    f"CREATE TABLE IF NOT EXISTS {OUTCOMES}"
    " (name TEXT NOT NULL, number INTEGER NOT NULL, state TEXT NOT NULL, value DOUBLE PRECISION,"
    " seconds DOUBLE PRECISION NOT NULL, message TEXT NOT NULL, content TEXT NOT NULL,"
    " PRIMARY KEY (name, number))",
)
_POSTGRESQL = ("postgres", "postgresql")
_TABLES_KEY = "workbench: tables"
_AGAIN_S = 0.005  # chosen: a sixth of the switch to WAL, which takes 30 ms here


def locate(where: str | Path) -> Database:
    """Return the database named by a path, ``sqlite:///`` and a path, or ``postgresql://…``."""
    text = str(where)
    if text.startswith("sqlite:///"):
        text = text.removeprefix("sqlite:///")
    elif "://" in text:
        return _server(text)
    if text in ("", ":memory:"):
        raise StudyError(
            "the store must be a file, so that it can be resumed; name one, or pass None to store "
            "nothing"
        )
    return Database(str(where), "", Path(text).expanduser())


def absolute(where: str | Path) -> str:
    """Return the path or address of a database in a form that another process can use."""
    path = locate(where).path
    return str(where) if path is None else str(path.absolute())


class Connection:
    """An open database; each statement has ``?`` for its values and acts whole or not at all."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._server = database.path is None
        self._errors: tuple[type[Exception], ...] = (sqlite3.Error,)
        self._raw: Any
        if database.path is not None:
            with self._reworded():
                # The fit may run in another thread than the one that opened the study.
                self._raw = sqlite3.connect(
                    database.path, timeout=BUSY_S, isolation_level=None, check_same_thread=False
                )
            # With the write-ahead log, NORMAL loses nothing when a process dies and stays
            # consistent when the machine does; it saves a flush to the disk with every row.
            self.run("PRAGMA synchronous = NORMAL")
            return
        try:
            import psycopg
        except ImportError as error:
            raise StudyError(
                f"{database.where} cannot be used: {error}; pip install 'psycopg[binary]'"
            ) from error
        self._errors = (psycopg.Error,)
        with self._reworded():
            self._raw = psycopg.connect(database.address, autocommit=True)

    def run(self, statement: str, *values: Any) -> list[tuple[Any, ...]]:
        """Run a statement and return the rows that it finds."""
        with self._reworded():
            cursor = self._raw.execute(self._marked(statement), values)
            return cursor.fetchall() if cursor.description else []

    def run_for_each(self, statement: str, rows: Sequence[Sequence[Any]]) -> None:
        """Run a statement for the values of each row."""
        with self._reworded():
            self._raw.cursor().executemany(self._marked(statement), rows)

    @contextlib.contextmanager
    def transaction(self, name: str) -> Iterator[None]:
        """Write the rows of a name, alone, and all or none of them."""
        self.run("BEGIN" if self._server else "BEGIN IMMEDIATE")
        try:
            if self._server:
                self.run("SELECT pg_advisory_xact_lock(?)", _key(f"rows of {name}"))
            yield
        except BaseException:
            with contextlib.suppress(StudyError):
                self.run("ROLLBACK")
            raise
        self.run("COMMIT")

    def close(self) -> None:
        """Close it; safe to repeat."""
        self._raw.close()

    def _marked(self, statement: str) -> str:
        return statement.replace("?", "%s") if self._server else statement

    @contextlib.contextmanager
    def _reworded(self) -> Iterator[None]:
        try:
            yield
        except self._errors as error:
            raise StudyError(
                f"{self._database.where} cannot be used as a database of studies: "
                f"{str(error).strip()}; what was stored before is safe"
            ) from error


@dataclass(frozen=True)
class Database:
    """One database of studies."""

    where: str  # as shown to users, without a password
    address: str = field(repr=False)  # with the password; empty for an SQLite file
    path: Path | None  # None for a server

    @property
    def exists(self) -> bool:
        """Whether there is anything to read; a server is taken to be there."""
        return self.path is None or self.path.is_file()

    def prepare(self) -> None:
        """Make the tables if there are none; other processes that do so at the same time wait."""
        if self.path is not None:
            _prepare_file(self.path)
            return
        with self.connected() as connection, connection.transaction(_TABLES_KEY):
            for statement in _TABLES:
                connection.run(statement)

    def has_tables(self) -> bool:
        """Return whether rows can be read; refuse a file with other tables."""
        if not self.exists:
            return False
        with self.connected() as connection:
            if self.path is None:
                return connection.run("SELECT to_regclass(?) IS NOT NULL", OUTCOMES) == [(True,)]
            return _has_our_tables(self.path, connection.run(_NAMES))

    def hold(self, name: str) -> contextlib.AbstractContextManager[None]:
        """Hold the study with this name until the context or this process ends."""
        if self.path is not None:
            return hold_file(self.path, name)
        return self._hold_on_server(name)

    def held(self, names: Iterable[str]) -> set[str]:
        """Return those of the study names that any process holds now, on any machine."""
        if self.path is not None:
            return {name for name in names if is_held(self.path, name)}
        by_key = {_key(name): name for name in names}
        with self.connected() as connection:
            # A lock by one 64-bit key is listed as its upper and its lower half, both unsigned.
            rows = connection.run(
                "SELECT classid::bigint, objid::bigint FROM pg_locks WHERE granted"
                " AND locktype = 'advisory' AND objsubid = 1 AND database ="
                " (SELECT oid FROM pg_database WHERE datname = current_database())"
            )
        taken = {_signed(int(upper) << 32 | int(lower)) for upper, lower in rows}
        return {name for key, name in by_key.items() if key in taken}

    def connected(self) -> contextlib.closing[Connection]:
        """Return a context with an open connection."""
        return contextlib.closing(Connection(self))

    @contextlib.contextmanager
    def _hold_on_server(self, name: str) -> Iterator[None]:
        # The server releases the lock a moment after the connection has ended; a study that was
        # just closed may be opened again at once.
        with self.connected() as connection:
            if connection.run("SELECT pg_try_advisory_lock(?)", _key(name)) != [(True,)]:
                raise busy(name, self.where)
            try:
                yield
            finally:
                with contextlib.suppress(StudyError):
                    connection.run("SELECT pg_advisory_unlock(?)", _key(name))


def _server(text: str) -> Database:
    try:
        parts = urlsplit(text)
        _ = parts.port
    except ValueError as error:
        raise StudyError(
            "the address of a database must read like postgresql://user@host/database; "
            f"this one cannot be read: {error}"
        ) from error
    shown = _without_password(parts)
    if parts.scheme not in _POSTGRESQL:
        raise StudyError(
            f"{shown} cannot be used as a database of studies: it must be an SQLite file or begin "
            "with postgresql://, where a study can be held by one process at a time"
        )
    return Database(shown, text, None)


def _without_password(parts: SplitResult) -> str:
    login, at, host = parts.netloc.rpartition("@")
    user, colon, _ = login.partition(":")
    return parts._replace(netloc=f"{user}{':***' if colon else ''}{at}{host}").geturl()


_NAMES = "SELECT name FROM sqlite_master WHERE type = 'table'"


def _prepare_file(path: Path) -> None:
    """Make the tables in one transaction; refuse a file that holds others."""
    if path.is_dir():
        raise StudyError(f"a study must be a file; {path} is a folder; add a file name to it")
    if not path.absolute().parent.is_dir():
        raise StudyError(
            f"the folder {path.parent} must exist to hold {path.name}; create it first"
        )
    try:
        with contextlib.closing(
            sqlite3.connect(path, timeout=BUSY_S, isolation_level=None)
        ) as connection:
            if not _has_our_tables(path, connection.execute(_NAMES)):
                connection.execute("BEGIN EXCLUSIVE")
                for statement in _TABLES:
                    connection.execute(statement)
                connection.execute("COMMIT")
            _set_wal_mode(connection)
    except sqlite3.OperationalError as error:
        raise StudyError(
            f"{path} cannot be written: {error}; choose a folder you may write to"
        ) from error
    except sqlite3.DatabaseError as error:
        raise StudyError(f"{path} must be an SQLite database: {error}; {_CHOOSE}") from error


_CHOOSE = "choose another file, or a name that does not exist yet"


def _has_our_tables(path: Path, names: Iterable[tuple[Any, ...]]) -> bool:
    tables = {str(name) for (name,) in names}
    if tables and not tables >= {PROBLEMS, OUTCOMES}:
        maker = "Optuna or an earlier release of the workbench" if "studies" in tables else "others"
        raise StudyError(
            f"{path} must be a database of studies of this release; it holds tables of {maker} "
            f"({', '.join(sorted(tables)[:5])}) and was left as it is; {_CHOOSE}"
        )
    return bool(tables)


def _set_wal_mode(connection: sqlite3.Connection) -> None:
    """Switch the file to WAL mode for good, so that others can read while a row is written.

    Where the disk does not support WAL, SQLite keeps its older journal. SQLite does not wait for
    locks in this statement, hence the loop.
    """
    give_up = time.monotonic() + BUSY_S
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > give_up:
                raise
        time.sleep(_AGAIN_S)


def _key(name: str) -> int:
    """Return the 64-bit signed number that stands for a name in PostgreSQL's locks."""
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "big", signed=True)


def _signed(number: int) -> int:
    return number - 2**64 if number >= 2**63 else number


def problem_differences(stored: Mapping[str, Any], asked: Mapping[str, Any]) -> list[str]:
    """Return a sentence for each key in which two problems differ, the release excepted."""
    asked = json.loads(json.dumps(asked))
    return [
        f"{key} was {short_text(stored.get(key))} and is {short_text(asked.get(key))}"
        for key in sorted({*stored, *asked})
        if key != "workbench" and stored.get(key) != asked.get(key)
    ]


def short_text(value: Any) -> str:
    """Return a value as JSON has it, of at most 80 characters."""
    text = value if isinstance(value, str) else json.dumps(value)
    return text if len(text) <= 80 else f"{text[:77]}..."
