"""The tab of a stored search: which parameters matter, and its trials, the best first."""

from __future__ import annotations

from bokeh.models import Div, LayoutDOM

from workbench.fit.trials import best_trials, describe_importance, parameter_importance
from workbench.html_table import html_table
from workbench.plotting.grid import sentence, stacked
from workbench.plotting.tuning.importance import plot_importance


def stored_search(where: str, name: str) -> LayoutDOM:
    """Return the importance of a stored search's parameters, and a table of its best trials."""
    shares = parameter_importance(where, name)
    head, *rows = best_trials(where, name)
    table = Div(
        text=html_table(rows, head, align="r"),
        sizing_mode="stretch_width",
        styles={"overflow-x": "auto"},
    )
    return stacked(
        plot_importance(shares, height=90 + 18 * len(shares)),
        sentence(describe_importance(where, name)),
        sentence(
            f"The best {len(rows)} trials of {name}; all: workbench fit --studies {where} --name "
            f"'{name}' --json"
        ),
        table,
    )
