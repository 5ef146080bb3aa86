"""The controls of the tuning panel: the subject, and how it is searched."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import ipywidgets as widgets

from workbench.errors import ParameterError, ParseError, WorkbenchError
from workbench.panels import inputs
from workbench.panels.error_line import ErrorLine
from workbench.panels.number_field import NumberField, check_all, errors_of
from workbench.panels.style import choose, named, wrapping_row
from workbench.panels.tuning.runner_controls import NAMES, RunnerControls
from workbench.panels.tuning.state import TuningState
from workbench.panels.tuning.subjects import Subject, component_subject, size_text
from workbench.panels.upload import Upload
from workbench.tune.component.component import read_components
from workbench.tune.heuristics import HEURISTICS, make_heuristic
from workbench.tune.history import AGGREGATIONS
from workbench.tune.initial_points import STARTS
from workbench.tune.pruning import PRUNINGS, make_pruning
from workbench.tune.resampling import RESAMPLINGS, make_resampling
from workbench.tune.rules_by_name import options_of
from workbench.tune.settings import MOST_INITIAL, Chosen, SearchSettings
from workbench.tune.space.space import Range, TuningSpace
from workbench.tune.specs import chosen, options_text
from workbench.tune.stopping import STOPPINGS, make_stopping

RULES = ("heuristic", "resampling", "pruning", "stopping")
NUMBERS = ("initial", "budget", "seed", "most_runs")
_TITLES = {
    "heuristic": "Heuristic",
    "resampling": "Run again",
    "pruning": "End slow runs",
    "stopping": "Stop early",
}


def _known(rule: str) -> Mapping[str, Any]:
    """Return the constructors that a rule can be chosen of, those registered by now among them."""
    known: dict[str, Mapping[str, Any]] = {
        "heuristic": HEURISTICS,
        "resampling": RESAMPLINGS,
        "pruning": PRUNINGS,
        "stopping": {"none": lambda: None, **STOPPINGS},
    }
    elsewhere = ("budget", "any", "all") if rule == "stopping" else ()
    return {name: one for name, one in known[rule].items() if name not in elsewhere}


class TuningControls:
    """The rows of controls above the figures; ``changed`` is called for another subject."""

    def __init__(
        self,
        known: Mapping[str, Subject],  # subjects, by word
        word: str,
        settings: SearchSettings,
        changed: Callable[[], None],
    ) -> None:
        self._changed = changed
        self.known = dict(known)
        self._subject = self.known[word]
        self.subject: Any = inputs.Dropdown(
            options=self._options(), value=word, **named("Tune", "470px")
        )
        self.subject_error = ErrorLine()
        self.upload = Upload(
            "Component file",
            self.take,
            self.subject_error,
            width="168px",
            tooltip="Upload a component file (YAML), yours or one of SHAMan's",
            accept=".yaml,.yml",
        )
        self.values: Any = inputs.Text(
            continuous_update=False,
            tooltip="Values to try instead of the component's own: n=1,2,4, n=0:64:8, n=1:64:x2; "
            "one value holds a parameter",
            **named("Values", "470px"),
        )
        self.store: Any = inputs.Text(
            placeholder="keep runs in this file, such as tuning.db",
            continuous_update=False,
            **named("Store", "330px"),
        )
        self.running = RunnerControls(settings.timeout_s, self.store)
        self.size = widgets.HTML()
        self.values_error = ErrorLine()
        self.doubt = ErrorLine()
        self.rules: dict[str, Any] = {}
        self.options: dict[str, Any] = {}
        self.errors: dict[str, ErrorLine] = {}
        for name in RULES:
            held: Chosen = getattr(settings, name)
            self.rules[name] = inputs.Dropdown(
                options=[*_known(name)], value=held.name, **named(_TITLES[name], "250px")
            )
            self.options[name] = inputs.Text(
                value=options_text(held.options),
                continuous_update=False,
                layout=widgets.Layout(width="auto", flex="1 1 200px"),
                tooltip=f"Options of the rule as name=value, {_TITLES[name].lower()}",
            )
            self.errors[name] = ErrorLine()
        self.numbers: dict[str, Any] = {
            "initial": _number("Initial runs", settings.initial, 0, MOST_INITIAL),
            "budget": _number("Budget (runs)", settings.budget, 1),
            "seed": _number("Seed", settings.seed, 0),
            "most_runs": _number(
                "Most runs of one (0: any)", settings.most_runs or 0, 0, width=230
            ),
        }
        self.start: Any = inputs.Dropdown(
            options=[*STARTS], value=settings.start, **named("drawn", "170px")
        )
        self.aggregation: Any = inputs.Dropdown(
            options=[*AGGREGATIONS], value=settings.aggregation, **named("Repeats as", "166px")
        )
        self.number_error = ErrorLine()
        self.widget = self._lay_out()
        self._connect()
        self._offer()

    @property
    def chosen(self) -> Subject:
        """The chosen subject, with the last values to try that were accepted."""
        return self._subject

    @property
    def error_lines(self) -> list[ErrorLine]:
        """The error lines of the controls."""
        rules = self.errors.values()
        about = (self.subject_error, self.values_error)
        own = (*about, self.running.error, *rules, self.number_error)
        return [*own, *errors_of(self._fields)]

    @property
    def by_name(self) -> dict[str, Any]:
        """The controls by the names of settings; a rule's options as ``heuristic_options``."""
        own = {"start_from": self.start, "aggregation": self.aggregation}
        options = {f"{name}_options": control for name, control in self.options.items()}
        return {
            **{"subject": self.subject, "upload": self.upload, "values": self.values},
            "store": self.store,
            **{**self.rules, **options, **self.numbers, **own, **self.running.by_name},
        }

    def state(self) -> TuningState:
        """Return the state of the controls; an invalid value is also shown at its control."""
        if self.values_error.message:
            raise ParameterError(self.values_error.message, key="values")
        for name in RULES:
            self._check(name)
        wrong = [line.message for line in self.errors.values() if line.message]
        if wrong:
            raise ParameterError(wrong[0])
        self.number_error.say("")
        check_all(self._fields)
        running = self.running.held()
        held: dict[str, Any] = {name: self._rule(name) for name in RULES}
        held |= {name: self.get(name) for name in NUMBERS}
        try:
            settings = SearchSettings(
                **held,
                start=self.start.value,
                aggregation=self.aggregation.value,
                timeout_s=self.running.get("timeout_s"),
            )
        except ParameterError as error:
            self.number_error.say(str(error))
            raise
        return TuningState(self.chosen, settings, store=self.store.value.strip(), **running)

    def set(self, name: str, value: Any) -> None:
        """Set a control as the user would; rules as a name or ``name:option=value``."""
        if name in RULES:
            rule = value if isinstance(value, str) else Chosen.coerce(value, name)
            word, options = chosen(rule) if isinstance(rule, str) else (rule.name, rule.options)
            choose(self.rules[name], name, word)
            self.options[name].value = options_text(options)
        elif name in self.numbers:
            choose(self.numbers[name], name, 0 if value is None else value)
        elif name in NAMES:
            self.running.set(name, value)
        else:
            choose(getattr(self, name), name, value)

    def get(self, name: str) -> Any:
        """Return the value of a setting; rules as ``name`` or ``name:option=value``."""
        if name in RULES:
            text = self.options[name].value.strip()
            return self.rules[name].value + (f":{text}" if text else "")
        if name in self.numbers:
            value = self.numbers[name].value
            return value or None if name == "most_runs" else value
        if name in NAMES:
            return self.running.get(name)
        return getattr(self, name).value

    def take(self, files: Mapping[str, bytes]) -> None:
        """Offer the components in component files, by file name, and choose the first."""
        found: dict[str, Subject] = {}
        for file, content in files.items():
            try:
                for component in read_components(content).values():
                    subject = component_subject(component, file)
                    found[subject.word] = subject
            except ParseError as error:
                # What is read is a text; the user knows it by its name.
                raise ParameterError(f"{file}{str(error).removeprefix(error.source)}") from error
            except ParameterError as error:
                raise ParameterError(f"{file}: {error}", key=error.key) from error
        if not found:
            raise ParameterError("a component file must declare a component; got none")
        self.known |= found
        again = self.subject.value == next(iter(found))
        self.subject.options = self._options()
        self.subject.value = next(iter(found))
        if again:  # a file of the same name, mended
            self._chose()

    def hold(self, running: bool) -> None:
        """Disable the controls while an experiment runs, or enable them."""
        for control in (
            *(self.subject, self.upload, self.store, self.start, self.aggregation),
            self.values,
            *self.running.by_name.values(),
            *self.rules.values(),
            *self.options.values(),
            *self.numbers.values(),
        ):
            control.disabled = running

    @property
    def _fields(self) -> tuple[Any, ...]:
        return *self.numbers.values(), *self.running.by_name.values()

    def _options(self) -> list[tuple[str, str]]:
        return [(one.title, word) for word, one in self.known.items()]

    def _rule(self, name: str) -> Chosen:
        text = self.options[name].value.strip()
        word, options = chosen(f"{self.rules[name].value}:{text}")
        return Chosen(word, options)

    def _check(self, name: str) -> None:
        """Show beside a rule the error in its options."""
        line = self.errors[name]
        line.say("")
        try:
            rule = self._rule(name)
            if name == "heuristic":
                make_heuristic(rule.name, self.chosen.space, 0, **rule.options)
            elif name == "resampling":
                make_resampling(rule.name, **rule.options)
            elif name == "pruning":
                make_pruning(rule.name, **rule.options)
            elif rule.name != "none":
                make_stopping(rule.name, **rule.options)
        except (WorkbenchError, TypeError) as error:
            line.say(str(error))

    def _offer(self) -> None:
        """Show the options of the chosen subject and rules."""
        subject = self.chosen
        is_recorded = subject.recorded is not None
        self.running.offer(is_recorded)
        self.values.layout.display = "none" if is_recorded else None
        self.values.placeholder = _values_hint(self.known[self.subject.value].space)
        self.size.value = size_text(subject.space)
        doubt = "" if subject.component is None else subject.component.doubt
        self.doubt.say(f"{doubt}; write maximise: true or false in its file" if doubt else "")
        for name in RULES:
            known = options_of(_known(name)[self.rules[name].value])
            field = self.options[name]
            field.placeholder = options_text(known) or "no options"
            field.disabled = not known

    def _connect(self) -> None:
        self.subject.observe(lambda _: self._chose(), "value")
        self.values.observe(lambda _: self._value(), "value")
        for name in RULES:
            self.rules[name].observe(lambda _, name=name: self._ruled(name), "value")
            self.options[name].observe(lambda _, name=name: self._check(name), "value")

    def _chose(self) -> None:
        self.subject_error.say("")
        if self.values.value:
            # Those of another component mean nothing to this one.
            self.values.value = ""
        else:
            self._value()

    def _value(self) -> None:
        """Take the values to try, or show why they cannot be."""
        self.values_error.say("")
        try:
            self._subject = self.known[self.subject.value].with_values(self.values.value)
        except WorkbenchError as error:
            self.values_error.say(str(error))
            return
        self._offer()
        self._check("heuristic")
        self._changed()

    def _ruled(self, name: str) -> None:
        # Options of another rule mean nothing to this one.
        self.options[name].value = ""
        self._offer()
        self._check(name)

    def _lay_out(self) -> Any:
        rows: list[Any] = [
            wrapping_row(self.subject, self.upload, self.size),
            self.subject_error,
            self.doubt,
            self.values,
            self.values_error,
            self.running.widget,
        ]
        cells = [
            widgets.VBox(
                [
                    widgets.HBox([self.rules[name], self.options[name]]),
                    self.errors[name],
                ],
                layout=widgets.Layout(flex="1 1 480px", min_width="400px", padding="0 12px 0 0"),
            )
            for name in RULES
        ]
        rows.append(widgets.HBox(cells, layout=widgets.Layout(flex_flow="row wrap")))
        n = self.numbers
        rows += [
            wrapping_row(
                *(n["initial"], self.start, n["budget"], n["seed"]),
                *(n["most_runs"], self.aggregation),
            ),
            self.number_error,
        ]
        return widgets.VBox(rows)


def _values_hint(space: TuningSpace) -> str:
    """Return an example of values to try: the first two of the first parameter with a list."""
    for name, axis in space.axes.items():
        if not isinstance(axis, Range):
            return f"all; or others, such as {name}={','.join(map(str, axis.values[:2]))}"
    return f"all; or others, such as {space.names[0]}=1,2"


def _number(text: str, value: int, least: int, most: int = 2**31 - 1, width: int = 168) -> Any:
    return NumberField(value, least, most, **named(text, f"{width}px"))
