"""The programs that panels work on, as values: where one comes from, and its graph."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
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


def graph_of(program: AnyProgram, algorithms: Mapping[str, str]) -> ExecutionGraph:
    """Return a program's graph; one whose collectives are messages already stays as it is.

    Args:
        program: any.
        algorithms: by collective operation.

    Raises:
        ParameterError: an operation or algorithm is not known.
        ProgramError: the program is not whole.
    """
    return program.graph(dict(algorithms)) if isinstance(program, Program) else program
