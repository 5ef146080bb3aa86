"""One fit of a study, and its result."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypedDict

import numpy as np
from numpy.typing import NDArray

from workbench import datasets
from workbench.errors import ParameterError
from workbench.fit import FitResult, study_name
from workbench.fit.losses import find_target
from workbench.fit.regimes import DEFAULT_THRESHOLD
from workbench.measure import OSUCurve
from workbench.models import NetworkModel
from workbench.simulate import simulate_osu
from workbench.study.model_choice import ModelChoice
from workbench.tasks import Task

if TYPE_CHECKING:
    import pandas as pd

SizeRegime = Literal["all", "low", "high"]
REGIMES: tuple[SizeRegime, ...] = ("all", "low", "high")

CellState = Literal["waiting", "running", "stopped", "done", "failed"]
STATES: tuple[CellState, ...] = ("waiting", "running", "stopped", "done", "failed")
"""No trial yet; being run by a process; interrupted; complete; cannot be run."""

AXES = ("machine", "model", "loss", "target", "regime", "engine", "seed")
"""The axes in which the cells of a plan differ."""

_Names = str | Iterable[str]


class HalfFilter(TypedDict, total=False):
    """Values of the axes that the two regimes of a model share: one, or several in a list."""

    machine: _Names
    loss: _Names
    target: _Names
    engine: _Names
    seed: int | Iterable[int]


class AxisFilter(HalfFilter, total=False):
    """Values of any of ``AXES``."""

    model: _Names
    regime: _Names


class CellFilter(AxisFilter, total=False):
    """Values of any of ``AXES``, and states."""

    status: _Names


@dataclass(frozen=True)
class Cell:
    """One fit of a study: what is fitted to what, and how.

    Attributes:
        machine: name of a shipped dataset.
        model: label of one of the plan's models.
        loss: name in ``LOSSES``.
        target: ``both``, ``latency`` or ``bandwidth``.
        regime: ``all`` sizes, those up to the threshold (``low``) or those above it (``high``).
        engine: what searches.
        seed: makes the search repeatable.
        threshold: size in bytes that parts the regimes; nothing to a cell of all sizes.
    """

    machine: str
    model: str
    loss: str
    target: str
    regime: str = "all"
    engine: str = "tpe"
    seed: int = 0
    threshold: int = DEFAULT_THRESHOLD

    @property
    def curve_name(self) -> str:
        """Name of the curve that is fitted."""
        return self.machine if self.regime == "all" else f"{self.machine}[{self._sizes}]"

    @property
    def name(self) -> str:
        """Name of the study in the database."""
        return study_name(
            self.curve_name, self.model, self.loss, self.target, self.seed, self.engine
        )

    def measured(self) -> OSUCurve:
        """Return the curve that is fitted: the sizes of the regime.

        Raises:
            DatasetError: the machine is not among the shipped datasets.
        """
        curve = datasets.load(self.machine)
        if self.regime == "all":
            return curve
        small = curve.sizes <= self.threshold
        return curve.select(small if self.regime == "low" else ~small, self._sizes)

    @property
    def _sizes(self) -> str:
        return f"{'<=' if self.regime == 'low' else '>'}{self.threshold}"


@dataclass(frozen=True)
class CellProgress:
    """State of one cell.

    Attributes:
        cell: which.
        state: one of ``STATES``.
        trials: trials finished.
        total: trials it is to have.
        best_loss: the least loss so far, inf where there is none.
        message: why it failed or stands still, empty where there is nothing to say.
    """

    cell: Cell
    state: CellState
    trials: int
    total: int
    best_loss: float = math.inf
    message: str = ""


@dataclass(frozen=True, eq=False)
class CellResult:
    """Result of one cell, final or so far.

    Attributes:
        cell: what was fitted, to what, and how.
        choice: the model, as the plan states it.
        status: one of ``STATES``.
        rmspe: ``joint``, ``latency`` and ``bandwidth`` in percent; nan where there is none.
        best_loss: the least loss, inf where no configuration could be simulated.
        trials: trials finished.
        refused: configurations among them that could not be simulated.
        seconds: time spent on the trials.
        values: the fitted values, SI by key; empty where there are none.
        convergence: int64[k] trial numbers from 0 and float64[k] least losses: a pair for each
            trial that improved on those before it.
        message: how the fit ended, or why it did not.
    """

    cell: Cell
    choice: ModelChoice
    status: CellState = "waiting"
    rmspe: Mapping[str, float] = field(
        default_factory=lambda: dict.fromkeys(("joint", "latency", "bandwidth"), math.nan)
    )
    best_loss: float = math.inf
    trials: int = 0
    refused: int = 0
    seconds: float = 0.0
    values: Mapping[str, float | int] = field(default_factory=dict)
    convergence: tuple[NDArray[np.int64], NDArray[np.float64]] = field(
        default_factory=lambda: (np.zeros(0, np.int64), np.zeros(0))
    )
    message: str = ""

    @property
    def success(self) -> bool:
        """Whether there is a fitted model."""
        return bool(self.values)

    def model(self) -> NetworkModel:
        """Return the fitted model.

        Raises:
            ParameterError: no configuration could be simulated, or none was tried.
        """
        if not self.values:
            reason = self.message or f"the cell is {self.status}"
            raise ParameterError(
                f"{self.cell.name} has no fitted model: {reason}; run the study first",
                key="values",
            )
        return self.choice.build().with_values(self.values)

    def measured(self) -> OSUCurve:
        """Return the curve that was fitted."""
        return self.cell.measured()

    def simulated(self, *, task: Task | None = None) -> OSUCurve:
        """Return the fitted model's curve at the measured sizes, simulated again: exact.

        Args:
            task: once it is stopped, the simulation ends.

        Raises:
            ParameterError: there is no fitted model.
            SimulationHalted: the task was stopped.
        """
        return simulate_osu(self.model(), self.measured().sizes, task=task)

    def percent_error(self) -> pd.DataFrame:
        """Return 100 (simulated - measured) / measured in percent, size by benchmark.

        Returns:
            Rows by ``size_bytes``, columns ``latency`` and ``bandwidth``; nan where a point was
            not measured.

        Raises:
            ParameterError: there is no fitted model.
        """
        import pandas as pd

        measured = self.measured()
        latency, bandwidth = measured.percent_error(self.simulated())
        index = pd.Index(measured.sizes, name="size_bytes")
        return pd.DataFrame({"latency": latency, "bandwidth": bandwidth}, index=index)

    def fit_result(self) -> FitResult:
        """Return the cell as the result of a fit; simulates it again.

        A study keeps of each trial only whether it improved on those before it: ``losses`` holds
        the least loss up to each trial.
        """
        model = self.choice.build().with_values(self.values)
        measured = self.measured()
        simulated = simulate_osu(model, measured.sizes) if self.success else None
        losses = np.full(self.trials, np.inf)
        for trial, loss in zip(*self.convergence, strict=True):
            losses[trial:] = loss
        return FitResult(
            model=model,
            measured=measured,
            simulated=simulated,
            loss=self.cell.loss,
            target=find_target(self.cell.target),
            space=self.choice.space(),
            rmspe=dict(self.rmspe),
            losses=losses,
            seed=self.cell.seed,
            engine=self.cell.engine,
            seconds=self.seconds,
            success=self.success,
            message=self.message,
        )

    def row(self) -> dict[str, Any]:
        """Return the cell as one row of ``StudyResult.to_frame``."""
        return {
            **{axis: getattr(self.cell, axis) for axis in AXES},
            **{name: float(self.rmspe[name]) for name in ("joint", "latency", "bandwidth")},
            "best_loss": self.best_loss,
            "trials": self.trials,
            "refused": self.refused,
            "seconds": self.seconds,
            "status": self.status,
        }

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, CellResult):
            return NotImplemented
        # repr differs for different floats and is equal for nan.
        return _comparable(self) == _comparable(other)

    __hash__ = None  # type: ignore[assignment]  # results are compared by value, which is mutable

    def __repr__(self) -> str:
        errors = (
            f"RMSPE {self.rmspe['joint']:.1f} %"
            if math.isfinite(self.rmspe["joint"])
            else f"best loss {self.best_loss:.4g}"
        )
        return f"CellResult({self.cell.name}, {self.status}, {self.trials} trials, {errors})"


def improvements(losses: NDArray[np.float64]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return index and loss of each trial that improved on all before; refused losses are inf."""
    best = np.minimum.accumulate(losses)
    before = np.concatenate([[np.inf], best[:-1]])[: len(best)]
    at = np.flatnonzero(best < before)
    return at.astype(np.int64), best[at]


def _comparable(result: CellResult) -> tuple[Any, ...]:
    trials, losses = result.convergence
    return (
        result.cell,
        result.choice,
        result.message,
        repr(result.row()),
        repr(dict(result.values)),
        trials.tolist(),
        losses.tolist(),
    )
