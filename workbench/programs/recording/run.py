"""Run a program under the recorder, and end it with all its processes when asked to."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args

from workbench.checks import above_zero, number, whole
from workbench.errors import ParameterError, WorkbenchError
from workbench.mpi import Launcher, find_launcher, preload, run_command
from workbench.mpi.command import check_command
from workbench.programs.recording.build import RecordingError, build_recorder
from workbench.programs.traces.files import FAILED
from workbench.tasks import Task, task_of

if TYPE_CHECKING:
    from workbench.programs.program import Program

Clock = Literal["elapsed", "cpu"]

_FOLDER_VARIABLE = "WORKBENCH_TRACE_FOLDER"
_CLOCK_VARIABLE = "WORKBENCH_TRACE_CLOCK"
_SLOWDOWN_VARIABLE = "WORKBENCH_TRACE_SLOWDOWN"
_LONGEST_LINE = 500  # chosen: what is said of a failure, in a note of the program read later


def record(
    command: Sequence[str],
    ranks: int,
    folder: str | Path,
    *,
    mpirun: str | Path | Launcher | None = None,
    timeout: float | None = None,
    oversubscribe: bool = True,
    clock: Clock = "elapsed",
    slowdown: float = 1.0,
    force: bool = False,
    output: Callable[[str], object] | None = None,
    task: Task | None = None,
) -> Program:
    """Run an MPI program, record its calls and return it as a `Program`.

    Where there are more ranks than cores, the time between two calls of a rank holds what others
    computed meanwhile; with ``clock="cpu"`` it is the rank's own CPU time, and what it slept or
    waited for besides is left out. Ranks on one machine leave MPI_Init together.

    Args:
        command: the program and its arguments, without the launcher; no shell reads them.
        ranks: number of ranks, at least 1.
        folder: where the traces go; made where it is missing, and must hold no trace yet, without
            ``force``. It gets them when all are whole; of a recording that fails they are kept in
            its folder ``failed``, until the next.
        mpirun: launcher of the MPI that the program was built with, such as an emulated cluster's;
            None takes the path's ``mpirun``.
        timeout: time limit of the program, s; None is no limit.
        oversubscribe: whether there may be more ranks than cores.
        clock: what counts as computation: the time ``elapsed`` between two calls, or the rank's own
            ``cpu`` time, for ranks that share cores.
        slowdown: give each rank a core of its own that is so many times slower, by sleeping between
            calls; at least 1. Where a machine's cores cannot serve all ranks at once, it keeps them
            out of one another's way; ranks that slept already are not slowed.
        force: replace the traces that the folder holds, once the new ones are whole.
        output: called with each line that the program writes, from a thread; None drops them.
        task: once it is stopped, the program is ended.

    Raises:
        ParameterError: a value is out of range, or the folder holds a trace.
        MPIError: there is no MPI or compiler.
        RecordingError: the program failed, ran too long or was stopped, it left no trace, or one
            that cannot be read.
    """
    from workbench.programs.traces import read_trace

    check_command(command)
    whole(ranks, "ranks", 1)
    if timeout is not None:
        above_zero(timeout, "timeout", unit="s")
    if clock not in get_args(Clock):
        raise ParameterError(f"clock must be elapsed or cpu; got {clock!r}", key="clock")
    number(slowdown, "slowdown", 1)
    folder = Path(folder).resolve()
    if not force and any(_traces(folder)):
        raise ParameterError(
            f"{folder} holds a trace already; name another folder, or let it be replaced: force, "
            "in the shell --force",
            key="folder",
        )
    launcher = mpirun if isinstance(mpirun, Launcher) else find_launcher(mpirun)
    library = build_recorder(launcher.compiler())
    with _kept_when_whole(folder) as unfinished:
        words = launcher.command(
            command,
            ranks,
            {
                "LD_PRELOAD": preload(library, os.environ.get("LD_PRELOAD")),
                _FOLDER_VARIABLE: str(unfinished),
                _CLOCK_VARIABLE: clock,
                _SLOWDOWN_VARIABLE: f"{slowdown:g}",
            },
            oversubscribe=oversubscribe,
        )
        environment = launcher.own_environment()
        status, last = run_command(words, environment, timeout, output, task_of(task))
        if status != 0:
            raise RecordingError(
                f"{command[0]} must succeed to be recorded; it ended with status {status}"
                + (f" and wrote: {last}" if last else " and wrote nothing")
                + f". It ran under {launcher.version}; a program that was built with another MPI "
                "needs that one's launcher: mpirun=, in the shell --mpirun"
            )
        if not (unfinished / "trace-0.txt").exists():
            raise RecordingError(
                f"{command[0]} must call the MPI of {launcher.version}, in {launcher.mpirun}; it "
                "succeeded but left no trace: it may be linked to another MPI, or statically; name "
                "its own launcher with mpirun=, in the shell --mpirun"
            )
        program = read_trace(unfinished)
    return dataclasses.replace(program, source=folder.name)


@contextlib.contextmanager
def _kept_when_whole(folder: Path) -> Iterator[Path]:
    """Yield a folder to record in; its files move to ``folder``, after an error to ``failed``."""
    made = not folder.exists()
    folder.mkdir(parents=True, exist_ok=True)
    unfinished = Path(tempfile.mkdtemp(prefix=".unfinished-", dir=folder))
    failed = folder / FAILED
    try:
        yield unfinished
    except WorkbenchError as error:
        shutil.rmtree(failed, ignore_errors=True)
        if not any(unfinished.iterdir()):
            unfinished.rmdir()
            if made:
                folder.rmdir()
            raise RecordingError(str(error)) from error
        _mark_incomplete(unfinished / "trace-0.txt", str(error))
        unfinished.rename(failed)
        raise RecordingError(f"{error}; the partial recording is in {failed}") from error
    except BaseException:
        shutil.rmtree(unfinished, ignore_errors=True)
        raise
    shutil.rmtree(failed, ignore_errors=True)
    for path in list(_traces(folder)):
        path.unlink()
    for path in sorted(unfinished.iterdir()):
        path.replace(folder / path.name)
    unfinished.rmdir()


def _traces(folder: Path) -> Iterator[Path]:
    """Yield the files of the trace in a folder."""
    return folder.glob("trace-*.txt")


def _mark_incomplete(path: Path, reason: str) -> None:
    """Mark a trace as incomplete in its second line, with the reason."""
    if not path.exists():
        return
    first, _, rest = path.read_text("latin-1").partition("\n")
    reason_line = " ".join(reason.split())[:_LONGEST_LINE]
    ascii_reason = reason_line.encode("ascii", "replace").decode("ascii")
    path.write_text(f"{first}\n# incomplete {ascii_reason}\n{rest}", "latin-1")
