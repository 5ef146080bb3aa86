"""JSON files of ours, read so that whatever is wrong with them is told with file and line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from workbench.errors import ParseError


def parse_json(text: str | bytes, what: str, *, source: str = "text") -> dict[str, Any]:
    """Return what a JSON object holds.

    Args:
        text: the JSON; bytes must be UTF-8.
        what: what it should be, for messages, such as ``a data sheet``.
        source: name of the file, for messages.

    Raises:
        ParseError: it is not UTF-8, not JSON, or not an object.
    """
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


def read_json(path: Path, what: str, *, form: str = "", version: int = 0) -> dict[str, Any]:
    """Return what a JSON file of ours holds.

    Args:
        path: the file.
        what: what it should be, for messages, such as ``a fit result``.
        form: what its ``format`` must say, where it has one.
        version: what its ``version`` must be, then.

    Raises:
        ParseError: it is not such a file, or of another version.
    """
    values = parse_json(path.read_bytes(), what, source=path.name)
    if form and values.get("format") != form:
        raise ParseError(
            f'{what} must say it is one, with "format": "{form}"; this file does not',
            source=path.name,
        )
    if form and values.get("version") != version:
        raise ParseError(
            f"{what} has version {values.get('version')!r}; this release reads {version}",
            source=path.name,
        )
    return values
