"""Recorded spaces in files: one CSV a component, one row a run, and a descriptor."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from workbench.catalogue import Catalogue
from workbench.datasets import data_folder
from workbench.errors import DatasetError, ParameterError, ParseError
from workbench.jsonfile import read_json
from workbench.provenance import ORIGINS, Provenance
from workbench.replacing import replace_file
from workbench.suggestions import did_you_mean
from workbench.tune.recorded.recorded import RecordedSpace, Recording
from workbench.tune.recorded.table import RecordedTable
from workbench.tune.space.space import TuningSpace, Value

DESCRIPTOR = "datapackage.json"

_LICENCE = "MIT"
_FOLDER = "tuning"


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
            if "spaces" in read_json(path, "a descriptor"):
                found.append(read_recording(path.parent))
        except (ParseError, OSError) as error:
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
            is_recording = "spaces" in read_json(path, "a descriptor")
        except (ParseError, OSError):
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
    except (ParseError, OSError) as error:
        raise DatasetError(f"{folder} must hold recorded spaces; {error}; restore it") from error


def read_recording(folder: str | Path) -> Recording:
    """Return the recorded spaces in a folder, its files checked against their checksums.

    Args:
        folder: what ``write_recording`` wrote.

    Raises:
        ParseError: a file is not as it must be, or not the one that the descriptor records.
        OSError: a file cannot be read.
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
        replace(space, recording=description.name, checksum=checksum)
        for table in tables
        for checksum in [_digest((place / f"{table.component}.csv").read_bytes())]
        for space in _spaces(table, description.context, provenance)
    ]
    return Recording(description.name, spaces, provenance, description.caveats)


def read_tables(folder: Path, *, check: bool = True) -> tuple[Description, list[RecordedTable]]:
    """Return a folder's descriptor and runs; ``check`` compares the checksums of the files."""
    path = folder / DESCRIPTOR
    values = read_json(path, "a descriptor of recorded spaces")
    try:
        description = Description(
            str(values["name"]),
            str(values["title"]),
            str(values["origin"]),
            str(values["created_by"]),
            dict(values["context"]),
            tuple(map(str, values["caveats"])),
        )
        digests = {str(each["path"]): str(each["hash"]) for each in values["resources"]}
        tables = []
        for component, entry in values["spaces"].items():
            file = f"{component}.csv"
            if Path(file).name != file:
                raise ValueError(f"a component must be a plain name; got {component!r}")
            space = TuningSpace.from_dict(entry["space"])
            if space.size is None:
                raise ValueError(f"the space of {component} must be finite; it cannot be counted")
            table = RecordedTable(
                component, space, tuple(map(str, entry["statistics"])), str(entry["value"])
            )
            data = (folder / file).read_bytes()
            if check and digests.get(file) != _digest(data):
                raise ParseError(
                    "a file of a recording must have the checksum that its descriptor records; "
                    "restore both, or wait until the recording that writes it has finished",
                    source=str(folder / file),
                )
            runs = table.parse(data.decode("utf-8"), str(folder / file))
            tables.append(RecordedTable(component, space, table.statistics, table.value, runs))
    except ParseError:
        raise
    except (KeyError, TypeError, AttributeError, ValueError, ParameterError) as error:
        raise ParseError(
            f"a descriptor must be as write_recording writes it; {type(error).__name__}: {error}",
            source=str(path),
        ) from error
    return description, tables


def write_recording(
    folder: str | Path, description: Description, tables: Iterable[RecordedTable]
) -> None:
    """Write the CSV files, then the descriptor with their checksums, each file atomically."""
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    resources, spaces = [], {}
    for table in tables:
        data = (table.head() + "".join(map(table.line, table.runs))).encode()
        replace_file(place / f"{table.component}.csv", data)
        resources.append(_resource(table, data))
        spaces[table.component] = {
            "space": table.space.to_dict(),
            "statistics": list(table.statistics),
            "value": table.value,
        }
    package = {
        "profile": "tabular-data-package",
        "name": description.name,
        "title": description.title,
        "origin": description.origin,
        "created_by": description.created_by,
        "licenses": [{"name": _LICENCE}],
        "context": dict(description.context),
        "caveats": list(description.caveats),
        "spaces": spaces,
        "resources": resources,
    }
    text = json.dumps(package, indent=1, allow_nan=False) + "\n"
    replace_file(place / DESCRIPTOR, text.encode())


def _spaces(
    table: RecordedTable, context: Mapping[str, Any], provenance: Provenance
) -> list[RecordedSpace]:
    found = []
    for size in sorted({run.size for run in table.runs}):
        rows: dict[tuple[Value | None, ...], list[tuple[float, float, float]]] = {}
        for run in table.runs:
            value = run.latencies_us.get(table.value, math.nan)
            if run.size == size and run.state == "completed" and math.isfinite(value):
                key = table.space.key(run.configuration)
                rows.setdefault(key, []).append((value, run.seconds, run.load))
        everything = [table.space.canonical(each) for each in table.space.all()]
        good = [each for each in everything if tuple(each.values()) in rows]
        if not good:
            continue
        columns = [np.array(rows[tuple(each.values())], np.float64).T for each in good]
        found.append(
            RecordedSpace(
                f"{table.component}/{size}",
                table.space,
                tuple(good),
                tuple(column[0] for column in columns),
                tuple(column[1] for column in columns),
                tuple(column[2] for column in columns),
                table.value.rpartition("_")[2],
                {**context, "component": table.component, "bytes": size},
                provenance,
                tuple(each for each in everything if tuple(each.values()) not in rows),
            )
        )
    return found


def _resource(table: RecordedTable, data: bytes) -> dict[str, Any]:
    words = {
        "round": ("integer", "number of the pass over all configurations", ""),
        "started": ("string", "when the program that held the run began", ""),
        "load": ("number", "load average of the last minute as the run began", ""),
        "state": ("string", "completed, or what else the run came to", ""),
        "bytes": ("integer", "message size", "B"),
        "seconds": ("number", "time of a run of this size alone, its start among it", "s"),
        "avg_us": ("number", "mean over calls and ranks", "us"),
        "min_us": ("number", "least over calls of the longest time over ranks", "us"),
        "p50_us": ("number", "median over calls of the longest time over ranks", "us"),
        "p99_us": ("number", "99th percentile over calls of the longest time over ranks", "us"),
        "max_us": ("number", "greatest over calls of the longest time over ranks", "us"),
        "time_us": ("number", "time until the last rank is done", "us"),
    }
    fields = []
    for name in table.columns:
        kind, about, unit = words.get(name, ("string", "parameter; empty where none applies", ""))
        fields.append({"name": name, "type": kind, "description": about})
        if unit:
            fields[-1]["unit"] = unit
    return {
        "name": table.component,
        "path": f"{table.component}.csv",
        "profile": "tabular-data-resource",
        "format": "csv",
        "mediatype": "text/csv",
        "encoding": "utf-8",
        "bytes": len(data),
        "hash": _digest(data),
        "description": "one row a run and size",
        "schema": {"fields": fields, "missingValues": [""]},
    }


def _digest(data: bytes) -> str:
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def _origin(word: str) -> Any:
    if word not in ORIGINS:
        raise ParseError(
            f"origin must be one of {', '.join(ORIGINS)}; got {word!r}{did_you_mean(word, ORIGINS)}"
        )
    return word
