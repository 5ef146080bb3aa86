"""Lines of a log without what launchers, mail, terminals and collectors of logs put around them."""

from __future__ import annotations

import codecs
import html
import math
import re
from collections.abc import Iterator

from workbench.errors import ParseError

LONGEST_LINE = 1000
"""Longer lines belong to no table, and would slow the patterns of their titles."""

# What launchers and log collectors put before a line, each followed by a blank or the line's end.
_CLOCK = r"[0-9]{2}:[0-9]{2}:[0-9]{2}(?:[.,][0-9]+)?"
_PREFIXES = (
    # mpirun --tag-output, --timestamp-output; NetPIPE has another within its rows
    re.compile(r"(?:(?!-->).){0,200}?<std(?:out|err|diag)>:"),
    re.compile(r">(?=[>\s#0-9|]|$)"),  # quoted mail
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
    # Python's loggers: {file.py:32} INFO -, or - name - INFO -
    re.compile(
        r"(?:\{[\w./:-]{1,100}\}\s*|-\s*[\w.]{1,100}\s+-\s*)(?:DEBUG|INFO|WARNING)\s*-(?=\s*[#0-9])"
    ),
)
_MOST_PREFIXES = 8  # chosen: none of our logs has more than 2; each costs all patterns
_THREAD = re.compile(r"\[thread [0-9]+\]")
"""Of a row of ucx_perftest, not before it."""

_ESCAPED = re.compile(r"\\(?=[#>*_|\[-])")
"""A backslash of markdown before a sign that would else be markup."""
_BOLD = re.compile(r"\*\*([0-9][0-9.,]*)\*\*")
_REMARK = re.compile(r"(?<=[0-9])\s+[★☆]?\s*(?:<[-=]+|←|⇐).*")
"""What somebody wrote behind a row with an arrow to it."""

_COLOURS = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b[@-_]")
_LINE_END = re.compile(r"\r?\r?\n|\r")
_HTML = re.compile(r"<(?:!doctype html|html|body|pre|table|div|p)\b", re.IGNORECASE)
_BREAK = re.compile(r"<(?:br|/p|/div|/tr)\b[^>]{0,200}>", re.IGNORECASE)
_CELL = re.compile(r"</t[dh]\s*>\s*<t[dh]\b[^>]{0,200}>", re.IGNORECASE)
_TAG = re.compile(r"</?[a-zA-Z!][^<>]{0,1000}>")

MOST_EXACT = 2**53
"""Above it a float64 skips whole numbers: a size that was read would not be the one written."""

LARGEST = 1e30
"""No benchmark prints as much, in any unit; products of what is below do not overflow."""

_NUMBER = re.compile(r"[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]{1,3})?")
_GROUPED = re.compile(r"[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]+)?")
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


def lines_of(text: str) -> Iterator[tuple[int, str]]:
    """Yield each line's number, from 1, and its text; a page of HTML without its tags."""
    is_html = _HTML.search(text[:4096]) is not None
    for number, line in enumerate(_LINE_END.split(text.lstrip("\ufeff")), start=1):
        if "\x1b" in line:
            line = _COLOURS.sub("", line)
        if not is_html:
            yield number, line
            continue
        for part in _BREAK.split(_CELL.sub(" | ", line)):
            yield number, html.unescape(_TAG.sub("", part))


def without_prefixes(line: str) -> str:
    """Return the line without the labels and times that launchers put before it."""
    bare = line.replace("\0", "").strip()
    if len(bare) > LONGEST_LINE:
        return bare
    for _ in range(_MOST_PREFIXES):
        if bare.startswith("[thread ") and _THREAD.match(bare):
            break
        for prefix in _PREFIXES:
            if match := prefix.match(bare):
                bare = bare[match.end() :].strip()
                break
        else:
            break
    if bare.startswith("\\"):
        bare = _ESCAPED.sub("", bare, count=1)
    if "**" in bare:
        bare = _BOLD.sub(r"\1", bare)
    return _REMARK.sub("", bare) if "<" in bare or "←" in bare or "⇐" in bare else bare


def integer(token: str) -> int | None:
    """Return the value of ``4194304`` or ``4,194,304`` if it fits in int64."""
    digits = token.replace(",", "") if _GROUPED.fullmatch(token) else token
    return int(digits) if digits.isascii() and digits.isdigit() and len(digits) < 19 else None


def number(token: str) -> float | None:
    """Return the value of ``12345.67`` or ``12,345.67``; nan for a passed validation."""
    if token.lower() == "pass":
        return math.nan
    plain = token.replace(",", "") if _GROUPED.fullmatch(token) else token
    if not _NUMBER.fullmatch(plain):
        return None
    value = float(plain)
    return value if value < LARGEST else None


def pointed(number: str) -> str:
    """Return a number with a decimal comma, e.g. ``1.234,56``, written with a decimal point."""
    return number.replace(".", "").replace(",", ".") if "," in number else number


def excerpt(line: str) -> str:
    """Return the beginning of a line as it can be quoted in a message."""
    text = " ".join("".join(c if c.isprintable() else " " for c in line[:200]).split())
    return text if len(text) <= 80 else text[:79] + "…"
