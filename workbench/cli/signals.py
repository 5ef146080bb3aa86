"""A signal as a request to stop, for long commands."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from workbench.cli.output import SIGNALLED, say
from workbench.errors import SimulationHalted

_T = TypeVar("_T")
_WAIT_S = 0.05  # where no signal interrupts a wait (Windows), it is handled so late at most


@contextlib.contextmanager
def stoppable() -> Iterator[StopSignal]:
    """Let the first Ctrl-C or SIGTERM set the stop's event; a second one acts as usual."""
    stop = StopSignal()
    before: dict[int, Any] = {n: signal.getsignal(n) for n in (signal.SIGINT, signal.SIGTERM)}

    def ask(number: int, _frame: object) -> None:
        stop.number = number
        stop.event.set()
        signal.signal(number, before[number])

    for number in before:
        signal.signal(number, ask)
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def run_stoppable(work: Callable[..., _T], *args: Any, **kwargs: Any) -> tuple[_T | None, int]:
    """Return the result of work that a signal stops, None if it has none then, and the status.

    It is ``work(*args, task=..., **kwargs)``.
    """
    from workbench import tasks

    with stoppable() as stop:
        # In another thread: the main thread handles signals between its Python steps.
        task = tasks.Task(stop_event=stop.event)
        job = tasks.submit(lambda **_: work(*args, task=task, **kwargs))
        while not job.wait(_WAIT_S):
            pass
        status = SIGNALLED + stop.number if stop.number else 0
        try:
            return job.result(), status
        except SimulationHalted:
            say("stopped")
            return None, status


class StopSignal:
    """The signal, if any, that asked for the end of the run."""

    def __init__(self) -> None:
        from workbench.tasks import StopFlag

        self.event = StopFlag()  # set once a signal came
        self.number = 0  # of the signal, 0 if none came
