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
    from workbench.programs import generate as generate
    from workbench.programs.builder import ProgramBuilder as ProgramBuilder
    from workbench.programs.check import GraphProblem as GraphProblem
    from workbench.programs.find_program import find as find, read as read
    from workbench.programs.goal import read_goal as read_goal, write_goal as write_goal
    from workbench.programs.graph import (
        ANY_SOURCE as ANY_SOURCE,
        ANY_TAG as ANY_TAG,
        CALC as CALC,
        RECV as RECV,
        SEND as SEND,
        Dependents as Dependents,
        ExecutionGraph as ExecutionGraph,
    )
    from workbench.programs.own_messages import without_own_messages as without_own_messages
    from workbench.programs.program import (
        OPERATIONS as OPERATIONS,
        WORLD as WORLD,
        Collective as Collective,
        Program as Program,
    )
    from workbench.programs.recorded_run import (
        LeftOutCalls as LeftOutCalls,
        RecordedRun as RecordedRun,
    )
    from workbench.programs.recording import record as record
    from workbench.programs.shipped import (
        ShippedProgram as ShippedProgram,
        list as list,
        load as load,
    )
    from workbench.programs.traces import read_trace as read_trace
else:
    __getattr__, __dir__ = lazy_exports(__name__)
