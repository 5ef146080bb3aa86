"""Slurm's own commands: asked, with a limit to how long they may take."""

from __future__ import annotations

import contextlib
import platform
import re
import shutil
import subprocess
from collections.abc import Sequence

from workbench.tune.runners.runner import RunnerError

_ANSWER_S = 60.0
_MOMENT_S = 3.0
_MOST_SAID = 500


def cancel(job_id: str, *options: str) -> None:
    """Cancel a job, a task of an array or a job step; one that has ended is left alone.

    Args:
        job_id: its number.
        options: further words for ``scancel``.
    """
    with contextlib.suppress(RunnerError):
        ask([find("scancel"), "--quiet", *options, job_id])


def job_state(job_id: str) -> dict[str, str]:
    """Return what Slurm knows of a job, such as ``JobState``; nothing where it knows none.

    Args:
        job_id: its number.

    Raises:
        RunnerError: Slurm does not answer.
    """
    answer = ask([find("scontrol"), "--oneliner", "show", "job", job_id])
    found: dict[str, str] = {}
    if answer.returncode == 0:
        # The first of each key: what comes later may quote the user's own words.
        for key, value in re.findall(r"(?:^| )(\w+)=(\S*)", answer.stdout):
            found.setdefault(key, value)
    elif "Invalid job id" not in answer.stderr:
        raise RunnerError(f"Slurm must answer for job {job_id}; {said(answer)}")
    return found


def partitions() -> list[str]:
    """Return the names of the partitions, the default one first; none where Slurm says none."""
    try:
        answer = ask([find("sinfo"), "--noheader", "--format=%P"], _MOMENT_S)
    except RunnerError:
        return []
    names = dict.fromkeys(answer.stdout.split())
    return [name.rstrip("*") for name in sorted(names, key=lambda one: not one.endswith("*"))]


def ask(words: Sequence[str], limit_s: float = _ANSWER_S) -> subprocess.CompletedProcess[str]:
    """Run one of Slurm's commands and return what it answers.

    Args:
        words: the command and its arguments.
        limit_s: seconds to wait at most.

    Raises:
        RunnerError: it does not end in time, or cannot be run.
    """
    try:
        return subprocess.run(
            words,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=limit_s,
        )
    except (subprocess.TimeoutExpired, OSError) as error:
        raise RunnerError(f"{words[0]} must answer; {error}") from error


def find(program: str) -> str:
    """Return the path of one of Slurm's commands.

    Args:
        program: its name.

    Raises:
        RunnerError: there is none.
    """
    found = shutil.which(program)
    if found is None:
        raise RunnerError(
            f"runs on a Slurm machine need {program}, which {platform.node()} does not have; go "
            "to a login node, or take the local runner"
        )
    return found


def said(answer: subprocess.CompletedProcess[str]) -> str:
    """Return what a command said, in one line.

    Args:
        answer: of the command.
    """
    return in_one_line(answer.stderr or answer.stdout) or (
        f"nothing, with status {answer.returncode}"
    )


def in_one_line(text: str) -> str:
    """Return messages of Slurm's commands without the names that each line begins with.

    Args:
        text: as printed.
    """
    lines = (re.sub(r"^\w+: (error: )?", "", line).strip() for line in text.splitlines())
    return "; ".join(filter(None, lines))[:_MOST_SAID]
