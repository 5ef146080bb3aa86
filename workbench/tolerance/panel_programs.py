"""The curves of the tolerance panel: a program, its family, and the programs kept beside it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import ipywidgets as widgets

from workbench import programs
from workbench.errors import ParameterError
from workbench.panels.program_choice import check_algorithms
from workbench.panels.program_sources import GENERATED, MOST_RANKS, AnyProgram, ProgramSource
from workbench.panels.style import push_button
from workbench.programs import Program
from workbench.programs.collectives import ALGORITHMS, DEFAULTS
from workbench.programs.generate.grids import grid_shape

ALONE, WEAK, STRONG = "alone", "weak", "strong"
"""Programs shown beside one: none, or its family on fewer and more ranks."""

ONE_PROGRAM = [("this program alone", ALONE)]
"""What the list of families offers for any program."""

_EVERY = "every "
_SIDES = (0.5, 1.0, 2.0, 4.0)  # chosen: doubled each time; four points show how T grows
_MOST_KEPT = 6  # with the chosen one as many curves as there are colours


@dataclass(frozen=True)
class ProgramVariant:
    """One curve of the figure: a program and the algorithms of its collectives."""

    source: ProgramSource
    algorithms: Mapping[str, str] = field(default_factory=dict)  # non-default, by operation
    name: str = ""  # its name within a family

    @property
    def title(self) -> str:
        """The name in the legend."""
        if self.name:
            return self.name
        chosen = [f"{operation} {name}" for operation, name in sorted(self.algorithms.items())]
        return ", ".join([self.source.name, *chosen])

    @property
    def key(self) -> tuple[object, ...]:
        """The key of the execution graph: the program and its algorithms."""
        return self.source.graph_key(self.algorithms)


class KeptPrograms:
    """The programs that stay in the figure, each with a button that removes it."""

    def __init__(
        self,
        known: Callable[[str, Mapping[str, Any]], ProgramSource],  # by name, generator's fields
        changed: Callable[[], None],
    ) -> None:
        self._known, self._changed = known, changed
        self.variants: tuple[ProgramVariant, ...] = ()
        self.widget = widgets.HBox(layout=widgets.Layout(flex_flow="row wrap"))

    def take(self, variants: Sequence[ProgramVariant]) -> None:
        """Keep exactly these programs."""
        if len(variants) > _MOST_KEPT:
            raise ParameterError(
                f"at most {_MOST_KEPT} programs can be kept; got {len(variants)}: remove one",
                key="programs",
            )
        self.variants = tuple(variants)
        self.widget.children = [self._button(one) for one in self.variants]
        self._changed()

    def saved(self) -> list[dict[str, Any]]:
        """Return the programs as JSON can hold them."""
        return [
            {
                "program": one.source.name,
                "generator": dict(one.source.fields),
                "algorithms": dict(sorted(one.algorithms.items())),
            }
            for one in self.variants
        ]

    def restore(self, saved: Sequence[Mapping[str, Any]]) -> None:
        """Keep the programs that `saved` returned."""
        for one in saved:
            check_algorithms(one["algorithms"])
        self.take(
            [
                ProgramVariant(
                    self._known(one["program"], one["generator"]), dict(one["algorithms"])
                )
                for one in saved
            ]
        )

    def _button(self, one: ProgramVariant) -> Any:
        width = f"{7 * len(one.title) + 48}px"
        button = push_button(f"✕ {one.title}", "Remove it from the figure", width=width)
        button.on_click(lambda _: self.take([v for v in self.variants if v is not one]))
        return button


def families_of(source: ProgramSource, program: AnyProgram) -> list[tuple[str, str]]:
    """Return the families that can be drawn with a program, as (text, value) of a list."""
    offered = list(ONE_PROGRAM)
    operations = program.operations if isinstance(program, Program) else {}
    offered += [(f"every algorithm of {name}", _EVERY + name) for name in operations]
    if source.name in GENERATED and GENERATED[source.name].generator in ("cg", "halo"):
        offered.append(("weak scaling: more ranks, the same work on each", WEAK))
        offered.append(("strong scaling: more ranks, the same total work", STRONG))
    return offered


def family_of(
    family: str, own: ProgramVariant, arguments: Mapping[str, int | float | bool]
) -> tuple[ProgramVariant, ...]:
    """Return the programs of a family, in order, including the program itself."""
    source, algorithms = own.source, own.algorithms
    if family.startswith(_EVERY):
        operation = family.removeprefix(_EVERY)
        chosen = algorithms.get(operation, DEFAULTS[operation])
        return tuple(
            ProgramVariant(source, _with(algorithms, operation, name), name)
            for name in dict.fromkeys((*ALGORITHMS[operation], chosen))
        )
    if family in (WEAK, STRONG):
        ranks = int(arguments["ranks"])
        return tuple(
            ProgramVariant(
                source if n == ranks else _scaled(source.name, arguments, family, n),
                algorithms,
                f"{n} ranks",
            )
            for n in ranks_of(ranks, _dimensions(arguments))
        )
    return (own,)


def ranks_of(ranks: int, dimensions: int) -> list[int]:
    """Return the ranks of a scaling family: half to four times as many along each axis."""
    side = ranks ** (1 / dimensions)
    # A cube of four times the side is 64 times as large: too slow, and it shows nothing new.
    sides = _SIDES if dimensions < 3 else _SIDES[:3]
    others = {max(round(side * times), 1) ** dimensions for times in sides if times != 1}
    return sorted({ranks, *(n for n in others if 2 <= n <= MOST_RANKS)})


def _scaled(
    name: str, arguments: Mapping[str, int | float | bool], scaling: str, ranks: int
) -> ProgramSource:
    """Return a generated program on another number of ranks, scaled ``weak`` or ``strong``."""
    changed: dict[str, object] = {**arguments, "ranks": ranks}
    if scaling == STRONG:
        shape = grid_shape(int(arguments["ranks"]), _dimensions(arguments))
        changed["cells"] = tuple(int(arguments["cells"]) * along for along in shape)
        changed["scaling"] = STRONG
    generator = GENERATED[name].generator
    words = ", ".join(f"{key}={value!r}" for key, value in changed.items())

    def make() -> AnyProgram:
        made: AnyProgram = getattr(programs.generate, generator)(**changed)
        return made

    return ProgramSource(f"{name} on {ranks}", f"programs.generate.{generator}({words})", make)


def distinct(titles: Sequence[str]) -> list[str]:
    """Return the titles with a number added to each that occurs again."""
    names: list[str] = []
    for title in titles:
        name, number = title, 1
        while name in names:
            number += 1
            name = f"{title} ({number})"
        names.append(name)
    return names


def _with(algorithms: Mapping[str, str], operation: str, name: str) -> dict[str, str]:
    changed = {**algorithms, operation: name}
    return {op: chosen for op, chosen in changed.items() if chosen != DEFAULTS[op]}


def _dimensions(arguments: Mapping[str, int | float | bool]) -> int:
    return int(arguments.get("dims", 2))
