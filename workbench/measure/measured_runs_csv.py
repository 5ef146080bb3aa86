"""Measured run times in, from CSV."""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import numpy as np

from workbench.errors import ParseError
from workbench.measure.log_lines import MOST_EXACT, decoded
from workbench.measure.measured_runs import ABOUT, NEEDED, OPTIONAL, MeasuredRuns
from workbench.measure.osu_read import OSUSource, label_and_content
from workbench.provenance import ORIGINS, Origin, Provenance
from workbench.suggestions import did_you_mean
from workbench.text_table import CUT, without_cut_row

_WHAT = "a table of measured runs"
_SEPARATORS = ",;\t"
_STATED = re.compile(r"#\s*([A-Za-z][\w .-]{0,40}?)\s*:\s*(.+)")
_WORDS = {
    **dict.fromkeys(("", "0", "false", "no"), False),
    **dict.fromkeys(("1", "true", "yes"), True),
}
_ARGUMENTS = {"load": "load_average"}  # of `MeasuredRuns.of`, where a column has another name


def read_measured_runs(
    source: OSUSource, *, provenance: Provenance | None = None, origin: Origin = "measured"
) -> MeasuredRuns:
    """Return the runs in a CSV ``latency_us,time_s``, one row a run.

    ``latency_us`` is what was added to the network's own latency, one way. The columns ``repeat``,
    ``program``, ``ranks``, ``load`` (the machine's load average) and ``flagged`` (true where the
    machine was busy) may be there too. Lines such as ``# origin: emulated`` say where the numbers
    come from: ``origin``, ``title``, ``source``, ``licence``, and whatever else should be known.
    With semicolons or tabs between the fields decimal commas are read too.

    Args:
        source: path of a file; or the CSV itself, as text of more than one line or as bytes; or a
            pair of a name and the CSV.
        provenance: where the numbers come from; None takes the file's own lines.
        origin: how the numbers came to be, where neither says so.

    Raises:
        ParseError: it is no such table; names the line.
    """
    label, content = label_and_content(source)
    text = decoded(content, label).lstrip("\ufeff")
    lines = text.splitlines()
    start, names, separator = _heading(lines, label)
    notes: tuple[str, ...] = ()
    text, cut = without_cut_row(text, separator, len(names))
    if cut:
        notes = (f"{label}:{cut}: {CUT}",)
        del lines[cut - 1 :]
    columns: dict[str, list[Any]] = {name: [] for name in names}
    for number, row in _cells(lines, start, len(names), separator, label):
        for name, text in zip(names, row, strict=True):
            columns[name].append(_value(name, text, separator, label, number))
    if not columns["time_s"]:
        raise ParseError(f"{_WHAT} must have rows; got none", source=label)
    about = provenance or _provenance(lines[: start - 1], label, origin)
    given = {_ARGUMENTS.get(k, k): values for k, values in columns.items() if k in OPTIONAL}
    found = MeasuredRuns.of(
        # Of a division each decimal number of µs is the nearest double in s.
        np.array(columns["latency_us"]) / 1e6,
        columns["time_s"],
        provenance=about,
        **given,
    )
    return replace(found, notes=(*notes, *found.notes)) if notes else found


def _heading(lines: list[str], label: str) -> tuple[int, list[str], str]:
    """Return the line, from 1, that names the columns, the names, and the separator."""
    rows = ((n, line) for n, line in enumerate(lines, 1) if line.strip() and line[0] != "#")
    number, line = next(rows, (0, ""))
    if not number:
        raise ParseError(f"{_WHAT} must begin with the names of its columns", source=label)
    separator = max(_SEPARATORS, key=line.count)
    names = [name.strip().strip('"').strip() for name in line.split(separator)]
    known = (*NEEDED, *OPTIONAL)
    if lacking := [name for name in NEEDED if name not in names]:
        raise ParseError(
            f"{_WHAT} must have the columns {', '.join(NEEDED)}, and may have "
            f"{', '.join(OPTIONAL)}; it lacks {', '.join(lacking)}"
            f"{did_you_mean(lacking[0], names)}; got {_short(line)}",
            source=label,
            line=number,
        )
    if twice := [name for name in known if names.count(name) > 1]:
        raise ParseError(
            f"{_WHAT} must have each column once; it has {twice[0]} more than once",
            source=label,
            line=number,
        )
    return number, names, separator


def _cells(
    lines: list[str], start: int, width: int, separator: str, label: str
) -> Iterator[tuple[int, list[str]]]:
    """Yield number and cells of each row below the heading."""
    for number, line in enumerate(lines[start:], start=start + 1):
        if not line.strip() or line.startswith("#"):
            continue
        try:
            (row,) = csv.reader([line], delimiter=separator, strict=True)
        except csv.Error as error:
            raise ParseError(f"a row must be CSV; {error}", source=label, line=number) from error
        if len(row) != width:
            raise ParseError(
                f"a row must have {width} fields as the heading; got {len(row)}",
                source=label,
                line=number,
            )
        yield number, [cell.strip() for cell in row]


def _value(name: str, text: str, separator: str, label: str, line: int) -> object:
    """Return a cell's value; ParseError says what the column holds."""
    if name == "program" or name not in (*NEEDED, *OPTIONAL):
        return text
    if name == "flagged":
        if text.lower() not in _WORDS:
            raise ParseError(
                f"flagged must be true or false; got {_short(text)!r}", source=label, line=line
            )
        return _WORDS[text.lower()]
    value = _number(text.replace(",", ".") if separator != "," else text)
    must, holds, missing = _COLUMNS[name]
    if not text and missing is not None:
        return missing
    if not holds(value):
        raise ParseError(f"{name} must be {must}; got {_short(text)!r}", source=label, line=line)
    return int(value) if name in ("repeat", "ranks") else value


def _is_count(value: float) -> bool:
    return value.is_integer() and 0 <= value < MOST_EXACT


# What a cell must be, whether a number is that, and what an empty one stands for.
_COLUMNS: dict[str, tuple[str, Any, float | None]] = {
    "latency_us": ("a latency of at least 0 µs", lambda v: 0 <= v < 1e12, None),
    "time_s": ("a time above 0 s", lambda v: 0 < v < 1e12, None),
    "repeat": ("a whole number of at least 0", _is_count, None),
    "ranks": ("a whole number of at least 0, or empty", _is_count, 0),
    "load": ("a number of at least 0, or empty", lambda v: 0 <= v < math.inf, math.nan),
}


def _number(text: str) -> float:
    """Return the value of a number, nan where a text is none."""
    try:
        return float(text)
    except ValueError:
        return math.nan


def _provenance(lines: Iterable[str], label: str, origin: Origin) -> Provenance:
    """Return what the lines above a table state about it."""
    stated: dict[str, str] = {}
    for number, line in enumerate(lines, start=1):
        found = _STATED.fullmatch(line.strip())
        if found is None:
            continue
        stated[found[1]] = found[2].strip()
        if found[1] == "origin" and stated["origin"] not in ORIGINS:
            raise ParseError(
                f"origin must be one of {', '.join(ORIGINS)}; got {_short(stated['origin'])!r}"
                f"{did_you_mean(stated['origin'], ORIGINS)}",
                source=label,
                line=number,
            )
    details: Mapping[str, str] = {k: v for k, v in stated.items() if k not in ABOUT}
    return Provenance(
        cast("Origin", stated.get("origin", origin)),
        stated.get("title") or Path(label).stem or label,
        stated.get("source", label),
        stated.get("licence", ""),
        details,
    )


def _short(text: str) -> str:
    plain = "".join(c if c.isprintable() else " " for c in text[:200])
    return plain if len(plain) <= 60 else plain[:59] + "…"
