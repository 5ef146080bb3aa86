"""Plans: what is to be computed, as people write it in a YAML file."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any, ClassVar, Self

from workbench.errors import ParameterError, ParseError
from workbench.named_options import named_fields
from workbench.result import Result
from workbench.suggestions import unknown_name
from workbench.yaml_text import dump_yaml, load_yaml


@dataclasses.dataclass(frozen=True)
class YamlPlan(Result):
    """Base of the frozen dataclasses whose fields are the keys of a YAML file."""

    KIND: ClassVar[str]
    """What messages call it, such as ``plan``."""
    REQUIRED: ClassVar[tuple[str, ...]]
    """Keys that a file must have."""
    OTHERS: ClassVar[str] = ""
    """The key whose line an error has that names none of the plan's keys."""

    @classmethod
    def file_keys(cls) -> tuple[str, ...]:
        """Return the keys of a file, in their order."""
        return tuple(field.name for field in dataclasses.fields(cls))

    @named_fields
    def replace(self, **changes: Any) -> Self:
        """Return a plan with these attributes changed.

        Raises:
            ParameterError: an attribute does not exist, or its value is not accepted.
        """
        for key in changes:
            if key not in self.file_keys():
                raise ParameterError(
                    unknown_name(f"attribute of a {self.KIND}", key, self.file_keys()), key=key
                )
        return dataclasses.replace(self, **changes)

    def to_yaml(self, path: str | Path | None = None) -> str:
        """Return the plan as YAML, and write it where a path is given.

        Args:
            path: file to write.
        """
        text = dump_yaml(self.to_dict())
        if path is not None:
            Path(path).write_text(text, encoding="utf-8")
        return text

    @classmethod
    def from_yaml(cls, source: str | Path | bytes) -> Self:
        """Return the plan in a YAML file or text.

        Args:
            source: a path, or the text itself where it has more than one line.

        Raises:
            ParseError: it is no such plan; the message names the file, the line and the rule.
            OSError: the file cannot be read.
        """
        document = load_yaml(source, f"a {cls.KIND}")
        values, where = document.values, document.source
        lines = {str(path[0]): line for path, line in document.lines.items() if len(path) == 1}
        for key in values:
            if key not in cls.file_keys():
                raise ParseError(
                    unknown_name(f"key of a {cls.KIND}", key, cls.file_keys()),
                    source=where,
                    line=lines[str(key)],
                )
        for key in cls.REQUIRED:
            if key not in values:
                raise ParseError(
                    f"a {cls.KIND} must have the key {key}; add {key}: ...", source=where
                )
        try:
            return cls(**values)
        except ParameterError as error:
            key = error.key if error.key in lines else cls.OTHERS
            raise ParseError(str(error), source=where, line=lines.get(key, 0)) from error
