"""The state of the regime panel, the pair of models, and the Python code for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbench.errors import DatasetError
from workbench.fit import rmspe_by_target
from workbench.fit.bolted import Bolted, ModelCurve
from workbench.fit.regimes import errors_by_threshold
from workbench.measure import OSUCurve
from workbench.measure.curve import byte_label
from workbench.panels.fit.state import model_expression, model_of
from workbench.panels.machine_choice import curve_expression, curve_of
from workbench.study import CellResult, StudyResult, shipped

if TYPE_CHECKING:
    import pandas as pd

STUDIES = ("message-regimes", "which-loss")
"""The shipped studies whose fits are looked for, in this order."""


@dataclass(frozen=True)
class RegimeState:
    """The machine, the models of both halves and the threshold."""

    machine: str
    low: str = "logp"  # model of the small messages
    high: str = "snappr"  # model of the large ones
    threshold: int = 512  # largest message of the low half, bytes


@dataclass(frozen=True, eq=False)
class Half:
    """The model of one half of the message sizes."""

    curve: ModelCurve  # at all sizes
    origin: str  # of its values, in words
    fitted: bool  # whether by a fit


@dataclass(frozen=True, eq=False)
class Pair:
    """Two models of one measurement, their errors, and one model for all sizes to compare with."""

    low: Half
    high: Half
    single: Half  # of the same kind as high
    single_rmspe: Mapping[str, float]  # percent
    table: pd.DataFrame  # of errors_by_threshold

    @property
    def measured(self) -> OSUCurve:
        """The whole measurement."""
        return self.low.curve.measured

    def bolted(self, threshold: int) -> Bolted:
        """Return the pair bolted together at a threshold in bytes, the largest low message."""
        return Bolted(self.low.curve, self.high.curve, threshold)


def make_pair(low: Half, high: Half, single: Half) -> Pair:
    """Return a pair with its errors at every threshold."""
    curve = single.curve
    rmspe = rmspe_by_target(curve.simulated, curve.measured)
    return Pair(low, high, single, rmspe, errors_by_threshold(low.curve, high.curve))


def find_pair(studies: Sequence[StudyResult], state: RegimeState) -> Pair:
    """Return the pair of a state, with values from the first study that fitted each half."""
    measured = curve_of(state.machine)
    return make_pair(
        find_half(studies, measured, state.low, "low"),
        find_half(studies, measured, state.high, "high"),
        find_half(studies, measured, state.high, "all"),
    )


def refitted(pair: Pair, bolted: Bolted) -> Pair:
    """Return a pair with the models of a refit; a half without a result keeps its model."""
    at = byte_label(bolted.threshold)
    low, high = (
        before
        if found.simulated is None
        else Half(
            ModelCurve(found.model, pair.measured), f"refitted here to sizes {sign} {at}", True
        )
        for before, found, sign in (
            (pair.low, bolted.low, "up to"),
            (pair.high, bolted.high, "above"),
        )
    )
    return make_pair(low, high, pair.single)


def shipped_studies() -> tuple[StudyResult, ...]:
    """Return the studies of `STUDIES` that this installation contains."""
    found = []
    for name in STUDIES:
        try:
            found.append(shipped(name))
        except DatasetError:
            continue
    return tuple(found)


def find_half(studies: Sequence[StudyResult], measured: OSUCurve, model: str, regime: str) -> Half:
    """Return a model as fitted to ``low``, ``high`` or else ``all`` sizes, or with its defaults."""
    for wanted in dict.fromkeys((regime, "all")):
        for study in studies:
            cell = _best(study, measured.name, model, wanted)
            if cell is not None:
                sizes = "all sizes"
                if wanted != "all":
                    sign = "up to" if wanted == "low" else "above"
                    sizes = f"sizes {sign} {byte_label(cell.cell.threshold)}"
                origin = f"shipped fit to {sizes} ({cell.cell.loss}, {cell.cell.engine})"
                return Half(ModelCurve(cell.model(), measured), origin, True)
    return Half(ModelCurve(model_of(model), measured), "defaults, not fitted", False)


def bolted_lines(bolted: Bolted, machine: str) -> str:
    """Return Python code that builds the pair, as ``bolted``."""
    return (
        f"from workbench import {_source_of(machine)}, models\n"
        "from workbench.fit.bolted import Bolted, ModelCurve\n"
        f"measured = {curve_expression(machine)}\n"
        f"low = ModelCurve({model_expression(bolted.low.model)}, measured)\n"
        f"high = ModelCurve({model_expression(bolted.high.model)}, measured)\n"
        f"bolted = Bolted(low, high, threshold={bolted.threshold})"
    )


def refit_lines(state: RegimeState, *, loss: str, engine: str, trials: int, seed: int) -> str:
    """Return Python code that fits both halves at the threshold, ``trials`` each."""
    return (
        f"from workbench import {_source_of(state.machine)}\n"
        "from workbench.fit.regimes import fit_regimes\n"
        f'bolted = fit_regimes({curve_expression(state.machine)}, "{state.low}", "{state.high}", '
        f'threshold={state.threshold}, loss="{loss}", engine="{engine}", trials={trials}, '
        f"seed={seed})"
    )


def _source_of(machine: str) -> str:
    """Return the subpackage of workbench that a machine's curve is from."""
    return curve_expression(machine).partition(".")[0]


def describe_pair(bolted: Bolted, pair: Pair) -> str:
    """Return a sentence with the RMSPE of both halves, the pair and the single model."""
    low, high, single = (
        type(half.curve.model).__name__ for half in (pair.low, pair.high, pair.single)
    )
    at = byte_label(bolted.threshold)
    text = (
        f"RMSPE: {low} up to {at} {_percent(bolted.rmspe_low['joint'])}, {high} above it "
        f"{_percent(bolted.rmspe_high['joint'])}, both together {_percent(bolted.rmspe['joint'])}"
    )
    if pair.single.fitted:
        text += f"; one {single} for all sizes {_percent(pair.single_rmspe['joint'])}"
    return f"{text}."


def _best(study: StudyResult, machine: str, model: str, regime: str) -> CellResult | None:
    """Return the study's fit to both targets with the least joint RMSPE, or None."""
    found = [
        cell
        for cell in study.cells
        if (cell.cell.machine, cell.cell.model, cell.cell.regime) == (machine, model, regime)
        and cell.success
        and cell.cell.target == "both"
    ]
    return min(found, key=lambda cell: cell.rmspe["joint"], default=None)


def _percent(value: float) -> str:
    if value != value:
        return "–"
    return f"{value:.1f} %" if value < 10 else f"{value:.0f} %"
