"""Locks on studies of an SQLite file: one process at a time, released however it ends."""

from __future__ import annotations

import contextlib
import hashlib
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from workbench.errors import StudyError, StudyHeldError

BUSY_S = 60.0
"""Seconds to wait for other writers of the file; each takes about a millisecond."""

# Longer than any check of a lock, so that a check never makes a starting run fail.
_HOLD_S = 0.25


@contextlib.contextmanager
def hold_file(path: Path, name: str) -> Iterator[None]:
    """Hold a study of an SQLite file through SQLite's lock on a small file beside it.

    The system releases the lock when the process ends, in whatever way. A short lock on the study
    file itself orders making and deleting the small file between processes.
    """
    lock = lock_file(path, name)
    try:
        with _moment_alone(path):
            connection = sqlite3.connect(
                lock, timeout=_HOLD_S, isolation_level=None, check_same_thread=False
            )
            try:
                connection.execute("BEGIN EXCLUSIVE")
            except BaseException:
                connection.close()
                raise
    except sqlite3.OperationalError as error:
        if "locked" not in str(error):
            raise StudyError(
                f"{path} cannot be written: {error}; choose a folder you may write to"
            ) from error
        raise busy(name, str(path)) from error
    try:
        yield
    finally:
        # Nothing waits for a study file that has been deleted. Windows deletes no open file.
        with contextlib.suppress(sqlite3.Error, OSError), _moment_alone(path):
            connection.close()
            lock.unlink(missing_ok=True)
        connection.close()


@contextlib.contextmanager
def wait_for_file(path: Path) -> Iterator[None]:
    """Hold a file of any kind for a moment, after its other writers; an empty file beside stays."""
    lock = path.with_name(f".{path.name}.lock")
    with contextlib.ExitStack() as held:
        try:
            held.enter_context(_moment_alone(lock, "rwc"))
        except sqlite3.OperationalError as error:
            raise StudyError(
                f"{path} cannot be written: {error}; choose a folder you may write to"
            ) from error
        yield


@contextlib.contextmanager
def _moment_alone(path: Path, mode: str = "rw") -> Iterator[None]:
    address = f"{path.absolute().as_uri()}?mode={mode}"
    with contextlib.closing(
        sqlite3.connect(address, timeout=BUSY_S, isolation_level=None, uri=True)
    ) as connection:
        connection.execute("BEGIN IMMEDIATE")
        try:
            yield
        finally:
            connection.execute("ROLLBACK")


def lock_file(path: Path, name: str) -> Path:
    """Return the path of the small file that is locked while a study is held."""
    digest = hashlib.sha256(name.encode()).hexdigest()[:12]
    return path.with_name(f".{path.name}.{digest}.lock")


def is_held(path: Path, name: str) -> bool:
    """Return whether any process holds a study now; holds nothing itself."""
    lock = lock_file(path, name)
    if not lock.is_file():
        return False
    try:
        address = f"{lock.absolute().as_uri()}?mode=ro"
        with contextlib.closing(sqlite3.connect(address, timeout=0.0, uri=True)) as connection:
            connection.execute("SELECT COUNT(*) FROM sqlite_master").fetchone()
    except sqlite3.OperationalError as error:
        # A file that went away in between cannot be opened; a lock that is held says "locked".
        return "locked" in str(error)
    return False


def busy(name: str, where: str) -> StudyHeldError:
    """Return the error about a study that another process holds."""
    return StudyHeldError(
        f"the study {name!r} in {where} is being run by another notebook or process; stop it "
        "there, or choose another name: several studies may share the file"
    )
