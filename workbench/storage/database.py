"""Databases of studies: an SQLite file, or a PostgreSQL database that many machines share.

database = locate("fits.db")
database.prepare()              # makes its tables, whoever else does so at the same moment
with database.hold("a study"):  # one process at a time, until the context or the process ends
    ...
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import sqlite3
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.errors import StudyError
from workbench.storage.locks import BUSY_S, busy, hold_file, is_held
from workbench.storage.optuna_internals import STUDY_TABLES, has_known_tables
from workbench.storage.optuna_log import quiet_optuna

if TYPE_CHECKING:
    import optuna
    import sqlalchemy


_POSTGRESQL = ("postgres", "postgresql")
_TABLES_KEY = "workbench: tables of Optuna"
_AGAIN_S = 0.005


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
            _check_file(self.path)
            _prepare_file(self.path)
            return
        with self._session() as session:
            session.execute(_sql("SELECT pg_advisory_lock(:key)"), {"key": _key(_TABLES_KEY)})
            self.open_storage().engine.dispose()

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
        with self._session() as session:
            # A lock by one 64-bit key is listed as its upper and its lower half, both unsigned.
            rows = session.execute(
                _sql(
                    "SELECT classid::bigint, objid::bigint FROM pg_locks WHERE granted"
                    " AND locktype = 'advisory' AND objsubid = 1 AND database ="
                    " (SELECT oid FROM pg_database WHERE datname = current_database())"
                )
            ).all()
        taken = {_signed(int(upper) << 32 | int(lower)) for upper, lower in rows}
        return {name for key, name in by_key.items() if key in taken}

    def open_storage(self) -> optuna.storages.RDBStorage:
        """Return Optuna's storage for the database, which must be prepared or on a server."""
        import optuna
        from optuna.exceptions import OptunaError
        from sqlalchemy.exc import SQLAlchemyError

        options = {"connect_args": {"timeout": BUSY_S}} if self.path is not None else None
        try:
            with quiet_optuna():
                return optuna.storages.RDBStorage(self._url(), engine_kwargs=options)
        except (SQLAlchemyError, OptunaError, ImportError, RuntimeError) as error:
            raise self._unusable(error) from error

    def connect_directly(self) -> sqlite3.Connection | None:
        """Return a connection for writing without Optuna; None on a server or unknown tables."""
        if self.path is None:
            return None
        connection = _connect(self.path)
        if has_known_tables(connection.execute):
            return connection
        connection.close()
        return None

    def has_table(self, name: str) -> bool:
        """Return whether the database has a table of that name."""
        import sqlalchemy

        with self._session() as session:
            return sqlalchemy.inspect(session).has_table(name)

    def add_tables(self, statements: Iterable[str]) -> None:
        """Run statements that make tables; others that do so at the same time wait."""
        with self._session() as session:
            if self.path is None:
                session.execute(_sql("SELECT pg_advisory_lock(:key)"), {"key": _key(_TABLES_KEY)})
            for statement in statements:
                session.execute(_sql(statement))

    def change(self, statement: str, values: Mapping[str, Any]) -> None:
        """Run one statement that changes rows, whole or not at all."""
        with self._session() as session:
            if self.path is not None:
                session.execute(_sql("PRAGMA synchronous = NORMAL"))
            session.execute(_sql(statement), values)

    def query(self, statement: str, values: Mapping[str, Any]) -> list[tuple[Any, ...]]:
        """Return the rows that a statement finds."""
        with self._session() as session:
            return [tuple(row) for row in session.execute(_sql(statement), values)]

    @contextlib.contextmanager
    def reading(self) -> Iterator[sqlalchemy.Connection]:
        """Yield a connection for reading, and close it."""
        with self._session() as session:
            yield session

    @contextlib.contextmanager
    def _hold_on_server(self, name: str) -> Iterator[None]:
        # The server releases the lock a moment after the connection has ended; a study that was
        # just closed may be opened again at once.
        from sqlalchemy.exc import SQLAlchemyError

        key = {"key": _key(name)}
        with self._session() as session:
            if not session.execute(_sql("SELECT pg_try_advisory_lock(:key)"), key).scalar():
                raise busy(name, self.where)
            try:
                yield
            finally:
                with contextlib.suppress(SQLAlchemyError):
                    session.execute(_sql("SELECT pg_advisory_unlock(:key)"), key)

    @contextlib.contextmanager
    def _session(self) -> Iterator[sqlalchemy.Connection]:
        import sqlalchemy
        from sqlalchemy.exc import SQLAlchemyError
        from sqlalchemy.pool import NullPool

        options = {"timeout": BUSY_S} if self.path is not None else {}
        try:
            engine = sqlalchemy.create_engine(
                self._url(),
                poolclass=NullPool,
                isolation_level="AUTOCOMMIT",
                connect_args=options,
            )
            with engine.connect() as connection:
                yield connection
        except (SQLAlchemyError, ImportError) as error:
            raise self._unusable(error) from error

    def _url(self) -> str:
        from sqlalchemy.engine import URL

        # A name may have ? and % in it, which mean something in an address.
        file = URL.create("sqlite", database=str(self.path))
        return self.address if self.path is None else file.render_as_string()

    def _unusable(self, error: Exception) -> StudyError:
        reason = str(getattr(error, "orig", None) or error).strip()
        hint = "; pip install 'psycopg[binary]'" if isinstance(error, ImportError) else ""
        return StudyError(f"{self.where} cannot be opened as a study file: {reason}{hint}")


def _server(text: str) -> Database:
    from sqlalchemy.engine import make_url
    from sqlalchemy.exc import ArgumentError

    try:
        url = make_url(text)
    except (ArgumentError, ValueError) as error:
        raise StudyError(
            "the address of a database must read like postgresql://user@host/database; "
            f"this one cannot be read: {error}"
        ) from error
    kind, _, driver = url.drivername.partition("+")
    if kind not in _POSTGRESQL:
        raise StudyError(
            f"{url.render_as_string()} cannot be opened as a study file: it must be an SQLite "
            "file or begin with postgresql://, where a study can be held by one process at a time"
        )
    url = url.set(drivername=f"postgresql+{driver or 'psycopg'}")
    shown = url.set(drivername="postgresql").render_as_string(hide_password=True)
    return Database(shown, url.render_as_string(hide_password=False), None)


def _check_file(path: Path) -> None:
    if path.is_dir():
        raise StudyError(f"a study must be a file; {path} is a folder; add a file name to it")
    if not path.absolute().parent.is_dir():
        raise StudyError(
            f"the folder {path.parent} must exist to hold {path.name}; create it first"
        )


def _prepare_file(path: Path) -> None:
    """Make Optuna's tables in one transaction; refuse a file that holds other tables.

    Optuna makes them one by one: two processes that create a file at the same time collide with
    "table already exists", and a process that is killed meanwhile leaves half of them.
    """
    try:
        with contextlib.closing(_connect(path)) as connection:
            if not _tables(connection):
                script = _empty_database()
                connection.execute("BEGIN EXCLUSIVE")
                if not _tables(connection):
                    for statement in script:
                        connection.execute(statement)
                connection.execute("COMMIT")
            tables = _tables(connection)
            if not tables >= STUDY_TABLES:
                raise sqlite3.DatabaseError(f"it holds {', '.join(sorted(tables))}")
            _set_wal_mode(connection)
    except sqlite3.OperationalError as error:
        raise StudyError(
            f"{path} cannot be written: {error}; choose a folder you may write to"
        ) from error
    except sqlite3.DatabaseError as error:
        raise StudyError(
            f"{path} must be an SQLite database of the workbench's studies or experiments: {error};"
            " choose another file, or a name that does not exist yet"
        ) from error


def _set_wal_mode(connection: sqlite3.Connection) -> None:
    """Switch the file to WAL mode for good, so that others can read while a trial is written.

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


def _tables(connection: sqlite3.Connection) -> set[str]:
    query = "SELECT name FROM sqlite_master WHERE type = 'table'"
    return {name for (name,) in connection.execute(query)}


@functools.cache
def _empty_database() -> tuple[str, ...]:
    """Return the statements that make the tables of this release of Optuna."""
    import optuna

    with tempfile.TemporaryDirectory(prefix="workbench-") as folder:
        path = Path(folder) / "empty.db"
        with quiet_optuna():
            optuna.storages.RDBStorage(f"sqlite:///{path}").engine.dispose()
        with contextlib.closing(sqlite3.connect(path)) as connection:
            # The first and last are BEGIN and COMMIT; the transaction is the caller's.
            return tuple(connection.iterdump())[1:-1]


def _connect(path: Path) -> sqlite3.Connection:
    # The fit may run in another thread than the one that opened the study; one writes at a time.
    connection = sqlite3.connect(
        path, timeout=BUSY_S, isolation_level=None, check_same_thread=False
    )
    # With the write-ahead log, NORMAL loses nothing when a process dies and stays consistent when
    # the machine does; it saves a flush to the disk with every trial.
    connection.execute("PRAGMA synchronous = NORMAL")
    return connection


def _key(name: str) -> int:
    """Return the 64-bit signed number that stands for a name in PostgreSQL's locks."""
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "big", signed=True)


def _signed(number: int) -> int:
    return number - 2**64 if number >= 2**63 else number


def _sql(text: str) -> Any:
    import sqlalchemy

    return sqlalchemy.text(text)


def problem_differences(stored: Mapping[str, Any], asked: Mapping[str, Any]) -> list[str]:
    """Return a sentence for each key in which two problems differ, the release excepted."""
    asked = json.loads(json.dumps(asked))
    return [
        f"{key} was {_short(stored.get(key))} and is {_short(asked.get(key))}"
        for key in sorted({*stored, *asked})
        if key != "workbench" and stored.get(key) != asked.get(key)
    ]


def _short(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value)
    return text if len(text) <= 80 else f"{text[:77]}..."
