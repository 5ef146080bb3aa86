"""The controls that say what executes runs: processes here, Slurm, or recorded runs drawn again."""

from __future__ import annotations

import shlex
from typing import Any

import ipywidgets as widgets

from workbench.errors import ParameterError
from workbench.panels.controls import ErrorLine
from workbench.panels.look import named
from workbench.panels.tuning_state import LOCAL, REPLAY, SLURM
from workbench.tune.runners.replay import NOISES
from workbench.tune.runners.runner import RunnerError
from workbench.tune.runners.slurm_commands import find

NAMES = ("runner", "noise", "sbatch", "jobs", "timeout_s", "application")
"""What these controls hold."""

_PROGRAMS = [("processes here", LOCAL), ("Slurm jobs", SLURM)]
_RECORDED = [("recorded runs", REPLAY)]
_MOST_JOBS = 4096


class RunnerControls:
    """What executes runs, and what it needs to know.

    Args:
        timeout_s: seconds after which a run is ended; None for none.
    """

    def __init__(self, timeout_s: float | None) -> None:
        self.runner: Any = widgets.Dropdown(options=_PROGRAMS, **named("Run by", "250px"))
        self.noise: Any = widgets.Dropdown(options=[*NOISES], **named("Noise", "180px"))
        self.application: Any = widgets.Text(
            placeholder="program that runs with it, such as mpirun -np 4 ./app",
            continuous_update=False,
            **named("Application", "auto"),
        )
        # The command of a parallel program is long: it takes what is left of a row.
        self.application.layout.flex = "1 1 480px"
        self.sbatch: Any = widgets.Text(
            placeholder="such as --partition=lab --exclusive",
            continuous_update=False,
            **named("Options of sbatch", "330px"),
        )
        self.jobs: Any = widgets.BoundedIntText(
            value=1, min=1, max=_MOST_JOBS, **named("Runs at once", "150px")
        )
        self.timeout_s: Any = widgets.BoundedFloatText(
            value=timeout_s or 0.0,
            min=0.0,
            max=1e6,
            **named("Limit of a run (s, 0: none)", "250px"),
        )
        self.error = ErrorLine()
        self._recorded = False
        self.runner.observe(lambda _: self._chose(), "value")
        for control in (self.application, self.sbatch):
            control.observe(lambda _: self._check(), "value")

    @property
    def controls(self) -> tuple[Any, ...]:
        """All of them, in the order they stand; the last takes what is left of a row."""
        return tuple(getattr(self, name) for name in NAMES)

    def offer(self, recorded: bool) -> None:
        """Show what goes with the subject.

        Args:
            recorded: whether its runs are recorded.
        """
        options = _RECORDED if recorded else _PROGRAMS
        if list(self.runner.options) != options:
            self.runner.options = options
        self._recorded = recorded
        self._chose()

    def held(self) -> dict[str, Any]:
        """Return what a ``TuningState`` takes of these controls.

        Raises:
            ParameterError: something in them is not accepted; it is said below them, too.
            RunnerError: there is no Slurm here.
        """
        self._check()
        if self._recorded:
            return {"runner": REPLAY, "noise": self.noise.value}
        slurm = self.runner.value == SLURM
        if slurm:
            find("sbatch")
        return {
            "runner": self.runner.value,
            "application": self._words("application"),
            "sbatch": self._words("sbatch") if slurm else (),
            "jobs": self.jobs.value,
        }

    def set(self, name: str, value: Any) -> None:
        """Set a control that holds a text or a number.

        Args:
            name: of ``NAMES``, but the runner and the noise.
            value: words may be a text or a sequence.

        Raises:
            ParameterError: the control does not take it.
        """
        if name == "timeout_s":
            self.timeout_s.value = value or 0.0
        elif name == "jobs":
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise ParameterError(f"jobs must be a whole number from 1; got {value!r}", key=name)
            self.jobs.value = value
        else:
            getattr(self, name).value = value if isinstance(value, str) else shlex.join(value)

    def get(self, name: str) -> Any:
        """Return what a control holds.

        Args:
            name: of ``NAMES``.
        """
        value = getattr(self, name).value
        return value or None if name == "timeout_s" else value

    def _chose(self) -> None:
        slurm = self.runner.value == SLURM
        for name, applies in (
            ("noise", self._recorded),
            ("sbatch", slurm),
            *((name, not self._recorded) for name in ("application", "jobs", "timeout_s")),
        ):
            getattr(self, name).layout.display = "" if applies else "none"
        self._check()

    def _check(self) -> None:
        """Say below the controls what is wrong with them."""
        self.error.say("")
        try:
            if not self._recorded:
                self._words("application")
            if self.runner.value == SLURM:
                self._words("sbatch")
                find("sbatch")
        except (ParameterError, RunnerError) as error:
            self.error.say(str(error))

    def _words(self, name: str) -> tuple[str, ...]:
        try:
            return tuple(shlex.split(getattr(self, name).value))
        except ValueError as error:
            what = {"application": "the application", "sbatch": "options of sbatch"}[name]
            raise ParameterError(
                f"{what} must be words as in a shell; {error}", key=name
            ) from error
