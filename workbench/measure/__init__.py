"""Measurements in: the output of the OSU micro-benchmarks, as curves over message size.

``read_osu`` makes one curve of files or texts; ``parse_osu_text`` gives their tables as they stand.
"""

from __future__ import annotations

from workbench.measure.consistency import contradiction
from workbench.measure.curve import OSU_SIZES, OSUCurve, Spread
from workbench.measure.datasheet import DataSheet, Stated, datasheet, read_datasheet
from workbench.measure.osu_read import read_osu
from workbench.measure.osu_table import Note, OSUTable
from workbench.measure.osu_text import parse_osu_text

__all__ = [
    "OSU_SIZES",
    "DataSheet",
    "Note",
    "OSUCurve",
    "OSUTable",
    "Spread",
    "Stated",
    "contradiction",
    "datasheet",
    "parse_osu_text",
    "read_datasheet",
    "read_osu",
]
