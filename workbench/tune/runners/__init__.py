"""What runs a configuration: a process here, a Slurm job, a Dask worker, a record, a function."""

from __future__ import annotations

from workbench.tune.runners.dask import Dask
from workbench.tune.runners.function import Function
from workbench.tune.runners.local import Local
from workbench.tune.runners.replay import NOISES, Recorded, Replay
from workbench.tune.runners.runner import (
    RunHandle,
    Runner,
    RunnerError,
    RunOutput,
    RunRequest,
    RunState,
)
from workbench.tune.runners.slurm import Slurm
from workbench.tune.runners.slurm_steps import SlurmSteps

__all__ = [
    "NOISES",
    "Dask",
    "Function",
    "Local",
    "Recorded",
    "Replay",
    "RunHandle",
    "RunOutput",
    "RunRequest",
    "RunState",
    "Runner",
    "RunnerError",
    "Slurm",
    "SlurmSteps",
]
