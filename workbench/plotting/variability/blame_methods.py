"""Blame by every method side by side, beside the truth where it is known."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from bokeh.models import LayoutDOM
from bokeh.plotting import figure
from numpy.typing import NDArray

from workbench.arrays import FloatArray
from workbench.plotting import palette
from workbench.plotting.grid import Series, heading, key, sentence, stacked
from workbench.plotting.marks import Marks, rule
from workbench.plotting.rows import BAR_PX, beside, row_figure
from workbench.plotting.variability.blame import MOST_USERS, trend_figure
from workbench.variability.blame_scores import CULPRIT
from workbench.variability.stepwise import LEVEL

if TYPE_CHECKING:
    from workbench.variability import Blame


_ROW_PX = 17  # chosen: 40 users take 680 px, so that methods compare in a window 900 px high
_FIRST_SHARE, _SHARE = 6, 5  # of the width; the first figure of a row has the users' names
_LOW = Series(f"adjusted p of at most {LEVEL:g}, marked *", palette.VERMILLION, "solid", BAR_PX)
_HIGH = Series("larger p", palette.WAITING, "solid", BAR_PX)
_TRUE = Series("truth", palette.BLUE, "solid", BAR_PX)


def plot_blame_methods(
    found: Blame,
    truth: Mapping[str, float] | None = None,
    *,
    truth_label: str = "",
    culprits: Iterable[str] | None = None,
    columns: int = 3,
) -> LayoutDOM:
    """Return a bar for each user by each method and by the truth, and the trend of the runs.

    Args:
        found: of ``workbench.variability.blame``.
        truth: the true relative slow-down by each user, 0.05 for 5 % longer runs; of a user that it
            lacks nothing is known. None where nobody knows. With it the users with the largest true
            effect are at the top, without it those most to blame by the recommended method.
        truth_label: what the truth is, with its unit, where it is something else; its values are
            then drawn as they are.
        culprits: users who are truly to blame; None takes those with a slow-down of 2 % or more.
        columns: figures in a row.
    """
    real = None if truth is None else _of_groups(found, truth)
    order = (
        np.arange(len(found.users))
        if real is None
        else np.argsort(-np.nan_to_num(real, nan=-np.inf), kind="stable")
    )
    order = order[:MOST_USERS]
    labels = [", ".join(found.users[at]) for at in order]
    figures = []
    if real is not None:
        fig = row_figure(
            labels,
            title="Truth",
            x_label=truth_label or "runs take longer for the user (%)",
            file_name="truth",
            row_px=_ROW_PX,
        )
        drawn = real if truth_label else 100 * real
        _bars(fig, labels, drawn[order], np.zeros(len(order), bool), _TRUE.colour)
        fig.x_range.start = min(0.0, float(np.nanmin(drawn)))
        figures.append(fig)
    for at, method in enumerate(found.methods):
        effect = 100 * found.slowdown[at]
        in_score = bool(np.isnan(effect).all())
        value = found.score[at] if in_score else np.nan_to_num(effect)
        fig = row_figure(
            labels,
            title=method,
            x_label="score (nats)" if in_score else "slower beside the user (%)",
            file_name=method,
            row_px=_ROW_PX,
        )
        low = found.p_adjusted[at][order] <= LEVEL
        _bars(fig, labels, value[order], low, _HIGH.colour, found.p_adjusted[at][order])
        figures.append(fig)
    styles = [*([_TRUE] if real is not None else []), _LOW, _HIGH]
    return stacked(
        heading(
            f"Blame for {found.runs} runs by {len(found.methods)} methods"
            f"{', beside the truth' if real is not None else ''}",
            "mutual information has no sign: it is as large for users beside fast runs",
        ),
        key(styles),
        *_in_rows(figures, columns),
        sentence(describe_blame_methods(found, truth, culprits=culprits)),
        trend_figure(found),
    )


def describe_blame_methods(
    found: Blame,
    truth: Mapping[str, float] | None = None,
    *,
    culprits: Iterable[str] | None = None,
) -> str:
    """Return a sentence on the users each method blames, and on how many of them truly are.

    Args:
        found: of ``workbench.variability.blame``.
        truth: as for `plot_blame_methods`.
        culprits: as for `plot_blame_methods`.
    """
    blamed = {
        method: [at for at in range(len(found.users)) if found.p_adjusted[row, at] <= LEVEL]
        for row, method in enumerate(found.methods)
    }
    if truth is None:
        parts = [
            f"{method} {', '.join(', '.join(found.users[at]) for at in users) or 'nobody'}"
            for method, users in blamed.items()
        ]
        return f"Blamed beyond chance: {'; '.join(parts)}."
    if culprits is None:
        guilty = set(np.flatnonzero(_of_groups(found, truth) >= CULPRIT).tolist())
        which = f"make the runs beside them {100 * CULPRIT:g} % longer or more"
    else:
        known = set(culprits)
        guilty = {at for at, group in enumerate(found.users) if known & set(group)}
        which = "are to blame"
    parts = [
        f"{method} {len(users)} ({len(guilty & set(users))} rightly)" if users else f"{method} 0"
        for method, users in blamed.items()
    ]
    return (
        f"Of {len(found.users)} users, {len(guilty)} truly {which}. Blamed beyond chance: "
        f"{', '.join(parts)}."
    )


def _in_rows(figures: Sequence[figure], columns: int) -> list[LayoutDOM]:
    """Return the figures row by row; the first of a row names the users for all."""
    rows: list[LayoutDOM] = []
    for at in range(0, len(figures), columns):
        first, *others = figures[at : at + columns]
        for other in others:
            other.y_range = first.y_range
            other.yaxis.visible = False
        rows.append(beside(first, *others, shares=[_FIRST_SHARE, *[_SHARE] * len(others)]))
    return rows


def _of_groups(found: Blame, truth: Mapping[str, float]) -> FloatArray:
    """Return the true slow-down by the users that are blamed together, nan for unknown, [users]."""
    return np.array(
        [sum(truth.get(name, np.nan) for name in group) for group in found.users], np.float64
    )


def _bars(
    fig: figure,
    labels: list[str],
    value: FloatArray,
    low: NDArray[np.bool_],  # drawn as to blame beyond chance
    colour: str,
    adjusted: FloatArray | None = None,
) -> None:
    """Draw a bar a row, and a star behind those that are low."""
    table = {
        "user": labels,
        "value": np.nan_to_num(value),
        "fill": np.where(low, _LOW.colour, colour),
        "star": np.where(low, "*", ""),
        "adjusted": [""] * len(labels) if adjusted is None else [f"{p:.2g}" for p in adjusted],
    }
    tips = [("", "@user"), (fig.title.text, "@value{0.000}")]
    if adjusted is not None:
        tips.append(("adjusted p", "@adjusted"))
    rows = Marks(fig, table)
    rows.bars("value", "fill", edge=palette.CAPTION, width=0.5, tips=tips)
    rows.texts("star", "value", colour=palette.BLACK, offset=3, size=13)
    rule(fig, x=0)
