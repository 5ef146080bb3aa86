"""An analysis as a command: progress on one line, Ctrl-C stops it, notes before the result."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeVar

from workbench.cli.output import SIGNALLED, say
from workbench.cli.progress import ProgressLine
from workbench.cli.signals import stoppable
from workbench.errors import SimulationHalted


class Noted(Protocol):
    """A result with sentences that a reader must know."""

    @property
    def notes(self) -> tuple[str, ...]:
        """The sentences."""


_Result = TypeVar("_Result", bound=Noted)


def run_analysis(
    analyse: Callable[..., _Result],  # takes ``task``
    show: Callable[[_Result], None],
) -> int:
    """Run an analysis, show its result and return the exit status."""
    from workbench.tasks import Task

    with stoppable() as stop, ProgressLine() as line:
        try:
            found = analyse(task=Task(lambda now: line.show(now.message), stop.event))
        except SimulationHalted as error:
            say(str(error))
            return SIGNALLED + stop.number
    for note in found.notes:
        say(f"note: {note}")
    show(found)
    return 0
