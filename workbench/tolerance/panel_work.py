"""Analyses for the tolerance panel, in threads, with a cache of packed programs."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TypeVar

from workbench import tasks
from workbench.errors import ParameterError, ProgramError, SimulationHalted, WorkbenchError
from workbench.measure import MeasuredRuns
from workbench.models import LogGPS
from workbench.panels.cache import Cache
from workbench.panels.program_sources import AnyProgram
from workbench.panels.replay.state import MANY_OPERATIONS
from workbench.programs import ExecutionGraph
from workbench.programs.find_program import graph_of
from workbench.programs.graph import ANY_SOURCE, ANY_TAG, RECV
from workbench.simulate.picoseconds import PS_PER_S
from workbench.simulate.replay import replay
from workbench.simulate.replay_result import ReplayResult
from workbench.tolerance import (
    BandwidthSensitivity,
    ContentionReport,
    LatencySensitivity,
    RunPrediction,
    Sweep,
    analyse,
    analyse_bandwidth,
    compare_contention,
)
from workbench.tolerance.curve import ToleranceCurve
from workbench.tolerance.panel_programs import ProgramVariant, distinct
from workbench.tolerance.panel_state import Analysed, ToleranceState
from workbench.tolerance.run_prediction import measured_interval, runs_of

AT_ONCE_OPERATIONS = 2_000_000
"""Operations of all programs together up to which a slider waits for the analysis."""

_KEPT_PROGRAMS = 6  # chosen: as many as can be kept in the figure
_KEPT_OPERATIONS = 4 * AT_ONCE_OPERATIONS  # chosen: some programs that a slider may follow
_KEPT_REPORTS = 64  # chosen: a few numbers each
_WIDEST = 10.0  # chosen: the narrowest curve still has a tenth of the axis
_UNDISTURBED_S = 0.3  # chosen: longer than between two moves of a slider that is drawn


_Curve = TypeVar("_Curve", bound=ToleranceCurve)


class Analyser:
    """Builds, packs and analyses programs, and caches the results."""

    def __init__(self) -> None:
        # Packed programs are shared by all analyses, which therefore run one at a time.
        self._turn = threading.Lock()
        self._sweeping = tasks.Task()  # of the packed programs, which outlive a job's task
        self._programs: Cache[AnyProgram] = Cache(_KEPT_PROGRAMS)
        self._sweeps: Cache[Sweep] = Cache(_KEPT_OPERATIONS, lambda sweep: sweep.vertices)
        self._reports: Cache[ContentionReport] = Cache(_KEPT_REPORTS)

    def halt(self) -> None:
        """Stop the running analysis."""
        self._sweeping.stop()

    def quick(self, state: ToleranceState) -> bool:
        """Return whether a slider may wait for the analysis; unknown programs count as small."""
        known = [self._sweeps.get(one.key) for one in state.variants]
        return sum(sweep.vertices for sweep in known if sweep is not None) <= AT_ONCE_OPERATIONS

    def program(self, one: ProgramVariant) -> AnyProgram | None:
        """Return a program from the cache, or None."""
        return self._programs.get(one.source)

    def work(self, state: ToleranceState, task: tasks.Task) -> Analysed:
        """Build and pack missing programs, and analyse all of them on one axis of L."""
        with self._turn:
            self._sweeping.stop_event.clear()
            return self._work(task, state)

    def _work(self, task: tasks.Task, state: ToleranceState) -> Analysed:
        titles = distinct([one.title for one in state.variants])
        variants = dict(zip(titles, state.variants, strict=True))
        model = state.model.replace(errors={})
        sweeps: dict[str, Sweep] = {}
        left_out: list[str] = []
        steps = 2 * len(variants)
        for number, (name, variant) in enumerate(variants.items()):
            _go_on(task)
            task.report(number, steps, f"packing {name}")
            try:
                sweeps[name] = self._sweep(variant, model)
            except SimulationHalted:
                raise
            except WorkbenchError as error:
                if number == state.own:
                    raise
                left_out.append(f"{name} is left out: {error}")
        own = list(variants)[state.own]
        runs, reason = _runs_of(state, sweeps[own].graph)
        interval = state.interval
        if interval is None and runs is not None:
            interval = measured_interval(model.L, runs)
        over = partial(analyse, percent=state.percent, contention=False)
        found: dict[str, LatencySensitivity] = {}
        for number, (name, sweep) in enumerate(sweeps.items()):
            _go_on(task)
            about = f"sweeping {name}, {sweep.vertices:,} operations"
            task.report(len(variants) + number, steps, about)
            found[name] = over(sweep, interval=interval)
        if interval is None:
            found = _on_one_axis(over, found, sweeps, task)
        bandwidths: dict[str, BandwidthSensitivity] = {}
        if state.over.letter == "G":
            over_gap = partial(analyse_bandwidth, percent=state.percent)
            for name, sweep in sweeps.items():
                _go_on(task)
                task.report(steps - 1, steps, f"sweeping {name} over bandwidth")
                bandwidths[name] = over_gap(sweep)
            bandwidths = _on_one_axis(over_gap, bandwidths, sweeps, task)
        prediction = None
        if runs is not None:
            try:
                prediction = RunPrediction(found[own], runs)
            except ParameterError as error:
                reason = str(error)
        program = self._programs.get(state.own_variant.source)
        return Analysed(
            state=state,
            name=own,
            program=sweeps[own].graph if program is None else program,
            graphs={name: sweep.graph for name, sweep in sweeps.items()},
            results=found,
            variants={name: variants[name] for name in found},
            left_out=tuple(left_out),
            prediction=prediction,
            measured_error=reason,
            bandwidths=bandwidths,
        )

    def point(self, graph: ExecutionGraph, model: LogGPS, task: tasks.Task) -> ReplayResult:
        """Replay a program without contention, for its space-time diagram."""
        # A large program waits first: while the slider moves, the replay would be stopped at once.
        if graph.num_ops > MANY_OPERATIONS:
            task.stop_event.wait(_UNDISTURBED_S)
            _go_on(task)
        return replay(graph, model, semantics="llamp", times=True, task=task)

    def compare(self, shown: Analysed, task: tasks.Task) -> dict[str, ContentionReport]:
        """Return the comparisons with contention by name, of programs that run to their end."""
        found: dict[str, ContentionReport] = {}
        for name, result in shown.results.items():
            key = (*shown.variants[name].key, result.model)
            report = self._reports.get(key)
            if report is None:
                if not found:
                    # A moving slider would stop it again at once.
                    task.stop_event.wait(_UNDISTURBED_S)
                _go_on(task)
                try:
                    report = compare_contention(
                        shown.graphs[name],
                        result.model,
                        llamp_ps=round(result.T * PS_PER_S),
                        task=task,
                    )
                except ProgramError:
                    continue
                self._reports.keep(key, report)
            found[name] = report
        return found

    def _sweep(self, one: ProgramVariant, model: LogGPS) -> Sweep:
        sweep = self._sweeps.get(one.key)
        if sweep is None:
            program = self._programs.made(one.source, one.source.make)
            sweep = Sweep(graph_of(program, one.algorithms), model, task=self._sweeping)
            self._sweeps.keep(one.key, sweep)
        elif sweep.model != model:
            # With wildcards the model decides which receive takes which send.
            wild = has_wildcards(sweep.graph)
            sweep = Sweep(sweep.graph, model, task=self._sweeping) if wild else sweep.replace(model)
        return sweep


def common_interval(results: Sequence[ToleranceCurve]) -> tuple[float, float]:
    """Return one interval of L in s, or of G in s/B, for all results."""
    # The widest one, but at most _WIDEST times the narrowest, which must stay readable.
    low = min(result.interval[0] for result in results)
    spans = [result.interval[1] - low for result in results]
    return low, low + min(max(spans), _WIDEST * min(spans))


def has_wildcards(graph: ExecutionGraph) -> bool:
    """Return whether a receive accepts any source or any tag."""
    receives = graph.kind == RECV
    return bool(((graph.peer == ANY_SOURCE) | (graph.tag == ANY_TAG))[receives].any())


def with_contention(shown: Analysed, reports: Mapping[str, ContentionReport]) -> Analysed:
    """Return the analysis with reports on contention, by program, and their warnings."""
    results = dict(shown.results)
    for name, report in reports.items():
        warnings = () if report.warning is None else (report.warning,)
        results[name] = replace(results[name], contention=report, warnings=warnings)
    return replace(shown, results=results, compared=True)


def many_operations(shown: Analysed) -> bool:
    """Return whether a replay of the chosen program takes noticeably long."""
    return shown.graph.num_ops > MANY_OPERATIONS


def _runs_of(state: ToleranceState, graph: ExecutionGraph) -> tuple[MeasuredRuns | None, str]:
    """Return the measured runs of the chosen program, or why there are none to draw."""
    file = state.measured
    if file is None:
        return None, ""
    if file.program != state.own_variant.source.name:
        given = f"{file.short_name} was given for {file.program}"
        return None, f"{given}: choose that program to see it"
    try:
        return runs_of(file.runs, graph), ""
    except ParameterError as error:
        return None, str(error)


def _on_one_axis(
    over: Callable[..., _Curve],
    curves: dict[str, _Curve],
    sweeps: Mapping[str, Sweep],
    task: tasks.Task,
) -> dict[str, _Curve]:
    """Return the curves, those that end elsewhere analysed again on the interval of all."""
    if len(curves) < 2:
        return curves
    common = common_interval(list(curves.values()))
    for name, curve in curves.items():
        _go_on(task)
        if curve.interval != common:
            curves[name] = over(sweeps[name], interval=common)
    return curves


def _go_on(task: tasks.Task) -> None:
    if task.stopping:
        raise SimulationHalted("the analysis was stopped before it finished")
