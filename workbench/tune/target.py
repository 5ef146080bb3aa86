"""The number a run gives: its time, a figure in its output, a benchmark's table, or one's own.

Time in a queue is never part of it: a runner states a run's seconds without.
"""

from __future__ import annotations

import collections
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Protocol

from workbench.checks import integer, whole
from workbench.errors import ParameterError, WorkbenchError
from workbench.suggestions import did_you_mean


class TargetError(WorkbenchError):
    """A run gave no number: its output is not what the target reads."""


class Output(Protocol):
    """The part of a run that a target reads."""

    @property
    def seconds(self) -> float:
        """Time the program ran in s, without the queue."""

    @property
    def stdout(self) -> str:
        """What it printed."""

    @property
    def stderr(self) -> str:
        """What it printed as errors and notes."""


class Target(Protocol):
    """A number to make small or large.

    Attributes:
        minimise: whether less is better.
        unit: unit of the number, empty where it is not known.
        label: a few words for axes and tables.
    """

    @property
    def minimise(self) -> bool:
        """Whether less is better."""

    @property
    def unit(self) -> str:
        """Unit of the number, empty where it is not known."""

    @property
    def label(self) -> str:
        """A few words for axes and tables."""

    def read(self, output: Output) -> float:
        """Return the number of a run, a finite one.

        Args:
            output: what the run took and printed.

        Raises:
            TargetError: there is none in it.
        """

    def to_dict(self) -> dict[str, Any]:
        """Return plain values that JSON can hold; ``target_from_dict`` reads them back."""


def finite(value: float, what: str) -> float:
    """Return a number if it is finite; ``what`` names it in the error."""
    if not math.isfinite(value):
        raise TargetError(f"{what} must be a finite number; got {value}")
    return float(value)


def ending(output: Output) -> str:
    """Return the end of a run's output, as a phrase for messages."""
    text = (output.stdout.strip() or output.stderr.strip())[-200:]
    return f"an output that ends with {text!r}" if text else "no output"


__all__ = [
    "Computed",
    "OSULatency",
    "Output",
    "OutputRegex",
    "Target",
    "TargetError",
    "WallTime",
    "target_from_dict",
]

_LONGEST_PATTERN = 1000  # chosen: characters; a pattern is typed, and an error shows it
_STREAMS = ("both", "stdout", "stderr")
# A comma between thousands; "1,5" is a decimal comma, and would be read as ten times as much.
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?:\D|$))")


@dataclass(frozen=True)
class WallTime:
    """The seconds a run took, without the time in a queue; less is better."""

    @property
    def minimise(self) -> bool:
        """Less is better."""
        return True

    @property
    def unit(self) -> str:
        """Seconds."""
        return "s"

    @property
    def label(self) -> str:
        """A few words for axes and tables."""
        return "wall time"

    def read(self, output: Output) -> float:
        """Return the seconds of a run.

        Args:
            output: what the run took and printed.

        Raises:
            TargetError: the runner states no time.
        """
        return finite(output.seconds, "the time of a run")

    def to_dict(self) -> dict[str, Any]:
        """Return plain values that JSON can hold; ``target_from_dict`` reads them back."""
        return {"kind": "wall-time"}


@dataclass(frozen=True)
class OutputRegex:
    """A number that a regular expression finds in the output, the last where there are several.

    Attributes:
        pattern: regular expression as in Python's ``re``, looked for in each line.
        group: number or name of the group that holds the number; 0 is all of the match.
        minimise: whether less is better.
        unit: unit of the number.
        stream: ``stdout``, ``stderr``, or ``both``: first the one, then the other.
        name: what the number is called in tables and on axes; ``output value`` where it is empty.

    Raises:
        ParameterError: the pattern is no regular expression, or has no such group.
    """

    pattern: str
    group: int | str = 1
    minimise: bool = True
    unit: str = ""
    stream: str = "both"
    name: str = ""
    _compiled: re.Pattern[str] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not isinstance(self.pattern, str) or not 0 < len(self.pattern) <= _LONGEST_PATTERN:
            raise ParameterError(
                f"a pattern must be a text of 1 to {_LONGEST_PATTERN} characters; "
                f"got {str(self.pattern)[:40]!r}",
                key="pattern",
            )
        if not isinstance(self.stream, str) or self.stream not in _STREAMS:
            raise ParameterError(
                f"stream must be one of {', '.join(_STREAMS)}; got {self.stream!r}"
                f"{did_you_mean(self.stream, _STREAMS)}",
                key="stream",
            )
        try:
            compiled = re.compile(self.pattern, re.MULTILINE)
        except (re.error, RecursionError, OverflowError) as error:
            raise ParameterError(
                f"{self.pattern!r} must be a regular expression: {error}", key="pattern"
            ) from error
        groups = {*range(compiled.groups + 1), *compiled.groupindex}
        known = isinstance(self.group, int | str) and not isinstance(self.group, bool)
        if not known or self.group not in groups:
            raise ParameterError(
                f"group must be one of {', '.join(map(str, sorted(groups, key=str)))} of "
                f"{self.pattern!r}; got {self.group!r}; put the number into parentheses",
                key="group",
            )
        object.__setattr__(self, "_compiled", compiled)

    @property
    def label(self) -> str:
        """A few words for axes and tables."""
        return self.name or "output value"

    def read(self, output: Output) -> float:
        """Return the last number that the pattern finds.

        Args:
            output: what the run took and printed.

        Raises:
            TargetError: the pattern finds nothing, or no number.
        """
        texts = {"stdout": output.stdout, "stderr": output.stderr}
        for stream, text in texts.items():
            if self.stream not in ("both", stream):
                continue
            last = collections.deque(self._compiled.finditer(text), maxlen=1)
            for found in last:
                word = found[self.group] or ""
                try:
                    number = float(_THOUSANDS.sub("", word))
                    return finite(number, f"what {self.pattern!r} finds")
                except ValueError:
                    raise TargetError(
                        f"what {self.pattern!r} finds must be a number; got {word[:60]!r}; "
                        "put only the number into the group, with a point before its decimals"
                    ) from None
        raise TargetError(f"the output must have a match of {self.pattern!r}; got {ending(output)}")

    def to_dict(self) -> dict[str, Any]:
        """Return plain values that JSON can hold; ``target_from_dict`` reads them back."""
        return {
            "kind": "regex",
            "pattern": self.pattern,
            "group": self.group,
            "minimise": self.minimise,
            "unit": self.unit,
            "stream": self.stream,
            "name": self.name,
        }


@dataclass(frozen=True)
class Computed:
    """A number that a Python function makes of a run; known in this process only.

    Attributes:
        function: takes the run's output, returns the number.
        minimise: whether less is better.
        unit: unit of the number.
        name: what it is called in tables; the function's own name where it is empty.
    """

    function: Callable[[Output], float]
    minimise: bool = True
    unit: str = ""
    name: str = ""

    @property
    def label(self) -> str:
        """A few words for axes and tables."""
        return self.name or getattr(self.function, "__name__", "computed")

    def read(self, output: Output) -> float:
        """Return the function's value for a run.

        Args:
            output: what the run took and printed.

        Raises:
            TargetError: the function raises, or returns no finite number.
        """
        try:
            value = float(self.function(output))
        # A function of the user's may raise anything; one bad run must not end an experiment.
        except Exception as error:
            raise TargetError(
                f"{self.label} must return a number; {type(error).__name__}: {error}"
            ) from error
        return finite(value, f"what {self.label} returns")

    def to_dict(self) -> dict[str, Any]:
        """Return its name and direction; a function cannot be read back."""
        return {
            "kind": "computed",
            "name": self.label,
            "minimise": self.minimise,
            "unit": self.unit,
        }


_RATE = r"\w\s*\\?/\s*s(?:ec(?:ond)?s?)?\b|\b[kKMGT]?(?:bps|Bps|FLOPS|flops|IOPS|TEPS|GUPS)\b"
_MORE = (
    r"(?i:band ?width|through ?put|speed-?up|flops\b|\b(?:bus|alg)?_?bw\b|message rate|"
    r"(?:higher|more|larger) (?:is|are) better)"
)
_MORE_IS_BETTER = re.compile(f"{_RATE}|{_MORE}")


def direction_doubt(target: Target) -> str:
    """Return a sentence where a number is made small that looks as if more of it were better."""
    texts = (target.unit, target.label, getattr(target, "pattern", ""))
    word = next((text for text in texts if _MORE_IS_BETTER.search(text)), "")
    if not (target.minimise and word):
        return ""
    return f"{target.label} is made as small as possible, but of {word!r} more is usually better"


def target_from_dict(values: Mapping[str, Any]) -> Target:
    """Return the target that ``to_dict`` wrote."""
    rest = {key: value for key, value in values.items() if key != "kind"}
    kind = values.get("kind")
    try:
        if kind == "wall-time":
            return WallTime(**rest)
        if kind == "regex":
            return OutputRegex(**rest)
        if kind == "osu":
            weights = rest.get("weights")
            if isinstance(weights, Mapping):
                rest["weights"] = {int(size): weight for size, weight in weights.items()}
            return OSULatency(**rest)
    except (TypeError, ValueError) as error:
        if isinstance(error, ParameterError):
            raise
        raise ParameterError(f"a target must be as to_dict writes it; {error}") from error
    if kind == "computed":
        raise ParameterError(
            f"the target {values.get('name')} is a Python function, which a file cannot hold; "
            "pass the function again"
        )
    raise ParameterError(f"a target must be wall-time, regex, osu or computed; got {kind!r}")


@dataclass(frozen=True)
class OSULatency:
    """The latency in the table of an OSU benchmark, in microseconds; less is better.

    One size, or the sum over all sizes with weights. SHAMan's ``parse_osu_output`` is the sum
    with ``weights="size"``, in bytes times microseconds; its ``parse_osu_output_1024`` one size.

    Attributes:
        size: message size in bytes; where neither it nor weights are given, the table must have
            one row.
        weights: ``size``, ``equal``, or the weight of each size in bytes; sizes that it does not
            name count nothing.
        statistic: the column to read, such as ``Avg``, ``Min``, ``P50`` or ``Median``; the first
            column of numbers where it is empty.

    Raises:
        ParameterError: both a size and weights are given, or they are out of range.
    """

    size: int | None = None
    weights: str | Mapping[int, float] | None = None
    statistic: str = ""

    def __post_init__(self) -> None:
        if self.size is not None and self.weights is not None:
            raise ParameterError(
                "a size and weights exclude one another; leave one of them out", key="weights"
            )
        if self.size is not None:
            object.__setattr__(self, "size", whole(self.size, "size", 0, unit="B"))
        if isinstance(self.weights, Mapping):
            for size, weight in self.weights.items():
                number = isinstance(weight, int | float) and math.isfinite(weight)
                if integer(size) is None or not number:
                    raise ParameterError(
                        "weights must be a number for each size in bytes; "
                        f"got {weight!r} for {size!r}",
                        key="weights",
                    )
            if not self.weights:
                raise ParameterError("weights must name at least one size", key="weights")
            object.__setattr__(self, "weights", MappingProxyType(dict(self.weights)))
        elif self.weights not in (None, "size", "equal"):
            raise ParameterError(
                f"weights must be size, equal, or a number for each size; got {self.weights!r}",
                key="weights",
            )

    @property
    def minimise(self) -> bool:
        """Less is better."""
        return True

    @property
    def unit(self) -> str:
        """Microseconds; bytes times microseconds for the sum weighted by size."""
        return "B·µs" if self.weights == "size" else "µs"

    @property
    def label(self) -> str:
        """A few words for axes and tables."""
        what = f"{self.statistic} latency".strip()
        if self.weights is not None:
            return f"weighted sum of {what}"
        return what if self.size is None else f"{what} at {self.size} B"

    def read(self, output: Output) -> float:
        """Return the latency of one size, or the weighted sum.

        Args:
            output: what the run took and printed.

        Raises:
            TargetError: there is no such row or column.
        """
        rows = self._rows(output)
        if isinstance(self.weights, Mapping):
            return finite(
                math.fsum(w * self._row(rows, size).value for size, w in self.weights.items()),
                "the weighted sum",
            )
        if self.weights is not None:
            weighted = self.weights == "size"
            total = math.fsum(row.value * (row.size if weighted else 1) for row in rows)
            return finite(total, "the weighted sum")
        if self.size is not None:
            return self._row(rows, self.size).value
        if len(rows) != 1:
            raise TargetError(
                f"a table of {len(rows)} sizes needs a size or weights to be one number; sizes "
                f"are {_listed(rows)}; name one, such as size: {rows[0].size}"
            )
        return rows[0].value

    def to_dict(self) -> dict[str, Any]:
        """Return plain values that JSON can hold; ``target_from_dict`` reads them back."""
        weights: Any = self.weights
        if isinstance(weights, Mapping):
            weights = {str(size): weight for size, weight in weights.items()}
        return {
            "kind": "osu",
            "size": self.size,
            "weights": weights,
            "statistic": self.statistic,
        }

    def _rows(self, output: Output) -> list[OSURow]:
        rate = rate_heading(output.stdout)
        if rate:
            raise TargetError(
                f"the table must be one of latencies, of which less is better; got {rate!r}; "
                "read a rate with target: {regex: '^4096 +([0-9.]+)', maximise: true}"
            )
        rows = osu_rows(output.stdout, self.statistic)
        if not rows:
            column = f" with a column {self.statistic}" if self.statistic else ""
            raise TargetError(
                f"the output must have the table of an OSU benchmark{column}; got {ending(output)}"
            )
        return rows

    def _row(self, rows: list[OSURow], size: int) -> OSURow:
        for row in rows:
            if row.size == size:
                return row
        raise TargetError(
            f"the table must have a row of {size} B; it has {_listed(rows)}; "
            "let the benchmark run that size"
        )


def _listed(rows: list[OSURow]) -> str:
    sizes = [str(row.size) for row in rows]
    return ", ".join(sizes if len(sizes) <= 12 else [*sizes[:10], "…", sizes[-1]])


_LONGEST_LINE = 1000  # chosen: characters; OSU's widest table has fewer than 200
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
