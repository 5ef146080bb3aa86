"""Figures that take long: drawn in a thread when their tab is opened, then cached."""

from __future__ import annotations

import html
from collections.abc import Callable, Hashable
from typing import Any

import ipywidgets as widgets
from bokeh.models import LayoutDOM

from workbench import tasks
from workbench.panels.cache import Cache
from workbench.panels.job_controls import JobControls, error_text
from workbench.panels.live_view import LiveView
from workbench.panels.style import mark_stale, wrapping_row

Draw = Callable[[tasks.Task], LayoutDOM]
_KEPT = 8  # figures drawn last: chosen, to go back and forth between some settings


class BackgroundFigure:
    """A figure drawn in a thread, with Stop; ``begun`` lets the panel poll `refresh`."""

    # The last figure stays, pale, while another is drawn, unless they have nothing in common. Only
    # Draw restarts a stopped one.

    def __init__(
        self, begun: Callable[[], None], waiting: str = "", *, keep_last: bool = True
    ) -> None:
        self._begun, self._keep_last = begun, keep_last
        self._work: JobControls[LayoutDOM] = JobControls(
            ("▶ Draw", "Draw the chosen figure", "88px"),
            "Stop drawing; Draw restarts it",
            "",
            lock=lambda running: None,
            ended=self._ended,
            failed=self._failed,
        )
        self.draw, self.stop_button = self._work.start, self._work.stop_button
        self.status, self.error = self._work.status, self._work.error
        self.draw.on_click(lambda _: self._begin())
        self.waiting = widgets.HTML(html.escape(waiting))
        self._row = wrapping_row(self.draw, self.stop_button, self._work.state)
        self._row.layout.display = "none"
        self._place = widgets.VBox(layout=widgets.Layout(width="100%"))
        self.widget = widgets.VBox([self.waiting, self._row, self.error, self._place])
        self._wanted: Hashable = None
        self._draw: Draw | None = None
        self._reached: Callable[[], str] = str
        self._drawn: Cache[LiveView] = Cache(_KEPT)

    @property
    def views(self) -> list[LiveView]:
        """The displayed view, if there is one."""
        return list(self._place.children)

    @property
    def busy(self) -> bool:
        """Whether a figure is being drawn."""
        return self._work.job is not None

    def want(self, key: Hashable, draw: Draw, *, quietly: bool = False) -> None:
        """Show the figure of a key, from the cache or drawn by a thread; quietly: the last stays.

        A quiet figure follows another of the same that grows: that is not dimmed meanwhile.
        """
        # A stop sets the job's stop_event: draw then raises JobError, or its figure is dropped.
        if key == self._wanted:
            return
        self._work.drop()
        self._wanted, self._draw = key, draw
        self.waiting.value = ""
        self.error.say("")
        drawn = self._drawn.get(key)
        if drawn is None:
            self._begin(quietly)
        else:
            self._show(drawn)

    def refresh(self) -> bool:
        """Show the figure once it is finished, and return whether it is still pending."""
        return self._work.refresh()

    def stop(self) -> None:
        """Stop the drawing."""
        self._work.stop()

    def clear(self, waiting: str = "") -> None:
        """Remove all figures, and show the text ``waiting`` until another is requested."""
        self._work.drop()
        self._wanted = self._draw = None
        self._drawn = Cache(_KEPT)
        self._place.children = []
        self._row.layout.display = "none"
        self.error.say("")
        self.waiting.value = html.escape(waiting)

    def _begin(self, quietly: bool = False) -> None:
        draw = self._draw
        if draw is None or self._work.job is not None:
            return
        job = tasks.submit(lambda task: draw(task))
        if not self._keep_last:
            self._place.children = []
        if not quietly:
            mark_stale(self._place, True)
            self._row.layout.display = ""
        self._reached = lambda: _how_far(job)
        self._work.begin(job, lambda: (job.progress.fraction, f"drawing: {_how_far(job)}"))
        self._begun()

    def _show(self, view: LiveView) -> None:
        self._place.children = [view]
        mark_stale(self._place, False)
        self._row.layout.display = "none"

    def _ended(self, job: tasks.Job[LayoutDOM]) -> None:
        if job.state == "stopped":
            self._failed(tasks.JobError("the figure was stopped; draw it again"))
            return
        view = LiveView(job.result(), layout=widgets.Layout(width="100%"))
        self._drawn.keep(self._wanted, view)
        self._show(view)

    def _failed(self, error: BaseException) -> None:
        if self._work.refused(error):
            kept = "; below is the figure of the earlier choice" if self.views else ""
            self.status.value = f"stopped after {self._reached()}{kept}"
        else:
            self._wanted = None
            self._row.layout.display = "none"
            self.error.say(error_text(error))


def _how_far(job: tasks.Job[Any]) -> str:
    """Return a job's progress in words, such as ``3 s, 12 of 72 fits simulated``."""
    progress = job.progress
    so_far = f", {progress.done} of {progress.total} {progress.message}" if progress.total else ""
    return f"{job.elapsed_s:.0f} s{so_far}"
