"""What a panel gives away: files by suffix, each made from the same results the figures show."""

from __future__ import annotations

import html
import json
from dataclasses import dataclass
from typing import Any

from bokeh.layouts import column
from bokeh.models import Div, LayoutDOM

from workbench.fit import FitResult
from workbench.measure import OSUCurve
from workbench.models import NetworkModel
from workbench.plotting import (
    plot_convergence,
    plot_curve,
    plot_percent_error,
    read_errors,
    standalone_html,
)


@dataclass(frozen=True)
class Shown:
    """What the figures show at this moment.

    Attributes:
        measured: the machine.
        model: the sliders' model; the last one that could be simulated.
        simulated: its curve.
        result: of the last fit, where there was one.
        python: the lines that reproduce the curve.
    """

    measured: OSUCurve
    model: NetworkModel
    simulated: OSUCurve
    result: FitResult | None
    python: str


def ini_text(shown: Shown) -> str:
    """Return the sliders' model as an .ini for SST/macro.

    Args:
        shown: what the figures show.
    """
    return shown.model.to_ini()


def csv_text(shown: Shown) -> str:
    """Return one row a size: measured, simulated and, after a fit, fitted values.

    Args:
        shown: what the figures show.
    """
    columns: dict[str, list[float]] = {"size_bytes": shown.measured.sizes.tolist()}
    fitted = shown.result.simulated if shown.result is not None else None
    for name, curve in (
        ("measured", shown.measured),
        ("simulated", shown.simulated),
        ("fitted", fitted),
    ):
        if curve is not None:
            columns[f"{name}_latency_us"] = curve.latency_us.tolist()
            columns[f"{name}_bandwidth_MBps"] = curve.bandwidth_MBps.tolist()
    rows = zip(*columns.values(), strict=True)
    lines = [",".join("" if v != v else f"{v:.12g}" for v in row) for row in rows]
    return "\n".join([",".join(columns), *lines]) + "\n"


def json_text(shown: Shown) -> str:
    """Return the model's values, both curves with their provenance, and the fit, as JSON.

    Args:
        shown: what the figures show.
    """
    content: dict[str, Any] = {
        "model": shown.model.name,
        "variant": shown.model.variant,
        "parameters": {p.key: p.value for p in shown.model.parameters()},
        "units": {p.key: p.unit for p in shown.model.parameters() if p.unit},
        "measured": shown.measured.to_dict(),
        "simulated": shown.simulated.to_dict(),
        "fit": shown.result.to_dict() if shown.result is not None else None,
        "python": shown.python,
    }
    return json.dumps(content, indent=1, allow_nan=False) + "\n"


def html_text(shown: Shown) -> str:
    """Return a page with the figures that needs no network and no kernel.

    Args:
        shown: what the figures show.
    """
    fitted = shown.result.simulated if shown.result is not None else None
    errors_of = shown.simulated if fitted is None else fitted
    parts: list[LayoutDOM] = [
        plot_curve(shown.measured, shown.simulated, fitted),
        plot_percent_error(shown.measured, errors_of),
        Div(text=html.escape(read_errors(shown.measured, errors_of))),
    ]
    if shown.result is not None:
        parts.append(plot_convergence(shown.result.losses, loss=shown.result.loss))
        parts.append(Div(text=shown.result._repr_html_()))
    parts.append(Div(text=f"<pre>{html.escape(shown.python)}</pre>"))
    title = f"{shown.model.name} beside {shown.measured.name}"
    return standalone_html(column(parts, sizing_mode="stretch_width"), title)
