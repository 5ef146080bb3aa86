"""The tuned component: a program or a plug-in, its parameters, and how each value reaches it.

    component = components()["open-mpi-allreduce"]
    space = component.space()
    component.invocation(space.sample(rng=1)).argv

Declared in YAML as SHAMan declares it (Robert, Zertal and Couvée, SHAMan: a versatile auto-tuning
framework for costly and noisy HPC systems, sections 4.1 and 4.2), whose files are read as they
are, with additions: types beyond whole numbers and texts, grids, conditions and constraints.
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from workbench.catalogue import Catalogue
from workbench.datasets import data_folder
from workbench.errors import DatasetError, ParameterError, ParseError
from workbench.suggestions import did_you_mean
from workbench.tune.component.invocation import Invocation
from workbench.tune.component.parameter import (
    PARAMETER_TYPES,
    ComponentParameter,
    ParameterType,
)
from workbench.tune.component.untuned import rule_left, untuned
from workbench.tune.space.axes import AnyAxis
from workbench.tune.space.constraints import Configuration, Expression, Value, parents_first
from workbench.tune.space.space import TuningSpace
from workbench.tune.target import Target, WallTime

__all__ = [
    "PARAMETER_TYPES",
    "Component",
    "ComponentParameter",
    "ParameterType",
    "components",
    "read_components",
]

_PARAMETER = "parameter"

PARAMETERS = "{parameters}"
"""The word of a command that the parameters with ``cmd_var`` replace; without it they come last."""

PYTHON = "{python}"
"""The word of a command that this process's Python replaces."""

APPLICATION = "{application}"
"""The word of a command that the experiment's application replaces; without it that comes last."""

FOLDER = "{folder}"
"""The part of a word of a command that the folder of the component's file replaces."""

_SHIPPED = "components"
_MOST_PARAMETERS = 500  # chosen: Open MPI's tuned collectives alone have 153 (ompi_info)


@dataclass(frozen=True)
class Component:
    """A configurable component: what runs, with which parameters, and what is measured.

    Attributes:
        name: what experiments call it.
        parameters: its parameters, in the order their words have on the command line.
        command: the words of its command; empty where it only sets up another application, which
            the experiment names. ``{parameters}``, ``{application}`` and ``{python}`` stand for
            what is put there, and ``{folder}``, also within a word, for the folder of the file; a
            first word beginning with ``#`` makes the command a line for the head of a batch
            script.
        header: shell commands to run before each run, such as the emptying of a cache.
        env: variables that every run has in its environment.
        plugin: options of ``sbatch``, such as ``fastio=yes --ioi=yes``.
        ld_preload: library to load before all others, empty for none.
        constraints: rules between the parameters.
        target: the number a run gives.
        description: a sentence for people.
        source: name of the file it was read from.
        folder: the folder of that file, empty where it was a text.
        notes: what a reader of the file should know, such as a key that means nothing.
        doubt: a sentence where the file does not say whether more of the target is better, and its
            unit or name says that it is; empty otherwise.

    Raises:
        ParameterError: two parameters have one name, a rule names a parameter there is not, or
            a variable or the plug-in's options cannot be passed.
    """

    name: str
    parameters: tuple[ComponentParameter, ...]
    command: tuple[str, ...] = ()
    header: str = ""
    env: Mapping[str, str] = field(default_factory=dict)
    plugin: str = ""
    ld_preload: str = ""
    constraints: tuple[Expression, ...] = ()
    target: Target = field(default_factory=WallTime)
    description: str = ""
    source: str = ""
    folder: str = ""
    notes: tuple[str, ...] = ()
    doubt: str = ""

    def __post_init__(self) -> None:
        if not self.parameters:
            raise ParameterError(
                f"{self.name} must have at least one parameter; got none", key="parameters"
            )
        if len(self.parameters) > _MOST_PARAMETERS:
            raise ParameterError(
                f"{self.name} must have at most {_MOST_PARAMETERS} parameters; "
                f"got {len(self.parameters)}",
                key="parameters",
            )
        names = [parameter.name for parameter in self.parameters]
        for at, name in enumerate(names):
            if name in names[:at]:
                raise ParameterError(
                    f"{name} must be described once; it is described twice", key=name
                )
        object.__setattr__(self, "env", MappingProxyType(dict(self.env)))
        # Errors of every run are raised here, where the line in the file is known.
        _ = Invocation((), self.env)
        _ = self._plugin_words()
        for parameter in self.parameters:
            for other in parameter.condition.names if parameter.condition else ():
                if other not in names:
                    raise ParameterError(
                        f"the condition of {parameter.name} must name parameters of {self.name}; "
                        f"{other} is not one{did_you_mean(other, names)}; "
                        f"known: {', '.join(names)}",
                        key=parameter.name,
                    )
        for rule in self.constraints:
            for other in rule.names:
                if other not in names:
                    raise ParameterError(
                        f"the rule {rule.text} must name parameters of {self.name}; {other} is "
                        f"not one{did_you_mean(other, names)}; known: {', '.join(names)}",
                        key="constraints",
                    )
        parents_first(names, self._conditions())

    def __getitem__(self, name: str) -> ComponentParameter:
        for parameter in self.parameters:
            if parameter.name == name:
                return parameter
        names = [parameter.name for parameter in self.parameters]
        raise ParameterError(
            f"{name} is not a parameter of {self.name}{did_you_mean(name, names)}; known: "
            f"{', '.join(names)}",
            key=str(name),
        )

    def defaults(self) -> dict[str, Value | None]:
        """Return the configuration without tuning: each default, None where nothing is passed.

        Nothing is passed for an optional parameter, whatever its default, and for one whose
        condition is false. A parameter that must have a value and has no default is left out.
        """
        conditions = self._conditions()
        found: dict[str, Value | None] = {}
        for name in parents_first([p.name for p in self.parameters], conditions):
            parameter = self[name]
            applies = name not in conditions or conditions[name].holds(found)
            if not applies or parameter.optional:
                found[name] = None
            elif parameter.default is not None:
                found[name] = parameter.default
        return {p.name: found[p.name] for p in self.parameters if p.name in found}

    def with_axes(self, axes: Mapping[str, AnyAxis | Sequence[Value | None]]) -> Component:
        """Return the component with other values to try of some parameters.

        Args:
            axes: an axis or a plain list for each of these parameters, by name; one value holds
                the parameter.

        Raises:
            ParameterError: a name is unknown, or a value is not of its parameter's type.
        """
        for name in axes:
            _ = self[name]
        return replace(
            self,
            parameters=tuple(
                parameter.with_axis(axes[parameter.name]) if parameter.name in axes else parameter
                for parameter in self.parameters
            ),
        )

    def space(
        self,
        axes: Mapping[str, AnyAxis | Sequence[Value | None]] | None = None,
        constraints: Sequence[Expression | str] = (),
    ) -> TuningSpace:
        """Return the configurations to try: the experiment's axes, else the component's own.

        A parameter that has neither is not tuned: it keeps its default. Conditions and
        constraints that name such a parameter are worked out with its default, where it applies.

        Args:
            axes: an axis or a plain list for each parameter to tune, by name; all parameters that
                have an axis of their own where it is None.
            constraints: rules beside the component's own.

        Raises:
            ParameterError: a name is unknown, a value is not of its parameter's type, or there is
                nothing to tune.
        """
        chosen = self._chosen(axes)
        held, where = untuned(self.parameters, chosen)
        limits = [
            rule_left(rule, held, where, "constraints")
            for rule in (*self.constraints, *map(_rule, constraints))
        ]
        conditions = {
            name: rule_left(rule, held, where, name)
            for name, rule in self._conditions().items()
            if name in chosen
        }
        return TuningSpace(
            chosen,
            [rule for rule in limits if rule is not None],
            {name: rule for name, rule in conditions.items() if rule is not None},
            {name: value for name, value in self.defaults().items() if name in chosen},
        )

    def invocation(
        self, configuration: Configuration, application: Sequence[str] = ()
    ) -> Invocation:
        """Return the invocation of a run in this configuration.

        A parameter that the configuration does not name has its default, one with None is not
        passed, and 0, false and an empty text are passed like any other value.

        Args:
            configuration: value of each parameter, by name.
            application: words of the program that runs with the component, none where the
                component is the program.

        Raises:
            ParameterError: a name is unknown, a value is not of its parameter's type or cannot be
                passed, or a parameter that must have a value has none.
        """
        values = self._values(configuration)
        passed = [(self[name], value) for name, value in values.items() if value is not None]
        env = dict(self.env)
        if self.ld_preload:
            env["LD_PRELOAD"] = self.ld_preload
        env |= {p.env_var: p.text(value) for p, value in passed if p.env_var}
        words = [word for p, value in passed if p.cmd_var for word in p.arguments(value)]
        options = self._plugin_words()
        options += [
            word for p, value in passed if p.cli_var for word in p.arguments(value, option=True)
        ]
        if self.command and self.command[0].startswith("#"):
            line = " ".join((*self.command, *words))
            if "\n" in line or "\r" in line:
                raise ParameterError(
                    f"a line of a batch script must have no line ends in it; got {line!r}"
                )
            return Invocation(tuple(application), env, tuple(options), (line,), self.header)
        argv = self._argv(words, tuple(application)) if self.command else tuple(application)
        return Invocation(argv, env, tuple(options), (), self.header)

    def declaration(self) -> dict[str, Any]:
        """Return the fields that determine the invocations, for JSON."""
        return {
            "command": list(self.command),
            "header": self.header,
            "env": dict(self.env),
            "plugin": self.plugin,
            "ld_preload": self.ld_preload,
            **{f"{_PARAMETER} {p.name}": p.passing() for p in self.parameters},
        }

    @property
    def lacks_folder(self) -> bool:
        """Whether the command names the folder of its file, and it was read from a text."""
        return not self.folder and any(FOLDER in word for word in self.command)

    def _plugin_words(self) -> list[str]:
        try:
            return shlex.split(f"--{self.plugin}") if self.plugin else []
        except ValueError as error:
            raise ParameterError(
                f"plugin of {self.name} must be words as a shell reads them; {error}: "
                f"{self.plugin!r}",
                key="plugin",
            ) from error

    def _argv(self, words: Sequence[str], application: tuple[str, ...]) -> tuple[str, ...]:
        if self.lacks_folder:
            raise ParameterError(
                f"the command of {self.name} names its file's folder, so it must come from a file; "
                "it was read from a text; read it by its path",
                key="command",
            )
        places = {PARAMETERS: tuple(words), APPLICATION: application, PYTHON: (sys.executable,)}
        command = tuple(word.replace(FOLDER, self.folder) for word in self.command)
        if PARAMETERS not in command:
            # Before the application, whose own arguments they would else become.
            at = command.index(APPLICATION) if APPLICATION in command else len(command)
            command = (*command[:at], PARAMETERS, *command[at:])
        if APPLICATION not in command:
            command = (*command, APPLICATION)
        return tuple(word for part in command for word in places.get(part, (part,)))

    def _values(self, configuration: Configuration) -> dict[str, Value | None]:
        """Return the value passed for each parameter: the given one, its default, or None."""
        for name in configuration:
            _ = self[name]
        conditions = self._conditions()
        found: dict[str, Value | None] = {}
        for name in parents_first([p.name for p in self.parameters], conditions):
            parameter = self[name]
            if name in conditions and not conditions[name].holds(found):
                found[name] = None
            elif name in configuration:
                value = configuration[name]
                found[name] = None if value is None else parameter.coerce(value)
            elif parameter.optional or parameter.default is not None:
                found[name] = None if parameter.optional else parameter.default
            else:
                raise ParameterError(
                    f"{name} of {self.name} must have a value, it has no default; give it one, "
                    "or make it optional",
                    key=name,
                )
        return {parameter.name: found[parameter.name] for parameter in self.parameters}

    def _conditions(self) -> dict[str, Expression]:
        return {p.name: p.condition for p in self.parameters if p.condition is not None}

    def _chosen(
        self, axes: Mapping[str, AnyAxis | Sequence[Value | None]] | None
    ) -> dict[str, AnyAxis]:
        if axes is not None:
            return {name: self[name].axis_for(axis) for name, axis in axes.items()}
        chosen = {p.name: p.axis for p in self.parameters if p.axis is not None}
        if not chosen:
            raise ParameterError(
                f"{self.name} has no values to try; give an axis for at least one of "
                f"{', '.join(p.name for p in self.parameters)}",
                key="axes",
            )
        return chosen


def read_components(source: str | Path | bytes) -> dict[str, Component]:
    """Return the components that a YAML file declares, by name, in its order.

    Args:
        source: a path, or the text itself where it has more than one line or is bytes.

    Raises:
        ParseError: it is no such file; the message names the file, the line, the key and the rule.
        OSError: the file cannot be read.
    """
    from workbench.tune.component.component_yaml import read

    return read(source)


def components() -> Catalogue[Component]:
    """Return the components that ship with the workbench, by name.

    Raises:
        DatasetError: a file of them is missing or not as it must be.
    """
    folder = data_folder() / _SHIPPED
    found: list[Component] = []
    for path in sorted(folder.glob("*.yaml")):
        try:
            found += read_components(path).values()
        except (ParseError, OSError) as error:
            raise DatasetError(f"{path} must declare components; {error}; restore it") from error
    found.sort(key=lambda component: component.name)
    return Catalogue(
        "component",
        found,
        ("name", "parameters", "configurations", "target", "what it is"),
        [
            (
                one.name,
                str(len(one.parameters)),
                _count(one),
                one.target.label,
                one.description,
            )
            for one in found
        ],
    )


def _count(component: Component) -> str:
    if all(parameter.axis is None for parameter in component.parameters):
        return "no grid"
    size = component.space().size
    return "continuous" if size is None else str(size)


def _rule(rule: Expression | str) -> Expression:
    return rule if isinstance(rule, Expression) else Expression(rule)
