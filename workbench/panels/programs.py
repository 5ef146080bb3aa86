"""The programs that panels work on, as values: where one comes from."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass, field

from workbench.programs import ExecutionGraph, Program

AnyProgram = ExecutionGraph | Program

_serials = itertools.count(1)

GIVEN = "program"
"""The name of a program that was handed to the panel."""


@dataclass(frozen=True)
class Source:
    """Where a program comes from.

    Attributes:
        name: what tells it from the others.
        expression: Python that gives it, with ``programs`` imported.
        make: returns it; may take seconds.
        serial: tells apart what was handed over or uploaded under one name; 0 for the rest.
    """

    name: str
    expression: str
    make: Callable[[], AnyProgram] = field(compare=False)
    serial: int = 0

    @classmethod
    def of(cls, name: str, expression: str, program: AnyProgram) -> Source:
        """Return where a program comes from that is there already.

        Args:
            name: what tells it from the others.
            expression: Python that gives it.
            program: itself.
        """
        return cls(name, expression, lambda: program, next(_serials))
