"""The programs that ship with the workbench: recorded traces, and calls of generators.

from workbench import programs

programs.list()
program = programs.load("cg-8")
"""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from workbench.catalogue import Catalogue
from workbench.datapackage import read_resource
from workbench.datasets import data_folder
from workbench.errors import DatasetError, WorkbenchError
from workbench.jsonfile import read_json
from workbench.provenance import Origin, Provenance

if TYPE_CHECKING:
    from workbench.programs.program import Program

FORMATS = ("workbench-trace", "generator")
"""What a descriptor's ``format`` may say: what was recorded, or how it is generated."""

_PATTERNS = ("traces/*/datapackage.json", "programs/*.json")


@dataclass(frozen=True)
class ShippedProgram:
    """The descriptor of a shipped program.

    Attributes:
        name: the name to load it by.
        title: a short title for captions.
        ranks: number of its ranks.
        format: one of ``FORMATS``.
        description: what it does and how it was obtained.
        provenance: origin, source and licence; for a recording also its place, tools and date.
        caveats: limits on the meaning of its times.
        path: of the descriptor.
        descriptor: all of its entries.
    """

    name: str
    title: str
    ranks: int
    format: str
    description: str
    provenance: Provenance
    caveats: tuple[str, ...]
    path: Path
    descriptor: Mapping[str, Any] = dataclasses.field(repr=False)


def load(name: str) -> Program:
    """Return a shipped program, read or generated, and checked against its checksum.

    Args:
        name: one of the names that ``list`` gives.

    Raises:
        DatasetError: there is no such program, or it is not the one whose checksum is recorded.
    """
    shipped = list()[name]
    if shipped.format == "generator":
        from workbench.programs.generate import from_descriptor

        return from_descriptor(shipped.descriptor)
    return _recorded(shipped)


def list() -> Catalogue[ShippedProgram]:
    """Return the shipped programs, recorded ones before generated ones, each by name.

    Raises:
        DatasetError: a descriptor is not as it must be.
    """
    folder = data_folder()
    paths = (path for pattern in _PATTERNS for path in sorted(folder.glob(pattern)))
    shipped = tuple(map(_described, paths))
    return Catalogue(
        "program",
        shipped,
        ("name", "ranks", "origin", "title"),
        [(p.name, str(p.ranks), p.provenance.origin, p.title) for p in shipped],
    )


def _described(path: Path) -> ShippedProgram:
    try:
        values = read_json(path, "the descriptor of a program")
        if values["format"] not in FORMATS:
            raise ValueError(f"format must be one of {', '.join(FORMATS)}")
        if values["format"] == "workbench-trace":
            licence, source = values["licenses"][0]["name"], values["sources"][0]["title"]
            details = {key: str(value) for key, value in values["measurement"].items()}
            str(values["resources"][0]["path"])
        else:
            licence, source, details = values["license"], values["generator"], {}
        return ShippedProgram(
            name=str(values["name"]),
            title=str(values["title"]),
            ranks=int(values["ranks"]),
            format=values["format"],
            description=str(values["description"]),
            provenance=Provenance(
                origin=cast(Origin, values["origin"]),
                title=str(values["title"]),
                source=str(source),
                licence=str(licence),
                details=details,
            ),
            caveats=tuple(map(str, values.get("caveats", ()))),
            path=path,
            descriptor=values,
        )
    except (OSError, ValueError, KeyError, IndexError, TypeError, AttributeError) as error:
        raise DatasetError(
            f"{path} must describe a program as the README beside it says; "
            f"{type(error).__name__}: {error}; restore the file"
        ) from error


def _recorded(shipped: ShippedProgram) -> Program:
    file = str(shipped.descriptor["resources"][0]["path"])
    path = shipped.path.parent / file
    data = read_resource(
        path.parent, shipped.descriptor, file, f"restore {path.parent} or reinstall the package"
    )
    try:
        program = _read(shipped.name, data)
    except WorkbenchError as error:
        raise DatasetError(f"{path} must be a trace that can be read; {error}") from error
    return copy.deepcopy(program)  # its arrays can be written to


@cache
def _read(name: str, data: bytes) -> Program:
    """Return the program of a zipped trace: reading halo-8 takes 90 ms, copying it 2."""
    from workbench.programs.traces import read_trace

    return dataclasses.replace(read_trace({f"{name}.zip": data}), source=name)
