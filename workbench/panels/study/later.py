"""Figures that take a while: drawn in a thread when their tab is opened, kept once drawn."""

from __future__ import annotations

import html
import time
from collections.abc import Callable, Hashable
from typing import Any

import ipywidgets as widgets
from bokeh.models import LayoutDOM

from workbench import jobs
from workbench.errors import WorkbenchError
from workbench.panels.controls import ErrorLine
from workbench.panels.live import LiveView

Draw = Callable[[jobs.JobContext], LayoutDOM]
_KEPT = 8


class LaterFigure:
    """A place for a figure that a thread draws; the last good one stays while another is drawn.

    Args:
        waiting: what to say before there is any.
    """

    def __init__(self, waiting: str = "") -> None:
        self.status = widgets.HTML(waiting)
        self.error = ErrorLine()
        self._place = widgets.VBox(layout=widgets.Layout(width="100%"))
        self.widget = widgets.VBox([self.status, self.error, self._place])
        self._job: jobs.Job[LayoutDOM] | None = None
        self._wanted: Hashable = None
        self._drawn: dict[Hashable, LiveView] = {}
        self._began = 0.0

    @property
    def views(self) -> list[LiveView]:
        """The view that is shown, if there is one."""
        return list(self._place.children)

    @property
    def busy(self) -> bool:
        """Whether a figure is being drawn."""
        return self._job is not None

    def want(self, key: Hashable, draw: Draw) -> None:
        """Show the figure of this key: the one that was kept, or one that a thread draws now.

        Args:
            key: what tells the figure from others of this place.
            draw: returns it; its job's ``stop_event`` is set once another one is wanted.
        """
        if key == self._wanted:
            return
        if self._job is not None:
            self._job.stop()
        self._job, self._wanted = None, key
        self.error.say("")
        self.status.value = ""
        if key in self._drawn:
            self._place.children = [self._drawn[key]]
            return
        self._began = time.monotonic()
        self._job = jobs.submit(draw)
        self.refresh()

    def refresh(self) -> bool:
        """Show the figure if it is drawn by now, and return whether it still is not."""
        job = self._job
        if job is None:
            return False
        if not job.finished:
            progress = job.progress
            so_far = f" {progress.done} of {progress.total}," if progress.total else ""
            self.status.value = f"drawing …{so_far} {time.monotonic() - self._began:.0f} s"
            return True
        self._job = None
        self.status.value = ""
        error = job.exception
        if error is not None:
            self._wanted = None
            self.error.say(str(error) if isinstance(error, WorkbenchError) else f"{error!r}")
            return False
        view = LiveView(job.result(), layout=widgets.Layout(width="100%"))
        if len(self._drawn) >= _KEPT:
            self._drawn.pop(next(iter(self._drawn)))
        self._drawn[self._wanted] = view
        self._place.children = [view]
        return False

    def clear(self, waiting: str = "") -> None:
        """Forget all figures.

        Args:
            waiting: what to say until another one is wanted.
        """
        if self._job is not None:
            self._job.stop()
        self._job = self._wanted = None
        self._drawn.clear()
        self._place.children = []
        self.error.say("")
        self.status.value = html.escape(waiting)


def later(draw: Callable[..., LayoutDOM], *args: Any, **options: Any) -> Draw:
    """Return a drawing function for `LaterFigure.want` from one that returns a figure.

    Args:
        draw: such as `workbench.plotting.plot_fit`.
        args: its arguments.
        options: its named arguments.
    """

    def work(ctx: jobs.JobContext) -> LayoutDOM:
        return draw(*args, **options)

    return work
