"""Tables of benchmarks with separators: CSV, pasted spreadsheets, markdown.

A column of sizes, one or more of results, and columns that tell experiments apart, such as
``placement`` or ``nodes``. The headings are ours, those of OSU or IMB, or rows of ``benchmark``,
``value`` and ``unit``. In markdown the headings may name series, whose unit is in a row above.
"""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from workbench.errors import ParseError
from workbench.measure.benchmark_table import BenchmarkTable, Note, Role, counted_once
from workbench.measure.launch import label_of
from workbench.measure.log_lines import LARGEST, LONGEST_LINE, MOST_EXACT, lines_of, pointed
from workbench.measure.osu_text import COLLECTIVES, OSUSection, open_titled, runs_of
from workbench.text_table import CUT

_MOST_LINES_BEFORE = 40  # chosen: lines of a README or a log before its first table
_SEPARATORS = ",;\t|"

_SIZE = re.compile(
    r"#?\s*(?:(?:message|msg|block)[ _]*)?(?:n?bytes|(?:size|length)"
    r"(?:(?:\W|_)*(?:in )?(?P<unit>(?:[kmg]i?)?b(?:ytes?)?))?)\W*",
    re.IGNORECASE,
)
_LATENCY = re.compile(
    r"(?:measured[ _]|(?P<statistic>avg|average|mean|median|min|max|p[0-9]+|t)[ _.]*(?:tail )?)*"
    r"(?:lat|latency|time|t(?P<of_t>_avg|_min|_max|_typical)?)?"
    r"(?:[\W_]*(?P<unit>[munµμ]s(?:ec)?)|[\W_]+(?P<seconds>s(?:ec(?:onds?)?)?))\W*",
    re.IGNORECASE,
)
_BANDWIDTH = re.compile(
    r"(?:measured[ _])?(?:(?i:bw|bandwidth|throughput)[\W_]*)?"
    r"(?P<prefix>[kKMGT])(?P<binary>i?)(?P<of>[Bb]|[Bb]ytes|[Bb]its?)(?:ps|/s|/sec)\W*"
)
_SERIES = re.compile(
    r"(?P<name>\S.{0,60}?)[ _]*[ _(\[](?P<unit>[munµμ]s|[kKMGT]i?[Bb](?:ps|/s))[)\]]?"
)
"""A heading with the name of what was measured and a unit, such as ``MPICH (us)``."""
_OF_SERIES = re.compile(r"(?P<unit>[^\s()\[\]]{2,20})\s*[(\[](?P<name>[^()\[\]]{1,60})[)\]]")
"""The other way round, such as ``Mbytes/sec (PingPong)``."""
_IMB_SERIES = re.compile(r"ping-?p[io]ng|send-?recv|exchange", re.IGNORECASE)
"""Tests of IMB whose rate is no stream of messages."""
_TIMES = {"u": 1.0, "µ": 1.0, "μ": 1.0, "n": 1e-3, "m": 1e3}  # in µs; µ as U+00B5 and U+03BC
_PREFIXES = {"k": 1e-3, "K": 1e-3, "M": 1.0, "G": 1e3, "T": 1e6}  # in MB/s
_ASIDE = re.compile(
    r"#?\s*(?:iterations|repetitions|(?i:min|max|p[0-9]+)\b.*|t_(?:min|max|stdev)\b.*|validation|"
    r"messages/s|msg/sec|runs?)\W*",
    re.IGNORECASE,
)
_RUN = re.compile(r"run|repeat|rep|repetition|trial", re.IGNORECASE)
_LABELS = {
    "placement": "placement", "nodes": "nodes", "nnodes": "nodes", "ranks": "ranks",
    "processes": "ranks", "nprocs": "ranks", "np": "ranks", "ranks_per_node": "ranks_per_node",
    "ppn": "ranks_per_node", "system": "system", "machine": "system", "cluster": "system",
    "benchmark": "benchmark", "test": "benchmark", "collective": "benchmark",
    "operation": "benchmark", "library": "library", "mpi": "library", "buffers": "buffers",
    "device": "device", "series": "series", "label": "label", "hosts": "hosts", "fabric": "fabric",
    "algorithm": "algorithm", "pairs": "pairs", "window": "window",
}  # fmt: skip
"""Columns that say of what experiment a row is, by their usual names."""

_ROLES: dict[str, Role] = {
    "osu_latency": "latency", "osu_bw": "bw", "osu_bibw": "bibw", "osu_mbw_mr": "mbw_mr",
    "pingpong": "latency", "imb_pingpong": "latency",
}  # fmt: skip
_UNITS = {
    "us": ("us", 1.0), "usec": ("us", 1.0), "µs": ("us", 1.0), "s": ("us", 1e6),
    "ms": ("us", 1e3), "ns": ("us", 1e-3), "mb/s": ("MB/s", 1.0), "mbps": ("", 0.0),
    "gb/s": ("MB/s", 1e3),
}  # fmt: skip


_SIZE_CELL = re.compile(r"([0-9]+)\s*(?:([KMG])i?B?|B|bytes?)", re.IGNORECASE)
_BINARY = {"k": 1 << 10, "m": 1 << 20, "g": 1 << 30}  # of sizes, as IMB and OSU write them


@dataclass
class _Block:
    """One table: its headings and the lines below them."""

    line: int
    cells: list[str]
    separator: str
    size: int
    results: dict[int, tuple[str, float, str]]  # column: unit, its number in a cell's 1, series
    title: OSUSection | None = None
    label: str = ""  # the line above the table
    of_value: tuple[int, int] | None = None  # columns ``value`` and ``unit``
    labels: dict[int, str] = field(default_factory=dict)
    run: int | None = None
    lines: list[tuple[int, str]] = field(default_factory=list)
    commas: bool = False  # whether decimals stand behind commas, and dots between thousands


def is_delimited(text: str) -> bool:
    """Return whether a text has a table with separators, its sizes in a column of their own."""
    return bool(_blocks(text))


def delimited_tables(text: str, source: str) -> list[BenchmarkTable]:
    """Return the tables of a text with separators, one for each experiment, result and run."""
    tables: list[BenchmarkTable] = []
    numbered: list[BenchmarkTable] = []  # whose runs have numbers: equal ones are two
    open_line = text.count("\n") + 1 if text and not text.endswith(("\n", "\r")) else 0
    for block in _blocks(text):
        names = [cell for cell in block.cells if cell]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise ParseError(f"column {twice} occurs twice", source=source, line=block.line)
        if not block.results and block.of_value is None:
            others = [cell for at, cell in enumerate(block.cells) if at != block.size]
            raise ParseError(
                f"a table of a curve must have a column latency_us or bandwidth_MBps; got "
                f"{', '.join(others)}; convert the values to us or MB/s and name the column so",
                source=source,
                line=block.line,
            )
        rows, notes = _rows(block, source, open_line)
        block.commas = block.separator != "," and any(
            re.fullmatch(r"[0-9.]*[0-9],[0-9]+", cell) for _, fields in rows for cell in fields
        )
        _find_labels(block, rows)
        used = {block.size, block.run, *block.results, *block.labels, *(block.of_value or ())}
        notes += [
            Note(block.line, f"column {cell!r} was not used")
            for at, cell in enumerate(block.cells)
            if cell and at not in used and not _ASIDE.fullmatch(cell)
        ]
        found = list(_tables(block, rows, source))
        if found:
            found[0] = replace(found[0], notes=tuple(notes))
        (tables if block.run is None else numbered).extend(found)
    return [*counted_once(tables), *numbered]


def _blocks(text: str) -> list[_Block]:
    """Return the tables of a text: a line of headings opens one, an equal one goes on with it."""
    blocks: list[_Block] = []
    title: OSUSection | None = None
    unit: tuple[str, float] | None = None
    label, retitled = "", False
    open_block = True
    for count, (number, line) in enumerate(lines_of(text)):
        if not line.strip() or len(line) > LONGEST_LINE:
            continue
        if line.lstrip().startswith("```"):
            open_block = not blocks  # a fence of markdown ends a table
            continue
        current = blocks[-1] if blocks else None
        if current is not None and current.separator != "|" and not open_block:
            current = None
        separator = max(_SEPARATORS, key=line.count)
        if not line.count(separator):
            if current is None or current.separator == "|":
                title = open_titled(line.strip(), number)
                label = label if title else label_of(line.strip()) or label
                retitled = retitled or title is not None
                unit = None
            elif not line.startswith("#"):
                current.lines.append((number, line))
            continue
        cells = _cells(line, separator)
        if any(_SIZE.fullmatch(cell) for cell in cells):
            block = _block_of(number, cells, separator, title, unit)
            again = current is not None and cells == current.cells
            if block is not None and not (again and (not (label or retitled) or separator != "|")):
                if block.results or block.of_value or (count <= _MOST_LINES_BEFORE and not blocks):
                    block.label = label if separator == "|" else ""
                    blocks.append(block)
                    open_block = True
                    label, retitled = "", False
                continue
            if again:
                continue
        titled = [found for cell in cells if (found := open_titled(cell, number))]
        title = titled[-1] if titled else title
        for cell in cells:
            unit = _unit_of(cell) or unit
        retitled = retitled or bool(titled)
        if next(filter(None, cells), "").startswith("#"):
            continue
        if current is not None and not line.startswith("#"):
            current.lines.append((number, line))
        elif count > _MOST_LINES_BEFORE and separator != "|" and current is None:
            break
    return blocks


def _block_of(
    number: int,
    cells: list[str],
    separator: str,
    title: OSUSection | None,
    unit: tuple[str, float] | None,
) -> _Block | None:
    """Return the table that a line of headings opens, None where it opens none."""
    size = next(at for at, cell in enumerate(cells) if _SIZE.fullmatch(cell))
    found = _Block(number, cells, separator, size, {}, title)
    for at, cell in enumerate(cells):
        if at != size and (own := _unit_of(cell)):
            found.results[at] = (*own, "")
    lower = [cell.lower() for cell in cells]
    if "value" in lower and "unit" in lower:
        found.of_value = (lower.index("value"), lower.index("unit"))
    if not found.results and found.of_value is None:
        for at, cell in enumerate(cells):
            if at == size or _ASIDE.fullmatch(cell):
                continue
            for pattern in (_SERIES, _OF_SERIES):
                series = pattern.fullmatch(cell)
                if series and (own := _unit_of(series["unit"])):
                    found.results[at] = (*own, series["name"])
    wide = separator == "|" and (title is not None or unit)
    if not found.results and found.of_value is None and wide:
        unit = unit or ("us" if title and title.quantity == "latency" else "MB/s", 1.0)
        found.results = {at: (*unit, cell) for at, cell in enumerate(cells) if at != size and cell}
    return found if found.results or found.of_value or size == 0 else None


def _cells(line: str, separator: str) -> list[str]:
    if separator == "|":
        line = line.strip()
        line = line.removeprefix("|").removesuffix("|")
        return [cell.strip().strip("*`").strip() for cell in line.split("|")]
    try:
        row = next(csv.reader([line], delimiter=separator), [])
    except csv.Error:
        row = line.split(separator)
    return [cell.strip().strip('"').strip() for cell in row]


def _unit_of(cell: str) -> tuple[str, float] | None:
    """Return the unit of a column of results and what 1 in it is; None where it is none.

    Nor is a column of the least, the most or a percentile.
    """
    if rate := _BANDWIDTH.fullmatch(cell):
        bits = 1.0 if rate["of"] == "B" or "yte" in rate["of"] else 0.125
        binary = (1.024 ** ("kMGT".index(rate["prefix"].replace("K", "k")) + 1)
                  if rate["binary"] else 1.0)  # fmt: skip
        return "MB/s", _PREFIXES[rate["prefix"]] * bits * binary
    match = _LATENCY.fullmatch(cell)
    if match is None or not cell:
        return None
    statistic = (match["statistic"] or match["of_t"] or "").lower().strip("_")
    if statistic in ("min", "max") or statistic[:1] == "p":
        return None
    return "us", 1e6 if match["seconds"] else _TIMES[match["unit"][0].lower()]


def _rows(
    block: _Block, source: str, open_line: int
) -> tuple[list[tuple[int, list[str]]], list[Note]]:
    """Return the rows of a table by line, and what was left out."""
    rows: list[tuple[int, list[str]]] = []
    notes: list[Note] = []
    markdown = block.separator == "|"
    for number, line in block.lines:
        if markdown and (not line.count("|") or not re.search(r"[^|\s:=-]", line)):
            continue
        fields = _cells(line, block.separator)
        if number == open_line and _is_cut(block, line, fields, rows):
            notes.append(Note(number, CUT))
            continue
        if len(fields) == len(block.cells):
            rows.append((number, fields))
            continue
        commas = "; decimal commas need semicolons between fields"
        raise ParseError(
            f"a row must have {len(block.cells)} fields as the heading; got {len(fields)}"
            f"{commas if block.separator == ',' else ''}",
            source=source,
            line=number,
        )
    return rows, notes


def _is_cut(
    block: _Block, line: str, fields: list[str], above: list[tuple[int, list[str]]]
) -> bool:
    """Return whether a last line without an end is cut within its row."""
    if block.separator == "|":
        whole = all(row.rstrip().endswith("|") for _, row in block.lines[:-1])
        return len(fields) < len(block.cells) or (
            len(block.lines) > 1 and whole and not line.rstrip().endswith("|")
        )
    return (
        len(fields) < len(block.cells)
        or line.count('"') % 2 == 1
        or (bool(above) and fields[-1] == "" and all(row[-1] for _, row in above))
    )


def _find_labels(block: _Block, rows: list[tuple[int, list[str]]]) -> None:
    """Find the columns that tell experiments apart: those named so, and those of words."""
    used = {block.size, *block.results, *(block.of_value or ())}
    for at, cell in enumerate(block.cells):
        if at in used or not cell:
            continue
        name = _LABELS.get(cell.lower().replace(" ", "_"))
        if name is not None:
            block.labels[at] = name
        elif _RUN.fullmatch(cell):
            block.run = at
        elif not _ASIDE.fullmatch(cell) and any(_is_word(fields[at]) for _, fields in rows):
            block.labels[at] = cell.lower()


def _is_word(text: str) -> bool:
    try:
        float(pointed(text) or "0")
    except ValueError:
        return True
    return False


def _tables(
    block: _Block, rows: list[tuple[int, list[str]]], source: str
) -> Iterator[BenchmarkTable]:
    groups: dict[tuple[str, ...], list[tuple[int, list[str]]]] = {}
    for number, fields in rows:
        key = tuple(fields[at] for at in block.labels)
        groups.setdefault(key, []).append((number, fields))
    for key, mine in (groups or {(): []}).items():
        labels = dict(zip(block.labels.values(), key, strict=False))
        if block.of_value is None:
            columns = [(at, *result) for at, result in block.results.items()]
        else:
            columns = [(block.of_value[0], "", 1.0, "")]
        for at, unit, scale, series in columns:
            yield from _of_column(block, mine, at, (unit, scale), labels, series, source)


def _of_column(
    block: _Block,
    rows: list[tuple[int, list[str]]],
    column: int,
    measure: tuple[str, float],
    labels: Mapping[str, str],
    series: str,
    source: str,
) -> Iterator[BenchmarkTable]:
    runs: dict[str, list[tuple[int, int, list[float]]]] = {}
    unit, in_unit = measure
    for number, fields in rows:
        size = _size(block, fields, source, number)
        value = in_unit * _number(block, fields, column, source, number)
        if not (size.is_integer() and 0 <= size < MOST_EXACT) or abs(value) >= LARGEST:
            raise ParseError(
                "a size must be a whole number of bytes and other fields finite; got "
                f"{block.separator.join(fields)}",
                source=source,
                line=number,
            )
        if math.isnan(value):
            continue
        if block.of_value is not None:
            stated = fields[block.of_value[1]]
            of_row, scale = _UNITS.get(stated.lower(), ("", 0.0))
            if not of_row or (unit and of_row != unit):
                raise ParseError(
                    f"unit must be us or MB/s, the same for a benchmark; got {stated!r}",
                    source=source,
                    line=number,
                )
            unit, value = of_row, value * scale
        run = fields[block.run] if block.run is not None else ""
        runs.setdefault(run, []).append((number, int(size), [value]))
    role, test, tool = _kind(block, unit, labels)
    if unit == "MB/s" and _IMB_SERIES.fullmatch(series):
        role, test, tool = "other", series, "imb"
    told = dict(block.title.labels) if block.title else {}
    told |= {name: text for name, text in labels.items() if text and name != "benchmark"}
    if series:
        told["series"] = series
    if block.label:
        told["label"] = block.label
    for mine in runs.values():
        parts = [sorted(mine, key=lambda row: row[1])]
        if len({size for _, size, _ in mine}) < len(mine):
            parts = runs_of(mine)
        for part in parts:
            yield BenchmarkTable(
                benchmark=role,
                title=block.title.title if block.title else "",
                version=block.title.version if block.title else "",
                source=source,
                line=part[0][0] if labels or series else block.line,
                columns=(block.cells[column],),
                sizes=np.array([size for _, size, _ in part], np.int64),
                values=np.array([value for _, _, value in part], np.float64).reshape(-1, 1),
                lines=np.array([number for number, _, _ in part], np.int64),
                tool=tool,
                test=test,
                unit=unit,
                labels=told,
            )


def _size(block: _Block, fields: list[str], source: str, line: int) -> float:
    """Return the size of a row in bytes; ``64K`` and ``64 KiB`` are 65536."""
    match = _SIZE_CELL.fullmatch(fields[block.size])
    if match:
        return float(int(match[1]) * _BINARY.get((match[2] or "").lower(), 1))
    heading = _SIZE.fullmatch(block.cells[block.size])
    unit = (heading["unit"] or "" if heading else "").lower()
    return _number(block, fields, block.size, source, line) * _BINARY.get(unit[:1], 1)


def _number(block: _Block, fields: list[str], at: int, source: str, line: int) -> float:
    text = fields[at] if block.separator == "," else pointed(fields[at])
    if block.commas and re.fullmatch(r"[0-9]{1,3}(\.[0-9]{3})+", fields[at]):
        text = fields[at].replace(".", "")
    if block.separator == "," and re.fullmatch(r"[0-9]{1,3}(,[0-9]{3})+(\.[0-9]+)?", text):
        text = text.replace(",", "")
    try:
        return float(text) if text else math.nan
    except ValueError as error:
        raise ParseError(
            f"a field must be a number or empty; {error}", source=source, line=line
        ) from error


def _kind(block: _Block, unit: str, labels: Mapping[str, str]) -> tuple[Role, str, str]:
    """Return a column's role, its test, and the tool that prints such headings."""
    named = labels.get("benchmark", "").lower()
    if named:
        role = _ROLES.get(named, "other")
        if COLLECTIVES.search(named):
            role = "collective"
        return role, named, "imb" if named.startswith("imb") else "osu"
    imb = any(cell.lower().startswith(("t[", "t_avg[")) for cell in block.cells)
    if imb:
        # IMB's rate of PingPong is size over time, no stream of messages.
        return ("latency" if unit == "us" else "other"), "PingPong", "imb"
    if block.title is not None:
        return block.title.benchmark, block.title.test, "osu"
    if "nodes" in labels and labels.get("ranks_per_node", "1") not in ("", "1"):
        return "collective", "", "osu"
    return ("latency", "osu_latency", "osu") if unit == "us" else ("bw", "osu_bw", "osu")
