"""What executes the panel's runs: processes here, Slurm, Dask, or recorded runs drawn again."""

from __future__ import annotations

import shlex
from dataclasses import dataclass

from workbench.tune.runners.dask import Dask
from workbench.tune.runners.replay import noise_words
from workbench.tune.runners.runner import Runner
from workbench.tune.runners.slurm import Slurm, runs_folder
from workbench.tune.runners.slurm_steps import SlurmSteps

LOCAL, SLURM, STEPS, DASK, REPLAY = "local", "slurm", "slurm-steps", "dask", "replay"


@dataclass(frozen=True)
class RunBy:
    """What executes runs.

    Attributes:
        kind: ``local``, ``slurm``, ``slurm-steps``, ``dask`` or ``replay``.
        noise: of a replay.
        slurm: options of each job, or of the allocation.
        srun: options of each step of an allocation.
        allocation: number of a job whose steps runs are, empty to ask for one.
        scheduler: address of Dask's.
    """

    kind: str = LOCAL
    noise: str = "measured"
    slurm: tuple[str, ...] = ()
    srun: tuple[str, ...] = ()
    allocation: str = ""
    scheduler: str = ""

    @property
    def title(self) -> str:
        """What tells experiments apart that run by something else, empty for processes here."""
        if self.kind == REPLAY and self.noise != "measured":
            return noise_words(self.noise)
        if self.kind == SLURM:
            return f"Slurm {shlex.join(self.slurm)}".rstrip()
        if self.kind == STEPS:
            return f"Slurm steps {shlex.join((*self.slurm, *self.srun))}".rstrip()
        return "Dask" if self.kind == DASK else ""

    def runner(self, store: str) -> Runner | None:
        """Return the runner; None for processes here.

        Args:
            store: of the experiment; files of jobs go beside it.

        Raises:
            ParameterError: something in it is not accepted.
            RunnerError: there is no Slurm here, or no scheduler answers.
        """
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
        """Return the class of the runner and the words that make one, both empty where none is.

        Args:
            store: of the experiment.
        """
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
