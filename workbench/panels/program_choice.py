"""The choice of a program in a panel: shipped, generated or one's own, and its collectives."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import ipywidgets as widgets

from workbench import programs
from workbench.errors import ParameterError
from workbench.panels import inputs
from workbench.panels.error_line import ErrorLine
from workbench.panels.mute import Mute
from workbench.panels.program_sources import (
    GENERATED,
    AnyProgram,
    GeneratorFields,
    ProgramSource,
    shipped_source,
    source_of,
    source_of_session,
    uploaded_source,
)
from workbench.panels.session.session import Files
from workbench.panels.settings import Setting
from workbench.panels.style import choose, named, wrapping_row
from workbench.panels.upload import Upload
from workbench.programs import Program
from workbench.programs.collectives import ALGORITHMS, DEFAULTS, find_algorithm
from workbench.programs.traces.otf2_archive import ANCHOR
from workbench.suggestions import did_you_mean


class ProgramChoice:
    """The controls of a program: ``program`` and ``upload``, and what belongs ``below`` them.

    ``changed`` is called after a user's change.
    """

    def __init__(self, first: ProgramSource, changed: Callable[[], None]) -> None:
        self.source = first
        self.algorithms: Mapping[str, str] = {}  # by operation, where it is not the default
        self._changed = changed
        self._mute = Mute()
        self._sources = {first.name: first}
        self._fields: GeneratorFields | None = None
        self.program: Any = inputs.Dropdown(
            options=self._offered(), value=first.name, **named("Program", "520px")
        )
        self.error = ErrorLine()
        self.upload = Upload(
            "Upload GOAL or trace",
            self.take_upload,
            self.error,
            width="170px",
            tooltip="One GOAL file, a trace's zip, whose name it keeps, or all files of a trace; "
            "of Score-P traces.otf2 with its .def and .evt files",
            multiple=True,
            archive=ANCHOR,
        )
        self._generator, self._collectives = widgets.VBox(), widgets.VBox()
        self.lists: dict[str, Any] = {}  # of algorithms, by operation
        self.below = widgets.VBox([self._generator, self._collectives, self.error])
        self.settings = {
            "program": Setting(self.program, get=lambda: self.source.name, take=self._take),
            "generator": Setting(
                get=lambda: dict(self.source.fields), take=self._take_fields, attribute=False
            ),
            "algorithms": Setting(
                get=lambda: dict(sorted(self.algorithms.items())),
                take=self.take_algorithms,
                restore=self._restore_algorithms,
            ),
        }
        self.program.observe(lambda change: self._program_chosen(change["new"]), "value")
        self._make_fields()

    @property
    def errors(self) -> list[ErrorLine]:
        """The error lines of the controls."""
        return [*([] if self._fields is None else self._fields.errors), self.error]

    @property
    def controls(self) -> dict[str, Any]:
        """The controls that come and go with the program, by operation and argument."""
        fields = {} if self._fields is None else self._fields.controls
        return {**self.lists, **fields, "upload": self.upload}

    @property
    def arguments(self) -> Mapping[str, Any]:
        """The arguments of the generator; none of another program."""
        return {} if self._fields is None else self._fields.arguments

    @property
    def ranks(self) -> int | None:
        """The number of ranks; None if a generator has no such argument."""
        if self._fields is not None:
            held = self.arguments.get("ranks")
            return None if held is None else int(held)
        if self.source.serial:
            return self.source.make().num_ranks
        return programs.list()[self.source.name].ranks

    def take_source(self, source: ProgramSource) -> None:
        """Add a program to the list, or replace one of its name, and choose it."""
        self._sources[source.name] = source
        self._mute.set(self.program, source.name, self._offered())
        self._program_chosen(source.name)

    def take_upload(self, files: Mapping[str, bytes], name: str = "") -> None:
        """Choose the program in uploaded files, given by name; "" takes the files' name for it."""
        self.error.say("")
        self.take_source(uploaded_source(files, name))

    def take_own(self, name: str, files: Files) -> None:
        """Offer a program of a session under its name there."""
        self._sources[name] = source_of_session(name, files, self._sources)
        self._mute.set(self.program, self.source.name, self._offered())

    def known(self, name: str, fields: Mapping[str, Any]) -> ProgramSource:
        """Return a program of the list, of a generator with some values of its controls."""
        if name not in GENERATED:
            return self._sources.get(name) or shipped_source(name)
        generator = GeneratorFields(name, lambda: None)
        generator.take(fields)
        return generator.source()

    def take_algorithms(self, chosen: Mapping[str, str]) -> None:
        """Set the algorithms by operation; operations not named get their default."""
        # A name that a list lacks, such as pipeline:8192, is added to it.
        unknown = [name for name in chosen if name not in self.lists]
        if unknown:
            known = ", ".join(self.lists) or "none"
            raise ParameterError(
                f"the program's collectives are {known}; got {unknown[0]!r}"
                f"{did_you_mean(unknown[0], self.lists)}",
                key=unknown[0],
            )
        for operation, name in chosen.items():
            find_algorithm(operation, name)
        with self._mute:
            for operation, control in self.lists.items():
                wanted = chosen.get(operation, DEFAULTS[operation])
                if wanted not in [value for _, value in control.options]:
                    control.options = [*control.options, (wanted, wanted)]
                control.value = wanted
        self._algorithm_chosen()

    def offer_algorithms(self, program: AnyProgram) -> None:
        """Make a list of algorithms for each collective operation of a program."""
        counts = program.operations if isinstance(program, Program) else {}
        if list(counts) != list(self.lists):
            self.lists = {name: self._algorithm_list(name) for name in counts}
            margin = widgets.Layout(margin="2px 10px 2px 0")
            label = [widgets.HTML("<b>Collectives</b>", layout=margin)] if counts else []
            row = wrapping_row(*label, *self.lists.values())
            self._collectives.children = [row] if counts else []
        with self._mute:
            for name, control in self.lists.items():
                control.value = self.algorithms.get(name, DEFAULTS[name])
                calls = "call" if counts[name] == 1 else "calls"
                control.tooltip = f"How {name} is done; {counts[name]} {calls}"

    def _take(self, program: str | AnyProgram) -> None:
        if isinstance(program, str):
            choose(self.program, "program", program)
        else:
            self.take_source(source_of(program))

    def _take_fields(self, values: Mapping[str, Any]) -> None:
        if self._fields is not None:
            self._fields.take(values)
        elif values:
            raise ParameterError(f"{self.source.name} is no generator", key="generator")

    def _restore_algorithms(self, chosen: Mapping[str, str]) -> None:
        """Set the algorithms, of a program that may still have to be made, too."""
        check_algorithms(chosen)
        if set(chosen) <= set(self.lists):
            self.take_algorithms(chosen)
            return
        # The lists are made anew once the program is there, with these in them.
        self.lists = {}
        self.algorithms = dict(chosen)
        self._changed()

    def _algorithm_list(self, operation: str) -> Any:
        names = list(ALGORITHMS[operation])
        held = self.algorithms.get(operation)
        if held is not None and held not in names:
            names.append(held)
        width = 7 * len(operation) + 8 * max(map(len, names)) + 60
        control = inputs.Dropdown(
            options=[(name, name) for name in names],
            value=held or DEFAULTS[operation],
            **named(operation, f"{width}px"),
        )
        control.observe(lambda _: self._algorithm_chosen(), "value")
        return control

    def _algorithm_chosen(self) -> None:
        if not self._mute.on:
            held = {name: control.value for name, control in self.lists.items()}
            self.algorithms = {n: a for n, a in held.items() if a != DEFAULTS[n]}
            self._changed()

    def _program_chosen(self, name: str) -> None:
        if self._mute.on:
            return
        self.error.say("")
        self.source = self.known(name, {})
        # Another program has other collectives; choices for this one do not apply to it.
        self.algorithms = {}
        self._make_fields()
        self._changed()

    def _make_fields(self) -> None:
        name = self.source.name
        self._fields = GeneratorFields(name, self._regenerate) if name in GENERATED else None
        self._generator.children = [] if self._fields is None else [self._fields.widget]

    def _regenerate(self) -> None:
        if self._fields is not None:
            self.error.say("")
            self.source = self._fields.source()
            self._changed()

    def _offered(self) -> list[tuple[str, str]]:
        known = {*programs.list(), *GENERATED}
        own = [(name, name) for name in self._sources if name not in known]
        shipped = [
            (f"{one.name}: {one.title}, {one.provenance.origin}", one.name)
            for one in programs.list().things
        ]
        made = [(about.title, name) for name, about in GENERATED.items()]
        return [*own, *shipped, *made]


def check_algorithms(chosen: Mapping[str, str]) -> None:
    """Raise a ParameterError where an operation or its algorithm is not known."""
    for operation, name in chosen.items():
        if operation not in ALGORITHMS:
            raise ParameterError(
                f"no collective is named {operation!r}{did_you_mean(operation, ALGORITHMS)}",
                key="algorithms",
            )
        find_algorithm(operation, name)
