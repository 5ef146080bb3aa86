"""Slurm's own commands: asked, with a limit to how long they may take."""

from __future__ import annotations

import contextlib
import platform
import shutil
import subprocess
from collections.abc import Sequence

from workbench.tune.runners.runner import RunnerError

_ANSWER_S = 60.0


def cancel(job_id: str) -> None:
    """Cancel a job or a task of an array; one that has ended is left alone.

    Args:
        job_id: its number.
    """
    with contextlib.suppress(RunnerError):
        ask([find("scancel"), "--quiet", job_id])


def ask(
    words: Sequence[str], limit_s: float | None = _ANSWER_S
) -> subprocess.CompletedProcess[str]:
    """Run one of Slurm's commands and return what it answers.

    Args:
        words: the command and its arguments.
        limit_s: seconds to wait at most; None for as long as it takes.

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
    text = " ".join((answer.stderr or answer.stdout).split())
    return text[:500] or f"nothing, with status {answer.returncode}"
