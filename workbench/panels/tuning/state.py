"""The state of the tuning panel, and the Python code for its experiment."""

from __future__ import annotations

import hashlib
import shlex
import textwrap
from dataclasses import dataclass, fields
from typing import Any

from workbench.errors import ParameterError
from workbench.panels.tuning.runner_choice import RunnerChoice
from workbench.panels.tuning.subjects import RECORDED, UPLOADED, Subject
from workbench.tune.experiment import Experiment
from workbench.tune.recorded.replayed_experiment import replayed
from workbench.tune.settings import Chosen, SearchSettings

FIRST_SETTINGS = SearchSettings(budget=60, resampling=Chosen("static", {"runs": 2}))
"""What the panel opens with."""

_SHORT = 40  # letters: chosen, both ends of a path, and a few settings in a row of the comparison


@dataclass(frozen=True)
class TuningState:
    """The state of the tuning panel's controls."""

    subject: Subject
    settings: SearchSettings
    by: RunnerChoice
    application: tuple[str, ...] = ()  # command that runs with the component
    jobs: int = 1  # number of runs at once
    store: str = ""  # file or address; "" stores no runs

    @property
    def name(self) -> str:
        """The name of the experiment: its subject and all settings that define it."""
        settings, usual = self.settings, SearchSettings()
        parts = [str(settings.heuristic)]
        if settings.resampling.name != "none":
            parts.append(str(settings.resampling))
        if settings.pruning.name != "none":
            parts.append(f"pruning {settings.pruning}")
        if settings.initial != usual.initial:
            parts.append(f"{settings.initial} initial")
        parts += [settings.start] * (settings.start != usual.start)
        parts += [settings.aggregation] * (settings.aggregation != usual.aggregation)
        if settings.most_runs != usual.most_runs:
            parts.append(f"{settings.most_runs or 'any number of'} runs of one")
        if settings.timeout_s is not None:
            parts.append(f"limit {settings.timeout_s:g} s")
        parts += [_short(self.by.title)] * bool(self.by.title)
        parts += [_short(self.subject.values)] * bool(self.subject.values)
        parts.append(f"seed {settings.seed}")
        parts += [_short(shlex.join(self.application))] * bool(self.application)
        return f"{self.subject.word.partition(':')[2]}: {', '.join(parts)}"

    def experiment(self) -> Experiment:
        """Return the experiment that the controls describe."""
        options: dict[str, Any] = {"settings": self.settings, "name": self.name}
        if self.store:
            options["store"] = self.store
        if self.subject.recorded is not None:
            return replayed(self.subject.recorded, self.by.noise, **options)
        if self.subject.component is None:
            raise ParameterError(f"{self.subject.title} cannot be run", key="subject")
        return Experiment(
            self.subject.component,
            self.by.runner(self.store),
            application=self.application,
            jobs=self.jobs,
            **options,
        )

    def python(self) -> str:
        """Return Python code that computes the result."""
        given = [f"    {line}," for line in _settings_lines(self.settings)]
        if self.store:
            given += [f"    store={self.store!r},", f"    name={self.name!r},"]
        kind, _, rest = self.subject.word.partition(":")
        if kind == RECORDED:
            recording, _, space = rest.partition("/")
            noise = "" if self.by.noise == "measured" else f"    {self.by.noise!r},\n"
            return (
                "from workbench.tune.recorded.files import shipped_recording\n"
                "from workbench.tune.recorded.replayed_experiment import replayed\n\n"
                f'recorded = shipped_recording("{recording}")["{space}"]\n'
                "experiment = replayed(\n    recorded,\n" + noise + "\n".join(given) + "\n)\n"
                "result = experiment.run()\nresult\n"
            )
        if self.application:
            given.append(f"    application={list(self.application)!r},")
        if self.jobs > 1:
            given.append(f"    jobs={self.jobs},")
        what, lines = f'"{rest}"', "from workbench.tune.experiment import tune\n"
        if kind == UPLOADED:
            name = rest.partition("/")[2]
            what = f'read_components("{self.subject.file}")["{name}"]'
            lines = f"from workbench.tune import read_components\n{lines}"
        if self.subject.values:
            if kind != UPLOADED:
                what = f"components()[{what}]"
                lines = f"from workbench.tune import components\n{lines}"
            what += f".with_axes(axes_of_specs({self.subject.values!r}))"
            lines += "from workbench.tune.specs import axes_of_specs\n"
        runner, made = self.by.python(self.store)
        if runner:
            given.insert(0, "    runner,")
            lines += f"from workbench.tune.runners import {runner}\n"
        call = f"result = tune(\n    {what},\n" + "\n".join(given) + "\n)\n"
        if runner:
            call = f"with {made} as runner:\n{textwrap.indent(call, '    ')}"
        return f"{lines}\n{call}result\n"


def _short(text: str) -> str:
    """Return a long text as its start, its end and four hex digits of its hash."""
    if len(text) <= _SHORT:
        return text
    digits = hashlib.sha256(text.encode()).hexdigest()[:4]
    return f"{text[: _SHORT // 2]}…{text[-_SHORT // 4 :]} ({digits})"


def _settings_lines(settings: SearchSettings) -> list[str]:
    usual, lines = SearchSettings(), []
    for one in fields(settings):
        value = getattr(settings, one.name)
        if value == getattr(usual, one.name):
            continue
        if isinstance(value, Chosen):
            plain: Any = (value.name, dict(value.options)) if value.options else value.name
            lines.append(f"{one.name}={plain!r}")
        else:
            lines.append(f"{one.name}={value!r}")
    return lines
