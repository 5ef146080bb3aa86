"""The runner of the panel's runs: processes here, Slurm, Dask, or recorded runs."""

from __future__ import annotations

import shlex
from dataclasses import dataclass

from workbench.tune.runners.dask import Dask
from workbench.tune.runners.replay import describe_noise
from workbench.tune.runners.runner import Runner
from workbench.tune.runners.slurm import Slurm, runs_folder
from workbench.tune.runners.slurm_steps import SlurmSteps

LOCAL, SLURM, STEPS, DASK, REPLAY = "local", "slurm", "slurm-steps", "dask", "replay"


@dataclass(frozen=True)
class RunnerChoice:
    """The runner of an experiment."""

    kind: str = LOCAL  # local, slurm, slurm-steps, dask or replay
    noise: str = "measured"  # of a replay
    slurm: tuple[str, ...] = ()  # options of each job or of the allocation
    srun: tuple[str, ...] = ()  # options of each step
    allocation: str = ""  # number of the Slurm job to use; "": request one
    scheduler: str = ""  # address of Dask's scheduler

    @property
    def title(self) -> str:
        """The runner in the name of an experiment, "" for processes here."""
        if self.kind == REPLAY and self.noise != "measured":
            return describe_noise(self.noise)
        if self.kind == SLURM:
            return f"Slurm {shlex.join(self.slurm)}".rstrip()
        if self.kind == STEPS:
            return f"Slurm steps {shlex.join((*self.slurm, *self.srun))}".rstrip()
        return "Dask" if self.kind == DASK else ""

    def runner(self, store: str) -> Runner | None:
        """Return the runner, None for processes here; job files go beside the store."""
        if self.kind == SLURM:
            return Slurm(runs_folder(store), self.slurm)
        if self.kind == STEPS:
            return SlurmSteps(
                runs_folder(store),
                self.slurm,
                step_options=self.srun,
                job=self.allocation or None,
            )
        return Dask.at(self.scheduler) if self.kind == DASK else None

    def python(self, store: str) -> tuple[str, str]:
        """Return class and constructor call of the runner as Python, both "" for none."""
        given = [repr(str(runs_folder(store)))]
        if self.slurm:
            given.append(repr(list(self.slurm)))
        if self.kind == SLURM:
            return "Slurm", f"Slurm({', '.join(given)})"
        if self.kind == STEPS:
            if self.srun:
                given.append(f"step_options={list(self.srun)!r}")
            if self.allocation:
                given.append(f"job={self.allocation!r}")
            return "SlurmSteps", f"SlurmSteps({', '.join(given)})"
        return ("Dask", f"Dask.at({self.scheduler!r})") if self.kind == DASK else ("", "")
