"""What the replay panel shows, as a value, and the functions from it to a replay and to Python."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from workbench.models import LogGPS
from workbench.panels.programs import GIVEN, AnyProgram, Source
from workbench.programs import Program
from workbench.simulate.picoseconds import PicosecondCosts

if TYPE_CHECKING:
    from workbench.simulate.replay_result import ReplayResult, Semantics


LOGGOPSIM = LogGPS(L=2.5e-6, o=1.5e-6, g=1e-6, G=6e-9, O=0.0, S=65535)
"""What LogGOPSim takes where nothing is said."""

OWN = ""
"""Stands for parameters of one's own where a machine's name could stand."""


MANY_OPERATIONS = 100_000
"""Above it a replay runs in the background."""


@dataclass(frozen=True)
class ReplayState:
    """Everything that decides a replay.

    Attributes:
        source: of the program.
        model: the parameters.
        algorithms: by collective operation, those that differ from the default.
        semantics: ``loggopsim`` or ``llamp``.
        machine: whose profile the parameters are; ``OWN`` where they are no machine's.
    """

    source: Source
    model: LogGPS = LOGGOPSIM
    algorithms: Mapping[str, str] = field(default_factory=dict)
    semantics: Semantics = "loggopsim"
    machine: str = OWN


@dataclass(frozen=True, eq=False)
class Shown:
    """A replay, and what it was made from.

    Attributes:
        state: what the controls held.
        program: as it was read or made, its collectives whole where it has any.
        result: with times.
    """

    state: ReplayState
    program: AnyProgram
    result: ReplayResult

    @property
    def title(self) -> str:
        """One line that tells this replay from another."""
        state = self.state
        parts = [state.source.name]
        parts += [f"{operation} {name}" for operation, name in sorted(state.algorithms.items())]
        parts.append(state.machine or short_model(state.model))
        if state.semantics != "loggopsim":
            parts.append(state.semantics)
        return ", ".join(parts)


def check_model(model: LogGPS) -> None:
    """Refuse parameters that no replay can have.

    Args:
        model: the parameters.

    Raises:
        ParameterError: one is too large.
    """
    PicosecondCosts.of(model)


def short_model(model: LogGPS) -> str:
    """Return the parameters in a few words: ``L 2.50 µs, o 1.50 µs, …``.

    Args:
        model: the parameters.
    """
    plain = model.replace(errors={})
    return ", ".join(f"{name} {plain.text(name)}" for name in ("L", "o", "g", "G", "O", "S"))


def python_lines(state: ReplayState, program: AnyProgram) -> str:
    """Return the Python that replays what is shown, as ``result``.

    Args:
        state: what the controls hold.
        program: what its source gives.
    """
    lines = ["from workbench import models, programs, simulate"]
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


def model_expression(state: ReplayState) -> str:
    """Return Python that gives the parameters.

    Args:
        state: what the controls hold.
    """
    if state.machine:
        return f'models.profile("{state.machine}").loggps'
    m = state.model
    return f"models.LogGPS(L={m.L!r}, o={m.o!r}, g={m.g!r}, G={m.G!r}, O={m.O!r}, S={m.S})"


def read_comparison(a: Shown, b: Shown) -> str:
    """Return the sentence that compares two replays.

    Args:
        a: the one that was pinned.
        b: the one that is shown beside it.
    """
    before, after = a.result.makespan_ps, b.result.makespan_ps
    if before == after:
        return "B takes exactly as long as A."
    if not before:
        return "A takes no time."
    ratio = after / before
    word = "longer" if ratio > 1 else "less"
    return f"B takes {ratio:.3g} × A's time, {100 * abs(ratio - 1):.3g} % {word}."
