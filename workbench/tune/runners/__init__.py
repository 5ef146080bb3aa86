"""What runs a configuration: a process here, a Slurm job, a Dask worker, a record, a function."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.lazy import lazy_exports

if TYPE_CHECKING:
    from workbench.tune.runners.dask import Dask as Dask
    from workbench.tune.runners.function import Function as Function
    from workbench.tune.runners.local import Local as Local
    from workbench.tune.runners.replay import (
        NOISES as NOISES,
        Recorded as Recorded,
        Replay as Replay,
    )
    from workbench.tune.runners.runner import (
        RunHandle as RunHandle,
        Runner as Runner,
        RunnerError as RunnerError,
        RunOutput as RunOutput,
        RunRequest as RunRequest,
        RunState as RunState,
    )
    from workbench.tune.runners.slurm import Slurm as Slurm
    from workbench.tune.runners.slurm_steps import SlurmSteps as SlurmSteps
else:
    __getattr__, __dir__ = lazy_exports(__name__)
