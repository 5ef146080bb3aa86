"""Runs as job steps: one allocation of a Slurm machine, and an ``srun`` in it for each run."""

from __future__ import annotations

import re
import shutil
import uuid
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from workbench.tune.runners.local import Local
from workbench.tune.runners.output import MOST_OUTPUT_BYTES
from workbench.tune.runners.runner import (
    RunHandle,
    Runner,
    RunnerError,
    RunOutput,
    RunRequest,
    RunState,
)
from workbench.tune.runners.slurm_commands import ask, cancel, find, said
from workbench.tune.runners.slurm_files import RunFolder, step_script


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
        find("srun")
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
            *(find("srun"), f"--jobid={job}", "--overlap", f"--job-name={request.name}"),
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
            words = [find("salloc"), "--no-shell", "--job-name=workbench-tune", *self.options]
            answer = ask(words, None)
            found = re.search(r"Granted job allocation (\d+)", answer.stderr)
            if answer.returncode or found is None:
                raise RunnerError(f"salloc must grant an allocation; it says: {said(answer)}")
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
