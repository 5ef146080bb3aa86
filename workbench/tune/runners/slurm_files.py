"""The folder of one run on a Slurm machine: its words on the way in, its clock on the way out.

A fixed script reads the words from a file, a NUL after each, so that no value is ever part of a
line of a shell, and notes when the program began and ended on the clock of the node it runs on.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from workbench.tune.invocation import Invocation
from workbench.tune.runners.local import refuse_empty
from workbench.tune.runners.runner import SEED_VARIABLE, RunRequest

_SCRIPT = """\
#!/bin/bash
{directives}
folder=$1{task}
mapfile -d '' -t words <"$folder/words"
{header}
first() {{ [ "${{SLURM_PROCID:-0}}" = 0 ]; }}
if first; then{place} date +%s.%N >"$folder/began"; fi
"${{words[@]}}"{streams}
status=$?
if first; then
    echo "$(date +%s.%N) $status" >"$folder/ended.part"
    mv "$folder/ended.part" "$folder/ended"
fi
exit $status
"""

_STREAMS = ' >"$folder/stdout" 2>"$folder/stderr"'
_PLACE = ' echo "$SLURM_STEP_ID $SLURM_STEP_NODELIST" >"$folder/step";'


def job_script(invocation: Invocation, *, array: bool = False) -> str:
    """Return the batch script of a job; its argument is the folder of the run.

    Args:
        invocation: whose head and header it has.
        array: whether the argument is the folder of an array, with a folder for each task.
    """
    return _SCRIPT.format(
        directives="\n".join(invocation.directives),
        header=invocation.header,
        task="/$SLURM_ARRAY_TASK_ID" if array else "",
        place="",
        streams=_STREAMS,
    )


def step_script(invocation: Invocation) -> str:
    """Return the script that each task of a job step runs; its argument is the run's folder.

    What the tasks print goes to ``srun``.

    Args:
        invocation: whose header it has.
    """
    return _SCRIPT.format(
        directives="", header=invocation.header, task="", place=_PLACE, streams=""
    )


@dataclass(frozen=True)
class Ending:
    """How a program ended, by the clock of its node.

    Attributes:
        seconds: how long it ran.
        status: its exit status.
    """

    seconds: float
    status: int


class RunFolder:
    """The folder of one run, which the nodes must reach as well.

    Args:
        path: where it is to be; made here.
        request: what is run.

    Raises:
        ParameterError: there is nothing to run.
        OSError: it cannot be made.
    """

    def __init__(self, path: Path, request: RunRequest) -> None:
        refuse_empty(request.invocation)
        self.path = path
        path.mkdir(parents=True)
        variables = {**request.invocation.env, SEED_VARIABLE: str(request.seed)}
        words = ["env", *(f"{k}={v}" for k, v in variables.items()), *request.invocation.argv]
        data = "".join(f"{word}\0" for word in words).encode("utf-8", errors="surrogateescape")
        (path / "words").write_bytes(data)
        self._running_since: float | None = None

    @property
    def began(self) -> float | None:
        """When the program began in s since 1970, by its node's clock; None before."""
        return _number(self.path / "began")

    @property
    def started(self) -> str:
        """When the program began, ISO 8601 in local time; empty before."""
        began = self.began
        return "" if began is None else datetime.fromtimestamp(began).isoformat()

    def ending(self) -> Ending | None:
        """Return how the program ended, None before."""
        try:
            clock, status = (self.path / "ended").read_text().split()
            began = self.began
            return Ending(max(float(clock) - (began or float(clock)), 0.0), int(status))
        except (OSError, ValueError):
            return None

    @property
    def step(self) -> tuple[str, str]:
        """Number of the job step and the nodes it runs on; both empty before it begins."""
        try:
            number, nodes = (self.path / "step").read_text().split()
        except (OSError, ValueError):
            return "", ""
        return number, nodes

    def running_s(self) -> float:
        """Return how long the program has been seen to run in s, by this machine's clock."""
        if self._running_since is None:
            if not (self.path / "began").exists():
                return 0.0
            self._running_since = time.monotonic()
        return time.monotonic() - self._running_since


def _number(path: Path) -> float | None:
    try:
        return float(path.read_text())
    except (OSError, ValueError):
        return None
