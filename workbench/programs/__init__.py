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

from collections.abc import Iterable
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from workbench.programs import generators as generate
    from workbench.programs.builder import ProgramBuilder
    from workbench.programs.check import Problem
    from workbench.programs.given import find
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
    from workbench.programs.recognise import read
    from workbench.programs.recorded_run import LeftOutCalls, RecordedRun
    from workbench.programs.recording import record
    from workbench.programs.shipped import ShippedProgram, list, load
    from workbench.programs.traces import read_trace

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
    "LeftOutCalls",
    "Problem",
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

_HOME = {
    **dict.fromkeys(
        ("ANY_SOURCE", "ANY_TAG", "CALC", "RECV", "SEND", "Dependents", "ExecutionGraph"), "graph"
    ),
    **dict.fromkeys(("OPERATIONS", "WORLD", "Collective", "Program"), "program"),
    "LeftOutCalls": "recorded_run",
    "Problem": "check",
    "ProgramBuilder": "builder",
    "RecordedRun": "recorded_run",
    "ShippedProgram": "shipped",
    "find": "given",
    "list": "shipped",
    "load": "shipped",
    "read": "recognise",
    "read_goal": "goal",
    "read_trace": "traces",
    "record": "recording",
    "write_goal": "goal",
}


def __getattr__(name: str) -> Any:
    if name in _HOME:
        value = getattr(import_module(f"workbench.programs.{_HOME[name]}"), name)
    elif name == "generate":
        value = import_module("workbench.programs.generators")
    else:
        raise AttributeError(
            f"workbench.programs has no attribute {name!r}; it has {', '.join(sorted(__all__))}"
        )
    globals()[name] = value
    return value


def __dir__() -> Iterable[str]:
    return sorted(__all__)
