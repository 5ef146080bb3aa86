"""The grammar of SST/macro's ``.ini`` files: lines to dotted keys, each with file and line.

``key = value`` lines, ``name {`` … ``}`` scopes, dotted keys, ``#`` comments, ``include FILE``,
``set var NAME = VALUE`` with ``$NAME``, ``unset KEY``; a later assignment replaces an earlier one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn

from workbench.errors import ParseError
from workbench.reading import as_utf8

# Chosen: more than any input file has (those of the tests have 1 KB), so that a wrong path is
# harmless. A file of the most lines has 3.6 MB and takes 4 s on a busy core.
_LARGEST_FILE_BYTES = 4_000_000
_MOST_LINES = 200_000  # of all included files
_DEEPEST_INCLUDE = 16  # chosen: a circle is refused before; a longer chain is a mistake
_MOST_VARIABLE_STEPS = 16  # chosen: a variable of a variable takes 2; a circle never ends

_SCOPE_NAME = re.compile(r"[^\s.=#{}\[\]]+")
_TRAILING_COMMENT = re.compile(r"\s#.*$")


@dataclass(frozen=True)
class IniEntry:
    """One effective assignment: its dotted key and text, and the file and line it is on."""

    key: str
    text: str
    source: str
    line: int


@dataclass
class IniDocument:
    """The assignments of a file and its includes by dotted key, and notes for the reader."""

    source: str
    entries: dict[str, IniEntry] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


def read_document(source: str | Path | bytes) -> IniDocument:
    """Return the assignments of an .ini from a path, or from text or bytes without includes."""
    path = _as_path(source)
    if path is not None:
        document = IniDocument(path.name)
        reader = _Reader(document)
        reader.file(path, (), path.name, 0)
    else:
        document = IniDocument("text")
        reader = _Reader(document)
        content = source if isinstance(source, bytes) else str(source).encode("utf-8", "replace")
        reader.lines(_decoded(content, "text"), (), "text", None)
    return document


def _as_path(source: str | Path | bytes) -> Path | None:
    if isinstance(source, Path):
        return source
    if isinstance(source, bytes) or "\n" in source or "\0" in source:
        return None
    try:
        if Path(source).is_file():
            return Path(source)
    except OSError:
        return None
    return None if "=" in source or "{" in source or not source.strip() else Path(source)


class _Reader:
    """Reads lines and tracks the open scopes, variables by scope, and files being read."""

    def __init__(self, document: IniDocument) -> None:
        self.document = document
        self.variables: dict[tuple[str, ...], dict[str, str]] = {}
        self.open_files: list[Path] = []
        self.line_count = 0

    def file(self, path: Path, scope: tuple[str, ...], source: str, line: int) -> None:
        """Read a file into ``scope``; ``source`` and ``line`` are where it was asked for."""

        def refuse(message: str) -> NoReturn:
            raise ParseError(message, source=source, line=line)

        try:
            resolved = path.resolve()
            exists = resolved.is_file()
        except (OSError, ValueError, RuntimeError) as error:
            refuse(f"cannot read {_short(str(path))}: {error}")
        if not exists:
            refuse(f"there is no file {_short(str(path))}")
        if resolved in self.open_files:
            refuse(f"{path.name} includes itself")
        if len(self.open_files) >= _DEEPEST_INCLUDE:
            refuse(f"includes are nested more than {_DEEPEST_INCLUDE} deep")
        try:
            with resolved.open("rb") as handle:
                content = handle.read(_LARGEST_FILE_BYTES + 1)
        except OSError as error:
            refuse(f"cannot read {path.name}: {error.strerror}")
        if len(content) > _LARGEST_FILE_BYTES:
            refuse(
                f"an input file must be at most {_LARGEST_FILE_BYTES} bytes; {path.name} is longer"
            )
        self.open_files.append(resolved)
        self.lines(_decoded(as_utf8(content), path.name), scope, path.name, resolved.parent)
        self.open_files.pop()

    def lines(
        self, lines: list[str], root: tuple[str, ...], source: str, folder: Path | None
    ) -> None:
        """Read the lines of one file, whose outermost scope is ``root``."""
        opened: list[tuple[str, int]] = []
        for number, raw in enumerate(lines, start=1):
            self.line_count += 1
            if self.line_count > _MOST_LINES:
                raise ParseError(
                    f"more than {_MOST_LINES} lines, includes counted", source=source, line=number
                )
            line = raw.strip()
            if not line or line.startswith("#"):
                continue
            if line.startswith("}"):
                if line[1:].strip() and not line[1:].lstrip().startswith("#"):
                    raise ParseError("} must stand on its own line", source=source, line=number)
                if not opened:
                    raise ParseError(
                        "} closes a scope that was not opened", source=source, line=number
                    )
                opened.pop()
                continue
            line = self._without_comment(line, source, number)
            scope = root + tuple(name for name, _ in opened)
            if line.endswith("{"):
                opened.append((_scope_name(line[:-1].strip(), source, number), number))
            elif re.match(r"set\s", line) and not re.match(r"set\s*=", line):
                self._set_variable(line, root, source, number)
            elif "=" in line:
                key, _, text = line.partition("=")
                self.assign(scope, key.strip(), text.strip(), source, number)
            elif re.match(r"include\s", line):
                self._include(line[7:].strip(), scope, source, number, folder)
            elif re.match(r"unset\s", line):
                self._unset(scope, line[5:].strip())
            else:
                raise ParseError(
                    f"expected `key = value`, `name {{`, `}}`, `include FILE` or "
                    f"`set var NAME = VALUE`; got {_short(line)}",
                    source=source,
                    line=number,
                )
        if opened:
            name, number = opened[-1]
            raise ParseError(f"scope {name!r} is never closed with }}", source=source, line=number)

    def assign(self, scope: tuple[str, ...], key: str, text: str, source: str, line: int) -> None:
        """Record the assignment ``key = text`` within ``scope``, in place of an earlier one."""
        parts = tuple(key.split("."))
        for word in parts:
            if not _SCOPE_NAME.fullmatch(word):
                raise ParseError(f"{_short(key)} is not a key", source=source, line=line)
        target = scope + parts
        text = self._resolved(text, target[:-1], source, line)
        dotted = ".".join(target)
        self.document.entries.pop(dotted, None)
        self.document.entries[dotted] = IniEntry(dotted, text, source, line)

    def _resolved(self, text: str, scope: tuple[str, ...], source: str, line: int) -> str:
        steps = 0
        while text.startswith("$"):
            name = text[1:].strip()
            steps += 1
            holders = (scope[:depth] for depth in range(len(scope), -1, -1))
            found = next(
                (v[name] for v in map(self.variables.get, holders) if v and name in v), None
            )
            if found is None:
                raise ParseError(
                    f"variable {_short(name)} is not set; add `set var NAME = VALUE` above",
                    source=source,
                    line=line,
                )
            if steps > _MOST_VARIABLE_STEPS:
                raise ParseError(f"variable {_short(name)} names itself", source=source, line=line)
            text = found
        return text

    def _set_variable(self, line: str, root: tuple[str, ...], source: str, number: int) -> None:
        rest = line[3:].strip()
        match = re.fullmatch(r"(?:var\s+)?([^\s=]+)(?:\s*=\s*|\s+)(.+)", rest)
        if match is None:
            raise ParseError(
                f"expected `set var NAME = VALUE`; got {_short(line)}", source=source, line=number
            )
        self.variables.setdefault(root, {})[match.group(1)] = match.group(2).strip()

    def _include(
        self, name: str, scope: tuple[str, ...], source: str, number: int, folder: Path | None
    ) -> None:
        if folder is None:
            raise ParseError(
                "a text cannot include a file; read the .ini by its path, or write the included "
                "lines here",
                source=source,
                line=number,
            )
        try:
            path = folder / name
            # SST/macro looks in the folder it is run from
            if not path.is_file() and Path(name).is_file():
                path = Path(name)
        except (OSError, ValueError) as error:
            raise ParseError(f"cannot include: {error}", source=source, line=number) from None
        self.file(path, scope, source, number)

    def _unset(self, scope: tuple[str, ...], key: str) -> None:
        self.document.entries.pop(".".join((*scope, *key.split("."))), None)

    def _without_comment(self, line: str, source: str, number: int) -> str:
        bare = _TRAILING_COMMENT.sub("", line).strip()
        if bare != line:
            self.document.notes.append(
                f"{source}:{number}: SST/macro takes `#` as a comment only at the start of a line; "
                "here it belongs to the value"
            )
        return bare


def override(document: IniDocument, overrides: Mapping[str, str]) -> None:
    """Put ``key: text`` pairs over the assignments, as ``-p key=text`` does on the command line."""
    reader = _Reader(document)
    for key, text in overrides.items():
        reader.assign((), key.strip(), str(text).strip(), OVERRIDE, 0)


OVERRIDE = "override"


def _decoded(content: bytes, source: str) -> list[str]:
    try:
        return content.decode("utf-8-sig").split("\n")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise ParseError("not a text file in UTF-8", source=source, line=line) from None


def _scope_name(name: str, source: str, line: int) -> str:
    if "." in name and all(_SCOPE_NAME.fullmatch(word) for word in name.split(".")):
        raise ParseError(
            f"a scope has no dots: open {name.split('.')[0]!r} and the others inside it, or write "
            f"`{name}.KEY = VALUE` (SST/macro would never look into {name!r})",
            source=source,
            line=line,
        )
    if not _SCOPE_NAME.fullmatch(name):
        raise ParseError(f"{_short(name)} is not a scope name", source=source, line=line)
    return name


def _short(text: str) -> str:
    return repr(text if len(text) <= 60 else text[:57] + "...")
