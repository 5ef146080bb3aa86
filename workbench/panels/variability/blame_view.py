"""The figures of the panel of blame: the machine during a run, its steps, all runs."""

from __future__ import annotations

import html
from collections.abc import Callable

import ipywidgets as widgets
import numpy as np
from bokeh.models import LayoutDOM

from workbench.html_table import html_table
from workbench.panels.live_view import Downloads, LiveView
from workbench.panels.style import TEXT
from workbench.panels.variability.blame_state import BlameState
from workbench.panels.variability.blame_tables import BlameTables
from workbench.plotting.rows import beside
from workbench.plotting.theme import SMALL
from workbench.plotting.variability.link_traffic import LinkTrafficFigure, link_traffic_figure
from workbench.plotting.variability.run_dates import (
    RunDatesFigure,
    describe_run_dates,
    run_dates_figure,
)
from workbench.plotting.variability.run_steps import (
    RunStepsFigure,
    describe_run_steps,
    run_label,
    run_steps_figure,
)
from workbench.plotting.variability.world_map import WorldMap, describe_run_scene, world_map
from workbench.variability.world.run_scene import RunScene

_HEIGHT = 400  # px: chosen, the groups of the machine and the steps are read beside each other
_MACHINE_SHARE, _STEPS_SHARE = 11, 9  # of the width
_MOST_NEIGHBOURS = 10  # chosen: the first few matter; how many more there are is said


class RunView:
    """A run's steps beside what slowed them: the machine, or what was sent over a shared link.

    It shows any tables with the scenery of those it was made for. ``chosen`` is called with a
    clicked step.
    """

    def __init__(self, tables: BlameTables, chosen: Callable[[int], None]) -> None:
        self._chosen = chosen
        self._machine: WorldMap | None = None
        self._traffic: LinkTrafficFigure | None = None
        figures = []
        if tables.world is not None:
            self._machine = world_map(tables.world.settings.machine, height=_HEIGHT)
            figures = [self._machine.figure]
        elif tables.recorded is not None:
            self._traffic = link_traffic_figure(tables.recorded, height=_HEIGHT)
            figures = [self._traffic.figure]
        self._steps: RunStepsFigure = run_steps_figure(height=_HEIGHT)
        shares = [_MACHINE_SHARE] * len(figures)
        both: LayoutDOM = beside(*figures, self._steps.figure, shares=[*shares, _STEPS_SHARE])
        self.view = LiveView(both, layout=widgets.Layout(width="100%"))
        self.view.hear(self._steps.run.source)
        self.downloads = Downloads(both)
        self._steps.run.source.selected.on_change("indices", self._tapped)

    def show(self, tables: BlameTables, run: int, step: int, scene: RunScene | None) -> None:
        """Draw a run, with all users or, of a world, without the one who is not in the scene."""
        row = tables.step_row(run)
        if tables.steps is None or row is None:
            return
        without, user = None, ""
        with self.view.one_patch():
            if self._machine is not None and scene is not None:
                self._machine.show(scene, step, tables.worst(run))
                without, user = scene.time_s if scene.without else None, scene.without
            elif self._traffic is not None and tables.recorded is not None:
                self._traffic.show(tables.recorded, row, step)
            self._steps.show(tables.steps, row, step=step, without=without, user=user)

    def show_step(self, step: int, scene: RunScene | None) -> None:
        """Draw another step of the same run."""
        with self.view.one_patch():
            if self._machine is not None and scene is not None:
                self._machine.show_step(scene, step)
            elif self._traffic is not None:
                self._traffic.mark(step)
            self._steps.mark(step)

    def _tapped(self, _attr: str, _old: object, new: list[int]) -> None:
        if new:
            self._chosen(new[0])


class RunsView:
    """All runs over time; ``chosen`` is called with the place of a clicked run."""

    def __init__(self, chosen: Callable[[int], None]) -> None:
        self.dates: RunDatesFigure = run_dates_figure(height=340)
        self.view = LiveView(self.dates.figure, layout=widgets.Layout(width="100%"))
        self.downloads = Downloads(self.dates.figure)
        self._chosen = chosen
        for source in (self.dates.alone.source, self.dates.beside.source):
            self.view.hear(source)
            source.selected.on_change(
                "indices", lambda _attr, _old, new, source=source: self._tapped(source, new)
            )

    def show(self, tables: BlameTables, state: BlameState) -> None:
        """Draw the runs, and mark those beside the user."""
        with self.view.one_patch():
            self.dates.show(
                tables.runs, beside=beside_user(tables, state.user), user=state.user, run=state.run
            )
            self.dates.figure.title.text = (
                f"Times of {len(tables.runs)} runs ({tables.provenance.origin})"
            )

    def _tapped(self, source: object, new: list[int]) -> None:
        if new:
            self._chosen(int(source.data["at"][new[0]]))  # type: ignore[attr-defined]


def beside_user(tables: BlameTables, user: str) -> np.ndarray | None:
    """Return which runs had a job of the user beside them, bool[runs]; None for nobody."""
    column = tables.column(user) if user else -1
    near = tables.beside
    return None if near is None or column < 0 else near.present[:, column]


def describe_run(tables: BlameTables, state: BlameState, scene: RunScene | None) -> str:
    """Return sentences on the run that is shown."""
    row = tables.step_row(state.run)
    if tables.steps is None or row is None:
        name = run_label(tables.runs.run[state.run])
        return f"The table of steps has none of {name}; choose another run, or complete the table."
    without = scene.time_s if scene is not None and scene.without else None
    text = describe_run_steps(tables.steps, row, without=without, user=state.user)
    slowed = tables.slowdown(state.run)
    if slowed and not state.user:
        worst = tables.worst(state.run)[0]
        text += f" In truth {worst} slows it down most, by {100 * slowed[worst]:.1f} %."
    return text if scene is None else f"{text} {describe_run_scene(scene, step=state.step)}"


def describe_runs(tables: BlameTables, state: BlameState) -> str:
    """Return sentences on all runs."""
    return describe_run_dates(tables.runs, beside_user(tables, state.user), state.user)


def neighbours_table(tables: BlameTables, run: int) -> str:
    """Return who was beside a run as an HTML table, those who slow it down most first."""
    nodes, slowed = tables.nodes(run), tables.slowdown(run)
    rank = sorted(nodes, key=lambda name: (-_of(slowed, name), -nodes[name]))
    known = bool(slowed)
    rows = [
        [name, f"{nodes[name]:.0f}", *([f"{100 * _of(slowed, name):+.1f} %"] if known else [])]
        for name in rank[:_MOST_NEIGHBOURS]
    ]
    more = len(rank) - len(rows)
    head = ["user", "nodes, mean over the run", *(["slows this run down by"] if known else [])]
    beyond = f"; {more} more had some" if more > 0 else ""
    caption = f"Beside {run_label(tables.runs.run[run])}{beyond}"
    return html_table(rows, head, caption)


def sentences(text: str, caption: str) -> str:
    """Return sentences over a line on the origin of the data, as HTML."""
    return (
        f'<div role="status" style="{TEXT}">{html.escape(text)}</div>'
        f'<div style="{SMALL}">{html.escape(caption)}</div>'
    )


def _of(slowed: dict[str, float], name: str) -> float:
    """Return the slow-down by a user, or by those who are named together."""
    return sum(slowed.get(one, 0.0) for one in name.split(", "))
