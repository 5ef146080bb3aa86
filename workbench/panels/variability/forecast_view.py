"""The figures and sentences of the panel of forecasts."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import ipywidgets as widgets
import numpy as np

from workbench.html_table import html_table
from workbench.panels.live_view import Downloads, LiveView
from workbench.plotting.variability.run_forecast import (
    RunForecastFigure,
    describe_run_forecast,
    run_forecast_figure,
    run_forecast_layout,
    windows_of_run,
)
from workbench.plotting.variability.run_steps import run_label
from workbench.variability import Forecast, StepTable

if TYPE_CHECKING:
    import pandas as pd

_MOST_ROWS = 25  # chosen: a screen; the CSV file has all


class RunForecastView:
    """One run's steps and its forecasts; ``chosen`` is called with a clicked number of steps."""

    def __init__(self, chosen: Callable[[int], None]) -> None:
        self._chosen = chosen
        self._drawn: RunForecastFigure = run_forecast_figure()
        layout = run_forecast_layout(self._drawn)
        self.view = LiveView(layout, layout=widgets.Layout(width="100%"))
        self.view.hear(self._drawn.over.source)
        self.downloads = Downloads(layout)
        self._drawn.over.source.selected.on_change("indices", self._tapped)

    def show(self, steps: StepTable, found: Forecast | None, run: int, at: int, model: str) -> None:
        """Draw a run, and its forecasts if there are any."""
        with self.view.one_patch():
            self._drawn.show_steps(steps, run)
            if found is not None and has_forecast(found, run):
                self._drawn.show(found, run, at, model)

    def mark(self, found: Forecast, run: int, at: int) -> None:
        """Draw the forecast after another number of steps."""
        with self.view.one_patch():
            self._drawn.mark(found, run, at)

    def _tapped(self, _attr: str, _old: object, new: list[int]) -> None:
        if new:
            self._chosen(int(self._drawn.over.source.data["at"][new[0]]) + 1)


def has_forecast(found: Forecast, run: int) -> bool:
    """Return whether some steps of a run are forecast."""
    return bool((found.run == run).any())


def moments(found: Forecast, run: int) -> tuple[int, int]:
    """Return after how many steps a run's first and last forecasts are; (0, 0) if it has none."""
    known = found.at[windows_of_run(found, run)]
    return (int(known[0]), int(known[-1])) if len(known) else (0, 0)


def describe_moment(steps: StepTable, found: Forecast | None, run: int, at: int, model: str) -> str:
    """Return sentences on the forecast that is shown, and on all runs."""
    name = run_label(steps.run[run])
    if found is None:
        return f"{name[0].upper()}{name[1:]} is not forecast yet."
    mape = found.mape[found.models.index(model)]
    over = f"Over all runs, {model} is off by {mape:.1f} % on average"
    better = float(found.skill[found.models.index(model), 0])
    over += (
        "."
        if model == "mean-trajectory"
        else f": {100 * better:.0f} % less than the mean trajectory."
        if better > 0
        else ", more than the mean trajectory."
    )
    known = found.at[windows_of_run(found, run)]
    if at not in known:
        return f"{name[0].upper()}{name[1:]} has no forecast after {at} steps. {over}"
    return f"{describe_run_forecast(found, run, at=at, model=model)} {over}"


def forecast_frame(found: Forecast) -> pd.DataFrame:
    """Return a row a forecast: run, steps passed, what came, and what each model forecast."""
    import pandas as pd

    columns = {
        "run": [found.run_names[run] for run in found.run],
        "steps passed": found.at,
        "actual (s)": found.actual_s,
    }
    return pd.DataFrame(
        columns | {f"{name} (s)": found.predicted_s[at] for at, name in enumerate(found.models)}
    )


def result_table(frame: pd.DataFrame) -> str:
    """Return the first rows of a result's table as HTML."""
    shown = frame.iloc[:_MOST_ROWS]
    rows = [[_cell(cell) for cell in row] for row in shown.itertuples(index=False)]
    more = len(frame) - len(shown)
    caption = f"{more} more rows are in the CSV file" if more else ""
    return html_table(rows, [str(column) for column in frame.columns], caption)


def _cell(value: object) -> str:
    if isinstance(value, float):
        return "" if np.isnan(value) else f"{value:.3g}"
    return str(value)


def errors_table(found: Forecast) -> str:
    """Return the errors of all models as an HTML table."""
    frame = found.to_frame()
    rows = [
        [
            str(row["model"]),
            f"{row['MAPE (%)']:.1f} ({row['MAPE from']:.1f} to {row['MAPE to']:.1f})",
            f"{row['MAE (s)']:.3g}",
            f"{row['R2']:.2f}",
            f"{100 * row['skill on mean trajectory']:.0f} %",
            f"{100 * row['skill on persistence']:.0f} %",
        ]
        for row in frame.to_dict("records")
    ]
    head = [
        "model",
        "mean error (MAPE), % (95 % interval)",
        "mean error, s",
        "R²",
        "saved of the mean trajectory's error",
        "saved of persistence's error",
    ]
    caption = f"{len(np.unique(found.run))} runs, each forecast by models of other runs"
    return html_table(rows, head, caption)
