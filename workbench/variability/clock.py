"""Times in tables: seconds, or ISO dates with a time zone or in a named one."""

from __future__ import annotations

import datetime
import zoneinfo
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from workbench.errors import ParameterError, ParseError

if TYPE_CHECKING:
    import pandas as pd


def seconds_of(
    table: pd.DataFrame, column: str, source: str, zone: str = "UTC"
) -> tuple[NDArray[np.float64], tuple[str, ...]]:
    """Return a column's times in s, and sentences about what was taken for granted.

    A number is seconds since whatever the file counts from; a date becomes seconds since
    1970-01-01 UTC. Where the clocks are put back, an hour comes twice, and a time in it that names
    no offset is taken for the first; where they are put forward, one is missing, and a time in it
    is taken as if they had not been. Both are counted.

    ParseError names the line of what is no time; ParameterError says that a zone is unknown.
    """
    try:
        place = zoneinfo.ZoneInfo(zone)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise ParameterError(
            f"zone must be a time zone such as America/Los_Angeles; got {zone!r}", key="zone"
        ) from error
    found, twice, missing = np.empty(len(table)), 0, 0
    for at, (line, text) in enumerate(table[column].items()):
        try:
            found[at] = float(text)
        except ValueError:
            found[at], kind = _of_date(text, place, column, source, line)
            twice += kind == "twice"
            missing += kind == "missing"
        if not np.isfinite(found[at]):
            raise _no_time(text, column, source, line)
    words = []
    if twice:
        words.append(
            f"{twice} times of {column} are in an hour that {zone} has twice; they are taken for "
            "the first"
        )
    if missing:
        words.append(
            f"{missing} times of {column} are in an hour that {zone} leaves out; they are taken as "
            "if the clocks had not been put forward"
        )
    return found, tuple(words)


def _of_date(
    text: str, place: zoneinfo.ZoneInfo, column: str, source: str, line: object
) -> tuple[float, str]:
    """Return seconds, and whether the local hour comes ``twice`` or is ``missing``."""
    try:
        when = datetime.datetime.fromisoformat(text)
    except ValueError:
        raise _no_time(text, column, source, line) from None
    if when.tzinfo is not None:
        return when.timestamp(), ""
    local = when.replace(tzinfo=place)
    other = local.replace(fold=1)
    kind = ""
    if local.utcoffset() != other.utcoffset():
        back = local.astimezone(datetime.UTC).astimezone(place).replace(tzinfo=None, fold=0)
        kind = "twice" if back == when else "missing"
    return local.timestamp(), kind


def _no_time(text: str, column: str, source: str, line: object) -> ParseError:
    return ParseError(
        f"{column} must be seconds or a date such as 2019-01-31T08:15:00; got {text!r}",
        source=source,
        line=int(str(line)),
    )
