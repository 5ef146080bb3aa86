"""The folder of one run on a Slurm machine: its words on the way in, its clock on the way out.

A fixed script reads the words from a file, a NUL after each, so that no value is ever part of a
line of a shell, and notes when the program began and ended on the clock of the node it runs on.
"""

from __future__ import annotations

import contextlib
import math
import os
import time
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from workbench.tune.component.invocation import Invocation
from workbench.tune.runners.local import refuse_empty
from workbench.tune.runners.runner import SEED_VARIABLE, RunRequest

LATE_S = 15.0
"""Seconds by which a file that another machine wrote may be late."""

_SCRIPT = """\
#!/bin/bash
{directives}
folder=$1{task}
mapfile -d '' -t words <"$folder/words"
{header}
first() {{ [ "${{SLURM_PROCID:-0}}" = 0 ]; }}
if first; then{place} rm -f "$folder/ended"; date +%s.%N >"$folder/began"; fi
"${{words[@]}}"{streams}
status=$?
if first; then
    echo "$(date +%s.%N) $status" >"$folder/ended.part"
    mv "$folder/ended.part" "$folder/ended"
fi
exit $status
"""

_STREAMS = ' >"$folder/stdout" 2>"$folder/stderr"'
_PLACE = ' echo "{number} {nodes}" >"$folder/place";'
_OF_JOB = _PLACE.format(number="$SLURM_JOB_ID", nodes="$SLURM_JOB_NODELIST")
_OF_STEP = _PLACE.format(number="$SLURM_STEP_ID", nodes="$SLURM_STEP_NODELIST")


def job_script(invocation: Invocation, *, array: bool = False) -> str:
    """Return the batch script of a job; its argument is the run's folder, or the array's."""
    return _SCRIPT.format(
        directives="\n".join(invocation.directives),
        header=invocation.header,
        task="/$SLURM_ARRAY_TASK_ID" if array else "",
        place=_OF_JOB,
        streams=_STREAMS,
    )


def step_script(invocation: Invocation) -> str:
    """Return the script of each task of a step; it gets the run's folder, ``srun`` the output."""
    return _SCRIPT.format(
        directives="", header=invocation.header, task="", place=_OF_STEP, streams=""
    )


@dataclass(frozen=True)
class Ending:
    """The run time and exit status of a program, by the clock of its node."""

    seconds: float
    status: int


class RunFolder:
    """The folder of one run, created here; the nodes must reach it as well."""

    def __init__(self, path: Path, request: RunRequest) -> None:
        refuse_empty(request.invocation)
        self.path = path
        path.mkdir(parents=True)
        variables = {**request.invocation.env, SEED_VARIABLE: str(request.seed)}
        words = ["env", *(f"{k}={v}" for k, v in variables.items()), *request.invocation.argv]
        data = "".join(f"{word}\0" for word in words).encode("utf-8", errors="surrogateescape")
        (path / "words").write_bytes(data)
        self._began = self._stale = ""
        self.seen_at = -math.inf  # monotonic clock in s at which the start was first seen

    @property
    def began(self) -> bool:
        """Whether the program has started."""
        return self._read_began() is not None

    @property
    def started(self) -> str:
        """When the program began, ISO 8601 with its distance from UTC; empty before."""
        began = self._read_began()
        return "" if began is None else datetime.fromtimestamp(began).astimezone().isoformat()

    def ending(self) -> Ending | None:
        """Return how the program ended; None before that, or if its start is unknown."""
        began = self._read_began()
        try:
            clock, status = (self.path / "ended").read_text().split()
            # A time of 0 would be the best there ever was.
            return None if began is None else Ending(max(float(clock) - began, 0.0), int(status))
        except (OSError, ValueError):
            return None

    @property
    def place(self) -> tuple[str, str]:
        """Number of the job or step, and the nodes it runs on; both empty before it begins."""
        try:
            number, nodes = (self.path / "place").read_text().split()
        except (OSError, ValueError):
            return "", ""
        return number, nodes

    def running_s(self) -> float:
        """Return the time in s since the program was seen to run, by this machine's clock."""
        return time.monotonic() - self.seen_at if self.began else 0.0

    def forget_start(self) -> None:
        """Discard the program's start: its job waits again and will start anew."""
        self._stale = self._began

    def refresh(self) -> None:
        """Have a network file system fetch what other machines have written there."""
        with contextlib.suppress(OSError):
            os.listdir(self.path)  # noqa: PTH208 - the call that has NFS ask the server

    def _read_began(self) -> float | None:
        try:
            text = (self.path / "began").read_text()
            clock = float(text)
        except (OSError, ValueError):
            return None
        if text != self._began:
            self._began, self.seen_at = text, time.monotonic()
        return None if text == self._stale else clock
