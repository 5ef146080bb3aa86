"""Calibration to measured collectives: the rounds of an algorithm, their costs, and replicas.

measured = load_measured("fugaku", "gather")       # or read_measured("times.csv", "gather")
found = calibrate_collective(measured.on([8, 64]), seed=1)
found.predict([CollectiveTest(512, 16384, shape=(8, 8, 8))]).to_frame()
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.lazy import lazy_exports

if TYPE_CHECKING:
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
        figure_tests,
        paper_tests,
    )
    from workbench.uq.collectives.gemini_fabric import FabricCollective
    from workbench.uq.collectives.measured import MeasuredCollective, algorithms_of, read_measured
    from workbench.uq.collectives.measured_validation import MeasuredValidation, validate_measured
    from workbench.uq.collectives.models import CollectiveTest
    from workbench.uq.collectives.round_costs import placed_on
    from workbench.uq.collectives.shipped import (
        load_measured,
        shipped_algorithms,
        shipped_collectives,
    )
    from workbench.uq.collectives.system_coverage import (
        SystemCoverage,
        cover_systems,
        shipped_coverage,
    )
    from workbench.uq.collectives.table_four import (
        TableFour,
        closed_gather,
        closed_sd,
        compare_table_4,
    )
    from workbench.uq.collectives.unknown_algorithm import AlgorithmMixture, calibrate_unknown
    from workbench.uq.collectives.validation import CollectiveValidation, validate_collective
else:
    __getattr__, __dir__ = lazy_exports(__name__)

__all__ = [
    "HOPPER",
    "SCALED_HOPPER",
    "SHUFFLED_HOPPER",
    "AlgorithmMixture",
    "CollectiveCalibration",
    "CollectiveTest",
    "CollectiveValidation",
    "FabricCollective",
    "GeminiCollective",
    "MeasuredCollective",
    "MeasuredValidation",
    "RootEngines",
    "SystemCoverage",
    "TableFour",
    "TorusPlaces",
    "algorithms_of",
    "calibrate_collective",
    "calibrate_unknown",
    "closed_gather",
    "closed_sd",
    "collective_problem",
    "compare_table_4",
    "cover_systems",
    "figure_tests",
    "held_out",
    "load_measured",
    "paper_tests",
    "placed_on",
    "read_measured",
    "root_engines",
    "shipped_algorithms",
    "shipped_collectives",
    "shipped_coverage",
    "validate_collective",
    "validate_measured",
]
