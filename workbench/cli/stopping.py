"""A signal as a request to stop, for long commands."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterator
from typing import Any


@contextlib.contextmanager
def stoppable() -> Iterator[Stop]:
    """Let the first Ctrl-C or SIGTERM set the stop's event; a second one acts as usual."""
    stop = Stop()
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


class Stop:
    """The signal, if any, that asked for the end of the run."""

    def __init__(self) -> None:
        from workbench.jobs import StopFlag

        self.event = StopFlag()  # set once a signal came
        self.number = 0  # of the signal, 0 if none came
