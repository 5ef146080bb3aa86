"""The panel that fits a model to a machine: see its curves, drag a parameter, start a fit, export.

What a button does is a method of the same name, and what a slider holds is an attribute:

    panel = FitPanel()
    panel.machine = "azure-hb96v3-hdr"
    panel.injection_latency = "300ns"        # or 3e-7, or panel.set("node.nic...", ...)
    panel.run(); panel.wait(); panel.use_fitted()
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import ipywidgets as widgets

from workbench import datasets
from workbench.errors import ConfigurationError, ParameterError, ParseError, WorkbenchError
from workbench.fit import FitResult
from workbench.measure import OSUCurve, read_osu
from workbench.models import NetworkModel
from workbench.models.parameter import Value
from workbench.panels.controls import ErrorLine, ParameterControls
from workbench.panels.fit.exports import Shown, Which
from workbench.panels.fit.fitting import FitRun, next_request, status_of
from workbench.panels.fit.picture import CurvePicture
from workbench.panels.fit.settings import DEFAULT_STUDY, READY, Settings
from workbench.panels.fit.simulating import EARLIER, Simulating
from workbench.panels.fit.state import FitState, curve_line, fit_line, opening_model
from workbench.panels.fit.tabs import FitTabs
from workbench.panels.live import renew
from workbench.panels.number_field import check_all, errors_of
from workbench.panels.running import wait_for, worded
from workbench.panels.style import STALE, panel_box
from workbench.panels.ticker import Ticker

DEFAULT_MACHINE = "azure-hb96v3-hdr"
_SETTINGS = (
    "machine",
    "kind",
    "variant",
    "loss",
    "target",
    "engine",
    "trials",
    "seed",
    "held",
    "study",
)


class FitPanel:
    """Fit a network model to a machine, by hand and by search.

    Args:
        machine: name of a shipped machine, see `workbench.datasets.list`.
        model: ``snappr``, ``hybrid``, ``logp``, ``pisces`` or ``protocol``.
        height: height of the two curve figures in pixels.

    Raises:
        DatasetError: there is no such machine.
    """

    def __init__(
        self, machine: str = DEFAULT_MACHINE, model: str = "snappr", *, height: int = 250
    ) -> None:
        # Callbacks may come from more than one thread of the kernel; one at a time may act.
        self._lock = threading.RLock()
        self._uploads: dict[str, tuple[OSUCurve, str]] = {}
        measured = datasets.load(machine)
        self._state = FitState(
            machine,
            f'datasets.load("{machine}")',
            measured,
            model,
            opening_model(model, measured),
            study=DEFAULT_STUDY,
        )
        self._shown: tuple[FitState, OSUCurve] | None = None
        self._simulated = self._state
        self._refused: BaseException | None = None
        self._run: FitRun | None = None
        self._ended: FitRun | None = None
        self._result: FitResult | None = None
        self._settings = Settings([(n, n) for n in datasets.list()], machine)
        self._settings.controls["kind"].value = model
        self._picture = CurvePicture(measured, size=self._state.size, height=height)
        self._controls = ParameterControls(self._state.model, self._parameter_changed)
        self._error = ErrorLine()
        self._simulating = Simulating(self._draw, self._refuse, self._mark_stale, self._locked)
        self._ticker = Ticker(self.refresh)
        self._tabs = FitTabs(self._picture.downloads, self._shown_now, self._ticker.start)
        self._connect()
        self.widget = self._lay_out()
        self._settings.lock(False)
        self._settings.offer_variant(self._state.model)
        self._redraw()
        # Beside a busy machine also a quick curve may be late, and a panel opens with one.
        self._simulating.wait()

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
    def running(self) -> bool:
        """Whether a fit or a long simulation runs."""
        return self._simulating.running or (self._run is not None and self._run.running)

    @property
    def python(self) -> str:
        """Python code that computes the displayed curve, as ``curve``."""
        return self._shown_now().python

    @property
    def error(self) -> str:
        """The error messages that the panel shows, empty where there are none."""
        lines = [self._settings.machine_error, self._settings.fit_error, self._error]
        lines.append(self._tabs.error)
        lines += errors_of(self._settings.controls.values())
        lines += [control.error for control in self._controls.controls.values()]
        return "\n".join(line.message for line in lines if line.message)

    @property
    def export(self) -> Which:
        """The model in files: ``fitted``, chosen automatically after a fit, or ``sliders``."""
        which: Which = self._tabs.which.value
        return which

    def set(self, key: str, value: Value) -> None:
        """Move a slider: by SST/macro's key, attribute path or its last word.

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
        keyed = {self._controls.key_of(name): value for name, value in values.items()}
        self.use(self._state.model.with_values(keyed))

    def use(self, model: NetworkModel) -> None:
        """Set all sliders to a model of the displayed kind.

        What takes long is simulated in the background, see `wait`.

        Args:
            model: such as ``panel.result.model``.

        Raises:
            ConfigurationError: the values would deadlock together; the picture stays as it was.
        """
        with self._lock:
            self._state = replace(self._state, model=model)
            self._controls.rebuild(model)
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
        self._stop_fit()

    def wait(self, timeout: float | None = None) -> FitResult | None:
        """Wait until fit and simulation are finished, and return the fit's result.

        Args:
            timeout: seconds to wait at most; None waits as long as it takes.
        """

        def follow() -> bool:
            simulates = self._simulating.refresh()
            return self._follow() or simulates

        wait_for(follow, timeout)
        return self._result

    def refresh(self) -> bool:
        """Update progress and results, and return whether a job runs; called by the kernel."""
        with self._lock:
            follows = self._follow()
            return self._tabs.refresh() or follows

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
        return self._tabs.save(Path(path))

    def upload(self, files: Mapping[str, str | bytes]) -> None:
        """Draw measurements from the output of the OSU micro-benchmarks.

        Args:
            files: what each file holds, by its name.

        Raises:
            ParseError: no table could be read.
        """
        with self._lock:
            curve = read_osu(*files.items(), name=Path(next(iter(files))).stem)
            source = f"measure.read_osu({', '.join(repr(name) for name in files)})"
            self._uploads[curve.name] = (curve, source)
            self._settings.add_machine(f"{curve.name} (uploaded)", curve.name)
            self._machine_changed(curve.name)
            self._settings.machine_error.say("; ".join(curve.notes))

    def _repr_mimebundle_(self, **options: Any) -> Any:
        renew(self._picture.view, *self._tabs.views())
        return self.widget._repr_mimebundle_(**options)

    def __repr__(self) -> str:
        fit = f", {self._result!r}" if self._result is not None else ""
        return f"FitPanel({self._state.machine}, {self._state.model!r}{fit})"

    def __dir__(self) -> list[str]:
        names = [c.described.path.rpartition(".")[2] for c in self._controls.controls.values()]
        return sorted({*super().__dir__(), *_SETTINGS, *names})

    def __getattr__(self, name: str) -> Any:
        parts = self.__dict__
        if name.startswith("_") or "_controls" not in parts:
            raise AttributeError(name)
        if name in _SETTINGS:
            return parts["_settings"].controls[name].value
        try:
            key = parts["_controls"].key_of(name)
        except ParameterError as error:
            raise AttributeError(str(error)) from None
        return self._state.model.get(key)

    def __setattr__(self, name: str, value: Any) -> None:
        if name.startswith("_") or name == "widget":
            object.__setattr__(self, name, value)
        elif name in _SETTINGS:
            self._settings.set(name, value)
        elif name == "model":
            self._settings.set("kind", value)
        elif name == "export":
            self._export(value)
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
        settings.upload.observe(self._uploaded, "value")
        settings.start.on_click(lambda _: self._guarded(self.run))
        settings.resume.on_click(lambda _: self._guarded(self.resume))
        settings.stop.on_click(lambda _: self._stop_fit())
        self._tabs.use.on_click(lambda _: self._guarded(self.use_fitted))
        self._picture.size.observe(self._size_changed, "value")

    def _lay_out(self) -> Any:
        reset = widgets.Button(description="Reset parameters", layout=widgets.Layout(width="140px"))
        reset.on_click(lambda _: self._guarded(self.reset))
        left = widgets.VBox(
            [self._controls.widget, widgets.HBox([reset, self._tabs.use])],
            layout=widgets.Layout(width="352px", flex="0 0 auto", margin="0 8px 0 0"),
        )
        right = widgets.VBox(
            [self._error, self._simulating.widget, self._picture.widget],
            layout=widgets.Layout(flex="1 1 auto", min_width="480px", overflow="hidden"),
        )
        body = widgets.HBox([left, right], layout=widgets.Layout(width="100%"))
        return panel_box([self._settings.widget, body, self._tabs.widget])

    def _opening(self) -> NetworkModel:
        state = self._state
        return opening_model(state.kind, state.measured, state.model.variant)

    def _shown_now(self) -> Shown:
        if self._shown is None:
            raise ParameterError(
                "no curve is shown yet; wait for the simulation or correct the values",
                key="",
            )
        state, curve = self._shown
        result = self._result
        fitted = "" if result is None else curve_line(replace(state, model=result.model))
        return Shown(
            state.measured,
            state.model,
            curve,
            result,
            curve_line(state),
            self._tabs.which.value,
            fitted,
        )

    def _parameter_changed(self, key: str, value: Value) -> None:
        with self._lock:
            try:
                model = self._state.model.with_values({key: value})
            except ParameterError as error:
                self._controls.say({key: str(error)})
                return
            self._state = replace(self._state, model=model)
            self._controls.enable()
            self._redraw()

    def _redraw(self) -> None:
        """Simulate the state: a quick one is drawn at once, a long one runs in the background."""
        with self._lock:
            self._simulated, self._refused = self._state, None
            self._error.say("")
            self._controls.say({})
            self._simulating.begin(self._state.model, self._state.measured.sizes.tolist())

    def _draw(self, curve: OSUCurve) -> None:
        state = self._simulated
        self._shown = (state, curve)
        self._tabs.error.say("")
        self._tabs.say_files_of(state.model)
        # In one go: of two writes to one source in a row the page may keep the first.
        if self._picture.measured is not state.measured:
            self._picture.show_machine(state.measured, curve)
        else:
            self._picture.draw(curve)
        self._tabs.show_python(curve_line(state), fit_line(self._state))

    def _refuse(self, error: BaseException) -> None:
        """Show an error at the first slider it names, else above the figures."""
        self._refused = error
        keys = [key for key in getattr(error, "keys", ()) if key in self._controls.controls]
        message = f"{worded(error)}; {EARLIER}"
        if keys:
            self._controls.say({keys[0]: message})
        else:
            self._error.say(message)

    def _mark_stale(self, stale: bool) -> None:
        measured = self._simulated.measured
        if stale and self._picture.measured is not measured:
            # Files must not hold the earlier machine under the picture of this one.
            self._shown = None
            self._picture.show_machine(measured, None)
        view = self._picture.widget
        (view.add_class if stale else view.remove_class)(STALE)

    def _locked(self, action: Callable[[], bool]) -> bool:
        with self._lock:
            return action()

    def _stop_fit(self) -> None:
        if self._run is not None:
            self._run.stop()
            self.refresh()

    def _setting_changed(self, name: str, value: Any) -> None:
        with self._lock:
            self._settings.fit_error.say("")
            if name == "machine":
                self._machine_changed(value)
            elif name in ("kind", "variant"):
                self._kind_changed()
            else:
                self._state = replace(self._state, **{name: value})
                self._tabs.show_python(curve_line(self._state), fit_line(self._state))

    def _machine_changed(self, name: str) -> None:
        self._settings.machine_error.say("")
        try:
            curve, source = self._uploads.get(name) or (
                datasets.load(name),
                f'datasets.load("{name}")',
            )
        except WorkbenchError as error:
            self._settings.machine_error.say(str(error))
            return
        self._forget_fit()
        untouched = self._state.model == self._opening()
        self._state = replace(self._state, machine=name, measured=curve, source=source)
        if untouched:
            self._state = replace(self._state, model=self._opening())
            self._controls.rebuild(self._state.model)
        self._redraw()

    def _kind_changed(self) -> None:
        settings = self._settings.controls
        self._forget_fit()
        kind, variant = settings["kind"].value, settings["variant"].value
        same = kind == self._state.kind
        # Another variant of the same model keeps the values that were dialled in.
        model = (
            self._state.model.replace(variant=variant)
            if same
            else opening_model(kind, self._state.measured, variant)
        )
        self._settings.offer_variant(model)
        self._state = replace(self._state, kind=kind, model=model)
        self._controls.rebuild(model)
        self._picture.forget_fit()
        self._redraw()

    def _forget_fit(self) -> None:
        self._run = self._result = None
        self._tabs.clear()
        self._settings.progress.value = 0.0
        self._settings.status.value = READY

    def _size_changed(self, change: Any) -> None:
        if change["new"] is not None:
            self._state = replace(self._state, size=change["new"])

    def _uploaded(self, change: Any) -> None:
        files = {item["name"]: bytes(item["content"]) for item in change["new"]}
        if not files:
            return
        with self._lock:
            try:
                self.upload(files)
            except (ParseError, ParameterError) as error:
                self._settings.machine_error.say(str(error))
            # An empty value lets the same file be chosen again.
            self._settings.upload.value = ()

    def _begin(self, *, go_on: bool) -> FitRun:
        with self._lock:
            if self._run is not None and self._run.running:
                return self._run
            check_all(self._settings.controls.values())
            state, before = self._state, self._run if go_on else None
            request = next_request(state, go_on=go_on, before=before)
            self._settings.fit_error.say("")
            self._tabs.begin(state.loss)
            self._run = FitRun(request, go_on=go_on, after=before)
            self._settings.lock(True)
            self._settings.status.value = "starting …"
        self._ticker.start()
        return self._run

    def _follow(self) -> bool:
        """Update the progress of the fit, and return whether it still runs."""
        with self._lock:
            run = self._run
            if run is None or run is self._ended:
                return False
            finished = run.job.finished
            self._tabs.draw_convergence(run)
            self._settings.progress.value = len(run.losses) / run.request.trials
            status = status_of(run)
            # Whoever reads that the fit has ended may press Start at once.
            if not run.running:
                self._settings.lock(False)
            self._settings.status.value = status
            if run.best is not None and run.best is not self._picture.fitted:
                self._picture.draw_fit(run.best)
            if finished:
                self._ended = run
                self._finish(run)
            return not finished

    def _finish(self, run: FitRun) -> None:
        if run.job.exception is not None:
            error = run.job.exception
            words = str(error) if isinstance(error, WorkbenchError) else f"{error!r}"
            self._settings.fit_error.say(words)
            self._settings.status.value = "failed"
            return
        self._result = run.job.result()
        self._tabs.show_result(self._result)

    def _guarded(self, action: Any) -> None:
        """Run the action of a button, and show its error beside the buttons."""
        try:
            action()
        except WorkbenchError as error:
            if not isinstance(error, ConfigurationError):
                self._settings.fit_error.say(str(error))
