"""Measured medians of real systems beside what was predicted for them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from bokeh.models import FixedTicker, LayoutDOM

from workbench.plotting import palette
from workbench.plotting.grid import Series, heading, key, sentence, stacked
from workbench.plotting.marks import Marks, rule
from workbench.plotting.rows import beside, row_figure

if TYPE_CHECKING:
    from workbench.uq.collectives import SystemCoverage

_STYLES = (
    Series("50 % intervals", palette.SKY_BLUE, ""),
    Series("90 % intervals", palette.BLUE, ""),
)
_INSIDE = Series("median within its 90 % interval", palette.BLUE, "")
_OUTSIDE = Series("median outside", palette.VERMILLION, "")
_STATED = Series("stated level", palette.BLACK, "dashed", 1.2)
_ROW_PX = 30  # tests lie over 0.6 of it: 18 px for points of 6
_TICKS = (0.1, 0.2, 0.5, 1, 2, 5, 10)  # 1, 2 and 5 a decade; Bokeh would write 10^-1
_LANE = 0.3  # of a row, up and down, over which its tests lie by size


def plot_system_coverage(found: SystemCoverage) -> LayoutDOM:
    """Return for each collective of each system how many medians its intervals hold, and errors.

    Args:
        found: of ``workbench.uq.collectives.cover_systems``.
    """
    labels = [f"{case.name}, {case.held_out}" for case in found.cases]
    left = row_figure(
        labels,
        title="Held-out medians inside the interval",
        x_label="medians inside (%)",
        file_name="coverage of systems",
        x_range=(-4, 104),
        row_px=_ROW_PX,
    )
    counts = np.bincount(found.case, minlength=len(labels))
    for number, (level, style) in enumerate(zip(found.levels, _STYLES, strict=True)):
        rule(left, x=100 * level, colour=style.colour, dash=_STATED.dash, width=_STATED.width)
        table = {
            "percent": 100 * found.shares(number),
            "name": labels,
            "tests": counts,
            "model": [case.model for case in found.cases],
        }
        tips = [("", "@name"), ("inside", "@percent{0} %"), ("tests", "@tests"), ("by", "@model")]
        cases, size = Marks(left, table, name=style.name), 7 + 4 * number
        cases.points("percent", style.colour, fill=None, size=size, width=2, tips=tips)
    right = row_figure(
        labels,
        title="Measured over predicted, a point for each size",
        x_label="measured / predicted time",
        file_name="errors on systems",
        y_range=left.y_range,
        row_px=_ROW_PX,
        x_type="log",
    )
    right.xaxis.ticker = FixedTicker(ticks=list(_TICKS))
    right.xaxis.major_label_overrides = {tick: f"{tick:g}" for tick in _TICKS}
    rule(right, x=1.0, colour=palette.BLACK)
    inside = found.within[-1]
    place = found.case + _lanes(found)
    for style, chosen, marker in ((_INSIDE, inside, "circle"), (_OUTSIDE, ~inside, "diamond")):
        at = np.flatnonzero(chosen)
        table = {
            "ratio": found.measured[at] / found.predicted[at],
            "row": place[at],
            "name": [labels[n] for n in found.case[at]],
            "bytes": found.block_bytes[at],
            "low": found.low[-1, at] / found.predicted[at],
            "high": found.high[-1, at] / found.predicted[at],
        }
        tips = [
            ("", "@name"),
            ("block", "@bytes B"),
            ("measured / predicted", "@ratio{0.00}"),
            ("90 % interval", "@low{0.00} to @high{0.00}"),
        ]
        Marks(right, table, name=style.name).points(
            "ratio",
            style.colour,
            edge=None,
            alpha=0.75,
            marker=marker,
            size=6 if marker == "circle" else 9,
            tips=tips,
        )
    systems = len({case.table for case in found.cases})
    return stacked(
        heading(
            f"Larger runs predicted from smaller ones, {systems} real systems",
            f"calibrated to the other tests, {found.noise} noise; published measurements",
        ),
        key([*_STYLES, _STATED, _INSIDE, _OUTSIDE]),
        beside(left, right, shares=(3, 2)),
        sentence(describe_system_coverage(found)),
    )


def describe_system_coverage(found: SystemCoverage) -> str:
    """Return a sentence on the coverage of all systems, and the worst of them by name.

    Args:
        found: of ``workbench.uq.collectives.cover_systems``.
    """
    held = " and ".join(
        f"{100 * level:g} % intervals hold {100 * found.within[row].mean():.0f} %"
        for row, level in enumerate(found.levels)
    )
    shares = found.shares()
    worst = int(np.argmin(shares))
    mine = found.case == worst
    return (
        f"Of all {len(found.measured)} held-out medians {held}; predictions are "
        f"{100 * np.median(np.abs(found.error)):.0f} % off in the median. The worst is "
        f"{found.cases[worst].name}, where 90 % intervals hold {100 * shares[worst]:.0f} % and "
        f"predictions are {100 * np.median(np.abs(found.error[mine])):.0f} % off."
    )


def _lanes(found: SystemCoverage) -> np.ndarray:
    """Return where in its row each test lies, by size."""
    offset = np.zeros(len(found.case))
    for at in range(len(found.cases)):
        mine = np.flatnonzero(found.case == at)
        order = np.argsort(np.argsort(found.block_bytes[mine], kind="stable"))
        offset[mine] = _LANE * (2 * order / max(len(mine) - 1, 1) - 1)
    return offset
