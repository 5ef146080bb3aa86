"""The state of the study panel, its fits, and the Python code that computes them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from workbench import datasets
from workbench.errors import ParameterError
from workbench.fit import DEFAULT_ENGINE, FitResult
from workbench.measure import OSUCurve
from workbench.panels.fit.fit_run import FitRequest
from workbench.panels.fit.state import model_expression
from workbench.panels.machine_choice import curve_expression
from workbench.study import Cell, CellResult, ModelChoice, StudyResult
from workbench.study.cell import AXES, improvements

COLUMNS = "machine"
ERRORS = ("joint", "latency", "bandwidth")
GIVEN = "result"
"""The variable, in the lines of Python, of a study that was passed to the panel."""


@dataclass(frozen=True)
class StudyState:
    """A study, the axes of its heatmap and the chosen fit."""

    result: StudyResult
    source: str  # Python expression of result
    rows: str = "loss"  # axis of the study; the columns are the machines
    value: str = "joint"  # RMSPE of joint, latency or bandwidth
    where: Mapping[str, Any] = field(default_factory=dict)  # the chosen fit: value by axis

    @property
    def fixed(self) -> dict[str, Any]:
        """The values of the axes that all cells of the heatmap share."""
        return {axis: v for axis, v in self.where.items() if axis not in (self.rows, COLUMNS)}

    @property
    def origins(self) -> str:
        """The provenance of the heatmap's numbers, for exported pictures."""
        machines: dict[str, list[str]] = {}
        for name in dict.fromkeys(cell.cell.machine for cell in self.result):
            machines.setdefault(datasets.load(name).provenance.origin, []).append(name)
        origins = "; ".join(f"{origin}: {', '.join(names)}" for origin, names in machines.items())
        return f"Errors of curves simulated here. Measurements, {origins}."


@dataclass(frozen=True, eq=False)
class ShownFit:
    """A fit of the study, or the user's own."""

    cell: CellResult
    measured: OSUCurve
    simulated: OSUCurve | None  # None: there is no fitted model
    python: str  # computes both curves
    own: bool = False  # run in the panel

    @property
    def title(self) -> str:
        """Model, machine, sizes, loss and target in a few words."""
        cell = self.cell.cell
        sizes = "" if cell.regime == "all" else f", {cell.regime} sizes"
        own = ", your own run" if self.own else ""
        return f"{cell.model} on {cell.machine}{sizes}, {cell.loss} over {cell.target}{own}"


def axis_values(result: StudyResult, axis: str) -> list[Any]:
    """Return the distinct values of an axis of `AXES` in a study, in the plan's order."""
    return list(dict.fromkeys(getattr(cell.cell, axis) for cell in result.cells))


def first_state(result: StudyResult, source: str) -> StudyState:
    """Return the state in which a panel opens: the study's first cell."""
    if not result.cells:
        raise ParameterError("the study must have a cell to show; this one has none", key="result")
    cell = result.cells[0].cell
    several = [axis for axis in AXES if axis != COLUMNS and len(axis_values(result, axis)) > 1]
    rows = "loss" if "loss" in several or not several else several[0]
    return StudyState(result, source, rows=rows, where={axis: getattr(cell, axis) for axis in AXES})


def shown_fit(state: StudyState) -> ShownFit:
    """Return the chosen fit of a state, simulated again."""
    cell = state.result.one(**state.where)
    simulated = cell.simulated() if cell.success else None
    return ShownFit(cell, cell.measured(), simulated, cell_lines(state))


def own_fit(result: FitResult, request: FitRequest) -> ShownFit:
    """Return the user's own fit, finished or not, as a cell of a study."""
    model = request.model
    cell = Cell(
        machine=request.curve.name,
        model=model.label,
        loss=result.loss,
        target=result.target,
        engine=result.engine,
        seed=result.seed,
    )
    found = CellResult(
        cell=cell,
        choice=ModelChoice(model=model.name, variant=model.variant),
        status="done" if result.trials >= request.trials else "stopped",
        rmspe=dict(result.rmspe),
        best_loss=result.best_loss,
        trials=result.trials,
        refused=result.invalid,
        seconds=result.seconds,
        values=result.values if result.success else {},
        convergence=improvements(result.losses),
        message=result.message,
    )
    return ShownFit(found, result.measured, result.simulated, own_lines(request), own=True)


def table_lines(state: StudyState) -> str:
    """Return Python code for the numbers of the heatmap, as ``table``."""
    return (
        f"from workbench import study\n"
        f"{_source(state)}"
        f"table = result.select({_arguments(state.fixed)})"
        f'.table(rows="{state.rows}", columns="{COLUMNS}", value="{state.value}")'
    )


def cell_lines(state: StudyState) -> str:
    """Return Python code for the chosen fit, as ``model``, ``measured`` and ``simulated``."""
    return (
        f"from workbench import study\n"
        f"{_source(state)}"
        f"cell = result.one({_arguments(state.where)})\n"
        "model, measured, simulated = cell.model(), cell.measured(), cell.simulated()"
    )


def own_lines(request: FitRequest) -> str:
    """Return Python code that runs the user's own fit."""
    engine = "" if request.engine == DEFAULT_ENGINE else f'engine="{request.engine}", '
    source = curve_expression(request.curve.name)
    return (
        f"from workbench import {source.partition('.')[0]}, fit, models\n"
        f"measured = {source}\n"
        f"model = {model_expression(request.model)}\n"
        f'result = fit.fit(measured, model, loss="{request.loss}", target="{request.target}", '
        f"{engine}trials={request.trials}, seed={request.seed})\n"
        "model, simulated = result.model, result.simulated"
    )


def _source(state: StudyState) -> str:
    if state.source == GIVEN:
        return "# result is the study that was passed to the panel\n"
    return f"result = {state.source}\n"


def _arguments(where: Mapping[str, Any]) -> str:
    return ", ".join(
        f'{axis}="{value}"' if isinstance(value, str) else f"{axis}={value}"
        for axis, value in where.items()
    )
