"""How much each parameter of a component accounts for, as bars."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from bokeh.models import ColumnDataSource, FactorRange, HoverTool, Range1d
from bokeh.plotting import figure

from workbench.plotting import palette
from workbench.plotting.axes import new_figure


@dataclass(frozen=True, eq=False)
class ImportanceFigure:
    """The figure and its source.

    Attributes:
        figure: the figure.
        source: columns ``parameter`` and ``percent``.
    """

    figure: figure
    source: ColumnDataSource

    def show(self, importance: Mapping[str, float]) -> None:
        """Draw other shares.

        Args:
            importance: share of each parameter, the largest first.
        """
        names = list(importance)
        self.figure.y_range.factors = names[::-1]
        self.source.data = {
            "parameter": names,
            "percent": [100 * importance[name] for name in names],
        }
        text = "What the spread is due to"
        self.figure.title.text = text if names else f"{text}: too few runs to tell"


def plot_importance(importance: Mapping[str, float], *, height: int = 200) -> figure:
    """Return the share of the spread that each parameter accounts for.

    Args:
        importance: as ``TuningResult.importance`` returns it.
        height: pixels.
    """
    drawn = importance_figure(height=height)
    drawn.show(importance)
    return drawn.figure


def importance_figure(*, height: int = 200) -> ImportanceFigure:
    """Return the live form of `plot_importance`, with nothing in it.

    Args:
        height: pixels.
    """
    fig = new_figure(
        title="What the spread is due to",
        y_label="",
        height=height,
        x_type="linear",
        y_type="auto",
        file_name="importance",
        x_range=Range1d(0, 100),
        y_range=FactorRange(),
    )
    fig.xaxis.axis_label = "importance (%)"
    source = ColumnDataSource({"parameter": [], "percent": []})
    bars = fig.hbar(
        y="parameter", right="percent", source=source, height=0.6, fill_color=palette.BLUE
    )
    tips = [("@parameter", "@percent{0.0} %")]
    fig.add_tools(HoverTool(renderers=[bars], tooltips=tips))
    return ImportanceFigure(fig, source)
