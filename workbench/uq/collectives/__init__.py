"""Calibration to measured collectives: the rounds of an algorithm, their costs, and replicas.

measured = load_measured("fugaku", "gather")       # or read_measured("times.csv", "gather")
found = calibrate_collective(measured.on([8, 64]), seed=1)
found.predict([CollectiveTest(512, 16384, shape=(8, 8, 8))]).to_frame()
"""

from __future__ import annotations

from workbench.uq.collectives.calibration import (
    CollectiveCalibration,
    calibrate_collective,
    collective_problem,
)
from workbench.uq.collectives.check import held_out
from workbench.uq.collectives.engines import RootEngines, root_engines
from workbench.uq.collectives.gemini import (
    HOPPER,
    SCALED_HOPPER,
    SHUFFLED_HOPPER,
    GeminiCollective,
    TorusPlaces,
)
from workbench.uq.collectives.measured import MeasuredCollective, read_measured
from workbench.uq.collectives.measured_validation import MeasuredValidation, validate_measured
from workbench.uq.collectives.models import CollectiveTest
from workbench.uq.collectives.round_costs import placed_on
from workbench.uq.collectives.shipped import (
    load_measured,
    shipped_algorithms,
    shipped_collectives,
)
from workbench.uq.collectives.unknown_algorithm import AlgorithmMixture, calibrate_unknown
from workbench.uq.collectives.validation import CollectiveValidation, validate_collective

__all__ = [
    "HOPPER",
    "SCALED_HOPPER",
    "SHUFFLED_HOPPER",
    "AlgorithmMixture",
    "CollectiveCalibration",
    "CollectiveTest",
    "CollectiveValidation",
    "GeminiCollective",
    "MeasuredCollective",
    "MeasuredValidation",
    "RootEngines",
    "TorusPlaces",
    "calibrate_collective",
    "calibrate_unknown",
    "collective_problem",
    "held_out",
    "load_measured",
    "placed_on",
    "read_measured",
    "root_engines",
    "shipped_algorithms",
    "shipped_collectives",
    "validate_collective",
    "validate_measured",
]
