"""Errors of forecasts by steps seen, steps forecast and counters seen, as numbers on colours."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from bokeh.models import LayoutDOM

from workbench.plotting import palette
from workbench.plotting.grid import heading, sentence, stacked
from workbench.plotting.variability.tile_table import tile_table

if TYPE_CHECKING:
    from workbench.variability import ForecastGrid

_WITHOUT_COUNTERS = ("persistence", "mean-trajectory")


def plot_forecast_grid(found: ForecastGrid) -> LayoutDOM:
    """Return the MAPE of each model and set of counters for each m and k.

    Args:
        found: of ``workbench.variability.forecast_grid``.
    """
    rows, places = [], []
    for model, name in enumerate(found.models):
        for seen, features in enumerate(found.features):
            if name in _WITHOUT_COUNTERS and seen:
                continue
            rows.append(name if name in _WITHOUT_COUNTERS else f"{name}: {features}")
            places.append((seen, model))
    columns = [f"m = {m}, k = {k}" for m in found.m for k in found.k]
    mape = np.array([found.mape[:, :, seen, model].ravel() for seen, model in places])
    ends = [found.mape_interval[:, :, seen, model].reshape(-1, 2) for seen, model in places]
    skill = [found.skill[:, :, seen, model].reshape(-1, 2) for seen, model in places]
    fig = tile_table(
        mape,
        rows,
        columns,
        title="Mean absolute percentage error (%)",
        file_name="forecast-grid",
        colours=palette.AMOUNTS,
        tips={
            "MAPE": [
                f"{value:.2f} % ({low:.2f} to {high:.2f} %)"
                for row, each in zip(mape, ends, strict=True)
                for value, (low, high) in zip(row, each, strict=True)
            ],
            "saved of mean-trajectory's": [f"{100 * s[0]:.0f} %" for row in skill for s in row],
            "saved of persistence's": [f"{100 * s[1]:.0f} %" for row in skill for s in row],
        },
        percent=True,
    )
    own = " and the run's own step times" if found.own_times else ""
    return stacked(
        heading(
            "Forecasts from m steps of the k steps after them",
            f"{found.runs} runs, {found.windows.min()} to {found.windows.max()} windows; models "
            f"see the counters named{own}; {found.folds} folds by run, seed {found.seed}; "
            f"{found.provenance.caption()}",
        ),
        fig,
        sentence(describe_forecast_grid(found)),
    )


def describe_forecast_grid(found: ForecastGrid) -> str:
    """Return sentences on where the best model does well, and what more steps and counters give.

    Args:
        found: of ``workbench.variability.forecast_grid``.
    """
    best = found.mape.min(axis=3)
    met = found.target_met
    text = (
        f"The best model has a MAPE of {best.min():.1f} to {best.max():.1f} %. In "
        f"{int(met.sum())} of {met.size} places it at least halves the error of the mean "
        "trajectory and beats persistence beyond its interval."
    )
    row = found.models.index(found.best)
    mean = found.mape[..., row]
    changes = []
    if len(found.m) > 1:
        changes.append(_change(mean[0].mean(), mean[-1].mean(), f"m = {found.m[-1]}"))
    if len(found.k) > 1:
        changes.append(_change(mean[:, 0].mean(), mean[:, -1].mean(), f"k = {found.k[-1]}"))
    if len(found.features) > 1:
        changes.append(_change(mean[..., 0].mean(), mean[..., -1].mean(), found.features[-1]))
    if changes:
        text += f" The error of {found.best} is {'; '.join(changes)}."
    if {"network", "attention"} <= set(found.models):
        alone, mixed = (
            found.mape[..., found.models.index(name)] for name in ("network", "attention")
        )
        text += (
            f" The network alone has {alone.min():.1f} to {alone.max():.1f} %, attention, which "
            f"mixes it with ridge, {mixed.min():.1f} to {mixed.max():.1f} %."
        )
    return text


def _change(before: float, after: float, what: str) -> str:
    return f"{abs(after - before):.1f} points {'less' if after < before else 'more'} with {what}"
