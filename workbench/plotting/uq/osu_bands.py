"""The OSU curves that a posterior allows, as bands, with what was measured."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from bokeh.models import LayoutDOM, NumeralTickFormatter

from workbench.measure.curve import byte_label
from workbench.plotting import palette
from workbench.plotting.axes import message_size_axis, new_figure
from workbench.plotting.grid import Series, key, sentence, stacked
from workbench.plotting.marks import Marks, rule
from workbench.plotting.rows import beside
from workbench.plotting.uq.pushed import BANDS, FITTED, MEDIAN, WIDEST_FIRST, question, source_lines

if TYPE_CHECKING:
    from workbench.uq.osu import FitPosterior

_MEASURED = Series("measured", palette.FAINT, "solid", 1.0)


def plot_osu_bands(posterior: FitPosterior, *, noise: bool = False) -> LayoutDOM:
    """Return the latency and bandwidth that a posterior allows as bands over message size.

    All are relative to what was measured, since bands of a percent cannot be seen on axes of four
    decades.

    Args:
        posterior: of a fit.
        noise: draw intervals of one more measurement, with the model's own error as it was seen at
            the point and the spread of measurements; False those of the model's curve alone.
    """
    frame = posterior.curves(WIDEST_FIRST, noise=noise)
    simulated = posterior.result.simulated
    figures = []
    for benchmark in dict.fromkeys(frame["benchmark"]):
        rows = frame[frame["benchmark"] == benchmark]
        fig = new_figure(
            title=benchmark.capitalize(),
            y_label="off the measured (%)",
            height=300,
            y_type="linear",
            file_name=f"{benchmark} bands",
        )
        for level, style in zip(WIDEST_FIRST, BANDS, strict=True):
            band = rows[rows["level"] == level]
            ends = {
                "size": band["size_bytes"],
                "low": 100 * (band["low"] / band["measured"] - 1),
                "high": 100 * (band["high"] / band["measured"] - 1),
            }
            Marks(fig, ends, x="size").band("low", "high", style.colour)
        points = rows[rows["level"] == WIDEST_FIRST[0]]
        table = {
            "size": points["size_bytes"].to_numpy(),
            "off": (100 * (points["median"] / points["measured"] - 1)).to_numpy(),
            "label": [byte_label(int(size)) for size in points["size_bytes"]],
            "measured": points["measured"].to_numpy(),
            "low": points["low"].to_numpy(),
            "high": points["high"].to_numpy(),
        }
        unit, widest = points["unit"].iloc[0], f"{100 * WIDEST_FIRST[0]:g} % interval"
        tips = [
            ("", "@label"),
            ("measured", f"@measured{{0.00}} {unit}"),
            (widest, f"@low{{0.00}} to @high{{0.00}} {unit}"),
        ]
        Marks(fig, table, x="size").line("off", **MEDIAN.stroke, tips=tips)
        if simulated is not None:
            values = simulated.latency_us if benchmark == "latency" else simulated.bandwidth_MBps
            at = np.searchsorted(simulated.sizes, points["size_bytes"])
            percent = 100 * (values[at] / table["measured"] - 1)
            fitted = Marks(fig, {"size": table["size"], "off": percent}, x="size")
            fitted.line("off", **FITTED.stroke)
        rule(fig, y=0, **_MEASURED.stroke)
        fig.yaxis.formatter = NumeralTickFormatter(format="+0[.]0")
        message_size_axis(fig, rows["size_bytes"].tolist())
        figures.append(fig)
    wide = frame[frame["level"] == WIDEST_FIRST[0]]
    held = (wide["low"] <= wide["measured"]) & (wide["measured"] <= wide["high"])
    measured = posterior.result.measured.provenance
    what = "one more measurement" if noise else "the model's curve"
    origin = posterior.origin(
        f"OSU curves that the posterior allows, {measured.title}",
        "OSU tests",
        f"posterior.plot(noise={noise})",
    )
    return stacked(
        question(origin, "", posterior.draws),
        key([*BANDS, MEDIAN, FITTED, _MEASURED]),
        beside(*figures, shares=[1] * len(figures)),
        sentence(
            f"{100 * WIDEST_FIRST[0]:g} % intervals of {what} hold {np.count_nonzero(held)} of "
            f"{len(held)} measured points."
        ),
        *source_lines(origin),
    )
