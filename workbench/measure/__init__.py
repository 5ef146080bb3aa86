"""Measurements in: the output of benchmarks as curves over message size, and run times.

``read`` says what a file is. ``read_osu`` makes one curve of files or texts; ``parse_benchmarks``
gives their tables as they stand, each with what the text says of it.
``read_measured_runs`` reads run times of programs under latency that was added to the network's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.lazy import lazy_exports

if TYPE_CHECKING:
    from workbench.measure.benchmark_table import BenchmarkTable as BenchmarkTable, Note as Note
    from workbench.measure.benchmark_text import parse_benchmarks as parse_benchmarks
    from workbench.measure.consistency import contradiction as contradiction, rail_step as rail_step
    from workbench.measure.curve import (
        OSU_SIZES as OSU_SIZES,
        OSUCurve as OSUCurve,
        Spread as Spread,
    )
    from workbench.measure.datasheet import (
        DataSheet as DataSheet,
        Stated as Stated,
        datasheet as datasheet,
        read_datasheet as read_datasheet,
    )
    from workbench.measure.experiments import SeveralExperimentsError as SeveralExperimentsError
    from workbench.measure.measured_runs import MeasuredRuns as MeasuredRuns, RunPoints as RunPoints
    from workbench.measure.measured_runs_csv import read_measured_runs as read_measured_runs
    from workbench.measure.osu_read import read_osu as read_osu
    from workbench.measure.read import read as read
    from workbench.reading import Reading as Reading, ReadTable as ReadTable
else:
    __getattr__, __dir__ = lazy_exports(__name__)
