"""Tables that users bring as CSV or Parquet files, under whatever names their columns have.

A table's cells are texts, or numbers where a Parquet file has numbers; its index is the number of
each row's line, or of its row in a Parquet file.
"""

from __future__ import annotations

import csv
import zlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from workbench.errors import ParameterError, ParseError
from workbench.suggestions import did_you_mean
from workbench.text_table import check_columns, parsed_numbers, read_text_table

if TYPE_CHECKING:
    import pandas as pd

FloatArray = NDArray[np.float64]

MISSING = ("", "nan", "na", "n/a", "null", "none", "-")
"""Cells that hold nothing, in any case of letters."""

_PARQUET = b"PAR1"
_SEPARATORS = ",;\t|"
_LONGEST_HEAD = 1_000_000  # characters of the line with the names


def read_table(
    path: str | Path,
    what: str,  # the table is, for errors
    needed: Iterable[str] = (),
    *,
    columns: Mapping[str, str] | None = None,  # our names to the file's
    optional: Iterable[str] = (),  # our names of columns that a table may have
) -> pd.DataFrame:
    """Return the cells of a table under our names; ParseError names the line of what is wrong."""
    source = str(path)
    try:
        with Path(path).open("rb") as file:
            parquet = file.read(len(_PARQUET)) == _PARQUET
    except OSError as error:
        raise ParseError(
            f"{what} must be a file that can be read; {error}", source=source
        ) from error
    table = _read_parquet(path, what) if parquet else _read_csv(path, what)
    return renamed(table, columns, what, needed, source, optional=optional)


def _read_csv(path: str | Path, what: str) -> pd.DataFrame:
    """Return the cells of a CSV file; its separator is the one that its first line has most of."""
    source = str(path)
    try:
        with Path(path).open(encoding="utf-8-sig", newline="") as file:
            head = file.readline(_LONGEST_HEAD)
        separator = max(_SEPARATORS, key=head.count)
        names = [name.strip() for name in next(csv.reader([head], delimiter=separator), [])]
        if not any(names):
            raise ParseError(f"{what} must begin with the names of its columns", source=source)
        _once(names, what, source)
        table = read_text_table(path, what, (), separator=separator)
    except (OSError, EOFError, ValueError, csv.Error, zlib.error, MemoryError) as error:
        if isinstance(error, ParseError):
            raise
        raise ParseError(f"{what} must be a CSV file; {error}", source=source) from error
    # Of the file's first line as it stands: pandas gives columns without a name one.
    if len(names) == len(table.columns):
        table.columns = names
    return table


def _once(names: Iterable[str], what: str, source: str) -> None:
    """Raise ParseError where a column's name stands twice."""
    found = list(names)
    if twice := sorted({name for name in found if name and found.count(name) > 1}):
        raise ParseError(
            f"{what} must have each column once; it has {', '.join(twice)} more than once",
            source=source,
            line=1,
        )


def _read_parquet(path: str | Path, what: str) -> pd.DataFrame:
    """Return the columns of a Parquet file: numbers as they are, all else as texts."""
    import pandas as pd

    source = str(path)
    try:
        table = pd.read_parquet(path)
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
    check_columns(table, what, needed, source)
    return table


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
