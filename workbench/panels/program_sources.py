"""The programs that a panel offers: shipped ones, generators with controls, uploaded files."""

from __future__ import annotations

import itertools
import tempfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePath
from typing import Any

import ipywidgets as widgets

from workbench import programs
from workbench.errors import ParameterError
from workbench.panels import inputs
from workbench.panels.cache import Cache
from workbench.panels.error_line import ErrorLine
from workbench.panels.number_field import NumberField, errors_of
from workbench.panels.session.session import MOST_FILES_B, Files
from workbench.panels.style import choose, named, wrapping_row
from workbench.programs import ExecutionGraph, Program
from workbench.programs.find_program import graph_of
from workbench.programs.traces.otf2_archive import ANCHOR

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
    # For a session: the values of a generator's controls, and the files of an uploaded program.
    fields: Mapping[str, Any] = field(default_factory=dict, compare=False)
    files: Callable[[], Files] | None = field(default=None, compare=False)

    def graph_key(self, algorithms: Mapping[str, str]) -> tuple[object, ...]:
        """Return the key of the execution graph with algorithms by operation."""
        return self, *sorted(algorithms.items())

    @classmethod
    def of(
        cls,
        name: str,
        expression: str,
        program: AnyProgram,
        files: Callable[[], Files] | None = None,
    ) -> ProgramSource:
        """Return the source of a program that already exists, and what a session holds of it."""
        return cls(name, expression, lambda: program, next(_serials), files=files)


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
"""A linear alltoall of twice as many has too many messages; one of so many takes 880 MiB."""


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

        expression = f"programs.generate.{generator}({words})"
        return ProgramSource(self.name, expression, make, fields=self.values)

    @property
    def values(self) -> dict[str, Any]:
        """The values of the controls, by argument."""
        return {argument: control.value for argument, control in self.controls.items()}

    def take(self, values: Mapping[str, Any]) -> None:
        """Set the controls of some arguments."""
        for argument, value in values.items():
            if argument not in self.controls:
                raise ParameterError(
                    f"{self.name} has no {argument!r}; it has {', '.join(self.controls)}",
                    key="generator",
                )
            choose(self.controls[argument], argument, value)


def source_of(program: str | AnyProgram | None, first: str = "") -> ProgramSource:
    """Return the source for a name, a path, a program or a graph; ``first`` replaces None."""
    if isinstance(program, (Program, ExecutionGraph)):
        graph = program if isinstance(program, ExecutionGraph) else None
        text = None if graph is None else lambda: {f"{GIVEN}.goal": graph.to_goal().encode()}
        return ProgramSource.of(GIVEN, "program", program, text)
    name = first if program is None else program
    if isinstance(name, str) and name in GENERATED:
        return GeneratorFields(name, lambda: None).source()
    if isinstance(name, str) and name in programs.list() and not Path(name).exists():
        return shipped_source(name)
    found = programs.find(name)
    path = Path(name).resolve()
    return ProgramSource.of(
        Path(name).name, f"programs.find({str(name)!r})", found, lambda: _files_at(path)
    )


def shipped_source(name: str) -> ProgramSource:
    """Return the source of a shipped program of ``workbench.programs.list()``."""
    name = programs.list()[name].name
    return ProgramSource(name, f'programs.load("{name}")', lambda: programs.load(name))


def uploaded_source(files: Mapping[str, bytes], name: str = "") -> ProgramSource:
    """Return the source for uploaded files, by name: one GOAL file, or all files of a trace.

    ``name`` is what the program is called; "" takes that of its files.
    """
    named_bytes = {PurePath(name.replace("\\", "/")).name: data for name, data in files.items()}
    if not named_bytes or "" in named_bytes:
        raise ParameterError("choose a GOAL file, or all files of a trace", key="upload")
    with tempfile.TemporaryDirectory() as folder:
        for file, data in named_bytes.items():
            (Path(folder) / file).write_bytes(data)
        anchors = [file for file in named_bytes if file.endswith(ANCHOR)]
        first = (anchors or sorted(named_bytes))[0]
        path = Path(folder) / first if len(named_bytes) == 1 else Path(folder)
        program = programs.read(path)
    name = name or (first if len(named_bytes) == 1 else f"{first} and {len(named_bytes) - 1} more")
    where = repr(first) if len(named_bytes) == 1 else "folder"
    small = sum(map(len, named_bytes.values())) <= MOST_FILES_B
    return ProgramSource.of(
        name,
        f"programs.read({where})",
        # Not the temporary folder's.
        replace(program, source=name),
        (lambda: named_bytes) if small else None,
    )


def source_of_session(name: str, files: Files, known: Mapping[str, ProgramSource]) -> ProgramSource:
    """Return the source of a program whose files a session holds; ``known`` are the panel's."""
    held = known.get(name)
    if held is not None and held.files is not None and held.files() == files:
        return held
    if held is not None or name in programs.list() or name in GENERATED:
        raise ParameterError(
            f"there is another program named {name!r} here; open the session in a new panel",
            key="program",
        )
    return uploaded_source(files, name)


def files_of(sources: Iterable[ProgramSource]) -> dict[str, Files]:
    """Return the files of the programs that do not ship, by name."""
    return {one.name: one.files() for one in sources if one.serial and one.files is not None}


def without_files(sources: Iterable[ProgramSource]) -> list[str]:
    """Return a sentence for each program of the user's that a session cannot hold."""
    return [
        f"the program {one.name!r} was given in Python, or is too large: a session names it only"
        for one in sources
        if one.serial and one.files is None
    ]


def _files_at(path: Path) -> Files:
    """Return the files of a program at a path: the file, or all of a trace's folder."""
    try:
        files = [path] if path.is_file() else [one for one in path.iterdir() if one.is_file()]
        size = sum(one.stat().st_size for one in files)
    except OSError as error:
        raise ParameterError(
            f"the program's files must still be there; {error}", key="program"
        ) from error
    if size > MOST_FILES_B:
        raise ParameterError(
            f"a session holds at most {MOST_FILES_B >> 20} MiB of files; {path.name} has "
            f"{size >> 20} MiB",
            key="session",
        )
    return {one.name: one.read_bytes() for one in files}


def _control(one: Field) -> Any:
    # Wide enough for the words and six digits.
    about = named(one.words, f"{7 * len(one.words) + 84}px")
    if isinstance(one.value, bool):
        return inputs.Checkbox(
            value=one.value,
            description=one.words,
            indent=False,
            layout=widgets.Layout(width=f"{7 * len(one.words) + 40}px"),
        )
    if isinstance(one.value, float):
        return NumberField(one.value, one.least, one.most, step=0.05, **about)
    return NumberField(one.value, one.least, one.most, **about)
