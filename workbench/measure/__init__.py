"""Measurements in: the output of benchmarks as curves over message size, and run times.

``read`` says what a file is. ``read_osu`` makes one curve of files or texts; ``parse_benchmarks``
gives their tables as they stand, each with what the text says of it.
``read_measured_runs`` reads run times of programs under latency that was added to the network's.
"""

from __future__ import annotations

from workbench.measure.benchmark_table import BenchmarkTable, Note
from workbench.measure.benchmark_text import parse_benchmarks
from workbench.measure.consistency import contradiction, rail_step
from workbench.measure.curve import OSU_SIZES, OSUCurve, Spread
from workbench.measure.datasheet import DataSheet, Stated, datasheet, read_datasheet
from workbench.measure.experiments import SeveralExperimentsError
from workbench.measure.measured_runs import MeasuredRuns, RunPoints
from workbench.measure.measured_runs_csv import read_measured_runs
from workbench.measure.osu_read import read_osu
from workbench.measure.read import read
from workbench.reading import Reading, ReadTable

__all__ = [
    "OSU_SIZES",
    "BenchmarkTable",
    "DataSheet",
    "MeasuredRuns",
    "Note",
    "OSUCurve",
    "ReadTable",
    "Reading",
    "RunPoints",
    "SeveralExperimentsError",
    "Spread",
    "Stated",
    "contradiction",
    "datasheet",
    "parse_benchmarks",
    "rail_step",
    "read",
    "read_datasheet",
    "read_measured_runs",
    "read_osu",
]
