"""How much each user is to blame for long runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from bokeh.models import LayoutDOM
from bokeh.plotting import figure

from workbench.plotting import palette
from workbench.plotting.grid import heading, sentence, stacked
from workbench.plotting.marks import Marks, rule
from workbench.plotting.rows import row_figure
from workbench.plotting.variability.run_dates import run_dates_figure
from workbench.variability.blame import RECOMMENDED
from workbench.variability.stepwise import LEVEL
from workbench.variability.tables.runs import Runs

if TYPE_CHECKING:
    from workbench.variability import Blame

MOST_USERS = 40
"""Users drawn at most. Chosen: their rows fit below one another in a window 1100 px high."""


def plot_blame(found: Blame, *, method: str = RECOMMENDED) -> LayoutDOM:
    """Return a bar for each user, by how much runs take longer beside it, and the runs' trend.

    Args:
        found: of ``workbench.variability.blame``.
        method: ``stepwise``, ``ridge``, ``lasso`` or ``doubly-robust``, which say by how much; of
            the other methods the bars are scores.

    Raises:
        ParameterError: there is no such method.
    """
    rows = found.to_frame(method).head(MOST_USERS)
    effect = rows["slower (%)"]
    in_nats = bool(effect.isna().all())
    value = rows["score"] if in_nats else effect.fillna(0.0)
    low = rows["p adjusted"] <= LEVEL
    fig = row_figure(
        list(rows["user"]),
        title=f"By {method}",
        x_label=f"{method} (nats)" if in_nats else "runs beside the user take longer by (%)",
        file_name="blame",
        row_px=24,  # a bar of 15 px
    )
    table = {
        "user": rows["user"],
        "value": value,
        "runs": rows["runs beside"],
        "p": [f"{p:.2g}" for p in rows["p"]],
        "adjusted": [f"{p:.2g}" for p in rows["p adjusted"]],
        "fill": np.where(low, palette.VERMILLION, palette.WAITING),
    }
    tips = [
        ("", "@user"),
        ("nats", "@value{0.000}") if in_nats else ("slower", "@value{0.0} %"),
        ("runs beside", f"@runs of {found.runs}"),
        ("p", "@p"),
        ("p adjusted for all users", "@adjusted"),
    ]
    Marks(fig, table).bars("value", "fill", edge=palette.CAPTION, tips=tips)
    rule(fig, x=0)
    large = f" of {found.least_nodes} nodes or more" if found.least_nodes > 1 else ""
    return stacked(
        heading(
            f"Who is to blame for the long ones of {found.runs} runs",
            f"users with a job{large}; orange bars: adjusted p of at most {LEVEL:g}",
        ),
        fig,
        sentence(describe_blame(found, method=method)),
        trend_figure(found),
    )


def trend_figure(found: Blame) -> figure:
    """Return the times of the runs over their dates, with the smooth trend."""
    drawn = run_dates_figure(height=220)
    names = tuple(f"run {run + 1}" for run in range(found.runs))
    drawn.show(Runs(names, found.start, found.start + found.time_s, found.time_s))
    drawn.figure.title.text = (
        f"All runs, and their trend, which is {'' if found.trend_removed else 'not '}removed"
    )
    return drawn.figure


def describe_blame(found: Blame, *, method: str = RECOMMENDED) -> str:
    """Return sentences on who is blamed, and on what the other methods say.

    Args:
        found: of ``workbench.variability.blame``.
        method: one of its methods.

    Raises:
        ParameterError: there is no such method.
    """
    rows = found.to_frame(method)
    blamed = rows[rows["p adjusted"] <= LEVEL]
    if len(blamed):
        named = ", ".join(blamed["user"])
        text = (
            f"To blame beyond chance by {method}: {named}. A user who often runs beside another "
            "one may be blamed for it."
        )
    else:
        text = (
            f"Nobody is to blame beyond chance by {method}: the least adjusted p-value is "
            f"{rows['p adjusted'].min():.2g}."
        )
    if method != RECOMMENDED:
        return text
    agree = "All other methods blame the same."
    return f"{text} {f'Other methods: {found.others}.' if found.others else agree}"
