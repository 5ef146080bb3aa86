"""A study's result as a tabular data package: three tables, the plan, and their checksums.

The package follows https://specs.frictionlessdata.io/tabular-data-package/; numbers are written so
that they are read back to the last bit.
"""

from __future__ import annotations

import csv
import io
import math
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from workbench import datasets
from workbench.datapackage import (
    DESCRIPTOR,
    Column,
    PackageFiles,
    read_text,
    resource,
    table_resource,
)
from workbench.errors import DatasetError, ParameterError, ParseError
from workbench.study.cell import AXES, STATES, Cell, CellResult
from workbench.study.plan import StudyPlan
from workbench.study.result import StudyResult
from workbench.suggestions import unknown_name
from workbench.units import UNITS, write_quantity

_PLAN = "plan.yaml"
_REPAIR = "restore the file or save the study again"
_NUMBERS = ("joint", "latency", "bandwidth", "best_loss", "trials", "refused", "seconds")

_CELLS: dict[str, Column] = {
    "cell": ("string", "", "name of the study in the database"),
    "machine": ("string", "", "dataset that was fitted"),
    "model": ("string", "", "label of the model in the plan"),
    "loss": ("string", "", "loss that was minimised"),
    "target": ("string", "", "benchmarks the loss was summed over"),
    "regime": ("string", "", "message sizes: all, or low and high of the plan's threshold"),
    "engine": ("string", "", "what searched"),
    "seed": ("integer", "", "what made the search repeatable"),
    "joint": ("number", "%", "root mean square percent error over latency and bandwidth"),
    "latency": ("number", "%", "root mean square percent error of latency"),
    "bandwidth": ("number", "%", "root mean square percent error of bandwidth"),
    "best_loss": ("number", "", "least loss; INF where no configuration could be simulated"),
    "trials": ("integer", "", "configurations tried"),
    "refused": ("integer", "", "configurations among them that could not be simulated"),
    "seconds": ("number", "s", "time spent on the trials"),
    "status": ("string", "", f"one of {', '.join(STATES)}"),
    "message": ("string", "", "how the fit ended"),
}
_PARAMETERS: dict[str, Column] = {
    "cell": ("string", "", "name of the study in the database"),
    "parameter": ("string", "", "key of the parameter, as in an .ini of SST/macro"),
    "value": ("number", "as in the column unit", "fitted value"),
    "unit": ("string", "", "SI unit of the value; empty for counts"),
    "text": ("string", "", "the value as an .ini spells it"),
}
_CONVERGENCE: dict[str, Column] = {
    "cell": ("string", "", "name of the study in the database"),
    "trial": ("integer", "", "number of a trial that improved on all before it, from 0"),
    "best_loss": ("number", "", "its loss"),
}
_TABLES = {
    "cells": (_CELLS, "one row a fit: what was fitted and what came of it"),
    "parameters": (_PARAMETERS, "one row a fitted parameter"),
    "convergence": (_CONVERGENCE, "one row an improvement: least loss against trial"),
}


def package_of(result: StudyResult) -> tuple[dict[str, Any], PackageFiles]:
    """Return the descriptor and the files of a result, finished or not."""
    plan = result.plan.to_yaml().encode()
    files = [(resource(_PLAN, plan), plan)]
    for name, rows in (
        ("cells", _cell_rows),
        ("parameters", _parameter_rows),
        ("convergence", _convergence_rows),
    ):
        columns, about = _TABLES[name]
        data = _table(list(columns), rows(result)).encode()
        files.append((table_resource(name, data, columns, about), data))
    return _described(result), files


def plan_and_cells(
    folder: Path, descriptor: Mapping[str, Any]
) -> tuple[StudyPlan, tuple[CellResult, ...]]:
    """Return the plan and the cells of a study's package."""
    texts = {
        name: read_text(folder, descriptor, name, _REPAIR)
        for name in (_PLAN, *(f"{table}.csv" for table in _TABLES))
    }
    plan = StudyPlan.from_yaml(texts[_PLAN].encode())
    values: dict[str, dict[str, float | int]] = defaultdict(dict)
    for line, row in _rows(texts, "parameters"):
        value = _read(float, row["value"], "parameters.csv", line)
        values[row["cell"]][row["parameter"]] = value
    convergence: dict[str, list[tuple[int, float]]] = defaultdict(list)
    for line, row in _rows(texts, "convergence"):
        point = (
            _read(int, row["trial"], "convergence.csv", line),
            _read(float, row["best_loss"], "convergence.csv", line),
        )
        convergence[row["cell"]].append(point)
    cells = tuple(
        _cell(plan, row, line, values[row["cell"]], convergence[row["cell"]])
        for line, row in _rows(texts, "cells")
    )
    return plan, cells


def shipped(name: str = "which-loss") -> StudyResult:
    """Return a study that ships with the workbench.

    Args:
        name: folder of ``datasets/studies``.

    Raises:
        DatasetError: there is no such study, or its files are not the ones that were shipped.
    """
    place = datasets.data_folder() / "studies"
    known = tuple(sorted(path.parent.name for path in place.glob(f"*/{DESCRIPTOR}")))
    if name not in known:
        raise DatasetError(unknown_name("shipped study", name, known))
    return StudyResult.load(place / name)


def _cell_rows(result: StudyResult) -> Iterable[Sequence[Any]]:
    for cell in result.cells:
        row = cell.row()
        axes = [row[axis] for axis in AXES]
        numbers = [row[name] for name in _NUMBERS]
        yield [cell.cell.name, *axes, *numbers, cell.status, cell.message]


def _parameter_rows(result: StudyResult) -> Iterable[Sequence[Any]]:
    for cell in result.cells:
        kinds = {d.key: d.kind for d in cell.choice.space().dimensions}
        for key, value in cell.values.items():
            kind = kinds[key]
            yield [cell.cell.name, key, value, UNITS[kind], write_quantity(value, kind)]


def _convergence_rows(result: StudyResult) -> Iterable[Sequence[Any]]:
    for cell in result.cells:
        for trial, loss in zip(*cell.convergence, strict=True):
            yield [cell.cell.name, int(trial), float(loss)]


def _cell(
    plan: StudyPlan,
    row: dict[str, str],
    line: int,
    values: dict[str, float | int],
    convergence: list[tuple[int, float]],
) -> CellResult:
    where = "cells.csv"
    cell = Cell(
        machine=row["machine"],
        model=row["model"],
        loss=row["loss"],
        target=row["target"],
        regime=row["regime"],
        engine=row["engine"],
        seed=_read(int, row["seed"], where, line),
        threshold=plan.threshold,
    )
    if row["status"] not in STATES:
        raise ParseError(unknown_name("status", row["status"], STATES), source=where, line=line)
    try:
        choice = plan.choice(cell.model)
        dimensions = {d.key: d for d in choice.space().dimensions}
        typed = {k: int(v) if dimensions[k].whole else v for k, v in values.items()}
    except (ParameterError, KeyError) as error:
        raise ParseError(
            f"the cell is not of the plan: {error}; save the study again", source=where, line=line
        ) from error
    errors = ("joint", "latency", "bandwidth")
    return CellResult(
        cell=cell,
        choice=choice,
        status=next(state for state in STATES if state == row["status"]),
        rmspe={name: _read(float, row[name], where, line) for name in errors},
        best_loss=_read(float, row["best_loss"], where, line),
        trials=_read(int, row["trials"], where, line),
        refused=_read(int, row["refused"], where, line),
        seconds=_read(float, row["seconds"], where, line),
        values=typed,
        convergence=(
            np.array([trial for trial, _ in convergence], dtype=np.int64),
            np.array([loss for _, loss in convergence], dtype=np.float64),
        ),
        message=row["message"],
    )


def _described(result: StudyResult) -> dict[str, Any]:
    import workbench

    known = datasets.list()
    machines = [known[name] for name in result.plan.machines]
    return {
        "name": re.sub(r"[^a-z0-9._-]+", "-", result.plan.name.lower()).strip("-") or "study",
        "title": f"Study {result.plan.name}: network models fitted to measured machines",
        "description": f"{result!r}. {_PLAN} says what was fitted; the same plan, run again, "
        "gives the same losses and values.",
        "origin": "simulated",
        "created_by": f"Interconnect Workbench {workbench.__version__}, "
        f"workbench study run {_PLAN} --save FOLDER",
        "sources": [
            {"title": machine.title, "path": machine.provenance.source, "dataset": machine.name}
            for machine in machines
        ],
    }


def _table(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([_text(value) for value in row] for row in rows)
    return out.getvalue()


def _text(value: Any) -> str:
    if isinstance(value, float):
        return "" if math.isnan(value) else "INF" if math.isinf(value) else repr(value)
    return str(value)


def _rows(texts: dict[str, str], table: str) -> Iterable[tuple[int, dict[str, str]]]:
    name = f"{table}.csv"
    reader = csv.DictReader(io.StringIO(texts[name], newline=""))
    wanted = list(_TABLES[table][0])
    if reader.fieldnames != wanted:
        raise ParseError(
            f"the columns must be {', '.join(wanted)}; got {reader.fieldnames}", source=name, line=1
        )
    for row in reader:
        if None in row or None in row.values():
            raise ParseError(
                f"a row must have {len(wanted)} fields", source=name, line=reader.line_num
            )
        yield reader.line_num, row


def _read(kind: Callable[[str], Any], text: str, where: str, line: int) -> Any:
    try:
        return kind(text) if text else math.nan
    except ValueError as error:
        raise ParseError(f"expected a number; got {text!r}", source=where, line=line) from error
