"""The panel that compares topologies: drawn, measured, loaded, and simulated side by side.

What a control holds is an attribute, and what a button does a method of the same name:

    panel = ComparePanel(["fat-tree:16", "slim-fly:9"])      # or Topology values, or nothing at all
    panel.traffic = "adversarial"; panel.routing = "valiant"
    panel.wait(); panel.comparison
    panel.loads["Slim Fly 9"].hottest()
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import ipywidgets as widgets

from workbench import tasks
from workbench.errors import ParameterError
from workbench.panels.compare.controls import CONTROLLED, CompareControls, program_source
from workbench.panels.compare.files import FILES
from workbench.panels.compare.match import Sizes
from workbench.panels.compare.metrics import comparison_frame
from workbench.panels.compare.runs import ComparisonRunner
from workbench.panels.compare.state import (
    FIRST,
    SLOTS,
    UPLOADED,
    CompareState,
    Simulated,
    StaticComparison,
    distinct,
    known_spec,
    python_lines,
)
from workbench.panels.compare.tabs import CompareTabs
from workbench.panels.compare.view import CompareView, curves_origin, drawn_origin
from workbench.panels.compare.work import Comparer
from workbench.panels.error_line import ErrorLine
from workbench.panels.export_tab import write_file
from workbench.panels.job_controls import AT_ONCE_S, FIRST_S, JobControls, error_text, progress_of
from workbench.panels.live_view import LiveView
from workbench.panels.panel import Panel
from workbench.panels.session.session import Files, OwnFiles
from workbench.panels.session.stateful import drawn_once
from workbench.panels.style import wrapping_row
from workbench.suggestions import did_you_mean
from workbench.topology import Topology
from workbench.topology.link_load import LinkLoads

if TYPE_CHECKING:
    import pandas as pd

FIRST_PROGRAM = "CG, 256 ranks"

_AFTER_MOVE_S = 0.3  # without a move of the slider, before results of simulations are drawn


class ComparePanel(Panel["pd.DataFrame | None"]):
    """Compare up to four topologies.

    Args:
        topologies: each as ``parse_topology`` takes it, or a `Topology`; None takes four of about
            a thousand hosts.
        simulate: whether simulations begin on their own whenever something has changed.

    Raises:
        ParameterError: there are more than four, or one is of no family.
    """

    SETTINGS = ("topologies", *CONTROLLED)

    def __init__(
        self, topologies: Sequence[str | Topology] | None = None, *, simulate: bool = True
    ) -> None:
        super().__init__()
        self._comparer, self._runner = Comparer(), ComparisonRunner()
        self._simulates = simulate
        self._asked = False  # to simulate, while topologies were being drawn
        self._compared: StaticComparison | None = None
        self._view: CompareView | None = None
        self._drawn = -1
        self._moved_at = 0.0  # when the slider moved last, of the monotonic clock
        self._tabs: CompareTabs | None = None
        specs = self._specs(FIRST if topologies is None else topologies)
        first = CompareState(specs, program_source(FIRST_PROGRAM))
        self._controls = CompareControls(first, self._changed, self._comparer.take, self._offer)
        self._quick: JobControls[StaticComparison] = JobControls(
            ("", "", "1px"),
            "Keep the present figures",
            "",
            lock=lambda running: None,
            ended=lambda job: self._take(job.result()),
            failed=self._refuse,
        )
        self._work: JobControls[Simulated] = JobControls(
            ("▶ Simulate", "Run the missing simulations in the background", "104px"),
            "Stop the simulations and keep the results so far",
            "",
            lock=lambda running: None,
            ended=lambda job: self._simulated(),
            failed=self._failed,
            width=160,
        )
        self._place = widgets.VBox(layout=widgets.Layout(width="100%"))
        bar = wrapping_row(
            self._work.start, self._work.stop_button, *self._controls.simulated, self._work.state
        )
        self._bar = widgets.VBox([bar, self._controls.program_error, self._work.error])
        # Shown while large topologies are computed: the figures are still of the earlier choice.
        self._wait = wrapping_row(self._quick.stop_button, self._quick.state)
        self.widget = self._boxed([self._controls.widget, self._wait, self._place])
        self._work.start.on_click(lambda _: self.run())
        self._begin(FIRST_S)
        tasks.submit(self._comparer.foresee)

    @property
    def state(self) -> CompareState:
        """The state of the controls."""
        return self._controls.state

    @property
    def networks(self) -> dict[str, Topology]:
        """The displayed topologies, by short name."""
        return {} if self._compared is None else {n: e.topology for n, (e, _) in self._shown()}

    @property
    def loads(self) -> dict[str, LinkLoads]:
        """The mean loads of their links, by short name."""
        return {name: loads for name, (_, loads) in self._shown() if loads is not None}

    @property
    def comparison(self) -> pd.DataFrame | None:
        """A row for each metric, a column for each topology; None without topologies."""
        if self._compared is None or not self._compared.shown:
            return None
        return comparison_frame(self._compared, self.simulated)

    @property
    def simulated(self) -> Simulated:
        """The results of the simulations so far, by topology."""
        return Simulated() if self._compared is None else self._runner.found(self._compared)

    @property
    def description(self) -> str:
        """The sentence about the comparison."""
        return "" if self._view is None else self._view.sentence

    @property
    def controls(self) -> Mapping[str, Any]:
        """The controls of the settings, by name."""
        return self._controls.by_name

    @property
    def python(self) -> str:
        """Python code for the comparison and the loads, without the simulations."""
        compared = self._compared
        return python_lines(compared, self.offered) if compared and compared.shown else ""

    def run(self) -> tasks.Job[Simulated] | None:
        """Simulate the missing results in the background, and return at once.

        Returns:
            The job; None where nothing is missing, or while the topologies are still being drawn:
            it begins after that.
        """
        self._asked = self._quick.job is not None
        if self._asked:
            return None
        compared = self._compared
        self._work.stop()
        if compared is None or not self._runner.missing(compared):
            return None
        job = tasks.submit(self._runner.work, compared)
        self._work.begin(job, lambda: progress_of(job))
        self._ticker.start()
        return job

    def stop(self) -> None:
        """Stop the running jobs; the results so far remain."""
        self._asked = False
        self._halt()

    def upload(self, files: Mapping[str, bytes]) -> None:
        """Compare the graph in a file, of any format that ``topology.read_topology`` takes.

        It is shown in a free column; where all are taken, ``controls["replaces"]`` asks which one
        it replaces. Its hosts are set in ``topologies``: ``"file:mine.txt:hosts=16,at=edge"``.

        Args:
            files: content by file name; CODES has two files.

        Raises:
            WorkbenchError: they hold no graph.
        """
        self._controls.take_files(files)

    def upload_traffic(self, files: Mapping[str, bytes]) -> None:
        """Load the links with your own traffic from a CSV: hosts by hosts or src,dst,weight.

        Args:
            files: content by file name; the last one is shown, and ``traffic`` names it.

        Raises:
            ParseError: one holds no traffic; the line is named.
        """
        for name, content in files.items():
            self._controls.take_traffic(name, content)

    def save(self, path: str | Path, name: str | None = None) -> Path:
        """Write ``.csv`` (the table), ``.html`` (the figures) or ``.graphml`` (one topology).

        Args:
            path: file to write.
            name: whose graph; None takes the first one.

        Raises:
            ParameterError: the suffix is none of these, or there is no such topology.
        """
        if name is not None and name not in self.networks:
            raise ParameterError(
                f"name must be one of {', '.join(self.networks)}; got {name!r}"
                f"{did_you_mean(name, self.networks)}",
                key="name",
            )
        return write_file(path, FILES, lambda suffix: self._file(suffix, name))

    def __repr__(self) -> str:
        return f"ComparePanel({', '.join(self.networks) or 'no topology yet'})"

    def _live_views(self) -> tuple[LiveView, ...]:
        return () if self._view is None else tuple(self._view.views)

    def _outcome(self) -> pd.DataFrame | None:
        return self.comparison

    def _refresh(self) -> bool:
        self._quick.refresh()
        self._wait.layout.display = "none" if self._quick.job is None else ""
        self._work.refresh()
        if time.monotonic() - self._moved_at > _AFTER_MOVE_S:
            self._draw_simulated()
        return self.running

    def _errors(self) -> list[ErrorLine]:
        export = [] if self._tabs is None else [self._tabs.exports.error]
        return [*self._controls.errors, self._work.error, *export]

    def _jobs(self) -> list[tasks.Job[Any] | None]:
        return [self._quick.job, self._work.job]

    def _get(self, name: str) -> Any:
        if name == "topologies":
            return tuple(slot.spec for slot in self._controls.slots)
        return super()._get(name)

    def _set(self, name: str, value: Any) -> None:
        if name != "topologies":
            self._controls.set(name, value)
            return
        specs = self._specs(value)
        for slot in self._controls.slots:
            slot.offer_files([spec.partition(":")[2] for spec in self._comparer.given])
        self._controls.show_specs(specs)

    def _saved_names(self) -> tuple[str, ...]:
        first = ("match", "amount", "topologies")
        return (*first, *(name for name in CONTROLLED if name not in first))

    def _restore(self, name: str, value: Any) -> None:
        if name == "topologies":
            self._set(name, value)
        else:
            self._controls.restore(name, value)

    def _own_files(self) -> OwnFiles:
        return self._controls.own_files()

    def _take_own_files(self, use: str, name: str, files: Files) -> None:
        if use in ("topology", "traffic", "program"):
            self._controls.take_own_files(use, name, files)
        else:
            super()._take_own_files(use, name, files)

    def _not_held(self) -> list[str]:
        return self._controls.not_held()

    def _specs(self, topologies: Sequence[str | Topology]) -> tuple[str, ...]:
        listed = [topologies] if isinstance(topologies, (str, Topology)) else list(topologies)
        if len(listed) > SLOTS:
            raise ParameterError(
                f"there must be at most {SLOTS} topologies; got {len(listed)}", key="topologies"
            )
        specs = []
        names = distinct([one.name if isinstance(one, Topology) else "" for one in listed])
        for one, name in zip(listed, names, strict=True):
            if isinstance(one, Topology):
                spec = f"{UPLOADED}:{name}"
                self._comparer.take({spec: one})
            else:
                spec = known_spec(one, self._comparer.given)
            specs.append(spec)
        return (*specs, *[""] * (SLOTS - len(specs)))

    @drawn_once
    def _offer(self, load: float) -> None:
        self._moved_at = time.monotonic()
        if self._view is not None and self._tabs is not None:
            self._view.offer(load)
            self._tabs.python.value = self.python

    @drawn_once
    def _changed(self) -> None:
        """Compare with the present controls; quick results are drawn at once."""
        self._begin(AT_ONCE_S)

    def _halt(self) -> None:
        self._quick.stop()
        self._work.stop()

    def _begin(self, patience_s: float) -> None:
        # Only the latest change counts: the result of an earlier run must not replace it.
        self._halt()
        state, before = self._controls.state, self._compared
        job = tasks.submit(self._comparer.work, state, before)
        self._quick.begin(job, lambda: progress_of(job), patience_s)
        if self.refresh():
            self._ticker.start()

    def _take(self, compared: StaticComparison) -> None:
        before = self._compared
        for slot, error in zip(self._controls.slots, compared.errors, strict=True):
            slot.error.say(error)
        alike = before is not None and before.alike(compared)
        self._compared = compared
        if self._view is None and compared.shown:
            first = next(entry.topology for entry, _ in compared.shown.values())
            self._view = CompareView(first)
            view = self._view
            self._tabs = CompareTabs(
                view.map_downloads, view.curve_downloads, self._file, self._origin
            )
            self._place.children = [
                view.upper,
                view.middle,
                self._bar,
                view.lower,
                self._tabs.widget,
            ]
        if self._view is None:
            return
        self._view.show(compared, self.offered)
        for slot, entry in zip(self._controls.slots, compared.entries, strict=True):
            slot.say_size("" if entry is None else _size(entry.topology))
        self._controls.take_sizes(
            [None if entry is None else Sizes.of(entry.metrics) for entry in compared.entries]
        )
        if self._tabs is not None:
            self._tabs.show(compared, self.python)
        if not alike:
            self._drawn = -1
        self._draw_simulated()
        if self._simulates or self._asked:
            self.run()

    def _draw_simulated(self) -> None:
        if self._view is None or self._compared is None or self._drawn == self._runner.version:
            return
        self._drawn = self._runner.version
        found = self._runner.found(self._compared)
        self._view.show_simulated(self._compared, found)

    def _simulated(self) -> None:
        self._work.progress.value = 1.0
        missing = self._compared is not None and self._runner.missing(self._compared)
        # Stopped by another choice, it restarts once that is drawn.
        stopped = missing and self._quick.job is None
        self._work.status.value = "stopped; Simulate continues" if stopped else ""
        self._draw_simulated()

    def _refuse(self, error: BaseException) -> None:
        if not isinstance(error, tasks.JobError):
            self._controls.traffic_error.say(error_text(error))

    def _failed(self, error: BaseException) -> None:
        if not isinstance(error, tasks.JobError):
            self._work.error.say(error_text(error))

    def _file(self, suffix: str, name: str | None) -> tuple[str, str]:
        if self._compared is None or not self._compared.shown:
            raise ParameterError("there must be a topology to save; choose one", key="path")
        return FILES[suffix][0](self._compared, self.simulated, name)

    def _origin(self, drawn: str) -> str:
        if self._compared is None:
            raise ParameterError("there must be a topology to save; choose one", key="path")
        if drawn == "curves":
            return curves_origin(self._compared)
        return drawn_origin(self._compared, self.offered)

    def _shown(self) -> list[tuple[str, tuple[Any, LinkLoads | None]]]:
        return [] if self._compared is None else list(self._compared.shown.items())


def _size(topology: Topology) -> str:
    return (
        f"{topology.num_hosts:,} hosts, {topology.num_routers:,} routers, "
        f"{topology.num_links:,} links"
    )
