"""Runs as jobs of a Slurm machine: ``sbatch``, then queries of their states.

    runner = Slurm("runs", options=("--partition=batch", "--nodes=2"))

``sbatch --wait`` polls at long intervals, so jobs are polled here. Many at once become one job
array. For runs of a second or two take ``SlurmSteps``: job steps in one allocation wait in no
queue.
"""

from __future__ import annotations

import contextlib
import math
import shutil
import time
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

from workbench.tune.runners.bounded_output import MOST_OUTPUT_BYTES, read_bounded
from workbench.tune.runners.runner import (
    RunHandle,
    Runner,
    RunnerError,
    RunOutput,
    RunRequest,
    RunState,
    all_or_none,
)
from workbench.tune.runners.slurm_commands import QueuedJob, find
from workbench.tune.runners.slurm_files import LATE_S, Ending, RunFolder, job_script
from workbench.tune.runners.slurm_queue import AGAIN_S, Queue, clean_up, label_of
from workbench.tune.runners.slurm_submission import Submission

_MOMENT_S = 1.0  # chosen: a job that starts within it is no wait to show
_SIGNALLED = 128  # a shell's status of a program that a signal ended is 128 and the signal


class Slurm(Runner):
    """Runs each configuration as a job of its own, or many as the tasks of an array.

    Args:
        folder: where scripts, words and outputs are kept; the nodes must reach it.
        options: words for every ``sbatch``, such as ``--partition=batch``.
        poll_s: seconds between two queries of all jobs.
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
        self.keep = keep
        self.most_output_bytes = most_output_bytes
        self.queue = Queue(poll_s)
        # By number of each waiting job: the time since when it waits, and the reason.
        self._waiting: dict[str, tuple[float, str]] = {}

    @property
    def waits_for(self) -> str:
        """How many jobs have waited for a moment, and why the first does; empty where none has.

        A missing answer of Slurm is reported first.
        """
        if self.queue.silent:
            return "Slurm does not answer"
        now = time.monotonic()
        reasons = [why for since, why in tuple(self._waiting.values()) if now - since > _MOMENT_S]
        if not reasons:
            return ""
        return f"{len(reasons)} in the queue" + (f" ({reasons[0]})" if reasons[0] else "")

    def note_waiting(self, job_id: str, since: float, why: str | None) -> None:
        """Record why a job waits.

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
        top = self.folder / label_of(request)
        run = RunFolder(top, request)
        words = (f"--output={_plain(top)}/slurm.out",)
        submission = self._submit(request, top, job_script(request.invocation), words)
        return _Job(self, request, run, submission, [top])

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

    def cancel_orphans(self, owner: str, job_ids: Collection[str]) -> None:
        """Cancel the jobs that a process left behind when it died.

        Args:
            owner: what the process is called in its requests; empty to end those of ``job_ids``
                alone.
            job_ids: of its runs, as far as handles reported them before it died.

        Raises:
            RunnerError: Slurm does not answer for a minute.
        """
        clean_up(owner, job_ids, None if self.keep else self.folder)

    def to_dict(self) -> dict[str, Any]:
        """Return the fields that are equal in experiments with comparable runs, for JSON."""
        return {"kind": self.name, "options": list(self.options)}

    def _start_array(self, requests: Sequence[RunRequest]) -> list[RunHandle]:
        top = self.folder / label_of(requests[0])
        runs = [RunFolder(top / str(task), one) for task, one in enumerate(requests)]
        script = job_script(requests[0].invocation, array=True)
        words = (f"--array=0-{len(requests) - 1}", f"--output={_plain(top)}/%a/slurm.out")
        submission = self._submit(requests[0], top, script, words)
        left = [top] * len(requests)
        return [
            _Job(self, request, run, submission, left, f"_{task}")
            for task, (request, run) in enumerate(zip(requests, runs, strict=True))
        ]

    def _submit(
        self, request: RunRequest, top: Path, script: str, options: Sequence[str]
    ) -> Submission:
        path = top / "job.sh"
        path.write_text(script)
        # A run restarts where its node fails, unless its component states otherwise: an option here
        # would override the lines of the component in the script.
        usual = not any("requeue" in line for line in request.invocation.directives)
        words = [
            *(find("sbatch"), "--parsable", f"--job-name={request.name}"),
            *(*("--requeue",) * usual, *options, *self.options),
            *(*request.invocation.sbatch_options, str(path), str(top)),
        ]
        return Submission(words, top, self.queue)


def runs_folder(store: str | Path | None) -> Path:
    """Return the folder of the jobs' files: beside an SQLite store, else ``workbench-runs``."""
    where = str(store or "")
    return Path("workbench-runs" if not where or "://" in where else f"{where}-runs")


def _plain(path: Path) -> str:
    """Return a path for ``--output``, its percent signs doubled."""
    return str(path).replace("%", "%%")


class _Job:
    """One job, or one array task; the tasks share ``left``, an entry for each unfinished one."""

    def __init__(
        self,
        runner: Slurm,
        request: RunRequest,
        run: RunFolder,
        submission: Submission,
        left: list[Path],
        task: str = "",
    ) -> None:
        self._runner = runner
        self._request = request
        self._run = run
        self._submission = submission
        self._left = left
        self._task = task
        self._requested_at = time.monotonic()
        self._ended_at: float | None = None
        self._cancelled_at = -math.inf
        self._why: RunState | None = None
        self._output: RunOutput | None = None

    @property
    def job_id(self) -> str:
        """Number of the job, with that of the task where it is one of an array."""
        number = self._submission.number
        return f"{number}{self._task}" if number else ""

    def poll(self) -> RunOutput | None:
        """Return the output; None while the job waits or runs."""
        if self._output is None and self._is_taken():
            self._poll_job()
        return self._output

    def cancel(self) -> None:
        """Ask Slurm to cancel the job, waiting or running; ``poll`` asks again."""
        if self._output is None:
            self._why = self._why or "cancelled"
            self._cancel()

    def _is_taken(self) -> bool:
        """Return whether Slurm has accepted the job; finish it if it was cancelled before."""
        if not self._submission.number and self._why is None:
            self._submission.submit()
        if not self._submission.number and self._why is not None:
            self._cancel_again()
            if self._submission.withdrawn:
                self._record_ending(None)
        return bool(self._submission.number)

    def _poll_job(self) -> None:
        run, limit = self._run, self._request.timeout_s
        ending = run.ending()
        if ending is not None and (self._why or ending.status <= _SIGNALLED):
            self._record_ending(ending)
            return
        now = time.monotonic()
        if ending is not None:
            self._ended_at = self._ended_at or now
        elif limit is not None and run.running_s() >= limit and self._why is None:
            self._why = "timeout"
            self._cancel_again()
        after = max(self._submission.since, run.seen_at, self._ended_at or 0.0)
        jobs = self._runner.queue.jobs(after)
        if jobs is None:
            return
        # An array that was cancelled while all of it waited has no tasks any more.
        job = jobs.get(self.job_id) or jobs.get(self._submission.number)
        self._note(job)
        if job is not None and job.state == "PENDING":
            # It was requeued, after a node failure or preemption: its earlier work is void.
            run.forget_start()
            self._ended_at = None
        elif job is None or job.ended:
            self._record_ended(job)
        elif self._ended_at is not None and now - self._ended_at > LATE_S:
            self._record_ending(ending, job.state)
        if self._why is not None and self._output is None:
            self._cancel_again()

    def _note(self, job: QueuedJob | None) -> None:
        """Record why the job waits, if it does."""
        why = job.reason if job is not None and job.state == "PENDING" else None
        self._runner.note_waiting(self.job_id, self._requested_at, why)

    def _record_ended(self, job: QueuedJob | None) -> None:
        """Record how a job ended that Slurm reports as over, once its files are visible."""
        self._run.refresh()
        ending = self._run.ending()
        now = time.monotonic()
        self._ended_at = self._ended_at or now
        state = "" if job is None else job.state
        may_come = ending is None and self._why is None and state in ("", "COMPLETED")
        if may_come and now - self._ended_at < LATE_S:
            return
        self._record_ending(ending, state or "the job is not known any more")

    def _cancel(self) -> None:
        self._cancelled_at = time.monotonic()
        if self._task and self._submission.number:
            self._runner.queue.cancel([self.job_id])
        else:
            self._submission.withdraw()

    def _cancel_again(self) -> None:
        """Cancel the job unless that was done recently; Slurm may not have received it."""
        if time.monotonic() - self._cancelled_at > AGAIN_S:
            with contextlib.suppress(RunnerError):
                self._cancel()

    def _record_ending(self, ending: Ending | None, state: str = "") -> None:
        total = time.monotonic() - self._requested_at
        seconds = self._run.running_s() if ending is None else ending.seconds
        folder = self._run.path
        reason = ""
        outcome: RunState
        if ending is not None and ending.status == 0:
            # A program that succeeded just before it was ended has completed.
            outcome = "completed"
        else:
            outcome = self._why or ("cancelled" if state.startswith("CANCELLED") else "failed")
        if ending is None and not self._why:
            reason = f"Slurm: {state}"
            if state == "COMPLETED":
                reason += f", but no file arrived in {folder}, which the nodes must reach"
        most = self._runner.most_output_bytes
        stderr = read_bounded(folder / "stderr", most)
        if outcome == "failed":
            stderr = "\n".join(filter(None, [stderr, read_bounded(folder / "slurm.out", most)]))
        self._output = RunOutput(
            seconds=seconds,
            queue_seconds=max(total - seconds, 0.0),
            returncode=None if ending is None else ending.status,
            stdout=read_bounded(folder / "stdout", most),
            stderr=stderr,
            job_id=self.job_id,
            node_list=self._run.place[1],
            state=outcome,
            started=self._run.started,
            reason=reason,
        )
        self._runner.note_waiting(self.job_id, self._requested_at, None)
        top = self._left.pop()
        if not self._left and not self._runner.keep:
            shutil.rmtree(top, ignore_errors=True)
