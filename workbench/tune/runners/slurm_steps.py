"""Runs as job steps: one allocation of a Slurm machine, and an ``srun`` in it for each run.

    with SlurmSteps("runs", ["--ntasks=4", "--time=1:00:00"]) as runner:
        result = tune("open-mpi-bcast", runner, application=["./app"])

Where the allocation's time is over before the experiment is, another is asked for.
"""

from __future__ import annotations

import contextlib
import math
import shutil
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from workbench.errors import ParameterError
from workbench.tune.runners.bounded_output import MOST_OUTPUT_BYTES
from workbench.tune.runners.local import Local, refuse_empty
from workbench.tune.runners.runner import (
    RunHandle,
    Runner,
    RunnerError,
    RunOutput,
    RunRequest,
    RunState,
)
from workbench.tune.runners.slurm_allocation import Allocation
from workbench.tune.runners.slurm_commands import cancel, find, is_unreachable
from workbench.tune.runners.slurm_files import LATE_S, RunFolder, step_script
from workbench.tune.runners.slurm_options import allocation_number
from workbench.tune.runners.slurm_queue import AGAIN_S, PATIENCE_S, Queue, clean_up, label_of

_RUNNING = "RUNNING"
_POLL_S = 0.25  # chosen: steps are short, but squeue's manual warns of calls in a loop


class SlurmSteps(Runner):
    """Runs each configuration as a job step in one allocation, which no other run waits for.

    The allocation is requested with the first run and released by ``close``, or when this
    process ends. Steps have the nodes and tasks of the allocation, as in a shell of ``salloc``.
    Each has all of it, and another one that is to run at once waits: runs that share processors
    are slow for each other's sake. With ``--exact`` and fewer tasks each takes a part of its own.

    Args:
        folder: where scripts, words and clocks are kept; the nodes must reach it.
        options: words for ``salloc``, such as ``--nodes=2`` and ``--ntasks=8``.
        step_options: words for every ``srun``, such as ``--mpi=pmix``.
        job: number of an allocation to use instead, which is not released: inside of a job,
            its ``SLURM_JOB_ID``.
        most_output_bytes: what is kept of each stream of a run.

    Raises:
        ParameterError: ``job`` is no number, or there are options for an allocation that is there.
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
        allocation_number(job or "", options)
        find("srun")
        self.folder = Path(folder).absolute()
        self.options = tuple(options)
        self.step_options = tuple(step_options)
        self.job = job or None
        self.most_output_bytes = most_output_bytes
        self.queue = Queue(_POLL_S)
        self._allocation: Allocation | None = None
        self._refused_at = -math.inf

    @property
    def waits_for(self) -> str:
        """What runs wait for, in a few words; empty where they do not."""
        if self.queue.silent:
            return "Slurm does not answer"
        allocation = self._allocation
        if allocation is None or not allocation.lasts or allocation.granted:
            return ""
        return f"{f'job {allocation.number}'.strip()} waits for an allocation"

    def start(self, request: RunRequest) -> RunHandle:
        """Ask for a job step and return at once; it begins once there is an allocation.

        Args:
            request: what to run.

        Raises:
            RunnerError: Slurm grants no allocation.
            ParameterError: there is nothing to run, or an option is meant for ``sbatch``.
        """
        invocation = request.invocation
        if invocation.sbatch_options or invocation.directives:
            given = " ".join((*invocation.sbatch_options, *invocation.directives))
            raise ParameterError(
                f"a step of an allocation takes no options of sbatch; got {given!r}; run it as "
                "Slurm jobs, one for each run",
                key="runner",
            )
        refuse_empty(invocation)
        label = label_of(request)
        self.place(label)
        return _Step(self, RunFolder(self.folder / label, request), request)

    def place(self, label: str) -> tuple[str, Mapping[str, str]] | None:
        """Return the allocation's number and what ``srun`` finds in the environment there.

        Args:
            label: what an allocation is called that is asked for now.

        Returns:
            Both; None while the allocation waits, or Slurm does not answer.

        Raises:
            RunnerError: Slurm grants no allocation, or does not answer for ten minutes.
        """
        if self.job is not None:
            return self.job, {}
        held = self._allocation
        if held is None or (held.granted and not held.lasts):
            if time.monotonic() - self._refused_at < AGAIN_S:
                return None
            self.close()
            self._allocation = held = Allocation(self.options, label)
        try:
            variables = held.variables()
        except RunnerError as error:
            self.close()
            if not is_unreachable(str(error)):
                raise
            self._refused_at = time.monotonic()
            self.queue.note_silence(error)
            return None
        if variables is None:
            return None
        self.queue.note_answer()
        return held.number, variables

    def forget(self, job: str) -> None:
        """Release an allocation, unless another has taken its place.

        Args:
            job: its number.
        """
        if self._allocation is not None and self._allocation.number == job:
            self.close()

    def cancel_orphans(self, owner: str, job_ids: Collection[str]) -> None:
        """Cancel the allocations and steps that a process left behind when it died.

        Args:
            owner: what the process is called in its requests; empty to end those of ``job_ids``
                alone.
            job_ids: of its runs, as far as handles reported them before it died.

        Raises:
            RunnerError: Slurm does not answer for a minute.
        """
        # The number of another owner's allocation ends with a dot here: no job has that.
        clean_up(owner, job_ids, self.folder)

    def to_dict(self) -> dict[str, Any]:
        """Return the fields that are equal in experiments with comparable runs, for JSON."""
        return {
            "kind": self.name,
            "options": list(self.options),
            "step_options": list(self.step_options),
        }

    def close(self) -> None:
        """Release the allocation; a later run asks for another. Safe to repeat."""
        # Cleared before it is closed: another thread may request the next one meanwhile.
        held, self._allocation = self._allocation, None
        if held is not None:
            held.close()


class _Step:
    """One job step: an ``srun`` here, and the program with its own clock on a node."""

    def __init__(self, runner: SlurmSteps, run: RunFolder, request: RunRequest) -> None:
        self._runner = runner
        self._run = run
        self._request = request
        self._requested_at = time.monotonic()
        self._job = runner.job or ""
        self._inner: RunHandle | None = None
        self._ended: RunOutput | None = None
        self._ended_at = self._not_before = 0.0
        self._why: RunState | None = None
        self._output: RunOutput | None = None
        self._again = False

    @property
    def job_id(self) -> str:
        """Number of the allocation, empty before; with a dot where it is not the runner's own."""
        return f"{self._job}." if self._runner.job is not None else self._job

    def poll(self) -> RunOutput | None:
        """Return the output; None while the step waits or runs."""
        if self._output is None:
            if self._inner is None:
                self._begin()
            elif self._ended is None and not self._is_late():
                self._ended = self._inner.poll()
                self._ended_at = time.monotonic()
            if self._ended is not None:
                self._record_output(self._ended)
        return self._output

    def cancel(self) -> None:
        """End the step; ``srun`` ends its tasks."""
        self._end("cancelled")

    def _begin(self) -> None:
        """Ask for the step once there is an allocation."""
        if self._why is not None:
            self._finish(RunOutput(0.0, queue_seconds=self._waited(), state=self._why))
            return
        if time.monotonic() < self._not_before:
            return
        place = self._runner.place(self._run.path.name)
        if place is None:
            return
        self._job, variables = place
        script = self._run.path / "step.sh"
        script.write_text(step_script(self._request.invocation))
        # In an existing allocation a shell may be a step itself, and hold all of it.
        shared = ("--overlap",) * (self._runner.job is not None)
        words = (
            *(find("srun"), f"--jobid={self._job}", *shared),
            *(f"--job-name={self._run.path.name}", *self._runner.step_options),
            *("bash", str(script), str(self._run.path)),
        )
        call = replace(self._request.invocation, argv=words, env={}, header="")
        local = Local(environment=variables, most_output_bytes=self._runner.most_output_bytes)
        # The limit counts from when the program begins, not from when the step is asked for.
        self._inner = local.start(replace(self._request, invocation=call, timeout_s=None))

    def _is_late(self) -> bool:
        """End the step at its time limit; return whether that was now."""
        limit = self._request.timeout_s
        if limit is None or self._why is not None or self._run.running_s() < limit:
            return False
        self._end("timeout")
        return True

    def _record_output(self, output: RunOutput) -> None:
        """Record how ``srun`` ended, or restart if the allocation or Slurm failed."""
        self._run.refresh()
        ending = self._run.ending()
        number, nodes = self._run.place
        reason = ""
        if ending is None and self._why is not None and number:
            # A program that does not end when asked to would disturb the next one.
            with contextlib.suppress(RunnerError):
                cancel([f"{self._job}.{number}"], "--signal=KILL")
        elif ending is None and self._why is None:
            jobs = self._runner.queue.jobs(self._ended_at)
            if jobs is None:
                return
            if self._job not in jobs or jobs[self._job].state != _RUNNING:
                reason = self._without_allocation()
            elif self._never_started(output):
                self._not_before = time.monotonic() + AGAIN_S
                self._restart()
            elif output.returncode == 0:
                # It succeeded, so its end time will still arrive.
                if time.monotonic() - self._ended_at < LATE_S:
                    return
                reason = f"no file arrived in {self._run.path}, which the nodes must reach"
            if self._ended is None:
                return
        seconds = self._run.running_s() if ending is None else ending.seconds
        completed = output.returncode == 0 and ending is not None
        self._finish(
            replace(
                output,
                seconds=seconds,
                queue_seconds=max(self._waited() - seconds, 0.0),
                node_list=nodes,
                state="completed" if completed else self._why or "failed",
                job_id=f"{self._job}.{number}" if number else self.job_id,
                started=self._run.started,
                reason=reason,
            )
        )

    def _never_started(self, output: RunOutput) -> bool:
        """Return whether ``srun`` failed because Slurm is unreachable for now."""
        return not self._run.began and is_unreachable(output.stderr) and self._waited() < PATIENCE_S

    def _without_allocation(self) -> str:
        """Restart after the allocation ended; return why not, the second time."""
        if self._runner.job is not None:
            shutil.rmtree(self._run.path, ignore_errors=True)
            raise RunnerError(
                f"allocation {self._job} must be a running job; it is not running; name another "
                "one, or none to request one"
            )
        if self._again:
            return "the allocation ended during the run, twice; raise its time limit above a run's"
        self._again = True
        self._runner.forget(self._job)
        self._restart()
        return ""

    def _restart(self) -> None:
        """Restart the run; its earlier output is discarded."""
        self._inner = self._ended = None
        shutil.rmtree(self._run.path, ignore_errors=True)
        self._run = RunFolder(self._run.path, self._request)

    def _finish(self, output: RunOutput) -> None:
        self._output = output
        shutil.rmtree(self._run.path, ignore_errors=True)

    def _waited(self) -> float:
        return time.monotonic() - self._requested_at

    def _end(self, why: RunState) -> None:
        if self._why is None:
            self._why = why
            if self._inner is not None:
                self._inner.cancel()
