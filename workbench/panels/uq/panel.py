"""The panel of uncertainty: from measured tests to predictions with intervals, step by step.

panel = UncertaintyPanel("fugaku/gather")
panel.run(); panel.wait()                          # chains for every noise model
panel.resume(); panel.wait()                       # go on: after a stop, or to twice the draws
panel.noise, panel.held_out = "relative", 512      # drawn from the stored chains
panel.posterior.verdict, panel.prediction.to_frame()
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import ipywidgets as widgets
from bokeh.models import Div

from workbench import machines, tasks
from workbench.errors import ParameterError
from workbench.panels import inputs
from workbench.panels.background_figure import BackgroundFigure
from workbench.panels.cache import Cache
from workbench.panels.error_line import ErrorLine
from workbench.panels.export_tab import ExportTab, write_file
from workbench.panels.job_controls import JobControls
from workbench.panels.live_view import LiveView, ShownDownloads
from workbench.panels.machine_choice import MachineChoice, is_file
from workbench.panels.mute import Mute
from workbench.panels.number_field import NumberField, check_all, errors_of
from workbench.panels.panel import Panel
from workbench.panels.session.session import Files, OwnFiles
from workbench.panels.session.stateful import drawn_once
from workbench.panels.style import named, push_button, wrapping_row
from workbench.panels.upload import Upload
from workbench.panels.uq.problems import (
    Found,
    Problem,
    find_problem,
    is_of_simulator,
    own_problems,
    problem_names,
    simulator_problem,
)
from workbench.panels.uq.state import FILES, UncertaintyState, json_text, tests_frame
from workbench.panels.uq.view import (
    LIVE,
    OF_POSTERIOR,
    RESUME,
    VIEWS,
    FigureMaker,
    describe_found,
    in_panel,
    sentences,
)
from workbench.panels.uq.work import PosteriorChoice, is_judged, is_whole, run_chains
from workbench.suggestions import did_you_mean
from workbench.uq import (
    NOISE_MODELS,
    CalibrationCheck,
    CalibrationProblem,
    Posterior,
    Prediction,
    Replicas,
)
from workbench.uq.collectives.calibration import DRAWS

DEFAULT_PROBLEM = "fugaku/gather"
_READY = "Chains run for every noise model and all that can be held out, the chosen ones first."
_KEPT = 24  # posteriors, of 3 to 8 MB each
_SETTINGS = (
    "problem", "noise", "held_out", "side", "draws", "seed", "view", "made_by", "datasets",
)  # fmt: skip


class UncertaintyPanel(Panel[Found | None]):
    """Calibrate a model to measured tests, and see how sure its predictions are.

    Args:
        problem: a measured collective that ships, such as ``fugaku/gather``, or the name or the
            file of a machine, whose fit is calibrated.

    Raises:
        ParameterError: there is no such problem.
    """

    SETTINGS = _SETTINGS

    def __init__(self, problem: str = DEFAULT_PROBLEM) -> None:
        super().__init__()
        names = problem_names()
        known = [name for _, name in names] + list(machines.own())
        if problem not in known and not is_file(problem):
            raise ParameterError(
                f"problem must be one of {', '.join(known)}; got {problem!r}"
                f"{did_you_mean(problem, known)}",
                key="problem",
            )
        self._mute = Mute()
        self._problems: dict[str, Problem] = {}
        self._own: dict[str, bytes] = {}  # the user's files, by name
        self._kept: Cache[Found] = Cache(_KEPT)
        self._predictions: Cache[tuple[Prediction, Replicas | None]] = Cache(2 * _KEPT)
        self._maker = FigureMaker()
        self._shown: tuple[Found | None, bool] = (None, False)  # and whether chains run
        self._every = True  # whether the last run was of all choices
        self._key: Hashable = None
        self._error = ErrorLine()
        self._make_controls(names, problem)
        self._reading = widgets.HTML()
        self._figure = BackgroundFigure(self._ticker.start)
        self._summary = widgets.HTML()
        self._python: Any = inputs.Textarea(
            rows=15, layout=widgets.Layout(width="98%", height="auto")
        )
        self.widget = self._lay_out()
        self._connect()
        self._take_problem()

    @property
    def state(self) -> UncertaintyState:
        """The state of the controls."""
        return UncertaintyState(**{name: control.value for name, control in self.controls.items()})

    @property
    def controls(self) -> Mapping[str, Any]:
        """The controls of the settings, by name."""
        return self._controls

    @property
    def begun(self) -> CalibrationProblem:
        """The measured tests, the fitted model's times of them, and the surrogate."""
        return self._problem.prepared

    @property
    def found(self) -> Found | None:
        """The calibration of the present choice; None before its chains ran."""
        found = self._kept.get(self.state.choice)
        return found if is_judged(found) else None

    @property
    def posterior(self) -> Posterior | None:
        """The posterior of the present choice; None before its chains ran."""
        found = self.found
        return None if found is None else found.posterior

    @property
    def prediction(self) -> Prediction | None:
        """The prediction of the present choice; None before its chains ran."""
        predicted = self._predicted()
        return None if predicted is None else predicted[0]

    @property
    def check(self) -> CalibrationCheck | None:
        """The check of the present choice; None before it was looked at."""
        state = self.state
        return self._maker.checks.get((state.problem, state.check))

    @property
    def python(self) -> str:
        """Python code that makes what is shown: ``problem``, ``found`` and ``prediction``."""
        s = self.state
        return self._problem.python(s.noise, s.held_out, s.side, s.draws, s.seed)

    def run(self, every: bool = True) -> tasks.Job[int]:
        """Run the chains in the background, those of the present choice first.

        What is stored with fewer draws, after a stop, goes on from there.

        Args:
            every: whether to go on with every noise model and all that can be held out.

        Raises:
            ParameterError: a number is not accepted.
        """
        if self._work.job is not None:
            return self._work.job
        check_all(self._controls.values())
        self._every = every
        s, problem = self.state, self._problem
        choices = [
            PosteriorChoice(s.problem, noise, held_out, s.draws, s.seed)
            for held_out in (0, *problem.held_out)
            for noise in NOISE_MODELS
            if every or (noise, held_out) == (s.noise, s.held_out)
        ]
        job = tasks.submit(run_chains, problem, choices, lambda: self.state.choice, self._kept)
        self._work.begin(job, lambda: (job.progress.fraction, job.progress.message))
        self._ticker.start()
        return job

    def resume(self) -> tasks.Job[int]:
        """Go on with the chains of the present choice, from where they are.

        After a stop they, and the others of that run, go on to the draws that were requested;
        where all are there, those of the present choice go on to twice as many.

        Raises:
            ParameterError: nothing is stored for the present choice.
        """
        if self._work.job is not None:
            return self._work.job
        choice = self.state.choice
        stored = self._kept.get(choice)
        if stored is None:
            raise ParameterError(
                f"resume needs stored chains, and there are none for {choice.text}; run them",
                key="resume",
            )
        if not is_whole(stored, choice):
            return self.run(self._every)
        further = replace(choice, draws=stored.posterior.further)
        self._kept.keep(further, stored)
        with self._mute:
            self._controls["draws"].value = further.draws
        return self.run(every=False)

    def stop(self) -> None:
        """Stop the chains and the check; posteriors that are stored stay."""
        self._work.stop()
        self._figure.stop()

    def save(self, path: str | Path) -> Path:
        """Write ``.csv`` (a row a test) or ``.json`` (verdict, summary, prediction).

        Args:
            path: file to write.

        Raises:
            ParameterError: the suffix is none of these.
        """
        return write_file(path, FILES, self._file)

    def take(self, name: str, data: bytes) -> None:
        """Read measured collectives of one's own, as an upload does, and open the first.

        Args:
            name: of the file.
            data: a CSV with the columns ``benchmark`` (such as ``osu_gather``), ``nodes``,
                ``block_bytes`` and ``avg_us``, a row a run, and, where there are any,
                ``median_us``, ``ranks_per_node``, ``algorithm`` and ``fabric``; or one of the two
                tables of a simulator of one's own, which opens with the second of them: its runs,
                with a column ``run``, and replicas, with ``test`` and ``time_s``.

        Raises:
            ParameterError: the file is no such table.
        """
        found = self._hold(name, data)
        if not found:
            self._error.say(
                f"{Path(name).name} is kept. Upload the other table too: runs.csv (run, a column a "
                "parameter, a column of times in s a test) and replicas.csv (test, time_s)."
            )
            return
        with self._mute:
            self._controls["problem"].value = found[0]
        self._take_problem()

    def __repr__(self) -> str:
        state = self.state
        shown = "no posterior yet" if self.posterior is None else self.posterior.verdict
        return f"UncertaintyPanel({state.problem}, {state.choice.text}; {shown})"

    @property
    def _runs(self) -> bool:
        return self._work.job is not None

    @property
    def _grows(self) -> bool:
        """Whether the chains of the present choice have draws, and run on."""
        job = self._work.job
        return job is not None and self.found is not None and job.partial == self.state.choice

    def _not_held(self) -> tuple[str, ...]:
        if self.found is None:
            return ()
        return ("the chains are not in a session: Run makes them again",)

    def _live_views(self) -> tuple[LiveView, ...]:
        return (*self._figure.views, self._carrier)

    def _hold(self, name: str, data: bytes) -> list[str]:
        """Read a file of the user's own and offer its problems; return their names."""
        file = Path(name).name
        if is_of_simulator(data):
            found = simulator_problem({**self._own, file: data})
        else:
            found = own_problems(name, data)
        self._own[file] = data
        self._problems |= found
        known = self._controls["problem"]
        # The same file again has other times: what was found of it is of no use.
        self._kept, self._predictions = Cache(_KEPT), Cache(2 * _KEPT)
        for text in found:
            known.add(text, f"my file: {text.replace('/', ', ')}")
        return list(found)

    def _own_files(self) -> OwnFiles:
        parts = self._controls["problem"].value.split("/")
        files = [part for part in parts if part in self._own]
        return {"measured": {one: {one: self._own[one]} for one in files}} if files else {}

    def _take_own_files(self, use: str, name: str, files: Files) -> None:
        if use != "measured":
            super()._take_own_files(use, name, files)
        for file, data in files.items():
            self._hold(file, data)

    def _outcome(self) -> Found | None:
        return self.found

    def _errors(self) -> list[ErrorLine]:
        own = (self._error, self._work.error, self._figure.error, self._export.error)
        return [*own, *errors_of(self._controls.values())]

    def _jobs(self) -> list[tasks.Job[Any] | None]:
        return [self._work.job]

    def _refresh(self) -> bool:
        runs = self._work.refresh()
        waits = self._grows and self._figure.busy  # a live figure is drawn before the next one
        if (self.found, self._runs) != self._shown and not waits:
            self._show()
        drawing = self._figure.refresh()
        return runs or drawing

    def _make_controls(self, names: list[tuple[str, str]], problem: str) -> None:
        noises = list(NOISE_MODELS)
        self._controls: dict[str, Any] = {
            "problem": MachineChoice(problem, first=names, label="Problem", width="440px"),
            "noise": inputs.Dropdown(
                options=noises, value="gaussian-process", **named("Noise model", "240px")
            ),
            "held_out": inputs.Dropdown(
                options=[("nothing", 0)], value=0, **named("Held out", "190px")
            ),
            "draws": NumberField(DRAWS, 100, 100_000, step=1000, **named("Draws", "130px")),
            "seed": NumberField(0, 0, 2**31 - 1, **named("Seed", "90px")),
            "view": inputs.ToggleButtons(
                options=list(VIEWS.items()), value="data", style={"button_width": "122px"}
            ),
            "side": inputs.Dropdown(options=[("", 0)], value=0, **named("Predict", "330px")),
            "made_by": inputs.Dropdown(
                options=[("the fitted noise model", ""), *((one, one) for one in noises)],
                value="",
                **named("Data made by", "300px"),
            ),
            "datasets": NumberField(50, 10, 5000, step=50, **named("Data sets", "150px")),
        }
        self._upload = Upload(
            "Upload times",
            lambda files: self.take(*next(iter(files.items()))),
            self._error,
            width="120px",
            tooltip="Collectives as OSU, IMB or nccl-tests print them, with the command that says "
            "on how many nodes; or a CSV, a row a run: benchmark, nodes, block_bytes, avg_us; and "
            "ranks_per_node, median_us, algorithm, fabric where there are any. Or, one after the "
            "other, runs of a simulator of your own (run, a column a parameter, times in s a test) "
            "and replicas (test, time_s, bytes)",
            accept=".csv,.txt,.out,.log",
        )
        self._resume: Any = push_button(
            RESUME,
            "Go on from the stored draws, after a stop to the end, else to twice as many",
            width="100px",
        )
        self._work: JobControls[int] = JobControls(
            ("▶ Run the chains", "Calibrate under every noise model", "150px"),
            "Stop now; what is stored stays",
            _READY,
            lock=self._lock_controls,
            ended=self._end,
        )

    def _lay_out(self) -> Any:
        c, work = self._controls, self._work
        carrier = Div(text="", height=1)
        downloads = ShownDownloads(carrier, lambda: self._maker.downloads(self._key))
        self._carrier = LiveView(carrier)
        self._export = ExportTab(
            FILES, self._file, {"": (downloads, self._stem)}, lambda _: self._problem.caption
        )
        self._tabs = inputs.Tab(
            [self._summary, self._python, self._export.widget],
            titles=("Summary", "Python", "Export"),
            selected_index=0,
            layout=widgets.Layout(width="100%"),
        )
        return self._boxed(
            [
                wrapping_row(c["problem"], self._upload, c["noise"], c["held_out"]),
                wrapping_row(
                    c["draws"], c["seed"], work.start, work.stop_button, self._resume, work.state
                ),
                self._error,
                work.error,
                self._reading,
                c["view"],
                wrapping_row(c["side"], c["made_by"], c["datasets"]),
                self._figure.widget,
                self._tabs,
                self._carrier,
            ]
        )

    def _connect(self) -> None:
        self._controls["problem"].on_choice(lambda _: self._error.guard(self._take_problem))
        for name, control in self._controls.items():
            if name != "problem":
                control.observe(lambda _: self._error.guard(self._take), "value")
        self._work.start.on_click(lambda _: self._work.error.guard(lambda: self.run()))
        self._resume.on_click(lambda _: self._work.error.guard(lambda: self.resume()))

    def _take_problem(self) -> None:
        """Open another problem, with the nodes that can be held out and predicted."""
        if self._mute.on:
            return
        name, c = self._controls["problem"].value, self._controls
        self._work.drop()
        self._work.status.value, self._work.progress.value = _READY, 0.0
        if name not in self._problems:
            self._problems[name] = find_problem(name)
        self._problem = problem = self._problems[name]
        with self._mute:
            left = [(f"{nodes} nodes", nodes) for nodes in problem.held_out]
            c["held_out"].options = [("nothing", 0), *left]
            c["held_out"].value = 0
            tori = [
                (f"{side**3} nodes, torus {side}x{side}x{side}", side) for side in problem.sides
            ]
            c["side"].options = [("the held-out or the measured nodes", 0), *tori]
            c["side"].value = 0
            c["draws"].value = problem.draws
        c["held_out"].layout.display = "" if left else "none"
        self._take()

    def _take(self) -> None:
        if self._mute.on:
            return
        self._error.say("")
        self._show()

    @drawn_once
    def _show(self) -> None:
        """Show the figure and the sentences of the present choice."""
        state, c = self.state, self._controls
        c["side"].layout.display = (
            "" if state.view == "prediction" and self._problem.sides else "none"
        )
        for name in ("made_by", "datasets"):
            c[name].layout.display = "" if state.view == "check" else "none"
        found = self.found
        self._shown = (found, self._runs)
        self._resume.disabled = self._runs or self._kept.get(state.choice) is None
        predicted = self._predicted()
        kind = "held-out" if state.held_out else "calibrated"
        text = describe_found(state.choice.text, found, predicted, kind, self._runs)
        self._reading.value = sentences(
            f"{text[0].upper()}{text[1:]}", f"Data: {self._problem.caption}. Lines: simulated."
        )
        self._summary.value = (
            "The posterior's table comes here."
            if found is None
            else in_panel(found.posterior._repr_html_(), found.posterior)
        )
        self._python.value = self.python
        self._want(state, found, predicted)

    def _want(
        self,
        state: UncertaintyState,
        found: Found | None,
        predicted: tuple[Prediction, Replicas | None] | None,
    ) -> None:
        """Ask for the figure of the present step."""
        maker, problem, figure = self._maker, self._problem, self._figure
        key: Hashable = None
        if state.view == "data":
            key = (state.problem, "data")
            figure.want(key, maker.data(key, problem))
        elif state.view == "sobol":
            key = (state.problem, "sobol")
            figure.want(key, maker.sobol(key, problem))
        elif state.view == "check":
            key = (state.problem, state.check)
            figure.want(key, maker.check(key, state.problem, problem, state.check))
        elif found is None:
            figure.clear("The chains run." if self._runs else "No chains have run for this choice.")
        elif predicted is None and state.view not in LIVE:
            figure.clear("The chains run; their trace so far is under Chains.")
        elif state.view in OF_POSTERIOR:
            side = state.side if state.view == "prediction" else 0
            # A posterior that was stopped may be replaced by one with more draws.
            key = (state.choice, state.view, side, found.posterior.draws)
            draw = maker.posterior(key, state.view, found, predicted)
            same = isinstance(self._key, tuple) and self._key[:2] == key[:2]
            figure.want(key, draw, quietly=same and self._grows)
        self._key = key

    def _predicted(self) -> tuple[Prediction, Replicas | None] | None:
        found, state = self.found, self.state
        if found is None or self._grows:
            return None
        key = (state.choice, state.side, found.posterior.draws)
        return self._predictions.made(
            key, lambda: self._problem.predict(found, state.held_out, state.side)
        )

    def _end(self, job: tasks.Job[int]) -> None:
        made = job.result()
        word = "stopped" if job.state == "stopped" else "done"
        self._work.status.value = (
            f"{word} in {job.elapsed_s:.0f} s: {made} posterior{'s' * (made != 1)} stored; choose "
            "the noise model and what is held out"
        )

    def _stem(self) -> str:
        state = self.state
        return f"{state.problem}-{state.noise}-{state.held_out}-{state.view}".replace("/", "-")

    def _file(self, suffix: str) -> tuple[str, str]:
        predicted = self._predicted()
        if suffix == ".csv":
            frame = tests_frame(self._problem, None if predicted is None else predicted[0])
            return self._stem(), str(frame.to_csv(index=False))
        return self._stem(), json_text(self.state, self._problem, self.found, predicted, self.check)

    def _lock_controls(self, running: bool) -> None:
        # Noise model and held-out nodes stay free: stored posteriors can be looked at meanwhile.
        for name in ("draws", "seed"):
            self._controls[name].disabled = running
        self._resume.disabled = running or self._kept.get(self.state.choice) is None
