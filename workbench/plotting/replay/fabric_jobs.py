"""Jobs that share a network: the run time of each alone and beside the others (simulated)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bokeh.models import ColumnDataSource, FactorRange, HoverTool, Range1d
from bokeh.plotting import figure
from bokeh.transform import dodge

from workbench.plotting import palette
from workbench.plotting.axes import legend_above, new_figure
from workbench.plotting.replay.style import caption, time_axis, time_text

if TYPE_CHECKING:
    from workbench.simulate.fabric.concurrent_jobs import SharedRun

_ROW_PX = 52  # two bars of 18 px with texts of 11
_AROUND_PX = 120  # title, legend, axis and its label
_LOOKS = (("alone", palette.SKY_BLUE, None), ("shared", palette.VERMILLION, "right_diagonal_line"))


def plot_jobs(run: SharedRun) -> figure:
    """Return two bars for each job: its run time alone, and beside the other jobs."""
    columns = job_columns(run)
    source = ColumnDataSource(data=columns)
    names = columns["name"]
    longest = max([*columns["alone_ns"], *columns["shared_ns"]], default=1.0) or 1.0
    network = run.together.topology.name
    fig = new_figure(
        title=f"Jobs on {network}, {run.placement} placement (simulated)",
        y_label="",
        height=_AROUND_PX + _ROW_PX * len(names),
        x_type="linear",
        y_type="auto",
        file_name="jobs",
        x_range=Range1d(0.0, 1.3 * longest),
        y_range=FactorRange(*reversed(names)),
    )
    bars = []
    for name, colour, hatch in _LOOKS:
        bars.append(
            fig.hbar(
                y=dodge("name", 0.19 if name == "alone" else -0.19, range=fig.y_range),
                right=f"{name}_ns",
                height=0.34,
                source=source,
                fill_color=colour,
                line_color=colour,
                hatch_pattern=hatch,
                hatch_color="white",
                hatch_alpha=0.6,
                legend_label="alone" if name == "alone" else "beside the others",
            )
        )
        fig.text(
            x=f"{name}_ns",
            y=dodge("name", 0.19 if name == "alone" else -0.19, range=fig.y_range),
            text=f"{name}_text",
            source=source,
            x_offset=6,
            text_baseline="middle",
            text_font_size="11px",
        )
    fig.add_tools(HoverTool(renderers=bars, tooltips=[("", "@name"), ("", "@said")]))
    time_axis(fig.xaxis[0])
    fig.xaxis.axis_label = "run time"
    fig.ygrid.grid_line_color = None
    legend_above(fig)
    caption(fig, run.provenance)
    return fig


def job_columns(run: SharedRun) -> dict[str, list[Any]]:
    """Return the columns of the figure, a row for each job."""
    alone, shared = (run.alone_s * 1e9).tolist(), (run.shared_s * 1e9).tolist()
    slowdown = run.slowdown.tolist()
    ranks = [len(run.hosts_of(job)) for job in range(len(run.names))]
    return {
        "name": list(run.names),
        "alone_ns": alone,
        "shared_ns": shared,
        "alone_text": [time_text(one) for one in alone],
        "shared_text": [
            f"{time_text(one)}, {slow:.2f}× as long"
            for one, slow in zip(shared, slowdown, strict=True)
        ],
        "said": [
            f"{count} ranks: {time_text(one)} alone, {time_text(other)} beside the others"
            for count, one, other in zip(ranks, alone, shared, strict=True)
        ],
    }
