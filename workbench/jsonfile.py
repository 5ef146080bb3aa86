"""JSON of ours: values as it can hold them, and files read with all that is wrong named."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Mapping, Set as AbstractSet
from pathlib import Path
from typing import Any

from workbench.errors import ParseError


def parse_json(text: str | bytes, what: str, *, source: str = "text") -> dict[str, Any]:
    """Return the values of a JSON object; errors name ``what``, such as ``a data sheet``."""
    try:
        values = json.loads(text if isinstance(text, str) else text.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise ParseError(f"{what} must be UTF-8 text", source=source) from error
    except json.JSONDecodeError as error:
        raise ParseError(
            f"{what} must be JSON: {error.msg}; the file may be cut short",
            source=source,
            line=error.lineno,
        ) from error
    # A number too long for Python or nesting too deep for its stack is not ours either.
    except (ValueError, RecursionError) as error:
        raise ParseError(f"{what} must be JSON: {error}", source=source) from error
    if not isinstance(values, dict):
        raise ParseError(
            f"{what} must be a JSON object, not {type(values).__name__}", source=source
        )
    return values


def read_json(path: Path, what: str, *, format: str = "", version: int = 0) -> dict[str, Any]:
    """Return the values of a JSON file of the workbench, with this format and version if given."""
    values = parse_json(path.read_bytes(), what, source=path.name)
    if format and values.get("format") != format:
        raise ParseError(
            f'{what} must have "format": "{format}"; this file does not',
            source=path.name,
        )
    if format and values.get("version") != version:
        raise ParseError(
            f"{what} has version {values.get('version')!r}; this release reads {version}",
            source=path.name,
        )
    return values


def plain(value: Any) -> Any:
    """Return a value as JSON can hold it: nan and inf become None, unknown types their text."""
    if hasattr(value, "tolist"):  # an array or a number of numpy's
        value = value.tolist()
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple | AbstractSet):
        return [plain(inner) for inner in value]
    if isinstance(value, type):
        return value.__name__
    if hasattr(value, "to_dict"):
        return plain(value.to_dict())
    if dataclasses.is_dataclass(value):
        return plain_fields(value)
    return str(value)


def plain_fields(value: Any) -> dict[str, Any]:
    """Return the fields of a dataclass as values that JSON can hold."""
    return {field.name: plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
