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

_EXIT_S = 4.0  # sessions are killed after the 2 s of ``watch``; twice that, as a look takes time
_POLL_S = 0.1  # chosen: each look reads the state of every process of the machine
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
        self._sessions: dict[int, str] = {}
        atexit.register(self._close)

    def watch(self, session: int, grace_s: float = 2.0, ends_alone_s: float = 0.0) -> None:
        """Have a session, given by its first process's number, ended when this process dies.

        It has ``ends_alone_s`` seconds to end because its input did, is then asked to end, and is
        killed ``grace_s`` seconds later.
        """
        with self._lock:
            self._watched()[session] = f"{grace_s} {ends_alone_s}"
            self._write_line(f"+{session} {self._sessions[session]}")

    def release(self, session: int) -> None:
        """Stop watching a session that has ended."""
        with self._lock:
            self._watched().pop(session, None)
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
                self._process.wait(_EXIT_S)
            self._process = None

    def _watched(self) -> dict[int, str]:
        """Return the sessions of this process, not those of the process it was forked from."""
        if self._owner != os.getpid():
            self._process, self._owner, self._sessions = None, os.getpid(), {}
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
            line = "\n".join(f"+{session} {times}" for session, times in self._sessions.items())
        if self._process.stdin is not None:
            with contextlib.suppress(BrokenPipeError):
                self._process.stdin.write(f"{line}\n")
                self._process.stdin.flush()


GUARD = Guard()
"""The guard of this process."""


def _members(session: int) -> Iterator[int]:
    """Yield the processes of a session, without those that ended and wait for their parent."""
    for entry in _PROC.glob("[0-9]*/stat"):
        with contextlib.suppress(OSError, ValueError, IndexError):
            # The name comes in parentheses and may hold anything; state, parent, group follow.
            fields = entry.read_bytes().rpartition(b")")[2].split()
            if int(fields[3]) == session and fields[0] != b"Z":
                yield int(entry.parent.name)


def _has_ended(session: int) -> bool:
    """Return whether a session has no process left; without /proc nobody knows."""
    return _PROC.joinpath("self").exists() and not any(_members(session))


def _watch(lines: Iterable[str]) -> None:
    sessions: dict[int, tuple[float, float]] = {}
    for line in lines:
        number, *times = line[1:].split()
        if line.startswith("+"):
            grace_s, ends_alone_s = map(float, times)
            sessions[int(number)] = (grace_s, ends_alone_s)
        elif line.startswith("-"):
            sessions.pop(int(number), None)
    began = time.monotonic()
    asked: set[int] = set()
    while sessions:
        passed_s = time.monotonic() - began
        for session, (grace_s, ends_alone_s) in list(sessions.items()):
            is_late = passed_s > ends_alone_s + grace_s
            if is_late:
                end_session(session, signal.SIGKILL)
            if is_late or _has_ended(session):
                del sessions[session]
            elif passed_s >= ends_alone_s and session not in asked:
                end_session(session, signal.SIGTERM)
                asked.add(session)
        time.sleep(_POLL_S)


if __name__ == "__main__":
    _watch(sys.stdin)
