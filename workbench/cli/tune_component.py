"""Check a component file, or list the components that ship.

A component is a program and its parameters, in YAML (SHAMan's files are read as they are):

  components:
    copy:
      command: [dd, if=/dev/zero, of=/dev/null, count=64M, iflag=count_bytes, "{parameters}"]
      target: {regex: '([0-9.e-]+) s,', unit: s, stream: stderr}
      parameters:
        bs: {type: categorical, default: 64K, cmd_var: true, values: [4K, 64K, 1M]}

A parameter is passed as a word of the command (cmd_var), an environment variable (env_var: NAME) or
an option of sbatch (cli_var). A word is name=VALUE; with flag: b it is -b VALUE, with flag: size it
is --size VALUE, with flag: --size= it is --size=VALUE, and with suffix: K the value ends in K. The
values to try are values: [...], or min, max and step (step_type: multiplicative for factors), or
low and high (log: true). Types: int, float, bool, str, categorical. More keys: optional, switch,
choices, condition: "mode == 'fast'" of a parameter; constraints, env, description of a component.
The default target is the wall time; a regex reads it from the program's output, and name: 'time of
the copy' in it is what tables and axes call the number.
"""

from __future__ import annotations

import argparse
import shutil
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.cli.output import FAILED, add_json, print_json, say
from workbench.errors import ParameterError
from workbench.suggestions import did_you_mean

if TYPE_CHECKING:
    from workbench.tune import Component

ABOUT = "check a component file, or list the components that ship"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    actions = parser.add_subparsers(
        title="actions", metavar="ACTION", required=True, dest="component_action"
    )
    about = "check and describe a component file; an error has status 1, file, line, key and rule"
    check = actions.add_parser("check", help=about, description=about)
    check.add_argument("file", metavar="FILE.yaml", help="a component file, SHAMan's or ours")
    add_json(check)
    about = "list the components that ship"
    add_json(actions.add_parser("list", help=about, description=about))


def run(arguments: argparse.Namespace) -> int:
    """Run the chosen action and return the exit status."""
    from workbench import tune

    if arguments.component_action == "list":
        found = tune.components()
        if arguments.json:
            print_json({one.name: _summary(one) for one in found.things})
        else:
            print(found)
        return 0
    components = tune.read_components(Path(arguments.file))
    summaries = {name: _summary(component) for name, component in components.items()}
    if arguments.json:
        print_json(summaries)
    else:
        for at, component in enumerate(components.values()):
            _print(component, summaries[component.name], first=at == 0)
    status = 0
    for name, component in components.items():
        for note in summaries[name]["notes"]:
            say(f"note: {name}: {note}")
        if component.doubt:
            say(f"note: {name}: {component.doubt}; write maximise: true or false in its target")
        if "problem" in summaries[name]:
            say(f"error: {component.source}: {name}: {summaries[name]['problem']}")
            status = FAILED
    return status


def add_what(parser: argparse.ArgumentParser, nargs: str | None = None) -> None:
    """Add the arguments that name a component."""
    parser.add_argument(
        "what", metavar="WHAT", nargs=nargs, help="a shipped component, or a component file"
    )
    parser.add_argument(
        "--component", metavar="NAME", help="name of the component, if the file holds several"
    )


def with_direction(component: Component, better: str | None) -> Component:
    """Return a component whose target is made small or large as asked, or as it says itself."""
    if better is None:
        if component.doubt:
            raise ParameterError(
                f"{component.name}: {component.doubt}; say which: --better more or --better less, "
                "or maximise: true or false in the file's target",
                key="better",
            )
        return component
    from workbench.tune import OutputRegex

    target = component.target
    if isinstance(target, OutputRegex):
        return replace(component, target=replace(target, minimise=better == "less"), doubt="")
    if better == "more":
        raise ParameterError(
            f"--better more is of a target with a regular expression; of {target.label} less is "
            "better",
            key="better",
        )
    return component


def chosen(arguments: argparse.Namespace) -> Component:
    """Return the component that WHAT and --component name."""
    from workbench.tune import components, read_components

    if not Path(arguments.what).is_file():
        component = components()[arguments.what]
        if arguments.component is not None:
            raise ParameterError(
                f"--component chooses from a file; {component.name} ships, and is one: leave it "
                "out",
                key="component",
            )
        return component
    found: Mapping[str, Component] = read_components(Path(arguments.what))
    name = arguments.component
    if name is None and len(found) == 1:
        return next(iter(found.values()))
    if name not in found:
        raise ParameterError(
            f"--component must be one of {', '.join(found)}; got {name}{did_you_mean(name, found)}",
            key="component",
        )
    return found[name]


def needs_application(component: Component) -> bool:
    """Return whether a component only sets up another program, which each run must name."""
    # The command of some is a line for the head of a batch script.
    return not component.command or component.command[0].startswith("#")


def _summary(component: Component) -> dict[str, Any]:
    """Return a component as plain values."""
    summary: dict[str, Any] = {
        "description": component.description,
        "target": component.target.to_dict(),
        "needs_application": needs_application(component),
        "parameters": [
            {
                "name": one.name,
                "type": one.type,
                "default": one.default,
                "optional": one.optional,
                "reaches": one.reaches(),
                "values": None if one.axis is None else one.axis.to_dict(),
                "condition": None if one.condition is None else one.condition.text,
                "description": one.description,
            }
            for one in component.parameters
        ],
        "constraints": [rule.text for rule in component.constraints],
        "configurations": None,
        "sample": None,
        "notes": list(component.notes),
    }
    missing = [
        one.name
        for one in component.parameters
        if one.default is None and not one.optional and one.axis is None
    ]
    try:
        values: dict[str, Any] = {}
        if any(one.axis is not None for one in component.parameters):
            space = component.space()
            summary["configurations"] = space.size
            values = dict(space.sample(0))
        # A file of SHAMan's may leave a value to the experiment; then there is no sample yet.
        if missing:
            summary["missing"] = missing
        else:
            invocation = component.invocation(values)
            summary["sample"] = invocation.text()
            if not needs_application(component) and shutil.which(invocation.argv[0]) is None:
                # It may be on the nodes where the runs will be.
                summary["notes"].append(
                    f"{invocation.argv[0]!r} is not in PATH here, or cannot be executed: where "
                    "the runs are, it must be"
                )
            _check_defaults(component)
    except ParameterError as error:
        summary["problem"] = str(error)
    return summary


def _check_defaults(component: Component) -> None:
    """Refuse a default that is none of the values to try."""
    for one in component.parameters:
        if one.axis is None or one.default is None or one.optional:
            continue
        if not one.axis.contains(one.default):
            raise ParameterError(
                f"the default of {one.name} must be one of its values to try, {one.axis}; got "
                f"{one.default!r}: add it to them, or name another default",
                key="default",
            )


def _print(component: Component, summary: dict[str, Any], *, first: bool) -> None:
    if not first:
        print()
    print(component.name + (f": {component.description}" if component.description else ""))
    better = "less" if component.target.minimise else "more"
    unit = f" in {component.target.unit}" if component.target.unit else ""
    print(f"  target: {component.target.label}{unit}, {better} is better")
    rows = [("parameter", "type", "default", "reaches the program as", "values to try", "count")]
    for one in component.parameters:
        default = "none" if one.default is None else repr(one.default)
        if one.optional:
            default = "not passed"
        values = "not tuned" if one.axis is None else str(one.axis)
        size = None if one.axis is None else one.axis.size
        count = "1" if one.axis is None else "continuous" if size is None else str(size)
        if one.condition is not None:
            values += f" (where {one.condition.text})"
        rows.append((one.name, one.type, default, one.reaches(), values, count))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        print("  " + "  ".join(cells).rstrip())
    for rule in component.constraints:
        print(f"  constraint: {rule.text}")
    if summary["configurations"] is not None:
        print(f"  configurations: {summary['configurations']}")
    if summary["sample"] is not None:
        program = (
            ", of the program that --application names" if summary["needs_application"] else ""
        )
        print(f"  one of its runs{program}:")
        for line in summary["sample"].splitlines():
            print(f"    {line}")
    elif "missing" in summary:
        print(f"  an experiment must give a value of {', '.join(summary['missing'])}")
