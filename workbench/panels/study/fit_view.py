"""A fit of a study, or two: curves, errors by size, numbers and parameters."""

from __future__ import annotations

import html
import json
from collections.abc import Callable
from typing import Any

import ipywidgets as widgets

from workbench.html_table import Html, bold, code, html_table
from workbench.measure.curve import byte_label
from workbench.panels.live_view import Downloads, LiveView
from workbench.panels.study.state import ShownFit
from workbench.panels.style import TEXT, side_by_side
from workbench.plotting.descriptions import describe_errors, plain_number
from workbench.plotting.fit.comparison import ComparedCurves, comparison_figures
from workbench.plotting.theme import SMALL


class FitView:
    """The figures and tables of one fit, or of a pinned one beside it; ``height`` in px."""

    def __init__(self, first: ShownFit, *, height: int = 250) -> None:
        self.figures = comparison_figures(_compared(first, "the fit"), height=height)
        self.curves = LiveView(self.figures.curves.layout, layout=widgets.Layout(width="100%"))
        self.downloads = Downloads(self.figures.curves.layout)
        self.errors = LiveView(self.figures.layout, layout=widgets.Layout(width="100%"))
        self.title = widgets.HTML(layout=widgets.Layout(flex="1 1 auto", margin="0 0 0 4px"))
        self.description = widgets.HTML(layout=widgets.Layout(margin="0 0 0 4px"))
        self.parameters = widgets.HTML(layout=widgets.Layout(width="100%"))
        self.origins = ""
        self.show(first, None)

    def show(self, chosen: ShownFit, pinned: ShownFit | None) -> None:
        """Draw a fit, and the pinned one beside it."""
        first = "B" if pinned is not None else "the fit"
        with self.curves.one_patch(), self.errors.one_patch():
            self.figures.show(
                _compared(chosen, first), _compared(pinned, "A") if pinned is not None else None
            )
        sides = [("A", pinned)] if pinned is not None else []
        sides.append(("B" if pinned is not None else "", chosen))
        lines = [f"{_lead(name)}{html.escape(fit.title)}" for name, fit in sides]
        sentences = [f"{_lead(name)}{html.escape(_describe(fit))}" for name, fit in sides]
        points = dict.fromkeys(fit.measured.provenance.caption() for _, fit in reversed(sides))
        self.origins = f"Points: {'; '.join(points)}. Lines: simulated here."
        self.title.value = f'<div style="{TEXT}"><b>{"<br>".join(lines)}</b></div>'
        self.description.value = (
            f'<div role="status" style="{TEXT}">{"<br>".join(sentences)}</div>'
            f'<div style="{SMALL}">{html.escape(self.origins)}</div>'
        )
        self.parameters.value = fit_tables([(name, fit) for name, fit in sides])


def fit_tables(sides: list[tuple[str, ShownFit]]) -> str:
    """Return the numbers and parameters of fits as HTML, a column each, by (name, fit)."""
    head = [name or "the fit" for name, _ in sides]
    numbers = ((label, *(text(fit) for _, fit in sides)) for label, text in _NUMBERS)
    keys = dict.fromkeys(d.key for _, fit in sides for d in fit.cell.choice.space().dimensions)
    values = ((code(key), *(_value(fit, key) for _, fit in sides)) for key in keys)
    tables = (
        html_table(numbers, ("", *head)),
        html_table(values, ("fitted parameter", *head)),
    )
    return side_by_side(tables)


def fit_json(fit: ShownFit) -> str:
    """Return a fit with its values, curves and provenance as JSON."""
    row = {k: None if v != v or v in (float("inf"),) else v for k, v in fit.cell.row().items()}
    content: dict[str, Any] = {
        "fit": row,
        "values": dict(fit.cell.values),
        "measured": fit.measured.to_dict(),
        "simulated": fit.simulated.to_dict() if fit.simulated is not None else None,
        "python": fit.python,
    }
    return json.dumps(content, indent=1, allow_nan=False) + "\n"


_NUMBERS: tuple[tuple[str, Callable[[ShownFit], str]], ...] = (
    ("RMSPE, joint (%)", lambda fit: plain_number(fit.cell.rmspe["joint"])),
    ("RMSPE, latency (%)", lambda fit: plain_number(fit.cell.rmspe["latency"])),
    ("RMSPE, bandwidth (%)", lambda fit: plain_number(fit.cell.rmspe["bandwidth"])),
    ("least loss", lambda fit: f"{fit.cell.best_loss:.4g} ({fit.cell.cell.loss})"),
    ("trials", lambda fit: f"{fit.cell.trials}, {fit.cell.refused} refused"),
    ("engine and seed", lambda fit: f"{fit.cell.cell.engine}, {fit.cell.cell.seed}"),
    ("time", lambda fit: f"{fit.cell.seconds:.1f} s"),
    ("sizes", lambda fit: _sizes(fit)),
)


def _sizes(fit: ShownFit) -> str:
    sizes = fit.measured.sizes.tolist()
    return f"{byte_label(sizes[0])} to {byte_label(sizes[-1])}"


def _value(fit: ShownFit, key: str) -> str:
    if key not in fit.cell.values:
        return "–"
    dimension = fit.cell.choice.space()[key]
    value = fit.cell.values[key]
    bound = dimension.at_bound(value)
    text = dimension.text(value)
    return Html(f"{html.escape(text)} {bold(f'at {bound} bound')}") if bound else text


def _compared(fit: ShownFit, name: str) -> ComparedCurves:
    return ComparedCurves(name, fit.measured, fit.simulated)


def _lead(name: str) -> str:
    return f"{name}: " if name else ""


def _describe(fit: ShownFit) -> str:
    if fit.simulated is None:
        return f"There is no fitted model: {fit.cell.message or fit.cell.status}."
    return describe_errors(fit.measured, fit.simulated)
