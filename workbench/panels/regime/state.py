"""What the regime panel shows, as a value, and the functions from it to a pair and to Python."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbench import datasets
from workbench.errors import DatasetError
from workbench.fit import rmspe_by_target
from workbench.fit.bolted import Bolted, ModelCurve
from workbench.fit.regimes import errors_by_threshold
from workbench.measure import OSUCurve
from workbench.measure.curve import byte_label
from workbench.panels.fit.state import model_expression, model_of
from workbench.study import CellResult, StudyResult, shipped

if TYPE_CHECKING:
    import pandas as pd

STUDIES = ("message-regimes", "which-loss")
"""The shipped studies whose fits are looked for, in this order."""


@dataclass(frozen=True)
class RegimeState:
    """Everything the panel's controls hold.

    Attributes:
        machine: name of a shipped machine.
        low: name of the model of the small messages.
        high: name of the model of the large ones.
        threshold: largest message of the low half, bytes.
    """

    machine: str
    low: str = "logp"
    high: str = "snappr"
    threshold: int = 512


@dataclass(frozen=True, eq=False)
class Half:
    """A model for one half, and where its values come from.

    Attributes:
        curve: the model beside the whole measurement.
        origin: where the values come from, in a few words.
        fitted: whether they come from a fit.
    """

    curve: ModelCurve
    origin: str
    fitted: bool


@dataclass(frozen=True, eq=False)
class Pair:
    """Two models beside one measurement, one model to compare them with, and their errors.

    Attributes:
        low, high: the models of the two halves.
        single: one model for all sizes, of the same kind as ``high``.
        single_rmspe: its errors in percent.
        table: errors of the pair at every threshold, of ``errors_by_threshold``.
    """

    low: Half
    high: Half
    single: Half
    single_rmspe: Mapping[str, float]
    table: pd.DataFrame

    @property
    def measured(self) -> OSUCurve:
        """The whole measurement."""
        return self.low.curve.measured

    def bolted(self, threshold: int) -> Bolted:
        """Return the pair bolted together.

        Args:
            threshold: largest message of the low half, bytes.
        """
        return Bolted(self.low.curve, self.high.curve, threshold)


def make_pair(low: Half, high: Half, single: Half) -> Pair:
    """Return a pair with its errors at every threshold.

    Args:
        low: model of the small messages.
        high: model of the large ones.
        single: one model for all sizes.
    """
    curve = single.curve
    rmspe = rmspe_by_target(curve.simulated, curve.measured)
    return Pair(low, high, single, rmspe, errors_by_threshold(low.curve, high.curve))


def find_pair(studies: Sequence[StudyResult], state: RegimeState) -> Pair:
    """Return the pair the state asks for, as the studies fitted it.

    Args:
        studies: looked through in this order.
        state: what the panel's controls hold.

    Raises:
        DatasetError: there is no such machine.
    """
    measured = datasets.load(state.machine)
    return make_pair(
        find_half(studies, measured, state.low, "low"),
        find_half(studies, measured, state.high, "high"),
        find_half(studies, measured, state.high, "all"),
    )


def refitted(pair: Pair, bolted: Bolted) -> Pair:
    """Return a pair with the models that a refit found, at all sizes.

    Args:
        pair: what is kept of a half for which nothing was found, as where a refit was stopped.
        bolted: both halves fitted, of ``fit_regimes``.
    """
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
    """Return those of `STUDIES` that ship with this installation."""
    found = []
    for name in STUDIES:
        try:
            found.append(shipped(name))
        except DatasetError:
            continue
    return tuple(found)


def find_half(studies: Sequence[StudyResult], measured: OSUCurve, model: str, regime: str) -> Half:
    """Return the model of a half as a study fitted it, or with its defaults where none did.

    Args:
        studies: looked through in this order.
        measured: the whole curve of the machine.
        model: name of the model.
        regime: ``low``, ``high`` or ``all``; fits to all sizes stand in where there is no other.
    """
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
    """Return the Python that bolts the pair which is shown, as ``bolted``.

    Args:
        bolted: the pair.
        machine: name of the machine's dataset.
    """
    return (
        "from workbench import datasets, models\n"
        "from workbench.fit.bolted import Bolted, ModelCurve\n"
        f'measured = datasets.load("{machine}")\n'
        f"low = ModelCurve({model_expression(bolted.low.model)}, measured)\n"
        f"high = ModelCurve({model_expression(bolted.high.model)}, measured)\n"
        f"bolted = Bolted(low, high, threshold={bolted.threshold})"
    )


def refit_lines(state: RegimeState, *, loss: str, engine: str, trials: int, seed: int) -> str:
    """Return the Python that fits both halves at the threshold.

    Args:
        state: what the panel holds.
        loss: what is minimised.
        engine: what searches.
        trials: configurations for each half.
        seed: of the searches.
    """
    return (
        "from workbench import datasets\n"
        "from workbench.fit.regimes import fit_regimes\n"
        f'bolted = fit_regimes(datasets.load("{state.machine}"), "{state.low}", "{state.high}", '
        f'threshold={state.threshold}, loss="{loss}", engine="{engine}", trials={trials}, '
        f"seed={seed})"
    )


def read_pair(bolted: Bolted, pair: Pair) -> str:
    """Return the errors of the halves and of the whole, beside one model for all sizes.

    Args:
        bolted: the pair at the threshold.
        pair: the same with the single model.
    """
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
    """Return the study's fit of least joint error, as the panel's errors are joint."""
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
