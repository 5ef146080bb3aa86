"""A background job in a panel: Start, Stop, progress and error."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, Generic, TypeVar

import ipywidgets as widgets

from workbench import tasks
from workbench.errors import SimulationHalted, WorkbenchError
from workbench.panels.error_line import ErrorLine
from workbench.panels.kernel import run_waiting
from workbench.panels.style import push_button

FIRST_S = 20.0
"""For which a new panel waits for its figure: with all kernels compiled it comes in 2 to 8 s on two
busy cores."""

AT_ONCE_S = 0.1
"""For which a slider waits for its figure. Chosen: a stall that is hardly noticed."""

_POLL_S = 0.05  # half of a ticker's interval: what it does is seen without it, too

_T = TypeVar("_T")


def wait_for(refresh: Callable[[], bool], timeout: float | None) -> None:
    """Call ``refresh`` until it returns False, or for ``timeout`` seconds (None: no limit)."""
    end = None if timeout is None else time.monotonic() + timeout
    while refresh() and (end is None or time.monotonic() < end):
        time.sleep(_POLL_S)
        run_waiting()


def error_text(error: BaseException) -> str:
    """Return an error's message, or its repr if it is not a workbench error."""
    return str(error) if isinstance(error, WorkbenchError) else f"{error!r}"


def progress_of(job: tasks.Job[Any]) -> tuple[float, str]:
    """Return the share of a job that is done, 0 to 1, and its present step and seconds."""
    progress = job.progress
    return progress.fraction, f"{progress.message}, {job.elapsed_s:.1f} s"


class JobControls(Generic[_T]):
    """One job at a time, with its Start and Stop buttons, progress bar and status line."""

    def __init__(
        self,
        start: tuple[str, str, str],  # text, tooltip, CSS width
        stop_tip: str,
        ready: str,  # first status; "" hides an idle bar
        *,
        lock: Callable[[bool], None],  # called with whether a job runs
        ended: Callable[[tasks.Job[_T]], None],  # called after success
        failed: Callable[[BaseException], None] | None = None,  # None: shown in error
        width: int = 200,  # of bar and line, px
        free_at_stop: bool = False,  # Start at once, not when the stopped job has ended
    ) -> None:
        self._lock, self._ended, self._failed = lock, ended, failed
        self._free_at_stop = free_at_stop
        self._how_far: Callable[[], tuple[float, str]] = lambda: (0.0, "")
        self.job: tasks.Job[_T] | None = None
        text, tip, button_width = start
        self.start: Any = push_button(text, tip, "success", button_width)
        self.stop_button: Any = push_button("■ Stop", stop_tip, "warning")
        self.progress: Any = widgets.FloatProgress(
            min=0.0, max=1.0, layout=widgets.Layout(width="98%", height="10px", margin="0")
        )
        self.status: Any = widgets.HTML(ready)
        self._quiet = not ready
        self._at_once = False
        self.error = ErrorLine()
        self.state = widgets.VBox(
            [self.progress, self.status],
            layout=widgets.Layout(flex=f"1 1 {width}px", width="auto"),
        )
        self.stop_button.on_click(lambda _: self.stop())
        self._hold(False)

    def begin(
        self,
        job: tasks.Job[_T],
        how_far: Callable[[], tuple[float, str]],  # its share done, 0 to 1, and the status
        patience_s: float = 0.0,
        preview: Callable[[], None] | None = None,  # draws its result so far, once the job says so
    ) -> None:
        """Follow a submitted job; what ends within the patience leaves bar and buttons alone."""
        self.error.say("")
        self.job, self._how_far = job, how_far
        # Ten messages of a slider's move, and a second layout of the page, are spared.
        job.wait_for_preview(patience_s)
        self._at_once = patience_s > 0 and job.finished
        if not self._at_once:
            if preview is not None:
                preview()
            self.status.value = "starting …"
            self._hold(True)

    def stop(self) -> None:
        """Request the running job to stop."""
        if self.job is not None:
            self.job.stop()
            if self._free_at_stop:
                self._hold(False)

    def drop(self) -> None:
        """Request the running job to stop, and forget it."""
        if self.job is not None:
            self.job.stop()
            self.job = None
            self._hold(False)

    def refresh(self) -> bool:
        """Update bar and status, and return whether the job still runs."""
        job = self.job
        if job is None:
            return False
        # Read first: the line must not be older than the end of the job.
        finished = job.finished
        if not self._at_once:
            self.progress.value, text = self._how_far()
        if not finished:
            self.status.value = text
            return True
        self.job = None
        # A user who reads that it has finished may press Start at once.
        self._hold(False)
        error = job.exception
        if error is None:
            self._ended(job)
        else:
            self.status.value = "failed"
            if self._failed is not None:
                self._failed(error)
            else:
                self.error.say(error_text(error))
        return False

    def refused(self, error: BaseException, kept: str = "") -> bool:
        """Show ``stopped`` or ``failed`` and the text `kept`; return whether it was stopped."""
        stopped = isinstance(error, (SimulationHalted, tasks.JobError))
        self.status.value = ("stopped" if stopped else "failed") + (f"; {kept}" if kept else "")
        return stopped

    def _hold(self, running: bool) -> None:
        if self._quiet:
            self.progress.layout.visibility = "visible" if running else "hidden"
        self.start.disabled = running
        self.stop_button.disabled = not running
        self._lock(running)
