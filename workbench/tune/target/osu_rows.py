"""Rows of any OSU benchmark's table, collectives among them: one number a message size."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

_LONGEST_LINE = 1000
_SIZE = re.compile(r"[0-9]{1,18}")
_COLUMN = re.compile(
    r"(?P<words>[A-Za-z][A-Za-z0-9./ ]{0,40}?)\s*[(\[]\s*[^)\]]{1,12}[)\]]"
    r"|(?P<word>[A-Za-z]\S{0,40})"
)


@dataclass(frozen=True)
class OSURow:
    """One row of a table."""

    size: int  # bytes
    value: float  # of the column asked for


def osu_rows(text: str, statistic: str = "") -> list[OSURow]:
    """Return the last table's rows by size; ``statistic`` begins a column's name, empty: first."""
    column = 1 if not statistic else None
    rows: dict[int, OSURow] = {}
    for line in text.splitlines():
        if len(line) > _LONGEST_LINE:
            continue
        words = line.split()
        if not words:
            continue
        if words[0].lstrip("#") == "Size" or words[:2] == ["#", "Size"]:
            column = _column(line, statistic)
            rows = {}
            continue
        if words[0] == "#bytes":
            # A table of the Intel MPI benchmarks, whose first column is no time.
            column, rows = None, {}
            continue
        if column is None or len(words) <= column or not _SIZE.fullmatch(words[0]):
            continue
        try:
            value = float(words[column])
        except ValueError:
            continue
        if math.isfinite(value):
            rows[int(words[0])] = OSURow(int(words[0]), value)
    return [rows[size] for size in sorted(rows)]


def rate_heading(text: str) -> str:
    """Return the last heading if its first column is a rate, such as MB/s; else ``""``."""
    headings = [
        line
        for line in text.splitlines()
        if line.lstrip("# ").startswith("Size") and len(line) <= _LONGEST_LINE
    ]
    rate = headings and re.search(r"/s(ec)?\b", headings[-1])
    return headings[-1].strip("# ") if rate else ""


def _column(heading: str, statistic: str) -> int | None:
    """Return the index of a column in a heading, the size's being 0; None if missing."""
    if not statistic:
        return 1
    bare = heading.strip().lstrip("# ")
    # Columns stand two blanks apart; where they do not, a unit in parentheses ends each.
    names = re.split(r"\s{2,}|\t", bare)
    if len(names) < 3:
        names = [match["words"] or match["word"] for match in _COLUMN.finditer(bare)]
    for at, name in enumerate(names):
        if at and name.lower().startswith(statistic.lower()):
            return at
    return None
