"""Runs on the workers of a Dask cluster, as many at once as these have threads.

    from distributed import Client, LocalCluster
    with LocalCluster(n_workers=2, threads_per_worker=1) as cluster, Client(cluster) as client:
        experiment = Experiment("sort", Dask(client), jobs=2)

    with Dask.at("tcp://host:8786") as runner:
        experiment = Experiment("sort", runner, jobs=16)

Every worker must have the workbench and the program installed.
"""

from __future__ import annotations

import dataclasses
import math
import socket
import time
import uuid
from typing import TYPE_CHECKING, Any

from workbench.errors import ParameterError, WorkbenchError
from workbench.tune.component.invocation import Invocation
from workbench.tune.runners.bounded_output import MOST_OUTPUT_BYTES
from workbench.tune.runners.local import Local, refuse_empty
from workbench.tune.runners.runner import RunHandle, Runner, RunnerError, RunOutput, RunRequest

if TYPE_CHECKING:
    from distributed import Client, Future

_ANSWER_S = 5.0  # chosen: how long a wrong address may stay without an error
_LOOK_S = 0.02  # chosen: a worker is taken that much longer, little beside a program's start
_WORKERS_S = 2.0  # chosen: each look asks the scheduler; the state is for people
_GRACE_S = 10.0  # Local kills after 2 s; what lives on is stuck in the kernel, and not waited for


class Dask(Runner):
    """Runs programs as local processes of the workers of a cluster.

    Args:
        client: of the cluster.
        most_output_bytes: what is kept of each stream of a run.

    Raises:
        ParameterError: Dask is not installed, or ``client`` is no client of it.
    """

    name = "dask"

    @classmethod
    def at(cls, scheduler: str) -> Dask:
        """Return a runner with a client of its own: ``close`` ends it, a later run makes another.

        Args:
            scheduler: address of the cluster's scheduler, such as ``tcp://host:8786``.

        Raises:
            ParameterError: Dask is not installed, or this is no address.
            RunnerError: nothing answers there.
        """
        runner = cls(_connected(scheduler))
        runner._scheduler = scheduler
        return runner

    def __init__(self, client: Client, *, most_output_bytes: int = MOST_OUTPUT_BYTES) -> None:
        if not isinstance(client, _distributed().Client):
            raise ParameterError(
                f"client must be a dask.distributed.Client; got {type(client).__name__}; for a "
                "cluster object pass Client(cluster)",
                key="client",
            )
        self._client: Any = client
        self._scheduler = ""
        self.most_output_bytes = most_output_bytes
        self._deserted = False
        self._looked = -math.inf

    @property
    def waits_for(self) -> str:
        """That no worker is there for runs that wait, where that is so; else empty."""
        client = self._client
        if not self._deserted or client is None:
            return ""
        return f"no Dask worker at {client.scheduler.address}"

    def start(self, request: RunRequest) -> RunHandle:
        """Hand a run to the cluster and return at once.

        Args:
            request: what to run.

        Raises:
            ParameterError: there is nothing to run, or an option is meant for ``sbatch``.
            RunnerError: the scheduler does not answer any more.
        """
        refuse_empty(request.invocation)
        if self._scheduler and (self._client is None or self._client.status == "closed"):
            self._client = _connected(self._scheduler)
        self.refuse_lost()
        future = self._client.submit(
            _run_there,
            _plain(request),
            self.most_output_bytes,
            key=f"{request.name}-{uuid.uuid4().hex}",
            pure=False,
            retries=0,
        )
        return _Task(future, self)

    def check_workers(self) -> None:
        """See, now and then, whether there are workers for a run that has not ended.

        Raises:
            RunnerError: the scheduler does not answer any more.
        """
        if self._client is None or time.monotonic() - self._looked < _WORKERS_S:
            return
        self._looked = time.monotonic()
        known = self._client.scheduler_info(n_workers=0)
        # Before Dask 2025.4 there is no such number, and all of them are listed.
        self._deserted = not known.get("n_workers", len(known.get("workers", ())))
        self.refuse_lost()

    def refuse_lost(self) -> None:
        """Do nothing where the scheduler is there.

        Raises:
            RunnerError: it is not, and what ran there is lost.
        """
        if self._client is not None and self._client.status == "running":
            return
        raise RunnerError(
            "the scheduler of Dask must answer until all runs have finished; it stopped "
            "answering, and the runs there are lost; restart it and resume"
        )

    def note_ended(self) -> None:
        """Record that a run has finished, so that the cause of waiting is checked again."""
        self._deserted = False

    def close(self) -> None:
        """Leave the cluster, if the client is the runner's own; safe to repeat."""
        if self._scheduler:
            # Cleared before it is closed: another thread may create the next one meanwhile.
            held, self._client = self._client, None
            if held is not None:
                held.close()


class _Task:
    """A run on a worker."""

    def __init__(self, future: Future[Any], runner: Dask) -> None:
        self._runner = runner
        # Dask's futures are not typed.
        self._future: Any = future
        self._submitted = time.monotonic()
        self._output: RunOutput | None = None
        self._cancelled: float | None = None

    @property
    def job_id(self) -> str:
        """Key of the task."""
        return str(self._future.key)

    def poll(self) -> RunOutput | None:
        """Return the output; None while the run waits or runs."""
        if self._output is not None:
            return self._output
        if not self._future.done():
            self._runner.check_workers()
            return None
        if self._future.status != "finished" and self._cancelled is None:
            self._runner.refuse_lost()
        self._runner.note_ended()
        total = time.monotonic() - self._submitted
        if self._future.status == "finished":
            output: RunOutput = self._future.result()
            self._output = dataclasses.replace(
                output, queue_seconds=max(total - output.seconds, 0.0)
            )
        elif self._future.status == "cancelled":
            seconds = total if self._cancelled is None else self._cancelled - self._submitted
            self._output = RunOutput(seconds, job_id=self.job_id, state="cancelled")
        else:
            error = self._future.exception()
            self._output = RunOutput(
                0.0,
                queue_seconds=total,
                job_id=self.job_id,
                state="failed",
                reason=f"on the cluster: {type(error).__name__}: {error}",
            )
        return self._output

    def cancel(self) -> None:
        """Take the run back; the worker ends its process within a moment."""
        if self._output is None and self._cancelled is None:
            self._cancelled = time.monotonic()
            self._future.cancel()


def _plain(request: RunRequest) -> dict[str, Any]:
    """Return a request as plain values; a read-only mapping cannot be sent."""
    call = request.invocation
    return {
        "configuration": dict(request.configuration),
        "invocation": {
            "argv": call.argv,
            "env": dict(call.env),
            "sbatch_options": call.sbatch_options,
            "directives": call.directives,
            "header": call.header,
        },
        "seed": request.seed,
        "timeout_s": request.timeout_s,
        "name": request.name,
    }


def _run_there(plain: dict[str, Any], most_output_bytes: int) -> RunOutput:
    """Run a program on a worker until it ends, or until its owner stops waiting."""
    request = RunRequest(**{**plain, "invocation": Invocation(**plain["invocation"])})
    worker = _distributed().get_worker()
    key = worker.get_current_task()
    try:
        handle = Local(most_output_bytes=most_output_bytes).start(request)
    except WorkbenchError as error:
        return RunOutput(0.0, state="failed", reason=str(error))
    given_up: float | None = None
    while (output := handle.poll()) is None:
        wanted = worker.state.tasks.get(key)
        if given_up is None and (wanted is None or wanted.state == "cancelled"):
            handle.cancel()
            given_up = time.monotonic()
        if given_up is not None and time.monotonic() - given_up > _GRACE_S:
            return RunOutput(0.0, state="cancelled")
        time.sleep(_LOOK_S)
    return output


def _connected(scheduler: str) -> Any:
    """Return a client of the cluster with a scheduler."""
    distributed = _distributed()
    try:
        host, port = distributed.comm.get_address_host_port(scheduler, strict=True)
    except ValueError as error:
        raise ParameterError(
            f"scheduler must be an address, such as tcp://host:8786; got {scheduler!r}: {error}",
            key="scheduler",
        ) from error
    try:
        # A client without a scheduler takes long to fail, so a connection is tried first.
        socket.create_connection((host, port), _ANSWER_S).close()
        return distributed.Client(scheduler, timeout=_ANSWER_S, set_as_default=False)
    except OSError as error:
        raise RunnerError(
            f"a scheduler of Dask must answer at {scheduler}; {error}; start one with dask "
            "scheduler, and workers with dask worker"
        ) from error


def _distributed() -> Any:
    try:
        import distributed
    except ImportError as error:
        raise ParameterError(
            "runs on a cluster need Dask, which is not installed; pip install distributed, or "
            "take the local runner",
            key="runner",
        ) from error
    return distributed
