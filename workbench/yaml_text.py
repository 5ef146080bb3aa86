"""YAML files that people write: plain values, and the line of every key for messages."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from workbench.errors import ParseError
from workbench.suggestions import did_you_mean

# Chosen: 70 times the largest component that ships; so much takes 9 s on a busy core, half 4.5 s.
_MOST_BYTES = 300_000
# A file may repeat parts of itself by aliases, and parts of these, to any size;
# 300 bytes that stand for half a million values are refused after 1 s.
_MOST_NODES = 200_000
_DEEPEST = 20  # chosen: files that ship are nested 6 deep

_TEXT_TAG = "tag:yaml.org,2002:str"
_MERGE_TAG = "tag:yaml.org,2002:merge"
_FLOAT_TAG = "tag:yaml.org,2002:float"
_EXPONENT = re.compile(r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)[eE][-+]?[0-9]+$")
_STARTS_NUMBER = "-+.0123456789"

Keys = tuple[str | int, ...]


@dataclass(frozen=True)
class YamlDocument:
    """A YAML file as plain values."""

    source: str  # name of the file, or text
    folder: str  # absolute path of the file's folder, empty for a text
    values: dict[str, Any]
    lines: dict[Keys, int]  # line of each key and list item, by its path from the top

    def error(self, path: Keys, message: str) -> ParseError:
        """Return the error about one place: the nearest known line, the dotted key, the message."""
        line = 0
        for end in range(len(path), 0, -1):
            if path[:end] in self.lines:
                line = self.lines[path[:end]]
                break
        key = ".".join(map(str, path))
        return ParseError(f"{key}: {message}" if key else message, source=self.source, line=line)

    def mapping(self, path: Keys, value: Any) -> dict[str, Any]:
        """Return a value that must be a mapping; None is an empty one."""
        if value is None:
            return {}
        if not isinstance(value, dict):
            raise self.error(path, f"must be a mapping, such as name: value; got {_short(value)}")
        return value

    def known(self, path: Keys, values: Iterable[str], known: Iterable[str], what: str) -> None:
        """Refuse keys that nothing reads; ``what`` is their owner, such as ``a parameter``."""
        names = tuple(known)
        for key in values:
            if key not in names:
                raise self.error(
                    (*path, key),
                    f"is not a key of {what}{did_you_mean(key, names)}; known: {', '.join(names)}",
                )

    def text(self, path: Keys, value: Any) -> str:
        """Return a value that must be a text; a whole number stands for its digits."""
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
        if not isinstance(value, str):
            raise self.error(path, f'must be a text; got {_short(value)}; put it in quotes: "..."')
        return value

    def truth(self, path: Keys, value: Any) -> bool:
        """Return a value that must be true or false."""
        if not isinstance(value, bool):
            raise self.error(path, f"must be true or false; got {_short(value)}")
        return value


def load_yaml(source: str | Path | bytes, what: str) -> YamlDocument:
    """Return a YAML file's values; a ``str`` of several lines and bytes are the text itself."""
    where, folder, data = _bytes(source)
    if len(data) > _MOST_BYTES:
        raise ParseError(f"{what} must be at most {_MOST_BYTES} bytes; this is more", source=where)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ParseError(f"{what} must be UTF-8 text", source=where, line=line) from error
    values, lines = _parsed(text, what, where)
    return YamlDocument(where, folder, values, lines)


def dump_yaml(values: Mapping[str, Any]) -> str:
    """Return plain values as YAML that ``load_yaml`` reads back, lists on a line where they fit."""
    import yaml

    class Dumper(yaml.SafeDumper):
        """Puts a text such as 1e-3, which is a number to ``load_yaml``, in quotes."""

    Dumper.add_implicit_resolver(_FLOAT_TAG, _EXPONENT, list(_STARTS_NUMBER))
    text: str = yaml.dump(
        dict(values),
        Dumper=Dumper,
        sort_keys=False,
        allow_unicode=True,
        default_flow_style=None,
        width=96,
    )
    return text


def _parsed(text: str, what: str, where: str) -> tuple[dict[str, Any], dict[Keys, int]]:
    import yaml

    # The loader's own steps, taken one by one because only its nodes know their lines.
    try:
        loader = yaml.SafeLoader(text)
        # YAML 1.1 reads 1e-3 as text, as it has no point; here it is a number.
        loader.yaml_implicit_resolvers = {
            sign: [*known, (_FLOAT_TAG, _EXPONENT)] if sign in _STARTS_NUMBER else known
            for sign, known in loader.yaml_implicit_resolvers.items()
        }
        try:
            root = loader.get_single_node()
            if not isinstance(root, yaml.MappingNode):
                raise ParseError(f"{what} must be a mapping, such as name: value", source=where)
            lines = _Lines(where, what).of(root)
            values = loader.construct_document(root)
        finally:
            loader.dispose()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise ParseError(
            f"{what} must be YAML: {error.problem or error.context}",
            source=where,
            line=mark.line + 1 if mark is not None else 0,
        ) from error
    # Characters that YAML forbids, numbers and dates that Python does, nesting past its stack.
    except (yaml.YAMLError, ValueError, RecursionError, OverflowError, TypeError) as error:
        if isinstance(error, ParseError):
            raise
        raise ParseError(
            f"{what} must be YAML: {' '.join(str(error).split())}", source=where
        ) from error
    return values, lines


class _Lines:
    """Finds the line of every key; refuses repeated keys, deep nesting and too many values."""

    def __init__(self, where: str, what: str) -> None:
        self.where = where
        self.what = what
        self.lines: dict[Keys, int] = {}
        self.nodes = 0
        self.merging: list[Any] = []

    def of(self, root: Any) -> dict[Keys, int]:
        self._visit(root, ())
        return self.lines

    def _visit(self, node: Any, path: Keys) -> None:
        line = node.start_mark.line + 1
        self.nodes += 1
        if self.nodes > _MOST_NODES or len(path) > _DEEPEST:
            raise self._error(
                f"must have at most {_MOST_NODES} values, nested at most {_DEEPEST} deep", line
            )
        if node.id == "mapping":
            seen: dict[str, int] = {}
            for key, value in node.value:
                at = key.start_mark.line + 1
                if key.tag == _MERGE_TAG:
                    self._merged(value, path, at)
                    continue
                if key.id != "scalar" or key.tag != _TEXT_TAG:
                    word = f" {key.value}" if key.id == "scalar" else ""
                    raise self._error(
                        f"must have texts as keys; the key{word} is not one; put it in quotes", at
                    )
                name = str(key.value)
                if name in seen:
                    raise self._error(
                        f"must have {name} once; it is on line {seen[name]} already", at
                    )
                seen[name] = at
                self.lines[(*path, name)] = at
                self._visit(value, (*path, name))
        elif node.id == "sequence":
            for at, item in enumerate(node.value):
                self.lines[(*path, at)] = item.start_mark.line + 1
                self._visit(item, (*path, at))

    def _merged(self, node: Any, path: Keys, at: int) -> None:
        if node in self.merging:
            raise self._error("must not merge a mapping into itself", at)
        self.merging.append(node)
        self._visit(node, path)
        self.merging.pop()

    def _error(self, message: str, line: int) -> ParseError:
        return ParseError(f"{self.what} {message}", source=self.where, line=line)


def _bytes(source: str | Path | bytes) -> tuple[str, str, bytes]:
    if isinstance(source, bytes):
        return "text", "", source
    if isinstance(source, str) and "\n" in source:
        return "text", "", source.encode("utf-8", "surrogatepass")
    path = Path(source)
    with path.open("rb") as file:
        # One byte beyond the limit shows that it is too large: a device never ends.
        return path.name, str(path.absolute().parent), file.read(_MOST_BYTES + 1)


def _short(value: Any) -> str:
    text = "nothing" if value is None else repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
