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
        CollectiveCalibration as CollectiveCalibration,
        calibrate_collective as calibrate_collective,
        collective_problem as collective_problem,
    )
    from workbench.uq.collectives.check import held_out as held_out
    from workbench.uq.collectives.engines import (
        RootEngines as RootEngines,
        root_engines as root_engines,
    )
    from workbench.uq.collectives.gemini import (
        HOPPER as HOPPER,
        SCALED_HOPPER as SCALED_HOPPER,
        SHUFFLED_HOPPER as SHUFFLED_HOPPER,
        GeminiCollective as GeminiCollective,
        TorusPlaces as TorusPlaces,
        figure_tests as figure_tests,
        paper_tests as paper_tests,
    )
    from workbench.uq.collectives.gemini_fabric import FabricCollective as FabricCollective
    from workbench.uq.collectives.measured import (
        MeasuredCollective as MeasuredCollective,
        algorithms_of as algorithms_of,
        read_measured as read_measured,
    )
    from workbench.uq.collectives.measured_validation import (
        MeasuredValidation as MeasuredValidation,
        validate_measured as validate_measured,
    )
    from workbench.uq.collectives.models import CollectiveTest as CollectiveTest
    from workbench.uq.collectives.round_costs import placed_on as placed_on
    from workbench.uq.collectives.shipped import (
        load_measured as load_measured,
        shipped_algorithms as shipped_algorithms,
        shipped_collectives as shipped_collectives,
    )
    from workbench.uq.collectives.system_coverage import (
        SystemCoverage as SystemCoverage,
        cover_systems as cover_systems,
        shipped_coverage as shipped_coverage,
    )
    from workbench.uq.collectives.table_four import (
        TableFour as TableFour,
        closed_gather as closed_gather,
        closed_sd as closed_sd,
        compare_table_4 as compare_table_4,
    )
    from workbench.uq.collectives.unknown_algorithm import (
        AlgorithmMixture as AlgorithmMixture,
        calibrate_unknown as calibrate_unknown,
    )
    from workbench.uq.collectives.validation import (
        CollectiveValidation as CollectiveValidation,
        validate_collective as validate_collective,
    )
else:
    __getattr__, __dir__ = lazy_exports(__name__)
