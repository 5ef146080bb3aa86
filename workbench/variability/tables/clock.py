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
    table: pd.DataFrame,
    column: str,
    source: str,
    zone: str = "UTC",
    *,
    within: NDArray[np.int64] | None = None,  # what each row is a later part of, such as its run
) -> tuple[NDArray[np.float64], tuple[str, ...]]:
    """Return a column's times in s, and sentences about what was taken for granted.

    A number is seconds since whatever the file counts from; a date becomes seconds since
    1970-01-01 UTC. Where the clocks are put back, an hour comes twice, and a time in it that names
    no offset is taken for the first, or for the second where it would not be after the row above
    ``within`` the same; where they are put forward, one is missing, and a time in it is taken as if
    they had not been. All are counted.

    ParseError names the line of what is no time; ParameterError says that a zone is unknown.
    """
    try:
        place = zoneinfo.ZoneInfo(zone)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise ParameterError(
            f"zone must be a time zone such as America/Los_Angeles; got {zone!r}", key="zone"
        ) from error
    found, twice, later, missing = np.empty(len(table)), 0, 0, 0
    for at, (line, text) in enumerate(table[column].items()):
        try:
            found[at] = float(str(text))
        except ValueError:
            found[at], again, kind = _of_date(text, place, column, source, line)
            missing += kind == "missing"
            if kind == "twice":
                goes_on = within is not None and at > 0 and within[at] == within[at - 1]
                if goes_on and found[at] <= found[at - 1] <= again:
                    found[at] = again
                    later += 1
                else:
                    twice += 1
        if not np.isfinite(found[at]):
            raise _no_time(text, column, source, line)
    words = []
    if twice:
        words.append(
            f"{twice} times of {column} are in an hour that {zone} has twice; they are taken for "
            "the first"
        )
    if later:
        words.append(
            f"{later} times of {column} are in an hour that {zone} has twice; they are taken for "
            "the second, for they follow a later one"
        )
    if missing:
        words.append(
            f"{missing} times of {column} are in an hour that {zone} leaves out; they are taken as "
            "if the clocks had not been put forward"
        )
    return found, tuple(words)


def _of_date(
    text: object, place: zoneinfo.ZoneInfo, column: str, source: str, line: object
) -> tuple[float, float, str]:
    """Return seconds, those at the second time, and whether the hour comes ``twice`` or never."""
    try:
        when = datetime.datetime.fromisoformat(str(text).strip())
    except ValueError:
        raise _no_time(text, column, source, line) from None
    if when.tzinfo is not None:
        return when.timestamp(), when.timestamp(), ""
    local = when.replace(tzinfo=place)
    other = local.replace(fold=1)
    kind = ""
    if local.utcoffset() != other.utcoffset():
        back = local.astimezone(datetime.UTC).astimezone(place).replace(tzinfo=None, fold=0)
        kind = "twice" if back == when else "missing"
    return local.timestamp(), other.timestamp(), kind


def _no_time(text: object, column: str, source: str, line: object) -> ParseError:
    return ParseError(
        f"{column} must be seconds or a date such as 2019-01-31T08:15:00; got {text!r}",
        source=source,
        line=int(str(line)),
    )
