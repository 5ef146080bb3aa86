"""What users sent over a shared link in each step of a recorded run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from bokeh.models import ColumnDataSource, Span
from bokeh.plotting import figure

from workbench.plotting import palette
from workbench.plotting.axes import legend_above, live_figure, moving_line, set_range
from workbench.plotting.marks import hover
from workbench.plotting.variability.run_steps import run_label, run_position

if TYPE_CHECKING:
    from workbench.variability import RecordedLink

_COLOURS = (palette.ORANGE, palette.SKY_BLUE, palette.GREEN, palette.PURPLE, palette.OLIVE)
_HATCHES = (" ", "/", ".", "\\", "-")


@dataclass(frozen=True, eq=False)
class LinkTrafficFigure:
    """The figure of what users sent and its source."""

    figure: figure
    sent: ColumnDataSource  # a column for each user that crosses the link, Mbit/s
    chosen: Span  # the chosen step

    def show(self, recorded: RecordedLink, run: int, step: int | None = None) -> None:
        """Draw another run."""
        time = recorded.steps.time_s[run]
        rates = {
            user.user: np.nan_to_num(8e-3 * recorded.sent_kB[run, :, at] / time)
            for at, user in enumerate(recorded.users)
            if user.crosses
        }
        total = np.sum([*rates.values()], axis=0)
        self.sent.data = {"step": np.arange(len(time)), **rates, "total": total}
        set_range(self.figure.x_range, (-0.7, len(time) - 0.3))
        set_range(self.figure.y_range, (0.0, 1.08 * max(float(total.max()), 1.0)))
        self.figure.title.text = (
            f"Sent over the link during {run_label(recorded.runs.run[run])} "
            f"({recorded.provenance.origin})"
        )
        self.mark(step)

    def mark(self, step: int | None) -> None:
        """Mark a step, or none."""
        self.chosen.update(location=0 if step is None else step, visible=step is not None)


def plot_link_traffic(
    recorded: RecordedLink, run: int | str, *, step: int | None = None, height: int = 320
) -> figure:
    """Return what each user sent over the shared link in each step of a run, stacked.

    Args:
        recorded: of ``workbench.variability.shipped``.
        run: its position or its name.
        step: the step that is marked; None marks none.
        height: pixels.

    Raises:
        ParameterError: there is no such run.
    """
    drawn = link_traffic_figure(recorded, height=height)
    drawn.show(recorded, run_position(recorded.steps, run), step)
    return drawn.figure


def link_traffic_figure(recorded: RecordedLink, *, height: int = 320) -> LinkTrafficFigure:
    """Return the live form of `plot_link_traffic`, empty."""
    fig = live_figure(
        height=height, file_name="link", y_label="sent over the link, both ways (Mbit/s)"
    )
    fig.xaxis.axis_label = "step"
    users = list(recorded.crossing)
    source = ColumnDataSource({name: [] for name in ("step", *users, "total")}, name="sent")
    count = len(users)
    areas = fig.varea_stack(
        users,
        x="step",
        source=source,
        fill_color=[_COLOURS[at % len(_COLOURS)] for at in range(count)],
        hatch_pattern=[_HATCHES[at % len(_HATCHES)] for at in range(count)],
        hatch_color=palette.WHITE,
        hatch_alpha=0.7,
        legend_label=users,
    )
    top = fig.line("step", "total", source=source, line_color=palette.CAPTION, line_width=1)
    chosen = moving_line(fig, palette.VERMILLION)
    tips = [("step", "@step"), *((user, f"@{{{user}}}{{0.0}} Mbit/s") for user in users)]
    hover(fig, [top, *areas], tips)
    legend_above(fig)
    return LinkTrafficFigure(fig, source, chosen)
