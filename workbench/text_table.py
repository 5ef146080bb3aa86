"""Tables that users bring in text files: cells are texts, and messages name file and line."""

from __future__ import annotations

import csv
import io
import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from workbench.errors import ParseError
from workbench.reading import as_utf8

if TYPE_CHECKING:
    import pandas as pd


def read_text_table(
    path: str | Path | io.StringIO,
    what: str,
    needed: Iterable[str],
    *,
    separator: str = ",",
    source: str = "",
    first_line: int = 1,  # of the file, in which the columns' names stand
    quotes: bool = True,
) -> pd.DataFrame:
    """Return the cells of a table as texts, its index the number of each row's line.

    A last row that ends with the file before its cells do is left out; ``attrs["notes"]`` says so.
    ParseError where the file is no table or lacks a column; ``what`` names it in messages.
    """
    import pandas as pd

    source = source or str(path)
    line = 0
    try:
        text = path.getvalue() if isinstance(path, io.StringIO) else _text_of(path)
        if not isinstance(path, io.StringIO):
            first = next(iter(text.splitlines()), "")
            text, line = without_cut_row(text, separator, _width(first, separator))
        with warnings.catch_warnings():
            # Of rows with more cells than the heading, which pandas would cut off.
            warnings.simplefilter("error", pd.errors.ParserWarning)
            table = pd.read_csv(
                io.StringIO(text, newline=""),
                sep=separator,
                keep_default_na=False,
                na_filter=False,
                dtype=str,
                skip_blank_lines=False,
                index_col=False,
                quoting=csv.QUOTE_MINIMAL if quotes else csv.QUOTE_NONE,
            )
    except pd.errors.ParserWarning as error:
        raise _long_row(text, separator, what, source, first_line, quotes) from error
    except (OSError, UnicodeDecodeError, ValueError) as error:
        raise ParseError(f"{what} must be a CSV file; {error}", source=source) from error
    table.columns = [str(name).strip() for name in table.columns]
    table.index = pd.RangeIndex(first_line + 1, len(table) + first_line + 1)
    check_columns(table, what, needed, source)
    table = table[(table != "").any(axis=1)]
    if line:
        table.attrs["notes"] = (f"{source}:{line}: {CUT}",)
    return table


CUT = "the text ends in the middle of this row; left out"
"""The note on a last row that is cut."""


def without_cut_row(text: str, separator: str, width: int) -> tuple[str, int]:
    """Return a text less a last row that it ends within, and that row's line; 0 for a whole text.

    No line end follows such a row, and it has fewer cells than ``width``, an open quote, or no last
    cell under rows that all have one.
    """
    start = max(text.rfind("\n"), text.rfind("\r")) + 1
    last, above = text[start:].strip(" "), text[:start].splitlines()
    if not last.strip() or last.startswith("#") or not any(map(str.strip, above)):
        return text, 0
    cut = (
        _width(last, separator) < width
        or (last.count('"') % 2 == 1 and text.count('"') % 2 == 1)
        or (
            last.endswith(separator)
            and len(above) > 1
            and not any(line.rstrip(" ").endswith(separator) for line in above)
        )
    )
    return (text[:start], len(above) + 1) if cut else (text, 0)


def _width(line: str, separator: str) -> int:
    """Return the number of a row's cells."""
    try:
        return len(next(csv.reader([line], delimiter=separator), []))
    except csv.Error:
        return line.count(separator) + 1


def _text_of(path: str | Path) -> str:
    return as_utf8(Path(path).read_bytes()).decode("utf-8-sig")


def _long_row(
    text: str, separator: str, what: str, source: str, first_line: int, quotes: bool
) -> ParseError:
    """Return an error about the first row that has more cells than there are names."""
    line, most, found = 1, 0, 0
    rows = csv.reader(
        io.StringIO(text, newline=""),
        delimiter=separator,
        quoting=csv.QUOTE_MINIMAL if quotes else csv.QUOTE_NONE,
    )
    for row in rows:
        most = most or len(row)
        if len(row) > most:
            line, found = rows.line_num, len(row)
            break
    return ParseError(
        f"{what} must have a name for each cell in its first line; it has {most}, and this row has "
        f"{found} cells",
        source=source,
        line=line + first_line - 1,
    )


def check_columns(
    table: pd.DataFrame, what: str, needed: Iterable[str], source: str, remedy: str = ""
) -> None:
    """Raise ParseError where a table lacks a column; ``what`` names it in messages."""
    wanted = list(needed)
    if lacking := [name for name in wanted if name not in table]:
        raise ParseError(
            f"{what} must have the columns {', '.join(wanted)}; it lacks {', '.join(lacking)}"
            f"{remedy}",
            source=source,
            line=1,
        )


def parsed_numbers(texts: pd.Series) -> NDArray[np.float64]:
    """Return the numbers that texts spell, to the last bit; nan where one spells none."""
    import pandas as pd

    values = np.asarray(pd.to_numeric(texts, errors="coerce"), np.float64)
    # Releases of pandas before 3.1 round the last bit of every eighth text wrongly there.
    known = np.isfinite(values)
    values = np.where(known, values, np.nan)
    values[known] = texts[known].astype(np.float64)
    return values


def numbers_of(
    table: pd.DataFrame, column: str, source: str, *, least: float = -np.inf, must: str = ""
) -> NDArray[np.float64]:
    """Return a column's numbers; ParseError names the line of one that is not finite or too small.

    ``must`` says in words what a cell must be; empty is ``a number``, with the least.
    """
    values = parsed_numbers(table[column])
    bad = ~(np.isfinite(values) & (values >= least))
    if bad.any():
        at = int(np.argmax(bad))
        words = must or ("a number" if least == -np.inf else f"a number of at least {least:g}")
        raise ParseError(
            f"{column} must be {words}; got {table[column].iloc[at]!r}",
            source=source,
            line=int(table.index[at]),
        )
    return values
