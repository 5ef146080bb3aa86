"""How many injection engines a root uses: intervals, and probabilities of whole numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from bokeh.models import LayoutDOM

from workbench.plotting import palette
from workbench.plotting.grid import Series, heading, key, sentence, stacked
from workbench.plotting.marks import Marks
from workbench.plotting.rows import BAR_PX, beside, row_figure

if TYPE_CHECKING:
    from workbench.uq.collectives import RootEngines

_ROW_PX = 34  # bars of 17 and 21 px, and medians of 24
_INTERVAL = Series("90 % interval", palette.SKY_BLUE, "solid", BAR_PX)
_MEDIAN = Series("median", palette.BLUE, "solid", 2.0)
_LINKS = Series("what links to the root can feed", palette.VERMILLION, "solid", 2.0)
_NUMBERS = (
    palette.BLUE,
    palette.ORANGE,
    palette.GREEN,
    palette.PURPLE,
    palette.SKY_BLUE,
    palette.OLIVE,
)


def plot_root_engines(found: RootEngines) -> LayoutDOM:
    """Return the interval of each case's engines, and the probability of each whole number.

    Args:
        found: of ``workbench.uq.collectives.root_engines``.
    """
    labels = [
        f"{name or 'default'}, {nodes} nodes"
        for name, nodes in zip(found.algorithms, found.nodes.tolist(), strict=True)
    ]
    left = row_figure(
        labels,
        title="Engines of the root, as a number between 1 and 6",
        x_label="injection engines",
        file_name="root engines",
        x_range=(0.8, 1.1 * float(np.nanmax([found.interval().max(), *found.ways]))),
        row_px=_ROW_PX,
    )
    low, high = found.interval().T
    median = np.median(found.engines, axis=1)
    table = {"low": low, "high": high, "median": median, "ways": found.ways, "case": labels}
    cases = Marks(left, table)
    tips = [("", "@case"), ("engines", "@median{0.00} (@low{0.00} to @high{0.00})")]
    cases.bars("high", _INTERVAL.colour, start="low", thick=0.5, tips=tips)
    cases.ticks("median", _MEDIAN.colour, half=0.36, width=3)
    cases.ticks("ways", _LINKS.colour, half=0.36, width=3)
    right = row_figure(
        labels,
        title="Probability of each whole number",
        x_label="probability (%)",
        file_name="probabilities of engines",
        x_range=(0, 100),
        y_range=left.y_range,
        row_px=_ROW_PX,
    )
    numbers, before = [], np.zeros(len(labels))
    for number, (share, colour) in enumerate(
        zip(100 * found.probabilities.T, _NUMBERS, strict=True), start=1
    ):
        if share.any():
            table = {"left": before, "right": before + share, "share": share, "case": labels}
            tips = [("", "@case"), (f"{number} engines", "@share{0.0} %")]
            Marks(right, table).bars("right", colour, start="left", tips=tips)
            numbers.append(Series(f"{number}", colour, "solid", BAR_PX))
            before = before + share
    origin = "" if found.provenance is None else f"; {found.provenance.caption()}"
    bandwidths = f"{1e-9 * found.bandwidth[0]:.1f} to {1e-9 * found.bandwidth[1]:.1f} GB/s"
    return stacked(
        heading(
            f"Injection engines of the root of a {found.collective} on {found.system}",
            f"an engine has {bandwidths}, the same for all{origin}",
        ),
        key([_INTERVAL, _MEDIAN, _LINKS, *numbers]),
        beside(left, right, shares=(3, 2)),
        sentence(describe_root_engines(found)),
    )


def describe_root_engines(found: RootEngines) -> str:
    """Return a sentence on the engines of each algorithm's root.

    Args:
        found: of ``workbench.uq.collectives.root_engines``.
    """
    parts = []
    for name in dict.fromkeys(found.algorithms):
        cases = [at for at, one in enumerate(found.algorithms) if one == name]
        counts = ", ".join(
            f"{np.median(found.engines[at]):.1f} on {found.nodes[at]} nodes" for at in cases
        )
        likely = sorted({int(np.argmax(found.probabilities[at])) + 1 for at in cases})
        numbers = " or ".join(map(str, likely))
        unit = "engine" if likely == [1] else "engines"
        parts.append(f"{name or 'the default'} uses {numbers} {unit} ({counts})")
    return f"By the posterior the root of a {found.collective} with {'; with '.join(parts)}."
