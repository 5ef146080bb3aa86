"""Tables of the OSU micro-benchmarks, from version 2 to 7.

With or without the full (``-f``), validation (``-c``) and percentile columns; collectives and
one-sided tests as well as those between two processes.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import dataclass, field

import numpy as np

from workbench.errors import ParseError
from workbench.measure.benchmark_table import PROGRAMS, BenchmarkTable, Note, Role
from workbench.measure.log_lines import excerpt, integer, number, pointed

_TITLE = re.compile(
    r"(?:#\s*(?:(?:OSU|OMB)\s+)?(?:Python\s+|Java\s+)?|OSU\s+)"
    r"(?P<what>(?:MPI|OpenSHMEM|UPC|NCCL|RCCL)\S*\s+\S.{0,80}?)\s+Test\b(?P<rest>.*)",
    re.IGNORECASE,
)
_PORTED = re.compile(
    r"Running benchmark (?:OSU|IMB) (?P<what>\w[\w -]{0,60}?) with type (?P<type>\w+) on "
    r"(?P<ranks>[0-9]+) MPI ranks?\b.*"
)
"""The title of MPIBenchmarks.jl."""
_VERSION = re.compile(r"(?:\bv\.?\s?|\(version\s+)([0-9]+(?:\.[0-9]+)*)", re.IGNORECASE)
_HEADING = re.compile(
    r"#?\s*Size\s*(?:[(\[]\s*B(?:ytes)?\s*[)\]])?\s+(?P<rest>\S.*)", re.IGNORECASE
)
_COLUMN = re.compile(
    r"(?:(?P<statistic>Avg|Min|Max|P[0-9]+)\s+)?(?:Tail\s+)?"
    r"(?P<what>Latency|Lat|Bandwidth|BW|Overall)\s*[(\[]\s*(?P<unit>[^)\]]*?)\s*[)\]]"
    r"|(?P<rate>MB/s)(?:ec)?|(?P<other>Messages/s|Iterations|Validation|Transmit\s+Size"
    r"|(?:Compute|Coll\. Init|MPI_Test|MPI_Wait|Pure Comm\.|Overlap)\s*\([^)]*\))",
    re.IGNORECASE,
)
_LATENCY_UNITS = {"us", "usec", "µs", "μs"}
_BANDWIDTH_UNITS = {"MB/s", "MB/sec"}

_DECIMAL_COMMA = re.compile(r"[0-9]+,(?:[0-9]{1,2}|[0-9]{4,})")
_TITLES: dict[str, tuple[Role, str]] = {
    "latency": ("latency", "osu_latency"),
    "bandwidth": ("bw", "osu_bw"),
    "bidirectional bandwidth": ("bibw", "osu_bibw"),
    "multiple bandwidth / message rate": ("mbw_mr", "osu_mbw_mr"),
    "multi latency": ("other", "osu_multi_lat"),
    "multi-threaded latency": ("other", "osu_latency_mt"),
    "broadcast latency": ("collective", "osu_bcast"),
    "all-to-all personalized exchange latency": ("collective", "osu_alltoall"),
    "all-to-allv personalized exchange latency": ("collective", "osu_alltoallv"),
    **{
        f"{name} latency": ("collective", f"osu_{name}")
        for name in ("allreduce", "reduce", "reduce_scatter", "allgather", "allgatherv", "gather",
                     "gatherv", "scatter", "scatterv", "alltoall", "alltoallv", "bcast", "barrier")
    },
}  # fmt: skip
"""What each title without ``MPI`` and ``Test`` is good for, and the program that prints it."""

COLLECTIVES = re.compile(
    r"allreduce|reduce|scatter|gather|alltoall|bcast|broadcast|barrier", re.IGNORECASE
)
"""What names of benchmarks of collectives contain."""

_ONE_SIDED = (("bidirectional_bandwidth", "bibw"), ("bandwidth", "bw"), ("accumulate", "acc"),
              ("fetch_and_op", "fop"), ("compare_and_swap", "cas"))  # fmt: skip
"""Words of titles as the programs' names have them."""

_PAIRS = re.compile(r"\[\s*pairs:\s*([0-9]+)\s*\]")
_WINDOW = re.compile(r"\[\s*window size:\s*([0-9]+)\s*\]")
_DATATYPE = re.compile(r"Datatype:\s*(MPI_\w+)")
_RECENT_RUNS = 8
"""Runs whose rows may be mixed in one table; more would be compared for each row in vain."""


@dataclass
class OSUSection:
    """The lines under one title or heading, as they are collected."""

    benchmark: Role
    title: str
    version: str
    line: int
    columns: tuple[str, ...] = ()
    comments: list[str] = field(default_factory=list)
    rows: list[_Row] = field(default_factory=list)
    after: list[str] = field(default_factory=list)  # comments that the next table may be of
    notes: list[Note] = field(default_factory=list)
    test: str = ""
    labels: dict[str, str] = field(default_factory=dict)

    @property
    def quantity(self) -> str:
        """``latency`` or ``bandwidth``, whichever the title names; empty where it names neither."""
        if self.benchmark in ("latency", "collective"):
            return "latency"
        if self.benchmark != "other":
            return "bandwidth"
        title = self.title.lower()
        return next((word for word in ("latency", "bandwidth") if word in title), "")

    def take(self, bare: str, at: int) -> bool:
        """Keep the line if it can be of this table; return whether it was kept."""
        if bare.startswith("#"):
            (self.after if self.rows else self.comments).append(bare.lstrip("# "))
            return True
        numbers, _, comment = bare.partition("#")
        tokens = tuple(numbers.split())
        if self.test == "osu_barrier" and len(tokens) == 1 and number(tokens[0]) is not None:
            tokens = ("0", *tokens)  # it prints no size
        if integer(tokens[0]) is None:
            return False
        self.rows.append(_Row(at, bare, tokens, bool(comment)))
        return True


@dataclass
class _Row:
    line: int
    text: str
    tokens: tuple[str, ...]
    commented: bool


def open_titled(line: str, at: int) -> OSUSection | None:
    """Return the section that a title opens, None where the line is no title."""
    title = _TITLE.fullmatch(line)
    if title is None:
        return _ported(line, at)
    what = " ".join(title["what"].split())
    # The device follows MPI after a hyphen; MPI_Put and the like are other benchmarks.
    plain = re.sub(r"^mpi(-\w+)? ", "", what.lower()).replace("bi-directional", "bidirectional")
    version = _VERSION.search(title["rest"])
    plain, variant = _variant_of(plain)
    role, test = _TITLES.get(plain, ("other", ""))
    if variant != "{}" and role != "collective":
        role = "other"  # of persistent requests, or another library's: no curve is made of it
    if blocking := _TITLES.get(plain.removeprefix("non-blocking ")):
        test = test or blocking[1].replace("osu_", "osu_i")
    return OSUSection(
        benchmark=role,
        title=f"OSU {what}",
        version=version[1] if version else "",
        line=at,
        test=variant.format(test or _program_of(plain.removeprefix("mpi_"))),
    )


def _variant_of(title: str) -> tuple[str, str]:
    """Return a title without the word of a variant, and the pattern of that one's programs."""
    if "persistent" in title:
        return " ".join(title.replace("persistent", " ").split()), "{}_persistent"
    for library in ("nccl ", "rccl "):
        if title.startswith(library):
            return title.removeprefix(library), "{}_" + library.strip()
    return title, "{}"


def _program_of(title: str) -> str:
    """Return the program that prints a title which no table names, such as ``osu_put_bw``."""
    name = re.sub(r"\W+", "_", title).strip("_")
    for word, short in _ONE_SIDED:
        name = name.replace(word, short)
    return f"osu_{name}"


def _ported(line: str, at: int) -> OSUSection | None:
    """Return the section of a benchmark that MPIBenchmarks.jl runs; the title has no ``Test``."""
    title = _PORTED.fullmatch(line)
    if title is None:
        return None
    what = title["what"].lower()
    role, test = _TITLES.get(what) or _TITLES.get(f"{what} latency") or ("other", "")
    labels = {"ranks": title["ranks"], "datatype": title["type"], "library": "MPI.jl"}
    return OSUSection(
        role, f"OSU {title['what']}", "", at, test=test or _program_of(what), labels=labels
    )


def heading_of(line: str) -> str:
    """Return the headings beside that of the sizes, empty where the line has none."""
    heading = _HEADING.fullmatch(line)
    return heading["rest"] if heading and _COLUMN.match(heading["rest"]) else ""


def with_heading(
    current: OSUSection | None, rest: str, at: int, source: str, program: str
) -> OSUSection:
    """Return the section that has these headings: the current one, or another that they open."""
    columns = list(_COLUMN.finditer(rest))
    first = columns[0]
    found = "bandwidth" if first["rate"] else _quantity(first["what"] or "")
    if current is None or not current.title or (current.rows and found != current.quantity):
        current = _untitled(found, first, len(columns), at, program)
    elif current.rows:
        # Version 7 prints the heading again for each data type, the title only once.
        current = OSUSection(
            current.benchmark, current.title, current.version, at, test=current.test,
            labels=dict(current.labels), comments=current.after,
        )  # fmt: skip
    if first["other"]:
        current.notes.append(Note(at, f"{first[0]!r} is neither a latency nor a bandwidth"))
        current.benchmark = "other"
        current.columns = tuple(" ".join(column[0].split()) for column in columns)
        return current
    wanted = current.quantity
    if wanted and found != wanted:
        current.notes.append(
            Note(at, f"column {first[0]!r} where {wanted} was expected; the table is not used")
        )
        current.benchmark = "other"
    unit = first["rate"] or first["unit"] or ""
    known = _LATENCY_UNITS if found == "latency" else _BANDWIDTH_UNITS
    if unit not in known:
        raise ParseError(
            f"the {found} must be in {'us' if found == 'latency' else 'MB/s'}; "
            f"got the unit {unit!r}; convert the column and its heading",
            source=source,
            line=at,
        )
    current.columns = tuple(" ".join(column[0].split()) for column in columns)
    return current


def _untitled(found: str, first: re.Match[str], count: int, at: int, program: str) -> OSUSection:
    """Return the section of a heading without a title; command or columns decide the benchmark."""
    named = next((one for one in _TITLES.values() if one[1] == program), None)
    if named is not None:
        note = Note(at, f"a heading without a title; taken for {program} of the command")
        return OSUSection(named[0], "", "", at, test=program, notes=[note])
    benchmark: Role = "other"
    if first["rate"]:
        benchmark = "mbw_mr" if count > 1 else "other"
    elif not first["statistic"] and found:
        # "Avg Latency" heads every collective as well; these two are nearly always what they say.
        benchmark = "latency" if found == "latency" else "bw"
    message = (
        "a heading without a title may belong to another benchmark; no curve is made of it; put a "
        "line such as '# OSU MPI Latency Test' above it"
        if benchmark == "other"
        else f"a heading without a title; taken for {PROGRAMS[benchmark]}"
    )
    test = PROGRAMS[benchmark] if benchmark != "other" else ""
    return OSUSection(benchmark, "", "", at, test=test, notes=[Note(at, message)])


def tables_of(section: OSUSection, source: str, open_line: int) -> list[BenchmarkTable]:
    """Return the section's tables: one, or one a run where sizes occur several times."""
    width = _width(section)
    if _has_decimal_commas(section):
        for row in section.rows:
            row.tokens = (row.tokens[0], *map(pointed, row.tokens[1:]))
    rows: list[tuple[int, int, list[float]]] = []
    truncated = False
    for row in section.rows:
        if row.line == open_line and _is_cut(row, section, width):
            truncated = True
            section.notes.append(
                Note(row.line, f"the text ends in the middle of this row; left out: {row.text}")
            )
            continue
        size = integer(row.tokens[0])
        values = [number(token) for token in row.tokens[1:]]
        if len(row.tokens) == width and "fail" in (token.lower() for token in row.tokens):
            section.notes.append(
                Note(row.line, f"validation failed at {size} bytes; the row was left out")
            )
            continue
        known = [value for value in values if value is not None]
        if size is None or len(row.tokens) != width or len(known) != len(values):
            section.notes.append(
                Note(row.line, f"not understood: {excerpt(row.text)}", unread=True)
            )
            continue
        rows.append((row.line, size, known))
    if section.columns and width > 1 + len(section.columns):
        section.notes.append(
            Note(
                section.line,
                f"the rows have {width - 1} results and the heading names {len(section.columns)}; "
                "only the first is read: put a table of its own for each of the others",
            )
        )
    if not section.columns and section.rows and section.test != "osu_barrier":
        section.notes.append(Note(section.line, "no column headings; taken for the usual ones"))
    if not rows:
        section.notes.append(Note(section.line, f"{section.title or 'the heading'} has no rows"))
    for comment in section.comments:
        for name, pattern in (("pairs", _PAIRS), ("window", _WINDOW), ("datatype", _DATATYPE)):
            if match := pattern.search(comment):
                section.labels[name] = match[1]
    section.notes.sort(key=lambda note: note.line)
    runs = runs_of(rows) or [[]]
    return [
        _table(
            section,
            source,
            run,
            notes=tuple(section.notes) if not at else (),
            truncated=truncated and at == len(runs) - 1,
        )
        for at, run in enumerate(runs)
    ]


def runs_of(rows: list[tuple[int, int, list[float]]]) -> list[list[tuple[int, int, list[float]]]]:
    """Return the rows of each run: sizes ascend in a run, also where several wrote at once.

    A row continues the run that came nearest to its size, of several the one whose last result is
    nearest to its own.
    """
    runs: list[list[tuple[int, int, list[float]]]] = []
    recent: list[list[tuple[int, int, list[float]]]] = []
    for row in rows:
        able = [run for run in recent if run[-1][1] < row[1]]
        if able:
            chosen = min(able, key=lambda run: (row[1] - run[-1][1], _apart(run[-1], row)))
            recent = [run for run in recent if run is not chosen]
        else:
            chosen = []
            runs.append(chosen)
        chosen.append(row)
        recent = [chosen, *recent[: _RECENT_RUNS - 1]]
    return runs


def _apart(one: tuple[int, int, list[float]], other: tuple[int, int, list[float]]) -> float:
    """Return the ratio of the results of two rows, the larger over the smaller."""
    low, high = sorted((one[2][0], other[2][0]))
    return high / low if low > 0 else math.inf


def _table(
    section: OSUSection,
    source: str,
    rows: list[tuple[int, int, list[float]]],
    *,
    notes: tuple[Note, ...],
    truncated: bool,
) -> BenchmarkTable:
    width = len(rows[0][2]) if rows else max(1, len(section.columns))
    rate = section.quantity == "bandwidth" or (
        not section.quantity and section.columns and _is_rate(section.columns[0])
    )
    names = section.columns or (("MB/s",) if rate else ("Latency (us)",))
    return BenchmarkTable(
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
        notes=notes,
        truncated=truncated,
        test=section.test,
        unit=_unit_of(names[0], "MB/s" if rate else "us"),
        labels=dict(section.labels),
    )


def _unit_of(column: str, usual: str) -> str:
    """Return the unit of a column, by its heading where it is no time or bandwidth."""
    if column.lower() == "messages/s":
        return "messages/s"
    return "%" if column.lower().startswith("overlap") else usual


def _width(section: OSUSection) -> int:
    """Return the number of fields of a row: the heading's, if any row agrees with it."""
    widths = Counter(len(row.tokens) for row in section.rows if len(row.tokens) > 1)
    if not section.columns:
        # More columns than the usual ones would be of another kind, such as one a window size.
        return 3 if section.benchmark == "mbw_mr" and widths[3] else 2
    heading = 1 + len(section.columns)
    return heading if widths[heading] or not widths else widths.most_common(1)[0][0]


def _is_cut(row: _Row, section: OSUSection, width: int) -> bool:
    """Return whether the last line of a text without a line end stops before its row does."""
    if len(row.tokens) < width:
        return True
    if row.commented or len(row.tokens) > width:
        return False
    last = row.tokens[-1]
    if last.lower() in {"pass", "fail"}:
        return False
    if number(last) is None:
        return True
    others = [
        _decimals(other.tokens[-1])
        for other in section.rows
        if other is not row and len(other.tokens) == width and number(other.tokens[-1]) is not None
    ]
    # The benchmarks print two decimals, and none in the column of iterations.
    whole = len(section.columns) == width - 1 and section.columns[-1].lower() == "iterations"
    return _decimals(last) < min(others, default=0 if whole else 2)


def _is_rate(column: str) -> bool:
    match = _COLUMN.match(column)
    return match is not None and not match["what"]


def _quantity(word: str) -> str:
    return "bandwidth" if word.lower() in ("bandwidth", "bw") else "latency" if word else ""


def _has_decimal_commas(section: OSUSection) -> bool:
    """Return whether values have decimal commas: at least one is no number otherwise."""
    values = [token for row in section.rows for token in row.tokens[1:]]
    points = any("." in value and "," not in value for value in values)
    return not points and any(_DECIMAL_COMMA.fullmatch(value) for value in values)


def _decimals(token: str) -> int:
    return len(token.partition(".")[2])
