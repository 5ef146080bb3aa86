"""What the study panel shows, as a value, and the functions from it to fits and to Python."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from workbench import datasets
from workbench.errors import ParameterError
from workbench.fit import DEFAULT_ENGINE, FitResult
from workbench.measure import OSUCurve
from workbench.panels.fit.fitting import FitRequest
from workbench.panels.fit.state import model_expression
from workbench.study import Cell, CellResult, ModelChoice, StudyResult
from workbench.study.cell import AXES, improvements

COLUMNS = "machine"
ERRORS = ("joint", "latency", "bandwidth")
GIVEN = "result"
"""What the lines of Python call a study that was handed to the panel."""


@dataclass(frozen=True)
class StudyState:
    """Everything the panel's controls hold.

    Attributes:
        result: the study.
        source: Python expression that gives it.
        rows: axis of the study that goes down in the heatmap; the machines go across.
        value: whose RMSPE it shows: ``joint``, ``latency`` or ``bandwidth``.
        where: value of each axis of the study: the fit that is looked at.
    """

    result: StudyResult
    source: str
    rows: str = "loss"
    value: str = "joint"
    where: Mapping[str, Any] = field(default_factory=dict)

    @property
    def fixed(self) -> dict[str, Any]:
        """What holds for all places of the heatmap."""
        return {axis: v for axis, v in self.where.items() if axis not in (self.rows, COLUMNS)}

    @property
    def origins(self) -> str:
        """Where the numbers of the heatmap come from, for pictures that leave the page."""
        machines: dict[str, list[str]] = {}
        for name in dict.fromkeys(cell.cell.machine for cell in self.result):
            machines.setdefault(datasets.load(name).provenance.origin, []).append(name)
        told = "; ".join(f"{origin}: {', '.join(names)}" for origin, names in machines.items())
        return f"Errors of curves simulated here. Measurements, {told}."


@dataclass(frozen=True, eq=False)
class ShownFit:
    """A fit as the panel shows it: one of the study's, or one's own.

    Attributes:
        cell: what was fitted, and what came of it.
        measured: the curve that was fitted.
        simulated: the fitted model's curve; None where there is no fitted model.
        python: lines that give both again.
        own: whether it was run in the panel.
    """

    cell: CellResult
    measured: OSUCurve
    simulated: OSUCurve | None
    python: str
    own: bool = False

    @property
    def title(self) -> str:
        """What was fitted to what, in a few words."""
        cell = self.cell.cell
        sizes = "" if cell.regime == "all" else f", {cell.regime} sizes"
        own = ", your own run" if self.own else ""
        return f"{cell.model} on {cell.machine}{sizes}, {cell.loss} over {cell.target}{own}"


def axis_values(result: StudyResult, axis: str) -> list[Any]:
    """Return what the cells of a study have for one of its axes, in the order of the plan.

    Args:
        result: the study.
        axis: name out of `AXES`.
    """
    return list(dict.fromkeys(getattr(cell.cell, axis) for cell in result.cells))


def first_state(result: StudyResult, source: str) -> StudyState:
    """Return the state a panel opens with: the study's first cell.

    Args:
        result: the study.
        source: Python expression that gives it.

    Raises:
        ParameterError: the study has no cells.
    """
    if not result.cells:
        raise ParameterError("the study must have a cell to show; this one has none", key="result")
    cell = result.cells[0].cell
    several = [axis for axis in AXES if axis != COLUMNS and len(axis_values(result, axis)) > 1]
    rows = "loss" if "loss" in several or not several else several[0]
    return StudyState(result, source, rows=rows, where={axis: getattr(cell, axis) for axis in AXES})


def shown_fit(state: StudyState) -> ShownFit:
    """Return the fit that the state looks at, simulated again.

    Args:
        state: what the panel's controls hold.

    Raises:
        ParameterError: the study has no such fit.
    """
    cell = state.result.one(**state.where)
    simulated = cell.simulated() if cell.success else None
    return ShownFit(cell, cell.measured(), simulated, cell_lines(state))


def own_fit(result: FitResult, request: FitRequest) -> ShownFit:
    """Return a fit that was run in the panel, as one of a study's cells.

    Args:
        result: what came of it, or has come of it so far.
        request: what was fitted to what.
    """
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
    """Return the Python that gives the numbers of the heatmap, as ``table``.

    Args:
        state: what the panel holds.
    """
    return (
        f"from workbench import study\n"
        f"{_source(state)}"
        f"table = result.select({_arguments(state.fixed)})"
        f'.table(rows="{state.rows}", columns="{COLUMNS}", value="{state.value}")'
    )


def cell_lines(state: StudyState) -> str:
    """Return the Python that gives the fit which is shown, as ``model`` and ``simulated``.

    Args:
        state: what the panel holds.
    """
    return (
        f"from workbench import study\n"
        f"{_source(state)}"
        f"cell = result.one({_arguments(state.where)})\n"
        "model, measured, simulated = cell.model(), cell.measured(), cell.simulated()"
    )


def own_lines(request: FitRequest) -> str:
    """Return the Python that runs a fit of one's own.

    Args:
        request: what is fitted to what.
    """
    engine = "" if request.engine == DEFAULT_ENGINE else f'engine="{request.engine}", '
    return (
        "from workbench import datasets, fit, models\n"
        f'measured = datasets.load("{request.curve.name}")\n'
        f"model = {model_expression(request.model)}\n"
        f'result = fit.fit(measured, model, loss="{request.loss}", target="{request.target}", '
        f"{engine}trials={request.trials}, seed={request.seed})\n"
        "model, simulated = result.model, result.simulated"
    )


def _source(state: StudyState) -> str:
    if state.source == GIVEN:
        return "# result is the study that was handed to the panel\n"
    return f"result = {state.source}\n"


def _arguments(where: Mapping[str, Any]) -> str:
    return ", ".join(
        f'{axis}="{value}"' if isinstance(value, str) else f"{axis}={value}"
        for axis, value in where.items()
    )
