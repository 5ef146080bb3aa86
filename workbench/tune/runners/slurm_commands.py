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

ANSWER_S = 60.0
"""Seconds a command may take; Slurm itself waits 10 s for its controller (MessageTimeout)."""

_MOMENT_S = 3.0  # chosen: a panel waits for the partitions, and does without them
_MOST_SAID = 500  # chosen: characters, about six lines of 80 columns in an error
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
    """Slurm does not answer for now; the request may have been executed or not."""


@dataclass(frozen=True)
class QueuedJob:
    """A job, or a task of an array, as ``squeue`` reports it."""

    number: str  # with the task's where it is one of an array
    state: str  # such as ``RUNNING``
    nodes: str  # empty before it runs
    reason: str  # why it waits
    label: str  # job name, script and the script's arguments

    @property
    def ended(self) -> bool:
        """Whether the job has finished."""
        return _ENDED.match(self.state) is not None


def queued_jobs() -> dict[str, QueuedJob]:
    """Return this user's jobs by number, recently finished ones included."""
    found = {}
    # The name comes last: it may have any sign in it.
    for line in _squeue("--array", "--states=all", "--format=%i|%T|%N|%r|%j|%o"):
        number, state, nodes, reason, label = line.split("|", 4)
        found[number] = QueuedJob(number, state, nodes.replace("(null)", ""), reason, label)
    return found


def queued_steps() -> dict[str, str]:
    """Return the names of this user's job steps by number."""
    lines = _squeue("--steps", "--format=%i|%j")
    return {number: name for number, _, name in (line.partition("|") for line in lines)}


def cancel(numbers: Sequence[str], *options: str) -> None:
    """Cancel jobs, tasks of arrays or job steps by number; finished ones are left alone."""
    if not numbers:
        return
    answer = ask([find("scancel"), "--quiet", *options, *numbers])
    if answer.returncode and is_unreachable(message_of(answer)):
        raise SilentError(f"Slurm must answer to cancel {', '.join(numbers)}; {message_of(answer)}")


def partitions() -> list[str]:
    """Return the names of the partitions, the default first; empty if Slurm reports none."""
    try:
        answer = ask([find("sinfo"), "--noheader", "--format=%P"], _MOMENT_S)
    except RunnerError:
        return []
    names = dict.fromkeys(answer.stdout.split())
    return [name.rstrip("*") for name in sorted(names, key=lambda one: not one.endswith("*"))]


def ask(words: Sequence[str], limit_s: float = ANSWER_S) -> subprocess.CompletedProcess[str]:
    """Run a Slurm command and return its result; raise after ``limit_s``."""
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
    """Return the path of one of Slurm's commands."""
    found = shutil.which(program)
    if found is None:
        raise RunnerError(
            f"runs on a Slurm machine need {program}, which {platform.node()} does not have; go "
            "to a login node, or take the local runner"
        )
    return found


def is_unreachable(message: str) -> bool:
    """Return whether a command failed because Slurm is unreachable for now, not by refusal."""
    return _AWAY.search(message) is not None


def message_of(answer: subprocess.CompletedProcess[str]) -> str:
    """Return a command's message in one line, or its exit status if it printed nothing."""
    return in_one_line(answer.stderr or answer.stdout) or (
        f"nothing, with status {answer.returncode}"
    )


def in_one_line(text: str) -> str:
    """Return messages of Slurm's commands in one line, without the commands' names."""
    lines = (re.sub(r"^\w+: (error: )?", "", line).strip() for line in text.splitlines())
    return "; ".join(filter(None, lines))[:_MOST_SAID]


def _squeue(*options: str) -> list[str]:
    # --me is not known before Slurm 20.
    answer = ask([find("squeue"), f"--user={os.getuid()}", "--all", "--noheader", *options])
    if answer.returncode:
        raise SilentError(f"Slurm must answer; {message_of(answer)}")
    return answer.stdout.splitlines()
