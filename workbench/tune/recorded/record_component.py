"""Record a component on this machine: every configuration, in passes, to files.

    record_component("my-recording", "dd-write", rounds=10)

A component that needs nothing but itself: a program that prints its number, or takes its time.
"""

from __future__ import annotations

import math
import re
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from workbench.checks import number
from workbench.errors import ParameterError
from workbench.tasks import Task, task_of
from workbench.tune.component.component import Component, components
from workbench.tune.environment import load
from workbench.tune.recorded.passes import RecordingProgress, checked_rounds, record_in_passes
from workbench.tune.recorded.run_table import RecordedMeasurement, RecordedTable
from workbench.tune.runners.local import Local
from workbench.tune.runners.runner import RunRequest, run_to_end
from workbench.tune.space.constraints import Configuration
from workbench.tune.target import TargetError


def record_component(
    folder: str | Path,
    component: str | Component,  # a shipped one's name, or one of a file
    *,
    rounds: int = 5,  # passes in total, those in the folder included
    timeout_s: float = 120.0,  # of one run
    limit_s: float | None = None,  # no run is started later; None: no limit
    seed: int = 0,  # of the order of the runs
    created_by: str = "record_component",  # the command, for the descriptor
    task: Task | None = None,  # gets the number of starts before each; ends after the current run
) -> RecordingProgress:
    """Run every configuration of a component in passes, and record each run.

    Its programs run in a folder of their own within ``folder``, so that what they write goes to
    that disk, and is removed at the end.
    """
    chosen = components()[component] if isinstance(component, str) else component
    rounds, timeout_s = checked_rounds(rounds), number(timeout_s, "timeout_s", 1e-3, unit="s")
    if chosen.space().size is None:
        raise ParameterError(
            f"the values of {chosen.name} must be countable to be recorded; give each parameter "
            "a list of values",
            key="component",
        )
    if not chosen.target.minimise:
        raise ParameterError(
            f"less must be better in what is recorded; {chosen.name} gives {chosen.target.label}, "
            "of which more is better; record its time",
            key="component",
        )
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=place, prefix="run-") as work:
        return record_in_passes(
            place,
            _OneComponent(chosen, Path(work), timeout_s),
            (chosen.name,),
            task_of(task),
            rounds=rounds,
            seed=seed,
            created_by=created_by,
            limit_s=limit_s,
        )


class _OneComponent:
    """A component whose programs run in a folder."""

    sizes: Sequence[int] = (0,)
    unsaid: Mapping[str, object] = MappingProxyType({})

    def __init__(self, component: Component, folder: Path, timeout_s: float) -> None:
        self.component, self.timeout_s = component, timeout_s
        self.runner = Local(folder)
        unit = re.sub(r"[^A-Za-z0-9]+", "-", component.target.unit).strip("-")
        self.column = f"value_{unit}" if unit else "value"
        self.held: Mapping[str, object] = {
            "component": component.name,
            "command": list(component.command),
        }

    def table(self, name: str) -> RecordedTable:
        if name != self.component.name:
            raise ParameterError(
                f"the folder holds a recording of {name}; name another folder for "
                f"{self.component.name}",
                key="folder",
            )
        return RecordedTable(name, self.component.space(), (self.column,), self.column)

    def run(
        self, number: int, name: str, configuration: Configuration
    ) -> list[RecordedMeasurement]:
        busy = load()
        invocation = self.component.invocation(configuration)
        request = RunRequest(configuration, invocation, timeout_s=self.timeout_s)
        output = run_to_end(self.runner, request)
        state: str = output.state
        values: dict[str, float] = {}
        if state == "completed":
            try:
                values = {self.column: self.component.target.read(output)}
            except TargetError:
                state = "failed"
        return [
            RecordedMeasurement(
                number,
                configuration,
                0,
                output.seconds if values else math.nan,
                values,
                output.started[:19],
                math.nan if busy is None else busy,
                state,
            )
        ]

    def title(self, names: Sequence[str]) -> str:
        return f"{self.component.target.label} of {', '.join(names)} on one machine"

    def caveats(self) -> tuple[str, ...]:
        return ("the machine was shared: load tells how busy it was at each run",)
