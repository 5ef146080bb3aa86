"""The interface of every runner: start a run, ask whether it has finished, end it."""

from __future__ import annotations

import abc
import contextlib
import time
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol, Self, get_args

from workbench.errors import WorkbenchError
from workbench.tune.component.invocation import Invocation
from workbench.tune.space.space import Configuration

RunState = Literal["completed", "failed", "timeout", "cancelled"]
RUN_STATES: tuple[str, ...] = get_args(RunState)

SEED_VARIABLE = "WORKBENCH_SEED"
"""Variable of the environment in which a program finds the seed of its run."""


class RunnerError(WorkbenchError):
    """No run of this kind can be started: the program or service does not exist."""


@dataclass(frozen=True)
class RunRequest:
    """One run to be started.

    Attributes:
        configuration: a value for each parameter, as the experiment chose it.
        invocation: what is executed.
        seed: makes a run repeatable whose noise is drawn; programs find it in their environment.
        timeout_s: seconds of its own time after which the run is ended; None for never. Time in
            a queue does not count.
        name: a short name for it, made of letters, digits, ``-``, ``_`` and ``.``.
        owner: unique name of the process that requests it, in the names of its jobs at a batch
            system; empty where its leftovers need not be found.
    """

    configuration: Configuration
    invocation: Invocation
    seed: int = 0
    timeout_s: float | None = None
    name: str = "run"
    owner: str = ""


@dataclass(frozen=True)
class RunOutput:
    """The output of a run.

    Attributes:
        seconds: how long it ran, without time in a queue; of one that was ended until then.
        queue_seconds: how long it waited and was set up beside that.
        returncode: exit status of the program, negative for a signal; None where there is none.
        stdout: what it printed, cut in the middle where it is long.
        stderr: what it printed as errors and notes, cut likewise.
        job_id: number of its process or job, empty where there is none.
        node_list: where it ran, as the batch system names it.
        state: ``completed``, ``failed``, ``timeout`` (it reached its limit) or ``cancelled``.
        started: when it began, ISO 8601 with its distance from UTC; empty where it never did.
        value: the number it gave, where the runner knows it and no output need be read.
        reason: why it failed, where the runner knows more than the program printed.
    """

    seconds: float
    queue_seconds: float = 0.0
    returncode: int | None = None
    stdout: str = ""
    stderr: str = ""
    job_id: str = ""
    node_list: str = ""
    state: RunState = "completed"
    started: str = ""
    value: float | None = None
    reason: str = ""


class RunHandle(Protocol):
    """A run that was started.

    Attributes:
        job_id: number of its process or job, empty where there is none.
    """

    @property
    def job_id(self) -> str:
        """Number of its process or job, empty where there is none."""

    def poll(self) -> RunOutput | None:
        """Return the output, None while the run waits or runs; returns at once.

        Raises:
            RunnerError: the batch system does not answer.
        """

    def cancel(self) -> None:
        """Ask the run to end; ``poll`` returns its output when it has. Safe to repeat.

        Raises:
            RunnerError: the batch system does not answer, so that it may go on.
        """


class Runner(abc.ABC):
    """Starts runs; many may be under way at once.

    Attributes:
        name: what the kind of runner is called.
        needs_program: whether it executes an invocation; else the configuration is enough.
    """

    name: str = "runner"
    needs_program: bool = True

    @abc.abstractmethod
    def start(self, request: RunRequest) -> RunHandle:
        """Start a run and return at once.

        Args:
            request: what to run.

        Raises:
            RunnerError: nothing can be run here at all.
            ParameterError: this runner cannot run such an invocation.
        """

    def start_many(self, requests: Sequence[RunRequest]) -> list[RunHandle]:
        """Start several runs, as one job of a batch system if it supports that.

        Args:
            requests: what to run.

        Raises:
            RunnerError: nothing can be run here at all.
            ParameterError: this runner cannot run such an invocation.
        """
        with all_or_none() as handles:
            for request in requests:
                handles.append(self.start(request))
            return handles

    def cancel_orphans(  # noqa: B027 - most runs end with their process
        self, owner: str, job_ids: Collection[str]
    ) -> None:
        """End the runs that a dead process left behind, where they may still be going on.

        Args:
            owner: what the process is called in its requests; empty to end those of ``job_ids``
                alone.
            job_ids: of its runs, as far as handles reported them before it died.

        Raises:
            RunnerError: the batch system does not answer.
        """

    @property
    def waits_for(self) -> str:
        """What runs wait for, in a few words; empty where they do not."""
        return ""

    def to_dict(self) -> dict[str, Any]:
        """Return the fields that are equal in experiments with comparable runs, for JSON."""
        return {"kind": self.name}

    def close(self) -> None:  # noqa: B027 - most runners hold nothing
        """Release what the runner holds, such as an allocation; safe to repeat."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


@contextlib.contextmanager
def all_or_none() -> Iterator[list[RunHandle]]:
    """Yield a list for started runs; if one cannot be started, those in the list are ended."""
    handles: list[RunHandle] = []
    try:
        yield handles
    except BaseException:
        for handle in handles:
            with contextlib.suppress(RunnerError):
                handle.cancel()
        raise


_POLL_S = 0.02  # chosen: seconds of a run are the runner's own, not those of this wait


def run_to_end(runner: Runner, request: RunRequest) -> RunOutput:
    """Start a run and return its output; end the run if the wait is interrupted."""
    handle = runner.start(request)
    try:
        while (output := handle.poll()) is None:
            time.sleep(_POLL_S)
        return output
    finally:
        handle.cancel()
