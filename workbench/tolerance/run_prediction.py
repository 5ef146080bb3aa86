"""Predicted run times beside measured ones, over the latency that was added to the network's own.

runs = read_measured_runs("cg-8.csv")
predict_runs("cg-8", machine, runs).rrmse_percent

Shen et al., LLAMP, section III.C: the error is the root mean square of the differences over the
mean of the measured times, RRMSE (Despotovic et al. 2016).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from workbench.arrays import FloatArray
from workbench.errors import ParameterError
from workbench.measure import MeasuredRuns, RunPoints
from workbench.models import LogGPS
from workbench.programs import Program, without_own_messages
from workbench.programs.find_program import ProgramLike, find, graph_of
from workbench.result import Drawing, StoredResult
from workbench.simulate import by_arrival, receives_from_any
from workbench.simulate.picoseconds import PS_PER_S
from workbench.tolerance.analysis import analyse
from workbench.tolerance.arrivals import analyse_by_arrival
from workbench.tolerance.curve import PERCENT, LatencySensitivity

if TYPE_CHECKING:
    import pandas as pd

    from workbench.programs import ExecutionGraph


Zone = Literal["hidden", "transition", "proportional"]
"""Where computation hides added latency, where it begins to show, and where T grows with it."""

ZONES: tuple[Zone, ...] = get_args(Zone)

_TICK_S = 1e-12  # to which latencies of an analysis are rounded
_MARGIN = 0.02  # of the measured range, by which the curve reaches beyond it
_EDGE = 0.05  # of the rise of λ_L: as much may change within the first and the last zone


@dataclass(frozen=True, eq=False, repr=False)
class RunPrediction(StoredResult):
    """A program's measured run times under added latency, and the predicted ones.

    A point is one added latency, with the median of its repeats. Points outside the interval of the
    analysis are left out.

    Attributes:
        analysis: T over L; its base latency is that of the network with nothing added.
        runs: of the one program.

    Raises:
        ParameterError: the runs are of several programs, or the analysis holds none of their
            latencies.
    """

    analysis: LatencySensitivity
    runs: MeasuredRuns

    plot = Drawing("plot_run_prediction", package="workbench.tolerance")

    def __post_init__(self) -> None:
        if not len(self.points.added_s):
            low, high = (end - self.analysis.L for end in self.analysis.interval)
            raise ParameterError(
                f"the analysis must hold an added latency of the runs; it is of {low * 1e6:g} to "
                f"{high * 1e6:g} µs above the network's own, they have "
                f"{self.runs.added_s.min() * 1e6:g} to {self.runs.added_s.max() * 1e6:g} µs",
                key="interval",
            )

    @property
    def by_arrival(self) -> bool:
        """Whether arrivals decided whom its receives from any source answer, at each latency."""
        return self.analysis.method == "arrivals"

    @property
    def name(self) -> str:
        """Name of the program as the runs have it, else as the analysis has it."""
        return self.runs.program[0] or self.analysis.source

    @property
    def points(self) -> RunPoints:
        """The measured points within the interval of the analysis."""
        added, spread = self.runs.points()
        low, high = self.analysis.interval
        L = self.analysis.L + added
        kept = (L >= low - _TICK_S) & (L <= high + _TICK_S)
        quartiles = (spread.minimum, spread.p25, spread.median, spread.p75, spread.maximum)
        return RunPoints(
            added[kept],
            type(spread).from_quartiles([one[kept] for one in quartiles], spread.count[kept]),
        )

    @property
    def added_s(self) -> FloatArray:
        """Added latency of each point, one way, float64[points], s."""
        return self.points.added_s

    @property
    def measured_s(self) -> FloatArray:
        """Median of the repeats of each point, float64[points], s."""
        return self.points.spread.median

    @property
    def predicted_s(self) -> FloatArray:
        """T at each point's latency, float64[points], s."""
        return self.analysis.T_of(self.analysis.L + self.added_s)

    @property
    def error_percent(self) -> FloatArray:
        """Predicted over measured less 1, float64[points], percent."""
        return 100 * (self.predicted_s / self.measured_s - 1)

    @property
    def measured_slope(self) -> FloatArray:
        """The measured λ_L, the mean between two neighbouring points, float64[points - 1]."""
        return self._slope(self.measured_s)

    @property
    def predicted_slope(self) -> FloatArray:
        """The predicted λ_L, the mean between two neighbouring points, float64[points - 1]."""
        return self._slope(self.predicted_s)

    def _slope(self, times_s: FloatArray) -> FloatArray:
        return np.asarray(np.diff(times_s) / np.diff(self.added_s), np.float64)

    @property
    def zone_edges_s(self) -> tuple[float, float]:
        """Added latencies in s at which λ_L begins to rise, and at which it has risen.

        Within the measured range λ_L rises from its first value to its last. Up to the first edge
        at most a twentieth of that rise has come, from the second on at most a twentieth is left.
        Where λ_L does not rise both edges are at the end of the range if it is 0, else at its
        beginning.
        """
        analysis, L = self.analysis, self.analysis.L
        low, high = L + self.added_s[[0, -1]]
        first, last = analysis.lambda_of([low, high]).tolist()
        if first == last:
            end = float(low if last else high) - L
            return end, end
        inside = analysis.corners[1:-1]
        inside = inside[(inside > low) & (inside <= high)]
        corners = np.concatenate([[low], inside])
        risen = (analysis.lambda_of(corners) - first) / (last - first)
        begins, ends = corners[[np.argmax(risen > _EDGE), np.argmax(risen >= 1 - _EDGE)]].tolist()
        return begins - L, ends - L

    @property
    def zones(self) -> tuple[Zone, ...]:
        """The zone of each point."""
        # A point at an edge belongs to the zone above it, as λ_L there is the slope above.
        at = np.searchsorted(self.zone_edges_s, self.added_s + 0.5 / PS_PER_S, side="right")
        grows = self.analysis.lambda_of(self.analysis.L + self.added_s[-1]) > 0
        return tuple(ZONES[edges if grows else 0] for edges in at.tolist())

    @property
    def rmse_s(self) -> float:
        """Root mean square of predicted less measured times, s."""
        return float(np.sqrt(np.mean((self.predicted_s - self.measured_s) ** 2)))

    @property
    def rrmse_percent(self) -> float:
        """Root mean square error over the mean of the measured medians, percent."""
        return rrmse_percent(self.measured_s, self.predicted_s)

    @property
    def base_percent(self) -> float:
        """Predicted over measured time with nothing added, less 1, percent; nan without such runs.

        The trace's own computation and the cost of a message make it up, not the added latency.
        """
        return float(self.error_percent[0]) if self.added_s[0] < _TICK_S else float("nan")

    @property
    def effect_percent(self) -> float:
        """Root mean square error of the time that latency adds over its measured mean, percent.

        The time that latency adds to a point is its run time less that with nothing added, both
        predicted or both measured. The error is nan where no run had nothing added, or where the
        runs took no longer with latency than without.
        """
        measured, predicted = (t[1:] - t[0] for t in (self.measured_s, self.predicted_s))
        if self.added_s[0] >= _TICK_S or not measured.sum() > 0:
            return float("nan")
        return rrmse_percent(measured, predicted)

    @property
    def zone_rrmse_percent(self) -> dict[Zone, float]:
        """The same of the points of each zone that has some."""
        points = {zone: np.array(self.zones) == zone for zone in ZONES}
        return {
            zone: rrmse_percent(self.measured_s[at], self.predicted_s[at])
            for zone, at in points.items()
            if at.any()
        }

    def to_frame(self) -> pd.DataFrame:
        """Return one row a point.

        Returns:
            ``added (µs)``, ``zone``, ``repeats``, ``measured (s)``, the median; ``p25 (s)``,
            ``p75 (s)``, ``predicted (s)``, ``error (%)``; ``λ_L measured`` and ``λ_L predicted``,
            means from the point before.
        """
        import pandas as pd

        spread = self.points.spread
        return pd.DataFrame(
            {
                "added (µs)": self.added_s * 1e6,
                "zone": self.zones,
                "repeats": spread.count,
                "measured (s)": spread.median,
                "p25 (s)": spread.p25,
                "p75 (s)": spread.p75,
                "predicted (s)": self.predicted_s,
                "error (%)": self.error_percent,
                "λ_L measured": np.concatenate([[np.nan], self.measured_slope]),
                "λ_L predicted": np.concatenate([[np.nan], self.predicted_slope]),
            }
        )

    def summary(self) -> dict[str, object]:
        """Return the command's JSON values: errors, zones, and each point."""
        return {
            "rrmse_percent": self.rrmse_percent,
            "rmse_s": self.rmse_s,
            "base_percent": self.base_percent,
            "effect_percent": self.effect_percent,
            "zone_rrmse_percent": self.zone_rrmse_percent,
            "zone_edges_us": [edge * 1e6 for edge in self.zone_edges_s],
            "points": {
                "added_us": self.added_s * 1e6,
                "zone": self.zones,
                "repeats": self.points.spread.count,
                "measured_s": self.measured_s,
                "predicted_s": self.predicted_s,
                "error_percent": self.error_percent,
                "measured_lambda_L": self.measured_slope,
                "predicted_lambda_L": self.predicted_slope,
            },
            "provenance": self.runs.provenance.to_dict(),
        }

    def __repr__(self) -> str:
        zones = ", ".join(f"{zone} {one:.2f}" for zone, one in self.zone_rrmse_percent.items())
        worst = int(np.argmax(np.abs(self.error_percent)))
        return (
            f"RunPrediction({self.name}: {len(self.added_s)} points of "
            f"{len(self.runs)} {self.runs.provenance.origin} runs; RRMSE {self.rrmse_percent:.2f} "
            f"% ({zones}); largest error {self.error_percent[worst]:+.2f} % with "
            f"{self.added_s[worst] * 1e6:g} µs added)"
        )


@dataclass(frozen=True, eq=False, repr=False)
class TracePredictions(StoredResult):
    """Measured run times, and predictions from traces of one program at several added latencies.

    Shen et al., LLAMP, Fig. 12: a program that schedules by what arrives does other things where
    latencies are longer, so that a trace predicts best near the latency that it was recorded at.

    Attributes:
        traced_s: float64[traces], latency that was added as each trace was recorded, s.
        predictions: of each trace, in the same order.
    """

    traced_s: FloatArray
    predictions: tuple[RunPrediction, ...]

    plot = Drawing("plot_trace_predictions", package="workbench.tolerance")

    @property
    def runs(self) -> MeasuredRuns:
        """The measured runs, the same for all traces."""
        return self.predictions[0].runs

    @property
    def analyses(self) -> dict[str, LatencySensitivity]:
        """T over L from each trace, by names such as ``traced with 500 µs added``."""
        return {
            f"traced with {added * 1e6:g} µs added": one.analysis
            for added, one in zip(self.traced_s.tolist(), self.predictions, strict=True)
        }

    def to_frame(self) -> pd.DataFrame:
        """Return one row a trace.

        Returns:
            ``traced at (µs)``, ``RRMSE (%)`` over all points, ``error there (%)`` at the measured
            point nearest to where the trace was recorded, ``T (s)`` with nothing added,
            ``tolerance, P % (µs)`` in latency added beyond the network's own.
        """
        import pandas as pd

        rows = []
        for added, one in zip(self.traced_s.tolist(), self.predictions, strict=True):
            nearest = int(np.argmin(np.abs(one.added_s - added)))
            rows.append(
                {
                    "traced at (µs)": added * 1e6,
                    "RRMSE (%)": one.rrmse_percent,
                    "error there (%)": float(one.error_percent[nearest]),
                    "T (s)": one.analysis.T,
                    **{
                        f"tolerance, {p:g} % (µs)": (largest - one.analysis.L) * 1e6
                        for p, largest in one.analysis.tolerance.items()
                    },
                }
            )
        return pd.DataFrame(rows)

    def summary(self) -> dict[str, object]:
        """Return the command's JSON values: those of each trace, with its added latency in µs."""
        return {
            "traces": [
                {"traced_us": added * 1e6, **one.summary()}
                for added, one in zip(self.traced_s.tolist(), self.predictions, strict=True)
            ]
        }

    def __repr__(self) -> str:
        traces = ", ".join(
            f"{added * 1e6:g} µs {one.rrmse_percent:.2f} %"
            for added, one in zip(self.traced_s.tolist(), self.predictions, strict=True)
        )
        return (
            f"TracePredictions({len(self.predictions)} traces, {len(self.runs)} "
            f"{self.runs.provenance.origin} runs; RRMSE by latency added at the trace: {traces})"
        )

    def _check(self) -> None:
        self._check_lengths({"traced_s": len(self.predictions)})


def predict_runs(
    program: ProgramLike,
    model: LogGPS,
    runs: MeasuredRuns,
    *,
    percent: Sequence[float] = PERCENT,
    interval: tuple[float, float] | None = None,
    name: str | None = None,
    algorithms: Mapping[str, str] | None = None,
    arrivals: bool = False,
) -> RunPrediction:
    """Return a program's predicted run times beside those that were measured.

    Messages of a rank to itself, to which no latency was added, are left out but for o of each
    call; a warning of the analysis says how many.

    Args:
        program: the program; a graph, whose calls are not known, stays as it is.
        model: the network as it is with nothing added.
        runs: measured run times; of several programs those of the same name and ranks.
        percent: tolerances to compute, as for ``analyse``.
        interval: first and last latency of the curve, s; None holds all measured points.
        name: of the program in ``runs``; None takes the only one that can be it.
        algorithms: of collectives that are still whole, by operation; what is left out takes its
            default.
        arrivals: let arrivals decide at each measured latency whom receives from any source answer,
            and so who gets the work of a task, where the trace makes it plain; a warning says so,
            or why not.

    Raises:
        ProgramError: the program cannot run to its end.
        ParameterError: the runs hold no such program, or several that it could be.
    """
    found, warnings = find(program), list[str]()
    if isinstance(found, Program):
        there = without_own_messages(found, round(model.o * 1e9))
        warnings += _new_notes(found, there)
        found = there
    graph = graph_of(found, algorithms)
    chosen = runs_of(runs, graph, name=name)
    span = interval or measured_interval(model.L, chosen)
    if arrivals and isinstance(found, Program) and receives_from_any(found):
        there = by_arrival(found, model, algorithms)
        if not receives_from_any(there):
            added = np.unique(chosen.added_s)
            L = np.unique(np.clip([*span, *(model.L + added)], *span))
            replayed = analyse_by_arrival(
                found, model, L.tolist(), percent=percent, algorithms=algorithms
            )
            warnings += replayed.warnings
            return RunPrediction(replace(replayed, warnings=tuple(warnings)), chosen)
        warnings += _new_notes(found, there)
    analysis = analyse(graph, model, percent=percent, interval=span, contention=False)
    return RunPrediction(replace(analysis, warnings=(*analysis.warnings, *warnings)), chosen)


def _new_notes(before: Program, after: Program) -> list[str]:
    return [note.removesuffix(".") for note in after.notes[len(before.notes) :]]


def predict_from_traces(
    traces: Mapping[float, ProgramLike],
    model: LogGPS,
    runs: MeasuredRuns,
    *,
    percent: Sequence[float] = PERCENT,
    name: str | None = None,
    algorithms: Mapping[str, str] | None = None,
) -> TracePredictions:
    """Return predictions from traces of one program, each recorded with latency added, and runs.

    Args:
        traces: programs by the latency in s that was added as each was recorded.
        model: the network as it is with nothing added.
        runs: measured run times, as for ``predict_runs``.
        percent: tolerances to compute.
        name: of the program in ``runs``; None takes the only one that can be it.
        algorithms: of collectives that are still whole, as for ``predict_runs``.

    Raises:
        ProgramError: a program cannot run to its end.
        ParameterError: there is no trace, a latency is negative, or the runs hold no such program.
    """
    if not traces or min(traces) < 0:
        raise ParameterError(
            "traces must be at least one program by an added latency of at least 0 s; got "
            f"{', '.join(f'{added:g} s' for added in traces) or 'none'}",
            key="traces",
        )
    added = sorted(traces)
    found = [
        predict_runs(traces[one], model, runs, percent=percent, name=name, algorithms=algorithms)
        for one in added
    ]
    return TracePredictions(np.array(added, np.float64), tuple(found))


def runs_of(
    runs: MeasuredRuns, program: ExecutionGraph, *, name: str | None = None
) -> MeasuredRuns:
    """Return the runs of one program: by its name if one is given, else those that it could be.

    ParameterError where there is none, or where several could be it.
    """
    ranks = program.num_ranks
    cases = [
        (case, many) for case, many in runs.programs if many in (0, ranks) and name in (None, case)
    ]
    if len(cases) > 1:
        cases = [case for case in cases if case[0] == program.source] or cases
    if len(cases) != 1:
        there = ", ".join(f"{case or 'a program'} on {many} ranks" for case, many in runs.programs)
        what = f"{name or program.source} on {ranks} ranks"
        raise ParameterError(
            f"the runs must be of one program that can be {what}; they are of {there}: name it, or "
            "take its runs with only(program=..., ranks=...)",
            key="measured",
        )
    return runs.only(*cases[0])


def measured_interval(L: float, runs: MeasuredRuns) -> tuple[float, float]:
    """Return an interval of latencies in s that holds a base latency and all measured points."""
    widest = float(runs.added_s.max())
    return L, L + max(widest * (1 + _MARGIN), 1e-9)


def rrmse_percent(measured: ArrayLike, predicted: ArrayLike) -> float:
    """Return the root mean square of differences over the mean of what was measured, percent."""
    known, found = np.asarray(measured, float), np.asarray(predicted, float)
    return float(100 * np.sqrt(np.mean((found - known) ** 2)) / np.mean(known))
