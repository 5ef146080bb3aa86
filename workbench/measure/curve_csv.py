"""Curves from the CSV text that ``OSUCurve.to_csv`` writes and the shipped datasets hold."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from workbench.errors import ParameterError, ParseError
from workbench.measure.curve import FloatArray, OSUCurve, Spread
from workbench.provenance import Provenance


def read_curve_csv(
    *texts: tuple[str, str], name: str, provenance: Provenance, notes: tuple[str, ...] = ()
) -> OSUCurve:
    """Return the curve held by one or more CSV texts that share a column of sizes.

    Known columns are those of ``OSUCurve.columns``: ``size_bytes``, ``latency_us`` and
    ``bandwidth_MBps``, and the quartiles and counts of either. An empty field is a size that was
    not measured.

    Args:
        texts: pairs of a file name and the text, the first with the curve itself.
        name: name of the curve.
        provenance: where the numbers came from.
        notes: what a reader should know about them.

    Raises:
        ParseError: a text has no sizes, a field is not a number, a row has too many or too few
            fields, or two texts differ in their sizes.
    """
    columns: dict[str, FloatArray] = {}
    for source, text in texts:
        for column, values in _columns(source, text).items():
            if column == "size_bytes" and column in columns:
                if not np.array_equal(columns[column], values):
                    raise ParseError(
                        f"its sizes must be those of {texts[0][0]}; they differ", source=source
                    )
            elif column in columns:
                raise ParseError(f"column {column} stands in another file too", source=source)
            columns[column] = values
    missing = np.full(len(columns["size_bytes"]), math.nan)
    try:
        return OSUCurve(
            name=name,
            sizes=columns["size_bytes"].astype(np.int64),
            latency_s=columns.get("latency_us", missing) * 1e-6,
            bandwidth_Bps=columns.get("bandwidth_MBps", missing) * 1e6,
            provenance=provenance,
            latency_spread=_spread(columns, "latency", "us", 1e-6),
            bandwidth_spread=_spread(columns, "bandwidth", "MBps", 1e6),
            notes=notes,
        )
    except ParameterError as error:
        raise ParseError(str(error), source=texts[0][0]) from error


def _columns(source: str, text: str) -> dict[str, FloatArray]:
    lines = text.splitlines()
    heading = lines[0].split(",") if lines else ["an empty text"]
    if heading[:1] != ["size_bytes"]:
        raise ParseError(
            f"the first column must be size_bytes; got {heading[0]}",
            source=source,
            line=1,
        )
    rows: list[list[float]] = []
    for number, line in enumerate(lines[1:], start=2):
        fields = line.split(",")
        if len(fields) != len(heading):
            raise ParseError(
                f"a row must have {len(heading)} fields as the heading; got {len(fields)}",
                source=source,
                line=number,
            )
        try:
            rows.append([float(field) if field else math.nan for field in fields])
        except ValueError as error:
            raise ParseError(
                f"a field must be a number or empty; {error}", source=source, line=number
            ) from error
    table = np.array(rows, dtype=np.float64).reshape(-1, len(heading))
    return {column: table[:, at] for at, column in enumerate(heading)}


def _spread(columns: Mapping[str, FloatArray], what: str, unit: str, scale: float) -> Spread | None:
    names = [f"{what}_{label}_{unit}" for label in ("min", "p25", "median", "p75", "max")]
    if f"{what}_count" not in columns or not all(name in columns for name in names):
        return None
    quartiles = [columns[name] * scale for name in names]
    return Spread.from_quartiles(quartiles, columns[f"{what}_count"])
