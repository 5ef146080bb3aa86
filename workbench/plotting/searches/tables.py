"""The tables of SHAMan's study, section 5.2, of a comparison of searches, with sentences."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from workbench.html_table import html_table
from workbench.plotting.searches.style import (
    interval_text,
    percent_text,
    picked,
    resampling_text,
    rows_of,
    usual_noise,
    values_of,
)
from workbench.tune.search_comparison.plan import HELD_OUT, NO_PRUNING

if TYPE_CHECKING:
    import pandas as pd

    from workbench.tune.recorded.recorded_space import Recording
    from workbench.tune.search_comparison.files import SearchComparisonTables

ALL = "all"
_METHOD = ("recording", "noise", "heuristic", "resampling", "stopping", "pruning", "pick")

COLUMNS: Mapping[str, str] = {
    "potential": "possible (%)",
    "gain": "gain over the default (%)",
    "share": "of the possible (%)",
    "distance": "above the optimum (%)",
    "delta_us": "ΔT, median (µs)",
    "spread_us": "noise, median (µs)",
    "tied": "tied with the optimum (%)",
    "grid_s": "whole grid (s)",
    "exhaustive_s": "each configuration once (s)",
    "spent_s": "search (s)",
    "saved_grid": "saved: whole grid (%)",
    "saved": "saved: each once (%)",
}
"""Titles of the columns of the paper's tables, Table 1 first, by the comparison's names."""

TABLE_1 = ("potential", "gain", "share", "distance", "delta_us", "spread_us", "tied")
"""What the paper's Table 1 has, and more: how good the search is."""

TABLE_2 = ("grid_s", "exhaustive_s", "spent_s", "saved_grid", "saved")
"""What the paper's Table 2 has, and more: how long it takes."""

_WITH_INTERVAL = ("gain", "share", "distance", "tied", "saved_grid", "saved")


def by_collective(tables: SearchComparisonTables, **where: str) -> pd.DataFrame:
    """Return a method's figures by recording, noise and collective, then for all collectives.

    Without `recording` all are returned, without `noise` the most frequent one of each, without
    `pruning` searches that do not prune.
    """
    import pandas as pd

    asked = where.get("recording")
    recordings = [asked] if asked else values_of(tables.methods, "recording")
    found = []
    for name in recordings:
        noise = where.get("noise") or usual_noise(tables.methods, name)
        here = {"pruning": NO_PRUNING} | where | {"recording": name, "noise": noise}
        found += [
            picked(tables.collectives, **here),
            picked(tables.methods, **here).assign(collective=ALL),
        ]
    both = pd.concat(found, ignore_index=True)
    return both.set_index(["recording", "noise", "collective"])


def paper_table(table: pd.DataFrame, columns: Sequence[str]) -> pd.DataFrame:
    """Return ``TABLE_1`` or ``TABLE_2`` of `by_collective`, with units in the column names."""
    return table[list(columns)].rename(columns=dict(COLUMNS))


def by_collective_html(table: pd.DataFrame) -> str:
    """Return both tables as HTML, a row for each collective, with intervals over the seeds."""
    parts = []
    for title, columns in (
        ("How good: the paper's Table 1", TABLE_1),
        ("How long: the paper's Table 2", TABLE_2),
    ):
        head = ("collective", *(COLUMNS[name].removesuffix(" (%)") for name in columns))
        rows = (
            (str(key[-1]), *(_cell(row, name) for name in columns))
            for key, row in zip(table.index, rows_of(table), strict=True)
        )
        wholes = [at for at, key in enumerate(table.index) if key[-1] == ALL]
        shown = html_table(rows, head, title, bold_rows=wholes)
        parts.append(f'<div style="margin-bottom:8px">{shown}</div>')
    return "".join(parts)


def describe_search(tables: SearchComparisonTables, **where: str) -> str:
    """Return sentences on one method's results on one recording, with their intervals."""
    rows = picked(tables.methods, **where)
    if not len(rows):
        return "The comparison has no such search: this method was not run with this noise."
    row = rows_of(rows)[0]
    share = float(row["share"])
    possible = (
        f"{interval_text(row, 'share')} of what is possible, " if math.isfinite(share) else ""
    )
    ended = "" if row["pruning"] == NO_PRUNING else f", its runs ended by “{row['pruning']}”"
    return (
        f"{row['heuristic']} with {resampling_text(row['resampling'])}, stopped by "
        f"“{row['stopping']}”{ended}, gains {interval_text(row, 'gain')} over the default. That is "
        f"{possible}{interval_text(row, 'distance')} above the optimum, with "
        f"{percent_text(row['saved_grid'])} % of time saved against the whole grid; "
        f"{percent_text(row['tied'])} % of its searches end at what the recorded runs cannot tell "
        "from the optimum."
    )


def apart_table(recording: Recording) -> pd.DataFrame:
    """Return for each recorded space how well its repeats separate the configurations.

    ``tied`` counts those not separable from the optimum, itself included; ``potential`` is the
    optimum's gain over the default (%); ``confirmed`` the same where half of the repeats chooses
    and the other half judges, nan with fewer than four.
    """
    import pandas as pd

    lines = [
        {
            "space": name,
            "configurations": len(space),
            "repeats": min(map(len, space.values)),
            "tied": len(space.ties()),
            "potential": 100.0 * space.potential,
            "confirmed": 100.0 * space.confirmed_potential,
        }
        for name, space in recording.items()
    ]
    return pd.DataFrame(lines).set_index("space")


def describe_recording(recording: Recording) -> str:
    """Return a sentence on how well the repeats of a recording separate configurations."""
    table = apart_table(recording)
    total, tied = int(table["configurations"].sum()), int(table["tied"].sum())
    origin = recording.provenance.origin
    if origin in ("simulated", "synthetic"):
        return (
            f"{recording.name} is {origin}: its times have no noise of their own, so that the "
            "optimum is known exactly; a search sees the noise that is added."
        )
    return (
        f"{recording.name} is {origin}: of {total} configurations in {len(table)} spaces, "
        f"{tied} ({percent_text(100 * tied / total)} %) cannot be distinguished from the best one "
        "of "
        f"theirs by {int(table['repeats'].min())} repeats or more of each. Gains are judged by "
        f"the repeats that were drawn from, which promises too much; with the noise {HELD_OUT}, "
        "by the others."
    )


def method_columns(rows: pd.DataFrame) -> pd.DataFrame:
    """Return rows of ``methods`` with the identifying columns first, then the results."""
    shown = [*_METHOD, "runs", *COLUMNS]
    return rows[[*shown, *(name for name in rows if name not in shown)]]


def _cell(row: Mapping[str, Any], name: str) -> str:
    value = float(row[name])
    if name in _WITH_INTERVAL:
        return interval_text(row, name)
    if name == "potential":
        return f"{percent_text(value)} %"
    return f"{value:.3g}" if math.isfinite(value) and value < 1000 else _thousands(value)


def _thousands(value: float) -> str:
    return f"{value:,.0f}" if math.isfinite(value) else "–"
