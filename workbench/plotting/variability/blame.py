"""How much each user is to blame for long runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from bokeh.models import LayoutDOM

from workbench.plotting import palette
from workbench.plotting.grid import heading, sentence, stacked
from workbench.plotting.marks import Marks, rule
from workbench.plotting.rows import row_figure

if TYPE_CHECKING:
    from workbench.variability import Blame

MOST_USERS = 40
"""Users drawn at most. Chosen: their rows fit below one another in a window 1100 px high."""

LEVEL = 0.05
"""Adjusted p-value up to which a user is marked: the usual level of a test."""


def plot_blame(found: Blame, *, method: str = "ridge") -> LayoutDOM:
    """Return a bar for each user: by how much runs take longer beside it.

    Args:
        found: of ``workbench.variability.blame``.
        method: ``ridge``, ``lasso`` or ``doubly-robust``, which say by how much; of the other
            methods the bars are scores.

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
    )


def describe_blame(found: Blame, *, method: str = "ridge") -> str:
    """Return a sentence on who is blamed.

    Args:
        found: of ``workbench.variability.blame``.
        method: one of its methods.

    Raises:
        ParameterError: there is no such method.
    """
    rows = found.to_frame(method)
    blamed = rows[rows["p adjusted"] <= LEVEL]
    if not len(blamed):
        return (
            f"Nobody is to blame beyond chance by {method}: the least adjusted p-value is "
            f"{rows['p adjusted'].min():.2g}."
        )
    named = ", ".join(blamed["user"])
    return (
        f"To blame beyond chance by {method}: {named}. A user who often runs beside another one "
        "may be blamed for it."
    )
