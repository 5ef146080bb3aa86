"""A command in a process group of its own: a time limit, a way to stop it, its last words."""

from __future__ import annotations

import collections
import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence

from workbench.mpi.errors import MPIError
from workbench.tasks import Task

_LAST_LINES = 12  # Open MPI's framed report of a missing program has 8; half would cut it
_LONGEST_LINE = 500  # chosen: reports are 80 columns wide; what is longer is a program's data
_POLL_S = 0.05  # chosen: short beside the start of an MPI program; programs time themselves
_GRACE_S = 5.0  # mpirun kills ranks 1 s after SIGTERM (odls_base_sigkill_timeout), then ends


def run_command(
    words: Sequence[str],
    environment: Mapping[str, str],
    timeout: float | None,
    output: Callable[[str], object] | None,
    task: Task,
    *,
    started: Callable[[int], object] | None = None,
) -> tuple[int, str]:
    """Return the exit status of a command, and its last lines of output as one line.

    Args:
        words: the command and its arguments; no shell reads them.
        environment: all variables of its environment.
        timeout: seconds after which it is ended; None waits as long as it takes.
        output: called with each line that it writes, from a thread; None drops them.
        task: once it is stopped, the command is ended.
        started: called with the number of its process.

    Raises:
        MPIError: the command could not start, took too long or was stopped.
    """
    try:
        process = subprocess.Popen(
            words,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=environment,
            start_new_session=True,
        )
    except OSError as error:
        raise MPIError(f"{words[0]} must run; {error}") from error
    last: collections.deque[str] = collections.deque(maxlen=_LAST_LINES)
    reader = threading.Thread(target=_read, args=(process, last, output), daemon=True)
    reader.start()
    end = None if timeout is None else time.monotonic() + timeout
    try:
        if started is not None:
            started(process.pid)
        while process.poll() is None:
            if task.stopping:
                raise MPIError("stopped before the program had ended")
            if end is not None and time.monotonic() > end:
                raise MPIError(
                    f"the program must end within {timeout:g} s; it did not and was ended"
                )
            time.sleep(_POLL_S)
    finally:
        _end(process)
        # A grandchild may hold the pipe open for ever; what it writes is not waited for.
        reader.join(_GRACE_S)
    return process.returncode, " | ".join(last)


def _read(
    process: subprocess.Popen[bytes],
    last: collections.deque[str],
    output: Callable[[str], object] | None,
) -> None:
    if process.stdout is None:
        return
    with process.stdout as stream:
        for raw in stream:
            line = raw.decode("utf-8", errors="replace").rstrip()
            # Launchers underline and frame what they say.
            if line.strip(" -"):
                last.append(line.strip()[:_LONGEST_LINE])
            if output is not None:
                output(line)


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a process that still runs; the launcher forwards the first signal to its ranks."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        if process.poll() is not None:
            return
        try:
            os.killpg(process.pid, number)
            process.wait(_GRACE_S)
        except (ProcessLookupError, subprocess.TimeoutExpired):
            continue
