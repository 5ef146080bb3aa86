"""The controls of the runner and its options."""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
from typing import Any

import ipywidgets as widgets

from workbench.checks import whole
from workbench.errors import ParameterError
from workbench.panels import inputs
from workbench.panels.error_line import ErrorLine
from workbench.panels.number_field import NumberField
from workbench.panels.style import choose, named, wrapping_row
from workbench.panels.tuning.runner_choice import DASK, LOCAL, REPLAY, SLURM, STEPS, RunnerChoice
from workbench.tune.runners.replay import NOISES
from workbench.tune.runners.runner import RunnerError
from workbench.tune.runners.slurm_commands import find, partitions
from workbench.tune.runners.slurm_options import allocation_number, checked_options, slurm_options

_PROGRAMS = [
    ("processes here", LOCAL),
    ("Slurm jobs", SLURM),
    ("steps of a Slurm allocation", STEPS),
    ("Dask workers", DASK),
]
_RECORDED = [("recorded runs", REPLAY)]
_HERE = (LOCAL, SLURM, STEPS, DASK)
_MOST_JOBS = 1024  # as an `Experiment` takes (workbench.tune)
_WORDS = {"application": "the application", "slurm": "options of Slurm", "srun": "options of srun"}
# By option: title, width, example, tooltip, and the runners that take it.
_TEXTS: dict[str, tuple[str, str, str, str, tuple[str, ...]]] = {
    "account": ("Account", "150px", "usual", "Account that jobs are charged to", (SLURM, STEPS)),
    "nodes": ("Nodes", "108px", "usual", "Nodes of each job, or of the allocation", (SLURM, STEPS)),
    "ntasks": (
        *("Tasks", "108px", "usual"),
        "Tasks of each job, or of the allocation, such as MPI ranks; steps have the same number",
        (SLURM, STEPS),
    ),
    "time": (
        *("Time limit", "198px", "such as 1:30:00"),
        "Time limit of each job, or of the allocation: minutes, or hours:minutes:seconds",
        (SLURM, STEPS),
    ),
    "slurm": (
        *("Other options", "250px", "such as --exclusive"),
        "Further options of sbatch, or of salloc",
        (SLURM, STEPS),
    ),
    "srun": (
        *("Options of srun", "264px", "such as --mpi=pmix"),
        "Options of each step; steps at the same time need --exact and --ntasks to share the nodes",
        (STEPS,),
    ),
    "allocation": (
        *("Allocation", "220px", "requested at Start"),
        "Number of a job to take steps of, instead of requesting an allocation",
        (STEPS,),
    ),
    "scheduler": (
        *("Scheduler", "300px", "tcp://host:8786"),
        "Address of the scheduler of a Dask cluster",
        (DASK,),
    ),
}
NAMES = ("runner", "noise", "jobs", "timeout_s", "partition", *_TEXTS, "application")
"""What these controls hold."""


class RunnerControls:
    """The controls of the runner and its options; ``timeout_s`` None is no limit of a run."""

    def __init__(self, timeout_s: float | None, store: Any) -> None:
        self.runner: Any = inputs.Dropdown(options=_PROGRAMS, **named("Run by", "260px"))
        self.noise: Any = inputs.Dropdown(options=[*NOISES], **named("Noise", "180px"))
        self.application: Any = inputs.Text(
            placeholder="program that runs with it, such as mpirun -np 4 ./app",
            continuous_update=False,
            **named("Application", "auto"),
        )
        # The command of a parallel program is long: it takes what is left of a row.
        self.application.layout.flex = "1 1 480px"
        self.partition: Any = inputs.Combobox(
            placeholder="usual",
            continuous_update=False,
            tooltip="Slurm partition of the jobs",
            **named("Partition", "170px"),
        )
        self._texts: dict[str, Any] = {
            name: inputs.Text(
                placeholder=example, continuous_update=False, tooltip=about, **named(title, width)
            )
            for name, (title, width, example, about, _) in _TEXTS.items()
        }
        self.jobs: Any = NumberField(1, 1, _MOST_JOBS, **named("Runs at once", "150px"))
        self.timeout_s: Any = NumberField(
            float(timeout_s or 0.0),
            0.0,
            1e6,
            called="Limit of a run (s)",
            **named("Limit of a run (s, 0: none)", "250px"),
        )
        self.error = ErrorLine()
        self.widget = widgets.VBox(
            [
                wrapping_row(self.runner, self.noise, self.jobs, self.timeout_s, store),
                wrapping_row(self.partition, *self._texts.values(), self.application),
                self.error,
            ]
        )
        self._recorded = False
        self.runner.observe(lambda _: self._chose(), "value")
        for control in (self.application, self.partition, *self._texts.values()):
            control.observe(lambda _: self._check(), "value")

    @property
    def by_name(self) -> dict[str, Any]:
        """All controls by name, in their order on the page."""
        return {name: self._control(name) for name in NAMES}

    def offer(self, recorded: bool) -> None:
        """Show the runners for recorded runs, or for runs on this machine."""
        options = _RECORDED if recorded else _PROGRAMS
        if list(self.runner.options) != options:
            self.runner.options = options
        self._recorded = recorded
        self._chose()

    def held(self) -> dict[str, Any]:
        """Return the arguments of a ``TuningState``; an error is also shown below the controls."""
        self.error.say("")
        try:
            by = self._run_by()
            if self._recorded:
                return {"by": by}
            return {"by": by, "application": self._words("application"), "jobs": self.jobs.value}
        except (ParameterError, RunnerError) as error:
            self.error.say(str(error))
            raise

    def set(self, name: str, value: Any) -> None:
        """Set a control of ``NAMES`` as the user would; words as a text or a sequence."""
        control = self._control(name)
        if name in ("runner", "noise", "jobs"):
            choose(control, name, value)
        elif name == "timeout_s":
            choose(control, name, 0.0 if value is None else value)
        elif value is None or isinstance(value, str | int):
            control.value = "" if value is None else str(value)
        else:
            control.value = shlex.join(value)

    def get(self, name: str) -> Any:
        """Return the value of a control of ``NAMES``."""
        value = self._control(name).value
        return value or None if name == "timeout_s" else value

    def _control(self, name: str) -> Any:
        return self._texts[name] if name in self._texts else getattr(self, name)

    def _chose(self) -> None:
        kind = self.runner.value
        for name, runners in (
            ("noise", (REPLAY,)),
            ("partition", (SLURM, STEPS)),
            *((name, _HERE) for name in ("application", "jobs", "timeout_s")),
            *((name, row[-1]) for name, row in _TEXTS.items()),
        ):
            self._control(name).layout.display = "" if kind in runners else "none"
        if kind in (SLURM, STEPS) and shutil.which("sinfo"):
            known = partitions()
            self.partition.options = known
            self.partition.placeholder = known[0] if known else "usual"
        inside = os.environ.get("SLURM_JOB_ID")
        if inside:
            self._texts["allocation"].placeholder = f"new; this is in {inside}"
        self._check()

    def _check(self) -> None:
        """Show the error of the controls below them; a missing scheduler is reported by Start."""
        if self.runner.value == DASK and not self._text("scheduler"):
            self.error.say("")
            return
        with contextlib.suppress(ParameterError, RunnerError):
            self.held()

    def _run_by(self) -> RunnerChoice:
        """Return the runner that the controls describe."""
        kind = self.runner.value
        if kind == REPLAY:
            return RunnerChoice(REPLAY, noise=self.noise.value)
        if kind == DASK:
            return RunnerChoice(DASK, scheduler=self._scheduler())
        if kind not in (SLURM, STEPS):
            return RunnerChoice()
        words = slurm_options(
            partition=self.partition.value.strip(),
            account=self._text("account"),
            nodes=self._count("nodes"),
            ntasks=self._count("ntasks"),
            time=self._text("time"),
            others=self._words("slurm"),
        )
        if kind == SLURM:
            find("sbatch")
            return RunnerChoice(SLURM, slurm=words)
        find("salloc")
        srun = checked_options(self._words("srun"), of="srun", key="srun")
        allocation = allocation_number(self._text("allocation"), words)
        return RunnerChoice(STEPS, slurm=words, srun=srun, allocation=allocation)

    def _text(self, name: str) -> str:
        return str(self._texts[name].value).strip()

    def _count(self, name: str) -> int | None:
        text = self._text(name)
        return whole(int(text) if text.isdecimal() else text, name, 1) if text else None

    def _scheduler(self) -> str:
        text = self._text("scheduler")
        if not text:
            raise ParameterError(
                "scheduler must be the address of a Dask cluster's, such as tcp://host:8786; got "
                "none",
                key="scheduler",
            )
        return text

    def _words(self, name: str) -> tuple[str, ...]:
        try:
            return tuple(shlex.split(self._control(name).value))
        except ValueError as error:
            raise ParameterError(
                f"{_WORDS[name]} must be words as in a shell; {error}", key=name
            ) from error
