"""The panel of blame: who slowed a run down, in a made-up world whose causes are known, or yours.

panel = BlamePanel()                                # a small world is made at once
panel.wait(); panel.run, panel.step, panel.user = 5, 30, "user-17"
panel.view = "blame"; panel.wait(); panel.found
panel.source = "own"                                # your own tables
panel.take_runs("runs.csv"); panel.take_jobs("sacct.txt")
"""

from __future__ import annotations

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
    ASKED,
    FILES,
    FIRST_APPLICATION,
    FIRST_RUNS,
    WORLD,
    WORLD_IS_MADE,
    WORLD_IS_MISSING,
    StepScale,
    blame_controls,
    step_slider,
)
from workbench.panels.variability.blame_export import EXPORTS, all_json, shown_frame
from workbench.panels.variability.blame_state import (
    BLAME,
    EMULATED,
    GENERATED,
    OWN,
    RUN,
    RUNS,
    VIEWS,
    BlameState,
    python_lines,
)
from workbench.panels.variability.blame_tables import BlameTables, emulated_tables, make_world
from workbench.panels.variability.blame_view import (
    RunsView,
    RunView,
    describe_run,
    describe_runs,
    neighbours_table,
    sentences,
)
from workbench.panels.variability.own_blame_tables import (
    EXPLAINED,
    OwnBlameTables,
    file_content,
    take_file,
)
from workbench.panels.variability.own_table import OwnTable
from workbench.panels.variability.scene_work import SceneWork
from workbench.plotting.variability.blame_methods import plot_blame_methods
from workbench.plotting.variability.world_map import NAMED_USERS
from workbench.variability import Blame, RunScene, blame

_SETTINGS = tuple(one.name for one in fields(BlameState))
_READY = "A world is made in some seconds; its runs, jobs and causes are known."
_BLAME_ABOUT = (
    "What each method makes of the tables of runs and jobs alone: a bar for each user who had a "
    "large job beside runs."
)


class BlamePanel(Panel[BlameTables | None]):
    """Look at runs and the jobs beside them, and at who is to blame for slow runs.

    Args:
        preset: of the made-up machine: ``small``, ``medium`` or ``cori``.
        application: of the runs, such as ``milc-128``.
        runs: their number.
        seed: of the world.

    Raises:
        ParameterError: there is no such preset or application, or a number is not accepted.
    """

    SETTINGS = _SETTINGS

    def __init__(
        self,
        preset: str = "small",
        *,
        application: str = FIRST_APPLICATION,
        runs: int = FIRST_RUNS,
        seed: int = 0,
    ) -> None:
        super().__init__()
        self._mute = Mute()
        self._tables: BlameTables | None = None
        self._last: dict[str, BlameTables] = {}  # by where they come from
        self._run_views: Cache[RunView] = Cache(len(VIEWS))
        self._scenes = SceneWork(self._ticker.start)
        self._offered: tuple[int, int, str] | None = None  # run, step and user, untouched
        self._found: Cache[Blame] = Cache(KEPT_RESULTS)
        self._blame_downloads: Cache[Downloads] = Cache(KEPT_RESULTS)
        self._blame_wanted = False
        self._make_controls()
        c = self._controls
        for name, value in (
            ("preset", preset),
            ("application", application),
            ("runs", runs),
            ("seed", seed),
        ):
            choose(c[name], name, value)
        self._error = ErrorLine()
        self._runs_view = RunsView(partial(self._clicked, "run"))
        self._blame_figure = BackgroundFigure(self._ticker.start)
        self._reading, self._neighbours = widgets.HTML(), widgets.HTML()
        self._place = widgets.VBox(layout=widgets.Layout(width="100%"))
        self._python: Any = inputs.Textarea(
            rows=8, layout=widgets.Layout(width="98%", height="auto")
        )
        self.widget = self._lay_out()
        self._connect()
        self._arrange()
        self.generate()

    @property
    def state(self) -> BlameState:
        """The state of the controls."""
        return BlameState(**{name: control.value for name, control in self.controls.items()})

    @property
    def controls(self) -> Mapping[str, Any]:
        """The controls of the settings, by name."""
        return self._controls

    @property
    def tables(self) -> BlameTables | None:
        """Runs and jobs that are shown, and the world they come from; None before there are any."""
        return self._tables

    @property
    def found(self) -> Blame | None:
        """Blame as it is asked for; None before it was looked at."""
        return self._found.get(self._blame_choice())

    @property
    def python(self) -> str:
        """Python code that makes what is shown."""
        tables, state = self._tables, self.state
        if tables is None:
            return ""
        column = tables.column(state.user) if state.user else -1
        near = tables.beside
        name = "" if near is None or column < 0 else ", ".join(near.users[column])
        settings = None if tables.world is None else tables.world.settings
        first = tables.worst(state.run)[:NAMED_USERS]
        return python_lines(state, settings, tables.files, name, first, tables.runs.run[state.run])

    def generate(self) -> tasks.Job[BlameTables]:
        """Make the world of the controls in the background, and what each user did in truth.

        Raises:
            ParameterError: a number is not accepted.
        """
        if self._work.job is not None:
            return self._work.job
        check_all(self._controls[name] for name in WORLD)
        self._making = self.state.settings
        job = tasks.submit(make_world, self._making)
        self._work.begin(job, lambda: (job.progress.fraction, job.progress.message))
        self._ticker.start()
        return job

    def stop(self) -> None:
        """Stop making a world, or a figure; the runs so far stay."""
        self._work.stop()
        self._blame_figure.stop()

    def take_runs(self, path: str | Path, columns: Mapping[str, str] | None = None) -> None:
        """Read a file of runs, as an upload does.

        Args:
            path: the file.
            columns: the file's names of our columns, where they differ and are not guessed.

        Raises:
            ParameterError: the file is no table of runs.
        """
        self._take_own(self._own.runs, path, columns)

    def take_jobs(self, path: str | Path, columns: Mapping[str, str] | None = None) -> None:
        """Read a file of jobs, or what sacct prints, as an upload does.

        Args:
            path: the file.
            columns: as for `take_runs`.

        Raises:
            ParameterError: the file is no job log.
        """
        self._take_own(self._own.jobs, path, columns)

    def take_steps(self, path: str | Path, columns: Mapping[str, str] | None = None) -> None:
        """Read a file of the runs' steps, as an upload does.

        Args:
            path: the file.
            columns: as for `take_runs`.

        Raises:
            ParameterError: the file is no table of steps.
        """
        self._take_own(self._own.steps, path, columns)

    def save(self, path: str | Path) -> Path:
        """Write ``.csv`` (the table of what is shown) or ``.json`` (settings, blame, truth).

        Args:
            path: file to write.

        Raises:
            ParameterError: the suffix is none of these, or nothing is shown.
        """
        return write_file(path, EXPORTS, self._file)

    def __repr__(self) -> str:
        state = self.state
        shown = "nothing yet" if self._tables is None else f"{self._tables.runs!r}"
        return f"BlamePanel({state.source}, {state.view}: {shown})"

    def _saved_names(self) -> tuple[str, ...]:
        first = ("source", *WORLD, *FILES, "columns", "view", "run", "user", "step")
        return (*first, *(name for name in self.SETTINGS if name not in first))

    def _late_names(self, settings: Mapping[str, Any]) -> tuple[str, ...]:
        # A world has its runs and users once it is made.
        return ("run", "user", "step")

    def _saved(self, name: str) -> Any:
        if name == "columns":
            return {use: table.mapping() for use, table in self._own.by_use.items()}
        return super()._saved(name)

    def _restore(self, name: str, value: Any) -> None:
        if name != "columns":
            super()._restore(name, value)
            return
        for use, columns in value.items():
            if columns and columns != self._own.by_use[use].mapping():
                self._own.by_use[use].choose_columns(columns)

    def _own_files(self) -> OwnFiles:
        if self._controls["source"].value != OWN:
            return {}
        return {use: table.files() for use, table in self._own.by_use.items()}

    def _take_own_files(self, use: str, name: str, files: Files) -> None:
        if use not in self._own.by_use:
            super()._take_own_files(use, name, files)
        ((file, data),) = files.items()
        self._own.by_use[use].take(file, data)

    def _restored(self) -> None:
        made = None if self._tables is None else self._tables.world
        shown = None if made is None else made.settings
        wanted = self.state.settings
        making = self._making if self._work.job is not None else shown
        if self._controls["source"].value == GENERATED and wanted != making:
            self._work.drop()
            self._work.error.guard(self.generate)

    def _live_views(self) -> tuple[LiveView, ...]:
        run = () if self._run_view is None else (self._run_view.view,)
        return (*run, self._runs_view.view, *self._blame_figure.views, self._carrier)

    def _outcome(self) -> BlameTables | None:
        return self._tables

    def _errors(self) -> list[ErrorLine]:
        own = (
            self._error,
            self._work.error,
            *self._own.errors,
            self._scenes.error,
            self._step.error,
            self._blame_figure.error,
            self._export.error,
        )
        return [*own, *errors_of(self._controls.values())]

    def _jobs(self) -> list[tasks.Job[Any] | None]:
        return [self._work.job, self._scenes.job]

    def _refresh(self) -> bool:
        job = self._work.job
        running = self._work.refresh()
        so_far = job.partial if running and job is not None else None
        if so_far is not None and self._last.get(GENERATED) is not so_far:
            self._take_world(so_far)
        self._refresh_scene()
        drawing = self._blame_figure.refresh()
        if self._blame_wanted and not drawing:
            self._blame_wanted = False
            self._say()
        return running or drawing or self._scenes.job is not None

    def _make_controls(self) -> None:
        self._step = step_slider(lambda: self._error.guard(self._take_step))
        self._controls = blame_controls(self._step)
        self._work: JobControls[BlameTables] = JobControls(
            ("▶ Generate", "Make this world", "110px"),
            "Stop; the runs so far stay",
            _READY,
            lock=self._lock_controls,
            ended=self._end,
            failed=self._failed,
        )
        self._own = OwnBlameTables(self._controls, self._own_changed)

    def _lay_out(self) -> Any:
        c, work = self._controls, self._work
        carrier = Div(text="", height=1)
        self._carrier = LiveView(carrier)
        downloads = ShownDownloads(carrier, self._shown_downloads)
        self._export = ExportTab(
            EXPORTS, self._file, {"": (downloads, self._stem)}, lambda _: self._caption()
        )
        self._tabs = inputs.Tab(
            [self._neighbours, self._python, self._export.widget],
            titles=("Neighbours", "Python", "Export"),
            selected_index=0,
            layout=widgets.Layout(width="100%"),
        )
        self._made = widgets.VBox(
            [
                wrapping_row(c["preset"], c["application"], c["runs"], c["seed"]),
                wrapping_row(c["interference"], work.start, work.stop_button, work.state),
                work.error,
            ]
        )
        self._asked = wrapping_row(*(c[name] for name in ASKED))
        return self._boxed(
            [
                c["source"],
                self._made,
                self._own.widget,
                c["view"],
                wrapping_row(c["run"], c["user"]),
                self._step.widget,
                self._asked,
                self._error,
                self._scenes.error,
                self._reading,
                self._place,
                self._blame_figure.widget,
                self._tabs,
                self._carrier,
            ]
        )

    def _connect(self) -> None:
        c = self._controls
        for name in ("run", "user", "view", *ASKED):
            c[name].observe(lambda _: self._error.guard(self._take), "value")
        for name in FILES:
            c[name].observe(lambda _: self._error.guard(self._read_again), "value")
        c["source"].observe(lambda _: self._error.guard(self._take_source), "value")
        self._work.start.on_click(lambda _: self._work.error.guard(self.generate))
        self._tabs.observe(lambda _: self._show_tabs(), "selected_index")

    def _take_source(self) -> None:
        """Show the tables that come from there, or ask for them."""
        self._error.say("")
        source = self._controls["source"].value
        if source == EMULATED and source not in self._last:
            self._last[source] = emulated_tables()
        self._take_tables(self._last.get(source))

    def _own_changed(self) -> None:
        """Show the user's tables if runs and jobs are read."""
        self._last.pop(OWN, None)
        tables = self._own.tables()
        if tables is not None:
            self._last[OWN] = tables
        if self._controls["source"].value == OWN:
            self._take_tables(tables)

    def _take_own(
        self, table: OwnTable[Any], path: str | Path, columns: Mapping[str, str] | None
    ) -> None:
        source = Path(path)
        data = file_content(source)
        self._set("source", OWN)
        take_file(table, source.name, data, columns or {})

    def _read_again(self) -> None:
        self._error.say("")
        self._own.read_again()

    def _take_world(self, tables: BlameTables) -> None:
        """Show a world, or the same one with its causes."""
        self._last[GENERATED] = tables
        if self._controls["source"].value == GENERATED:
            self._take_tables(tables)

    def _take_tables(self, tables: BlameTables | None) -> None:
        """Show other tables, or the same with more about them."""
        before, self._tables = self._tables, tables
        self._offer(before)
        self._take()

    def _offer(self, before: BlameTables | None) -> None:
        """Offer the runs and steps of the tables, the slowest run unless a choice is to be kept."""
        tables, c = self._tables, self._controls
        if tables is None:
            return
        time = tables.runs.time_s
        more = 100 * (time / time.mean() - 1)
        names = [
            (f"{name}: {time[at]:.0f} s, {more[at]:+.0f} %", at)
            for at, name in enumerate(tables.runs.run)
        ]
        names.sort(key=lambda pair: -time[pair[1]])
        run = self._kept_run(before, tables)
        with self._mute:
            c["run"].options = names
            c["run"].value = names[0][1] if run is None else run
            row = tables.step_row(c["run"].value)
            if run is None and tables.steps is not None and row is not None:
                time = tables.steps.time_s
                lost = np.nan_to_num(time[row] - np.nanmean(time, axis=0))
                self._step.offer(StepScale(tables.steps.steps - 1), int(lost.argmax()))
        if run is None:
            self._offered = self._choice

    @property
    def _choice(self) -> tuple[int, int, str]:
        c = self._controls
        return c["run"].value, c["step"].value, c["user"].value

    def _kept_run(self, before: BlameTables | None, tables: BlameTables) -> int | None:
        """Return where the shown run is in tables that have taken the place of others, or None."""
        if before is None:
            return None
        run = int(self._controls["run"].value)
        if before.serial == tables.serial:
            return run
        if before.world is None or tables.world is None or self._choice == self._offered:
            return None
        grown = before.world.settings == tables.world.settings
        return tables.runs.run.index(before.runs.run[run]) if grown else None

    def _offer_users(self, tables: BlameTables) -> None:
        """Offer the users: beside the run those who were there, with what they did to it."""
        c = self._controls
        user, chosen = c["user"].value, [(one, one) for one in tables.users]
        if c["view"].value == RUN:
            nodes, slowed = tables.nodes(c["run"].value), tables.slowdown(c["run"].value)
            here = [one for names in nodes for one in names.split(", ")]
            here.sort(key=lambda one: -slowed.get(one, 0.0))
            chosen = [
                (f"{one}, {100 * slowed[one]:+.1f} %" if one in slowed else one, one)
                for one in here
            ]
        options = [("nobody", ""), *chosen]
        if list(c["user"].options) != options:
            known = {value for _, value in options}
            self._mute.set(c["user"], user if user in known else "", options=options)

    def _take(self) -> None:
        """Show the present choice."""
        if self._mute.on:
            return
        self._error.say("")
        if self._tables is not None:
            self._offer_users(self._tables)
        self._arrange()
        self._show()

    def _take_step(self) -> None:
        """Draw another step."""
        if self._mute.on:
            return
        state, view, tables = self.state, self._run_view, self._tables
        if state.view == RUN and view is not None and tables is not None:
            scene = self._scene
            if scene is not None or tables.world is None:
                view.show_step(state.step, scene)
                self._say()
        self._show_tabs()

    def _arrange(self) -> None:
        """Show the controls and the place of the present view."""
        c, tables = self._controls, self._tables
        source = c["source"].value
        self._made.layout.display = "" if source == GENERATED else "none"
        self._own.widget.layout.display = "" if source == OWN else "none"
        no_steps = source == OWN and (tables is None or tables.steps is None)
        known = {text: name for text, name in VIEWS.items() if name != RUN or not no_steps}
        if list(c["view"].options) != list(known.items()):
            view = c["view"].value
            value = view if view in known.values() else RUNS
            self._mute.set(c["view"], value, options=list(known.items()))
        c["view"].layout.display = self._tabs.layout.display = "none" if tables is None else ""
        view = c["view"].value
        c["user"].description = "Without" if view == RUN else "Mark runs beside"
        hidden = tables is None or view == BLAME
        c["run"].layout.display = "none" if hidden else ""
        # Nobody can be left out of what was recorded or measured.
        fixed = view == RUN and source != GENERATED
        c["user"].layout.display = "none" if hidden or fixed else ""
        self._step.widget.layout.display = "" if tables is not None and view == RUN else "none"
        self._asked.layout.display = "" if view == BLAME and tables is not None else "none"
        self._blame_figure.widget.layout.display = "" if view == BLAME else "none"
        self._place.layout.display = "none" if view == BLAME else ""

    @drawn_once
    def _show(self) -> None:
        tables, state = self._tables, self.state
        if tables is None:
            self._place.children = []
            self._blame_figure.clear()
            self._reading.value = sentences(self._missing(), "")
            self._neighbours.value = self._python.value = ""
            return
        if state.view == RUN:
            self._want_scene(tables, state)
        elif state.view == RUNS:
            self._runs_view.show(tables, state)
            self._put(self._runs_view.view)
        else:
            self._want_blame(tables, state)
        self._say()
        self._show_tabs()

    def _missing(self) -> str:
        """Return what to do where there are no tables yet."""
        if self._controls["source"].value == OWN:
            return EXPLAINED
        return WORLD_IS_MADE if self._work.job is not None else WORLD_IS_MISSING

    @property
    def _run_view(self) -> RunView | None:
        """The view of one run; None where no steps are known."""
        tables = self._tables
        if tables is None or tables.steps is None:
            return None
        clicked = partial(self._clicked, "step")
        return self._run_views.made(tables.scenery, lambda: RunView(tables, clicked))

    @property
    def _scene_key(self) -> Hashable:
        tables, state = self._tables, self.state
        if tables is None or tables.world is None:
            return None
        return tables.world.settings, tables.runs.run[state.run], state.user

    @property
    def _scene(self) -> RunScene | None:
        """The machine during the chosen run; None where it is not computed, or there is none."""
        key = self._scene_key
        return None if key is None else self._scenes.get(key)

    def _want_scene(self, tables: BlameTables, state: BlameState) -> None:
        """Draw the run, of a world once its links are computed."""
        if tables.world is None or self._scene is not None:
            self._draw_run(tables, state)
        else:
            mark_stale(self._place, True)
            self._scenes.want(self._scene_key, tables.world, state.run, state.user)

    def _refresh_scene(self) -> None:
        """Draw the run whose links were computed meanwhile."""
        if not self._scenes.refresh():
            return
        tables, state = self._tables, self.state
        if self._scenes.error.message:
            mark_stale(self._place, False)
        elif tables is not None and state.view == RUN:
            self._want_scene(tables, state)
            self._say()

    def _draw_run(self, tables: BlameTables, state: BlameState) -> None:
        view = self._run_view
        if tables.step_row(state.run) is None:
            self._place.children = []
        elif view is not None:
            view.show(tables, state.run, state.step, self._scene)
            self._put(view.view)

    def _put(self, view: LiveView) -> None:
        """Show a view, with all that was drawn while it was not on the page."""
        if self._place.children != (view,):
            view.renew()
            self._place.children = [view]
        mark_stale(self._place, False)

    def _blame_choice(self) -> Hashable:
        tables = self._tables
        if tables is None:
            return None
        return tables.serial, tables.causes is not None, self.state.asked

    def _want_blame(self, tables: BlameTables, state: BlameState) -> None:
        key = self._blame_choice()

        def draw(task: tasks.Task) -> LayoutDOM:
            task.report(0, 0, "permutations")
            found = blame(
                tables.runs,
                tables.jobs,
                least_nodes=state.least_nodes or None,
                during_all=state.during_all,
                trend=state.trend,
                tau=state.tau,
                permutations=state.permutations,
            )
            self._found.keep(key, found)
            layout = _figure_of(found, tables)
            self._blame_downloads.keep(key, Downloads(layout))
            return layout

        self._blame_wanted = True
        self._blame_figure.want(key, draw)

    def _say(self) -> None:
        tables, state = self._tables, self.state
        if tables is None:
            return
        if state.view == RUN:
            text = describe_run(tables, state, self._scene)
        elif state.view == RUNS:
            text = describe_runs(tables, state)
        else:
            found = self.found
            notes = () if found is None else found.notes
            text = " ".join([_BLAME_ABOUT, *(f"{one}." for one in notes)])
        self._reading.value = sentences(text, self._caption())

    def _show_tabs(self) -> None:
        """Write the table and the code where they are seen."""
        tables = self._tables
        if tables is None:
            return
        title = self._tabs.titles[self._tabs.selected_index or 0]
        if title == "Neighbours":
            self._neighbours.value = neighbours_table(tables, self.state.run)
        elif title == "Python":
            self._python.value = self.python

    def _clicked(self, name: str, value: int) -> None:
        self._error.guard(lambda: self._set(name, value))

    def _end(self, job: tasks.Job[BlameTables]) -> None:
        tables = job.result()
        word = "stopped" if job.state == "stopped" else "done"
        causes = "and their causes" if tables.truth is not None else "without their causes"
        self._work.status.value = (
            f"{word} in {job.elapsed_s:.0f} s: {len(tables.runs)} runs {causes}"
        )
        self._take_world(tables)

    def _failed(self, error: BaseException) -> None:
        if not self._work.refused(error):
            self._work.error.say(error_text(error))
        self._take()

    def _lock_controls(self, running: bool) -> None:
        for name in WORLD:
            self._controls[name].disabled = running

    def _caption(self) -> str:
        return "" if self._tables is None else f"Data: {self._tables.provenance.caption()}."

    def _shown_downloads(self) -> Downloads | None:
        view = self.state.view
        if view == BLAME:
            return self._blame_downloads.get(self._blame_choice())
        if view == RUNS:
            return self._runs_view.downloads
        return None if self._run_view is None else self._run_view.downloads

    def _stem(self) -> str:
        state = self.state
        name = state.application if state.source == GENERATED else state.source
        return f"{name}-{state.view}"

    def _file(self, suffix: str) -> tuple[str, str]:
        tables, state, found = self._tables, self.state, self.found
        if tables is None:
            raise ParameterError("there are no runs and jobs yet", key="path")
        if suffix == ".csv":
            frame = shown_frame(tables, state, self._scene, found)
            return self._stem(), str(frame.to_csv(index=False))
        return self._stem(), all_json(tables, state, found, self.python)


def _figure_of(found: Blame, tables: BlameTables) -> LayoutDOM:
    """Return the figure of blame, beside the causes if they are known."""
    causes = tables.causes
    if causes is None:
        return plot_blame_methods(found)
    return plot_blame_methods(
        found, causes.truth, truth_label=causes.truth_label, culprits=causes.culprits
    )
