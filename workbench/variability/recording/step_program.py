"""One run of the step program: its processes, its steps, and the counters at the end of each."""

from __future__ import annotations

import contextlib
import os
import shlex
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from workbench.mpi import Launcher, MPIError, Recipe, find_launcher
from workbench.namespaces import alone
from workbench.tasks import Task
from workbench.variability.recording.network import PORT, LinkNetwork, LinkRecordingError

ROUTINES = ("compute", "Testall", "Iallreduce", "Ibarrier")
"""Where the program's time goes; ``compute`` is sleeping."""

_SOURCE = Path(__file__).resolve().parent / "step_program.c"
_PROGRAM = Recipe(
    "the step program",
    "step_program",
    "step-program",
    ("-std=c99", "-O2"),
    (_SOURCE,),
    "MPI 3.0 and C99",
)
_START_S = 60.0  # until the program's first words
_STEP_S = 60.0  # a step, at the most
_POLL_S = 0.2  # chosen: a later answer to a stop would be noticed
_SIDES = ("left-job", "right-job")


@dataclass(frozen=True)
class StepProgram:
    """The step program, compiled, and how it is started."""

    launcher: Launcher  # of an Open MPI
    path: Path

    @classmethod
    def found(cls, mpirun: str | Path | None = None) -> StepProgram:
        """Return the program, compiled where it is not yet; LinkRecordingError without Open MPI."""
        for name in ("mpirun", "mpirun.openmpi") if mpirun is None else (mpirun,):
            try:
                launcher = find_launcher(name)
                if launcher.family == "openmpi":
                    compiler = launcher.compiler()
                    path = _PROGRAM.place(compiler)
                    _PROGRAM.make(compiler, path)
                    return cls(launcher, path)
                problem = f"{launcher.mpirun} is of {launcher.version}"
            except MPIError as error:
                problem = str(error)
        raise LinkRecordingError(
            "the step program needs Open MPI with its compiler (Debian, Ubuntu: sudo apt-get "
            f"install openmpi-bin libopenmpi-dev); {problem}"
        )


@dataclass(frozen=True)
class RecordedSteps:
    """What the program reported of a run."""

    start: tuple[float, ...]  # of each step, s since 1970
    end: tuple[float, ...]  # of each step, s since 1970
    time_s: tuple[float, ...]  # of each step
    routine_s: tuple[float, ...]  # in each of ROUTINES in the whole run, mean over the ranks


def run_steps(
    program: StepProgram,
    network: LinkNetwork,
    *,
    steps: int,
    ranks_per_side: int,
    exchange_bytes: int,  # that a rank sends to its partner in a step
    compute_s: float,  # that a rank sleeps in a step
    on_boundary: Callable[[], object],  # called before the first step and after each one
    task: Task,
) -> RecordedSteps:
    """Run the program across the link and return its steps.

    LinkRecordingError where it failed, took too long or was stopped.
    """
    with tempfile.TemporaryDirectory(prefix="workbench-link-") as scratch:
        folder = Path(scratch)
        agent = network.agent(folder)
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as server:
            server.bind(str(folder / "socket"))
            server.listen(1)
            server.settimeout(_POLL_S)
            words = [str(folder / "socket"), steps, exchange_bytes, round(1e6 * compute_s)]
            command = _command(program, agent, ranks_per_side, words)
            with _running(command, program, folder) as process:
                watch = _Watch(process, folder / "output", task)
                connection = watch.accept(server)
                with connection:
                    return _listen(connection, watch, on_boundary)


def _command(
    program: StepProgram, agent: Path, ranks_per_side: int, words: Sequence[object]
) -> list[str]:
    """Return the command that starts the ranks, in a process namespace that ends with it."""
    mpirun = [str(program.launcher.mpirun)]
    mpirun += ["--host", ",".join(f"{host}:{ranks_per_side}" for host in _SIDES)]
    for name, value in program.launcher.reach(agent, PORT).items():
        mpirun += ["--mca", name, value]
    mpirun += ["-n", str(2 * ranks_per_side), str(program.path), *map(str, words)]
    return alone([str(agent), _SIDES[0], shlex.join(mpirun)])


@contextlib.contextmanager
def _running(
    command: Sequence[str], program: StepProgram, folder: Path
) -> Iterator[subprocess.Popen[bytes]]:
    """Run a command, and end it with all its processes when the block ends."""
    environment = program.launcher.own_environment() | {"TMPDIR": str(folder)}
    with (folder / "output").open("wb") as output:
        try:
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env=environment,
                start_new_session=True,
            )
        except OSError as error:
            raise LinkRecordingError(f"{command[0]} must run; {error}") from error
    try:
        yield process
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(5)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


class _Watch:
    """Waits for the program's words while it runs, is not too slow and is not to be stopped."""

    def __init__(self, process: subprocess.Popen[bytes], output: Path, task: Task) -> None:
        self._process, self._output, self._task = process, output, task

    def accept(self, server: socket.socket) -> socket.socket:
        end = time.monotonic() + _START_S
        while True:
            with contextlib.suppress(TimeoutError):
                connection, _ = server.accept()
                connection.settimeout(_POLL_S)
                return connection
            self.check(end, "begin")

    def line(self, connection: socket.socket) -> str:
        """Return the next line: the program waits for an answer to each, so one read has it."""
        end, read = time.monotonic() + _STEP_S, b""
        while not read.endswith(b"\n"):
            with contextlib.suppress(TimeoutError):
                part = connection.recv(4096)
                if not part:
                    self._process.wait(5)
                    raise LinkRecordingError(f"the step program ended early: {self._last()}")
                read += part
            self.check(end, "end a step")
        return read.decode("ascii", "replace").strip()

    def check(self, end: float, what: str) -> None:
        if self._task.stopping:
            raise LinkRecordingError("stopped")
        if self._process.poll() is not None:
            raise LinkRecordingError(
                f"the step program must run; it ended with status {self._process.returncode}: "
                f"{self._last()}"
            )
        if time.monotonic() > end:
            raise LinkRecordingError(f"the step program must {what} within {_STEP_S:g} s")

    def _last(self) -> str:
        text = self._output.read_text("utf-8", "replace")
        return " | ".join(line.strip() for line in text.splitlines() if line.strip(" -"))[-600:]


def _listen(
    connection: socket.socket, watch: _Watch, on_boundary: Callable[[], object]
) -> RecordedSteps:
    """Return the steps that the program reports, each answered when the counters are read."""
    steps: list[tuple[float, ...]] = []
    while True:
        kind, *numbers = watch.line(connection).split()
        if kind != "end":
            on_boundary()
        if kind == "step":
            steps.append(tuple(float(number) for number in numbers[1:]))
        connection.sendall(b".")
        if kind == "end":
            start, end, time_s = zip(*steps, strict=True)
            return RecordedSteps(start, end, time_s, tuple(float(number) for number in numbers))
