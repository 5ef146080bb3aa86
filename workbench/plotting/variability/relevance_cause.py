"""Relevance of counters beside the share of the delay that they cause."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bokeh.models import LayoutDOM, Range1d
from bokeh.plotting import figure

from workbench.plotting import palette
from workbench.plotting.grid import heading, sentence, stacked
from workbench.plotting.marks import MarkColumns, Marks
from workbench.plotting.rows import beside, row_figure

if TYPE_CHECKING:
    from workbench.variability import RelevanceAndCause


def plot_relevance_and_cause(found: RelevanceAndCause) -> LayoutDOM:
    """Return two bars a counter: how relevant it is, and what share of the delay it causes.

    Args:
        found: of ``workbench.variability.relevance_and_cause``.
    """
    rows = found.to_frame()
    table = {
        "counter": rows["counter"].tolist(),
        "relevance": rows["relevance"],
        "low": rows["relevance from"],
        "high": rows["relevance to"],
        "cause": rows["causes (%)"],
    }
    return stacked(
        heading(
            "What predicts a deviation, and what causes it",
            f"{len(rows)} counters; causes are known by construction; {found.provenance.caption()}",
        ),
        beside(
            _bars(table, "relevance", "share of folds in which it is needed", 1.0),
            _bars(table, "cause", "share of the delay that it causes (%)", 100.0),
            shares=[1, 1],
        ),
        sentence(describe_relevance_and_cause(found)),
    )


def describe_relevance_and_cause(found: RelevanceAndCause) -> str:
    """Return a sentence on counters that are relevant without causing, and the reverse.

    Args:
        found: of ``workbench.variability.relevance_and_cause``.
    """
    parts = []
    if found.misleading:
        verb = "predicts" if len(found.misleading) == 1 else "predict"
        parts.append(f"{_listed(found.misleading)} {verb} without causing")
    if found.overlooked:
        verb = "causes" if len(found.overlooked) == 1 else "cause"
        parts.append(f"{_listed(found.overlooked)} {verb} delay without being needed to predict")
    text = "; ".join(parts) or "What predicts is what causes"
    if found.correlation == found.correlation:
        text += f". Relevance and cause have a rank correlation of {found.correlation:.2f}"
    return f"{text}."


def _bars(table: MarkColumns, column: str, label: str, most: float) -> figure:
    fig = row_figure(
        table["counter"],
        title="Relevance" if column == "relevance" else "Cause",
        x_label=label,
        file_name=f"deviation-{column}",
    )
    fig.x_range = Range1d(0, 1.02 * most)
    colour = palette.BLUE if column == "relevance" else palette.VERMILLION
    tips = [
        ("", "@counter"),
        ("relevance", "@relevance{0.00} (@low{0.00} to @high{0.00})"),
        ("causes", "@cause{0.0} % of the delay"),
    ]
    Marks(fig, table).bars(column, colour, edge=palette.CAPTION, tips=tips)
    return fig


def _listed(names: tuple[str, ...]) -> str:
    more = f" and {len(names) - 4} more" if len(names) > 4 else ""
    return ", ".join(names[:4]) + more
