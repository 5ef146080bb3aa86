"""What a Slurm job asks for, as words for ``sbatch`` and ``salloc``."""

from __future__ import annotations

import re
from collections.abc import Sequence

from workbench.counts import integer
from workbench.errors import ParameterError

_NAME = re.compile(r"[^\s,=-][^\s=]*")
_TIME = re.compile(
    r"\d+|\d+:\d\d?(:\d\d?)?|\d+-\d\d?(:\d\d?){0,2}|infinite|unlimited", re.IGNORECASE
)


def slurm_words(
    *,
    partition: str = "",
    account: str = "",
    nodes: int | None = None,
    ntasks: int | None = None,
    time: str = "",
    others: Sequence[str] = (),
) -> tuple[str, ...]:
    """Return the options of a job; what is empty or None is left to Slurm.

    Args:
        partition: where it runs; several with commas between them, the first that is free counts.
        account: what it is charged to.
        nodes: how many nodes it takes.
        ntasks: how many tasks it has, such as ranks of MPI.
        time: most time the job may take: minutes, ``hours:minutes:seconds``, or these after
            ``days-``.
        others: further options, a word each, such as ``--exclusive``.

    Raises:
        ParameterError: one of them is not of its form.
    """
    words = []
    for key, name in (("partition", partition), ("account", account)):
        if name and not _NAME.fullmatch(name):
            raise ParameterError(f"{key} must be one word, a name; got {name!r}", key=key)
        words += [f"--{key}={name}"] * bool(name)
    for key, count in (("nodes", nodes), ("ntasks", ntasks)):
        if count is None:
            continue
        if (integer(count) or 0) < 1:
            raise ParameterError(f"{key} must be a whole number from 1; got {count!r}", key=key)
        words.append(f"--{key}={count}")
    if time:
        if not _TIME.fullmatch(time):
            raise ParameterError(
                "time of a job must be minutes, hours:minutes:seconds or days-hours:minutes, such "
                f"as 1:30:00; got {time!r}",
                key="time",
            )
        words.append(f"--time={time}")
    return (*words, *option_words(others))


def option_words(words: Sequence[str], *, of: str = "Slurm", key: str = "slurm") -> tuple[str, ...]:
    """Return options, which must not begin with what would be taken for a program.

    Args:
        words: as typed.
        of: what they are options of.
        key: what an error is about.

    Raises:
        ParameterError: the first is no option.
    """
    if words and not words[0].startswith("-"):
        raise ParameterError(
            f"options of {of} must begin with a dash, such as --exclusive; got {words[0]!r}",
            key=key,
        )
    return tuple(words)


def allocation_number(job: str, options: Sequence[str]) -> str:
    """Return the number of an allocation to take steps of; it is what it was asked for.

    Args:
        job: the number, empty where one is to be asked for.
        options: what would be asked for.

    Raises:
        ParameterError: it is no number, or there are options for an allocation that is there.
    """
    if job and not job.isdecimal():
        raise ParameterError(
            f"allocation must be the number of a job, as squeue shows it; got {job!r}",
            key="allocation",
        )
    if job and options:
        raise ParameterError(
            f"allocation {job} has what it was asked for; leave {' '.join(options)} out, or name "
            "no allocation and let another be asked for",
            key="allocation",
        )
    return job
