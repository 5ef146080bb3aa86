"""Probabilities of the models of a collective whose algorithm is unknown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bokeh.models import LayoutDOM

from workbench.plotting import palette
from workbench.plotting.descriptions import plain_percent
from workbench.plotting.grid import heading, sentence, stacked
from workbench.plotting.marks import Marks
from workbench.plotting.rows import row_figure

if TYPE_CHECKING:
    from workbench.uq.collectives import AlgorithmMixture


def plot_algorithms(mixture: AlgorithmMixture) -> LayoutDOM:
    """Return the probability of each model as a bar, the most probable first.

    Args:
        mixture: of ``workbench.uq.collectives.calibrate_unknown``.
    """
    fig = row_figure(
        mixture.models,
        title="Probability of each model, given the measured times",
        x_label="probability (%)",
        file_name="algorithms",
        x_range=(0, 112),
        row_px=30,  # a bar of 19 px beside a text of 11
    )
    percent = 100 * mixture.probabilities
    behind = mixture.log_scores - mixture.log_scores.max()
    table = {
        "model": list(mixture.models),
        "percent": percent,
        "text": [plain_percent(each) for each in percent.tolist()],
        "behind": behind,
    }
    tips = [
        ("", "@model"),
        ("probability", "@text"),
        ("log score less the best", "@behind{0.00}"),
    ]
    rows = Marks(fig, table)
    rows.bars("percent", palette.BLUE, tips=tips)
    rows.texts("text", "percent", colour=palette.CAPTION, offset=5)
    named = mixture.label or "the library's choice"
    return stacked(
        heading(
            f"Algorithm of {mixture.collective} on {mixture.system} (labelled: {named})",
            f"from predictions of {mixture.held_out} by calibrations to "
            f"{'the others' if 'size' in mixture.held_out else 'fewer'}; all models equally likely "
            "before",
        ),
        fig,
        sentence(describe_algorithms(mixture)),
    )


def describe_algorithms(mixture: AlgorithmMixture) -> str:
    """Return a sentence on the most probable models.

    Args:
        mixture: of ``workbench.uq.collectives.calibrate_unknown``.
    """
    first, *others = zip(mixture.models, (100 * mixture.probabilities).tolist(), strict=True)
    if not first[1] >= 0:
        return "Not all models were scored before the stop; resume the calibration."
    rivals = [f"{model} {plain_percent(percent)}" for model, percent in others if percent >= 1]
    text = f"The most probable model is {first[0]}, {plain_percent(first[1])}; " + (
        f"the data also allow {', '.join(rivals)}." if rivals else "no other has 1 % or more."
    )
    off = [float(one.posterior_error.max()) for one in mixture.calibrations if not one.stopped]
    if not off:
        return text
    return (
        f"{text} Their surrogates are {plain_percent(100 * max(off))} off at most at the "
        "posteriors' draws (root mean square of a test)."
    )
