"""Data packages: CSV tables beside a ``datapackage.json`` with their columns and checksums.

A result whose tables are published, for spreadsheets and other programs to read, is saved as a data
package: its descriptor states each column's type and unit, sources, licence and checksums. What
only the workbench reads again is a `workbench.result.StoredResult`: every field, to the last bit.

The layout is https://specs.frictionlessdata.io/tabular-data-package/.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Self

from workbench.atomic_write import replace_file
from workbench.errors import DatasetError, ParseError
from workbench.jsonfile import read_json
from workbench.result import Result

DESCRIPTOR = "datapackage.json"

Column = tuple[str, str, str]
"""Type, unit (empty for none) and meaning of a column."""


PackageFiles = list[tuple[dict[str, Any], bytes]]
"""Files of a package, each with its entry in the descriptor."""


class PackagedResult(Result):
    """Base of the results that are saved as a data package."""

    def save(self, folder: str | Path) -> Path:
        """Write the result as a data package: its tables and their descriptor.

        Args:
            folder: made where there is none; files of an earlier result are replaced.
        """
        return write_package(folder, *self._package())

    @classmethod
    def load(cls, folder: str | Path) -> Self:
        """Return the result that ``save`` wrote, checked against its checksums.

        Args:
            folder: what ``save`` was given.

        Raises:
            DatasetError: a file is missing, or not the one whose checksum is recorded.
            ParseError: a file is not as ``save`` writes it.
        """
        what, place = f"a saved {cls.__name__}", Path(folder)
        descriptor = read_descriptor(place, what)
        try:
            return cls._from_package(place, descriptor)
        except ParseError:
            raise
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            reason = f"{error} is missing" if isinstance(error, KeyError) else str(error)
            raise ParseError(
                f"{what} must be complete, as it was saved: {reason}", source=DESCRIPTOR
            ) from error

    def _package(self) -> tuple[Mapping[str, Any], PackageFiles]:
        """Return the descriptor without its resources, and the files."""
        raise NotImplementedError

    @classmethod
    def _from_package(cls, folder: Path, descriptor: Mapping[str, Any]) -> Self:
        """Return the result of a package."""
        raise NotImplementedError


def checksum(data: bytes) -> str:
    """Return the checksum of a file as a descriptor records it."""
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def read_descriptor(folder: Path, what: str) -> dict[str, Any]:
    """Return the descriptor of a package; DatasetError if unreadable, ParseError if not JSON."""
    path = folder / DESCRIPTOR
    try:
        return read_json(path, what)
    except OSError as error:
        raise DatasetError(f"{path} must be readable; {error.strerror or error}") from error


def read_resource(
    folder: Path, descriptor: Mapping[str, Any], file: str, repair: str = "restore the folder"
) -> bytes:
    """Return a file of a package; DatasetError if it is missing or not the one recorded."""
    try:
        entry = next(entry for entry in descriptor["resources"] if entry["path"] == file)
        wanted, size = str(entry["hash"]), str(entry.get("bytes", "?"))
    except StopIteration:
        raise ParseError(f"must record {file}", source=str(folder / DESCRIPTOR)) from None
    except (KeyError, TypeError, AttributeError) as error:
        raise ParseError(
            f"must record each file with its path and hash; {error!r}",
            source=str(folder / DESCRIPTOR),
        ) from error
    path = folder / file
    if path.name != file:
        raise ParseError(f"must name files of its folder; got {file}", source=str(path))
    try:
        data = path.read_bytes()
    except OSError as error:
        raise DatasetError(
            f"{path} must be readable; {error.strerror or error}; {repair}"
        ) from error
    found = checksum(data)
    if found != wanted:
        raise DatasetError(
            f"{path} must have the checksum {wanted} and {size} bytes that {DESCRIPTOR} records; "
            f"got {found} and {len(data)} bytes; {repair}"
        )
    return data


def read_text(
    folder: Path, descriptor: Mapping[str, Any], file: str, repair: str = "restore the folder"
) -> str:
    """Return a file as `read_resource` does, decoded; ParseError if it is not UTF-8."""
    try:
        return read_resource(folder, descriptor, file, repair).decode("utf-8")
    except UnicodeDecodeError as error:
        raise ParseError("must be UTF-8 text", source=str(folder / file)) from error


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
    package = {
        "profile": "tabular-data-package",
        "name": place.resolve().name,
        **descriptor,
        "resources": resources,
    }
    text = json.dumps(package, indent=1, ensure_ascii=False, allow_nan=False)
    # Last, so that a package that was cut short does not agree with its checksums.
    replace_file(place / DESCRIPTOR, f"{text}\n".encode())
    return place
