"""Runs as jobs of a Slurm machine: ``sbatch``, then a look at how they stand.

    runner = Slurm("runs", options=("--partition=batch", "--nodes=2"))

``sbatch --wait`` looks at long intervals, so jobs are looked at here. Many at once become one job
array. For runs of a second or two take ``SlurmSteps``: job steps in one allocation wait in no
queue.
"""

from __future__ import annotations

import re
import shutil
import time
import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from workbench.tune.runners.output import MOST_OUTPUT_BYTES, read_bounded
from workbench.tune.runners.runner import (
    RunHandle,
    Runner,
    RunnerError,
    RunOutput,
    RunRequest,
    RunState,
    all_or_none,
)
from workbench.tune.runners.slurm_commands import ask, cancel, find, job_state, said
from workbench.tune.runners.slurm_files import RunFolder, job_script

_PATIENCE_S = 30.0
_MOMENT_S = 1.0
_ENDED = re.compile(
    r"BOOT_FAIL|CANCELLED|COMPLETED|DEADLINE|FAILED|NODE_FAIL|OUT_OF_MEMORY|PREEMPTED|TIMEOUT"
)


class Slurm(Runner):
    """Runs each configuration as a job of its own, or many as the tasks of an array.

    Args:
        folder: where scripts, words and outputs are kept; the nodes must reach it.
        options: words for every ``sbatch``, such as ``--partition=batch``.
        poll_s: seconds between two looks at a job.
        keep: whether the folders of runs stay when they have ended.
        most_output_bytes: what is read of each stream of a run.

    Raises:
        RunnerError: there is no Slurm here.
    """

    name = "slurm"

    def __init__(
        self,
        folder: str | Path,
        options: Sequence[str] = (),
        *,
        poll_s: float = 0.25,
        keep: bool = False,
        most_output_bytes: int = MOST_OUTPUT_BYTES,
    ) -> None:
        find("sbatch")
        self.folder = Path(folder).absolute()
        self.options = tuple(options)
        self.poll_s = poll_s
        self.keep = keep
        self.most_output_bytes = most_output_bytes
        # Since when each job waits, and why: by its number, while it does.
        self._waiting: dict[str, tuple[float, str]] = {}

    @property
    def waits_for(self) -> str:
        """How many jobs have waited for a moment, and why the first does; empty where none has."""
        now = time.monotonic()
        reasons = [why for since, why in tuple(self._waiting.values()) if now - since > _MOMENT_S]
        if not reasons:
            return ""
        return f"{len(reasons)} in the queue" + (f" ({reasons[0]})" if reasons[0] else "")

    def note_waiting(self, job_id: str, since: float, why: str | None) -> None:
        """Take down why a job waits.

        Args:
            job_id: its number.
            since: when it was submitted, by the monotonic clock in s.
            why: Slurm's reason; None where it waits no more.
        """
        if why is None:
            self._waiting.pop(job_id, None)
        else:
            self._waiting[job_id] = (since, why)

    def start(self, request: RunRequest) -> RunHandle:
        """Submit a job and return at once.

        Args:
            request: what to run.

        Raises:
            RunnerError: Slurm refuses the job.
            ParameterError: there is nothing to run.
        """
        top = self.folder / f"{request.name}-{uuid.uuid4().hex[:8]}"
        run = RunFolder(top, request)
        job_id = self._submit(request, top, job_script(request.invocation), ())
        return _Job(self, request, run, job_id, [top])

    def start_many(self, requests: Sequence[RunRequest]) -> list[RunHandle]:
        """Submit several runs; those that differ in their words alone become one array.

        Args:
            requests: what to run.

        Raises:
            RunnerError: Slurm refuses a job.
            ParameterError: there is nothing to run.
        """
        alike: dict[Any, list[int]] = {}
        for number, request in enumerate(requests):
            call = request.invocation
            key = (call.sbatch_options, call.directives, call.header)
            alike.setdefault(key, []).append(number)
        order: list[int] = []
        with all_or_none() as handles:
            for numbers in alike.values():
                group = [requests[number] for number in numbers]
                one = len(group) == 1
                handles.extend([self.start(group[0])] if one else self._start_array(group))
                order.extend(numbers)
        found = dict(zip(order, handles, strict=True))
        return [found[number] for number in range(len(requests))]

    def abandon(self, job_id: str) -> None:
        """Cancel a job that a process left behind when it died.

        Args:
            job_id: as its handle told it.
        """
        cancel(job_id)

    def to_dict(self) -> dict[str, Any]:
        """Return what experiments must agree on to hold comparable runs, for JSON."""
        return {"kind": self.name, "options": list(self.options)}

    def _start_array(self, requests: Sequence[RunRequest]) -> list[RunHandle]:
        top = self.folder / f"{requests[0].name}-{uuid.uuid4().hex[:8]}"
        runs = [RunFolder(top / str(task), one) for task, one in enumerate(requests)]
        script = job_script(requests[0].invocation, array=True)
        job_id = self._submit(requests[0], top, script, (f"--array=0-{len(requests) - 1}",))
        left = [top] * len(requests)
        return [
            _Job(self, request, run, f"{job_id}_{task}", left)
            for task, (request, run) in enumerate(zip(requests, runs, strict=True))
        ]

    def _submit(self, request: RunRequest, top: Path, script: str, options: Sequence[str]) -> str:
        path = top / "job.sh"
        path.write_text(script)
        words = [
            *(find("sbatch"), "--parsable", f"--job-name={request.name}"),
            *(f"--output={top}/slurm-%j.out", *options, *self.options),
            *(*request.invocation.sbatch_options, str(path), str(top)),
        ]
        answer = ask(words)
        job_id = answer.stdout.strip().partition(";")[0]
        if answer.returncode or not job_id.isdigit():
            shutil.rmtree(top, ignore_errors=True)
            raise RunnerError(f"sbatch must accept the job; it says: {said(answer)}")
        return job_id


def runs_folder(store: str | Path | None) -> Path:
    """Return where the files of an experiment's jobs go: beside the store, where that is a file.

    Args:
        store: SQLite file or PostgreSQL address of the experiment; None or empty for none.
    """
    where = str(store or "")
    return Path("workbench-runs" if not where or "://" in where else f"{where}-runs")


class _Job:
    """One job, or one task of an array.

    ``left`` has one entry for each task of the array that has not ended; it is shared by them.
    """

    def __init__(
        self, runner: Slurm, request: RunRequest, run: RunFolder, job_id: str, left: list[Path]
    ) -> None:
        self._runner = runner
        self._request = request
        self._run = run
        self._job_id = job_id
        self._left = left
        self._submitted = time.monotonic()
        self._looked = 0.0
        self._silent_since: float | None = None
        self._why: RunState | None = None
        self._output: RunOutput | None = None

    @property
    def job_id(self) -> str:
        """Number of the job, with that of the task where it is one of an array."""
        return self._job_id

    def poll(self) -> RunOutput | None:
        """Return what came of it, None while it waits or runs.

        Raises:
            RunnerError: Slurm does not answer for half a minute.
        """
        if self._output is not None:
            return self._output
        limit = self._request.timeout_s
        ending = self._run.ending()
        if ending is None and limit is not None and self._run.running_s() >= limit:
            self._end("timeout")
        now = time.monotonic()
        if ending is None and now - self._looked < self._runner.poll_s:
            return None
        self._looked = now
        found = self._look()
        if ending is None and not (found.get("gone") or _ENDED.match(found.get("JobState", ""))):
            return None
        self._take(found)
        return self._output

    def cancel(self) -> None:
        """Ask Slurm to cancel the job, whether it waits or runs."""
        self._end("cancelled")

    def _end(self, why: RunState) -> None:
        if self._why is None and self._output is None:
            self._why = why
            cancel(self._job_id)

    def _look(self) -> dict[str, str]:
        try:
            found = job_state(self._job_id)
        except RunnerError:
            self._silent_since = self._silent_since or time.monotonic()
            if time.monotonic() - self._silent_since > _PATIENCE_S:
                raise
            return {}
        self._silent_since = None
        why = found.get("Reason", "") if found.get("JobState") == "PENDING" else None
        self._runner.note_waiting(self._job_id, self._submitted, why)
        return found or {"gone": "1"}

    def _take(self, found: dict[str, str]) -> None:
        ending = self._run.ending()
        state = found.get("JobState", "")
        total = time.monotonic() - self._submitted
        seconds = self._run.running_s() if ending is None else ending.seconds
        folder = self._run.path
        reason = ""
        if ending is not None:
            # A program that ends on its own at the last moment has ended on its own.
            outcome: RunState = "completed" if ending.status == 0 else self._why or "failed"
            returncode: int | None = ending.status
        else:
            outcome = self._why or ("cancelled" if state == "CANCELLED" else "failed")
            returncode = None
            reason = "" if self._why else f"Slurm: {state or 'the job is not known any more'}"
        most = self._runner.most_output_bytes
        stderr = read_bounded(folder / "stderr", most)
        if outcome == "failed":
            top = self._left[0] if self._left else folder
            said = [read_bounded(one, most) for one in sorted(top.glob("slurm-*.out"))]
            stderr = "\n".join(filter(None, [stderr, *said]))
        self._output = RunOutput(
            seconds=seconds,
            queue_seconds=max(total - seconds, 0.0),
            returncode=returncode,
            stdout=read_bounded(folder / "stdout", most),
            stderr=stderr,
            job_id=self._job_id,
            node_list=found.get("NodeList", "").replace("(null)", ""),
            state=outcome,
            started=self._run.started,
            reason=reason,
        )
        top = self._left.pop()
        if not self._left and not self._runner.keep:
            shutil.rmtree(top, ignore_errors=True)
