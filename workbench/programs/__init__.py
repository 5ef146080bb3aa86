"""What an application does: GOAL, traces, generators and collectives.

from workbench import programs

program = programs.generate.cg(64, iterations=10)
graph = program.graph(allreduce="ring")
graph = programs.read_goal("alltoall.goal")

A `Program` holds what each rank calls, with its collectives whole; an `ExecutionGraph` is what
becomes of it once an algorithm is chosen for each collective. Nothing heavy is imported before it
is used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.lazy import lazy_exports

if TYPE_CHECKING:
    from workbench.programs import generators as generate
    from workbench.programs.builder import ProgramBuilder
    from workbench.programs.check import GraphProblem
    from workbench.programs.find_program import find, read
    from workbench.programs.goal import read_goal, write_goal
    from workbench.programs.graph import (
        ANY_SOURCE,
        ANY_TAG,
        CALC,
        RECV,
        SEND,
        Dependents,
        ExecutionGraph,
    )
    from workbench.programs.program import (
        OPERATIONS,
        WORLD,
        Collective,
        Program,
    )
    from workbench.programs.recorded_run import LeftOutCalls, RecordedRun
    from workbench.programs.recording import record
    from workbench.programs.shipped import ShippedProgram, list, load
    from workbench.programs.traces import read_trace
else:
    __getattr__, __dir__ = lazy_exports(__name__)

__all__ = [
    "ANY_SOURCE",
    "ANY_TAG",
    "CALC",
    "OPERATIONS",
    "RECV",
    "SEND",
    "WORLD",
    "Collective",
    "Dependents",
    "ExecutionGraph",
    "GraphProblem",
    "LeftOutCalls",
    "Program",
    "ProgramBuilder",
    "RecordedRun",
    "ShippedProgram",
    "find",
    "generate",
    "list",
    "load",
    "read",
    "read_goal",
    "read_trace",
    "record",
    "write_goal",
]
