"""Stalls of links by the flow model of a world beside those of the packet simulator."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from bokeh.models import LayoutDOM

from workbench.plotting import palette
from workbench.plotting.axes import new_figure, place_legend
from workbench.plotting.grid import heading, sentence, stacked
from workbench.plotting.marks import Marks

if TYPE_CHECKING:
    from workbench.variability.world.packet_check import StallCheck

_LEAST = 1e-6  # of the time; zero has no place on a logarithmic axis
_STYLES = (
    ("row", palette.BLUE, "circle"),
    ("column", palette.ORANGE, "square"),
    ("global", palette.GREEN, "triangle"),
)


def plot_stall_check(found: StallCheck, *, height: int = 420) -> LayoutDOM:
    """Return the stall of each link by the flow model over that of the packet simulator.

    Args:
        found: of ``workbench.variability.check_stalls``.
        height: pixels.
    """
    fig = new_figure(
        title="Share of the time that links stall",
        y_label="by the flow model (%)",
        height=height,
        x_type="log",
        y_type="log",
        file_name="stalls",
    )
    fig.xaxis.axis_label = "by packets, mean of two simulations (%)"
    rows = found.to_frame()
    ends = 100 * np.array([_LEAST, 1.0])
    fig.line(ends, ends, line_color=palette.CAPTION, line_dash="dashed", legend_label="equal")
    for name, colour, marker in _STYLES:
        of_class = rows[rows["class"] == name]
        if not len(of_class):
            continue
        table = {
            "packets": 100 * np.maximum(of_class["stall, packets"], _LEAST),
            "flows": 100 * np.maximum(of_class["stall, flows"], _LEAST),
            "used": 100 * of_class["utilisation, packets"],
        }
        tips = [
            ("", f"{name} link"),
            ("by packets", "@packets{0.000} %"),
            ("by flows", "@flows{0.000} %"),
            ("sending", "@used{0.0} %"),
        ]
        links = Marks(fig, table, x="packets", name=name)
        label = f"{name} links"
        dots = links.points(
            "flows", colour, marker=marker, size=5, alpha=0.6, legend=label, tips=tips
        )
        dots.glyph.line_alpha = 0.6
    place_legend(fig, "top_left")
    return stacked(
        heading(
            f"{len(found.kind)} links of {found.groups} group{'s' * (found.groups > 1)} of Aries "
            f"routers ({found.provenance.origin})",
            f"links that stall for less than {100 * _LEAST:g} % of the time are drawn there",
        ),
        fig,
        sentence(describe_stall_check(found)),
    )


def describe_stall_check(found: StallCheck) -> str:
    """Return a sentence on how well both models agree, and on what chance allows.

    Args:
        found: of ``workbench.variability.check_stalls``.
    """
    return (
        f"The ranks of links by stall agree by {found.stall_rank:.2f} (Spearman) between flows and "
        f"packets, and by {found.chance_rank:.2f} between two simulations of the same packets at "
        f"other times; by utilisation flows and packets agree by {found.utilisation_rank:.2f}."
    )
