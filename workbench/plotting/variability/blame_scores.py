"""How well methods of blame find known culprits."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bokeh.models import LayoutDOM, Range1d

from workbench.findings import span
from workbench.plotting import palette
from workbench.plotting.axes import place_legend
from workbench.plotting.grid import heading, sentence, stacked
from workbench.plotting.marks import Marks, rule
from workbench.plotting.rows import row_figure

if TYPE_CHECKING:
    from workbench.variability.blame_scores import BlameScores


def plot_blame_scores(found: BlameScores) -> LayoutDOM:
    """Return each method's AUC and precision over worlds, with 90 % intervals of the means.

    Args:
        found: of ``workbench.variability.score_blame``.
    """
    rows = found.to_frame().sort_values("AUC", ascending=False, ignore_index=True)
    fig = row_figure(
        list(rows["method"]),
        title="AUC and precision over worlds",
        x_label="share, 1 is perfect",
        file_name="blame-scores",
        row_px=34,  # its two marks of 9 px lie 0.28 of it apart: 9.5 px
    )
    for name, colour, shift in (("AUC", palette.BLUE, -0.14), ("precision", palette.ORANGE, 0.14)):
        table = {
            "method": rows["method"],
            "mean": rows[name],
            "from": rows[f"{name} from"],
            "to": rows[f"{name} to"],
        }
        marks = Marks(fig, table, shift=shift)
        marks.spans("from", "to", colour, width=3)
        tips = [("", "@method"), (name, "@mean{0.000}"), ("90 %", "@from{0.000} to @to{0.000}")]
        marks.points("mean", colour, size=9, legend=name, tips=tips)
    rule(fig, x=0.5)
    fig.x_range = Range1d(0, 1.02)
    place_legend(fig, "bottom_left")
    return stacked(
        heading(
            f"Methods of blame on {len(found.auc)} worlds whose causes are known",
            f"{span(found.culprits)} of {span(found.users)} users slow runs down by "
            f"{100 * found.least:g} % or more; intervals hold 90 % of the mean over worlds",
        ),
        fig,
        sentence(describe_blame_scores(found)),
    )


def describe_blame_scores(found: BlameScores) -> str:
    """Return a sentence on the best method, and on what is blamed where nobody is to blame.

    Args:
        found: of ``workbench.variability.score_blame``.
    """
    rows = found.to_frame().set_index("method")
    best = rows.loc[found.best]
    text = (
        f"{found.best} is best: AUC {best['AUC']:.3f} (90 %: {best['AUC from']:.3f} to "
        f"{best['AUC to']:.3f}), and of as many users as are to blame "
        f"{100 * best['precision']:.0f} % are found."
    )
    if len(found.null_least):
        text += (
            f" Where nobody is to blame, {best['null p at most 5 % (%)']:.1f} % of its p-values "
            f"are at most 5 %, and it blames somebody in {best['null worlds that blame (%)']:.0f} "
            f"% of {len(found.null_least)} worlds."
        )
    return text
