"""Study plans as YAML: what is wrong is named with its line and what could have been meant."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

from workbench.errors import ParameterError, ParseError
from workbench.study.choice import unknown
from workbench.study.plan import StudyPlan

_MOST_BYTES = 1_000_000


def read(source: str | Path | bytes) -> StudyPlan:
    """Return the plan in a YAML file or text.

    Args:
        source: a path, or the text itself where it has more than one line or is bytes.

    Raises:
        ParseError: it is no such plan.
        OSError: the file cannot be read.
    """
    where, data = _bytes(source)
    if len(data) > _MOST_BYTES:
        raise ParseError(
            f"a plan must be at most {_MOST_BYTES} bytes; got {len(data)}", source=where
        )
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ParseError("a plan must be UTF-8 text", source=where, line=line) from error
    values, lines = _values(text, where)
    known = tuple(field.name for field in dataclasses.fields(StudyPlan))
    for key in values:
        if key not in known:
            raise ParseError(
                unknown("key of a plan", str(key), known), source=where, line=lines[key]
            )
    for key in ("name", "machines"):
        if key not in values:
            raise ParseError(f"a plan must say its {key}; add {key}: ...", source=where)
    try:
        return StudyPlan(**values)
    except ParameterError as error:
        # A parameter of a model is named by its own key, which stands among the models.
        key = error.key if error.key in lines else "models"
        raise ParseError(str(error), source=where, line=lines.get(key, 0)) from error


def write(plan: StudyPlan) -> str:
    """Return a plan as YAML, every list on a line where it fits.

    Args:
        plan: any plan.
    """
    import yaml

    text: str = yaml.safe_dump(
        plan.to_dict(), sort_keys=False, allow_unicode=True, default_flow_style=None, width=96
    )
    return text


def _bytes(source: str | Path | bytes) -> tuple[str, bytes]:
    if isinstance(source, bytes):
        return "text", source
    if isinstance(source, str) and "\n" in source:
        return "text", source.encode("utf-8", "surrogatepass")
    path = Path(source)
    return path.name, path.read_bytes()


def _values(text: str, where: str) -> tuple[dict[str, Any], dict[str, int]]:
    """Return the mapping that a YAML text is, and the line of each of its keys."""
    import yaml

    # The loader's own steps, taken one by one because only its nodes know their lines.
    try:
        loader = yaml.SafeLoader(text)
        try:
            root = loader.get_single_node()
            if not isinstance(root, yaml.MappingNode):
                raise ParseError(
                    "a plan must be a mapping, with a name and machines, such as name: which-loss",
                    source=where,
                )
            lines = _lines(root, where)
            values = loader.construct_document(root)
        finally:
            loader.dispose()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise ParseError(
            f"a plan must be YAML: {error.problem or error.context}",
            source=where,
            line=mark.line + 1 if mark is not None else 0,
        ) from error
    # Characters that YAML forbids, numbers and dates that Python does, nesting past its stack.
    except (yaml.YAMLError, ValueError, RecursionError, OverflowError) as error:
        if isinstance(error, ParseError):
            raise
        raise ParseError(
            f"a plan must be YAML: {' '.join(str(error).split())}", source=where
        ) from error
    return values, lines


def _lines(root: Any, where: str) -> dict[str, int]:
    lines: dict[str, int] = {}
    for key, _ in root.value:
        line = key.start_mark.line + 1
        name = str(key.value)
        if key.id != "scalar" or key.tag != "tag:yaml.org,2002:str":
            raise ParseError("a key of a plan must be a word", source=where, line=line)
        if name in lines:
            raise ParseError(
                f"{name} must be said once; it was on line {lines[name]}", source=where, line=line
            )
        lines[name] = line
    return lines
