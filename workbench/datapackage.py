"""Data packages: CSV tables beside a ``datapackage.json`` with their columns and checksums.

The layout is https://specs.frictionlessdata.io/tabular-data-package/.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from workbench.replacing import replace_file

DESCRIPTOR = "datapackage.json"

Column = tuple[str, str, str]
"""Type, unit (empty for none) and meaning of a column."""


def checksum(data: bytes) -> str:
    """Return the checksum of a file as a descriptor records it."""
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def resource(file: str, data: bytes) -> dict[str, Any]:
    """Return a descriptor's entry of a file."""
    return {
        "name": Path(file).stem,
        "path": file,
        "bytes": len(data),
        "hash": checksum(data),
    }


def table_resource(
    name: str, data: bytes, columns: Mapping[str, Column], description: str
) -> dict[str, Any]:
    """Return a descriptor's entry of the CSV table ``<name>.csv``."""
    fields = [
        {"name": column, "type": kind, "description": meaning} | ({"unit": unit} if unit else {})
        for column, (kind, unit, meaning) in columns.items()
    ]
    return resource(f"{name}.csv", data) | {
        "profile": "tabular-data-resource",
        "format": "csv",
        "mediatype": "text/csv",
        "encoding": "utf-8",
        "description": description,
        "schema": {"fields": fields, "missingValues": [""]},
    }


def write_package(
    folder: str | Path,
    descriptor: Mapping[str, Any],
    files: Iterable[tuple[dict[str, Any], bytes]],
) -> Path:
    """Write files, each with its entry, then the descriptor; make the folder if there is none."""
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    resources = []
    for entry, data in files:
        replace_file(place / entry["path"], data)
        resources.append(entry)
    package = {"profile": "tabular-data-package", **descriptor, "resources": resources}
    text = json.dumps(package, indent=1, ensure_ascii=False, allow_nan=False)
    # Last, so that a package that was cut short does not agree with its checksums.
    replace_file(place / DESCRIPTOR, f"{text}\n".encode())
    return place
