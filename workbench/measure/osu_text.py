"""Reads the output of the OSU micro-benchmarks, also within a job's log.

Known: the tables of osu_latency, osu_bw, osu_bibw and osu_mbw_mr from version 2 to 7, with or
without the full (``-f``), validation (``-c``) and percentile columns. Tables of other benchmarks
are recognised by their titles so that their rows are not taken for one of these.
"""

from __future__ import annotations

import codecs
import math
import re
from collections import Counter
from dataclasses import dataclass, field, replace

import numpy as np

from workbench.errors import ParseError
from workbench.measure.osu_table import PROGRAMS, Note, OSUTable, OSUTest

# Longer lines belong to no table, and would slow the patterns below.
_LONGEST_LINE = 1000

_TITLE = re.compile(
    r"(?:#\s*(?:OSU\s+)?|OSU\s+)"
    r"(?P<what>(?:MPI|OpenSHMEM|UPC|NCCL|RCCL)\S*\s+\S.{0,80}?)\s+Test\b(?P<rest>.*)",
    re.IGNORECASE,
)
_VERSION = re.compile(r"(?:\bv\.?\s?|\(version\s+)([0-9]+(?:\.[0-9]+)*)", re.IGNORECASE)
_HEADING = re.compile(
    r"#?\s*Size\s*(?:[(\[]\s*B(?:ytes)?\s*[)\]])?\s+(?P<rest>\S.*)", re.IGNORECASE
)
_COLUMN = re.compile(
    r"(?:(?P<statistic>Avg|Min|Max|P[0-9]+)\s+)?(?:Tail\s+)?"
    r"(?P<what>Latency|Lat|Bandwidth|BW)\s*[(\[]\s*(?P<unit>[^)\]]*?)\s*[)\]]"
    r"|(?P<rate>MB/s)(?:ec)?|(?P<other>Messages/s|Iterations|Validation|Transmit\s+Size)",
    re.IGNORECASE,
)
_LATENCY_UNITS = {"us", "usec", "µs", "μs"}
_BANDWIDTH_UNITS = {"MB/s", "MB/sec"}

# What launchers and log collectors put before a line, each followed by a blank or the line's end.
_CLOCK = r"[0-9]{2}:[0-9]{2}:[0-9]{2}(?:[.,][0-9]+)?"
_PREFIXES = (
    re.compile(r".{0,200}?<std(?:out|err|diag)>:"),  # mpirun --tag-output, --timestamp-output
    *(
        re.compile(rf"(?:{pattern})(?=[\s#]|$)")
        for pattern in (
            r"\[[^\[\]]{1,100}\]:?",  # [0], [host:123], [2026-01-31 12:00:00]
            r"[0-9]{1,6}:",  # srun --label
            rf"[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}[T ]{_CLOCK}(?:Z|[+-][0-9:]{{4,6}})?:?",
            # A year only after a day of the week: without one, what follows may be a size.
            rf"[A-Z][a-z]{{2}} [A-Z][a-z]{{2}} +[0-9]{{1,2}} {_CLOCK} [0-9]{{4}}",
            rf"[A-Z][a-z]{{2}} +[0-9]{{1,2}} {_CLOCK}",
            _CLOCK,
            r"[\w.-]{1,100} *\|",  # docker compose, kubectl plugins
        )
    ),
)
_NUMBER = re.compile(r"[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]{1,3})?")
_GROUPED = re.compile(r"[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]+)?")
_DECIMAL_COMMA = re.compile(r"[0-9]+,(?:[0-9]{1,2}|[0-9]{4,})")
_BINARY = {
    b"\x89PNG": "a picture (PNG)",
    b"\xff\xd8\xff": "a picture (JPEG)",
    b"GIF8": "a picture (GIF)",
    b"%PDF": "a PDF; copy the numbers out of it into a text file",
    b"PK\x03\x04": "a zip archive or a spreadsheet (xlsx, ods); unpack it, or save it as CSV",
    b"\x1f\x8b": "compressed (gzip); unpack it first",
    b"\xfd7zXZ": "compressed (xz); unpack it first",
    b"BZh": "compressed (bzip2); unpack it first",
    b"\x7fELF": "a program",
    b"\x89HDF": "an HDF5 file",
    b"SQLite format 3": "a SQLite database",
}
"""First bytes of files that are not text, with the kind of file."""
_LINE_END = re.compile(r"\r?\r?\n|\r")
_TITLES: dict[str, OSUTest] = {
    "latency": "latency",
    "bandwidth": "bw",
    "bidirectional bandwidth": "bibw",
    "multiple bandwidth / message rate": "mbw_mr",
}


def parse_osu_text(text: str | bytes, source: str = "text") -> list[OSUTable]:
    """Return the tables of a text, in its order; a benchmark run twice gives two tables.

    Lines around and between the tables, labels and times before them, comments after the numbers,
    thousands separators and any line ends are understood. Whatever is left out is in the
    tables' notes, by line. A table whose sizes start again without a heading is two runs.

    Args:
        text: the output, as text or as the bytes of a file in UTF-8, UTF-16 (with its mark) or
            Latin-1.
        source: name of the file, for errors and notes.

    Raises:
        ParseError: there is no table in the text, or a table of a known benchmark is in a unit
            other than microseconds or MB/s.
    """
    if isinstance(text, bytes):
        text = decoded(text, source)
    lines = _LINE_END.split(text.lstrip("\ufeff"))
    # Where the last line has no end, the text may have been cut in the middle of it.
    open_line = len(lines) if lines[-1].strip() else 0
    sections: list[_Section] = []
    stray: list[Note] = []
    for number, line in enumerate(lines, start=1):
        bare = _without_prefixes(line)
        if not bare:
            continue
        current = sections[-1] if sections else None
        if len(bare) > _LONGEST_LINE:
            note = Note(number, f"not understood: {_excerpt(line)}", unread=True)
            (current.notes if current else stray).append(note)
        elif title := _TITLE.fullmatch(bare):
            sections.append(_titled(title, number))
        elif (heading := _HEADING.fullmatch(bare)) and _COLUMN.match(heading["rest"]):
            _take_heading(sections, heading["rest"], number, source)
        elif bare.startswith("#"):
            if current:
                current.comments.append(bare.lstrip("# "))
        elif current is None or not current.take_row(bare, number):
            note = Note(number, f"not understood: {_excerpt(line)}", unread=True)
            (current.notes if current else stray).append(note)
    tables = [table for section in sections for table in _tables_of(section, source, open_line)]
    if not tables:
        raise ParseError(_nothing_found(len(lines), stray), source=source)
    return [replace(tables[0], notes=(*stray, *tables[0].notes)), *tables[1:]]


@dataclass
class _Section:
    """The lines under one title or heading, as they are collected."""

    benchmark: OSUTest
    title: str
    version: str
    line: int
    columns: tuple[str, ...] = ()
    comments: list[str] = field(default_factory=list)
    rows: list[_Row] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)
    skipped: int = 0

    def take_row(self, bare: str, number: int) -> bool:
        """Keep the line if it can be a row of this table; return whether it was kept."""
        numbers, _, comment = bare.partition("#")
        tokens = numbers.split()
        if self.benchmark == "other":
            # One number alone is a row too: osu_barrier prints no sizes.
            known = all(_number(token) is not None for token in tokens)
            self.skipped += known
            return known
        if _integer(tokens[0]) is None:
            return False
        self.rows.append(_Row(number, bare, tuple(tokens), bool(comment)))
        return True


@dataclass(frozen=True)
class _Row:
    line: int
    text: str
    tokens: tuple[str, ...]
    commented: bool


def _titled(title: re.Match[str], number: int) -> _Section:
    what = " ".join(title["what"].split())
    # The device follows MPI after a hyphen; MPI_Put and the like are other benchmarks.
    plain = re.sub(r"^mpi(-\w+)? ", "", what.lower()).replace("bi-directional", "bidirectional")
    version = _VERSION.search(title["rest"])
    return _Section(
        benchmark=_TITLES.get(plain, "other"),
        title=f"OSU {what}",
        version=version[1] if version else "",
        line=number,
    )


def _take_heading(sections: list[_Section], rest: str, number: int, source: str) -> None:
    """Give the newest section its columns, or open one where the heading stands alone."""
    columns = list(_COLUMN.finditer(rest))
    first = columns[0]
    found = "bandwidth" if first["rate"] else _quantity(first["what"] or "")
    current = sections[-1] if sections else None
    same = current is not None and found == _measured(current.benchmark)
    if current is None or not current.title or (current.rows and not same):
        current = _untitled(found, first, len(columns), number)
        sections.append(current)
    elif current.rows:
        # Version 7 prints the heading again for each data type, the title only once.
        current = replace(current, line=number, rows=[], notes=[], comments=[])
        sections.append(current)
    if current.benchmark == "other":
        return
    wanted = _measured(current.benchmark)
    if found != wanted:
        current.notes.append(
            Note(number, f"column {first[0]!r} where {wanted} was expected; the table is not used")
        )
        current.benchmark = "other"
        return
    unit = first["rate"] or first["unit"]
    known = _LATENCY_UNITS if wanted == "latency" else _BANDWIDTH_UNITS
    if unit not in known:
        raise ParseError(
            f"the {wanted} must be in {'us' if wanted == 'latency' else 'MB/s'}; "
            f"got the unit {unit!r}; convert the column and its heading",
            source=source,
            line=number,
        )
    current.columns = tuple(" ".join(column[0].split()) for column in columns)


def _untitled(found: str, first: re.Match[str], count: int, number: int) -> _Section:
    """Return the section of a heading without a title; its columns decide the benchmark."""
    benchmark: OSUTest = "other"
    if first["rate"]:
        benchmark = "mbw_mr" if count > 1 else "other"
    elif not first["statistic"] and found:
        # "Avg Latency" heads every collective as well; these two are nearly always what they say.
        benchmark = "latency" if found == "latency" else "bw"
    message = (
        "a heading without a title may belong to another benchmark; the table is not used; put a "
        "line such as '# OSU MPI Latency Test' above it"
        if benchmark == "other"
        else f"a heading without a title; taken for {PROGRAMS[benchmark]}"
    )
    return _Section(benchmark, "", "", number, notes=[Note(number, message)])


def _tables_of(section: _Section, source: str, open_line: int) -> list[OSUTable]:
    """Return the section's tables: one, or one a run where the sizes start again."""
    if section.benchmark == "other":
        if section.skipped:
            section.notes.append(
                Note(
                    section.line,
                    f"{section.title or 'the table'}: not one of the benchmarks that are read; "
                    f"rows left out: {section.skipped}",
                )
            )
        return [_table(section, source, [], False)]
    width = _width(section)
    if _has_decimal_commas(section):
        section.rows = [
            replace(row, tokens=(row.tokens[0], *map(pointed, row.tokens[1:])))
            for row in section.rows
        ]
    runs: list[list[tuple[int, int, list[float]]]] = [[]]
    truncated = False
    for row in section.rows:
        if row.line == open_line and _is_cut(row, section, width):
            truncated = True
            section.notes.append(
                Note(row.line, f"the text ends in the middle of this row; left out: {row.text}")
            )
            continue
        size = _integer(row.tokens[0])
        values = [_number(token) for token in row.tokens[1:]]
        if len(row.tokens) == width and "fail" in (token.lower() for token in row.tokens):
            section.notes.append(
                Note(row.line, f"validation failed at {size} bytes; the row was left out")
            )
            continue
        known = [value for value in values if value is not None]
        if size is None or len(row.tokens) != width or len(known) != len(values):
            section.notes.append(
                Note(row.line, f"not understood: {_excerpt(row.text)}", unread=True)
            )
            continue
        if runs[-1] and size <= runs[-1][-1][1]:
            runs.append([])
        runs[-1].append((row.line, size, known))
    if not section.columns and section.rows:
        section.notes.append(Note(section.line, "no column headings; taken for the usual ones"))
    if not runs[0]:
        section.notes.append(Note(section.line, f"{section.title or 'the heading'} has no rows"))
    tables = [_table(section, source, rows, False) for rows in runs]
    first = replace(tables[0], notes=tuple(sorted(section.notes, key=lambda note: note.line)))
    tables = [first, *tables[1:]]
    return [*tables[:-1], replace(tables[-1], truncated=truncated)]


def _table(
    section: _Section, source: str, rows: list[tuple[int, int, list[float]]], truncated: bool
) -> OSUTable:
    width = len(rows[0][2]) if rows else max(1, len(section.columns))
    names = section.columns or (("MB/s",) if section.benchmark != "latency" else ("Latency (us)",))
    return OSUTable(
        benchmark=section.benchmark,
        title=section.title,
        version=section.version,
        source=source,
        line=section.line,
        columns=(*names[:width], *(f"column {i + 2}" for i in range(len(names), width))),
        sizes=np.array([size for _, size, _ in rows], dtype=np.int64),
        values=np.array([values for _, _, values in rows], dtype=np.float64).reshape(-1, width),
        lines=np.array([line for line, _, _ in rows], dtype=np.int64),
        comments=tuple(section.comments),
        notes=tuple(section.notes),
        truncated=truncated,
    )


def _width(section: _Section) -> int:
    """Return the number of fields of a row: the heading's, if any row agrees with it."""
    widths = Counter(len(row.tokens) for row in section.rows if len(row.tokens) > 1)
    if not section.columns:
        # More columns than the usual ones would be of another kind, such as one a window size.
        return 3 if section.benchmark == "mbw_mr" and widths[3] else 2
    heading = 1 + len(section.columns)
    return heading if widths[heading] or not widths else widths.most_common(1)[0][0]


def _is_cut(row: _Row, section: _Section, width: int) -> bool:
    """Return whether the last line of a text without a line end stops before its row does."""
    if len(row.tokens) < width:
        return True
    if row.commented or len(row.tokens) > width:
        return False
    last = row.tokens[-1]
    if last.lower() in {"pass", "fail"}:
        return False
    if _number(last) is None:
        return True
    others = [
        _decimals(other.tokens[-1])
        for other in section.rows
        if other is not row and len(other.tokens) == width and _number(other.tokens[-1]) is not None
    ]
    # The benchmarks print two decimals, and none in the column of iterations.
    whole = len(section.columns) == width - 1 and section.columns[-1].lower() == "iterations"
    return _decimals(last) < min(others, default=0 if whole else 2)


def pointed(number: str) -> str:
    """Return a number with a decimal comma, e.g. ``1.234,56``, written with a decimal point."""
    return number.replace(".", "").replace(",", ".") if "," in number else number


def decoded(data: str | bytes, source: str = "text") -> str:
    """Return the text of a file in UTF-8, UTF-16 (with byte order mark) or Latin-1."""
    if isinstance(data, str):
        return data
    for mark, encoding in (
        (codecs.BOM_UTF8, "utf-8-sig"),
        (codecs.BOM_UTF16_LE, "utf-16"),
        (codecs.BOM_UTF16_BE, "utf-16"),
    ):
        if data.startswith(mark):
            return data.decode(encoding, errors="replace")
    kind = next((kind for mark, kind in _BINARY.items() if data.startswith(mark)), None)
    if kind is not None:
        raise ParseError(
            f"must be a text file, such as what osu_latency printed, or a CSV; this is {kind}",
            source=source,
        )
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode("latin-1")


def _without_prefixes(line: str) -> str:
    """Return the line without the labels and times that launchers put before it."""
    bare = line.replace("\0", "").strip()
    if len(bare) > _LONGEST_LINE:
        return bare
    for _ in range(4):
        for prefix in _PREFIXES:
            if match := prefix.match(bare):
                bare = bare[match.end() :].strip()
                break
        else:
            break
    return bare


def _measured(benchmark: OSUTest) -> str:
    return {"latency": "latency", "other": ""}.get(benchmark, "bandwidth")


def _quantity(word: str) -> str:
    return "latency" if word.lower().startswith("lat") else "bandwidth" if word else ""


def _has_decimal_commas(section: _Section) -> bool:
    """Return whether values have decimal commas: at least one is no number otherwise."""
    values = [token for row in section.rows for token in row.tokens[1:]]
    points = any("." in value and "," not in value for value in values)
    return not points and any(_DECIMAL_COMMA.fullmatch(value) for value in values)


def _integer(token: str) -> int | None:
    """Return the value of ``4194304`` or ``4,194,304`` if it fits in int64."""
    digits = token.replace(",", "") if _GROUPED.fullmatch(token) else token
    return int(digits) if digits.isascii() and digits.isdigit() and len(digits) < 19 else None


def _number(token: str) -> float | None:
    """Return the value of ``12345.67`` or ``12,345.67``; nan for a passed validation."""
    if token.lower() == "pass":
        return math.nan
    plain = token.replace(",", "") if _GROUPED.fullmatch(token) else token
    if not _NUMBER.fullmatch(plain):
        return None
    value = float(plain)
    return value if math.isfinite(value) else None


def _decimals(token: str) -> int:
    return len(token.partition(".")[2])


def _excerpt(line: str) -> str:
    text = " ".join("".join(c if c.isprintable() else " " for c in line[:200]).split())
    return text if len(text) <= 80 else text[:79] + "…"


def _nothing_found(count: int, stray: list[Note]) -> str:
    first = f"; line {stray[0].line} is {stray[0].message}" if stray else ""
    return (
        f"no OSU table found in {count} line{'s' if count != 1 else ''}; expected a title such as "
        f"'# OSU MPI Latency Test v7.5' or headings such as '# Size  Latency (us)'{first}"
    )
