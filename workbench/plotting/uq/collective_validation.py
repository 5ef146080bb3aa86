"""A simulated collective beside replicas, and which parameters its time depends on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from bokeh.models import LayoutDOM

from workbench.plotting import palette
from workbench.plotting.axes import new_figure, place_legend
from workbench.plotting.grid import heading, sentence, stacked
from workbench.plotting.marks import Marks
from workbench.plotting.uq.sobol import plot_sobol

if TYPE_CHECKING:
    from workbench.uq.collectives.validation import CollectiveValidation

_COLOURS = (
    palette.BLUE,
    palette.ORANGE,
    palette.GREEN,
    palette.PURPLE,
    palette.SKY_BLUE,
    palette.OLIVE,
    palette.VERMILLION,
)


def plot_collective_validation(study: CollectiveValidation) -> LayoutDOM:
    """Return (A) simulated lines over points of the replicas and (B) Sobol' indices of each test.

    Args:
        study: of ``workbench.uq.collectives.validate_collective``.
    """
    name, tests = study.machine.collective, study.machine.tests
    fig = new_figure(
        title="A: times by buffer size, points are synthetic replicas",
        y_label="time (ms)",
        height=360,
        x_type="linear",
        file_name=f"{name} times",
    )
    fig.xaxis.axis_label = "buffer (KiB)"
    counts = sorted({test.nodes for test in tests})
    for nodes, colour in zip(counts, _COLOURS, strict=False):
        at = [n for n, test in enumerate(tests) if test.nodes == nodes]
        kib = np.array([tests[n].block_bytes for n in at]) / 1024
        lines = Marks(fig, {"KiB": kib, "ms": 1e3 * study.nominal[at]}, x="KiB")
        tips = [("nodes", f"{nodes}"), ("buffer", "@KiB KiB"), ("time", "@ms{0.000} ms")]
        lines.line("ms", colour, width=2, legend=f"{nodes} nodes", tips=tips)
        rows = [study.replicas.rows[n] for n in at]
        x = np.repeat(kib, [len(row) for row in rows])
        fig.scatter(x, 1e3 * np.concatenate(rows), color=colour, size=4, alpha=0.5)
    place_legend(fig, "top_left")
    inside = int(np.count_nonzero(study.observed()))
    return stacked(
        heading(
            f"{name.capitalize()} on a torus like Hopper's: {study.machine.about}",
            "lines: simulated with nominal parameters; points: synthetic, of "
            f"{study.truth}, with other parameters and noise",
        ),
        fig,
        plot_sobol(study.sobol(), [test.label for test in tests]),
        sentence(
            f"{inside} of {len(tests)} simulated times lie within the range of their replicas; the "
            f"surrogate is within {100 * float(study.holdout.maximum.max()):.2g} % at points that "
            "it was not fitted to."
        ),
    )
