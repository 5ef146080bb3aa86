"""The figures of the panel, and its sentences: every posterior with its verdict."""

from __future__ import annotations

import html
from collections.abc import Callable, Hashable
from dataclasses import dataclass

from bokeh.models import LayoutDOM

from workbench import plotting
from workbench.panels.cache import Cache
from workbench.panels.live_view import Downloads
from workbench.panels.style import TEXT
from workbench.panels.uq.problems import Found, Problem
from workbench.plotting.theme import SMALL
from workbench.tasks import Task
from workbench.uq import (
    CalibrationCheck,
    Posterior,
    Prediction,
    Replicas,
    describe_held,
    simulation_based_calibration,
    sobol_indices,
)
from workbench.uq.collectives import CollectiveCalibration

VIEWS = {
    "Data": "data",
    "Sobol' indices": "sobol",
    "Chains": "chains",
    "Posterior": "posterior",
    "Fit": "fit",
    "Prediction": "prediction",
    "Check": "check",
}
"""The steps, by their name on the page."""
_KEPT = 16  # more than figures are cached
RESUME = "▶ Resume"
"""Text of the button that goes on with chains."""
LIVE = ("chains", "posterior")
"""Steps that are drawn while chains run."""
OF_POSTERIOR = ("chains", "posterior", "fit", "prediction")


@dataclass(frozen=True)
class CheckChoice:
    """What the simulation-based calibration does."""

    made_by: str
    fitted: str
    datasets: int
    seed: int


class FigureMaker:
    """Makes figures in threads, and keeps what lets the browser save each of them."""

    def __init__(self) -> None:
        self._downloads: Cache[Downloads] = Cache(_KEPT)
        self.checks: dict[tuple[str, CheckChoice], CalibrationCheck] = {}

    def downloads(self, key: Hashable) -> Downloads | None:
        """Return the downloads of a figure; None where it was not drawn."""
        return self._downloads.get(key)

    def data(self, key: Hashable, problem: Problem) -> Callable[[Task], LayoutDOM]:
        """Return a function that draws the measured tests and the surrogate's error."""
        return self._kept(key, lambda task: plotting.plot_calibration_problem(problem.prepared))

    def sobol(self, key: Hashable, problem: Problem) -> Callable[[Task], LayoutDOM]:
        """Return a function that draws the Sobol' indices."""

        def draw(task: Task) -> LayoutDOM:
            prepared = problem.prepared
            indices = sobol_indices(prepared.surrogate)
            return plotting.plot_sobol(indices, prepared.replicas.tests)

        return self._kept(key, draw)

    def posterior(
        self,
        key: Hashable,
        view: str,
        found: Found,
        predicted: tuple[Prediction, Replicas | None] | None,  # not needed of `LIVE`
    ) -> Callable[[Task], LayoutDOM]:
        """Return a function that draws one of `OF_POSTERIOR`."""
        made: dict[str, Callable[[Task], LayoutDOM]] = {
            "chains": lambda task: plotting.plot_chains(found.posterior),
            "posterior": lambda task: plotting.plot_posterior(found.posterior),
            "fit": lambda task: plotting.plot_posterior_fit(found.posterior),
        }
        if predicted is not None:
            made["prediction"] = lambda task: plotting.plot_prediction(*predicted)
        return self._kept(key, made[view])

    def check(
        self, key: Hashable, name: str, problem: Problem, choice: CheckChoice
    ) -> Callable[[Task], LayoutDOM]:
        """Return a function that draws coverage over data sets with a known truth."""

        def draw(task: Task) -> LayoutDOM:
            prepared = problem.prepared
            found = simulation_based_calibration(
                prepared.surrogate,
                prepared.replicas,
                noise=choice.made_by or choice.fitted,
                fitted=choice.fitted,
                datasets=choice.datasets,
                coordinates=problem.coordinates,
                seed=choice.seed,
                task=task,
            )
            if not task.stopping:
                self.checks[name, choice] = found
            return plotting.plot_calibration_check(found)

        return self._kept(key, draw)

    def _kept(
        self, key: Hashable, draw: Callable[[Task], LayoutDOM]
    ) -> Callable[[Task], LayoutDOM]:
        def drawn(task: Task) -> LayoutDOM:
            layout = draw(task)
            self._downloads.keep(key, Downloads(layout))
            return layout

        return drawn


def describe_found(
    text: str,
    found: Found | None,
    predicted: tuple[Prediction, Replicas | None] | None,
    kind: str,  # of the predicted tests that were measured
    runs: bool,  # whether chains run
) -> str:
    """Return sentences: the verdict on the chains, warnings, and what the intervals hold."""
    if found is None:
        return f"{text}: no posterior yet. {'The chains run' if runs else 'Press Run the chains'}."
    posterior = found.posterior
    if runs and predicted is None:
        far = f"{posterior.draws} of {posterior.requested} draws of each chain"
        return f"{text}: the chains run; so far {far}, {posterior.shortcoming or 'converged'}."
    parts = [f"{text}: {in_panel(posterior.verdict, posterior)}."]
    if posterior.draws < posterior.requested:
        resumed = f"; {RESUME} goes on from there" * posterior.converged  # else the verdict says so
        parts.append(f"Stopped after {posterior.draws} of {posterior.requested} draws{resumed}.")
    parts += [
        f"{one[0].upper()}{one[1:]}."
        for one in found.warnings
        if not posterior.verdict.startswith(one.partition(";")[0])
    ]
    if isinstance(found, CollectiveCalibration) and found.surrogate_is_near:
        parts.append(f"{found.surrogate_verdict[0].upper()}{found.surrogate_verdict[1:]}.")
    if posterior.at_bounds:
        parts.append(f"At a bound: {', '.join(posterior.at_bounds)}.")
    if predicted is not None and predicted[1] is not None:
        parts.append(describe_held(predicted[0], predicted[1], kind))
    return " ".join(parts)


def in_panel(text: str, posterior: Posterior) -> str:
    """Return a text with the button that continues the chains in place of Python's argument."""
    to = f"press {RESUME} to go on to {posterior.further} draws of each chain"
    return text.replace(posterior.advice, to)


def sentences(text: str, caption: str) -> str:
    """Return sentences over a line on the origin of the data, as HTML."""
    return (
        f'<div role="status" style="{TEXT}">{html.escape(text)}</div>'
        f'<div style="{SMALL}">{html.escape(caption)}</div>'
    )
