"""Measured run times beside predicted ones: errors by hand, zones, and what is refused."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from tests.cases import for_each
from tests.unit.tolerance.results import from_lines
from workbench import programs
from workbench.errors import ParameterError
from workbench.measure import MeasuredRuns
from workbench.models import LogGPS
from workbench.provenance import Provenance
from workbench.tolerance import (
    RunPrediction,
    TracePredictions,
    analyse,
    describe_run_prediction,
    predict_from_traces,
    predict_runs,
    running_example,
)
from workbench.tolerance.arrivals import _largest
from workbench.tolerance.run_prediction import rrmse_percent

ABOUT = Provenance("synthetic", "written by hand")
# T = 100 µs, then 90 µs + 5 L from 2 µs on, then 50 µs + 10 L from 8 µs on; the base L is 1 µs.
BENT = ((100_000, 0), (90_000, 5), (50_000, 10))


def runs_at(
    added_us: Sequence[float], time_us: Sequence[float], program: str = "lines", ranks: int = 2
) -> MeasuredRuns:
    added, time = np.array(added_us) * 1e-6, np.array(time_us) * 1e-6
    return MeasuredRuns.of(added, time, provenance=ABOUT, program=program, ranks=ranks)


def test_errors_by_hand() -> None:
    """Predicted are 100, 105 and 131 µs; measured medians 100, 100 and 141 µs."""
    found = RunPrediction(from_lines(*BENT), runs_at([0, 2, 2, 2, 7.1], [100, 99, 100, 180, 141]))
    assert found.predicted_s == pytest.approx([100e-6, 105e-6, 131e-6])
    assert found.measured_s == pytest.approx([100e-6, 100e-6, 141e-6])
    assert found.error_percent == pytest.approx([0, 5, -1000 / 141])
    # sqrt((0 + 25 + 100) / 3) over (100 + 100 + 141) / 3
    assert found.rmse_s == pytest.approx(1e-6 * np.sqrt(125 / 3))
    assert found.rrmse_percent == pytest.approx(100 * np.sqrt(125 / 3) / (341 / 3))
    assert found.measured_slope == pytest.approx([0, 41 / 5.1])
    assert found.predicted_slope == pytest.approx([2.5, 26 / 5.1])
    assert repr(found) == (
        "RunPrediction(lines: 3 points of 5 synthetic runs; RRMSE 5.68 % (hidden 0.00, transition "
        "5.00, proportional 7.09); largest error -7.09 % with 7.1 µs added)"
    )


def test_zones_are_where_the_slope_is_at_its_first_and_last_value() -> None:
    found = RunPrediction(from_lines(*BENT), runs_at([0, 0.5, 1, 3, 6.9, 7, 9], [100] * 7))
    # λ_L rises from 0 at 2 µs, which is 1 µs added, to 10 at 8 µs.
    assert found.zone_edges_s == pytest.approx((1e-6, 7e-6))
    assert found.zones == (
        *("hidden", "hidden", "transition", "transition", "transition"),
        *("proportional", "proportional"),
    )
    assert [*found.zone_rrmse_percent] == ["hidden", "transition", "proportional"]


def test_a_twentieth_of_the_rise_moves_no_zone() -> None:
    nearly = from_lines((100_000, 0), (99_000, 1), (20_000, 40), (5_000, 41))
    found = RunPrediction(nearly, runs_at([0, 0.5, 1.5, 18], [100] * 4))
    # The slope becomes 1 at 1 µs, 40 at 79 / 39 µs, and 41 at 15 µs; 1 is less than 41 / 20.
    assert found.zone_edges_s == pytest.approx((79e-6 / 39 - 1e-6,) * 2)
    assert found.zones == ("hidden", "hidden", "proportional", "proportional")


@for_each("slope, zone", [(0, "hidden"), (3, "proportional")])
def test_a_slope_that_never_changes_is_one_zone(slope: int, zone: str) -> None:
    found = RunPrediction(from_lines((100_000, slope)), runs_at([0, 5, 19], [100] * 3))
    assert found.zones == (zone,) * 3


def test_points_outside_the_analysis_are_left_out() -> None:
    found = RunPrediction(from_lines(*BENT), runs_at([0, 7, 50], [100, 130, 600]))
    assert found.added_s == pytest.approx([0, 7e-6])
    assert found.rrmse_percent == pytest.approx(0, abs=1e-10)
    with pytest.raises(ParameterError, match=r"must hold an added latency.* 0 to 19 µs .* 50"):
        RunPrediction(from_lines(*BENT), runs_at([50], [600]))


def test_a_latency_between_whole_picoseconds_keeps_its_first_and_last_point() -> None:
    graph, model = running_example()
    # The interval begins at 17,938,037 ps, which is above L.
    between = model.replace(L=1.7938036969866072e-05)
    found = predict_runs(graph, between, runs_at([0, 1, 2], [40, 41, 42]))
    assert found.added_s == pytest.approx([0, 1e-6, 2e-6])


def test_an_exact_program_has_no_error() -> None:
    """T = max(L + 1.115 µs, 1.5 µs) with a base L of 0.5 µs."""
    graph, model = running_example()
    found = predict_runs(graph, model, runs_at([0, 1, 4], [1.615, 2.615, 5.615], ""))
    assert found.rrmse_percent == pytest.approx(0, abs=1e-9)
    assert found.analysis.interval[1] > model.L + 4e-6
    assert found.zones == ("proportional",) * 3


def test_runs_of_several_programs_are_told_apart() -> None:
    halo, model = programs.load("halo-4").graph(), LogGPS(1e-6, 1e-7, 0.0, 1e-11, 0.0, 65536)
    T = analyse(halo, model, contention=False).T
    mixed = MeasuredRuns.of(
        [0, 0, 0],
        [T, 2 * T, 3 * T],
        provenance=ABOUT,
        program=[halo.source, "cg", halo.source],
        ranks=[4, 4, 8],
    )
    assert predict_runs(halo, model, mixed).measured_s == pytest.approx([T])
    assert predict_runs(halo, model, mixed, name="cg").measured_s == pytest.approx([2 * T])
    with pytest.raises(ParameterError, match=r"can be lu on 4 ranks; they are of .*cg on 4 ranks"):
        predict_runs(halo, model, mixed, name="lu")
    with pytest.raises(ParameterError, match="they are of a program on 2 ranks, b on 2 ranks"):
        predict_runs(
            *running_example(),
            MeasuredRuns.of([0, 0], [1.0, 1.0], provenance=ABOUT, program=["", "b"], ranks=2),
        )


def test_traces_at_several_latencies_share_the_measured_runs(tmp_path: Path) -> None:
    graph, model = running_example()
    slow, _ = running_example(1000)
    runs = runs_at([0, 1, 4], [1.615, 2.615, 5.615], "")
    found = predict_from_traces({4e-6: slow, 0.0: graph}, model, runs)
    assert found.traced_s.tolist() == [0, 4e-6]
    frame = found.to_frame()
    assert frame["RRMSE (%)"][0] == pytest.approx(0, abs=1e-9)
    by_hand = analyse(slow, model, contention=False).T_of(model.L)
    assert frame["T (s)"][1] == pytest.approx(float(by_hand))
    assert [*found.analyses] == ["traced with 0 µs added", "traced with 4 µs added"]
    again = TracePredictions.load(found.save(tmp_path / "traces.json"))
    assert repr(again) == repr(found)
    with pytest.raises(ParameterError, match="at least one program"):
        predict_from_traces({}, model, runs)


def test_a_prediction_is_saved_whole(tmp_path: Path) -> None:
    found = RunPrediction(from_lines(*BENT), runs_at([0, 2, 7], [100, 100, 140]))
    again = RunPrediction.load(found.save(tmp_path / "prediction.json"))
    assert again.to_frame().equals(found.to_frame())
    assert again.runs.provenance == ABOUT


def test_the_error_of_the_mean_is_its_relative_root_mean_square() -> None:
    assert rrmse_percent([1.0, 3.0], [1.0, 3.0]) == 0
    assert rrmse_percent([1.0, 3.0], [2.0, 4.0]) == pytest.approx(50)


def answering(*, first_us: int, second_us: int) -> programs.Program:
    """Return a master with two workers, traced as if the first answered first, and got the rest."""
    builder = programs.ProgramBuilder(3)
    for worker, task_us in ((1, first_us), (2, second_us)):
        builder.send(0, worker, 1)
        builder.recv(worker, 0, 1)
        builder.compute(worker, task_us * 1000)
        builder.send(worker, 0, 1)
    builder.recv(0, programs.ANY_SOURCE, 1)
    builder.send(0, 1, 1)
    builder.recv(1, 0, 1)
    builder.compute(1, 40_000)
    builder.send(1, 0, 1)
    for _ in range(2):
        builder.recv(0, programs.ANY_SOURCE, 1)
    return builder.build()


def test_arrivals_decide_who_gets_the_work_of_a_task() -> None:
    """The second worker is done at 30 + 2 L and again at 70 + 4 L; the first at 60 + 2 L."""
    program = answering(first_us=60, second_us=30)
    model = LogGPS(L=1e-6, o=0, g=0, G=0, O=0, S=64)
    runs = runs_at([0, 10], [74, 114], ranks=3)
    found = predict_runs(program, model, runs, arrivals=True, percent=(25, 100))
    assert found.by_arrival
    assert found.predicted_s == pytest.approx([74e-6, 114e-6])
    assert found.analysis.lambda_L == 4
    assert len(found.analysis.critical) == 0
    assert found.plot() is not None
    # A straight line of 4 latencies, also beyond what was measured.
    assert found.analysis.tolerance == pytest.approx({25: 1e-6 + 18.5e-6 / 4, 100: 19.5e-6})
    traced = predict_runs(program, model, runs)
    assert not traced.by_arrival
    # The second's message is received first, but the first gets the task: done at 100 + 2 L.
    assert traced.predicted_s == pytest.approx([102e-6, 122e-6])


def test_where_it_is_not_plain_whom_a_receive_answers_the_prediction_says_so() -> None:
    builder = programs.ProgramBuilder(3)
    for worker in (1, 2):
        builder.send(worker, 3 - worker, 1)
        builder.recv(worker, 3 - worker, 1)
        builder.send(worker, 0, 1)
        builder.recv(0, programs.ANY_SOURCE, 1)
    model = LogGPS(L=1e-6, o=0, g=0, G=0, O=0, S=64)
    runs = runs_at([0, 10], [2, 22], ranks=3)
    found = predict_runs(builder.build(), model, runs, arrivals=True)
    assert not found.by_arrival
    assert found.predicted_s == pytest.approx([2e-6, 22e-6])
    assert found.analysis.warnings == (
        "2 receives from any source are answered as traced: send of rank 1, call 0, stands beside "
        "them",
    )
    assert "2 receives from any source are answered as traced" in describe_run_prediction(found)


def test_a_tolerance_by_arrival_ends_where_the_time_first_exceeds_it() -> None:
    """Straight lines from 10 to 12, 11, 13 and 13 µs."""
    L, T = np.array([1.0, 2, 3, 4, 5]) * 1e-6, np.array([10.0, 12, 11, 13, 13]) * 1e-6
    slopes = np.diff(T) / np.diff(L)
    assert _largest(L, T, slopes, 11e-6) == pytest.approx(1.5e-6)
    assert _largest(L, T, slopes, 12.5e-6) == pytest.approx(3.75e-6)
    assert _largest(L, T, slopes, 14e-6) == np.inf
    assert _largest(L[:2], T[:2], slopes[:1], 14e-6) == pytest.approx(3e-6)
