"""Long work in a thread of this process: progress, a stop that is polite, a result so far.

    job = jobs.submit(work, steps=100)      # runs work(ctx, steps=100) in a daemon thread
    job.state, job.progress, job.partial    # read from any thread, as often as one likes
    job.stop()                              # work sees ctx.stopping and returns what it has
    job.result(timeout=5)

Nothing is called back: a panel polls, so that widgets are touched from the kernel's event loop
only. Compiled kernels release the interpreter lock; work that is mostly Python gives other threads
their turn with ``ctx.breathe()``.
"""

from __future__ import annotations

import itertools
import os
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Concatenate, Generic, Literal, ParamSpec, TypeVar, cast

import numpy as np

from workbench.errors import WorkbenchError

JobState = Literal["pending", "running", "done", "stopped", "failed"]

_T = TypeVar("_T")
_P = ParamSpec("_P")
_numbers = itertools.count(1)


def cores() -> int:
    """Return the number of cores this process may use, which a batch system may limit."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class StopFlag(threading.Event):
    """An event that compiled kernels also see, so that they can end a long run early.

    Attributes:
        cell: int8[1], 1 while the event is set; kernels that can be halted read it.
    """

    def __init__(self) -> None:
        super().__init__()
        self.cell = np.zeros(1, np.int8)

    def set(self) -> None:
        """Set the event and the cell."""
        self.cell[0] = 1
        super().set()

    def clear(self) -> None:
        """Clear the event and the cell."""
        super().clear()
        self.cell[0] = 0


class JobError(WorkbenchError):
    """A job has no result to give: it was stopped before it began."""


@dataclass(frozen=True)
class Progress:
    """The progress of a job.

    Attributes:
        done: finished steps.
        total: number of steps, 0 if not known.
        message: one line about the present step.
    """

    done: int = 0
    total: int = 0
    message: str = ""

    @property
    def fraction(self) -> float:
        """Share of the steps that are finished, 0 to 1; 0 where the total is not known."""
        return min(self.done / self.total, 1.0) if self.total > 0 else 0.0


def submit(
    work: Callable[Concatenate[JobContext, _P], _T], /, *args: _P.args, **kwargs: _P.kwargs
) -> Job[_T]:
    """Run ``work(ctx, *args, **kwargs)`` in a daemon thread and return at once.

    Args:
        work: the function; its first argument is a ``JobContext``.
        args: further positional arguments of ``work``.
        kwargs: named arguments of ``work``.
    """
    job: Job[_T] = Job(getattr(work, "__name__", "job"))
    thread = threading.Thread(
        target=job._run,
        args=(lambda ctx: work(ctx, *args, **kwargs),),
        name=f"workbench-{job.name}-{next(_numbers)}",
        daemon=True,
    )
    thread.start()
    return job


class JobContext:
    """The first argument of a job's function: it reports progress and receives the stop.

    Attributes:
        stop_event: set once the job was asked to stop; pass it to functions that take one.
    """

    def __init__(self, job: Job[Any]) -> None:
        self._job = job
        self.stop_event = job._stop

    @property
    def stopping(self) -> bool:
        """Whether the job was asked to stop."""
        return self.stop_event.is_set()

    def progress(self, done: int, total: int = 0, message: str = "") -> None:
        """Report the progress of the work.

        Args:
            done: finished steps.
            total: number of steps, 0 if not known.
            message: one line about the present step.
        """
        self._job._progress = Progress(done, total, message)

    def partial_from(self, supplier: Callable[[], Any]) -> None:
        """Set the function that builds the result so far.

        It is called in the thread that reads ``job.partial``, so it must be safe there.

        Args:
            supplier: returns the result so far, or None if there is none yet.
        """
        self._job._supplier = supplier

    def preview(self) -> None:
        """Say that the result so far is worth drawing, for those who wait for the first."""
        self._job._preview.set()

    def breathe(self) -> None:
        """Let other threads run: release the interpreter lock for a moment."""
        # sleep(0) may take the lock back at once; a real pause lets a waiting slider run.
        time.sleep(5e-5)


class Job(Generic[_T]):
    """One piece of work in a thread; every property may be read from any thread."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._stop = StopFlag()
        self._finished = threading.Event()
        self._preview = threading.Event()
        self._state: JobState = "pending"
        self._progress = Progress()
        self._supplier: Callable[[], Any] | None = None
        self._value: _T | None = None
        self._exception: BaseException | None = None
        self._began = 0.0
        self._ended = 0.0

    @property
    def state(self) -> JobState:
        """``pending``, ``running``, then one of ``done``, ``stopped`` and ``failed``."""
        return self._state

    @property
    def progress(self) -> Progress:
        """The last progress that was reported."""
        return self._progress

    @property
    def partial(self) -> Any:
        """The result so far, None where there is none; the result itself once finished."""
        if self._finished.is_set() and self._exception is None:
            return self._value
        supplier = self._supplier
        return supplier() if supplier is not None else None

    @property
    def exception(self) -> BaseException | None:
        """The exception that the work raised, None if it raised none."""
        return self._exception

    @property
    def finished(self) -> bool:
        """Whether the work has ended, in whatever way."""
        return self._finished.is_set()

    @property
    def stopping(self) -> bool:
        """Whether the work was asked to stop."""
        return self._stop.is_set()

    @property
    def elapsed_s(self) -> float:
        """Seconds since the work began, or that it took."""
        if not self._began:
            return 0.0
        return (self._ended or time.monotonic()) - self._began

    def stop(self) -> None:
        """Ask the work to stop and return at once; a second call has no effect."""
        self._stop.set()

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until the work has ended, and return whether it has.

        Args:
            timeout: seconds to wait at most; None waits without limit.
        """
        return self._finished.wait(timeout)

    def wait_for_preview(self, timeout: float) -> None:
        """Wait until the work says that its result so far is worth drawing, or has ended.

        Args:
            timeout: seconds to wait at most.
        """
        self._preview.wait(timeout)

    def result(self, timeout: float | None = None) -> _T:
        """Wait for the work and return its result, also that of a stopped job.

        Args:
            timeout: seconds to wait at most; None waits without limit.

        Raises:
            TimeoutError: the work has not ended after ``timeout`` seconds.
            JobError: the job was stopped before it began.
            Exception: any error that the work raised.
        """
        if not self._finished.wait(timeout):
            raise TimeoutError(
                f"{self.name} has not finished after {timeout} s; it is {self.state}: "
                f"{self._progress.done} of {self._progress.total} done"
            )
        if self._exception is not None:
            raise self._exception
        return cast(_T, self._value)

    def _run(self, work: Callable[[JobContext], _T]) -> None:
        self._began = time.monotonic()
        try:
            if self._stop.is_set():
                raise JobError(f"{self.name} was stopped before it started; submit it again")
            self._state = "running"
            self._value = work(JobContext(self))
            end: JobState = "stopped" if self._stop.is_set() else "done"
        except JobError as error:
            self._exception = error
            end = "stopped"
        # A thread has no caller: any exception is stored, and raised by result().
        except BaseException as error:
            self._exception = error
            end = "failed"
        self._ended = time.monotonic()
        self._state = end
        self._finished.set()
        self._preview.set()

    def __repr__(self) -> str:
        progress = self._progress
        steps = f", {progress.done} of {progress.total}" if progress.total else ""
        error = f", {type(self._exception).__name__}" if self._exception is not None else ""
        return f"Job({self.name}, {self._state}{steps}, {self.elapsed_s:.1f} s{error})"
