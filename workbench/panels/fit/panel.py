"""The panel that fits a model to a machine: see its curves, drag a parameter, start a fit, export.

What a button does is a method of the same name, and what a slider holds is an attribute:

    panel = FitPanel()
    panel.machine = "azure-hb96v3-hdr"
    panel.injection_latency = "300ns"        # or 3e-7, or panel.set("node.nic...", ...)
    panel.run(); panel.wait(); panel.use_fitted()
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import ipywidgets as widgets

from workbench import machines, tasks
from workbench.errors import ConfigurationError, ParameterError, WorkbenchError
from workbench.fit import FitResult, machine_of_model, to_machine
from workbench.fit.defaults import DEFAULT_MODEL
from workbench.fit.measured import left_out, sizes_of
from workbench.fit.store import read_progress
from workbench.measure import OSUCurve, SeveralExperimentsError, read_osu
from workbench.measure.curve import byte_label
from workbench.models import NetworkModel
from workbench.panels import inputs
from workbench.panels.error_line import ErrorLine
from workbench.panels.export_tab import write_file
from workbench.panels.fit.curve_view import CurveView
from workbench.panels.fit.files import FILES, ShownMachine, Which
from workbench.panels.fit.fit_run import (
    FitRequest,
    FitRun,
    request_of,
    resumed_request,
    status_of,
    stored_fits,
)
from workbench.panels.fit.settings import DEFAULT_STUDY, Settings
from workbench.panels.fit.simulation_job import EARLIER, SimulationJob
from workbench.panels.fit.state import FitState, curve_line, fit_line, opening_model, read_sentence
from workbench.panels.fit.tabs import FitTabs, Stored
from workbench.panels.job_controls import error_text, wait_for
from workbench.panels.live_view import LiveView
from workbench.panels.machine_choice import curve_expression, curve_of, offer_everywhere
from workbench.panels.number_field import check_all
from workbench.panels.panel import Panel
from workbench.panels.parameter_controls import ParameterControls
from workbench.panels.session.session import Files, OwnFiles
from workbench.panels.session.stateful import drawn_once
from workbench.panels.style import choose, wrapping_row
from workbench.parameters import Value

DEFAULT_MACHINE = "azure-hb96v3-hdr"

_IS_ROW = re.compile(r"not understood: *\d")
"""A note on a line that looks like a row of the table; others are those of the launcher."""


@dataclass(frozen=True)
class _Uploaded:
    """One experiment of uploaded files."""

    curve: OSUCurve
    title: str  # in the lists of machines
    python: str  # that reads it
    warning: str = ""


def _experiments(files: Mapping[str, str | bytes], name: str) -> list[_Uploaded]:
    """Return the experiments of uploaded files, a machine for each."""
    names = ", ".join(repr(file) for file in files)
    try:
        curve = read_osu(*files.items(), name=name)
    except SeveralExperimentsError as error:
        warning = (
            f"{error.differ}: the first is drawn; Machine lists the others, and Compare with "
            "draws one of them beside it"
        )
        return [
            _Uploaded(
                read_osu(*files.items(), name=f"{name} {at}", table=at),
                f"{name} {at}: {choice} (uploaded)",
                f"measure.read_osu({names}, table={at})",
                warning,
            )
            for at, choice in enumerate(error.choices, start=1)
        ]
    return [_Uploaded(curve, f"{name} (uploaded)", f"measure.read_osu({names})")]


class FitPanel(Panel[FitResult | None]):
    """Fit a network model to a machine, by hand and by search.

    Args:
        machine: name of a shipped machine, see `workbench.datasets.list`.
        model: ``snappr``, ``hybrid``, ``logp``, ``pisces`` or ``protocol``.
        height: height of the two curve figures in pixels.

    Raises:
        DatasetError: there is no such machine.
    """

    SETTINGS = (
        *("machine", "kind", "variant", "loss", "target", "engine", "trials", "seed", "held"),
        *("without", "pinned", "study", "resumed", "model", "export"),
    )
    # The file of trials is of this machine, and the choice of files to save of the last fit.
    NOT_SAVED = ("study", "resumed", "export")

    def __init__(
        self, machine: str = DEFAULT_MACHINE, model: str = "snappr", *, height: int = 250
    ) -> None:
        super().__init__()
        self._uploads: dict[str, tuple[OSUCurve, str]] = {}
        self._files: dict[str, Files] = {}
        measured = curve_of(machine)
        self._state = FitState(
            machine,
            curve_expression(machine),
            measured,
            model,
            opening_model(model, measured),
            study=DEFAULT_STUDY,
        )
        self._shown: tuple[FitState, OSUCurve] | None = None
        self._simulated = self._state
        self._refused: BaseException | None = None
        self._run: FitRun | None = None
        self._result: FitResult | None = None
        self._settings = Settings(machine, model, self.upload, self._ended)
        self._picture = CurveView(
            measured,
            size=self._state.size,
            height=height,
            beside=(self._settings.controls["pinned"],),
        )
        self._parameters = ParameterControls(self._state.model, self._parameter_changed)
        self._error = ErrorLine()
        self._simulating = SimulationJob(
            self._draw, self._refuse, self._mark_stale, self._ticker.start
        )
        self._tabs = FitTabs(
            self._picture.downloads, self._shown_now, self._ticker.start, self._stored_search
        )
        self._connect()
        self.widget = self._lay_out()
        self._settings.offer_variant(self._state.model)
        self._offer_stored()
        self._redraw()
        # On a busy machine even a quick curve may be late, and a panel opens with one.
        wait_for(self._simulating.refresh, None)

    @property
    def state(self) -> FitState:
        """The state of the controls."""
        return self._state

    @property
    def model(self) -> NetworkModel:
        """The model with the values of the sliders."""
        return self._state.model

    @property
    def measured(self) -> OSUCurve:
        """The measured curve of the machine."""
        return self._state.measured

    @property
    def curve(self) -> OSUCurve:
        """The displayed simulated curve, of the last values that could be simulated."""
        return self._shown_now().simulated

    @property
    def result(self) -> FitResult | None:
        """The result of the last fit; None before the first is finished."""
        return self._result

    @property
    def python(self) -> str:
        """Python code that computes the displayed curve, as ``curve``."""
        return self._shown_now().python

    @property
    def export(self) -> Which:
        """The model in files: ``fitted``, chosen automatically after a fit, or ``sliders``."""
        which: Which = self._tabs.which.value
        return which

    def set(self, key: str, value: Value) -> None:
        """Move a slider: by SST/macro's key, or the attribute path with dots or underscores.

        Args:
            key: such as ``node.nic.injection.latency`` or ``injection_latency``.
            value: SI, or a text with a unit such as ``"300ns"``.

        Raises:
            ParameterError: there is no such parameter, or the value is not accepted.
            ConfigurationError: the values would deadlock together; the picture stays as it was.
        """
        self.update({key: value})

    def update(self, values: Mapping[str, Value]) -> None:
        """Move several sliders and draw once.

        Args:
            values: by key, as in `set`.

        Raises:
            ParameterError: there is no such parameter, or a value is not accepted.
            ConfigurationError: the values would deadlock together; the picture stays as it was.
        """
        keyed = {self._parameters.key_of(name): value for name, value in values.items()}
        self.use(self._state.model.with_values(keyed))

    def use(self, model: NetworkModel) -> None:
        """Set all sliders to a model of the displayed kind.

        What takes long is simulated in the background, see `wait`.

        Args:
            model: such as ``panel.result.model``.

        Raises:
            ConfigurationError: the values would deadlock together; the picture stays as it was.
        """
        self._state = replace(self._state, model=model)
        self._parameters.rebuild(model)
        self._refused = None
        self._redraw()
        error = self._refused
        if error is not None:
            raise error

    def reset(self) -> None:
        """Reset all sliders to the opening values: a first guess from the measured curve."""
        self.use(self._opening())

    def use_fitted(self) -> None:
        """Set the sliders to the values of the last fit.

        Raises:
            ParameterError: there has been no fit that found any.
        """
        if self._result is None or not self._result.success:
            raise ParameterError("use_fitted needs a fit; run one first", key="result")
        self.use(self._result.model)

    @property
    def controls(self) -> Mapping[str, Any]:
        """The controls by the names of settings and parameters."""
        own = {**self._settings.controls, "upload": self._settings.upload, **self._picture.controls}
        return {**own, "export": self._tabs.which, **self._parameters.by_name}

    def run(self) -> FitRun:
        """Start a new fit in the background and return at once.

        Raises:
            ParameterError: a number is not accepted.
        """
        return self._begin(go_on=False)

    def resume(self) -> FitRun:
        """Resume the last fit with these settings, up to the number of trials in the controls.

        Raises:
            ParameterError: a number is not accepted.
        """
        return self._begin(go_on=True)

    def stop(self) -> None:
        """Start no further trial and return at once; the best so far is kept.

        A simulation that runs ends too; the curves stay those of the earlier values.
        """
        self._simulating.stop()
        self._settings.work.stop()
        self.refresh()

    def save(self, path: str | Path, which: Which | None = None) -> Path:
        """Write ``.ini``, ``.csv``, ``.json`` or ``.html``, by the name's suffix.

        Args:
            path: file to write.
            which: ``fitted`` or ``sliders``: whose model; None is what the export tab has chosen,
                the fit as soon as there is one.

        Raises:
            ParameterError: the suffix is none of these, or there is no fit to be saved.
        """
        if which is not None:
            self._export(which)
        return write_file(path, FILES, self._tabs.file)

    def upload(self, files: Mapping[str, str | bytes]) -> None:
        """Draw measurements from the output of the OSU micro-benchmarks.

        Args:
            files: what each file holds, by its name.

        Raises:
            ParseError: no table could be read.
        """
        found = _experiments(files, Path(next(iter(files))).stem)
        for one in reversed(found):
            self._keep_upload(one, files)
            self._settings.add_machine(one.title, one.curve.name)
        curve = found[0].curve
        untouched = self._state.model == self._opening()
        self._machine_changed(curve.name)
        self._settings.machine_error.say(
            "; ".join([*(one.warning for one in found[:1] if one.warning),
                       *filter(_IS_ROW.search, curve.notes)])
        )  # fmt: skip
        if untouched:  # what follows most machines within seconds; the others are a choice away
            self._settings.controls["kind"].value = DEFAULT_MODEL

    def use_machine(self, name: str = "") -> Path:
        """Keep the machine, for every panel and command: its messages and its model.

        The model is the one that files hold, see ``export``. The file is in the folder
        ``machines``, whose machines panels offer and ``--machine`` knows by their names.

        Args:
            name: of the machine; that of an uploaded curve, or of a shipped one with ``my-``
                before it, where it is empty.

        Raises:
            ConfigurationError: the model cannot be simulated.
        """
        shown = self._shown_now()
        own = name or shown.measured.name
        if not name and own in machines.shipped():
            own = f"my-{own}"
        if shown.fitted is None:
            machine = machine_of_model(shown.exported_model, shown.measured, own)
        else:
            machine = to_machine(shown.fitted, name=own)
        kept = next((one for one in (own, self._state.machine) if one in machines.own()), None)
        if kept is not None:
            before = machines.load(kept)
            machine = replace(machine, within=before.within, given=before.given)
        path = machines.keep(machine)
        offer_everywhere()
        self._settings.read.say(
            f"saved {path}: every panel offers {own}, and commands take --machine {path}",
            [repr(machine)],
        )
        return path

    def __repr__(self) -> str:
        fit = f", {self._result!r}" if self._result is not None else ""
        return f"FitPanel({self._state.machine}, {self._state.model!r}{fit})"

    def _live_views(self) -> list[LiveView]:
        return [self._picture.view, *self._tabs.views()]

    def _outcome(self) -> FitResult | None:
        return self._result

    def _refresh(self) -> bool:
        simulates = self._simulating.refresh()
        fits = self._settings.work.refresh()
        return self._tabs.refresh() or simulates or fits

    def _errors(self) -> list[ErrorLine]:
        own = (*self._settings.errors, self._error, *self._tabs.errors)
        return [*own, *(control.error for control in self._parameters.controls.values())]

    def _jobs(self) -> list[tasks.Job[Any] | None]:
        run = self._run
        return [self._simulating.job, run.job if run is not None and run.running else None]

    def _setting_names(self) -> tuple[str, ...]:
        return (*self.SETTINGS, *self._parameters.by_name)

    def _saved_names(self) -> tuple[str, ...]:
        first = ("machine", "kind", "variant")
        rest = (*self.SETTINGS, *self._picture.controls, *self._parameters.by_name)
        left_out = (*first, *self.NOT_SAVED, "model")  # the model is its kind and its parameters
        return (*first, *(name for name in rest if name not in left_out))

    def _restore(self, name: str, value: Any) -> None:
        if name in (*self._settings.controls, *self._picture.controls):
            choose(self.controls[name], name, value)
        else:
            self.set(name, value)

    def _keep_upload(self, found: _Uploaded, files: Mapping[str, str | bytes]) -> None:
        name = found.curve.name
        self._uploads[name] = (found.curve, found.python)
        self._files[name] = {
            file: data if isinstance(data, bytes) else data.encode() for file, data in files.items()
        }

    def _own_files(self) -> OwnFiles:
        names = {self._state.machine, self._settings.controls["pinned"].value} & self._files.keys()
        return {"machine": {name: self._files[name] for name in sorted(names)}} if names else {}

    def _take_own_files(self, use: str, name: str, files: Files) -> None:
        if use != "machine":
            super()._take_own_files(use, name, files)
        elif self._files.get(name) != files:
            if name in self._settings.controls["machine"].names:
                raise ParameterError(
                    f"there is another machine named {name!r} here; open the session in a new "
                    "panel",
                    key="machine",
                )
            stem = Path(next(iter(files))).stem
            for found in _experiments(files, stem if name.startswith(f"{stem} ") else name):
                if found.curve.name == name:
                    self._keep_upload(found, files)
                    self._settings.offer_machine(found.title, name)

    def _not_held(self) -> tuple[str, ...]:
        if self._result is None:
            return ()
        return ("the result of the fit is not in a session: Start makes it again",)

    def _set(self, name: str, value: Any) -> None:
        if name == "export":
            self._export(value)
        elif name == "model":
            super()._set("kind", value)
        elif name in self.SETTINGS:
            super()._set(name, value)
        else:
            self.set(name, value)

    def _export(self, which: str) -> None:
        if which not in ("fitted", "sliders"):
            raise ParameterError(f"export must be fitted or sliders; got {which!r}", key="export")
        if which == "fitted" and self._tabs.which.disabled:
            raise ParameterError(
                "there must be a fit for its model to be saved; run one first", key="export"
            )
        self._tabs.which.value = which

    def _connect(self) -> None:
        settings = self._settings
        settings.observe(self._setting_changed)
        settings.controls["resumed"].observe(lambda _: self._tabs.opened(), "value")
        settings.work.start.on_click(lambda _: self._guarded(self.run))
        settings.resume.on_click(lambda _: self._guarded(self.resume))
        self._tabs.use.on_click(lambda _: self._guarded(self.use_fitted))
        self._tabs.keep.on_click(lambda _: self._guarded(self.use_machine))
        self._picture.size.observe(self._size_changed, "value")
        self._picture.on_points(self._points_chosen)

    def _lay_out(self) -> Any:
        reset = inputs.Button(description="Reset parameters", layout=widgets.Layout(width="140px"))
        reset.on_click(lambda _: self._guarded(self.reset))
        left = widgets.VBox(
            [self._parameters.widget, wrapping_row(reset, self._tabs.use, self._tabs.keep)],
            layout=widgets.Layout(
                width="396px", min_width="352px", flex="0 1 auto", margin="0 8px 0 0"
            ),
        )
        right = widgets.VBox(
            [self._error, self._simulating.widget, self._picture.widget],
            layout=widgets.Layout(flex="1 1 0", min_width="480px", overflow="hidden"),
        )
        body = widgets.HBox([left, right], layout=widgets.Layout(width="100%"))
        return self._boxed([self._settings.widget, body, self._tabs.widget])

    def _opening(self) -> NetworkModel:
        state = self._state
        return opening_model(state.kind, state.measured, state.model.variant)

    def _shown_now(self) -> ShownMachine:
        if self._shown is None:
            raise ParameterError(
                "no curve is shown yet; wait for the simulation or correct the values",
                key="",
            )
        state, curve = self._shown
        result = self._result
        fitted = "" if result is None else curve_line(replace(state, model=result.model))
        return ShownMachine(
            state.measured,
            state.model,
            curve,
            result,
            curve_line(state),
            self._tabs.which.value,
            fitted,
        )

    def _parameter_changed(self, key: str, value: Value) -> None:
        model = self._state.model.with_values({key: value})
        self._state = replace(self._state, model=model)
        self._parameters.enable()
        self._redraw()

    @drawn_once
    def _redraw(self) -> None:
        """Simulate the state: a quick one is drawn at once, a long one runs in the background."""
        self._simulated, self._refused = self._state, None
        self._error.say("")
        self._parameters.say({})
        self._simulating.begin(self._state.model, self._state.measured.sizes.tolist())

    def _draw(self, curve: OSUCurve) -> None:
        state = self._simulated
        self._shown = (state, curve)
        self._tabs.export.error.say("")
        self._tabs.say_files_of(state.model)
        self._picture.draw(state.measured, curve)
        self._tabs.show_python(curve_line(state), fit_line(self._state))

    def _mark_stale(self, stale: bool) -> None:
        measured = self._simulated.measured
        if stale and self._picture.measured is not measured:
            # Files must not hold the earlier machine under the picture of this one.
            self._shown = None
        self._picture.mark_stale(stale, measured)

    def _refuse(self, error: BaseException) -> None:
        """Show an error at the first slider it names, else above the figures."""
        self._refused = error
        keys = [key for key in getattr(error, "keys", ()) if key in self._parameters.controls]
        message = f"{error_text(error)}; {EARLIER}"
        if keys:
            self._parameters.say({keys[0]: message})
        else:
            self._error.say(message)

    def _setting_changed(self, name: str, value: Any) -> None:
        self._settings.work.error.say("")
        if name == "machine":
            self._machine_changed(value)
        elif name in ("kind", "variant"):
            self._kind_changed()
        elif name == "pinned":
            self._pin(value)
        else:
            if name == "without":
                value = self._leave_out(value)
            self._state = replace(self._state, **{name: value})
            self._tabs.show_python(curve_line(self._state), fit_line(self._state))
            self._offer_stored()

    def _pin(self, name: str) -> None:
        """Draw the measured points of another machine beside those shown; of none where empty."""
        self._settings.machine_error.say("")
        try:
            curve = self._curve_of(name)[0] if name else None
        except WorkbenchError as error:
            self._settings.machine_error.say(str(error))
            return
        self._picture.pin(curve)

    def _leave_out(self, text: str) -> str:
        """Draw the points of these sizes hollow; return the sizes that the fit leaves out."""
        self._settings.machine_error.say("")
        try:
            left_out(self._state.measured, text)
        except ParameterError as error:
            self._settings.machine_error.say(str(error))
            sizes = sizes_of(self._state.without)
        else:
            sizes = sizes_of(text)
        without = ", ".join(map(byte_label, sizes))
        self._settings.say_left_out(without)
        self._picture.leave_out(sizes)
        return without

    def _points_chosen(self, sizes: list[int]) -> None:
        """Leave these sizes out of the fit; take them back where all of them are."""
        before = set(sizes_of(self._state.without))
        now = before - set(sizes) if before.issuperset(sizes) else before | set(sizes)
        self._settings.controls["without"].value = ", ".join(map(byte_label, sorted(now)))

    def _curve_of(self, name: str) -> tuple[OSUCurve, str]:
        """Return the measured messages of a machine, and the Python expression of them."""
        return self._uploads.get(name) or (curve_of(name), curve_expression(name))

    def _machine_changed(self, name: str) -> None:
        self._settings.machine_error.say("")
        self._settings.read.say("")
        try:
            curve, source = self._curve_of(name)
        except WorkbenchError as error:
            self._settings.machine_error.say(str(error))
            return
        self._settings.say_left_out("")
        if name in self._uploads:
            self._settings.read.say(read_sentence(curve), curve.notes)
        self._forget_fit()
        untouched = self._state.model == self._opening()
        self._state = replace(self._state, machine=name, measured=curve, source=source, without="")
        if untouched:
            self._state = replace(self._state, model=self._opening())
            self._parameters.rebuild(self._state.model)
        self._offer_stored()
        self._redraw()

    def _kind_changed(self) -> None:
        settings = self._settings.controls
        self._forget_fit()
        kind, variant = settings["kind"].value, settings["variant"].value
        same = kind == self._state.kind
        # Another variant of the same model keeps the values that were set.
        model = (
            self._state.model.replace(variant=variant)
            if same
            else opening_model(kind, self._state.measured, variant)
        )
        self._settings.offer_variant(model)
        self._state = replace(self._state, kind=kind, model=model)
        self._parameters.rebuild(model)
        self._picture.forget_fit()
        self._offer_stored()
        self._redraw()

    def _forget_fit(self) -> None:
        self._run = self._result = None
        self._tabs.clear()
        self._settings.forget_fit()

    def _size_changed(self, change: Any) -> None:
        if change["new"] is not None:
            self._state = replace(self._state, size=change["new"])

    def _begin(self, *, go_on: bool) -> FitRun:
        if self._run is not None and self._run.running:
            return self._run
        check_all(self._settings.controls.values())
        state, before = self._state, self._run if go_on else None
        if go_on:
            request = resumed_request(state, self._settings.controls["resumed"].value, before)
            before = before if before is not None and before.request.name == request.name else None
        else:
            request = request_of(state).named_afresh()
            self._say_what_is_kept(request)
        self._tabs.begin(state.loss)
        run = self._run = FitRun(request, go_on=go_on, after=before)
        self._settings.work.begin(run.job, lambda: self._show_progress(run))
        self._ticker.start()
        return run

    def _say_what_is_kept(self, request: FitRequest) -> None:
        """Say which stored searches a new one leaves as they are."""
        kept = [one for one in stored_fits(request) if one.trials < request.trials]
        if kept:
            self._settings.read.say(
                f"a new search; {kept[0].text}, is kept: choose it beside Resume to go on with it"
            )

    def _offer_stored(self) -> None:
        name = "" if self._run is None else self._run.request.name
        try:
            stored = stored_fits(request_of(self._state))
        except ParameterError:  # of a name in Held, which Start says
            stored = []
        self._settings.offer_stored(stored, name)
        self._tabs.opened()

    def _stored_search(self) -> Stored | None:
        """Return the chosen stored search, with the number of its trials."""
        name = self._settings.controls["resumed"].value
        found = read_progress(self._state.study, [name]) if name else {}
        return (self._state.study, name, found[name].trials) if name in found else None

    def _show_progress(self, run: FitRun) -> tuple[float, str]:
        """Draw the trials and the best so far; return the share done, and the status."""
        self._tabs.draw_convergence(run)
        if run.best is not None and run.best is not self._picture.fitted:
            self._picture.draw_fit(run.best)
        return run.share, status_of(run)

    def _ended(self, job: tasks.Job[FitResult]) -> None:
        if self._run is not None:
            self._settings.work.status.value = status_of(self._run)
        self._offer_stored()
        self._result = job.result()
        self._tabs.show_result(self._result)
        result = self._result
        better = f"{result.better}: choose it in Model" if result.better else ""
        if said := "; ".join(filter(None, (result.underdetermined, better, result.rails))):
            self._settings.read.say(said)

    def _guarded(self, action: Any) -> None:
        """Run the action of a button, and show its error beside the buttons."""
        try:
            action()
        except WorkbenchError as error:
            if not isinstance(error, ConfigurationError):
                self._settings.work.error.say(str(error))
