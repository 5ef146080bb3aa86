"""The state and the result of the replay panel, and the Python code that computes it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from workbench.models import LogGPS
from workbench.panels.loggps_choice import OWN, python_of, short_model
from workbench.panels.program_sources import GIVEN, AnyProgram, ProgramSource
from workbench.programs import Program

if TYPE_CHECKING:
    from workbench.simulate.replay_result import ReplayResult, Semantics
    from workbench.simulate.root_causes import RootCauses

MANY_OPERATIONS = 100_000
"""Above it a replay runs in the background."""


@dataclass(frozen=True)
class ReplayState:
    """The program, algorithms, semantics and parameters of a replay."""

    source: ProgramSource
    model: LogGPS
    algorithms: Mapping[str, str] = field(default_factory=dict)  # non-default
    semantics: Semantics = "loggopsim"
    machine: str = OWN  # that gave the model; OWN for other values


@dataclass(frozen=True, eq=False)
class ShownReplay:
    """A replay with the state and the program it was made from."""

    state: ReplayState
    program: AnyProgram  # its collectives not yet expanded into messages
    result: ReplayResult  # with times of operations
    causes: RootCauses | None  # of its waiting; None with llamp

    @property
    def title(self) -> str:
        """A one-line description, different for replays with different states."""
        state = self.state
        parts = [state.source.name]
        parts += [f"{operation} {name}" for operation, name in sorted(state.algorithms.items())]
        parts.append(state.machine or short_model(state.model))
        if state.semantics != "loggopsim":
            parts.append(state.semantics)
        return ", ".join(parts)


def python_lines(state: ReplayState, program: AnyProgram) -> str:
    """Return Python code that computes the replay, as ``result``."""
    module, model = python_of(state.model, state.machine)
    lines = [f"from workbench import {module}, programs, simulate"]
    if state.source.expression != GIVEN:
        lines.append(f"program = {state.source.expression}")
    graph = "program"
    if isinstance(program, Program):
        chosen = ", ".join(f'"{op}": "{name}"' for op, name in sorted(state.algorithms.items()))
        graph = f"program.graph({{{chosen}}})" if chosen else "program.graph()"
    semantics = "" if state.semantics == "loggopsim" else f', semantics="{state.semantics}"'
    lines.append(f"model = {model}")
    lines.append(f"result = simulate.replay({graph}, model{semantics}, times=True)")
    return "\n".join(lines)


def describe_comparison(a: ShownReplay, b: ShownReplay) -> str:
    """Return the sentence that compares replay B with the pinned replay A."""
    before, after = a.result.makespan_ps, b.result.makespan_ps
    if before == after:
        return "B takes exactly as long as A."
    if not before:
        return "A takes no time."
    ratio = after / before
    word = "longer" if ratio > 1 else "less"
    return f"B takes {ratio:.3g} × A's time, {100 * abs(ratio - 1):.3g} % {word}."
