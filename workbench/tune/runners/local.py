"""Runs as processes of this machine, each in a session of its own."""

from __future__ import annotations

import contextlib
import os
import platform
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from workbench.errors import ParameterError
from workbench.tune.component.invocation import Invocation
from workbench.tune.runners.bounded_output import MOST_OUTPUT_BYTES, BoundedOutput
from workbench.tune.runners.process_cleanup import GUARD, end_session
from workbench.tune.runners.runner import (
    SEED_VARIABLE,
    RunHandle,
    Runner,
    RunnerError,
    RunOutput,
    RunRequest,
    RunState,
)

_GRACE_S = 2.0  # mpirun kills its ranks 1 s after SIGTERM (odls_base_sigkill_timeout)

# The header is a text of the component's author; the values come as words, which no shell reads.
_WITH_HEADER = '{header}\ndate +%s.%N >"$0"\nexec "$@"\n'


class Local(Runner):
    """Runs programs here, without a shell.

    A run that takes too long is ended with everything it started, and so is one whose experiment
    dies.

    Args:
        folder: where programs run; None for the present one.
        environment: variables for every run beside those of this process.
        most_output_bytes: what is kept of each stream of a run.
    """

    name = "local"

    def __init__(
        self,
        folder: str | Path | None = None,
        *,
        environment: Mapping[str, str] | None = None,
        most_output_bytes: int = MOST_OUTPUT_BYTES,
    ) -> None:
        self.folder = None if folder is None else Path(folder)
        self.environment = dict(environment or {})
        self.most_output_bytes = most_output_bytes

    def start(self, request: RunRequest) -> RunHandle:
        """Start a program and return at once.

        Args:
            request: what to run.

        Raises:
            RunnerError: there is no such program, or it cannot be executed.
            ParameterError: there is nothing to run, or an option is meant for ``sbatch``.
        """
        invocation = request.invocation
        refuse_empty(invocation)
        if invocation.sbatch_options or invocation.directives:
            given = " ".join((*invocation.sbatch_options, *invocation.directives))
            raise ParameterError(
                f"a local run has no batch system that could take {given!r}; run it with the "
                "Slurm runner",
                key="runner",
            )
        return _Process(request, self)


class _Process:
    """One process and its session."""

    def __init__(self, request: RunRequest, runner: Local) -> None:
        self._request = request
        self._why: RunState | None = None
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self._output: RunOutput | None = None
        self._began_file: str | None = None
        own = {**runner.environment, SEED_VARIABLE: str(request.seed)}
        words = list(request.invocation.argv)
        if request.invocation.header:
            # Only the program must have its variables, such as a library to preload.
            words = [*_env(request.invocation.env), *words]
            handle, self._began_file = tempfile.mkstemp(prefix="workbench-began-")
            os.close(handle)
            script = _WITH_HEADER.format(header=request.invocation.header)
            words = ["bash", "-c", script, self._began_file, *words]
        else:
            own |= request.invocation.env
        environment = {**os.environ, **own}
        # The shell that starts the program would report this too late and less clearly.
        if shutil.which(words[0], path=environment.get("PATH")) is None:
            self._forget_began_file()
            raise RunnerError(
                f"{words[0]} must be a program that can run; it was not found; install it, or "
                "write its path"
            )
        self._started = datetime.now().astimezone()
        self._clock = time.perf_counter()
        try:
            self._process = subprocess.Popen(
                words,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=environment,
                cwd=runner.folder,
                start_new_session=True,
            )
        except OSError as error:
            self._forget_began_file()
            raise RunnerError(f"{words[0]} must be a program that can run; {error}") from error
        GUARD.watch(self._process.pid)
        if self._process.stdout is None or self._process.stderr is None:
            raise RunnerError("a run must have pipes for its output; there are none")
        self._stdout = BoundedOutput(self._process.stdout, runner.most_output_bytes)
        self._stderr = BoundedOutput(self._process.stderr, runner.most_output_bytes)
        self._timers: list[threading.Timer] = []
        if request.timeout_s is not None:
            self._later(request.timeout_s, self._end, "timeout")
        threading.Thread(target=self._wait, daemon=True).start()

    @property
    def job_id(self) -> str:
        """Number of the process."""
        return str(self._process.pid)

    def poll(self) -> RunOutput | None:
        """Return the output; None while the process runs."""
        return self._output if self._ended.is_set() else None

    def cancel(self) -> None:
        """End the process and all that it started."""
        self._end("cancelled")

    def _end(self, why: RunState) -> None:
        with self._lock:
            if self._why is not None or self._ended.is_set():
                return
            self._why = why
        self._signal(signal.SIGTERM)
        self._later(_GRACE_S, self._signal, signal.SIGKILL)

    def _later(self, seconds: float, action: Any, argument: Any) -> None:
        timer = threading.Timer(seconds, action, (argument,))
        timer.daemon = True
        self._timers.append(timer)
        timer.start()

    def _signal(self, number: signal.Signals) -> None:
        # The first process is not reaped before the others are gone, so its number is no other's.
        if self._process.returncode is not None:
            return
        if number == signal.SIGKILL:
            end_session(self._process.pid, number)
            return
        # The launcher gets the signal first: it can end its ranks.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, number)

    def _wait(self) -> None:
        # Popen.wait with a limit looks 20 times a second; this sees the end at once.
        os.waitid(os.P_PID, self._process.pid, os.WEXITED | os.WNOWAIT)
        seconds = time.perf_counter() - self._clock
        ended = time.time()
        self._signal(signal.SIGKILL)
        for timer in self._timers:
            timer.cancel()
        GUARD.release(self._process.pid)
        returncode = self._process.wait()
        self._stdout.join(_GRACE_S)
        self._stderr.join(_GRACE_S)
        with self._lock:
            state: RunState = self._why or ("completed" if returncode == 0 else "failed")
        self._output = RunOutput(
            seconds=self._without_header(seconds, ended),
            returncode=returncode,
            stdout=self._stdout.text,
            stderr=self._stderr.text,
            job_id=self.job_id,
            node_list=platform.node(),
            state=state,
            started=self._started.isoformat(),
        )
        self._ended.set()

    def _without_header(self, seconds: float, ended: float) -> float:
        if self._began_file is None:
            return seconds
        try:
            began = float(Path(self._began_file).read_text())
        except (OSError, ValueError):
            return seconds
        finally:
            self._forget_began_file()
        return max(ended - began, 0.0)

    def _forget_began_file(self) -> None:
        if self._began_file is not None:
            Path(self._began_file).unlink(missing_ok=True)


def refuse_empty(invocation: Invocation) -> None:
    """Raise if an invocation has no program to run."""
    if not invocation.argv:
        raise ParameterError(
            "a run must have a program; this component only sets up others; name an application, "
            "such as application=('mpirun', '-np', '4', './app')",
            key="application",
        )


def _env(variables: Mapping[str, str]) -> list[str]:
    return ["env", *(f"{name}={value}" for name, value in variables.items())] if variables else []
