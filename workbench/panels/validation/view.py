"""The figure of the validation panel and the tables below it."""

from __future__ import annotations

import html
import math
from typing import Any

import ipywidgets as widgets

from workbench.html_table import html_table
from workbench.panels.live_view import Downloads, LiveView
from workbench.panels.style import TEXT, mark_stale, side_by_side
from workbench.panels.validation.state import HERE, ShownValidation
from workbench.plotting.descriptions import plain_percent
from workbench.plotting.theme import SMALL
from workbench.tolerance import LatencySensitivity, RunPrediction
from workbench.tolerance.figure import ToleranceFigure, describe_run_prediction, tolerance_figure
from workbench.units import format_quantity
from workbench.validation import ProgramRecording, ValidationReport
from workbench.validation.report import RIGHT_PERCENT, RUN_TIME_PERCENT

_HEIGHT_PX = 290  # chosen: the figure and the table below it in a screen of 900
_PROGRAMS = (
    *("program", "ranks", "can be trusted", "nothing added", "time added"),
    *("RRMSE", "answers as traced", "ΔL as set", "worst point", "at ΔL"),
)
_POINTS = (
    *("ΔL", "zone", "runs", "measured", "quartiles"),
    *("predicted", "error", "λ_L measured", "λ_L predicted"),
)


class ValidationView:
    """T(L) with the measured points, and the sentence below it."""

    def __init__(self, shown: ShownValidation) -> None:
        self._figure: ToleranceFigure = tolerance_figure(
            shown.analyses, measured=shown.measured, relative=False, height=_HEIGHT_PX
        )
        # First: a page may not be ready yet for what is added to a view.
        self.downloads = Downloads(self._figure.layout)
        self.view = LiveView(self._figure.layout, layout=widgets.Layout(width="100%"))
        self.headline, self.description = widgets.HTML(), widgets.HTML()
        self.widget = widgets.VBox(
            [self.headline, self.view, self.description],
            layout=widgets.Layout(width="100%", overflow="hidden"),
        )

    def show(self, shown: ShownValidation) -> None:
        """Draw another recording, or another prediction of the same."""
        with self.view.one_patch():
            self._figure.show(shown.analyses, shown.measured)
            if len(shown.predictions) > 1:
                self._figure.time.title.text = f"Run time over latency: {_whose(shown)}"
        mark_stale(self.view, False)
        self.headline.value = f'<div style="{TEXT}">{_headline(shown)}</div>'
        self.description.value = (
            f'<div role="status" style="{TEXT}">{html.escape(describe(shown))}</div>'
            f'<div style="{SMALL}">{html.escape(_origins(shown))}</div>'
        )

    def fade(self) -> None:
        """Dim the figure, which is of an earlier choice."""
        mark_stale(self.view, True)


def describe(shown: ShownValidation) -> str:
    """Return the sentences below the figure."""
    first, *others = shown.predictions.items()
    text = describe_run_prediction(first[1])
    if shown.own is not None:
        text += f" Measured here: {_short(shown.predictions[HERE])}."
    traces = [(name, one) for name, one in others if name != HERE]
    if traces:
        errors = [f"{name}: {plain_percent(one.rrmse_percent)}" for name, one in traces]
        text = f"{first[0].capitalize()}: {text} {'; '.join(errors).capitalize()}."
    return text


def programs_html(report: ValidationReport, shown: ShownValidation) -> str:
    """Return the errors of all recorded programs as HTML; the row of the shown one is bold."""
    rows = [
        (
            report.program[at],
            str(report.ranks[at]),
            trust,
            _signed(report.base_percent[at]),
            _percent(report.effect_percent[at]),
            _percent(report.rrmse_percent[at]),
            _percent(report.traced_rrmse_percent[at]) if report.by_arrival[at] else "",
            _percent(report.set_rrmse_percent[at]),
            _signed(report.worst_percent[at]),
            _latency(report.worst_added_s[at]),
        )
        for at, trust in enumerate(report.trust)
    ]
    mine = shown.recording
    chosen = [at for at, row in enumerate(rows) if row[:2] == (mine.name, str(mine.ranks))]
    note = (
        "Nothing added: the run time there. Time added: what latency adds to it. Each is right "
        f"within {RIGHT_PERCENT:g} %. With both right, the slowdown over the measured latencies "
        f"can be trusted, and run times where RRMSE is within {RUN_TIME_PERCENT:g} %. RRMSE: root "
        "mean square error of the predicted run times over the mean of the measured medians, "
        "with the added latency ΔL as messages showed it. Where arrivals decide whom receives from "
        "any source answer, the next column has RRMSE with answers as traced. Then ΔL as it was "
        f"set. Shen et al. report less than 2 % for their programs. Run times: "
        f"{', '.join(dict.fromkeys(report.origin))}."
    )
    table = html_table(rows, _PROGRAMS, align="lrlr", bold_rows=chosen)
    return f'{table}<div style="{SMALL}">{html.escape(note)}</div>'


def program_html(shown: ShownValidation) -> str:
    """Return the points, tolerances and message times of what is shown as HTML."""
    tables = [_points_table(name, shown.predictions[name]) for name in shown.measured]
    small = [_tolerance_table(shown.analyses), _network_table(shown.recording)]
    if shown.own is not None:
        small.append(_network_table(shown.own, HERE))
    return side_by_side(tables) + side_by_side(small)


def _headline(shown: ShownValidation) -> str:
    recording = shown.recording
    error = plain_percent(shown.result.rrmse_percent)
    return (
        f"<b>{html.escape(recording.title)}, {recording.ranks} ranks</b>: predicted run times are "
        f"{error} off the {recording.origin} ones"
    )


def _whose(shown: ShownValidation) -> str:
    """Return the program and what its curves are, where there are several."""
    traces = len(shown.predictions) - (shown.own is not None)
    parts = [f"{shown.recording.name}, {shown.recording.ranks} ranks"]
    parts += [f"{traces} traces"] * (traces > 1) + [HERE] * (shown.own is not None)
    return "; ".join(parts)


def _short(found: RunPrediction) -> str:
    points = len(found.added_s)
    return (
        f"predicted run times are {plain_percent(found.rrmse_percent)} off, over the medians at "
        f"{points} added latencies"
    )


def _origins(shown: ShownValidation) -> str:
    parts = {"": shown.recording} if shown.own is None else {"": shown.recording, HERE: shown.own}
    texts = []
    for name, one in parts.items():
        measured = one.runs
        busy = int(measured.flagged.sum())
        about = (
            f"{one.origin} on {one.context.get('system', 'a machine that is not named')}, "
            f"{one.context.get('mpi', 'an MPI that is not named')}, {len(measured)} runs"
        )
        about += f", {busy} of them while it was busy" if busy else ""
        texts.append(f"{name}: {about}" if name else f"Points: {about}")
    return (
        f"{'; '.join(texts)}. Lines: from a run's trace and message times; nothing else is fitted."
    )


def _points_table(name: str, found: RunPrediction) -> str:
    spread = found.points.spread
    measured = [math.nan, *found.measured_slope.tolist()]
    predicted = [math.nan, *found.predicted_slope.tolist()]
    rows = [
        (
            _latency(added),
            found.zones[at],
            str(spread.count[at]),
            _time(spread.median[at]),
            f"{_time(spread.p25[at])} to {_time(spread.p75[at])}",
            _time(found.predicted_s[at]),
            _signed(found.error_percent[at]),
            _slope(measured[at]),
            _slope(predicted[at]),
        )
        for at, added in enumerate(found.added_s.tolist())
    ]
    return html_table(rows, _POINTS, name, align="rlrrrrr")


def _tolerance_table(analyses: dict[str, LatencySensitivity]) -> str:
    percents = list(dict.fromkeys(p for one in analyses.values() for p in one.tolerance))
    rows = [
        (name, *(_latency(one.tolerance[p] - one.L) for p in percents))
        for name, one in analyses.items()
    ]
    head = ("predicted tolerance", *(f"{p:g} % slower" for p in percents))
    return html_table(rows, head, "added latency up to which it is at most so much slower")


def _network_table(recording: ProgramRecording, name: str = "as recorded") -> str:
    model = recording.model()
    rows = [
        ("L, latency", _time(model.L)),
        ("o, of a call", _time(model.o)),
        ("G, of a byte", _time(model.G)),
        *((str(key), str(value)) for key, value in recording.context.items() if key != "arguments"),
    ]
    return html_table(rows, None, f"network with nothing added, {name}", align="ll")


def _percent(value: Any) -> str:
    return plain_percent(float(value))


def _signed(value: float) -> str:
    return f"{value:+.1f} %"


def _latency(seconds: float) -> str:
    return "any" if seconds == math.inf else _time(seconds)


def _time(seconds: float) -> str:
    return format_quantity(seconds, "time")


def _slope(value: float) -> str:
    return "" if math.isnan(value) else f"{value:.1f}"
