"""Which setting of a panel is played on the site, and over which values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from workbench.measure.curve import byte_label


def _nothing(panel: Any) -> None:
    """Leave a panel as it is."""


@dataclass(frozen=True)
class Move:
    """A setting of a panel and its values."""

    setting: str
    name: str  # before the slider
    values: Sequence[Any]
    first: int = 0  # position of the value that is shown first
    texts: Sequence[str] = ()  # of the values, empty where they speak for themselves
    prepare: Callable[[Any], None] = _nothing  # brings a new panel to where it has a figure
    follow: Callable[[Any], None] = _nothing  # does what a new value waits for: presses a button

    def labels(self) -> list[str]:
        """Return the texts of the values."""
        return list(self.texts) or [str(value) for value in self.values]


def _spread(
    setting: str, name: str, ends: tuple[float, float], unit: str, *, first: int, count: int = 8
) -> Move:
    """Return a move over numbers that are evenly spread on a logarithmic scale."""
    low, high = ends
    ratio = (high / low) ** (1 / (count - 1))
    values = [float(f"{low * ratio**n:.3g}") for n in range(count)]
    return Move(setting, name, values, first, [f"{value:g} {unit}" for value in values])


def _latency() -> Move:
    """Return a move over the time from the network card to the switch, in ns."""
    spread = _spread("injection_latency", "Injection latency", (100, 4000), "ns", first=3)
    return Move(spread.setting, spread.name, spread.texts, spread.first)


_BYTES = [2**n for n in range(1, 21, 2)]
_SHARES = [n / 10 for n in range(1, 11)]
_LOSSES = ("rmsre", "rmspe", "mae", "mse", "rmse", "huber")
_HEURISTICS = ("surrogate-gp", "annealing", "genetic", "random")
_STOPPINGS = ("budget", "best improvement 15", "best improvement 5", "count 2 of 5", "distance")
_VIEWS = ("data", "sobol", "chains", "posterior", "fit", "prediction")
_STEPS = ("Data", "Sobol' indices", "Chains", "Posterior", "Fit", "Prediction")
_RECORDINGS = ("cg-4", "halo2d-4", "master_worker-4", "ring_pipeline-4", "transpose-4")
_ROWS = ("000-fig-1", "000-fig-8", "000-fig-10", "002-table-1", "003-fig-12")

MOVES: dict[str, Move] = {
    "ExplorePanel": _latency(),
    "FitPanel": _latency(),
    "StudyPanel": Move("loss", "Fitted by the loss", _LOSSES),
    "RegimePanel": Move("threshold", "Threshold", _BYTES, 4, [byte_label(n) for n in _BYTES]),
    "ReplayPanel": _spread("L_us", "Network latency L", (0.5, 200), "µs", first=2),
    "TolerancePanel": _spread("probe_L_us", "Probed latency L", (1, 60), "µs", first=2),
    "PlacementPanel": _spread("l_wire_ns", "Latency of a wire", (50, 3200), "ns", first=2, count=7),
    "ComparePanel": Move("offered", "Hosts send", _SHARES, 6, [f"{n:.0%}" for n in _SHARES]),
    "TuningPanel": Move("heuristic", "Heuristic", _HEURISTICS, follow=lambda panel: panel.start()),
    "SearchComparisonPanel": Move("stopping", "Stopping rule", _STOPPINGS, first=1),
    "UncertaintyPanel": Move(
        "view", "Step", _VIEWS, 5, _STEPS, prepare=lambda panel: panel.run(every=False)
    ),
    "BlamePanel": Move("step", "Step", range(20), first=7),
    "ForecastPanel": Move("at", "Steps seen", range(10, 30), first=15),
    "ValidationPanel": Move("recording", "Program", _RECORDINGS),
    "PapersPanel": Move("row", "Row", _ROWS),
}
"""The moves, by class of the panel."""


def move_of(panel: Any) -> Move | None:
    """Return the move of a panel, None where it stands still."""
    move = MOVES.get(type(panel).__name__)
    return move if move is not None and hasattr(panel, move.setting) else None
