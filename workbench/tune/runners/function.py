"""Runs that are calls of a Python function."""

from __future__ import annotations

import inspect
import math
import time
from collections.abc import Callable
from datetime import datetime
from typing import Any

import numpy as np

from workbench.tune.runners.runner import RunHandle, Runner, RunOutput, RunRequest
from workbench.tune.space.constraints import Configuration

FunctionValue = float | tuple[float, float]


class Ended:
    """The handle of a run that has finished already."""

    def __init__(self, output: RunOutput) -> None:
        self._output = output

    @property
    def job_id(self) -> str:
        """Number of its process or job, empty where there is none."""
        return self._output.job_id

    def poll(self) -> RunOutput | None:
        """Return the output."""
        return self._output

    def cancel(self) -> None:
        """Do nothing: the run has finished."""


class Function(Runner):
    """Calls a function, one run after another, in the experiment's own thread.

    A function that says how long a run takes is stopped at its limit as a program would be; one
    that does not is waited for, and keeps its value.

    Args:
        function: takes a configuration, or a configuration and a ``numpy.random.Generator``;
            returns the value, or the value and the seconds the run took.
        name: what the function is called in a stored experiment; its own name where it is empty.
    """

    name = "function"
    needs_program = False

    def __init__(self, function: Callable[..., FunctionValue], name: str = "") -> None:
        self._function = function
        self._label = name or getattr(function, "__name__", "function")
        self._seeded = _has_two_arguments(function)

    def start(self, request: RunRequest) -> RunHandle:
        """Call the function and return once it has.

        Args:
            request: its configuration, seed and limit count.
        """
        started = datetime.now().astimezone().isoformat()
        clock = time.perf_counter()
        try:
            answer = self._call(request.configuration, request.seed)
            value, seconds = answer if isinstance(answer, tuple) else (answer, None)
            value = float(value)
            seconds = None if seconds is None else float(seconds)
        # A function of the user's may raise anything; one bad run must not end an experiment.
        except Exception as error:
            return Ended(
                RunOutput(
                    time.perf_counter() - clock,
                    state="failed",
                    started=started,
                    reason=f"{self._label} must return a number; {type(error).__name__}: {error}",
                )
            )
        if seconds is None:
            return Ended(RunOutput(time.perf_counter() - clock, started=started, value=value))
        return Ended(virtual_run(value, seconds, request.timeout_s, started))

    def to_dict(self) -> dict[str, Any]:
        """Return the fields that are equal in experiments with comparable runs, for JSON."""
        return {"kind": self.name, "function": self._label}

    def _call(self, configuration: Configuration, seed: int) -> FunctionValue:
        if self._seeded:
            return self._function(dict(configuration), np.random.default_rng(seed))
        return self._function(dict(configuration))


def virtual_run(
    value: float, seconds: float, timeout_s: float | None, started: str = ""
) -> RunOutput:
    """Return a run of this value and time; it times out beyond ``timeout_s`` (None: no limit)."""
    if not (math.isfinite(seconds) and seconds >= 0.0):
        return RunOutput(
            0.0,
            state="failed",
            started=started,
            reason=f"seconds of a run must be 0 or more; got {seconds}",
        )
    if timeout_s is not None and seconds > timeout_s:
        return RunOutput(timeout_s, state="timeout", started=started)
    return RunOutput(seconds, started=started, value=value)


def _has_two_arguments(function: Callable[..., Any]) -> bool:
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return False
    positional = [
        one
        for one in parameters
        if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)
        and one.default is inspect.Parameter.empty
    ]
    return len(positional) >= 2
