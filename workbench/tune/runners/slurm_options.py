"""The options of ``sbatch`` and ``salloc`` for the resources of a Slurm job."""

from __future__ import annotations

import re
from collections.abc import Sequence

from workbench.checks import whole
from workbench.errors import ParameterError

_NAME = re.compile(r"[^\s,=-][^\s=]*")
_TIME = re.compile(
    r"\d+|\d+:\d\d?(:\d\d?)?|\d+-\d\d?(:\d\d?){0,2}|infinite|unlimited", re.IGNORECASE
)


def slurm_options(
    *,
    partition: str = "",  # several with commas: the first that is free
    account: str = "",  # charged for the job
    nodes: int | None = None,
    ntasks: int | None = None,  # such as the ranks of MPI
    time: str = "",  # minutes, hours:minutes:seconds, or with days- before
    others: Sequence[str] = (),  # such as ``--exclusive``
) -> tuple[str, ...]:
    """Return the options of a job; for empty values and None Slurm's defaults apply."""
    options = []
    for key, name in (("partition", partition), ("account", account)):
        if name and not _NAME.fullmatch(name):
            raise ParameterError(f"{key} must be one word, a name; got {name!r}", key=key)
        options += [f"--{key}={name}"] * bool(name)
    for key, count in (("nodes", nodes), ("ntasks", ntasks)):
        if count is None:
            continue
        options.append(f"--{key}={whole(count, key, 1)}")
    if time:
        if not _TIME.fullmatch(time):
            raise ParameterError(
                "time of a job must be minutes, hours:minutes:seconds or days-hours:minutes, such "
                f"as 1:30:00; got {time!r}",
                key="time",
            )
        options.append(f"--time={time}")
    return (*options, *checked_options(others))


def checked_options(
    options: Sequence[str], *, of: str = "Slurm", key: str = "slurm"
) -> tuple[str, ...]:
    """Return options; the first must begin with a dash, or it would be taken for a program."""
    if options and not options[0].startswith("-"):
        raise ParameterError(
            f"options of {of} must begin with a dash, such as --exclusive; got {options[0]!r}",
            key=key,
        )
    return tuple(options)


def allocation_number(job: str, options: Sequence[str]) -> str:
    """Return the number of an allocation (empty: a new one), which cannot have options."""
    if job and not job.isdecimal():
        raise ParameterError(
            f"allocation must be the number of a job, as squeue shows it; got {job!r}",
            key="allocation",
        )
    if job and options:
        raise ParameterError(
            f"allocation {job} already has its resources; leave {' '.join(options)} out, or name "
            "no allocation to request one",
            key="allocation",
        )
    return job
