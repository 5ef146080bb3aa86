"""Tables that users bring as CSV or Parquet files, under whatever names their columns have.

A table's cells are texts, or numbers where a Parquet file has numbers; its index is the number of
each row's line, or of its row in a Parquet file.
"""

from __future__ import annotations

import codecs
import csv
import io
import itertools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from workbench.arrays import FloatArray
from workbench.errors import ParameterError, ParseError
from workbench.suggestions import did_you_mean
from workbench.text_table import check_columns, parsed_numbers, read_text_table

if TYPE_CHECKING:
    import pandas as pd


MISSING = ("", "nan", "na", "n/a", "null", "none", "-")
"""Cells that hold nothing, in any case of letters."""

TableSource = str | Path | tuple[str, bytes]
"""A file's path, or its name and content, as an upload has them."""


class TableNotes(list[str]):
    """What was left out of a table or taken for granted, each a sentence.

    ``left_out`` is the number of rows that were left out while the file was read.
    """

    left_out: int = 0


PARQUET = b"PAR1"
_SEPARATORS = ",;\t|^~"
LONGEST_HEAD = 1_000_000  # characters of the line with the names
MOST_BEFORE = 50  # lines before the names: a command, what a login prints


def source_of(file: TableSource) -> str:
    """Return a file's name for errors."""
    return file[0] if isinstance(file, tuple) else str(file)


def content_of(file: TableSource, what: str) -> bytes:
    """Return a file's bytes; ParseError where it cannot be read."""
    if isinstance(file, tuple):
        return file[1]
    try:
        return Path(file).read_bytes()
    except OSError as error:
        raise ParseError(
            f"{what} must be a file that can be read; {error}", source=str(file)
        ) from error


def read_table(
    file: TableSource,
    what: str,  # the table is, for errors
    needed: Iterable[str] = (),
    *,
    columns: Mapping[str, str] | None = None,  # our names to the file's
    optional: Iterable[str] = (),  # our names of columns that a table may have
    notes: TableNotes,  # what was left out or taken for granted is added to these
    heads: Iterable[str] = (),  # names that only the line with the columns' names has
    names: Sequence[str] | None = None,  # of the columns of a file that does not name them
    shapes: Shapes | None = None,  # of fields, for rows whose fields hold the separator
) -> pd.DataFrame:
    """Return the cells of a table under our names; ParseError names the line of what is wrong."""
    source, content = source_of(file), content_of(file, what)
    if content.startswith(PARQUET):
        table = _read_parquet(content, what, source)
    else:
        text = decoded(content, what, source, notes)
        table = _TextTable(text, what, source, notes, frozenset(heads), names, shapes).read()
    return renamed(table, columns, what, needed, source, optional=optional)


def decoded(content: bytes, what: str, source: str, notes: TableNotes) -> str:
    """Return a file's text, with a note where it is not UTF-8."""
    try:
        if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            return content.decode("utf-16")  # as PowerShell writes
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        if b"\0" in content:
            raise ParseError(f"{what} must be a CSV file; {error}", source=source) from error
    notes.append("the file is not UTF-8; it was read as Latin-1")
    return content.decode("latin-1")


@dataclass(frozen=True)
class Shapes:
    """How fields look, by a column's name, to find them where one holds the separator."""

    of: Mapping[str, re.Pattern[str]]  # such a field is one cell
    free: frozenset[str]  # columns whose fields may hold the separator, such as a job's name
    lists: frozenset[str]  # columns whose fields may hold commas, such as a list of nodes
    needed: frozenset[str]  # columns whose fields must be certain

    def fields(self, names: list[str], cells: list[str], separator: str) -> list[str] | None:
        """Return a row's fields, one a name; None where it is not certain which they are.

        Columns that are known to be free hold the separator, or else any without a shape.
        """
        free = self.free | self.lists if separator == "," else self.free
        wide = [name in free for name in names]
        for may_hold in (wide, [name not in self.of for name in names]):
            found = list(itertools.islice(self._ways(names, cells, may_hold, set()), _MOST_WAYS))
            rows = [[separator.join(cells[low:high]) for low, high in one] for one in found]
            certain = {
                tuple(cell for name, cell in zip(names, row, strict=True) if name in self.needed)
                for row in rows
            }
            if len(certain) == 1 and len(rows) < _MOST_WAYS:
                return rows[0]
            if rows:
                return None
        return None

    def _ways(
        self,
        names: list[str],
        cells: list[str],
        free: list[bool],
        dead: set[tuple[int, int]],  # names and cells from which no way leads on
        at: int = 0,
        low: int = 0,
    ) -> Iterator[list[tuple[int, int]]]:
        """Yield the ways in which cells make fields, each a list of their first and last + 1."""
        if at == len(names):
            if low == len(cells):
                yield []
            return
        if (at, low) in dead:
            return
        dead.add((at, low))  # until one is found
        spare = len(cells) - low - (len(names) - at)
        shape = self.of.get(names[at])
        for high in range(low + 1, low + 2 + (spare if free[at] else 0)):
            if high > len(cells) or (shape is not None and not shape.fullmatch(cells[low])):
                return
            for rest in self._ways(names, cells, free, dead, at + 1, high):
                dead.discard((at, low))
                yield [(low, high), *rest]


_MOST_WAYS = 100  # of reading a row; one with as many is not certain


class _TextTable:
    """A table as text: its separator is the one that the line with the names has most of."""

    def __init__(
        self,
        text: str,
        what: str,
        source: str,
        notes: TableNotes,
        heads: frozenset[str],
        names: Sequence[str] | None,
        shapes: Shapes | None,
    ) -> None:
        self._what, self._source, self._notes, self._shapes = what, source, notes, shapes
        self._text = text
        self._lines = _unquoted(text.replace("\r\n", "\n").replace("\r", "\n").split("\n"))
        self._head = self._find_head(heads) if names is None else -1
        head = self._lines[max(self._head, 0)][:LONGEST_HEAD]
        self._separator = max(_SEPARATORS, key=head.count)
        # sacct quotes nothing, and a job's name may hold a quote.
        self._plain = self._separator == "|" or '"' not in text
        if names is not None:
            head = self._separator.join(names)
        self._names_line = head
        try:
            quoted = next(csv.reader([head], delimiter=self._separator), [])
        except csv.Error as error:
            raise ParseError(f"{what} must be a CSV file; {error}", source=source) from error
        self.names = [
            re.sub(r'^#"(.*)"$', r"#\1", name.strip())  # as LDMS writes the first name
            for name in (head.split(self._separator) if self._plain else quoted)
        ]
        if not any(self.names):
            raise ParseError(f"{what} must begin with the names of its columns", source=source)
        _once(self.names, what, source)

    def read(self) -> pd.DataFrame:
        """Return the cells as texts, the index the number of each row's line."""
        import pandas as pd

        self._leave_out_again()
        self._leave_out_cut()
        mended = self._mended()
        try:
            table = read_text_table(
                io.StringIO("\n".join([self._names_line, *self._lines[self._head + 1 :]])),
                self._what,
                (),
                separator=self._separator,
                source=self._source,
                first_line=self._head + 1,
                quotes=not self._plain,
            )
        except (OSError, EOFError, ValueError, csv.Error, MemoryError) as error:
            if isinstance(error, ParseError):
                raise
            raise ParseError(
                f"{self._what} must be a CSV file; {error}", source=self._source
            ) from error
        # Of the file's line as it stands: pandas gives columns without a name one.
        if len(self.names) == len(table.columns):
            table.columns = self.names
        if mended:
            rows = pd.DataFrame(
                list(mended.values()), columns=table.columns, index=list(mended), dtype=object
            )
            table = pd.concat([table, rows]).sort_index()
        return table

    def _quotes_are_whole(self) -> bool:
        """Return whether no field in quotes goes on in the next line."""
        return all(line.count('"') % 2 == 0 for line in self._lines)

    def _cells(self, line: str) -> list[str]:
        if self._plain or '"' not in line:
            return line.split(self._separator)
        try:
            return next(csv.reader([line], delimiter=self._separator), [])
        except csv.Error:
            return []

    def _find_head(self, heads: frozenset[str]) -> int:
        """Return the position of the line with the names: the first but for what is known.

        The command that asked for the columns names them too, but among other words.
        """
        found = []
        for at, line in enumerate(self._lines[:MOST_BEFORE]):
            cells = [cell.strip() for cell in re.split(r"[,;\t|^~]", line[:LONGEST_HEAD])]
            if not heads.isdisjoint(cells):
                found.append((any(map(_IN_COMMAND.search, cells)), at))
        _, head = min(found, default=(False, 0))
        if before := sum(1 for one in self._lines[:head] if one.strip()):
            self._notes.append(f"{before} lines before the names of columns were left out")
        return head

    def _leave_out_again(self) -> None:
        """Empty the lines that repeat the names, as in files that were put one after another.

        So are those that ``head`` prints between files, and the line below markdown's names.
        """
        head, count = self._names_line, 0
        for at in range(self._head + 1, len(self._lines)):
            line = self._lines[at]
            if line == head:
                self._lines[at] = ""
                count += 1
            elif _BETWEEN.fullmatch(line):
                self._lines[at] = ""
            elif _LDMS.match(line) and _LDMS.match(head):
                raise ParseError(
                    f"{self._what} must have one line of names; this one names other columns than "
                    f"line {self._head + 1}: give each table as a file of its own",
                    source=self._source,
                    line=at + 1,
                )
        if count:
            self._notes.append(f"the names of columns stand {count} more times; left out")

    def _leave_out_cut(self) -> None:
        """Empty the last line where the file was cut off within it."""
        at = next((at for at in reversed(range(len(self._lines))) if self._lines[at].strip()), 0)
        if at <= self._head:
            return
        line, whole = self._lines[at], len(self.names)
        if self._plain:
            cells = line.split(self._separator)
            cut = len(cells) < whole or (at == len(self._lines) - 1 and self._is_short(at, cells))
        else:
            # A line with one end of quotes is a part of a row, of which this may be all.
            cells, whole_quotes = line.split(self._separator), line.count('"') % 2 == 0
            above = self._lines[at - 1].count('"') % 2 == 0
            cut = len(cells) < whole if whole_quotes else above
        if cut:
            self._lines[at] = ""
            self._notes.left_out += 1
            self._notes.append(
                f"line {at + 1}, the last, is cut off after {min(len(cells), whole)} of {whole} "
                "columns; left out"
            )

    def _is_short(self, at: int, cells: list[str]) -> bool:
        """Return whether a line's last cell is a date that is shorter than those above it."""
        above = [line.rpartition(self._separator)[2] for line in self._lines[at - 3 : at]]
        dates = [cell for cell in above if _DATE.match(cell)]
        return (
            bool(dates)
            and _PART_OF_DATE.fullmatch(cells[-1]) is not None
            and len(cells[-1]) < min(map(len, dates))
        )

    def _mended(self) -> dict[int, list[str]]:
        """Return the fields of rows with other than the usual cells by their lines, now empty."""
        whole, found, lost = len(self.names), dict[int, list[str]](), list[int]()
        if self._shapes is None or not (self._plain or self._quotes_are_whole()):
            return found
        for at in range(self._head + 1, len(self._lines)):
            line = self._lines[at]
            if line.count(self._separator) + 1 == whole or not line.strip():
                continue
            cells = self._cells(line)
            if len(cells) == whole:
                continue
            fields = self._fields(cells)
            after = self._cells(self._lines[at + 1]) if at + 1 < len(self._lines) else []
            if fields is None and len(cells) < whole and 0 < len(after) < whole:
                # A job's name may hold the end of a line too.
                fields = self._fields([*cells[:-1], f"{cells[-1]}\n{after[0]}", *after[1:]])
                if fields is not None:
                    self._lines[at + 1] = ""
            self._lines[at] = ""
            if fields is None:
                lost.append(at + 1)
            else:
                found[at + 1] = fields
        if found:
            self._notes.append(
                f"{len(found)} rows have a field that holds {self._separator!r} or the end of a "
                f"line, such as line {next(iter(found))}; their columns were found by the fields' "
                "shapes"
            )
        if lost:
            self._notes.left_out += len(lost)
            self._notes.append(
                f"{len(lost)} rows have other columns than the names say and were left out: line "
                + listed(map(str, lost))
            )
        return found

    def _fields(self, cells: list[str]) -> list[str] | None:
        """Return the fields that a row's cells make; None where that is not certain."""
        more = len(cells) - len(self.names)
        if self._shapes is None or not 0 <= more <= _MOST_SPARE:
            return None
        if self.names[-1]:
            return self._shapes.fields(self.names, cells, self._separator)
        fields = self._shapes.fields(self.names[:-1], cells[:-1], self._separator)
        return None if fields is None else [*fields, ""]


def _unquoted(lines: list[str]) -> list[str]:
    """Return lines without the sign of a quote or a comment that they all begin with."""
    sign = _SIGN.match(next(filter(str.strip, lines), ""))
    if sign is None or not all(line.startswith(sign[1]) for line in lines if line.strip()):
        return lines
    return [line.removeprefix(sign[0]).removeprefix(sign[1]) for line in lines]


_SIGN = re.compile(r"([#>]) ?")
_IN_COMMAND = re.compile(r"\S[ \t]+\S|^-|\\$")
_LDMS = re.compile(r"# ?Time,")
_BETWEEN = re.compile(r"==> .+ <==|\s*\|[|\s:-]*-[|\s:-]*")
_MOST_SPARE = 40  # separators within the fields of a row
_DATE = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d")
_PART_OF_DATE = re.compile(r"[-\d:T ]*")


def _once(names: Iterable[str], what: str, source: str) -> None:
    """Raise ParseError where a column's name stands twice."""
    found = list(names)
    if twice := sorted({name for name in found if name and found.count(name) > 1}):
        raise ParseError(
            f"{what} must have each column once; it has {', '.join(twice)} more than once",
            source=source,
            line=1,
        )


def _read_parquet(content: bytes, what: str, source: str) -> pd.DataFrame:
    """Return the columns of a Parquet file: numbers as they are, all else as texts."""
    import pandas as pd

    try:
        table = pd.read_parquet(io.BytesIO(content))
    except ImportError as error:
        raise ParseError(
            f"{what} in Parquet needs pyarrow: install it (pip install "
            "'interconnect-workbench[parquet]'), or save the table as CSV",
            source=source,
        ) from error
    # pyarrow's own errors are ValueError, OSError, NotImplementedError, KeyError or TypeError.
    except (OSError, LookupError, RuntimeError, TypeError, ValueError, MemoryError) as error:
        raise ParseError(f"{what} must be a whole Parquet file; {error}", source=source) from error
    if any(name is not None for name in table.index.names):
        table = table.reset_index()
    names = [str(name).strip() for name in table.columns]
    _once(names, what, source)
    table.columns = names
    table = pd.DataFrame({name: _plain(table[name]) for name in names})
    table.index = pd.RangeIndex(1, len(table) + 1)
    return table


def _plain(column: pd.Series) -> pd.Series:
    """Return a column's numbers as float64 or integers, dates and all else as texts."""
    import pandas as pd

    if pd.api.types.is_datetime64_any_dtype(column):
        return column.map(lambda when: "" if pd.isna(when) else when.isoformat()).astype(object)
    if pd.api.types.is_bool_dtype(column) or pd.api.types.is_numeric_dtype(column):
        if column.isna().any() or pd.api.types.is_float_dtype(column):
            return column.astype(np.float64)
        return column.astype(np.uint64 if column.dtype == np.uint64 else np.int64)
    return column.map(lambda cell: "" if cell is None or cell is pd.NA else str(cell)).astype(
        object
    )


def renamed(
    table: pd.DataFrame,
    columns: Mapping[str, str] | None,
    what: str,
    needed: Iterable[str],
    source: str,
    *,
    optional: Iterable[str] = (),
) -> pd.DataFrame:
    """Return a table under our names; errors name a column that it lacks or has twice."""
    needed = tuple(needed)
    known = (*needed, *optional)
    for ours, theirs in (columns or {}).items():
        if ours not in known:
            raise ParameterError(
                f"columns must name columns of {what}; got {ours!r}{did_you_mean(ours, known)}; "
                f"they are {', '.join(known)}",
                key="columns",
            )
        if theirs not in table:
            raise ParseError(
                f"{what} must have the column {theirs!r} that stands for {ours}; it has "
                f"{', '.join(map(str, table.columns))}",
                source=source,
                line=1,
            )
    taken = {theirs: ours for ours, theirs in (columns or {}).items()}
    # A column of the file that has one of our names, and is not meant by it, gets another.
    moved = {
        ours: f"{ours} of the file"
        for ours in taken.values()
        if ours in table and ours not in taken
    }
    table = table.rename(columns=moved | taken)
    _once(map(str, table.columns), what, source)
    check_columns(table, what, needed, source, remedy(table))
    return table


def remedy(table: pd.DataFrame) -> str:
    """Return what to do where a table lacks a column: its own, of which one may stand for it."""
    return (
        f"; the file has {listed(map(str, table.columns), 12)}: another column stands for user by "
        "columns={'user': 'Account'}, in a shell --job-columns user=Account"
    )


def names_in(table: pd.DataFrame, column: str, what: str, source: str) -> list[str]:
    """Return a column's names as texts; ParseError names the line of a cell without one."""
    texts = texts_of(table[column])
    for at, text in enumerate(texts):
        if not text:
            raise ParseError(
                f"{what} must name the {column} in each row; it is empty",
                source=source,
                line=int(table.index[at]),
            )
    return texts


def listed(names: Iterable[str], most: int = 5) -> str:
    """Return the first names, and the number of the others, as a list within a sentence."""
    found = list(names)
    more = f" and {len(found) - most} more" if len(found) > most else ""
    return ", ".join(found[:most]) + more


def texts_of(cells: pd.Series) -> list[str]:
    """Return cells as texts, whole numbers of a Parquet file without a fraction."""
    if cells.dtype.kind == "f":
        return ["" if np.isnan(cell) else f"{cell:.17g}" for cell in cells]
    return [str(cell).strip() for cell in cells]


def positions(names: Iterable[str]) -> tuple[list[str], NDArray[np.int64]]:
    """Return the names once each, in their order, and the position of each name among them."""
    found: dict[str, int] = {}
    at = [found.setdefault(name, len(found)) for name in names]
    return list(found), np.array(at, np.int64)


def numbers_or_missing(table: pd.DataFrame, column: str, source: str) -> FloatArray:
    """Return a column's numbers, nan where a cell holds nothing; ParseError names other cells."""
    values, bad = _parsed(table[column])
    if bad.any():
        at = int(np.argmax(bad))
        raise ParseError(
            f"{column} must be a number, or empty where it is missing; got "
            f"{table[column].iloc[at]!r}",
            source=source,
            line=int(table.index[at]),
        )
    return values


def holds_no_number(table: pd.DataFrame, column: str) -> bool:
    """Return whether no cell of a column is a number and some cells are texts."""
    values, bad = _parsed(table[column])
    return bool(bad.any() and not np.isfinite(values).any())


def _parsed(cells: pd.Series) -> tuple[FloatArray, NDArray[np.bool_]]:
    """Return numbers, nan where there is none, and which cells are neither one nor missing."""
    if cells.dtype.kind in "fiub":
        values = cells.to_numpy(np.float64)
        return values, np.isinf(values)
    texts = cells.astype(str).str.strip()
    values = parsed_numbers(texts)
    unknown = ~np.isfinite(values)
    bad = np.zeros(len(values), bool)
    bad[unknown] = ~texts[unknown].str.lower().isin(MISSING).to_numpy(bool)
    return values, bad


def whole_numbers(
    table: pd.DataFrame, column: str, source: str, *, least: int = -(2**53)
) -> NDArray[np.int64]:
    """Return a column's whole numbers; ParseError names the line of a cell that is none."""
    values, bad = _parsed(table[column])
    wrong = bad | ~np.isfinite(values) | (values != np.floor(values)) | (values > 2**53)
    wrong |= values < least
    if wrong.any():
        at = int(np.argmax(wrong))
        limit = "" if least == -(2**53) else f" of at least {least}"
        raise ParseError(
            f"{column} must be a whole number{limit}; got {table[column].iloc[at]!r}",
            source=source,
            line=int(table.index[at]),
        )
    return values.astype(np.int64)


def line_of_fraction(table: pd.DataFrame, column: str) -> int | None:
    """Return the line of the first number that counts nothing: below 0, or with a fraction.

    None where there is none, or where a cell is no number.
    """
    values, bad = _parsed(table[column])
    with np.errstate(invalid="ignore"):
        odd = np.isfinite(values) & ((values < 0) | (values != np.floor(values)))
    return int(table.index[int(np.argmax(odd))]) if odd.any() and not bad.any() else None


def is_missing(cells: pd.Series) -> NDArray[np.bool_]:
    """Return which cells hold nothing."""
    if cells.dtype.kind in "fiub":
        return np.asarray(np.isnan(cells.to_numpy(np.float64)))
    return np.asarray(cells.astype(str).str.strip().str.lower().isin(MISSING), bool)


def exact_counts(
    table: pd.DataFrame, column: str, source: str
) -> tuple[NDArray[np.uint64], NDArray[np.bool_]]:
    """Return a column's whole numbers from 0 to 2^64 - 1 without rounding, and where there are any.

    ParseError names the line of a cell that is none.
    """
    cells = table[column]
    known = ~is_missing(cells)
    found = np.zeros(len(cells), np.uint64)
    texts = cells[known].astype(str).str.strip()
    if texts.str.fullmatch("[0-9]{1,19}").all():  # the usual case, in one go
        found[known] = texts.to_numpy(str).astype(np.uint64)
        return found, known
    for at in np.flatnonzero(known).tolist():
        count = _exact(cells.iloc[at])
        if count is None:
            raise ParseError(
                f"{column} must be a whole number from 0 to 2^64 - 1, as a counter shows; got "
                f"{cells.iloc[at]!r}",
                source=source,
                line=int(table.index[at]),
            )
        found[at] = count
    return found, known


def _exact(cell: object) -> int | None:
    """Return a cell's whole number, None where it is none; 4e9 and 12.0 are whole numbers too."""
    text = str(cell).strip()
    if text.isascii() and text.isdigit() and len(text) <= 20:
        count = int(text)
    else:
        try:
            value = float(text)
        except ValueError:
            return None
        # Beyond 2^53 a float no longer holds each whole number.
        if not (0 <= value <= 2.0**53 and value == int(value)):
            return None
        count = int(value)
    return count if count < 2**64 else None
