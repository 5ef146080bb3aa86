"""Ends what is left of a session of processes, and of all of them should this process die.

A launcher such as ``mpirun`` gives its ranks process groups of their own; their session is the
run's. This file is also the program of the process that watches over them: it reads which sessions
there are, and when its input ends, the writer has died.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

_GRACE_S = 2.0
_PROC = Path("/proc")


def end_session(session: int, number: signal.Signals) -> None:
    """Send a signal to every process of a session; without /proc, to its first group."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(session, number)
    for process in _members(session):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(process, number)


class Guard:
    """Ends the sessions of this process's runs when this process dies, however it dies."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[str] | None = None
        self._owner = 0
        self._sessions: set[int] = set()
        atexit.register(self._close)

    def watch(self, session: int) -> None:
        """Have a session, given by its first process's number, ended when this process dies."""
        with self._lock:
            self._watched().add(session)
            self._write_line(f"+{session}")

    def release(self, session: int) -> None:
        """Stop watching a session that has ended."""
        with self._lock:
            self._watched().discard(session)
            self._write_line(f"-{session}")

    def _close(self) -> None:
        """Close the watching process as this one exits; it ends the remaining sessions first."""
        with self._lock:
            if self._process is None or self._owner != os.getpid():
                return
            if self._process.stdin is not None:
                with contextlib.suppress(BrokenPipeError):
                    self._process.stdin.close()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(2.0 * _GRACE_S)
            self._process = None

    def _watched(self) -> set[int]:
        """Return the sessions of this process, not those of the process it was forked from."""
        if self._owner != os.getpid():
            self._process, self._owner, self._sessions = None, os.getpid(), set()
        return self._sessions

    def _write_line(self, line: str) -> None:
        # A guard that was killed is replaced by another, which must be sent all sessions.
        if self._process is None or self._process.poll() is not None:
            if self._process is not None and self._process.stdin is not None:
                with contextlib.suppress(BrokenPipeError):
                    self._process.stdin.close()
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-S", __file__],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                text=True,
                start_new_session=True,
            )
            line = "\n".join(f"+{session}" for session in self._sessions)
        if self._process.stdin is not None:
            with contextlib.suppress(BrokenPipeError):
                self._process.stdin.write(f"{line}\n")
                self._process.stdin.flush()


GUARD = Guard()
"""The guard of this process."""


def _members(session: int) -> Iterator[int]:
    for entry in _PROC.glob("[0-9]*/stat"):
        with contextlib.suppress(OSError, ValueError, IndexError):
            # The name comes in parentheses and may hold anything; state, parent, group follow.
            fields = entry.read_bytes().rpartition(b")")[2].split()
            if int(fields[3]) == session:
                yield int(entry.parent.name)


def _watch(lines: Iterable[str]) -> None:
    sessions: set[int] = set()
    for line in lines:
        if line.startswith("+"):
            sessions.add(int(line[1:]))
        elif line.startswith("-"):
            sessions.discard(int(line[1:]))
    for number in (signal.SIGTERM, signal.SIGKILL):
        for session in sessions:
            end_session(session, number)
        if sessions and number == signal.SIGTERM:
            time.sleep(_GRACE_S)


if __name__ == "__main__":
    _watch(sys.stdin)
