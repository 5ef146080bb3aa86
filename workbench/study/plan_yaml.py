"""Study plans as YAML: errors name the line and the nearest known name."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from workbench.errors import ParameterError, ParseError
from workbench.study.choice import unknown
from workbench.study.plan import StudyPlan
from workbench.yaml_text import dump_yaml, load_yaml


def read(source: str | Path | bytes) -> StudyPlan:
    """Return the plan in a YAML file, or in a text of several lines or bytes."""
    document = load_yaml(source, "a plan")
    values, where = document.values, document.source
    lines = {str(path[0]): line for path, line in document.lines.items() if len(path) == 1}
    known = tuple(field.name for field in dataclasses.fields(StudyPlan))
    for key in values:
        if key not in known:
            raise ParseError(
                unknown("key of a plan", str(key), known), source=where, line=lines[key]
            )
    for key in ("name", "machines"):
        if key not in values:
            raise ParseError(f"a plan must have the key {key}; add {key}: ...", source=where)
    try:
        return StudyPlan(**values)
    except ParameterError as error:
        # A parameter of a model is named by its own key, which stands among the models.
        key = error.key if error.key in lines else "models"
        raise ParseError(str(error), source=where, line=lines.get(key, 0)) from error


def write(plan: StudyPlan) -> str:
    """Return a plan as YAML, every list on a line where it fits."""
    return dump_yaml(plan.to_dict())
