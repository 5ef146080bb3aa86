"""Recorded spaces in files: one CSV a component, one row a run, and a descriptor."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from workbench.catalogue import Catalogue
from workbench.datapackage import (
    DESCRIPTOR,
    Column,
    checksum,
    read_descriptor,
    read_text,
    table_resource,
    write_package,
)
from workbench.datasets import data_folder
from workbench.errors import DatasetError, ParameterError, ParseError
from workbench.provenance import ORIGINS, Provenance
from workbench.suggestions import did_you_mean
from workbench.tune.recorded.recorded_space import RecordedSpace, Recording
from workbench.tune.recorded.run_table import RecordedTable
from workbench.tune.space.constraints import TunedValue
from workbench.tune.space.space import TuningSpace

_LICENCE = "MIT"
_FOLDER = "tuning"
_REPAIR = "restore the folder, or wait until the recording that writes it has finished"


@dataclass(frozen=True)
class Description:
    """A descriptor's fields other than the spaces."""

    name: str  # of the dataset and its folder
    title: str  # a few words for captions
    origin: str  # ``measured`` or ``synthetic``
    created_by: str  # the command that made it
    context: Mapping[str, Any] = field(default_factory=dict)  # held constant: ranks, machine, MPI
    caveats: tuple[str, ...] = ()


def recordings() -> Catalogue[Recording]:
    """Return the recorded spaces that ship with the workbench, by name.

    Raises:
        DatasetError: a file of them is missing, damaged or not the one that its descriptor records.
    """
    found = []
    for path in sorted((data_folder() / _FOLDER).glob(f"*/{DESCRIPTOR}")):
        try:
            if "spaces" in read_descriptor(path.parent, "a descriptor"):
                found.append(read_recording(path.parent))
        except ParseError as error:
            raise DatasetError(
                f"{path.parent} must hold recorded spaces; {error}; restore it"
            ) from error
    return Catalogue(
        "recording",
        found,
        ("name", "spaces", "configurations", "origin", "what it is"),
        [
            (
                one.name,
                str(len(one)),
                str(sum(map(len, one.values()))),
                one.provenance.origin,
                one.provenance.title,
            )
            for one in found
        ],
    )


def shipped_names() -> tuple[str, ...]:
    """Return the names of the shipped recordings, damaged ones included."""
    found = []
    for path in sorted((data_folder() / _FOLDER).glob(f"*/{DESCRIPTOR}")):
        try:
            # The study of searches is beside them, and has no spaces.
            is_recording = "spaces" in read_descriptor(path.parent, "a descriptor")
        except (ParseError, DatasetError):
            is_recording = True
        if is_recording:
            found.append(path.parent.name)
    return tuple(found)


def shipped_recording(name: str) -> Recording:
    """Return one of the recordings that ship.

    Args:
        name: a name that ``recordings`` gives.

    Raises:
        DatasetError: there is none, or it is damaged.
    """
    known = shipped_names()
    if name not in known:
        raise DatasetError(
            f"no recording is named {name!r}{did_you_mean(name, known)}; "
            f"known: {', '.join(known) or 'none'}"
        )
    folder = data_folder() / _FOLDER / name
    try:
        return read_recording(folder)
    except ParseError as error:
        raise DatasetError(f"{folder} must hold recorded spaces; {error}; restore it") from error


def read_recording(folder: str | Path) -> Recording:
    """Return the recorded spaces in a folder, its files checked against their checksums.

    Args:
        folder: what ``write_recording`` wrote.

    Raises:
        DatasetError: a file is missing, or not the one that the descriptor records.
        ParseError: a file is not as it must be.
    """
    place = Path(folder)
    description, tables = read_tables(place)
    provenance = Provenance(
        _origin(description.origin),
        description.title,
        description.name,
        _LICENCE,
        {key: str(value) for key, value in description.context.items()},
    )
    spaces = [
        replace(space, recording=description.name, checksum=digest)
        for table in tables
        for digest in [checksum((place / f"{table.component}.csv").read_bytes())]
        for space in _spaces(table, description.context, provenance)
    ]
    return Recording(description.name, spaces, provenance, description.caveats)


def read_tables(folder: Path, *, check: bool = True) -> tuple[Description, list[RecordedTable]]:
    """Return a folder's descriptor and runs; ``check`` compares the checksums of the files."""
    values = read_descriptor(folder, "a descriptor of recorded spaces")
    try:
        description = Description(
            str(values["name"]),
            str(values["title"]),
            str(values["origin"]),
            str(values["created_by"]),
            dict(values["context"]),
            tuple(map(str, values["caveats"])),
        )
        tables = []
        for component, entry in values["spaces"].items():
            file = f"{component}.csv"
            space = TuningSpace.from_dict(entry["space"])
            if space.size is None:
                raise ValueError(f"the space of {component} must be finite; it cannot be counted")
            table = RecordedTable(
                component, space, tuple(map(str, entry["statistics"])), str(entry["value"])
            )
            text = (
                read_text(folder, values, file, _REPAIR)
                if check
                else (folder / file).read_text("utf-8")
            )
            runs = table.parse(text, str(folder / file))
            tables.append(RecordedTable(component, space, table.statistics, table.value, runs))
    except ParseError:
        raise
    except (KeyError, TypeError, AttributeError, ValueError, ParameterError) as error:
        raise ParseError(
            f"a descriptor must be as write_recording writes it; {type(error).__name__}: {error}",
            source=str(folder / DESCRIPTOR),
        ) from error
    return description, tables


def write_recording(
    folder: str | Path, description: Description, tables: Iterable[RecordedTable]
) -> None:
    """Write the CSV files, then the descriptor with their checksums, each file atomically."""
    files, spaces = [], {}
    for table in tables:
        data = (table.head() + "".join(map(table.line, table.runs))).encode()
        about = "one row a run and size"
        files.append((table_resource(table.component, data, _columns(table), about), data))
        spaces[table.component] = {
            "space": table.space.to_dict(),
            "statistics": list(table.statistics),
            "value": table.value,
        }
    package = {
        "name": description.name,
        "title": description.title,
        "origin": description.origin,
        "created_by": description.created_by,
        "licenses": [{"name": _LICENCE}],
        "context": dict(description.context),
        "caveats": list(description.caveats),
        "spaces": spaces,
    }
    write_package(folder, package, files)


def _spaces(
    table: RecordedTable, context: Mapping[str, Any], provenance: Provenance
) -> list[RecordedSpace]:
    found = []
    everything = [table.space.canonical(each) for each in table.space.all()]
    for size in sorted({run.size for run in table.runs}):
        rows: dict[tuple[TunedValue | None, ...], list[tuple[float, float, float]]] = {}
        for run in table.runs:
            value = run.latencies_us.get(table.value, math.nan)
            if run.size == size and run.state == "completed" and math.isfinite(value):
                key = tuple(run.configuration.values())  # canonical, as the table was read
                rows.setdefault(key, []).append((value, run.seconds, run.load))
        good = [each for each in everything if tuple(each.values()) in rows]
        if not good:
            continue
        columns = [np.array(rows[tuple(each.values())], np.float64).T for each in good]
        found.append(
            RecordedSpace(
                f"{table.component}/{size}" if size else table.component,
                table.space,
                tuple(good),
                tuple(column[0] for column in columns),
                tuple(column[1] for column in columns),
                tuple(column[2] for column in columns),
                table.value.partition("_")[2],
                {**context, "component": table.component} | ({"bytes": size} if size else {}),
                provenance,
                tuple(each for each in everything if tuple(each.values()) not in rows),
            )
        )
    return found


def _columns(table: RecordedTable) -> dict[str, Column]:
    known: dict[str, Column] = {
        "round": ("integer", "", "number of the pass over all configurations"),
        "started": ("string", "", "when the program that held the run began"),
        "load": ("number", "", "load average of the last minute as the run began"),
        "state": ("string", "", "completed, or what else the run came to"),
        "bytes": ("integer", "B", "message size; 0 for what has none"),
        "seconds": ("number", "s", "time of a run of this size alone, its start among it"),
        "avg_us": ("number", "us", "mean over calls and ranks"),
        "min_us": ("number", "us", "least over calls of the longest time over ranks"),
        "p50_us": ("number", "us", "median over calls of the longest time over ranks"),
        "p99_us": ("number", "us", "99th percentile over calls of the longest time over ranks"),
        "max_us": ("number", "us", "greatest over calls of the longest time over ranks"),
        "time_us": ("number", "us", "time until the last rank is done"),
    }
    known[table.value] = known.get(
        table.value, ("number", table.value.partition("_")[2], "what the run gave")
    )
    parameter: Column = ("string", "", "parameter; empty where none applies")
    return {name: known.get(name, parameter) for name in table.columns}


def _origin(word: str) -> Any:
    if word not in ORIGINS:
        raise ParseError(
            f"origin must be one of {', '.join(ORIGINS)}; got {word!r}{did_you_mean(word, ORIGINS)}"
        )
    return word
