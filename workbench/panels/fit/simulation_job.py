"""The simulation of a model's curve: immediate if quick, else in the background with Stop."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from workbench import tasks
from workbench.arrays import FloatArray
from workbench.measure import OSUCurve
from workbench.measure.curve import byte_label
from workbench.models import NetworkModel
from workbench.panels.job_controls import JobControls
from workbench.panels.style import wrapping_row
from workbench.simulate import simulate_osu

EARLIER = "the curves are of earlier values"
_AT_ONCE_S = 0.15  # chosen: SNAPPR takes 0.05 s for a curve on two busy cores
_WINDOW = 64  # messages, the default of simulate_osu


class SimulationJob:
    """Simulates the latest model; a long simulation shows its progress and Stop."""

    def __init__(
        self,
        drawn: Callable[[OSUCurve], None],  # called with each curve
        refused: Callable[[BaseException], None],  # called with the error of a model
        stale: Callable[[bool], None],  # called with whether the curves are outdated
        started: Callable[[], None],  # lets the panel poll `refresh`
    ) -> None:
        self._drawn, self._refused, self._stale, self._started = drawn, refused, stale, started
        self._last: tuple[NetworkModel, Sequence[int]] | None = None
        self._has_drawn = False
        self._work: JobControls[OSUCurve] = JobControls(
            ("▶ Simulate", "Simulate these values again, in the background", "96px"),
            "Stop the simulation; the curves stay those of the earlier values",
            "",
            lock=lambda running: None,
            ended=self._ended,
            failed=self._failed,
        )
        self._work.start.on_click(lambda _: self._again())
        self.widget = wrapping_row(self._work.start, self._work.stop_button, self._work.state)
        self.widget.layout.display = "none"

    @property
    def job(self) -> tasks.Job[OSUCurve] | None:
        """The simulation that runs in the background."""
        return self._work.job

    def begin(self, model: NetworkModel, sizes: Sequence[int]) -> None:
        """Simulate a model at sizes in bytes; a quick one is drawn before this returns."""
        # Only the latest change counts: the result of an earlier run must not replace it.
        self._work.drop()
        self._last = model, sizes
        job = tasks.submit(_simulate, model, sizes)
        if job.wait(_AT_ONCE_S):
            self.widget.layout.display = "none"
            error = job.exception
            if error is None:
                self._ended(job)
            else:
                self._stale(True)
                self._refused(error)
            return
        self._stale(True)
        self._work.begin(job, lambda: self._how_far(job))
        self.widget.layout.display = ""
        self._started()

    def stop(self) -> None:
        """Stop the simulation; the curves remain those of the earlier values."""
        self._work.stop()

    def refresh(self) -> bool:
        """Update the progress, and return whether the simulation runs."""
        return self._work.refresh()

    def _again(self) -> None:
        if self._last is not None:
            self.begin(*self._last)

    def _ended(self, job: tasks.Job[OSUCurve]) -> None:
        self.widget.layout.display = "none"
        self._stale(False)
        self._has_drawn = True
        self._drawn(job.result())

    def _failed(self, error: BaseException) -> None:
        if not self._work.refused(error, EARLIER if self._has_drawn else "no curve yet"):
            self.widget.layout.display = "none"
            self._refused(error)

    def _how_far(self, job: tasks.Job[OSUCurve]) -> tuple[float, str]:
        progress = job.progress
        if not (self._has_drawn or progress.message):
            # No seconds: they stand still while other cells wait for the same compilation.
            return 0.0, "simulating; compiling the simulator the first time takes some seconds"
        words = f"{progress.message or 'simulating'}, {job.elapsed_s:.1f} s"
        if self._has_drawn:
            words = f"{words}; {EARLIER}"
        return progress.fraction, words


def _simulate(model: NetworkModel, sizes: Sequence[int], task: tasks.Task) -> OSUCurve:
    done = np.asarray(sizes, np.float64)

    def report(latency: FloatArray, bandwidth: FloatArray) -> bool:
        # A size costs as its bytes do, and the bandwidth test sends a window of messages.
        share = done[~np.isnan(latency)].sum() + _WINDOW * done[~np.isnan(bandwidth)].sum()
        ends = done[~np.isnan(bandwidth)]
        words = f"simulated up to {byte_label(int(ends[-1]))}" if len(ends) else "simulating"
        task.report(int(share), int(done.sum() * (1 + _WINDOW)), words)
        return False

    return simulate_osu(model, sizes, enough=report, task=task)
