"""The controls of the tolerance panel: those of a replay, further programs, zones and axis."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import ipywidgets as widgets

from workbench.errors import ParameterError
from workbench.measure import MeasuredRuns, read_measured_runs
from workbench.panels import inputs
from workbench.panels.error_line import ErrorLine
from workbench.panels.program_sources import (
    GENERATED,
    AnyProgram,
    GeneratorFields,
    ProgramSource,
    shipped_source,
    source_of,
)
from workbench.panels.replay.controls import SIZE, TIMES, ReplayControls, seconds_of
from workbench.panels.replay.state import ReplayState
from workbench.panels.session.session import Files
from workbench.panels.style import choose, named, push_button, wrapping_row
from workbench.programs.collectives import find_algorithm
from workbench.tolerance.analysis import PERCENT
from workbench.tolerance.panel_measured import MeasuredControl
from workbench.tolerance.panel_state import (
    ALONE,
    LatencyInterval,
    MeasuredFile,
    ProgramVariant,
    ToleranceState,
    check_interval,
    families_of,
    family_of,
    interval_text,
    parse_interval,
    parse_percents,
    percents_text,
)

_TAKEN = ("programs", "percent", "measured")
CONTROLLED = (
    *("program", "machine", "family", "over", *_TAKEN, "interval_us"),
    *(*TIMES, SIZE, "model", "algorithms"),
)
"""The settings that can be read and set by name."""

SAVED = (
    *("program", "generator", "algorithms", "machine", "model"),
    *("kept", "over", "percent", "interval_s", "measured", "family"),
)
"""What a session holds of these controls, in the order in which it is set."""

_MOST_KEPT = 6  # with the one in the controls as many curves as there are colours


class ToleranceControls(ReplayControls):
    """The controls of the replay panel, and those for several programs, zones and the axis of L."""

    def __init__(self, first: ReplayState, changed: Callable[[], None]) -> None:
        self._ready = False
        self.kept: tuple[ProgramVariant, ...] = ()  # further programs that stay in the figure
        self._percent: tuple[float, ...] = PERCENT
        self._interval: LatencyInterval | None = None
        self._own_runs: dict[str, MeasuredRuns] = {}  # of sessions, by name
        super().__init__(first, lambda state: self._something_changed())
        # The panel analyses without contention and shows LogGOPSim's result beside it.
        self.semantics.layout.display = "none"
        self._told = changed
        self.family: Any = inputs.Dropdown(
            options=[("this program alone", ALONE)], **named("Draw", "420px")
        )
        self.keep_button: Any = push_button(
            "+ Keep it", "Keep this program in the figure and choose another one", width="96px"
        )
        self.chips = widgets.HBox(layout=widgets.Layout(flex_flow="row wrap"))
        self.percent: Any = inputs.Text(
            percents_text(PERCENT), continuous_update=False, **named("Zones (%)", "180px")
        )
        self.axis: Any = inputs.Text(
            "",
            placeholder="automatic, or 0 to 20us",
            continuous_update=False,
            **named("Axis of L (µs)", "340px"),
        )
        self.axis_error = ErrorLine()
        self.over: Any = inputs.ToggleButtons(
            options=[("Latency", "latency"), ("Bandwidth", "bandwidth")],
            tooltips=["T over the latency L", "T over the gap per byte G, 1 / bandwidth"],
            style={"button_width": "90px"},
            layout=widgets.Layout(width="auto", margin="0 14px 0 0"),
        )
        over_label = widgets.HTML("T over", layout=widgets.Layout(margin="2px 8px 2px 0"))
        self._measured: MeasuredFile | None = None
        self.measured = MeasuredControl(self._take_runs)
        self.widget.children = [
            *self.widget.children[:4],
            wrapping_row(self.family, self.keep_button, self.chips),
            *self.widget.children[4:],
            wrapping_row(over_label, self.over, self.percent, self.axis),
            self.axis_error,
            self.measured.widget,
        ]
        self.family.observe(lambda _: self._something_changed(), "value")
        self.percent.observe(lambda c: self._typed(self._take_percent, c["new"]), "value")
        self.axis.observe(lambda c: self._typed(self._take_axis, c["new"]), "value")
        self.over.observe(lambda _: self._turned(), "value")
        self._ready = True

    @property
    def tolerance_state(self) -> ToleranceState:
        """The state that the controls describe."""
        state = self.state
        own = family_of(
            self.family.value,
            state.source,
            state.algorithms,
            {} if self._fields is None else self._fields.arguments,
        )
        keys = [case.key for case in own]
        beside = tuple(case for case in self.kept if case.key not in keys)
        return ToleranceState(
            cases=(*own, *beside),
            model=state.model,
            machine=state.machine,
            percent=self._percent,
            interval=self._interval,
            own=keys.index(ProgramVariant(state.source, dict(state.algorithms)).key),
            measured=None if self.over.value == "bandwidth" else self._measured,
            over=self.over.value,
        )

    @property
    def errors(self) -> list[ErrorLine]:
        """The error lines of the controls."""
        return [*super().errors, self.axis_error, self.measured.error]

    @property
    def by_name(self) -> dict[str, Any]:
        """The controls by the names of settings; an algorithm's by its operation."""
        own = {"family": self.family, "percent": self.percent, "interval_us": self.axis}
        return {**super().by_name, **own, "measured": self.measured.upload, "over": self.over}

    def get(self, name: str) -> Any:
        """Return the value of a setting of ``CONTROLLED``, in the unit of its name."""
        if name == "interval_us":
            ends = self._interval
            return None if ends is None else tuple(1e6 * end for end in ends)
        if name == "program":
            return self.tolerance_state.own_case.source.name
        if name == "programs":
            return [case.title for case in self.tolerance_state.cases]
        if name == "percent":
            return self._percent
        if name == "measured":
            return None if self._measured is None else self._measured.runs
        return getattr(self, name).value if name in ("family", "over") else super().get(name)

    def set(self, name: str, value: Any) -> None:
        """Set a setting of ``CONTROLLED`` as the user would, in the unit of its name."""
        if name == "interval_us":
            ends = None if value is None else [seconds_of("L", end, -6) for end in value]
            self.take_interval(None if ends is None else (ends[0], ends[-1]))
        elif name in _TAKEN:
            getattr(self, f"take_{name}")(value)
        else:
            super().set(name, value)

    def saved(self, name: str) -> Any:
        """Return one of ``SAVED`` as JSON can hold it."""
        if name == "kept":
            return [_saved_variant(case) for case in self.kept]
        if name == "interval_s":
            return None if self._interval is None else list(self._interval)
        if name == "measured":
            held = self._measured
            return None if held is None else {"name": held.short_name, "program": held.program}
        if name in ("family", "over"):
            return getattr(self, name).value
        return list(self._percent) if name == "percent" else super().saved(name)

    def restore(self, name: str, value: Any) -> None:
        """Set one of ``SAVED`` to what `saved` returned."""
        if name == "kept":
            self.take_kept([self._restored_variant(**one) for one in value])
        elif name == "interval_s":
            self.take_interval(None if value is None else (value[0], value[1]))
        elif name == "measured":
            self._restore_measured(value)
        elif name == "percent":
            self.take_percent(value)
        elif name in ("family", "over"):
            choose(getattr(self, name), name, value)
        else:
            super().restore(name, value)

    def own_sources(self) -> list[ProgramSource]:
        """Return the programs in the controls and beside them."""
        return [self.state.source, *(case.source for case in self.kept)]

    def own_runs(self) -> dict[str, Files]:
        """Return the file of measured run times, by its name."""
        held = self._measured
        name = "" if held is None else held.short_name
        return {} if held is None else {name: {name: held.runs.to_csv().encode()}}

    def take_own_runs(self, name: str, files: Files) -> None:
        """Keep the measured run times of a session until they are chosen."""
        ((file, content),) = files.items()
        self._own_runs[name] = read_measured_runs((file, content))

    def _restored_variant(
        self, program: str, generator: Mapping[str, Any], algorithms: Mapping[str, str]
    ) -> ProgramVariant:
        """Return a kept program as `_saved_variant` wrote it."""
        if program in GENERATED:
            fields = GeneratorFields(program, lambda: None)
            fields.take(generator)
            source = fields.source()
        else:
            source = self._sources.get(program) or shipped_source(program)
        for operation, name in algorithms.items():
            find_algorithm(operation, name)
        return ProgramVariant(source, dict(algorithms))

    def _restore_measured(self, value: Mapping[str, str] | None) -> None:
        if value is None:
            self.measured.take(None, "")
            return
        name = value["name"]
        if self._measured is not None and self._measured.short_name == name:
            runs = self._measured.runs
        elif name in self._own_runs:
            runs = self._own_runs[name]
        else:
            raise ParameterError(
                f"the session does not hold the measured run times {name!r}; upload them first",
                key="measured",
            )
        self.measured.take(runs, name)
        self._measured = MeasuredFile(name, runs, value["program"])

    def clear_errors(self) -> None:
        """Remove all error messages."""
        super().clear_errors()
        self.axis_error.say("")
        self.measured.error.say("")

    def offer_algorithms(self, program: AnyProgram) -> None:
        """List a program's collectives with their algorithms, and the families to draw with it."""
        super().offer_algorithms(program)
        offered = families_of(self.state.source, program)
        if list(self.family.options) != offered:
            held = self.family.value
            known = [value for _, value in offered]
            self._mute.set(self.family, held if held in known else ALONE, offered)

    def keep(self) -> None:
        """Keep the chosen program in the figure."""
        own = ProgramVariant(self.state.source, dict(self.state.algorithms))
        self.take_kept([*(case for case in self.kept if case.key != own.key), own])

    def take_kept(self, cases: Sequence[ProgramVariant], *, tell: bool = True) -> None:
        """Keep exactly these programs in the figure; with ``tell``, report the change."""
        if len(cases) > _MOST_KEPT:
            raise ParameterError(
                f"at most {_MOST_KEPT} programs can be kept; got {len(cases)}: remove one",
                key="programs",
            )
        self.kept = tuple(cases)
        self.chips.children = [self._chip(case) for case in self.kept]
        if tell:
            self._something_changed()

    def take_programs(self, names: Sequence[str | AnyProgram]) -> None:
        """Choose the first program and keep the others beside it."""
        if not names:
            raise ParameterError("at least one program must be given; got none", key="programs")
        first, *others = [source_of(name) for name in names]
        self.take_kept([ProgramVariant(source) for source in others], tell=False)
        self.take_program(first)

    def take_percent(self, percent: Sequence[float]) -> None:
        """Set the zones: percentages by which T may grow."""
        self._take_percent(" ".join(repr(float(p)) for p in percent))

    def take_measured(self, runs: MeasuredRuns | str | Path | None) -> None:
        """Draw run times measured with the chosen program: a file, or what was read of one."""
        if isinstance(runs, str | Path):
            self.measured.take(read_measured_runs(runs), str(runs))
        else:
            self.measured.take(runs, "" if runs is None else runs.provenance.source or "runs")

    def take_interval(self, interval: LatencyInterval | None) -> None:
        """Set the axis of L, in s; None fits it to the zones."""
        self._interval = None if interval is None else check_interval(interval)
        self.axis_error.say("")
        self._mute.set(self.axis, interval_text(self._interval))
        self._something_changed()

    def _program_chosen(self, name: str) -> None:
        if not self._mute.on and self._ready:
            # Another program has another family.
            self._mute.set(self.family, ALONE, [("this program alone", ALONE)])
        super()._program_chosen(name)

    def _turned(self) -> None:
        """Show what belongs to the parameter that T is drawn over."""
        shown = "none" if self.over.value == "bandwidth" else ""
        self.axis.layout.display = self.measured.widget.layout.display = shown
        self._something_changed()

    def _take_runs(self, runs: MeasuredRuns | None, name: str) -> None:
        held = None if runs is None else MeasuredFile(name, runs, self.state.source.name)
        self._measured = held
        self._something_changed()

    def _take_percent(self, text: str) -> None:
        self._percent = parse_percents(text)
        self._mute.set(self.percent, percents_text(self._percent))
        self._something_changed()

    def _take_axis(self, text: str) -> None:
        self.take_interval(parse_interval(text))

    def _typed(self, take: Callable[[str], None], text: str) -> None:
        if self._mute.on:
            return
        try:
            self.axis_error.say("")
            take(text)
        except ParameterError as error:
            self.axis_error.say(str(error))

    def _chip(self, case: ProgramVariant) -> Any:
        chip = push_button(
            f"✕ {case.title}", "Remove it from the figure", width=f"{7 * len(case.title) + 48}px"
        )
        chip.on_click(lambda _: self.take_kept([c for c in self.kept if c is not case]))
        return chip

    def _something_changed(self) -> None:
        if self._ready and not self._mute.on:
            self._told()


def _saved_variant(case: ProgramVariant) -> dict[str, Any]:
    """Return a kept program as JSON can hold it."""
    return {
        "program": case.source.name,
        "generator": dict(case.source.fields),
        "algorithms": dict(sorted(case.algorithms.items())),
    }
