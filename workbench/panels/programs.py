"""The programs that panels work on, and their origin."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from workbench.programs import ExecutionGraph, Program

AnyProgram = ExecutionGraph | Program

_serials = itertools.count(1)

GIVEN = "program"
"""The name of a program that was passed to the panel."""


@dataclass(frozen=True)
class ProgramSource:
    """The origin of a program, compared by name, expression and serial."""

    name: str
    expression: str  # Python; needs ``programs``
    make: Callable[[], AnyProgram] = field(compare=False)  # may take seconds
    serial: int = 0  # not 0: identifies a given or uploaded one

    def graph_key(self, algorithms: Mapping[str, str]) -> tuple[object, ...]:
        """Return the key of the execution graph with algorithms by operation."""
        return self, *sorted(algorithms.items())

    @classmethod
    def of(cls, name: str, expression: str, program: AnyProgram) -> ProgramSource:
        """Return the source of a program that already exists."""
        return cls(name, expression, lambda: program, next(_serials))
