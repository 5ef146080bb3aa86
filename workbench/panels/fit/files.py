"""Exports of the fit panel by suffix, from the results in the figures."""

from __future__ import annotations

import html
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from bokeh.layouts import column
from bokeh.models import Div, LayoutDOM

from workbench.fit import FitResult
from workbench.measure import OSUCurve
from workbench.models import NetworkModel
from workbench.panels.fit.fit_run import whole_curve
from workbench.plotting import (
    describe_errors,
    plot_convergence,
    plot_curve,
    plot_percent_error,
    standalone_html,
)

Which = Literal["fitted", "sliders"]
"""The origin of the model in a file."""


@dataclass(frozen=True)
class ShownMachine:
    """The machine, models and curves in the figures, and which model files contain."""

    measured: OSUCurve
    model: NetworkModel  # of the sliders, last that could be simulated
    simulated: OSUCurve  # by model
    result: FitResult | None  # of the last fit
    python: str  # computes simulated
    which: Which = "sliders"  # model in the files
    fitted_python: str = ""  # computes the fitted curve

    @property
    def fitted(self) -> FitResult | None:
        """The fit, if files contain its model."""
        return self.result if self.which == "fitted" else None

    @property
    def exported_model(self) -> NetworkModel:
        """The model that files contain."""
        return self.model if self.fitted is None else self.fitted.model

    @property
    def exported_curve(self) -> OSUCurve:
        """The curve that files contain."""
        found = None if self.fitted is None else whole_curve(self.fitted, self.measured)
        return self.simulated if found is None else found

    @property
    def exported_python(self) -> str:
        """Python code that computes the exported curve."""
        return self.python if self.fitted is None else self.fitted_python

    @property
    def stem(self) -> str:
        """The name of a file without its suffix."""
        name = f"{self.measured.name}-{self.model.name}"
        return f"{name}-{self.which}" if self.result is not None else name


def ini_text(shown: ShownMachine) -> str:
    """Return the model as an .ini; SST/macro reads it unless the model is the workbench's own."""
    return shown.exported_model.to_ini()


def csv_text(shown: ShownMachine) -> str:
    """Return a CSV by message size: measured and fitted or simulated values."""
    columns: dict[str, list[float]] = {"size_bytes": shown.measured.sizes.tolist()}
    whose = "fitted" if shown.fitted is not None else "simulated"
    for name, curve in (("measured", shown.measured), (whose, shown.exported_curve)):
        columns[f"{name}_latency_us"] = curve.latency_us.tolist()
        columns[f"{name}_bandwidth_MBps"] = curve.bandwidth_MBps.tolist()
    rows = zip(*columns.values(), strict=True)
    lines = [",".join("" if v != v else f"{v:.12g}" for v in row) for row in rows]
    return "\n".join([",".join(columns), *lines]) + "\n"


def json_text(shown: ShownMachine) -> str:
    """Return the model's values, both curves with their provenance, and the fit as JSON."""
    model = shown.exported_model
    content: dict[str, Any] = {
        "model": model.name,
        "variant": model.variant,
        "values": shown.which,
        "parameters": {p.key: p.value for p in model.parameters()},
        "units": {p.key: p.unit for p in model.parameters() if p.unit},
        "measured": shown.measured.to_dict(),
        "simulated": shown.exported_curve.to_dict(),
        "fit": shown.result.to_dict() if shown.result is not None else None,
        "python": shown.exported_python,
    }
    return json.dumps(content, indent=1, allow_nan=False) + "\n"


def html_text(shown: ShownMachine) -> str:
    """Return a page with the figures that needs no network and no kernel."""
    fitted = shown.result.simulated if shown.result is not None else None
    errors_of = shown.exported_curve
    parts: list[LayoutDOM] = [
        plot_curve(shown.measured, shown.simulated, fitted),
        plot_percent_error(shown.measured, errors_of),
        Div(text=html.escape(describe_errors(shown.measured, errors_of))),
    ]
    if shown.result is not None:
        parts.append(plot_convergence(shown.result.losses, loss=shown.result.loss))
        parts.append(Div(text=shown.result._repr_html_()))
    parts.append(Div(text=f"<pre>{html.escape(shown.exported_python)}</pre>"))
    title = f"{shown.model.name} beside {shown.measured.name}"
    return standalone_html(column(parts, sizing_mode="stretch_width"), title)


FILES: dict[str, tuple[Callable[[ShownMachine], str], str]] = {
    ".ini": (ini_text, "the model's values"),
    ".csv": (csv_text, "measured and simulated values, one row a message size"),
    ".json": (json_text, "values, curves, the fit and where they come from"),
    ".html": (html_text, "a page with the figures, readable offline"),
}
"""By suffix: the function that returns the text, and a description of the file."""
