"""The controls of the replay panel: program, collective algorithms, semantics and parameters."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from decimal import Decimal, InvalidOperation
from typing import Any

import ipywidgets as widgets

from workbench import machines, programs
from workbench.errors import ParameterError
from workbench.models import LogGPS
from workbench.models.loggps import parse_loggps
from workbench.panels import inputs
from workbench.panels.error_line import ErrorLine
from workbench.panels.job_controls import error_text
from workbench.panels.loggps_sliders import LogGPSSliders
from workbench.panels.machine_choice import MachineChoice
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
from workbench.panels.replay.state import LOGGOPSIM, OWN, ReplayState, check_model
from workbench.panels.session.session import Files
from workbench.panels.style import choose, named, wrapping_row
from workbench.panels.upload import Upload
from workbench.programs import Program
from workbench.programs.collectives import ALGORITHMS, DEFAULTS, find_algorithm
from workbench.programs.traces.otf2_archive import ANCHOR
from workbench.suggestions import did_you_mean

DEFAULTS_NAME = "loggopsim"
"""Entry of LogGOPSim's defaults in the list of machines."""

TIMES = {"L_us": -6, "o_us": -6, "g_us": -6, "G_ns": -9, "O_ns": -9}
"""The power of ten of a setting's unit, for times in seconds."""

SIZE = "S_bytes"

SAVED = ("program", "generator", "algorithms", "semantics", "machine", "model")
"""What a session holds of these controls, in the order in which it is set."""

_NO_MACHINE = (("own values", OWN), ("LogGOPSim's defaults", DEFAULTS_NAME))
_SEMANTICS = (
    ("LogGOPSim: CPUs and NICs are occupied", "loggopsim"),
    ("LLAMP: the graph alone", "llamp"),
)


class ReplayControls:
    """The controls of a replay; ``changed`` gets the state after a user's change."""

    def __init__(self, first: ReplayState, changed: Callable[[ReplayState], None]) -> None:
        self.state = first
        self._changed = changed
        self._mute = Mute()
        self._sources: dict[str, ProgramSource] = {first.source.name: first.source}
        name = first.source.name
        self._fields = GeneratorFields(name, self._regenerate) if name in GENERATED else None
        self.program: Any = inputs.Dropdown(
            options=self._offered(), value=first.source.name, **named("Program", "520px")
        )
        self.program_error, self.model_error = ErrorLine(), ErrorLine()
        self.upload = Upload(
            "Upload GOAL or trace",
            self.take_upload,
            self.program_error,
            width="170px",
            tooltip="One GOAL file, a trace's zip, whose name it keeps, or all files of a trace; "
            "of Score-P traces.otf2 with its .def and .evt files",
            multiple=True,
            archive=ANCHOR,
        )
        self.semantics: Any = inputs.Dropdown(
            options=_SEMANTICS, value=first.semantics, **named("Semantics", "380px")
        )
        self.machine = MachineChoice(
            _machine_of(first), first=_NO_MACHINE, label="Machine", width="330px"
        )
        self.sliders = LogGPSSliders(first.model, self._model_moved)
        self._generator = widgets.VBox()
        self.algorithms: dict[str, Any] = {}
        self._collectives = widgets.VBox()
        self.widget = widgets.VBox(
            [
                wrapping_row(self.program, self.upload),
                self._generator,
                self._collectives,
                self.program_error,
                wrapping_row(self.machine, self.semantics),
                self.sliders.widget,
                self.model_error,
            ]
        )
        self.program.observe(lambda change: self._program_chosen(change["new"]), "value")
        self.semantics.observe(
            lambda c: self._set(replace(self.state, semantics=c["new"])), "value"
        )
        self.machine.on_choice(self._machine_chosen)
        self._show_fields()

    @property
    def errors(self) -> list[ErrorLine]:
        """The error lines of the controls."""
        own = [] if self._fields is None else self._fields.errors
        return [*own, self.program_error, self.model_error, *self.sliders.errors]

    @property
    def by_name(self) -> dict[str, Any]:
        """The controls by the names of settings; an algorithm's by its operation."""
        rows = {name: self.sliders.rows[name[0]] for name in (*TIMES, SIZE)}
        lists = {"program": self.program, "semantics": self.semantics, "machine": self.machine}
        fields = {} if self._fields is None else self._fields.controls
        return {**lists, **rows, **self.algorithms, **fields, "upload": self.upload}

    def get(self, name: str) -> Any:
        """Return the value of a setting, in the unit of its name."""
        state = self.state
        if name in TIMES:
            return getattr(state.model, name[0]) * 10.0 ** -TIMES[name]
        if name == SIZE:
            return state.model.S
        return state.source.name if name == "program" else getattr(state, name)

    def set(self, name: str, value: Any) -> None:
        """Set a setting as the user would, in the unit of its name."""
        if name == "model":
            self.take_model(value)
        elif name == "algorithms":
            self.take_algorithms(value)
        elif name in TIMES:
            seconds = seconds_of(name[0], value, TIMES[name])
            self.take_model(self.state.model.replace(**{name[0]: seconds}))
        elif name == SIZE:
            self.take_model(self.state.model.replace(S=value))
        elif name == "program" and not isinstance(value, str):
            self.take_program(source_of(value))
        else:
            choose(getattr(self, name), name, value)

    def saved(self, name: str) -> Any:
        """Return one of ``SAVED`` as JSON can hold it."""
        state = self.state
        held: dict[str, Any] = {
            "program": state.source.name,
            "generator": dict(state.source.fields),
            "algorithms": dict(sorted(state.algorithms.items())),
            "model": {letter: getattr(state.model, letter) for letter in self.sliders.rows},
        }
        return held[name] if name in held else getattr(state, name)

    def restore(self, name: str, value: Any) -> None:
        """Set one of ``SAVED`` to what `saved` returned."""
        if name == "generator":
            if self._fields is None and value:
                raise ParameterError(f"{self.state.source.name} is no generator", key="generator")
            if self._fields is not None:
                self._fields.take(value)
        elif name == "algorithms":
            self._restore_algorithms(value)
        elif name == "machine" and value == OWN:
            self._own(self.state.model)
        elif name == "model":
            self.take_model(LogGPS(**value))
        else:
            choose(getattr(self, name), name, value)

    def take_own_program(self, name: str, files: Files) -> None:
        """Offer a program of a session under its name there."""
        self._sources[name] = source_of_session(name, files, self._sources)
        self._mute.set(self.program, self.state.source.name, self._offered())

    def _restore_algorithms(self, chosen: Mapping[str, str]) -> None:
        """Set the algorithms, of a program that may still have to be made, too."""
        for operation, name in chosen.items():
            if operation not in ALGORITHMS:
                raise ParameterError(
                    f"no collective is named {operation!r}{did_you_mean(operation, ALGORITHMS)}",
                    key="algorithms",
                )
            find_algorithm(operation, name)
        if set(chosen) <= set(self.algorithms):
            self.take_algorithms(chosen)
            return
        # The lists are made anew once the program is there, with these in them.
        self.algorithms = {}
        self._set(replace(self.state, algorithms=dict(chosen)))

    def say(self, error: BaseException) -> None:
        """Show an error at the control that its key names, else at the program."""
        key = getattr(error, "key", "")
        if key in self.sliders.rows:
            self.sliders.rows[key].error.say(error_text(error))
        else:
            self.program_error.say(error_text(error))

    def clear_errors(self) -> None:
        """Remove the error messages of program and model."""
        self.program_error.say("")
        self.model_error.say("")

    def take_program(self, source: ProgramSource) -> None:
        """Add a program to the list, or replace one of its name, and choose it."""
        self._sources[source.name] = source
        self._mute.set(self.program, source.name, self._offered())
        self._program_chosen(source.name)

    def take_upload(self, files: Mapping[str, bytes], name: str = "") -> None:
        """Choose the program in uploaded files, given by name; "" takes the files' name for it."""
        self.program_error.say("")
        self.take_program(uploaded_source(files, name))

    def take_model(self, model: LogGPS) -> None:
        """Set the parameters, as own values rather than a machine's."""
        check_model(model)
        self.sliders.show(model)
        self._own(model)

    def take_algorithms(self, chosen: Mapping[str, str]) -> None:
        """Set the algorithms by operation; operations not named get their default."""
        # A name that a list lacks, such as pipeline:8192, is added to it.
        unknown = [name for name in chosen if name not in self.algorithms]
        if unknown:
            known = ", ".join(self.algorithms) or "none"
            raise ParameterError(
                f"the program's collectives are {known}; got {unknown[0]!r}"
                f"{did_you_mean(unknown[0], self.algorithms)}",
                key=unknown[0],
            )
        for operation, name in chosen.items():
            find_algorithm(operation, name)
        with self._mute:
            for operation, control in self.algorithms.items():
                wanted = chosen.get(operation, DEFAULTS[operation])
                if wanted not in [value for _, value in control.options]:
                    control.options = [*control.options, (wanted, wanted)]
                control.value = wanted
        self._algorithm_chosen()

    def offer_algorithms(self, program: AnyProgram) -> None:
        """Make a list of algorithms for each collective operation of a program."""
        counts = program.operations if isinstance(program, Program) else {}
        if list(counts) != list(self.algorithms):
            self.algorithms = {name: self._algorithm_list(name) for name in counts}
            margin = widgets.Layout(margin="2px 10px 2px 0")
            label = [widgets.HTML("<b>Collectives</b>", layout=margin)] if counts else []
            row = wrapping_row(*label, *self.algorithms.values())
            self._collectives.children = [row] if counts else []
        with self._mute:
            for name, control in self.algorithms.items():
                control.value = self.state.algorithms.get(name, DEFAULTS[name])
                calls = "call" if counts[name] == 1 else "calls"
                control.tooltip = f"How {name} is done; {counts[name]} {calls}"

    def _algorithm_list(self, operation: str) -> Any:
        names = list(ALGORITHMS[operation])
        held = self.state.algorithms.get(operation)
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
            held = {name: control.value for name, control in self.algorithms.items()}
            self._set(
                replace(self.state, algorithms={n: a for n, a in held.items() if a != DEFAULTS[n]})
            )

    def _program_chosen(self, name: str) -> None:
        if self._mute.on:
            return
        self.program_error.say("")
        if name in GENERATED:
            self._fields = GeneratorFields(name, self._regenerate)
            source = self._fields.source()
        else:
            self._fields = None
            source = self._sources.get(name) or shipped_source(name)
        self._show_fields()
        # Another program has other collectives; choices for this one do not apply to it.
        self._set(replace(self.state, source=source, algorithms={}))

    def _regenerate(self) -> None:
        if self._fields is not None:
            self.program_error.say("")
            self._set(replace(self.state, source=self._fields.source()))

    def _show_fields(self) -> None:
        self._generator.children = [] if self._fields is None else [self._fields.widget]

    def _machine_chosen(self, name: str) -> None:
        if self._mute.on or name == OWN:
            return
        parameters = parameters_of(name)
        self.model_error.say("")
        self.sliders.show(parameters["model"])
        self._set(replace(self.state, **parameters))

    def _model_moved(self, model: LogGPS) -> None:
        check_model(model)
        self._own(model)

    def _own(self, model: LogGPS) -> None:
        self.model_error.say("")
        self._mute.set(self.machine, OWN)
        self._set(replace(self.state, model=model, machine=OWN))

    def _set(self, state: ReplayState) -> None:
        if self._mute.on:
            return
        self.state = state
        self._changed(self.state)

    def _offered(self) -> list[tuple[str, str]]:
        known = {*programs.list(), *GENERATED}
        own = [(name, name) for name in self._sources if name not in known]
        shipped = [
            (f"{one.name}: {one.title}, {one.provenance.origin}", one.name)
            for one in programs.list().things
        ]
        made = [(about.title, name) for name, about in GENERATED.items()]
        return [*own, *shipped, *made]


def parameters_of(name: str) -> dict[str, Any]:
    """Return ``model`` and ``machine`` of a state for a machine or ``loggopsim``."""
    if name == DEFAULTS_NAME:
        return {"model": LOGGOPSIM, "machine": OWN}
    return {"model": machines.load(name).loggps, "machine": name}


def _machine_of(state: ReplayState) -> str:
    return DEFAULTS_NAME if not state.machine and state.model == LOGGOPSIM else state.machine


def seconds_of(name: str, value: Any, power: int) -> float:
    """Return a number times 10^power, or a text with a unit, in s without rounding error."""
    if isinstance(value, str):
        return parse_loggps(name.partition("_")[0], value)
    try:
        return float(Decimal(repr(float(value))).scaleb(power))
    except (TypeError, ValueError, InvalidOperation):
        raise ParameterError(f"{name} must be a number; got {value!r}", key=name) from None
