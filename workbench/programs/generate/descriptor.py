"""Descriptors of shipped synthetic programs: the generator, its arguments and a checksum."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from workbench.errors import DatasetError, ParameterError, WorkbenchError
from workbench.programs.generate.cg import cg
from workbench.programs.generate.halo import halo
from workbench.programs.generate.pipelines import master_worker, ring_pipeline
from workbench.programs.generate.random_programs import random_program
from workbench.programs.generate.sweep import sweep
from workbench.programs.generate.training import training
from workbench.programs.program import Program
from workbench.suggestions import did_you_mean

GENERATORS: dict[str, Callable[..., Program]] = {
    "cg": cg,
    "halo": halo,
    "master_worker": master_worker,
    "random_program": random_program,
    "ring_pipeline": ring_pipeline,
    "sweep": sweep,
    "training": training,
}
"""The generators by name."""


def from_descriptor(descriptor: Mapping[str, Any]) -> Program:
    """Return the program of a descriptor, checked against its checksum.

    Args:
        descriptor: ``name``; ``generator``, a name in ``GENERATORS``; ``arguments``, its keyword
            arguments; ``sha256``, the program's fingerprint.

    Raises:
        DatasetError: something is missing, the generator is not known or refuses its arguments,
            or the program is another one.
    """
    try:
        name, wanted = str(descriptor["name"]), descriptor["sha256"]
        generator, arguments = descriptor["generator"], dict(descriptor["arguments"])
    except (KeyError, TypeError, ValueError) as error:
        raise DatasetError(
            "a synthetic program's descriptor must have name, generator, arguments and sha256; "
            f"got {error!r}"
        ) from error
    if generator not in GENERATORS:
        raise DatasetError(
            f"{name}: generator must be one of {', '.join(GENERATORS)}; got {generator!r}"
            f"{did_you_mean(generator, GENERATORS)}"
        )
    try:
        program = GENERATORS[generator](**arguments)
    except (WorkbenchError, TypeError) as error:
        raise DatasetError(f"{name}: {generator} refuses its arguments: {error}") from error
    got = program.fingerprint()
    if got != wanted:
        raise DatasetError(
            f"{name} must be the program whose checksum is recorded, {wanted}; {generator} made "
            f"one with {got}"
        )
    return replace(program, source=name)


def describe(
    name: str, title: str, generator: str, arguments: Mapping[str, Any], description: str = ""
) -> dict[str, Any]:
    """Return the descriptor of a synthetic program, with its checksum.

    Args:
        name: the name to load it by.
        title: a few words for captions.
        generator: a name in ``GENERATORS``.
        arguments: its keyword arguments, with a seed where they ask for one.
        description: what the program does, and what it is good for.

    Raises:
        ParameterError: the generator is not known or refuses the arguments.
    """
    if generator not in GENERATORS:
        raise ParameterError(
            f"generator must be one of {', '.join(GENERATORS)}; got {generator!r}"
            f"{did_you_mean(generator, GENERATORS)}",
            key="generator",
        )
    program = GENERATORS[generator](**arguments)
    return {
        "name": name,
        "title": title,
        "description": description,
        "origin": "synthetic",
        "format": "generator",
        "generator": generator,
        "arguments": dict(arguments),
        "ranks": program.num_ranks,
        "calls": program.num_calls,
        "sha256": program.fingerprint(),
        "license": "BSD-3-Clause",
    }
