"""Runs as jobs of a Slurm machine: ``sbatch``, then a look at how they stand.

    runner = Slurm("runs", options=("--partition=batch", "--nodes=2"))

``sbatch --wait`` looks at long intervals, so jobs are looked at here. Many at once become one job
array. For runs of a second or two take ``SlurmSteps``: job steps in one allocation wait in no
queue.
"""

from __future__ import annotations

import contextlib
import platform
import re
import shutil
import subprocess
import time
import uuid
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from workbench.tune.runners.local import Local
from workbench.tune.runners.output import MOST_OUTPUT_BYTES, read_bounded
from workbench.tune.runners.runner import (
    RunHandle,
    Runner,
    RunnerError,
    RunOutput,
    RunRequest,
    RunState,
)
from workbench.tune.runners.slurm_files import RunFolder, job_script, step_script

_ANSWER_S = 60.0
_PATIENCE_S = 30.0
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
        _find("sbatch")
        self.folder = Path(folder).absolute()
        self.options = tuple(options)
        self.poll_s = poll_s
        self.keep = keep
        self.most_output_bytes = most_output_bytes

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
        handles: dict[int, RunHandle] = {}
        for numbers in alike.values():
            group = [requests[number] for number in numbers]
            started = [self.start(group[0])] if len(group) == 1 else self._start_array(group)
            handles.update(zip(numbers, started, strict=True))
        return [handles[number] for number in range(len(requests))]

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
            *(_find("sbatch"), "--parsable", f"--job-name={request.name}"),
            *(f"--output={top}/slurm-%j.out", *options, *self.options),
            *(*request.invocation.sbatch_options, str(path), str(top)),
        ]
        answer = ask(words)
        job_id = answer.stdout.strip().partition(";")[0]
        if answer.returncode or not job_id.isdigit():
            shutil.rmtree(top, ignore_errors=True)
            raise RunnerError(f"sbatch must accept the job; it says: {_said(answer)}")
        return job_id


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
        answer = ask([_find("scontrol"), "--oneliner", "show", "job", self._job_id])
        if answer.returncode == 0:
            self._silent_since = None
            # The first of each key: what comes later may quote the user's own words.
            found: dict[str, str] = {}
            for key, value in re.findall(r"(?:^| )(\w+)=(\S*)", answer.stdout):
                found.setdefault(key, value)
            return found
        if "Invalid job id" in answer.stderr:
            return {"gone": "1"}
        self._silent_since = self._silent_since or time.monotonic()
        if time.monotonic() - self._silent_since > _PATIENCE_S:
            raise RunnerError(f"Slurm must answer for job {self._job_id}; {_said(answer)}")
        return {}

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


class SlurmSteps(Runner):
    """Runs each configuration as a job step in one allocation, which no other run waits for.

    The allocation is asked for with the first run and given back by ``close``.

    Args:
        folder: where scripts, words and clocks are kept; the nodes must reach it.
        options: words for ``salloc``, such as ``--nodes=2``.
        step_options: words for every ``srun``, such as ``--ntasks=4`` and ``--mpi=pmix``.
        job: number of an allocation to use instead, which is not given back: inside of a job,
            its ``SLURM_JOB_ID``.
        most_output_bytes: what is kept of each stream of a run.

    Raises:
        RunnerError: there is no Slurm here.
    """

    name = "slurm-steps"

    def __init__(
        self,
        folder: str | Path,
        options: Sequence[str] = (),
        *,
        step_options: Sequence[str] = (),
        job: str | None = None,
        most_output_bytes: int = MOST_OUTPUT_BYTES,
    ) -> None:
        _find("srun")
        self.folder = Path(folder).absolute()
        self.options = tuple(options)
        self.step_options = tuple(step_options)
        self.job = job
        self._own = False
        self._local = Local(most_output_bytes=most_output_bytes)

    def start(self, request: RunRequest) -> RunHandle:
        """Start a job step and return at once; the first waits for the allocation.

        Args:
            request: what to run.

        Raises:
            RunnerError: Slurm grants no allocation.
            ParameterError: there is nothing to run, or an option is meant for ``sbatch``.
        """
        run = RunFolder(self.folder / f"{request.name}-{uuid.uuid4().hex[:8]}", request)
        job = self._allocation()
        script = run.path / "step.sh"
        script.write_text(step_script(request.invocation))
        words = (
            *(_find("srun"), f"--jobid={job}", "--overlap", f"--job-name={request.name}"),
            *(*self.step_options, "bash", str(script), str(run.path)),
        )
        call = replace(request.invocation, argv=words, env={}, header="", directives=())
        # The limit counts from when the program begins, not from when the step is asked for.
        inner = self._local.start(replace(request, invocation=call, timeout_s=None))
        return _Step(inner, run, request, job if self._own else "", job)

    def abandon(self, job_id: str) -> None:
        """Cancel an allocation that a process left behind when it died.

        Args:
            job_id: as its handle told it.
        """
        # Steps of an allocation that somebody else made are told as its number and a dot.
        if job_id.isdigit():
            cancel(job_id)

    def to_dict(self) -> dict[str, Any]:
        """Return what experiments must agree on to hold comparable runs, for JSON."""
        return {
            "kind": self.name,
            "options": list(self.options),
            "step_options": list(self.step_options),
        }

    def close(self) -> None:
        """Give the allocation back; again does no harm."""
        if self._own and self.job is not None:
            cancel(self.job)
            self.job, self._own = None, False

    def _allocation(self) -> str:
        if self.job is None:
            words = [_find("salloc"), "--no-shell", "--job-name=workbench-tune", *self.options]
            answer = ask(words, None)
            found = re.search(r"Granted job allocation (\d+)", answer.stderr)
            if answer.returncode or found is None:
                raise RunnerError(f"salloc must grant an allocation; it says: {_said(answer)}")
            self.job, self._own = found[1], True
        return self.job


class _Step:
    """One job step: an ``srun`` here, and the program's own clock there."""

    def __init__(
        self, inner: RunHandle, run: RunFolder, request: RunRequest, own: str, job: str
    ) -> None:
        self._inner = inner
        self._run = run
        self._request = request
        self._job_id = own or f"{job}."
        self._why: RunState | None = None
        self._output: RunOutput | None = None

    @property
    def job_id(self) -> str:
        """Number of the allocation; with a dot where it is not the runner's own."""
        return self._job_id

    def poll(self) -> RunOutput | None:
        """Return what came of it, None while it runs."""
        if self._output is not None:
            return self._output
        limit = self._request.timeout_s
        if limit is not None and self._why is None and self._run.running_s() >= limit:
            self._end("timeout")
        output = self._inner.poll()
        if output is None:
            return None
        ending = self._run.ending()
        seconds = self._run.running_s() if ending is None else ending.seconds
        completed = output.returncode == 0 and ending is not None
        self._output = replace(
            output,
            seconds=seconds,
            queue_seconds=max(output.seconds - seconds, 0.0),
            state="completed" if completed else self._why or "failed",
            job_id=self._job_id,
            started=self._run.started,
        )
        shutil.rmtree(self._run.path, ignore_errors=True)
        return self._output

    def cancel(self) -> None:
        """End the step; ``srun`` ends its tasks."""
        self._end("cancelled")

    def _end(self, why: RunState) -> None:
        if self._why is None:
            self._why = why
            self._inner.cancel()


def cancel(job_id: str) -> None:
    """Cancel a job or a task of an array; one that has ended is left alone.

    Args:
        job_id: its number.
    """
    with contextlib.suppress(RunnerError):
        ask([_find("scancel"), "--quiet", job_id])


def slurm_version() -> str:
    """Return what Slurm says it is, empty where there is none or it does not answer."""
    try:
        return ask([_find("sinfo"), "--version"]).stdout.strip()
    except RunnerError:
        return ""


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


def _find(program: str) -> str:
    found = shutil.which(program)
    if found is None:
        raise RunnerError(
            f"runs on a Slurm machine need {program}, which {platform.node()} does not have; go "
            "to a login node, or take the local runner"
        )
    return found


def _said(answer: subprocess.CompletedProcess[str]) -> str:
    text = " ".join((answer.stderr or answer.stdout).split())
    return text[:500] or f"nothing, with status {answer.returncode}"
