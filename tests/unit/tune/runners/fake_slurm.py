"""A Slurm of three scripts and a folder: jobs stand in files, and do what a test writes there."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

_HEAD = """\
#!/bin/bash
cd "$(dirname "$0")"
echo "${0##*/} $*" >>log
if [ -e away ]; then
    echo "${0##*/}: error: Unable to contact slurm controller (connect failure)" >&2
    exit 1
fi
"""

# A job stands as what squeue prints of it. The last two words are the script and its folder.
_SBATCH = """\
number=$(($(cat next) + 1))
echo $number >next
script=${@: -2:1} folder=${@: -1} last=$(sed -n 's/.*--array=0-\\([0-9]*\\).*/\\1/p' <<<"$*")
for task in ${last:+$(seq 0 $last)} ${last:-only}; do
    own=$([ -n "$last" ] && echo "_$task")
    if [ -e runs ]; then
        SLURM_ARRAY_TASK_ID=$task SLURM_JOB_NODELIST=fake bash "$script" "$folder"
    fi
    echo "$([ -e runs ] && echo COMPLETED || echo PENDING)||Why|job|$script $folder" \\
        >"jobs/$number$own"
done
if [ -e deaf ]; then
    rm deaf
    echo 'sbatch: error: Batch job submission failed: Socket timed out on send/recv' >&2
    exit 1
fi
echo "Welcome"
echo "$number"
"""

_SQUEUE = """\
if [[ "$*" = *--steps* ]]; then cat steps; exit; fi
cd jobs
for job in *; do [ -e "$job" ] && echo "$job|$(cat "$job")"; done
exit 0
"""

_SCANCEL = """\
for word in "$@"; do
    for job in jobs/"$word" jobs/"$word"_*; do
        [ -e "$job" ] && sed -i 's/^[A-Z]*/CANCELLED/' "$job"
    done
done
exit 0
"""


class FakeSlurm:
    """The scripts, found before others.

    Files that a test makes in the folder say what it does: ``away`` (nobody answers), ``deaf``
    (the next job is taken, and ``sbatch`` does not hear of it), ``runs`` (jobs have run when they
    are taken).

    Args:
        folder: made here.
        patch: takes the search path back.
    """

    def __init__(self, folder: Path, patch: pytest.MonkeyPatch) -> None:
        self.folder = folder
        (folder / "jobs").mkdir(parents=True)
        for name, text in (("sbatch", _SBATCH), ("squeue", _SQUEUE), ("scancel", _SCANCEL)):
            (folder / name).write_text(_HEAD + text)
            (folder / name).chmod(0o755)
        (folder / "next").write_text("0")
        (folder / "steps").touch()
        (folder / "log").touch()
        patch.setenv("PATH", f"{folder}:{os.environ['PATH']}")

    def switch(self, name: str, on: bool = True) -> None:
        """Have it do something, or no more.

        Args:
            name: ``away``, ``deaf`` or ``runs``.
            on: whether it does.
        """
        path = self.folder / name
        path.touch() if on else path.unlink(missing_ok=True)

    @property
    def states(self) -> dict[str, str]:
        """State of each job by number."""
        jobs = (self.folder / "jobs").iterdir()
        return {job.name: job.read_text().partition("|")[0] for job in sorted(jobs)}

    @property
    def log(self) -> str:
        """What was asked, a line a command."""
        return (self.folder / "log").read_text()

    def stand(self, number: str, state: str, label: str = "") -> None:
        """Have a job stand so; it need not be there.

        Args:
            number: of the job.
            state: such as ``RUNNING``.
            label: its name and script, where it is not there yet.
        """
        path = self.folder / "jobs" / number
        text = path.read_text() if path.exists() else f"PENDING||None|{label}"
        path.write_text(re.sub(r"^\w*", state, text))

    def purge(self, number: str) -> None:
        """Forget a job, as Slurm does minutes after its end.

        Args:
            number: of the job.
        """
        (self.folder / "jobs" / number).unlink()
