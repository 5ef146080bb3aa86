"""Measurements in: the OSU micro-benchmarks' output as curves over message size, and run times.

``read_osu`` makes one curve of files or texts; ``parse_osu_text`` gives their tables as they stand.
``read_measured_runs`` reads run times of programs under latency that was added to the network's.
"""

from __future__ import annotations

from workbench.measure.consistency import contradiction
from workbench.measure.curve import OSU_SIZES, OSUCurve, Spread
from workbench.measure.datasheet import DataSheet, Stated, datasheet, read_datasheet
from workbench.measure.measured_runs import MeasuredRuns, RunPoints
from workbench.measure.measured_runs_csv import read_measured_runs
from workbench.measure.osu_read import read_osu
from workbench.measure.osu_table import Note, OSUTable
from workbench.measure.osu_text import parse_osu_text

__all__ = [
    "OSU_SIZES",
    "DataSheet",
    "MeasuredRuns",
    "Note",
    "OSUCurve",
    "OSUTable",
    "RunPoints",
    "Spread",
    "Stated",
    "contradiction",
    "datasheet",
    "parse_osu_text",
    "read_datasheet",
    "read_measured_runs",
    "read_osu",
]
