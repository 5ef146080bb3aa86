"""What Netgauge's loggp module prints: overheads, gap and time a byte by message size.

Hoefler et al., Netgauge: A Network Performance Measurement Framework (HPCC 2007), section 4.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, DecimalException
from pathlib import Path

from workbench.errors import ParseError
from workbench.reading import Reading, ReadTable
from workbench.units import format_quantity

_NUMBER = r"([-+]?(?:nan|inf)|[-+.\deE]+)"
_VALUE = re.compile(rf"(?<![\w(])(L|s|o_s|o_r|g|G|O|S|lsqu\(g,G\))=\s*{_NUMBER}")
_ROW = re.compile(r"(?<![\w(])L=.*(?<![\w(])s=")
_PRINTED = re.compile(r"^\s*L=\s*\S+\s+s=\s*\d+\s+o_s=", re.M)  # a line of a log, not of a program
_HEADER = re.compile(r"^#.*\bsize\b.*\bPRTT\(1,0,s\).*\bo_s\b", re.M)
_TITLE = re.compile(r"Netgauge v([\w.]+)")
_NEEDED = ("L", "s", "o_s", "o_r", "g", "G")
_MISFIT = "lsqu(g,G)"
_MOST_BYTES = 2.0**53  # that a float counts one by one; no time in s is as large
_LONGEST = 1 << 16  # characters in which the first row stands

# lsqu is by how far the line that g and G are of misses the measured times; it jumps where another
# protocol begins. Chosen: 5-fold steps are common in published logs, jumps are 100-fold.
_JUMP = 10.0


@dataclass(frozen=True)
class NetgaugeRow:
    """What was measured up to one message size, in s, s/B and B; nan where nothing was."""

    line: int
    values: Mapping[str, float]  # L, s, o_s, o_r, g, G; O and S where the workbench wrote the line
    doubt: str = ""  # why L, g and G are of no use; empty where they are

    @property
    def overhead_s(self) -> float:
        """Mean of the sender's and the receiver's overhead in s; nan where one is no time."""
        both = self.values["o_s"], self.values["o_r"]
        return sum(both) / 2 if min(both) >= 0 and math.isfinite(sum(both)) else math.nan


def netgauge_rows(text: str, source: str = "text") -> tuple[list[NetgaugeRow], list[str]]:
    """Return the rows that Netgauge's loggp module printed, or wrote with ``-o``, and notes.

    Times are in microseconds. ParseError: there is no row, or one before the last lacks a number.
    """
    found: list[tuple[int, dict[str, str]]] = []
    columns: list[str] = []
    for line, words in enumerate(text.splitlines(), start=1):
        if _HEADER.match(words):
            columns = words.lstrip("# ").replace("size", "s", 1).split()
        elif columns and words.strip() and not words.startswith("#"):
            found.append((line, dict(zip(columns, words.split(), strict=False))))
        elif _ROW.search(words):
            found.append((line, dict(_VALUE.findall(words))))
    notes, rows = list[str](), list[NetgaugeRow]()
    misfit = 0.0
    # Whoever kept the overheads alone has no g and G in any line.
    needed = _NEEDED if any({"g", "G"} & texts.keys() for _, texts in found) else _NEEDED[:4]
    for line, texts in found:
        try:
            values = dict.fromkeys(_NEEDED, math.nan) | _numbers(texts, needed)
        except KeyError as error:
            if rows and line == found[-1][0]:
                notes.append(f"line {line}, the last, is cut off; left out")
                break
            raise ParseError(
                f"a line of Netgauge's loggp module must have a number for {error.args[0]}=; got "
                f"{text.splitlines()[line - 1].strip()[:200]!r}",
                source=source,
                line=line,
            ) from None
        misses = values.pop(_MISFIT, math.nan)
        doubt = _doubt(values, misses, misfit)
        if not doubt and misses > misfit:
            misfit = misses
        rows.append(NetgaugeRow(line, values, doubt))
    if not rows:
        raise ParseError(
            "there must be a line with L=, s=, o_s=, o_r=, g= and G= as Netgauge's loggp "
            "module prints it, or its columns as -o writes them; found none",
            source=source,
        )
    notes += [
        f"line {row.line}, {format_quantity(row.values['s'], 'bytes')}: o_s or o_r is no time; it "
        "does not count among the overheads"
        for row in rows
        if math.isnan(row.overhead_s)
    ]
    return rows, notes


def overheads_of(rows: Sequence[NetgaugeRow], source: str = "text") -> dict[float, float]:
    """Return the overhead in s by size in bytes, ascending, the mean where a size stands twice."""
    of_size: dict[float, list[float]] = {}
    for row in rows:
        if not math.isnan(row.overhead_s):
            of_size.setdefault(row.values["s"], []).append(row.overhead_s)
    if not of_size:
        raise ParseError("some line must have an o_s and o_r that are times", source=source)
    return {size: math.fsum(of_size[size]) / len(of_size[size]) for size in sorted(of_size)}


def last_usable(rows: Sequence[NetgaugeRow], source: str = "text") -> NetgaugeRow:
    """Return the last row whose g and G are of use; ParseError where there is none."""
    usable = [row for row in rows if not row.doubt]
    if not usable:
        raise ParseError(
            f"some line must have a g and G that are of use; the last says: {rows[-1].doubt}",
            source=source,
            line=rows[-1].line,
        )
    return usable[-1]


def reading_of(content: bytes, source: str, path: Path | None) -> Reading | None:
    """Return what a log of Netgauge holds; None for another file."""
    head = content[:_LONGEST].decode("utf-8", "replace")
    title = _TITLE.search(head)
    if title is None and not (_PRINTED.search(head) or _HEADER.search(head)):
        return None
    rows, notes = netgauge_rows(content.decode("utf-8", "replace"), source)
    notes += [
        f"line {row.line}, {format_quantity(row.values['s'], 'bytes')}: {row.doubt}"
        for row in rows
        if row.doubt
    ]
    sizes = sorted({int(row.values["s"]) for row in rows})
    of_size = {size: [row for row in rows if int(row.values["s"]) == size] for size in sizes}
    runs = max(map(len, of_size.values()))
    if runs > 1:
        notes.append(f"some sizes stand up to {runs} times; their mean is taken")
    doubtful = ", ".join(str(int(row.values["s"])) for row in rows if row.doubt)
    tables = []
    for name in ("o_s", "o_r", "g", "G"):
        labels = {"parameter": name}
        if name in "gG" and doubtful:
            labels["doubtful"] = f"at {doubtful} B"
        means = [
            math.fsum(row.values[name] for row in of_size[at]) / len(of_size[at]) for at in sizes
        ]
        unit, scale = ("ns/B", 1e9) if name == "G" else ("us", 1e6)
        values = [_rounded(scale * mean) for mean in means]
        tables.append(ReadTable("netgauge loggp", labels, sizes, values, unit, runs))
    facts: dict[str, object] = {"sizes": len(sizes)}
    if usable := [row for row in rows if not row.doubt]:
        last = usable[-1].values
        facts["last_usable"] = {
            "size": int(last["s"]),
            "L_us": _rounded(1e6 * last["L"]),
            "g_us": _rounded(1e6 * last["g"]),
            "G_ns_per_B": _rounded(1e9 * last["G"]),
        }
    else:
        notes.append("no line has a g and G that are of use")
    first, end = (format_quantity(sizes[at], "bytes") for at in (0, -1))
    version = f" {title[1]}" if title else ""
    return Reading(
        source,
        "netgauge",
        f"Netgauge{version}, LogGP parameters: {len(sizes)} sizes, {first} to {end}",
        facts,
        tuple(tables),
        tuple(notes),
    )


def _numbers(texts: Mapping[str, str], needed: Iterable[str]) -> dict[str, float]:
    """Return a line's numbers in s, s/B and B; KeyError names one that is missing or none."""
    values = {}
    for name in (*needed, *(name for name in ("O", "S", _MISFIT) if name in texts)):
        try:
            values[name] = float(shifted(texts[name], 0 if name in ("s", "S", _MISFIT) else -6))
        except (DecimalException, ValueError, OverflowError):
            raise KeyError(name) from None
        if abs(values[name]) > _MOST_BYTES:
            raise KeyError(name)
    if not values["s"] >= 0:
        raise KeyError("s")
    return values


def _doubt(values: Mapping[str, float], misses: float, misfit: float) -> str:
    """Return why a line's g and G are of no use; empty where they are."""
    g, per_byte, latency = values["g"], values["G"], values["L"]
    if not (math.isfinite(g) and math.isfinite(per_byte)):
        return "g and G are no numbers, for one size determines neither"
    if not (math.isfinite(latency) and latency >= 0):
        return f"L is no time ({1e6 * latency:.4g} us)"
    doubts = []
    if g < 0 or per_byte < 0:
        doubts.append(f"g or G is below 0 (g {1e6 * g:.4g} us, G {1e9 * per_byte:.4g} ns/B)")
    if misfit > 0 and misses > max(_JUMP * misfit, 1e6 * g):
        doubts.append(f"lsqu jumps from {misfit:.4g} to {misses:.4g}")
    return ", ".join(doubts) + "; another protocol may begin here" if doubts else ""


def _rounded(value: float) -> float:
    """Return a value without the last bit that scaling by a unit may leave."""
    return float(f"{value:.12g}")


def shifted(number: str, places: int) -> str:
    """Return a decimal number times a power of ten, exactly: no rounding on the way out or in."""
    return str(Decimal(number).scaleb(places))
