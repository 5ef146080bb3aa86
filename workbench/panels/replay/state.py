"""The state and the result of the replay panel, and the Python code that computes it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from workbench.models import LogGPS
from workbench.panels.program_sources import GIVEN, AnyProgram, ProgramSource
from workbench.programs import Program
from workbench.simulate.picoseconds import PicosecondCosts

if TYPE_CHECKING:
    from workbench.simulate.replay_result import ReplayResult, Semantics
    from workbench.simulate.root_causes import RootCauses


LOGGOPSIM = LogGPS(L=2.5e-6, o=1.5e-6, g=1e-6, G=6e-9, O=0.0, S=65535)
"""LogGOPSim's defaults."""

OWN = ""
"""Entry of the user's own parameters in the list of machines."""


MANY_OPERATIONS = 100_000
"""Above it a replay runs in the background."""


@dataclass(frozen=True)
class ReplayState:
    """The program, algorithms, semantics and parameters of a replay."""

    source: ProgramSource
    model: LogGPS = LOGGOPSIM
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


def check_model(model: LogGPS) -> None:
    """Raise a ParameterError for parameters too large for a replay."""
    PicosecondCosts.of(model)


def short_model(model: LogGPS) -> str:
    """Return the parameters in a few words: ``L 2.50 µs, o 1.50 µs, …``."""
    plain = model.replace(errors={})
    return ", ".join(f"{name} {plain.text(name)}" for name in ("L", "o", "g", "G", "O", "S"))


def python_lines(state: ReplayState, program: AnyProgram) -> str:
    """Return Python code that computes the replay, as ``result``."""
    lines = [f"from workbench import {model_module(state)}, programs, simulate"]
    if state.source.expression != GIVEN:
        lines.append(f"program = {state.source.expression}")
    graph = "program"
    if isinstance(program, Program):
        chosen = ", ".join(f'"{op}": "{name}"' for op, name in sorted(state.algorithms.items()))
        graph = f"program.graph({{{chosen}}})" if chosen else "program.graph()"
    semantics = "" if state.semantics == "loggopsim" else f', semantics="{state.semantics}"'
    lines.append(f"model = {model_expression(state)}")
    lines.append(f"result = simulate.replay({graph}, model{semantics}, times=True)")
    return "\n".join(lines)


def model_module(state: ReplayState) -> str:
    """Return the subpackage of workbench that `model_expression` names."""
    return "machines" if state.machine else "models"


def model_expression(state: ReplayState) -> str:
    """Return the Python expression of the parameters."""
    if state.machine:
        return f'machines.load("{state.machine}").loggps'
    m = state.model
    return f"models.LogGPS(L={m.L!r}, o={m.o!r}, g={m.g!r}, G={m.G!r}, O={m.O!r}, S={m.S})"


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
