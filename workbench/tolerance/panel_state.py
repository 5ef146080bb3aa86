"""The state and the results of the tolerance panel, and the Python code that computes them."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Literal

from workbench import programs
from workbench.errors import ParameterError
from workbench.measure import MeasuredRuns
from workbench.models import LogGPS
from workbench.models.loggps import parse_loggps
from workbench.panels.program_sources import GENERATED, GIVEN, MOST_RANKS, AnyProgram, ProgramSource
from workbench.panels.replay.state import (
    LOGGOPSIM,
    OWN,
    ReplayState,
    model_expression,
    model_module,
)
from workbench.programs import ExecutionGraph, Program
from workbench.programs.collectives import ALGORITHMS, DEFAULTS
from workbench.programs.generate.grids import grid_shape
from workbench.tolerance import BandwidthSensitivity, LatencySensitivity, RunPrediction
from workbench.tolerance.analysis import PERCENT
from workbench.tolerance.curve import ToleranceCurve

ALONE, WEAK, STRONG = "alone", "weak", "strong"
"""Programs shown beside one: none, or its family on fewer and more ranks."""

LatencyInterval = tuple[float, float]

Over = Literal["latency", "bandwidth"]
"""What T is drawn over: the latency L, or the gap per byte G, the inverse of bandwidth."""

_EVERY = "every "
_SIDES = (0.5, 1.0, 2.0, 4.0)  # chosen: doubled each time; four points show how T grows
_MOST_PERCENTS = 8  # chosen: the third and further zones of the figure have one colour


@dataclass(frozen=True)
class ProgramVariant:
    """One curve of the figure: a program and the algorithms of its collectives."""

    source: ProgramSource
    algorithms: Mapping[str, str] = field(default_factory=dict)  # non-default, by operation
    name: str = ""  # its name within a family

    @property
    def title(self) -> str:
        """The name in the legend."""
        if self.name:
            return self.name
        chosen = [f"{operation} {name}" for operation, name in sorted(self.algorithms.items())]
        return ", ".join([self.source.name, *chosen])

    @property
    def key(self) -> tuple[object, ...]:
        """The key of the execution graph: the program and its algorithms."""
        return self.source.graph_key(self.algorithms)


@dataclass(frozen=True, eq=False)
class MeasuredFile:
    """Run times that were measured, and the program that they were given for."""

    name: str  # of the file
    runs: MeasuredRuns
    program: str  # that was in the controls

    @property
    def short_name(self) -> str:
        """The file's name without its folder."""
        return PurePath(self.name).name


@dataclass(frozen=True)
class ToleranceState:
    """The programs, parameters, zones and axis that define an analysis."""

    cases: tuple[ProgramVariant, ...]
    model: LogGPS = LOGGOPSIM
    machine: str = OWN  # that gave the model; OWN for other values
    percent: tuple[float, ...] = PERCENT  # by which T may grow
    interval: LatencyInterval | None = None  # of L, s; None: as the tolerances need
    own: int = 0  # index in cases of the program in the controls
    measured: MeasuredFile | None = None
    over: Over = "latency"

    @property
    def own_case(self) -> ProgramVariant:
        """The case of the program in the controls."""
        return self.cases[self.own]


@dataclass(frozen=True, eq=False)
class Analysed:
    """The results of an analysis, by the name of each curve in the figure."""

    state: ToleranceState
    name: str  # of the program in the controls
    program: AnyProgram  # with its collectives not yet expanded into messages
    graphs: Mapping[str, ExecutionGraph]
    results: Mapping[str, LatencySensitivity]
    cases: Mapping[str, ProgramVariant]
    left_out: tuple[str, ...] = ()  # why programs of the family are missing, a sentence each
    compared: bool = False  # whether the replays with contention are done
    prediction: RunPrediction | None = None  # measured run times beside the program's
    measured_error: str = ""  # why measured run times are not drawn
    bandwidths: Mapping[str, BandwidthSensitivity] = field(default_factory=dict)  # if over G

    @property
    def result(self) -> LatencySensitivity:
        """The result of the program in the controls."""
        return self.results[self.name]

    @property
    def curves(self) -> Mapping[str, ToleranceCurve]:
        """The results in the figure, over L or over G."""
        return self.bandwidths or self.results

    @property
    def curve(self) -> ToleranceCurve:
        """The result in the figure of the program in the controls."""
        return self.curves[self.name]

    @property
    def graph(self) -> ExecutionGraph:
        """The graph of the program in the controls."""
        return self.graphs[self.name]


def families_of(source: ProgramSource, program: AnyProgram) -> list[tuple[str, str]]:
    """Return the families that can be drawn with a program, as (text, value) of a list."""
    offered = [("this program alone", ALONE)]
    operations = program.operations if isinstance(program, Program) else {}
    offered += [(f"every algorithm of {name}", _EVERY + name) for name in operations]
    if source.name in GENERATED and GENERATED[source.name].generator in ("cg", "halo"):
        offered.append(("weak scaling: more ranks, the same work on each", WEAK))
        offered.append(("strong scaling: more ranks, the same total work", STRONG))
    return offered


def family_of(
    family: str,
    source: ProgramSource,
    algorithms: Mapping[str, str],
    arguments: Mapping[str, int | float | bool],
) -> tuple[ProgramVariant, ...]:
    """Return the cases of a family, in order, including the program itself."""
    own = ProgramVariant(source, dict(algorithms))
    if family.startswith(_EVERY):
        operation = family.removeprefix(_EVERY)
        chosen = algorithms.get(operation, DEFAULTS[operation])
        return tuple(
            ProgramVariant(source, _with(algorithms, operation, name), name)
            for name in dict.fromkeys((*ALGORITHMS[operation], chosen))
        )
    if family in (WEAK, STRONG):
        ranks = int(arguments["ranks"])
        return tuple(
            ProgramVariant(
                source if n == ranks else scaled(source.name, arguments, family, n),
                dict(algorithms),
                f"{n} ranks",
            )
            for n in ranks_of(ranks, _dimensions(arguments))
        )
    return (own,)


def ranks_of(ranks: int, dimensions: int) -> list[int]:
    """Return the ranks of a scaling family: half to four times as many along each axis."""
    side = ranks ** (1 / dimensions)
    # A cube of four times the side is 64 times as large: too slow, and it shows nothing new.
    sides = _SIDES if dimensions < 3 else _SIDES[:3]
    others = {max(round(side * times), 1) ** dimensions for times in sides if times != 1}
    return sorted({ranks, *(n for n in others if 2 <= n <= MOST_RANKS)})


def scaled(
    name: str, arguments: Mapping[str, int | float | bool], scaling: str, ranks: int
) -> ProgramSource:
    """Return a generated program on another number of ranks, scaled ``weak`` or ``strong``."""
    changed: dict[str, object] = {**arguments, "ranks": ranks}
    if scaling == STRONG:
        shape = grid_shape(int(arguments["ranks"]), _dimensions(arguments))
        changed["cells"] = tuple(int(arguments["cells"]) * along for along in shape)
        changed["scaling"] = STRONG
    generator = GENERATED[name].generator
    words = ", ".join(f"{key}={value!r}" for key, value in changed.items())

    def make() -> AnyProgram:
        made: AnyProgram = getattr(programs.generate, generator)(**changed)
        return made

    return ProgramSource(f"{name} on {ranks}", f"programs.generate.{generator}({words})", make)


def distinct(titles: Sequence[str]) -> list[str]:
    """Return the titles with a number added to each that occurs again."""
    names: list[str] = []
    for title in titles:
        name, number = title, 1
        while name in names:
            number += 1
            name = f"{title} ({number})"
        names.append(name)
    return names


def parse_percents(text: str) -> tuple[float, ...]:
    """Return the percentages of a text such as ``1, 2, 5``, ascending."""
    try:
        found = tuple(sorted({float(word) for word in text.replace(",", " ").split()}))
    except ValueError:
        found = ()
    if not 0 < len(found) <= _MOST_PERCENTS or not all(0 <= p < 1e6 for p in found):
        raise ParameterError(
            f"tolerances must be 1 to {_MOST_PERCENTS} percentages such as 1, 2, 5; got {text!r}",
            key="percent",
        )
    return found


def percents_text(percent: Sequence[float]) -> str:
    """Return percentages as the user types them."""
    return ", ".join(f"{p:g}" for p in percent)


def parse_interval(text: str) -> LatencyInterval | None:
    """Return an interval of L in s from a text such as ``0 to 20 us``; None if empty."""
    if not text.strip():
        return None
    parts = text.split("to")
    try:
        low, high = (_latency(part) for part in parts)
    except ValueError as error:
        raise ParameterError(
            f"the axis of L must be empty, or two latencies such as 0 to 20us; got {text!r}",
            key="interval",
        ) from error
    return check_interval((low, high))


def _latency(text: str) -> float:
    """Return a latency in s from a text; a number without a unit is in µs."""
    with contextlib.suppress(ValueError):
        text = f"{float(text)!r}us"
    return parse_loggps("L", text)


def check_interval(interval: LatencyInterval) -> LatencyInterval:
    """Return an interval of L in s after checking that it ascends."""
    low, high = interval
    if not (0 <= low < high < 1 and round(high * 1e12) > round(low * 1e12)):
        raise ParameterError(
            f"the axis of L must ascend, from at least 0 to less than 1 s; got {low:g} to "
            f"{high:g} s",
            key="interval",
        )
    return interval


def interval_text(interval: LatencyInterval | None) -> str:
    """Return an interval in s as the user types it, in µs."""
    return "" if interval is None else " to ".join(f"{end * 1e6:.9g}" for end in interval) + "us"


def python_lines(shown: Analysed) -> str:
    """Return Python code that computes the result, as ``result`` or ``results`` by name."""
    state = shown.state
    own = state.own_case.source
    base = ReplayState(own, state.model, machine=state.machine)
    function = "analyse_bandwidth" if shown.bandwidths else "analyse"
    lines = [
        f"from workbench import {model_module(base)}, programs",
        f"from workbench.tolerance import {function}",
        f"model = {model_expression(base)}",
    ]
    options = "" if state.percent == PERCENT else f", percent={state.percent!r}"
    several = len(shown.results) > 1
    asked = state.interval is not None and not shown.bandwidths
    if several or asked or shown.prediction is not None:
        options += f", interval={shown.curve.interval!r}"
    calls = {
        name: f"{function}({_graph_expression(case, shown)}, model{options})"
        for name, case in shown.cases.items()
    }
    if not several:
        lines.append(f"result = {calls[shown.name]}")
    else:
        rows = [f"    {name!r}: {call}," for name, call in calls.items()]
        lines += ["results = {", *rows, "}"]
    return "\n".join([*lines, *_measured_lines(shown, several=several)])


def _measured_lines(shown: Analysed, *, several: bool) -> list[str]:
    """Return Python code that sets measured run times beside the result, as ``prediction``."""
    if shown.prediction is None or shown.state.measured is None:
        return []
    ((program, ranks),) = shown.prediction.runs.programs
    whole = shown.state.measured.runs
    chosen = "" if len(whole.programs) == 1 else f".only({program!r}, {ranks})"
    result = f"results[{shown.name!r}]" if several else "result"
    return [
        "from workbench.measure import read_measured_runs",
        "from workbench.tolerance import RunPrediction",
        f"runs = read_measured_runs({shown.state.measured.name!r}){chosen}",
        f"prediction = RunPrediction({result}, runs)",
    ]


def _graph_expression(case: ProgramVariant, shown: Analysed) -> str:
    # A graph that was passed, uploaded or generated has its algorithms already.
    if not case.algorithms:
        return case.source.expression
    chosen = ", ".join(f'"{op}": "{name}"' for op, name in sorted(case.algorithms.items()))
    whole = "program" if case.source.expression == GIVEN else case.source.expression
    return f"{whole}.graph({{{chosen}}})"


def _with(algorithms: Mapping[str, str], operation: str, name: str) -> dict[str, str]:
    changed = {**algorithms, operation: name}
    return {op: chosen for op, chosen in changed.items() if chosen != DEFAULTS[op]}


def _dimensions(arguments: Mapping[str, int | float | bool]) -> int:
    return int(arguments.get("dims", 2))
