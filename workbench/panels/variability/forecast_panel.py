"""The panel of forecasts: how long the next steps take, why, and how far that can be trusted.

panel = ForecastPanel()                             # a recording of a shared link
panel.run, panel.at = 3, 30                         # the next steps of a run after 30 steps
panel.m, panel.k = 8, 10; panel.wait()              # other windows
panel.source = "own"; panel.take_steps("steps.csv")
"""

from __future__ import annotations

import json
from collections.abc import Hashable, Mapping
from dataclasses import fields
from functools import partial
from pathlib import Path
from typing import Any

import ipywidgets as widgets
import numpy as np
from bokeh.models import Div, LayoutDOM

from workbench import tasks
from workbench.errors import ParameterError
from workbench.panels import inputs
from workbench.panels.background_figure import BackgroundFigure
from workbench.panels.cache import KEPT_RESULTS, Cache
from workbench.panels.error_line import ErrorLine
from workbench.panels.export_tab import ExportTab, write_file
from workbench.panels.job_controls import JobControls, error_text
from workbench.panels.live_view import Downloads, LiveView, ShownDownloads
from workbench.panels.mute import Mute
from workbench.panels.number_field import check_all, errors_of
from workbench.panels.panel import Panel
from workbench.panels.session.session import Files, OwnFiles
from workbench.panels.session.stateful import drawn_once
from workbench.panels.style import choose, mark_stale, wrapping_row
from workbench.panels.variability.blame_controls import (
    WORLD,
    WORLD_IS_MADE,
    WORLD_IS_MISSING,
    StepScale,
    step_slider,
)
from workbench.panels.variability.blame_state import EMULATED, GENERATED, OWN, OwnFile
from workbench.panels.variability.blame_view import sentences
from workbench.panels.variability.forecast_controls import ASKED, OF_DEVIATION, forecast_controls
from workbench.panels.variability.forecast_state import (
    BEST,
    ForecastState,
    feature_choices,
    forecast_call,
    python_lines,
)
from workbench.panels.variability.forecast_studies import RUN, STUDIES, VIEWS, Shown, Study, Work
from workbench.panels.variability.forecast_view import (
    RunForecastView,
    describe_moment,
    errors_table,
    forecast_frame,
    has_forecast,
    moments,
    result_table,
)
from workbench.panels.variability.forecast_work import is_whole, make_forecast
from workbench.panels.variability.own_blame_tables import file_content, take_file
from workbench.panels.variability.own_table import OwnTable
from workbench.panels.variability.step_sources import StepSource, emulated_steps, made_steps
from workbench.panels.variability.table_columns import STEP_COLUMNS, first_rows
from workbench.variability import Forecast, StepTable, read_steps
from workbench.variability.forecasting.forecast import MODELS

_SETTINGS = tuple(one.name for one in fields(ForecastState))
_EXPLAINED = (
    "Upload a table of steps: a row a step with run, step, time_s and counters, or a row a reading "
    "with run, step, counter and value. Other names of columns can be chosen after the upload."
)
_WORLD_READY = "A world is made in some seconds."
_EXPORTS = {
    ".csv": "the table of what is shown: all forecasts, or the rows of the figure",
    ".json": "settings, the result that is shown, and the code that makes it",
}


class ForecastPanel(Panel[Forecast | None]):
    """Forecast how long the next steps of runs take, and see what that relies on.

    Args:
        source: of the steps: ``emulated``, ``generated`` or ``own``.

    Raises:
        ParameterError: there is no such source.
    """

    SETTINGS = _SETTINGS

    def __init__(self, source: str = EMULATED) -> None:
        super().__init__()
        self._mute = Mute()
        self._source: StepSource | None = None
        self._last: dict[str, StepSource] = {}  # by where they come from
        self._found: Cache[Forecast] = Cache(KEPT_RESULTS)
        self._results: Cache[Shown] = Cache(KEPT_RESULTS)
        self._downloads: Cache[Downloads] = Cache(KEPT_RESULTS)
        self._forecasting: Hashable = None
        self._step = step_slider(
            lambda: self._error.guard(self._take_moment),
            "Steps passed",
            "Steps of the run that have passed",
        )
        self._controls = forecast_controls(self._step, VIEWS)
        choose(self._controls["source"], "source", source)
        self._error = ErrorLine()
        self._making: JobControls[StepSource] = JobControls(
            ("▶ Generate", "Make this world", "110px"),
            "Stop; the runs so far stay",
            _WORLD_READY,
            lock=partial(self._lock_controls, WORLD),
            ended=self._made,
            failed=self._making_failed,
        )
        self._work: JobControls[Forecast] = JobControls(
            ("▶ Forecast", "Train all models and forecast each run", "110px"),
            "Stop; the forecasts by ridge stay",
            "",
            lock=lambda running: None,
            ended=self._forecast_ended,
            failed=self._forecast_failed,
        )
        self._own: OwnTable[StepTable] = OwnTable(
            "steps",
            STEP_COLUMNS,
            lambda path, columns: read_steps(
                path, columns=columns, zone=self._controls["zone"].value
            ),
            first_rows,
            self._own_changed,
        )
        self._view = RunForecastView(partial(self._clicked, "at"))
        self._figure = BackgroundFigure(self._ticker.start)
        self._reading, self._table = widgets.HTML(), widgets.HTML()
        self._place = widgets.VBox(layout=widgets.Layout(width="100%"))
        self._python: Any = inputs.Textarea(
            rows=8, layout=widgets.Layout(width="98%", height="auto")
        )
        self.widget = self._lay_out()
        self._connect()
        self._take_source()

    @property
    def state(self) -> ForecastState:
        """The state of the controls."""
        return ForecastState(**{name: control.value for name, control in self.controls.items()})

    @property
    def controls(self) -> Mapping[str, Any]:
        """The controls of the settings, by name."""
        return self._controls

    @property
    def steps(self) -> StepTable | None:
        """The steps that are shown; None before there are any."""
        return None if self._source is None else self._source.steps

    @property
    def found(self) -> Forecast | None:
        """The forecast of the present choice; None before it is there."""
        return self._found.get(self._choice)

    @property
    def result(self) -> Shown | None:
        """What the present view shows; None before it is computed."""
        study = self._study
        return self.found if study is None else self._results.get(self._study_key(study))

    @property
    def python(self) -> str:
        """Python code that makes what is shown."""
        source, state, study = self._source, self.state, self._study
        if source is None:
            return ""
        if study is not None:
            return python_lines(state, source, study.code(self._study_work()))
        found = self.found
        every = found is None or is_whole(found)
        name = source.steps.run[state.run]
        call = forecast_call(state, every)
        model = "" if found is None else f', model="{self._model_of(found)}"'
        drawn = f"plotting.plot_run_forecast(found, steps, {name!r}, at={state.at}{model})"
        return python_lines(state, source, [call, f"figure = {drawn}"])

    def generate(self) -> tasks.Job[StepSource]:
        """Make the world of the controls in the background.

        Raises:
            ParameterError: a number is not accepted.
        """
        if self._making.job is not None:
            return self._making.job
        check_all(self._controls[name] for name in WORLD)
        self._making_of = self.state.settings
        job = tasks.submit(made_steps, self._making_of)
        self._making.begin(job, lambda: (job.progress.fraction, job.progress.message))
        self._ticker.start()
        return job

    def forecast(self) -> tasks.Job[Forecast] | None:
        """Forecast in the background, by all models; None where there are no steps yet.

        Raises:
            ParameterError: a number is not accepted.
        """
        source, state = self._source, self.state
        if source is None:
            return None
        check_all(self._controls[name] for name in ("m", "k"))
        self._work.drop()
        job = tasks.submit(make_forecast, source, state)
        self._forecasting = self._choice
        self._work.begin(job, lambda: (job.progress.fraction, job.progress.message))
        self._ticker.start()
        return job

    def stop(self) -> None:
        """Stop what runs: a world, a forecast or a figure; what is there stays."""
        self._making.stop()
        self._work.stop()
        self._figure.stop()

    def take_steps(self, path: str | Path, columns: Mapping[str, str] | None = None) -> None:
        """Read a file of steps, as an upload does.

        Args:
            path: the file.
            columns: the file's names of our columns, where they differ and are not guessed.

        Raises:
            ParameterError: the file is no table of steps.
        """
        source = Path(path)
        data = file_content(source)
        self._set("source", OWN)
        take_file(self._own, source.name, data, columns or {})

    def save(self, path: str | Path) -> Path:
        """Write ``.csv`` (the table of what is shown) or ``.json`` (settings and result).

        Args:
            path: file to write.

        Raises:
            ParameterError: the suffix is none of these, or nothing is shown.
        """
        return write_file(path, _EXPORTS, self._file)

    def __repr__(self) -> str:
        shown = "nothing yet" if self._source is None else f"{self._source.steps!r}"
        return f"ForecastPanel({self.state.source}, {self.state.view}: {shown})"

    @property
    def _choice(self) -> Hashable:
        source = self._source
        return None if source is None else (source.serial, self.state.asked)

    @property
    def _study(self) -> Study | None:
        """What the present view computes; None for the view of a run."""
        return STUDIES.get(self._controls["view"].value)

    def _study_work(self) -> Work:
        source = self._source
        if source is None:
            raise ParameterError("there are no steps yet", key="source")
        return Work(source, self.state, self.found)

    def _study_key(self, study: Study) -> Hashable:
        source, found = self._source, self.found
        if source is None:
            return None
        models = found.models if study.needs_forecast and found is not None else ()
        return self._controls["view"].value, source.serial, study.depends(self.state), models

    def _model_of(self, found: Forecast) -> str:
        model = self._controls["model"].value
        return model if model in found.models else found.best

    def _saved_names(self) -> tuple[str, ...]:
        first = ("source", *WORLD, "zone", "columns", *ASKED, "view", "run", "at", "model")
        return (*first, *(name for name in self.SETTINGS if name not in first))

    def _late_names(self, settings: Mapping[str, Any]) -> tuple[str, ...]:
        # The moments and models are those of a forecast, all else of the steps, once they are made.
        made = settings.get("source") == GENERATED
        return ("at", "model", *((*ASKED, "view", "run") if made else ()))

    def _saved(self, name: str) -> Any:
        return self._own.mapping() if name == "columns" else super()._saved(name)

    def _restore(self, name: str, value: Any) -> None:
        if name != "columns":
            super()._restore(name, tuple(value) if isinstance(value, list) else value)
        elif value:
            self._own.choose_columns(value)

    def _own_files(self) -> OwnFiles:
        return {"steps": self._own.files()} if self._controls["source"].value == OWN else {}

    def _take_own_files(self, use: str, name: str, files: Files) -> None:
        if use != "steps":
            super()._take_own_files(use, name, files)
        ((file, data),) = files.items()
        self._own.take(file, data)

    def _restored(self) -> None:
        source = self._source
        world = None if source is None or source.world is None else source.world.settings
        making = self._making_of if self._making.job is not None else world
        wanted = self.state.settings
        if self._controls["source"].value == GENERATED and wanted != making:
            self._making.drop()
            self._making.error.guard(self.generate)

    def _live_views(self) -> tuple[LiveView, ...]:
        return (self._view.view, *self._figure.views, self._carrier)

    def _outcome(self) -> Forecast | None:
        return self.found

    def _errors(self) -> list[ErrorLine]:
        own = (
            self._error,
            self._making.error,
            self._own.error,
            self._work.error,
            self._step.error,
            self._figure.error,
            self._export.error,
        )
        return [*own, *errors_of(self._controls.values())]

    def _jobs(self) -> list[tasks.Job[Any] | None]:
        return [self._making.job, self._work.job]

    def _refresh(self) -> bool:
        making = self._making.refresh()
        job = self._work.job
        forecasting = self._work.refresh()
        so_far = job.partial if forecasting and job is not None else None
        if so_far is not None and self._found.get(self._forecasting) is None:
            self._keep(so_far)
        was_drawing = self._figure.busy
        drawing = self._figure.refresh()
        if was_drawing and not drawing:
            self._show_tabs()
        return making or forecasting or drawing

    def _lay_out(self) -> Any:
        c, work = self._controls, self._work
        carrier = Div(text="", height=1)
        self._carrier = LiveView(carrier)
        downloads = ShownDownloads(carrier, self._shown_downloads)
        self._export = ExportTab(
            _EXPORTS, self._file, {"": (downloads, self._stem)}, lambda _: self._caption()
        )
        self._tabs = inputs.Tab(
            [self._table, self._python, self._export.widget],
            titles=("Table", "Python", "Export"),
            selected_index=0,
            layout=widgets.Layout(width="100%"),
        )
        making = self._making
        self._made_box = widgets.VBox(
            [
                wrapping_row(c["preset"], c["application"], c["runs"], c["seed"]),
                wrapping_row(c["interference"], making.start, making.stop_button, making.state),
                making.error,
            ]
        )
        self._own_box = widgets.VBox([wrapping_row(c["zone"]), self._own.widget])
        self._asked = wrapping_row(*(c[name] for name in ASKED))
        self._run_row = wrapping_row(work.start, work.stop_button, work.state)
        self._of_view = wrapping_row(
            c["run"], c["model"], *(c[name] for name in OF_DEVIATION), c["models"]
        )
        return self._boxed(
            [
                c["source"],
                self._made_box,
                self._own_box,
                self._asked,
                self._run_row,
                work.error,
                c["view"],
                self._of_view,
                self._step.widget,
                self._error,
                self._reading,
                self._place,
                self._figure.widget,
                self._tabs,
                self._carrier,
            ]
        )

    def _connect(self) -> None:
        c = self._controls
        for name in ("run", "model", "view", *OF_DEVIATION, "models"):
            c[name].observe(lambda _: self._error.guard(self._take), "value")
        for name in ASKED:
            c[name].observe(lambda _: self._error.guard(self._take_asked), "value")
        c["zone"].observe(lambda _: self._error.guard(self._own.read_again), "value")
        c["source"].observe(lambda _: self._error.guard(self._take_source), "value")
        self._making.start.on_click(lambda _: self._making.error.guard(self.generate))
        self._work.start.on_click(lambda _: self._work.error.guard(self.forecast))
        self._tabs.observe(lambda _: self._show_tabs(), "selected_index")

    def _take_source(self) -> None:
        """Show the steps that come from there, make them, or ask for them."""
        self._error.say("")
        source = self._controls["source"].value
        if source == EMULATED and source not in self._last:
            self._last[source] = emulated_steps()
        self._take_steps(self._last.get(source))
        if source == GENERATED and self._source is None:
            self.generate()
            self._show()

    def _own_changed(self) -> None:
        """Show the user's steps once they are read."""
        self._last.pop(OWN, None)
        table = self._own.table
        if table is not None:
            self._last[OWN] = StepSource(
                table, file=OwnFile(self._own.file_name, self._own.columns)
            )
        if self._controls["source"].value == OWN:
            self._take_steps(self._last.get(OWN))

    def _made(self, job: tasks.Job[StepSource]) -> None:
        made = job.result()
        word = "stopped" if job.state == "stopped" else "done"
        self._making.status.value = f"{word} in {job.elapsed_s:.0f} s: {len(made.steps)} runs"
        self._last[GENERATED] = made
        if self._controls["source"].value == GENERATED:
            self._take_steps(made)

    def _making_failed(self, error: BaseException) -> None:
        if not self._making.refused(error):
            self._making.error.say(error_text(error))
        self._take()

    def _take_steps(self, source: StepSource | None) -> None:
        """Show other steps, with their own windows and features, and forecast."""
        self._source = source
        self._drop()
        if source is not None:
            c, total = self._controls, np.nansum(source.steps.time_s, axis=1)
            more = 100 * (total / total.mean() - 1)
            names = [
                (f"{name}: {total[at]:.4g} s, {more[at]:+.0f} %", at)
                for at, name in enumerate(source.steps.run)
            ]
            names.sort(key=lambda pair: -total[pair[1]])
            with self._mute:
                c["run"].options = names
                c["run"].value = names[0][1]
                features = feature_choices(source.steps)
                c["features"].options = features
                c["features"].value = features[0][1]
                seen, ahead = c["m"].value, c["k"].value = source.windows
                last = max(seen, source.steps.steps - ahead)
                self._step.offer(StepScale(last, seen), (seen + last) // 2)
        self._take()

    def _take_asked(self) -> None:
        """Show another choice; what is forecast for the earlier one is not needed any more."""
        if self._mute.on:
            return
        self._drop()
        self._take()

    def _drop(self) -> None:
        """Stop and forget the forecast that is being made."""
        self._work.drop()
        self._work.status.value, self._forecasting = "", None

    def _forecast_if_needed(self) -> None:
        """Forecast where the present view shows a forecast and there is none, or a stopped one."""
        study, found = self._study, self.found
        needed = self._source is not None and (study is None or study.needs_forecast)
        tried = self._forecasting == self._choice
        if needed and not tried and (found is None or not is_whole(found)):
            self._work.error.guard(self.forecast)

    def _forecast_ended(self, job: tasks.Job[Forecast]) -> None:
        found = job.result()
        word = "all models" if is_whole(found) else "stopped; ridge only"
        self._work.status.value = f"{word}, {job.elapsed_s:.0f} s"
        self._keep(found)

    def _forecast_failed(self, error: BaseException) -> None:
        if not self._work.refused(error):
            self._work.error.say(error_text(error))

    def _keep(self, found: Forecast) -> None:
        """Keep a forecast, and show it if it is the chosen one."""
        self._found.keep(self._forecasting, found)
        if self._forecasting == self._choice:
            self._take()

    def _offer(self, found: Forecast) -> None:
        """Offer the models of a forecast, and the steps after which the run is forecast."""
        c = self._controls
        errors = dict(zip(found.models, found.mape, strict=True))
        order = sorted(errors, key=lambda name: errors[name])
        options = [
            (f"the best one: {found.best}", BEST),
            *((f"{name}, {errors[name]:.1f} % off", name) for name in order),
            *((f"{name}, not there yet", name) for name in MODELS if name not in errors),
        ]
        self._mute.set(c["model"], c["model"].value, options=options)
        first, last = moments(found, c["run"].value)
        if last:
            with self._mute:
                at = self._step.value
                middle = (first + last) // 2
                self._step.offer(StepScale(last, first), at if first <= at <= last else middle)

    @drawn_once
    def _take(self) -> None:
        """Show the present choice."""
        if self._mute.on:
            return
        self._error.say("")
        self._offer_views()
        self._forecast_if_needed()
        found = self.found
        if found is not None:
            self._offer(found)
        self._arrange()
        self._show()

    def _take_moment(self) -> None:
        """Draw another moment of the run."""
        if self._mute.on:
            return
        state, found = self.state, self.found
        if state.view == RUN and found is not None and has_forecast(found, state.run):
            self._view.mark(found, state.run, state.at)
            self._say()
        self._show_tabs()

    def _offer_views(self) -> None:
        """Offer the views that the steps have: causes are known of a made-up world only."""
        c, has_world = self._controls, self._source is not None and self._source.world is not None
        known = {
            text: name
            for text, name in VIEWS.items()
            if name == RUN or not STUDIES[name].needs_world or has_world
        }
        if list(c["view"].options) != list(known.items()):
            view = c["view"].value
            self._mute.set(
                c["view"], view if view in known.values() else RUN, options=list(known.items())
            )

    def _arrange(self) -> None:
        """Show the controls and the place of the present view."""
        c, there = self._controls, self._source is not None
        source, found = c["source"].value, self.found

        def shown(box: Any, whether: bool) -> None:
            box.layout.display = "" if whether else "none"

        shown(self._made_box, source == GENERATED)
        shown(self._own_box, source == OWN)
        for box in (c["view"], self._tabs):
            shown(box, there)
        study, of_run = self._study, c["view"].value == RUN
        asked = ("run", "model", *ASKED) if study is None else study.settings
        for name in ("run", "model", *ASKED, *OF_DEVIATION, "models"):
            shown(c[name], there and name in asked)
        shown(self._run_row, there and (study is None or study.needs_forecast))
        if source == GENERATED and not of_run:
            shown(c["run"], False)
        there_is_one = found is not None and has_forecast(found, c["run"].value)
        shown(self._step.widget, there and of_run and there_is_one)
        shown(self._place, of_run)
        shown(self._figure.widget, not of_run)

    def _show(self) -> None:
        source, state, found, study = self._source, self.state, self.found, self._study
        if source is None:
            self._place.children = []
            self._figure.clear()
            self._reading.value = sentences(self._missing(), "")
            self._table.value = self._python.value = ""
            return
        if study is None:
            model = "" if found is None else self._model_of(found)
            self._view.show(source.steps, found, state.run, state.at, model)
            if self._place.children != (self._view.view,):
                self._view.view.renew()
                self._place.children = [self._view.view]
            if found is None:
                mark_stale(self._place, True)
            else:
                mark_stale(self._place, False)
        else:
            self._want(study)
        self._say()
        self._show_tabs()

    def _missing(self) -> str:
        """Return what to do where there are no steps yet."""
        if self._controls["source"].value == OWN:
            return _EXPLAINED
        return WORLD_IS_MADE if self._making.job is not None else WORLD_IS_MISSING

    def _want(self, study: Study) -> None:
        """Compute and draw what a view shows, unless it waits for the forecast."""
        work, key = self._study_work(), self._study_key(study)
        if study.needs_forecast and work.found is None:
            self._figure.clear("The forecast is being computed.")
            return

        def draw(task: tasks.Task) -> LayoutDOM:
            result = self._results.made(key, lambda: study.compute(work, task))
            layout = result.plot()
            self._downloads.keep(key, Downloads(layout))
            return layout

        self._figure.want(key, draw)

    def _say(self) -> None:
        source, state, study, found = self._source, self.state, self._study, self.found
        if source is None:
            return
        if study is not None:
            text = study.about
        else:
            model = "" if found is None else self._model_of(found)
            text = describe_moment(source.steps, found, state.run, state.at, model)
        self._reading.value = sentences(text, self._caption())

    def _show_tabs(self) -> None:
        """Write the table and the code where they are seen."""
        if self._source is None:
            return
        title = self._tabs.titles[self._tabs.selected_index or 0]
        if title == "Table":
            result = self.result
            if result is None:
                self._table.value = "The table comes with the figure."
            elif isinstance(result, Forecast):
                self._table.value = errors_table(result)
            else:
                self._table.value = result_table(result.to_frame())
        elif title == "Python":
            self._python.value = self.python

    def _clicked(self, name: str, value: int) -> None:
        self._error.guard(lambda: self._set(name, value))

    def _lock_controls(self, names: tuple[str, ...], running: bool) -> None:
        for name in names:
            self._controls[name].disabled = running

    def _caption(self) -> str:
        return "" if self._source is None else f"Data: {self._source.provenance.caption()}."

    def _shown_downloads(self) -> Downloads | None:
        study = self._study
        return (
            self._view.downloads if study is None else self._downloads.get(self._study_key(study))
        )

    def _stem(self) -> str:
        return f"{self.state.source}-{self.state.view}"

    def _file(self, suffix: str) -> tuple[str, str]:
        result, study = self.result, self._study
        if result is None:
            raise ParameterError("what is shown is not computed yet; wait for it", key="path")
        if suffix == ".csv":
            frame = result.to_frame() if study or self.found is None else forecast_frame(self.found)
            return self._stem(), str(frame.to_csv(index=False))
        content = {
            "data": self._study_work().source.provenance.to_dict(),
            "shown": vars(self.state),
            "result": result.to_dict(),
            "python": self.python,
        }
        return self._stem(), json.dumps(content, indent=1, default=str) + "\n"
