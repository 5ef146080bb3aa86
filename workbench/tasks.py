"""Long work: what asks it to stop, what it reports, what it has found so far.

A function that takes long has the argument ``task``. Without one it runs to its end in silence:

    fit(curve, task=Task(print))            # prints each report of the fit
    job = tasks.submit(fit, curve)          # the same in a daemon thread, with a task of its own
    job.state, job.progress, job.partial    # read from any thread, as often as one likes
    job.stop()                              # the fit sees task.stopping and returns what it has
    job.result(timeout=5)

A panel polls, so that widgets are touched from the kernel's event loop only. Compiled kernels
release the interpreter lock; work that is mostly Python gives other threads their turn with
``task.breathe()``.
"""

from __future__ import annotations

import itertools
import os
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Generic, Literal, TypeVar, cast

import numpy as np

from workbench.errors import ParameterError, SimulationHalted, WorkbenchError

JobState = Literal["pending", "running", "done", "stopped", "failed"]

_T = TypeVar("_T")
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


def submit(work: Callable[..., _T], /, *args: Any, **kwargs: Any) -> Job[_T]:
    """Run ``work(*args, task=job, **kwargs)`` in a daemon thread and return the job at once.

    Args:
        work: the function; its argument ``task`` is the job.
        args: positional arguments of ``work``.
        kwargs: named arguments of ``work``.
    """
    job: Job[_T] = Job(getattr(work, "__name__", "job"))
    thread = threading.Thread(
        target=job._run,
        args=(lambda: work(*args, task=job, **kwargs),),
        name=f"workbench-{job.name}-{next(_numbers)}",
        daemon=True,
    )
    thread.start()
    return job


class Task:
    """What long work and those who wait for it share; every property may be read by any thread.

    Args:
        on_report: called in the work's thread with each report: a ``Progress``, or what the
            function says that it reports.
        stop_event: of another task, with which this one stops; None makes one.

    Attributes:
        stop_event: set once the work was asked to stop.
        counter: int64[1], finished steps; compiled kernels count there between two reports.
    """

    def __init__(
        self,
        on_report: Callable[[Any], None] | None = None,
        stop_event: StopFlag | None = None,
    ) -> None:
        self.stop_event = StopFlag() if stop_event is None else stop_event
        self.counter = np.zeros(1, np.int64)
        self._on_report = on_report
        self._preview = threading.Event()
        self._progress = Progress()
        self._supplier: Callable[[], Any] | None = None

    @property
    def progress(self) -> Progress:
        """The last progress that was reported, with what a kernel has counted since."""
        return replace(self._progress, done=int(self.counter[0]))

    @property
    def partial(self) -> Any:
        """The result so far, None where there is none."""
        supplier = self._supplier
        return supplier() if supplier is not None else None

    @property
    def stopping(self) -> bool:
        """Whether the work was asked to stop."""
        return self.stop_event.is_set()

    def stop(self) -> None:
        """Ask the work to stop and return at once; a second call has no effect."""
        self.stop_event.set()

    def part(self, on_report: Callable[[Any], None] | None = None) -> Task:
        """Return a task for a part of this work: it stops with this one and has its own reports.

        Args:
            on_report: called with each report of the part; None tells nobody.
        """
        return Task(on_report, self.stop_event)

    def wait_for_preview(self, timeout: float) -> None:
        """Wait until the work says that its result so far is worth drawing, or has ended.

        Args:
            timeout: seconds to wait at most.
        """
        self._preview.wait(timeout)

    def report(self, done: int, total: int = 0, message: str = "", detail: Any = None) -> None:
        """Report the progress of the work.

        Args:
            done: finished steps.
            total: number of steps, 0 if not known.
            message: one line about the present step.
            detail: what ``on_report`` gets instead of a ``Progress``.
        """
        self.counter[0] = done
        self._progress = Progress(done, total, message)
        if self._on_report is not None:
            self._on_report(self._progress if detail is None else detail)

    def partial_from(self, supplier: Callable[[], Any]) -> None:
        """Set the function that builds the result so far.

        It is called in the thread that reads ``partial``, so it must be safe there.

        Args:
            supplier: returns the result so far, or None if there is none yet.
        """
        self._supplier = supplier

    def preview(self) -> None:
        """Say that the result so far is worth drawing, for those who wait for the first."""
        self._preview.set()

    def breathe(self) -> None:
        """Let other threads run, where this work has one of its own."""


def task_of(task: Task | None) -> Task:
    """Return a function's task, one that nobody watches where it is None.

    Raises:
        ParameterError: it is something else.
    """
    if isinstance(task, Task | None):
        return task or Task()
    raise ParameterError(f"task must be a workbench.tasks.Task; got {task!r}", key="task")


class Job(Task, Generic[_T]):
    """A task that runs in a thread of its own."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name
        self._finished = threading.Event()
        self._state: JobState = "pending"
        self._value: _T | None = None
        self._exception: BaseException | None = None
        self._began = 0.0
        self._ended = 0.0

    @property
    def state(self) -> JobState:
        """``pending``, ``running``, then one of ``done``, ``stopped`` and ``failed``."""
        return self._state

    @property
    def partial(self) -> Any:
        """The result so far, None where there is none; the result itself once finished."""
        if self._finished.is_set() and self._exception is None:
            return self._value
        return super().partial

    def breathe(self) -> None:
        """Let other threads run: release the interpreter lock for a moment."""
        # sleep(0) may take the lock back at once; a real pause lets a waiting slider run.
        time.sleep(5e-5)

    @property
    def exception(self) -> BaseException | None:
        """The exception that the work raised, None if it raised none."""
        return self._exception

    @property
    def finished(self) -> bool:
        """Whether the work has ended, in whatever way."""
        return self._finished.is_set()

    @property
    def elapsed_s(self) -> float:
        """Seconds since the work began, or that it took."""
        if not self._began:
            return 0.0
        return (self._ended or time.monotonic()) - self._began

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until the work has ended, and return whether it has.

        Args:
            timeout: seconds to wait at most; None waits without limit.
        """
        return self._finished.wait(timeout)

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
                f"{self.progress.done} of {self.progress.total} done"
            )
        if self._exception is not None:
            raise self._exception
        return cast(_T, self._value)

    def _run(self, work: Callable[[], _T]) -> None:
        self._began = time.monotonic()
        try:
            if self.stopping:
                raise JobError(f"{self.name} was stopped before it started; submit it again")
            self._state = "running"
            self._value = work()
            end: JobState = "stopped" if self.stopping else "done"
        except (JobError, SimulationHalted) as error:
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
        progress = self.progress
        steps = f", {progress.done} of {progress.total}" if progress.total else ""
        error = f", {type(self._exception).__name__}" if self._exception is not None else ""
        return f"Job({self.name}, {self._state}{steps}, {self.elapsed_s:.1f} s{error})"
