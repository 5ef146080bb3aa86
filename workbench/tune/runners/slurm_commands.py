"""Slurm's own commands: asked, with a limit to how long they may take."""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass

from workbench.tune.runners.runner import RunnerError

_ANSWER_S = 60.0
_MOMENT_S = 3.0
_MOST_SAID = 500
# Variables by which users have these commands show or cancel less than all.
_HABITS = ("SQUEUE_", "SCANCEL_")
_AWAY = re.compile(
    r"unable to contact|timed? ?out|connection (refused|reset|failure)|zero bytes|standby mode"
    r"|not responding|temporarily un|unexpected message",
    re.IGNORECASE,
)
_ENDED = re.compile(
    r"BOOT_FAIL|CANCELLED|COMPLETED|DEADLINE|FAILED|NODE_FAIL|OUT_OF_MEMORY|PREEMPTED|TIMEOUT"
)


class SilentError(RunnerError):
    """Slurm does not answer, which passes; what was asked for may have been done or not."""


@dataclass(frozen=True)
class QueuedJob:
    """A job, or a task of an array, as Slurm tells it.

    Attributes:
        number: of the job, with that of the task where it is one of an array.
        state: such as ``RUNNING``.
        nodes: where it runs, empty before.
        reason: why it waits.
        label: its name, and the script it runs with its arguments.
    """

    number: str
    state: str
    nodes: str
    reason: str
    label: str

    @property
    def ended(self) -> bool:
        """Whether it will run no more."""
        return _ENDED.match(self.state) is not None


def queued_jobs() -> dict[str, QueuedJob]:
    """Return this user's jobs by number, with those that have ended of late.

    Raises:
        SilentError: Slurm does not answer.
    """
    found = {}
    # The name comes last: it may have any sign in it.
    for line in _squeue("--array", "--states=all", "--format=%i|%T|%N|%r|%j|%o"):
        number, state, nodes, reason, label = line.split("|", 4)
        found[number] = QueuedJob(number, state, nodes.replace("(null)", ""), reason, label)
    return found


def queued_steps() -> dict[str, str]:
    """Return the names of this user's job steps by number.

    Raises:
        SilentError: Slurm does not answer.
    """
    lines = _squeue("--steps", "--format=%i|%j")
    return {number: name for number, _, name in (line.partition("|") for line in lines)}


def cancel(numbers: Sequence[str], *options: str) -> None:
    """Cancel jobs, tasks of arrays or job steps; those that have ended are left alone.

    Args:
        numbers: of the jobs.
        options: further words for ``scancel``.

    Raises:
        SilentError: Slurm does not answer.
    """
    if not numbers:
        return
    answer = ask([find("scancel"), "--quiet", *options, *numbers])
    if answer.returncode and is_away(said(answer)):
        raise SilentError(f"Slurm must answer to cancel {', '.join(numbers)}; {said(answer)}")


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
        SilentError: it does not end in time, or cannot be run.
    """
    try:
        return subprocess.run(
            words,
            env={k: v for k, v in os.environ.items() if not k.startswith(_HABITS)},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=limit_s,
        )
    except (subprocess.TimeoutExpired, OSError) as error:
        raise SilentError(f"{words[0]} must answer; {error}") from error


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


def is_away(message: str) -> bool:
    """Return whether a command found nobody to ask, which passes; else it was refused.

    Args:
        message: what the command said.
    """
    return _AWAY.search(message) is not None


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


def _squeue(*options: str) -> list[str]:
    # --me is not known before Slurm 20.
    answer = ask([find("squeue"), f"--user={os.getuid()}", "--all", "--noheader", *options])
    if answer.returncode:
        raise SilentError(f"Slurm must answer; {said(answer)}")
    return answer.stdout.splitlines()
