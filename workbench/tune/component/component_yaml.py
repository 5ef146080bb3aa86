"""Component files: SHAMan's YAML as it is, and what this project adds to it.

    components:
      sort:
        command: [python3, sort.py, "{parameters}"]
        target: {regex: 'sorted in ([0-9.]+) ms', unit: ms}
        constraints: ["cutoff < ways * 64"]
        parameters:
          cutoff: {type: int, default: 16, cmd_var: true, flag: cutoff, min: 1, max: 256, step: 2,
                   step_type: multiplicative}
          ways: {type: categorical, default: 2, cmd_var: true, flag: ways, values: [2, 4, 8]}

SHAMan's keys are ``plugin header command ld_preload custom_target parameters`` and, of a parameter,
``type default optional description env_var cmd_var cli_var flag suffix``.
"""

from __future__ import annotations

import itertools
import re
import shlex
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from workbench.errors import ParameterError, ParseError
from workbench.suggestions import did_you_mean
from workbench.tune.component.component import Component
from workbench.tune.component.parameter import PARAMETER_TYPES, ComponentParameter
from workbench.tune.space.axes import AnyAxis, Grid, Range
from workbench.tune.space.constraints import Expression
from workbench.tune.target import OSULatency, OutputRegex, Target, WallTime, direction_doubt
from workbench.yaml_text import Keys, YamlDocument, load_yaml

_TOP = ("components",)
_COMPONENT = (
    "command",
    "header",
    "plugin",
    "ld_preload",
    "custom_target",
    "target",
    "parameters",
    "constraints",
    "env",
    "description",
)
# In SHAMan's manual, but read by no release of it.
_IGNORED = ("cli_command",)
_PARAMETER = (
    "type",
    "default",
    "optional",
    "description",
    "env_var",
    "cmd_var",
    "cli_var",
    "flag",
    "suffix",
    "switch",
    "choices",
    "condition",
)
AXIS_KEYS = ("values", "min", "max", "step", "step_type", "low", "high", "log")
"""The keys that say which values to try: a list, SHAMan's grid, or a range."""

CUSTOM_TARGETS: Mapping[str, Target] = MappingProxyType(
    {
        "parse_execution_time.parse_slurm_times": WallTime(),
        "parse_osu_output.parse_osu_output": OSULatency(weights="size"),
        "parse_osu_output.parse_osu_output_8": OSULatency(size=8),
        "parse_osu_output.parse_osu_output_1024": OSULatency(size=1024),
        "parse_osu_output.parse_osu_output_1048576": OSULatency(size=1048576),
    }
)
"""SHAMan's functions that read a run's output, and the targets that read the same."""

_REGEX = ("regex", "group", "unit", "maximise", "stream", "name")
_OSU = ("osu", "weights", "statistic")
_IN_THE_FILE = {"pattern": "regex", "size": "osu"}  # attributes of targets that keys of files set
_SHELL_WORDS = {"|", "||", "&", "&&", ";", ">", ">>", "<", "2>", "2>&1"}


def read(source: str | Path | bytes) -> dict[str, Component]:
    """Return the components that a YAML file or text declares, by name, in its order."""
    document = load_yaml(source, "a component file")
    if "bbo" in document.values:
        raise document.error(
            ("bbo",),
            "belongs to the configuration of an experiment, not to a component file; "
            "workbench.tune.read_experiment reads such a file",
        )
    document.known((), document.values, _TOP, "a component file")
    declared = document.mapping(_TOP, document.values.get("components"))
    if not declared:
        raise ParseError(
            "a component file must declare at least one component; add components: {name: ...}",
            source=document.source,
        )
    return {name: _component(document, name, values) for name, values in declared.items()}


def _component(document: YamlDocument, name: str, values: Any) -> Component:
    path: Keys = ("components", name)
    given = document.mapping(path, values)
    document.known(path, given, (*_COMPONENT, *_IGNORED), "a component")
    notes = [
        f"{key} is not used; SHAMan's manual shows it, its code does not read it"
        for key in _IGNORED
        if key in given
    ]
    command = _command(document, (*path, "command"), given.get("command"))
    notes += [
        f"the command is not run by a shell; {word} is an argument like any other"
        for word in command
        if word in _SHELL_WORDS or word.startswith("$")
    ]
    parameters = tuple(
        _parameter(document, (*path, "parameters", each), each, inner)
        for each, inner in document.mapping((*path, "parameters"), given.get("parameters")).items()
    )
    constraints = given.get("constraints")
    if not isinstance(constraints, list):
        constraints = [] if constraints is None else [constraints]
    rules = tuple(
        _expression(document, (*path, "constraints", at), rule)
        for at, rule in enumerate(constraints)
    )
    env = document.mapping((*path, "env"), given.get("env"))
    target = _target(document, path, given)
    said = isinstance(given.get("target"), dict) and "maximise" in given["target"]
    notes += [
        f"{one.name} is a number to the search, by which {one.axis.values[0]} is nearer to "
        f"{one.axis.values[1]} than to {one.axis.values[-1]}; where its values name things, "
        "type: categorical lets each stand by itself"
        for one in parameters
        if one.type == "int" and isinstance(one.axis, Grid) and _names_things(one.name, one.axis)
    ]
    try:
        return Component(
            name=name,
            parameters=parameters,
            command=command,
            header=_header(document, (*path, "header"), given.get("header")),
            env={each: document.text((*path, "env", each), value) for each, value in env.items()},
            plugin=_optional_text(document, (*path, "plugin"), given.get("plugin")),
            ld_preload=_optional_text(document, (*path, "ld_preload"), given.get("ld_preload")),
            constraints=rules,
            target=target,
            description=_optional_text(document, (*path, "description"), given.get("description")),
            source=document.source,
            folder=document.folder,
            notes=tuple(notes),
            doubt="" if said else direction_doubt(target),
        )
    except ParameterError as error:
        key = (*path, "parameters", error.key)
        where = key if key in document.lines else (*path, error.key)
        raise document.error(where if error.key else path, str(error)) from error


def _names_things(name: str, axis: Grid) -> bool:
    """Return whether a parameter's whole numbers look like names of algorithms."""
    count = len(axis.values)
    steps = {high - low for low, high in itertools.pairwise(axis.values)}
    return count > _LEAST_NAMED and steps == {1} and _NAMING.search(name) is not None


_LEAST_NAMED = 2  # values; the order of two does not matter
_NAMING = re.compile(r"algo|method|scheme|strategy|variant|mode$|kind|type", re.IGNORECASE)


def _parameter(document: YamlDocument, path: Keys, name: str, values: Any) -> ComponentParameter:
    given = document.mapping(path, values)
    document.known(path, given, (*_PARAMETER, *AXIS_KEYS), "a parameter")
    if "type" not in given:
        raise document.error(
            path, f"must have a type; add type: {'|'.join(PARAMETER_TYPES)}, one of them"
        )
    kind = given["type"]
    if kind not in PARAMETER_TYPES:
        raise document.error(
            (*path, "type"),
            f"must be one of {', '.join(PARAMETER_TYPES)}; got {kind!r}"
            f"{did_you_mean(kind, PARAMETER_TYPES)}",
        )

    def truth(key: str) -> bool:
        return document.truth((*path, key), False if given.get(key) is None else given[key])

    def text(key: str) -> str:
        return _optional_text(document, (*path, key), given.get(key))

    variable = given.get("env_var")
    if variable is None or isinstance(variable, bool):
        variable = name if variable else ""
    choices = given.get("choices", [])
    if not isinstance(choices, list):
        raise document.error((*path, "choices"), f"must be a list; got {choices!r}")
    flag = text("flag")
    if flag.endswith("=") and not flag.startswith("-"):
        raise document.error(
            (*path, "flag"),
            f"must state whether it has dashes; got {flag}: write --{flag} for the word "
            f"--{flag}VALUE, or leave the flag out for {name}=VALUE",
        )
    condition = given.get("condition")
    rule = None if condition is None else _expression(document, (*path, "condition"), condition)
    try:
        parameter = ComponentParameter(
            name=name,
            type=kind,
            default=given.get("default"),
            env_var=document.text((*path, "env_var"), variable),
            choices=tuple(choices),
            condition=rule,
            optional=truth("optional"),
            cmd_var=truth("cmd_var"),
            cli_var=truth("cli_var"),
            switch=truth("switch"),
            flag=flag,
            suffix=text("suffix"),
            description=text("description"),
        )
    except ParameterError as error:
        quoted = (given.get("default"), *choices) if error.key in ("default", "choices") else ()
        raise document.error((*path, error.key), f"{error}{_quotes(kind, quoted)}") from error
    axis = parse_axis(document, path, {key: given[key] for key in AXIS_KEYS if key in given})
    if axis is None:
        return parameter
    try:
        return parameter.with_axis(axis)
    except ParameterError as error:
        tried = axis if isinstance(axis, list) else ()
        raise document.error(path, f"{error}{_quotes(kind, tried)}") from error


def _quotes(kind: str, values: Iterable[Any]) -> str:
    """Return the advice to quote a text that YAML reads as a number or truth value, else ``""``."""
    wrong = kind == "str" and any(not isinstance(each, str | None) for each in values)
    return "; put it in quotes" if wrong else ""


def parse_axis(
    document: YamlDocument, path: Keys, given: Mapping[str, Any]
) -> AnyAxis | list[Any] | None:
    """Return the axis or list of values that these ``AXIS_KEYS`` state; None without keys."""
    if not given:
        return None
    kinds = [
        keys
        for keys in (("values",), ("min", "max", "step", "step_type"), ("low", "high", "log"))
        if any(key in given for key in keys)
    ]
    if len(kinds) > 1:
        raise document.error(
            path,
            "must give its values in one way: values, or min, max and step, or low and high; "
            f"got {', '.join(given)}",
        )
    (keys,) = kinds
    for key in keys:
        if key not in given and key not in ("step_type", "log"):
            raise document.error(path, f"must have {key} beside {', '.join(given)}; add it")
    try:
        if keys[0] == "min":
            kind = given.get("step_type", "additive")
            return Grid.steps(given["min"], given["max"], given["step"], kind)
        if keys[0] == "low":
            log = document.truth((*path, "log"), given.get("log", False))
            return Range(given["low"], given["high"], log)
    except ParameterError as error:
        raise document.error((*path, keys[0]), str(error)) from error
    values = given["values"]
    if not isinstance(values, list) or not values:
        raise document.error(
            (*path, "values"), f"must be a list of at least one value; got {values!r}"
        )
    return values


def _target(document: YamlDocument, path: Keys, given: Mapping[str, Any]) -> Target:
    if given.get("custom_target") is not None and given.get("target") is not None:
        raise document.error((*path, "target"), "and custom_target exclude one another; keep one")
    custom = given.get("custom_target")
    if custom is not None:
        if not isinstance(custom, str) or custom not in CUSTOM_TARGETS:
            raise document.error(
                (*path, "custom_target"),
                f"must be one of SHAMan's own: {', '.join(CUSTOM_TARGETS)}; got {custom!r}; "
                "others are never imported: write target: {regex: '...'} instead",
            )
        return CUSTOM_TARGETS[custom]
    target = given.get("target")
    if target in (None, "wall-time"):
        return WallTime()
    where = (*path, "target")
    if not isinstance(target, dict):
        raise document.error(
            where,
            f"must be wall-time, {{regex: 'time ([0-9.]+)'}} or {{osu: 1024}}; got {target!r}",
        )
    document.known(where, target, (*_REGEX, *_OSU), "a target")
    if ("regex" in target) == ("osu" in target):
        raise document.error(where, f"must have regex or osu, one of them; got {list(target)}")
    try:
        if "regex" in target:
            document.known(where, target, _REGEX, "a target with a regular expression")
            return OutputRegex(
                target["regex"],
                target.get("group", 1),
                minimise=not document.truth((*where, "maximise"), target.get("maximise", False)),
                unit=_optional_text(document, (*where, "unit"), target.get("unit")),
                stream=target.get("stream", "both"),
                name=_optional_text(document, (*where, "name"), target.get("name")),
            )
        document.known(where, target, _OSU, "a target with an OSU table")
        size = target["osu"]
        weights = target.get("weights")
        if isinstance(weights, dict):
            # Keys of a mapping are texts here; sizes in it are written in quotes.
            weights = {int(key) if key.isdigit() else key: each for key, each in weights.items()}
        return OSULatency(
            size=None if size in ("all", None) else size,
            weights=weights,
            statistic=_optional_text(document, (*where, "statistic"), target.get("statistic")),
        )
    except ParameterError as error:
        key = _IN_THE_FILE.get(error.key, error.key)
        raise document.error((*where, key), str(error)) from error


def _command(document: YamlDocument, path: Keys, value: Any) -> tuple[str, ...]:
    if value is None:
        return ()
    if isinstance(value, list):
        return tuple(document.text((*path, at), word) for at, word in enumerate(value))
    text = document.text(path, value).strip()
    if text.startswith("#"):
        return (text,)
    try:
        return tuple(shlex.split(text))
    except ValueError as error:
        raise document.error(path, f"must be words as a shell reads them: {error}") from error


def _header(document: YamlDocument, path: Keys, value: Any) -> str:
    if isinstance(value, list):
        return "\n".join(document.text((*path, at), line) for at, line in enumerate(value))
    return _optional_text(document, path, value)


def _optional_text(document: YamlDocument, path: Keys, value: Any) -> str:
    return "" if value is None else document.text(path, value)


def _expression(document: YamlDocument, path: Keys, value: Any) -> Expression:
    try:
        return Expression(value)
    except ParameterError as error:
        raise document.error(path, str(error)) from error
