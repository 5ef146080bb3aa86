"""The programs that a panel offers: shipped ones, generators with controls, uploaded files."""

from __future__ import annotations

import itertools
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import Any

import ipywidgets as widgets

from workbench import programs
from workbench.errors import ParameterError
from workbench.panels.cache import Cache
from workbench.panels.error_line import ErrorLine
from workbench.panels.number_field import NumberField, errors_of
from workbench.panels.style import named, wrapping_row
from workbench.programs import ExecutionGraph, Program
from workbench.programs.find_program import graph_of

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


class ProgramCache:
    """The last programs and execution graphs, made when they are first asked for."""

    def __init__(self, programs: int, graphs: int) -> None:
        self._programs: Cache[AnyProgram] = Cache(programs)
        self._graphs: Cache[ExecutionGraph] = Cache(graphs)

    def known_program(self, source: ProgramSource) -> AnyProgram | None:
        """Return a program that is in the cache, or None."""
        return self._programs.get(source)

    def known_graph(
        self, source: ProgramSource, algorithms: Mapping[str, str]
    ) -> ExecutionGraph | None:
        """Return the graph of a program if it is in the cache, or None."""
        return self._graphs.get(source.graph_key(algorithms))

    def program(self, source: ProgramSource) -> AnyProgram:
        """Return a program."""
        return self._programs.made(source, source.make)

    def graph(self, source: ProgramSource, algorithms: Mapping[str, str]) -> ExecutionGraph:
        """Return a program's graph with algorithms by operation."""
        key = source.graph_key(algorithms)
        return self._graphs.made(key, lambda: graph_of(self.program(source), algorithms))


MOST_RANKS = 4096


@dataclass(frozen=True)
class Field:
    """One argument of a generator as a control."""

    argument: str
    words: str  # name of the control
    value: int | float | bool  # at first; bool: a checkbox, float: steps of 0.05
    least: float = 1
    most: float = 100_000
    unit: int = 1  # factor from the control to the argument, such as 1024 for KiB


@dataclass(frozen=True)
class Generated:
    """A generator of `workbench.programs.generate`, its fixed arguments and its controls."""

    title: str
    generator: str
    fixed: Mapping[str, Any]
    fields: tuple[Field, ...]


_ITERATIONS = Field("iterations", "iterations", 4, most=10_000)
_JITTER = Field("jitter", "jitter", 0.1, least=0.0, most=1.0)


def _ranks(value: int, least: int = 2) -> Field:
    return Field("ranks", "ranks", value, least=least, most=MOST_RANKS)


GENERATED: dict[str, Generated] = {
    "cg": Generated(
        "make: conjugate gradients (CG)",
        "cg",
        {"rng": 0},
        (_ranks(16), Field("cells", "cells an axis", 64), _ITERATIONS, _JITTER),
    ),
    "halo-2d": Generated(
        "make: 2-D halo exchange",
        "halo",
        {"dims": 2, "rng": 0},
        (
            _ranks(16),
            Field("cells", "cells an axis", 128),
            _ITERATIONS,
            _JITTER,
            Field("overlap", "overlap", False),
        ),
    ),
    "halo-3d": Generated(
        "make: 3-D halo exchange, 26 neighbours",
        "halo",
        {"dims": 3, "neighbours": 26, "rng": 0},
        (
            _ranks(27),
            Field("cells", "cells an axis", 32, most=2048),
            _ITERATIONS,
            _JITTER,
            Field("overlap", "overlap", False),
        ),
    ),
    "sweep": Generated(
        "make: wavefront sweep",
        "sweep",
        {"rng": 0},
        (
            _ranks(16),
            Field("blocks", "blocks", 4, most=64),
            Field("corners", "corners", 4, most=8),
            _JITTER,
        ),
    ),
    "master-worker": Generated(
        "make: master and workers",
        "master_worker",
        {"rng": 0},
        (
            _ranks(8),
            Field("tasks", "tasks", 60),
            Field("task_ns", "µs a task", 100, unit=1000),
            Field("jitter", "jitter", 0.5, least=0.0, most=1.0),
        ),
    ),
    "ring-pipeline": Generated(
        "make: pipeline round a ring",
        "ring_pipeline",
        {"rng": 0},
        (
            _ranks(8),
            Field("segments", "segments", 12, most=10_000),
            Field("segment_bytes", "KiB a segment", 64, unit=1024),
            Field("overlap", "overlap", False),
        ),
    ),
    "training": Generated(
        "make: training steps, allreduce of gradients",
        "training",
        {"rng": 0},
        (
            _ranks(8),
            Field("gradient_bytes", "MiB of gradients", 64, unit=2**20),
            Field("bucket_bytes", "MiB a bucket", 16, unit=2**20),
            Field("overlap", "overlap", True),
        ),
    ),
}


class GeneratorFields:
    """The controls of one generator of `GENERATED`."""

    def __init__(self, name: str, changed: Callable[[], None]) -> None:
        self.name = name
        self.about = GENERATED[name]
        self.controls = {one.argument: _control(one) for one in self.about.fields}
        for control in self.controls.values():
            control.observe(lambda _: changed(), "value")
        self.widget = wrapping_row(*self.controls.values())

    @property
    def arguments(self) -> dict[str, Any]:
        """The generator's arguments, fixed ones and those of the controls."""
        units = {one.argument: one.unit for one in self.about.fields}
        held = {argument: control.value for argument, control in self.controls.items()}
        scaled = {a: v if units[a] == 1 else v * units[a] for a, v in held.items()}
        return {**self.about.fixed, **scaled}

    @property
    def errors(self) -> list[ErrorLine]:
        """The error lines of the controls."""
        return errors_of(self.controls.values())

    def source(self) -> ProgramSource:
        """Return the source of the program that the controls describe."""
        arguments = self.arguments
        words = ", ".join(f"{name}={value!r}" for name, value in arguments.items())
        generator = self.about.generator

        def make() -> AnyProgram:
            made: AnyProgram = getattr(programs.generate, generator)(**arguments)
            return made

        return ProgramSource(self.name, f"programs.generate.{generator}({words})", make)


def source_of(program: str | AnyProgram | None, first: str = "") -> ProgramSource:
    """Return the source for a name, a path, a program or a graph; ``first`` replaces None."""
    if isinstance(program, (Program, ExecutionGraph)):
        return ProgramSource.of(GIVEN, "program", program)
    name = first if program is None else program
    if isinstance(name, str) and name in GENERATED:
        return GeneratorFields(name, lambda: None).source()
    if isinstance(name, str) and name in programs.list() and not Path(name).exists():
        return shipped_source(name)
    found = programs.find(name)
    return ProgramSource.of(Path(name).name, f"programs.find({str(name)!r})", found)


def shipped_source(name: str) -> ProgramSource:
    """Return the source of a shipped program of ``workbench.programs.list()``."""
    name = programs.list()[name].name
    return ProgramSource(name, f'programs.load("{name}")', lambda: programs.load(name))


def uploaded_source(files: Mapping[str, bytes]) -> ProgramSource:
    """Return the source for uploaded files, by name: one GOAL file, or all files of a trace."""
    named_bytes = {PurePath(name.replace("\\", "/")).name: data for name, data in files.items()}
    if not named_bytes or "" in named_bytes:
        raise ParameterError("choose a GOAL file, or all files of a trace", key="upload")
    with tempfile.TemporaryDirectory() as folder:
        for name, data in named_bytes.items():
            (Path(folder) / name).write_bytes(data)
        first = sorted(named_bytes)[0]
        path = Path(folder) / first if len(named_bytes) == 1 else Path(folder)
        program = programs.read(path)
    name = first if len(named_bytes) == 1 else f"{first} and {len(named_bytes) - 1} more"
    where = repr(first) if len(named_bytes) == 1 else "folder"
    return ProgramSource.of(name, f"programs.read({where})", program)


def _control(one: Field) -> Any:
    # Wide enough for the words and six digits.
    about = named(one.words, f"{7 * len(one.words) + 84}px")
    if isinstance(one.value, bool):
        return widgets.Checkbox(
            value=one.value,
            description=one.words,
            indent=False,
            layout=widgets.Layout(width=f"{7 * len(one.words) + 40}px"),
        )
    if isinstance(one.value, float):
        return NumberField(one.value, one.least, one.most, step=0.05, **about)
    return NumberField(one.value, one.least, one.most, **about)
