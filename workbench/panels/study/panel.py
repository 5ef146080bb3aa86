"""The panel of a fitting study: errors of all its fits, and any two of them side by side.

What a button does is a method of the same name, and what a list holds is an attribute:

    panel = StudyPanel()                      # the study that ships with the workbench
    panel.loss = "mae"; panel.machine = "llnl-dane-omnipath"
    panel.pin(); panel.loss = "rmsre"         # two fits side by side
    panel.run(model="logp", trials=50); panel.wait()
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Unpack

import ipywidgets as widgets

from workbench import tasks
from workbench.errors import ParameterError
from workbench.fit import FitResult
from workbench.named_options import named_options
from workbench.panels import inputs
from workbench.panels.error_line import ErrorLine
from workbench.panels.export_tab import ExportTab, write_file
from workbench.panels.fit.fit_run import FitRequest, FitRun
from workbench.panels.live_view import LiveView
from workbench.panels.mute import Mute
from workbench.panels.panel import Panel
from workbench.panels.session.stateful import drawn_once
from workbench.panels.study.fit_view import FitView
from workbench.panels.study.heatmap_view import HeatmapView
from workbench.panels.study.own_fit import OwnFit, OwnFitSettings
from workbench.panels.study.state import (
    COLUMNS,
    ERRORS,
    GIVEN,
    ShownFit,
    StudyState,
    axis_values,
    first_state,
    own_fit,
    shown_fit,
)
from workbench.panels.study.tabs import STUDY_FILES, StudyTabs, study_file
from workbench.panels.style import choose, named, push_button, wrapping_row
from workbench.study import StudyResult, shipped
from workbench.study.cell import AXES, AxisFilter
from workbench.suggestions import did_you_mean

SHIPPED = "which-loss"
_SETTINGS = ("rows", "value", *AXES)
_NAMES = {"value": "RMSPE of", "rows": "Rows", "target": "Fitted to"}
_WIDTHS = {"machine": "260px", "model": "190px", "target": "170px", "engine": "180px"}


class StudyPanel(Panel[ShownFit]):
    """Look at a study: a heatmap of errors, and the fit behind each cell.

    Args:
        result: the study; None takes the one that ships with the workbench.
        source: Python expression that gives ``result``, for the lines that are shown.
        height: height of the figures of curves in pixels.

    Raises:
        DatasetError: no study ships with this installation.
        ParameterError: the study has no cells.
    """

    SETTINGS = _SETTINGS

    def __init__(
        self, result: StudyResult | None = None, *, source: str = "", height: int = 250
    ) -> None:
        super().__init__()
        self._mute = Mute()
        known = result if result is not None else shipped(SHIPPED)
        given = source or (GIVEN if result is not None else f'study.shipped("{SHIPPED}")')
        self._state = first_state(known, given)
        self._chosen = shown_fit(self._state)
        self._pinned: ShownFit | None = None
        self._controls = self._make_controls()
        self._heatmap = HeatmapView(self._state, self._clicked)
        self._fit = FitView(self._chosen, height=height)
        self._own = OwnFit(self._ticker.start, self._own_finished)
        self._own.set({"machine": self._state.where["machine"]})
        self._error = ErrorLine()
        self._pin = push_button("Pin as A", "Keep this fit, to compare the next one with it")
        self._unpin = push_button("Unpin", "Show one fit again")
        export = self._make_export()
        self._tabs = StudyTabs(self._fit.parameters, self._own.widget, export, self._ticker.start)
        self._export = export
        self.widget = self._lay_out()
        self._connect()
        self._choose(self._chosen)

    @property
    def state(self) -> StudyState:
        """The state of the controls."""
        return self._state

    @property
    def result(self) -> StudyResult:
        """The study."""
        return self._state.result

    @property
    def chosen(self) -> ShownFit:
        """The displayed fit; ``chosen.cell`` is the study's cell."""
        return self._chosen

    @property
    def pinned(self) -> ShownFit | None:
        """The pinned fit, shown as A; None where there is none."""
        return self._pinned

    @property
    def controls(self) -> Mapping[str, Any]:
        """The controls of the settings, by name."""
        return self._controls

    @property
    def python(self) -> str:
        """Python code that computes the displayed fit."""
        return self._chosen.python

    @named_options(AxisFilter)
    def look_at(self, **where: Unpack[AxisFilter]) -> ShownFit:
        """Show another fit of the study, and the heatmap that contains it.

        Args:
            where: values of the study's axes, such as ``loss="mae"``; the others stay.

        Raises:
            ParameterError: the study has no such axis, or no such fit.
        """
        for axis in where:
            if axis not in AXES:
                raise ParameterError(
                    f"a fit is chosen by {', '.join(AXES)}; got {axis!r}{did_you_mean(axis, AXES)}",
                    key=axis,
                )
        with self._mute:
            for axis, value in where.items():
                choose(self._controls[axis], axis, value)
        self._take_controls(again=True)
        return self._chosen

    def pin(self) -> None:
        """Keep the present fit as A; the next one is shown beside it as B."""
        self._pinned = self._chosen
        self._unpin.disabled = False
        self._fit.show(self._chosen, self._pinned)

    def unpin(self) -> None:
        """Show one fit only."""
        self._pinned = None
        self._unpin.disabled = True
        self._fit.show(self._chosen, None)

    @named_options(OwnFitSettings)
    def run(self, **settings: Unpack[OwnFitSettings]) -> FitRun:
        """Run your own fit in the background and return at once.

        Args:
            settings: machine, model, loss, target, engine, trials, seed; the others stay as the
                controls have them.

        Raises:
            ParameterError: a setting is not known, or its value is not offered.
        """
        unknown = [name for name in settings if name not in self._own.controls]
        if unknown:
            raise ParameterError(
                f"the settings of a run are {', '.join(self._own.controls)}; got {unknown[0]!r}"
                f"{did_you_mean(unknown[0], self._own.controls)}",
                key=unknown[0],
            )
        self._own.set(settings)
        return self._own.begin()

    def stop(self) -> None:
        """Stop the user's own fit, keeping its best so far, and the drawing of figures."""
        self._own.stop()
        self._tabs.stop()

    def save(self, path: str | Path) -> Path:
        """Write ``.csv`` (errors of all fits), or the displayed fit as ``.json`` or ``.ini``.

        Args:
            path: file to write.

        Raises:
            ParameterError: the suffix is none of these, or there is no fitted model.
        """
        return write_file(path, STUDY_FILES, self._file)

    def __repr__(self) -> str:
        return f"StudyPanel({self._state.result!r}, {self._chosen.title})"

    def _saved_names(self) -> tuple[str, ...]:
        return ("study", *self.SETTINGS, "pinned", "own_fit")

    def _saved(self, name: str) -> Any:
        if name == "study":
            return self._state.result.plan.name
        if name == "own_fit":
            return {one: control.value for one, control in self._own.controls.items()}
        if name == "pinned":
            return None if self._pinned is None or self._pinned.own else _where(self._pinned)
        return super()._saved(name)

    def _restore(self, name: str, value: Any) -> None:
        if name == "study":
            raise ParameterError(
                f"the session is of the study {value!r}; this panel shows "
                f"{self._state.result.plan.name!r}: open it in a panel of that study",
                key="study",
            )
        if name == "own_fit":
            self._own.set(value)
        elif name == "pinned":
            self._pin_at(value)
        else:
            super()._restore(name, value)

    def _pin_at(self, where: Mapping[str, Any] | None) -> None:
        """Pin the fit of the study at a place, or none."""
        self._pinned = None if where is None else shown_fit(replace(self._state, where=where))
        self._unpin.disabled = where is None
        self._show_pinned()

    @drawn_once
    def _show_pinned(self) -> None:
        self._fit.show(self._chosen, self._pinned)

    def _not_held(self) -> tuple[str, ...]:
        own = self._chosen.own or (self._pinned is not None and self._pinned.own)
        return ("your own fit is not in a session: Start makes it again",) if own else ()

    def _live_views(self) -> tuple[LiveView, ...]:
        drawn = (view for figure in self._tabs.figures.values() for view in figure.views)
        return (self._heatmap.view, self._fit.curves, self._fit.errors, *drawn)

    def _outcome(self) -> ShownFit:
        return self._chosen

    def _refresh(self) -> bool:
        drawing = self._tabs.refresh()
        return self._own.refresh() or drawing

    def _errors(self) -> list[ErrorLine]:
        drawn = (figure.error for figure in self._tabs.figures.values())
        return [self._error, *self._own.errors, self._export.error, *drawn]

    def _jobs(self) -> list[tasks.Job[Any] | None]:
        return [self._own.job]

    def _make_controls(self) -> dict[str, Any]:
        state = self._state
        several = [a for a in AXES if a != COLUMNS and len(axis_values(state.result, a)) > 1]
        options: dict[str, list[Any]] = {
            "rows": several or [state.rows],
            "value": list(ERRORS),
            **{axis: axis_values(state.result, axis) for axis in AXES},
        }
        held = {"rows": state.rows, "value": state.value, **state.where}
        made = {}
        for name, known in options.items():
            about = named(_NAMES.get(name, name.capitalize()), _WIDTHS.get(name, "150px"))
            made[name] = inputs.Dropdown(options=known, value=held[name], **about)
            if len(known) < 2:
                made[name].layout.display = "none"
        return made

    def _make_export(self) -> ExportTab:
        study = self._state.result.plan.name
        return ExportTab(
            STUDY_FILES,
            self._file,
            {
                "heatmap": (self._heatmap.downloads, lambda: f"{study}-{self.value}"),
                "fit": (self._fit.downloads, lambda: self._chosen.cell.cell.name),
            },
            lambda what: self._fit.origins if what == "fit" else self._state.origins,
        )

    def _file(self, suffix: str) -> tuple[str, str]:
        return study_file(self._state, self._chosen, suffix)

    def _lay_out(self) -> Any:
        c = self._controls
        top = wrapping_row(c["value"], c["rows"], *(c[axis] for axis in AXES))
        left = widgets.VBox(
            [self._heatmap.widget],
            layout=widgets.Layout(flex="0 1 44%", min_width="380px", overflow="hidden"),
        )
        right = widgets.VBox(
            [
                widgets.HBox([self._fit.title, self._pin, self._unpin]),
                self._fit.curves,
            ],
            layout=widgets.Layout(flex="1 1 54%", min_width="440px", overflow="hidden"),
        )
        body = widgets.HBox(
            [left, right], layout=widgets.Layout(width="100%", flex_flow="row wrap")
        )
        return self._boxed(
            [top, self._error, body, self._fit.errors, self._fit.description, self._tabs.widget]
        )

    def _connect(self) -> None:
        for control in self._controls.values():
            control.observe(lambda _: self._chosen_anew(), "value")
        self._pin.on_click(lambda _: self.pin())
        self._unpin.on_click(lambda _: self.unpin())
        self._unpin.disabled = True

    @drawn_once
    def _chosen_anew(self) -> None:
        self._error.guard(self._take_controls)

    def _take_controls(self, *, again: bool = False) -> None:
        """Show the fit and the errors of the controls; ``again`` also leaves an own fit."""
        if self._mute.on:
            return
        before, c = self._state, self._controls
        state = replace(
            before,
            rows=c["rows"].value,
            value=c["value"].value,
            where={axis: c[axis].value for axis in AXES},
        )
        self._error.say("")
        other = state.where != before.where or (again and self._chosen.own)
        chosen = shown_fit(state) if other else self._chosen
        self._state = state
        self._choose(chosen)

    def _clicked(self, place: dict[str, Any]) -> None:
        self._error.guard(lambda: self.look_at(**place))

    def _own_finished(self, result: FitResult, request: FitRequest) -> None:
        self._choose(own_fit(result, request))

    def _choose(self, fit: ShownFit) -> None:
        """Show a fit everywhere; the heatmap frames it if it is one of the study's."""
        if fit is not self._chosen:
            self._chosen = fit
            self._fit.show(fit, self._pinned)
        self._heatmap.show(self._state, marked=not fit.own)
        self._tabs.show(self._state, fit)


def _where(fit: ShownFit) -> dict[str, Any]:
    """Return the place of a fit in its study: a value for each axis."""
    return {axis: getattr(fit.cell.cell, axis) for axis in AXES}
