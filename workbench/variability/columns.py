"""Columns of other people's tables under the names that are used here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from workbench.errors import ParameterError, ParseError
from workbench.suggestions import did_you_mean
from workbench.text_table import check_columns

if TYPE_CHECKING:
    import pandas as pd


def renamed(
    table: pd.DataFrame,
    columns: Mapping[str, str] | None,  # ours to the file's
    what: str,  # the table is, for errors
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
    # A column of theirs that has one of our names, and is not meant by it, keeps its cells.
    taken = {theirs: ours for ours, theirs in (columns or {}).items()}
    moved = {name: f"{name} of the file" for name in taken.values() if name in table}
    table = table.rename(columns=moved | taken)
    twice = sorted({str(name) for name in table.columns[table.columns.duplicated()]})
    if twice:
        raise ParseError(
            f"{what} must have each column once; it has {', '.join(twice)} twice",
            source=source,
            line=1,
        )
    check_columns(table, what, needed, source)
    return table
