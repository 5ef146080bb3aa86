"""The runner of ``workbench tune run``: this machine, Slurm, or a cluster of Dask."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from workbench.errors import ParameterError

if TYPE_CHECKING:
    from workbench.tune.runners import Runner

LOCAL, SLURM, SLURM_STEPS, DASK = "local", "slurm", "slurm-steps", "dask"
_ASKED = ("partition", "account", "nodes", "ntasks", "time")
_FOR = {
    **dict.fromkeys((*_ASKED, "slurm"), (SLURM, SLURM_STEPS)),
    "srun": (SLURM_STEPS,),
    "allocation": (SLURM_STEPS,),
    "scheduler": (DASK,),
}


def add_runner(parser: argparse.ArgumentParser) -> None:
    """Add the options that choose a runner and its resources."""
    parser.add_argument(
        "--runner",
        choices=(LOCAL, SLURM, SLURM_STEPS, DASK),
        default=LOCAL,
        help="local: processes here (default); slurm: a job for each run; slurm-steps: an srun for "
        "each run in one allocation; dask: the workers of a cluster",
    )
    parser.add_argument("--partition", metavar="NAME", help="Slurm partition")
    parser.add_argument("--account", metavar="NAME", help="Slurm account that is charged")
    parser.add_argument(
        "--nodes", type=int, metavar="N", help="nodes of each job, or of the allocation"
    )
    parser.add_argument("--ntasks", type=int, metavar="N", help="tasks, such as ranks of MPI")
    parser.add_argument(
        "--time", metavar="H:M:S", help="time limit of each job, or of the allocation"
    )
    parser.add_argument(
        "--slurm",
        action="append",
        metavar="OPTION",
        help="another option of sbatch or salloc: --slurm=--exclusive; may be repeated",
    )
    parser.add_argument(
        "--srun",
        metavar="OPTIONS",
        help="options of each step, quoted: --srun='--mpi=pmix --exact'",
    )
    add_places(parser)


def add_places(parser: argparse.ArgumentParser) -> None:
    """Add the options for the place of runs, which a resumed experiment needs again."""
    parser.add_argument(
        "--allocation",
        metavar="JOB",
        help="take steps of this job, such as $SLURM_JOB_ID, instead of requesting one",
    )
    parser.add_argument(
        "--scheduler",
        metavar="ADDRESS",
        help="address of Dask's scheduler, such as tcp://host:8786",
    )


def chosen_options(arguments: argparse.Namespace) -> list[str]:
    """Return the given options that choose the runner, as they are typed."""
    given = [f"--{name}" for name in _FOR if getattr(arguments, name) is not None]
    return [*(["--runner"] if arguments.runner != LOCAL else []), *given]


def runner_of(arguments: argparse.Namespace) -> Runner | None:
    """Return the runner that the options choose; None for processes of this machine."""
    chosen: str = arguments.runner
    for name, runners in _FOR.items():
        if getattr(arguments, name) is not None and chosen not in runners:
            raise ParameterError(
                f"--{name} is for --runner {' or '.join(runners)}; got --runner {chosen}",
                key=name,
            )
    if chosen == LOCAL:
        return None
    if chosen == DASK:
        return _dask(arguments.scheduler)
    from workbench.tune.runners.slurm import Slurm, runs_folder
    from workbench.tune.runners.slurm_options import checked_options, slurm_options
    from workbench.tune.runners.slurm_steps import SlurmSteps

    resources = {name: getattr(arguments, name) for name in _ASKED}
    resources = {name: value for name, value in resources.items() if value is not None}
    options = slurm_options(**resources, others=arguments.slurm or ())
    folder = runs_folder(arguments.store)
    if chosen == SLURM:
        return Slurm(folder, options)
    steps = checked_options(_split(arguments.srun), of="srun", key="srun")
    return SlurmSteps(folder, options, step_options=steps, job=arguments.allocation)


def resume_runner(arguments: argparse.Namespace, stored_runner: Mapping[str, Any]) -> Runner | None:
    """Return the runner to resume with if the store does not describe it fully, else None."""
    kind = stored_runner.get("kind")
    for name in ("allocation", "scheduler"):
        if getattr(arguments, name) is not None and kind not in _FOR[name]:
            raise ParameterError(
                f"--{name} is for the runner {' or '.join(_FOR[name])}; this experiment's is "
                f"{kind}",
                key=name,
            )
    if kind == DASK:
        return _dask(arguments.scheduler)
    if kind == SLURM_STEPS and arguments.allocation is not None:
        from workbench.tune.runners.slurm import runs_folder
        from workbench.tune.runners.slurm_steps import SlurmSteps

        steps = stored_runner.get("step_options", ())
        folder = runs_folder(arguments.store)
        return SlurmSteps(folder, step_options=steps, job=arguments.allocation)
    return None


def _dask(scheduler: str | None) -> Runner:
    if not scheduler:
        raise ParameterError(
            "--scheduler must be the address of Dask's scheduler, such as tcp://host:8786; got "
            "none",
            key="scheduler",
        )
    from workbench.tune.runners.dask import Dask

    return Dask.at(scheduler)


def _split(text: str | None) -> list[str]:
    try:
        return shlex.split(text or "")
    except ValueError as error:
        raise ParameterError(f"--srun must be words as in a shell; {error}", key="srun") from error
