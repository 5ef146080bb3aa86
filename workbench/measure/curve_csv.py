"""Curves from CSV: what ``OSUCurve.to_csv`` writes, shipped datasets hold, and a user types."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping

import numpy as np

from workbench.errors import ParameterError, ParseError
from workbench.measure.curve import FloatArray, OSUCurve, Spread
from workbench.measure.log_lines import LONGEST_LINE, MOST_EXACT, pointed
from workbench.provenance import Provenance
from workbench.text_table import CUT, without_cut_row

_NAMES = {
    "size_bytes": re.compile(r"(?i:(message[ _])?size)[\W_]*(?i:b|bytes?)?\W*"),
    "latency_us": re.compile(r"(?i:(measured[ _])?(lat|latency))[\W_]*(us|usec|[µμ]s)\W*"),
    "bandwidth_MBps": re.compile(r"(?i:(measured[ _])?(bw|bandwidth))[\W_]*(MBps|MB/s|MB/sec)\W*"),
}
"""The accepted headings of a curve's columns: ours, the benchmarks' and FitPanel's."""

_OF_SPREADS = re.compile(
    r"(?:latency|bandwidth)_(?:(?:min|p25|median|p75|max)_(?:us|MBps)|count)|fitted_\w+|simulated_\w+"
)


def read_curve_csv(
    *texts: tuple[str, str], name: str, provenance: Provenance, notes: tuple[str, ...] = ()
) -> OSUCurve:
    """Return the curve of (name, CSV text) pairs with equal sizes; the first holds the curve."""
    columns: dict[str, FloatArray] = {}
    for source, text in texts:
        for column, values in _columns(source, text)[0].items():
            if column == "size_bytes" and column in columns:
                if not np.array_equal(columns[column], values):
                    raise ParseError(
                        f"its sizes must be those of {texts[0][0]}; they differ", source=source
                    )
            elif column in columns:
                raise ParseError(f"column {column} is in another file too", source=source)
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


def is_curve_csv(text: str) -> bool:
    """Return whether a text's first line names the columns of a curve with its spread or fit."""
    heading = _heading(text)[1]
    more = [_OF_SPREADS.fullmatch(name) is not None for name in heading]
    known = [name in _NAMES or ours for name, ours in zip(heading, more, strict=True)]
    return heading[:1] == ["size_bytes"] and any(more) and all(known)


def not_read(text: str) -> list[tuple[int, str]]:
    """Return the parts of a curve's CSV that are left out, by line: columns of a fit, a cut row."""
    line, names, separator = _heading(text)
    found = [
        (line, f"column {name!r} was not used")
        for name in names
        if name.startswith(("fitted_", "simulated_"))
    ]
    if cut := without_cut_row(text, separator, len(names))[1]:
        found.append((cut, CUT))
    return found


def _heading(text: str) -> tuple[int, list[str], str]:
    """Return line, names and separator of the first line that is neither empty nor a comment."""
    for number, line in enumerate(text.lstrip("\ufeff").splitlines(), start=1):
        if not line.strip() or line.startswith("#"):
            continue
        if len(line) > LONGEST_LINE:
            break
        separator = max((";", "\t", ","), key=line.count)
        return number, [_named(field) for field in line.split(separator)], separator
    return 1, [], ","


def _named(field: str) -> str:
    """Return the name a column has here, whichever way it is headed."""
    bare = field.strip().strip('"').strip()
    for name, pattern in _NAMES.items():
        if pattern.fullmatch(bare):
            return name
    return bare


def _columns(source: str, text: str) -> tuple[dict[str, FloatArray], list[int]]:
    """Return the columns by name, and the line of each row."""
    start, heading, separator = _heading(text)
    if heading[:1] != ["size_bytes"]:
        raise ParseError(
            f"the first column must be size_bytes; got {(heading or ['an empty text'])[0]}",
            source=source,
            line=start,
        )
    twice = next((name for name in heading if heading.count(name) > 1), None)
    if twice is not None:
        raise ParseError(f"column {twice} occurs twice", source=source, line=start)
    rows: list[list[float]] = []
    lines: list[int] = []
    whole, _ = without_cut_row(text.lstrip("\ufeff"), separator, len(heading))
    for number, line in enumerate(whole.splitlines(), start=1):
        if number <= start or not line.strip() or line.startswith("#"):
            continue
        fields = [field.strip().strip('"') for field in line.split(separator)]
        if len(fields) != len(heading):
            also = "" if separator != "," else "; decimal commas need semicolons between fields"
            raise ParseError(
                f"a row must have {len(heading)} fields as the heading; got {len(fields)}{also}",
                source=source,
                line=number,
            )
        if separator != ",":
            fields = [pointed(field) for field in fields]
        try:
            row = [float(field) if field else math.nan for field in fields]
        except ValueError as error:
            raise ParseError(
                f"a field must be a number or empty; {error}", source=source, line=number
            ) from error
        if not (row[0].is_integer() and 0 <= row[0] < MOST_EXACT) or math.inf in map(abs, row):
            raise ParseError(
                "a size must be a whole number of bytes and other fields finite; got "
                f"{separator.join(fields)}",
                source=source,
                line=number,
            )
        rows.append(row)
        lines.append(number)
    table = np.array(rows, dtype=np.float64).reshape(-1, len(heading))
    return {column: table[:, at] for at, column in enumerate(heading)}, lines


def _spread(columns: Mapping[str, FloatArray], what: str, unit: str, scale: float) -> Spread | None:
    names = [f"{what}_{label}_{unit}" for label in ("min", "p25", "median", "p75", "max")]
    if f"{what}_count" not in columns or not all(name in columns for name in names):
        return None
    quartiles = [columns[name] * scale for name in names]
    return Spread.from_quartiles(quartiles, columns[f"{what}_count"])
