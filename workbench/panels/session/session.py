"""A session: what a panel's controls hold, and the user's own files among it, as one JSON text.

Nothing in it is executed: it holds names, numbers and the contents of data files, which the panel
reads as it reads an upload.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import math
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from workbench.atomic_write import replace_file
from workbench.errors import ParameterError, ParseError
from workbench.jsonfile import parse_json

FORMAT: Final = "workbench-session"
VERSION: Final = 1  # raised when an older workbench could not read a file
MOST_FILES_B: Final = 16 << 20
"""Largest sum of the user's own files in a session, bytes."""
LONGEST_LINK: Final = 2000
"""Letters that every browser, server and mail program accepts in a link."""
_LARGEST_B: Final = 2 * MOST_FILES_B + (4 << 20)  # of the file: base64 and escaped letters
_MOST_UNPACKED_B: Final = 256 << 10  # of a link's JSON
_WHAT: Final = "a session"

Files = Mapping[str, bytes]
"""The contents of the files of one upload, by file name."""

OwnFiles = Mapping[str, Mapping[str, Files]]
"""Uploads by what they are for, such as ``machine``, and by their name in the panel."""


@dataclass(frozen=True)
class Session:
    """The state of a panel.

    Attributes:
        panel: name of the panel's class, such as ``FitPanel``.
        settings: values that JSON can hold, by name, in the order in which they are set.
        files: the user's own files among them.
        notes: what belongs to the state and is not held, a sentence each.
        workbench: version of the workbench that made it.
    """

    panel: str
    settings: Mapping[str, Any]
    files: OwnFiles = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    workbench: str = ""

    def to_json(self) -> str:
        """Return the session as JSON.

        Raises:
            ParameterError: the user's own files are too large.
        """
        total = sum(len(data) for data in _contents(self.files))
        if total > MOST_FILES_B:
            raise ParameterError(
                f"a session holds at most {MOST_FILES_B >> 20} MiB of your own files; these have "
                f"{total / 2**20:.0f} MiB: pass them on beside it, and upload them before it is "
                "opened",
                key="session",
            )
        return json.dumps(self._values(), ensure_ascii=False, indent=1) + "\n"

    def save(self, path: str | Path) -> Path:
        """Write the session as a JSON file, whole or not at all.

        Args:
            path: file to write.

        Raises:
            ParameterError: the user's own files are too large.
        """
        target = Path(path)
        replace_file(target, self.to_json().encode())
        return target

    def to_query(self) -> str:
        """Return the query of a link that opens the session in Voilà: ``session=…``.

        Raises:
            ParameterError: it would be too long for a link.
        """
        values = self._values()
        packed = zlib.compress(json.dumps(values, separators=(",", ":")).encode(), 9)
        query = f"session={base64.urlsafe_b64encode(packed).decode().rstrip('=')}"
        if len(query) > LONGEST_LINK:
            why = "; it holds your own files" if any(_contents(self.files)) else ""
            raise ParameterError(
                f"a link must have at most {LONGEST_LINK:,} characters; this state needs "
                f"{len(query):,}{why}: use Save session, and pass the file on",
                key="session",
            )
        return query

    def _values(self) -> dict[str, Any]:
        files = {
            use: {name: [_file_values(*one) for one in files.items()] for name, files in of.items()}
            for use, of in self.files.items()
            if of
        }
        return {
            "format": FORMAT,
            "version": VERSION,
            "workbench": self.workbench,
            "panel": self.panel,
            "settings": dict(self.settings),
            **({"files": files} if files else {}),
            **({"notes": list(self.notes)} if self.notes else {}),
        }


def read_session(source: str | Path | bytes) -> Session:
    """Return the session in a file, or in its bytes.

    Args:
        source: path of the file, or what it holds.

    Raises:
        ParameterError: the file cannot be read.
        ParseError: it is no session, of a newer version, damaged or too large; the text says what.
    """
    if isinstance(source, bytes):
        return _session_of(source, _WHAT)
    path = Path(source)
    try:
        with path.open("rb") as file:
            data = file.read(_LARGEST_B + 1)
    except OSError as error:
        raise ParameterError(f"a session must be a readable file; {error}", key="path") from error
    return _session_of(data, path.name)


def session_of_query(text: str) -> Session:
    """Return the session in a link's query parameter ``session``; ParseError if damaged."""
    source = "the link"
    try:
        packed = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
        unpacker = zlib.decompressobj()
        data = unpacker.decompress(packed, _MOST_UNPACKED_B)
    except (ValueError, binascii.Error, zlib.error) as error:
        raise ParseError(
            "its session is damaged; copy the whole link again, or ask for the file", source=source
        ) from error
    if not unpacker.eof:
        about = "holds too much" if unpacker.unconsumed_tail else "is cut short"
        raise ParseError(f"its session {about}; ask for the file instead", source=source)
    return _session_of(data, source)


def _session_of(data: bytes, source: str) -> Session:
    if len(data) > _LARGEST_B:
        raise ParseError(f"{_WHAT} has at most {_LARGEST_B >> 20} MiB", source=source)
    values = parse_json(data, _WHAT, source=source)
    reader = _Reader(values, source)
    if values.get("format") != FORMAT:
        raise reader.error(f'must have "format": "{FORMAT}"; this file does not')
    version = values.get("version")
    if type(version) is not int or version < 1:
        raise reader.error(f"must have a version, a whole number; got {version!r}")
    if version > VERSION:
        maker = str(values.get("workbench", ""))[:40]
        made = f", made by workbench {maker}" if maker else ""
        raise reader.error(
            f"must be of version {VERSION} or older; it is of {version}{made}: update the workbench"
        )
    return Session(
        panel=reader.take("panel", str),
        settings=reader.settings(),
        files=reader.files(),
        notes=reader.notes(),
        workbench=str(values.get("workbench", ""))[:40],
    )


class _Reader:
    """The parts of a session's JSON, with their types checked."""

    def __init__(self, values: Mapping[str, Any], source: str) -> None:
        self._values, self._source = values, source

    def error(self, text: str) -> ParseError:
        return ParseError(f"{_WHAT} {text}", source=self._source)

    def take(self, name: str, kind: Any) -> Any:
        value = self._values.get(name)
        if not isinstance(value, kind):
            raise self.error(f"must have {name!r}, {_WORDS[kind]}; got {_short(value)}")
        return value

    def settings(self) -> dict[str, Any]:
        settings = self.take("settings", dict)
        if any(not math.isfinite(number) for number in _floats(settings)):
            raise self.error("must hold finite numbers")
        return dict(settings)

    def notes(self) -> tuple[str, ...]:
        notes = self._values.get("notes", [])
        if not isinstance(notes, list) or not all(isinstance(one, str) for one in notes):
            raise self.error(f"must have notes that are texts; got {_short(notes)}")
        return tuple(notes)

    def files(self) -> dict[str, dict[str, dict[str, bytes]]]:
        found: dict[str, dict[str, dict[str, bytes]]] = {}
        for use, of in self._mapping(self._values.get("files", {})).items():
            for name, listed in self._mapping(of).items():
                if not isinstance(listed, list):
                    raise self.error(f"must list the files of {name!r}; got {_short(listed)}")
                read = dict(self._file(one) for one in listed)
                found.setdefault(use, {})[name] = read
        if sum(len(data) for data in _contents(found)) > MOST_FILES_B:
            raise self.error(f"holds at most {MOST_FILES_B >> 20} MiB of files")
        return found

    def _mapping(self, value: Any) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise self.error(f"must hold files by what they are for; got {_short(value)}")
        return value

    def _file(self, one: Any) -> tuple[str, bytes]:
        held = self._mapping(one)
        name, coded = held.get("name"), "base64" in held
        content = held.get("base64" if coded else "text")
        if not isinstance(name, str) or not isinstance(content, str):
            raise self.error("must have a name and a text or base64 for each file")
        try:
            data = base64.b64decode(content, validate=True) if coded else content.encode()
        except ValueError as error:
            raise self.error(f"holds a damaged file {name!r}") from error
        if hashlib.sha256(data).hexdigest() != held.get("sha256"):
            raise self.error(
                f"holds a file {name!r} that was changed since: its SHA-256 is another; ask for "
                "the session again, or upload the file by itself"
            )
        return name, data


_WORDS: dict[Any, str] = {str: "a text", dict: "an object"}


def _file_values(name: str, data: bytes) -> dict[str, str]:
    """Return a file as JSON can hold it: a text where it is one, else base64."""
    about = {"name": name, "sha256": hashlib.sha256(data).hexdigest()}
    try:
        return {**about, "text": data.decode()}
    except UnicodeDecodeError:
        return {**about, "base64": base64.b64encode(data).decode("ascii")}


def _contents(files: OwnFiles) -> Iterator[bytes]:
    """Yield the contents of all files."""
    for of in files.values():
        for listed in of.values():
            yield from listed.values()


def _floats(value: Any) -> Iterator[float]:
    """Yield the fractions among JSON values."""
    if isinstance(value, float):
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from _floats(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _floats(inner)


def _short(value: Any) -> str:
    """Return a value for a message, cut after 60 letters."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:60]}…"
