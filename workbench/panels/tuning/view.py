"""The figures of the tuning panel: the course of an experiment, its parameters, its runs."""

from __future__ import annotations

import html
import math
from collections.abc import Mapping, Sequence
from typing import Any

import ipywidgets as widgets
from bokeh.layouts import row

from workbench.html_table import html_table
from workbench.panels import inputs
from workbench.panels.live_view import Downloads, LiveView
from workbench.panels.number_field import NumberField
from workbench.panels.style import TEXT, named, push_button, wrapping_row
from workbench.plotting.theme import SMALL
from workbench.plotting.tuning.comparison import (
    TuningComparison,
    comparison_figure,
    describe_comparison,
)
from workbench.plotting.tuning.importance import ImportanceFigure, importance_figure
from workbench.plotting.tuning.parallel import ParallelFigure, parallel_figure
from workbench.plotting.tuning.trajectory import (
    TrajectoryFigure,
    configuration_text,
    describe_trajectory,
    trajectory_figure,
)
from workbench.tune.recorded.recorded_space import RecordedSpace
from workbench.tune.result import TuningResult
from workbench.tune.store.run_record import RunRecord
from workbench.tune.store.stored_experiments import StoredExperiment

_TRAJECTORY_PX, _LOWER_PX, _COMPARE_PX = 300, 260, 280  # chosen: two in a screen of 900
_SHOWN_RUNS = 300  # chosen: a table that is sent anew with each drawing; the files have all
_HEAD = (
    *("run", "value", "status", "configuration", "time (s)", "waited (s)", "state"),
    "where (job)",
)


class TuningView:
    """The figures and tables of experiments."""

    def __init__(self) -> None:
        self.trajectory: TrajectoryFigure = trajectory_figure(height=_TRAJECTORY_PX)
        self.parallel: ParallelFigure = parallel_figure(height=_LOWER_PX)
        self.importance: ImportanceFigure = importance_figure(height=_LOWER_PX)
        self.comparison: TuningComparison = comparison_figure(height=_COMPARE_PX)
        self.importance.figure.update(sizing_mode="fixed", width=330)
        lower = row(
            self.parallel.figure, self.importance.figure, sizing_mode="stretch_width", spacing=8
        )
        self.upper_view = LiveView(self.trajectory.figure, layout=widgets.Layout(width="100%"))
        self.lower_view = LiveView(lower, layout=widgets.Layout(width="100%"))
        self.compare_view = LiveView(self.comparison.figure, layout=widgets.Layout(width="100%"))
        self.upper_downloads = Downloads(self.trajectory.figure)
        self.lower_downloads = Downloads(lower)
        self.sentence = ""
        self.headline = widgets.HTML()
        self.runs = RunsTable()
        self.compared = widgets.HTML()
        self.stored = widgets.HTML()
        self.over: Any = inputs.Dropdown(
            options=[("runs", "runs"), ("time of the runs", "seconds")], **named("Over", "200px")
        )
        self.load = push_button(
            "Load the store", "Compare the experiments in the file that Store names", width="130px"
        )
        self.clear = push_button("Clear", "Remove all experiments from the comparison")
        self.compare_box = widgets.VBox(
            [
                wrapping_row(self.over, self.load, self.clear),
                self.stored,
                self.compare_view,
                self.compared,
            ],
            layout=widgets.Layout(width="100%"),
        )
        self.widget = widgets.VBox(
            [self.headline, self.upper_view, self.lower_view], layout=widgets.Layout(width="100%")
        )
        self.blank(True)

    @property
    def views(self) -> tuple[LiveView, ...]:
        """The live views, to be renewed before they are shown again."""
        return self.upper_view, self.lower_view, self.compare_view

    def blank(self, nothing: bool) -> None:
        """Hide the figures, or show them again."""
        for view in (self.upper_view, self.lower_view):
            view.layout.display = "none" if nothing else ""
        if nothing:
            self.sentence = ""
            self.headline.value = (
                f'<div role="status" style="{TEXT}">No experiment with these settings is shown; '
                "Start begins one.</div>"
            )
            self.runs.clear()

    def list_store(self, store: str, found: Sequence[StoredExperiment]) -> None:
        """List the experiments of a store; "" is no store."""
        self.stored.value = stored_html(store, found)

    def show(self, result: TuningResult) -> None:
        """Draw the course of an experiment."""
        with self.upper_view.one_patch():
            self.trajectory.show(result, title=result.name)
        self.sentence = describe_trajectory(result)
        head, stop, tail = html.escape(self.sentence).partition(". ")
        more = f"<br>{html.escape(_recommended(result))}" if _recommended(result) else ""
        self.headline.value = (
            f'<div role="status" style="{TEXT}"><b>{head}{stop}</b>{tail}{more}</div>'
        )

    def show_parts(self, result: TuningResult) -> None:
        """Draw the slow parts: configurations, importance and the table of runs."""
        # The intervals of importance take longest: they are drawn for ended experiments only.
        shares = result.importance()
        intervals = result.importance_intervals() if result.stop_reason else {}
        with self.lower_view.one_patch():
            self.parallel.show(result)
            self.importance.show(shares, intervals)
        self.runs.show(result)

    def compare(
        self, results: Mapping[str, TuningResult], recorded: RecordedSpace | None = None
    ) -> None:
        """Draw the experiments of one subject together, by name."""
        truth = None if recorded is None else true_values(results, recorded)
        with self.compare_view.one_patch():
            self.comparison.show(results, over=self.over.value)
        self.compared.value = (
            f'<div style="{TEXT}">{html.escape(describe_comparison(results, truth))}</div>'
            + comparison_html(results, recorded)
        )


class RunsTable:
    """The table of runs, and the output of one run."""

    def __init__(self) -> None:
        self._records: tuple[RunRecord, ...] = ()
        self.table = widgets.HTML(
            layout=widgets.Layout(max_height="300px", overflow="auto", width="98%")
        )
        self.which: Any = NumberField(1, 1, 1, **named("Output of run", "180px"))
        self.output = widgets.HTML()
        self.which.observe(lambda _: self._tell(), "value")
        self.widget = widgets.VBox([self.table, self.which, self.which.error, self.output])

    def show(self, result: TuningResult) -> None:
        """Show the runs of an experiment, the last first."""
        self._records = result.records
        self.table.value = runs_html(result)
        self.which.limit(1, max(len(result), 1))
        self._tell()

    def clear(self) -> None:
        """Show no runs."""
        self._records = ()
        self.table.value = ""
        self.which.limit(1, 1)
        self._tell()

    def _tell(self) -> None:
        at = self.which.value - 1
        self.output.value = output_html(self._records[at]) if at < len(self._records) else ""


def runs_html(result: TuningResult) -> str:
    """Return an HTML table of the last runs, the last first."""
    shown = list(enumerate(result.records, 1))[-_SHOWN_RUNS:][::-1]
    rows = []
    for number, record in shown:
        run = record.run
        status = run.status + (", initial" if run.initial else "")
        status += f", repeat {run.repeat}" if run.repeat else ""
        cells = (
            str(number),
            f"{run.value:.5g}" if math.isfinite(run.value) else "–",
            status,
            configuration_text(run.configuration),
            f"{run.seconds:.4g}",
            f"{record.queue_seconds:.2g}" if record.queue_seconds else "",
            record.state,
            f"{record.node_list} ({record.job_id})" if record.node_list else "",
        )
        rows.append(cells)
    left = len(result) - len(shown)
    note = f'<div style="{SMALL}">{left} earlier runs are in the exported files</div>'
    unit = f"value ({result.unit})" if result.unit else "value"
    head = [unit if name == "value" else name for name in _HEAD]
    return html_table(rows, head, align="rrllrrl") + (note if left else "")


def stored_html(store: str, found: Sequence[StoredExperiment]) -> str:
    """Return an HTML table of the experiments of a store; "" is no store."""
    if not store:
        return ""
    if not found:
        return f'<div style="{TEXT}">{html.escape(store)} holds no experiment yet.</div>'
    rows = []
    for one in found:
        runs = f"{one.runs} of {one.budget}" if one.budget is not None else str(one.runs)
        cells = (one.name, str(one.problem["component"]), one.state, runs, one.stop_reason)
        rows.append(cells)
    head = ("experiment", "what is tuned", "state", "runs", "ended because")
    table = html_table(rows, head, align="lllrl")
    return f'<div style="{TEXT}">{html.escape(store)} holds</div>{table}'


def output_html(record: RunRecord) -> str:
    """Return a run's output as HTML, and the reason if it has no value."""
    parts = [f"<div>{html.escape(record.reason)}</div>"] if record.reason else []
    for name, text in (("output", record.stdout), ("errors", record.stderr)):
        if text:
            body = html.escape(text)
            parts.append(
                f'<div style="{SMALL}">{name}</div><pre style="font-size:12px;line-height:1.3;'
                f'max-height:220px;overflow:auto">{body}</pre>'
            )
    if not parts:
        parts = [f'<div style="{SMALL}">No output: a recorded run has only its value.']
        parts.append("</div>")
    return "".join(parts)


def true_values(results: Mapping[str, TuningResult], recorded: RecordedSpace) -> dict[str, float]:
    """Return the median of all recorded runs of each experiment's best configuration."""
    # The few runs of a search make its best configuration look better than that.
    return {
        name: recorded.median(result.best_configuration) if result.best is not None else math.nan
        for name, result in results.items()
    }


def comparison_html(
    results: Mapping[str, TuningResult], recorded: RecordedSpace | None = None
) -> str:
    """Return an HTML table of experiments, by name; ``recorded`` adds their true values."""
    truth = {} if recorded is None else true_values(results, recorded)
    rows = []
    for name, result in results.items():
        unit = f" {result.unit}" if result.unit else ""
        cells = [
            name,
            _number(result.best_value, unit),
            f"{100 * result.improvement:.1f} %" if math.isfinite(result.improvement) else "–",
        ]
        if recorded is not None:
            above = 100 * (truth[name] / recorded.optimum_value - 1.0)
            cells += [_number(truth[name], unit), f"{above:.1f} %" if math.isfinite(above) else "–"]
        cells += [
            str(len(result)),
            f"{result.seconds:.3g}",
            f"{100 * result.explored:.0f} %" if math.isfinite(result.explored) else "–",
            configuration_text(result.best_configuration) if result.best is not None else "",
        ]
        rows.append(cells)
    head = ["experiment", "best it saw", "better than default by"]
    if recorded is not None:
        head += ["median of all recorded runs of it", "above the optimum"]
    head += ["runs", "time (s)", "explored", "configuration"]
    return html_table(rows, head, align="l" + "r" * (len(head) - 2) + "l")


def _number(value: float, unit: str) -> str:
    return f"{value:.4g}{unit}" if math.isfinite(value) else "–"


def _recommended(result: TuningResult) -> str:
    """Return the sentence on the configuration that a model with noise expects to be best."""
    if result.best is None or not result.stop_reason:
        return ""
    found = result.recommended
    if found is None or found[0] == result.best_configuration:
        return ""
    unit = f" {result.unit}" if result.unit else ""
    return (
        "The best of many noisy runs is partly luck: a model of the noise recommends "
        f"{configuration_text(found[0])} and expects {found[1]:.4g}{unit} of it."
    )
