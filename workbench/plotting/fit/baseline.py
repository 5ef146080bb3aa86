"""A machine beside its data sheet and beside a tuned model: what tuning gains."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from bokeh.models import LayoutDOM
from bokeh.plotting import figure
from numpy.typing import NDArray

from workbench.errors import ParameterError
from workbench.fit.losses import rmspe_by_target
from workbench.measure.curve import OSUCurve, byte_label
from workbench.plotting import palette
from workbench.plotting.axes import log_range
from workbench.plotting.grid import Series, heading, key, sentence, small_multiples, stacked
from workbench.plotting.marks import MarkColumns, Marks, hover

if TYPE_CHECKING:
    from workbench.fit.baseline import Baseline

_UNITS = {"latency": "latency (µs)", "bandwidth": "bandwidth (MB/s)"}
_SERIES = {
    "manual": Series("configured from the data sheet", palette.SKY_BLUE, "dashed", 2.5),
    "tuned": Series("tuned", palette.FITTED, "solid", 2.0),
}


def plot_baseline(
    manual: Mapping[str, Baseline], tuned: Mapping[str, OSUCurve] | None = None
) -> LayoutDOM:
    """Return measured points with the data sheet's and the tuned model's lines: Figure 1.

    Args:
        manual: the data sheets' configurations by machine, of ``workbench.fit.baseline``.
        tuned: simulated curves of fitted models by machine, at the measured sizes.

    Raises:
        ParameterError: there is no machine to draw.
    """
    if not manual:
        raise ParameterError("at least one baseline must be given; got none", key="manual")
    fitted = tuned or {}
    curves = {
        name: {"manual": base.simulated} | ({"tuned": fitted[name]} if name in fitted else {})
        for name, base in manual.items()
    }

    def draw(fig: figure, benchmark: str, machine: str) -> None:
        measured = manual[machine].measured
        lines = []
        for kind, curve in curves[machine].items():
            style = _SERIES[kind]
            table = _columns(curve, benchmark, f"simulated, {style.name}")
            lines.append(Marks(fig, table, x="size").line("value", **style.stroke))
        table = _columns(measured, benchmark, measured.provenance.origin)
        points = Marks(fig, table, x="size").points(
            "value", palette.MEASURED, fill="white", size=4.5
        )
        hover(fig, [points, *lines], [("", "@name, @label"), (benchmark, "@value{0.00}")])

    def ends(benchmark: str) -> tuple[float, float]:
        every = [
            values
            for machine, drawn in curves.items()
            for curve in (manual[machine].measured, *drawn.values())
            for values in _values(curve, benchmark).tolist()
        ]
        return log_range(every)

    sizes = sorted({s for base in manual.values() for s in base.measured.sizes.tolist()})
    origins = sorted({base.measured.provenance.origin for base in manual.values()})
    grid = small_multiples(
        ("latency", "bandwidth"),
        tuple(manual),
        draw,
        row_labels=lambda benchmark: _UNITS[benchmark],
        x_label="message size",
        x_range=(sizes[0] / 1.6, sizes[-1] * 1.6),
        y_ranges=ends,
        sizes=sizes,
        height=170,
    )
    kinds = dict.fromkeys(kind for drawn in curves.values() for kind in drawn)
    return stacked(
        heading("Measured, configured from the data sheet, and tuned", "lines: simulated"),
        key(
            [
                Series(f"measured ({' and '.join(origins)})", palette.MEASURED, ""),
                *(_SERIES[kind] for kind in kinds),
            ]
        ),
        grid,
        sentence(describe_baseline(manual, tuned)),
    )


def describe_baseline(
    manual: Mapping[str, Baseline], tuned: Mapping[str, OSUCurve] | None = None
) -> str:
    """Return a sentence on the error with data-sheet parameters, and the factor that tuning gains.

    Args:
        manual: the data sheets' configurations by machine.
        tuned: simulated curves of fitted models by machine.
    """
    before = {name: base.rmspe["joint"] for name, base in manual.items()}
    least, most = min(before.values()), max(before.values())
    text = f"Configured from the data sheet the RMSPE is {least:.0f} to {most:.0f} %"
    if len(before) == 1:
        text = f"Configured from the data sheet the RMSPE is {most:.0f} %"
    after = {
        name: rmspe_by_target(curve, manual[name].measured)["joint"]
        for name, curve in (tuned or {}).items()
        if name in manual
    }
    if not after:
        return text + "."
    gains = {name: before[name] / after[name] for name in after}
    order = sorted(gains, key=lambda name: gains[name])
    half = float(np.median(list(gains.values())))
    text += (
        f"; tuned it is {min(after.values()):.0f} to {max(after.values()):.0f} %, lower by a "
        f"factor of {half:.1f} in the median"
    )
    if len(order) > 1:
        text += f", from {gains[order[0]]:.1f} ({order[0]}) to {gains[order[-1]]:.1f} ({order[-1]})"
    return text + "."


def _values(curve: OSUCurve, benchmark: str) -> NDArray[np.float64]:
    return curve.latency_us if benchmark == "latency" else curve.bandwidth_MBps


def _columns(curve: OSUCurve, benchmark: str, name: str) -> MarkColumns:
    sizes = curve.sizes.tolist()
    return {
        "size": sizes,
        "value": _values(curve, benchmark).tolist(),
        "label": [byte_label(size) for size in sizes],
        "name": [name] * len(sizes),
    }
