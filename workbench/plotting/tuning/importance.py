"""Parameters that separate the best configurations from the others, as bars."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from bokeh.models import ColumnDataSource, FactorRange, HoverTool, Range1d, Whisker
from bokeh.plotting import figure

from workbench.plotting import palette
from workbench.plotting.axes import new_figure
from workbench.plotting.tuning.parameter_names import short_names

# PED-ANOVA compares the best tenth with all (Watanabe et al. 2023): no share of a variance.
_TITLE = "Parameter importance for the best tenth"


@dataclass(frozen=True, eq=False)
class ImportanceFigure:
    """Bars of the parameters' importance, with intervals."""

    figure: figure
    source: ColumnDataSource  # importance and ends of its interval in percent

    def show(
        self,
        importance: Mapping[str, float],
        intervals: Mapping[str, tuple[float, float]] | None = None,
    ) -> None:
        """Draw other importances, the largest first, with their intervals by resampling."""
        ends = {
            name: (intervals or {}).get(name, (share,) * 2) for name, share in importance.items()
        }
        names = list(importance)
        shown = list(short_names(names).values())
        self.figure.y_range.factors = shown[::-1]
        self.source.data = {
            "parameter": shown,
            "percent": [100 * importance[name] for name in names],
            "name": names,
            "low": [100 * ends[name][0] for name in names],
            "high": [100 * ends[name][1] for name in names],
        }
        self.figure.title.text = _TITLE if names else f"{_TITLE}: too few runs"


def plot_importance(
    importance: Mapping[str, float],
    intervals: Mapping[str, tuple[float, float]] | None = None,
    *,
    height: int = 200,
) -> figure:
    """Return each parameter's share in what separates the best tenth of the configurations."""
    drawn = importance_figure(height=height)
    drawn.show(importance, intervals)
    return drawn.figure


def importance_figure(*, height: int = 200) -> ImportanceFigure:
    """Return the live form of `plot_importance`, empty."""
    fig = new_figure(
        title=_TITLE,
        y_label="",
        height=height,
        x_type="linear",
        y_type="auto",
        file_name="importance",
        x_range=Range1d(0, 100),
        y_range=FactorRange(),
    )
    fig.xaxis.axis_label = "importance (%)"
    source = ColumnDataSource({"parameter": [], "percent": [], "name": [], "low": [], "high": []})
    bars = fig.hbar(
        y="parameter", right="percent", source=source, height=0.6, color=palette.BLUE, alpha=0.6
    )
    # Above the bars: below them an interval would seem to begin where its bar ends.
    whiskers = Whisker(
        base="parameter",
        lower="low",
        upper="high",
        dimension="width",
        source=source,
        level="overlay",
    )
    fig.add_layout(whiskers)
    tips = [("@name", "@percent{0} %, @low{0} to @high{0} % over resampled configurations")]
    fig.add_tools(HoverTool(renderers=[bars], tooltips=tips))
    return ImportanceFigure(fig, source)
