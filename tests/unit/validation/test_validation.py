"""Recordings of programs under added latency: measured, kept, and held against predictions."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.reference import first_come
from tests.unit import commands
from workbench import simulate
from workbench.cli import main
from workbench.errors import DatasetError, ParameterError
from workbench.measure import MeasuredRuns
from workbench.measure.cluster import Cluster, ClusterError, MessageCost, Quartiles
from workbench.mpi import Launcher, MPIError, find_launcher
from workbench.namespaces import NamespaceError
from workbench.plotting.predict.emulated import describe_emulated_collectives
from workbench.predict.published_spread import published_spread
from workbench.programs.recording import record
from workbench.tasks import Task
from workbench.tolerance import describe_run_prediction, predict_runs
from workbench.tolerance.run_prediction import rrmse_percent
from workbench.validation import (
    SUITE,
    CostAtLatency,
    EmulatedCollectives,
    InjectedMessages,
    InjectorComparison,
    ProgramRecording,
    ValidationReport,
    compare_injectors,
    measure_collectives,
    measure_program,
    measure_two_messages,
    predict_recording,
    recording_of,
    seen_runs,
    shipped_collectives,
    shipped_names,
    shipped_two_messages,
    validation_report,
)
from workbench.validation.open_mpi import forced_algorithms
from workbench.validation.recording import provenance
from workbench.validation.report import trusted
from workbench.validation.two_messages import EXPECTED, SCHEMES

ADDED_S = (0.0, 1e-3, 3e-3, 6e-3)


@pytest.fixture(scope="module")
def recording() -> ProgramRecording:
    """The first of the shipped recordings."""
    return recording_of(shipped_names()[0])


@pytest.fixture(scope="module")
def report() -> ValidationReport:
    """The errors of the shipped recordings."""
    return validation_report()


@pytest.fixture(scope="module")
def mpi() -> Launcher:
    """The MPI of this machine, where there can be an emulated cluster."""
    try:
        with Cluster(1) as cluster:
            return find_launcher(cluster.launcher.mpirun)
    except (MPIError, NamespaceError, ClusterError) as error:
        pytest.skip(str(error))


def cost(half_trip_us: float, overhead_us: float, size: int = 8) -> MessageCost:
    trip, call = (Quartiles(*(us / 1e6,) * 3) for us in (half_trip_us, overhead_us))
    return MessageCost(size, trip, call, call, call)


def made_up(recording: ProgramRecording, seconds: float) -> ProgramRecording:
    """Return a recording whose times are what its own prediction says, and some seconds more."""
    costs = tuple(
        CostAtLatency(added, 0, cost(50 + 1e6 * added, 10, size))
        for added in ADDED_S
        for size in (8, 64)
    )
    model = replace(recording, costs=costs).model()
    graph = recording.program().graph(recording.algorithms)
    times = [
        simulate.replay(graph, model.replace(L=model.L + added), semantics="llamp").makespan_s
        for added in ADDED_S
    ]
    runs = MeasuredRuns.of(
        ADDED_S,
        [time + seconds for time in times],
        provenance=provenance("made up", "simulated", "a test"),
        program=recording.name,
        ranks=recording.ranks,
    )
    return replace(recording, costs=costs, runs=runs)


def test_a_program_that_behaves_like_the_model_is_predicted_exactly(
    recording: ProgramRecording,
) -> None:
    found = predict_recording(made_up(recording, 0.0))
    assert found.rrmse_percent < 1e-6
    slower = predict_recording(made_up(recording, 0.01))
    assert slower.measured_s - slower.predicted_s == pytest.approx(0.01, rel=1e-6)
    assert slower.rrmse_percent == pytest.approx(100 * 0.01 / slower.measured_s.mean(), rel=1e-6)


def test_an_error_is_the_bases_or_that_of_the_time_added(recording: ProgramRecording) -> None:
    exact = made_up(recording, 0.0)
    T = exact.runs.time_s
    for times, base, effect in (
        (T + 0.01, 100 * (T[0] / (T[0] + 0.01) - 1), 0.0),  # a trace that misses 10 ms of computing
        (T[0] + (T - T[0]) / 2, 0.0, 100.0),  # half of the messages wait for nobody
    ):
        found = predict_recording(replace(exact, runs=replace(exact.runs, time_s=times)))
        assert found.base_percent == pytest.approx(base, abs=1e-6)
        # Half of the time added is missing at each point: the error is the root mean square of
        # the times added over their mean, of one shape with the true ones.
        added = T[1:] - T[0]
        shape = np.sqrt(np.mean(added**2)) / added.mean()
        assert found.effect_percent == pytest.approx(effect * shape, rel=1e-6, abs=1e-6)
    flat = replace(exact, runs=replace(exact.runs, time_s=np.full_like(T, T[0])))
    assert np.isnan(predict_recording(flat).effect_percent)
    late = replace(exact.runs, added_s=exact.runs.added_s + 1e-3)
    model, graph = exact.model(), exact.program().graph(exact.algorithms)
    assert np.isnan(predict_runs(graph, model, late, name=exact.name).base_percent)
    assert np.isnan(predict_runs(graph, model, late, name=exact.name).effect_percent)


@pytest.mark.parametrize(
    ("base", "effect", "everywhere", "said"),
    [
        (-5, 5, 2, "run times and slowdown"),
        (4, 4, 2.1, "slowdown, not run times"),
        (-5.1, 5, 1, "time added, not slowdown"),
        (5, 5.1, 1, "only with nothing added"),
        (6, 6, 1, "nothing"),
        (np.nan, 1, 1, "cannot be told"),
        (1, np.nan, 1, "cannot be told"),
    ],
)
def test_what_can_be_trusted_follows_from_the_parts(
    base: float, effect: float, everywhere: float, said: str
) -> None:
    assert trusted(base, effect, everywhere) == said


def test_no_shipped_recording_hangs_on_the_limit_of_trust(report: ValidationReport) -> None:
    base, effect = np.abs(report.base_percent), report.effect_percent
    assert not ((base > 4.0) & (base < 6.2)).any()
    assert not ((effect > 3.9) & (effect < 9.6)).any()
    assert len(set(report.trust)) > 3
    assert report.to_frame()["trust"].tolist() == list(report.trust)


@pytest.mark.parametrize("name", ["master_worker-4", "master_worker-8"])
def test_what_a_trace_of_a_master_and_workers_misses_is_who_answers_first(name: str) -> None:
    """A replay by arrivals takes away most of the error, and any trace of the program will do."""
    recording = recording_of(name)
    for added in recording.traces:
        traced = predict_recording(recording, traced_s=added, arrivals=False)
        found = predict_recording(recording, traced_s=added)
        program, model = recording.program(added), recording.model()
        plain = [first_come.run_s(program, model.replace(L=model.L + s)) for s in found.added_s]
        assert rrmse_percent(found.measured_s, plain) < traced.rrmse_percent / 2.5
        assert found.by_arrival
        assert not traced.by_arrival
        # Ours counts each rank's start and last work too, which is 0.6 points more of 8 ranks.
        assert found.rrmse_percent < traced.rrmse_percent / 2.25, f"from the trace at {added:g} s"
        assert found.rrmse_percent < 1.5 or name == "master_worker-8"
        assert found.added_s.tolist() == traced.added_s.tolist()
        assert "is decided by arrivals" in describe_run_prediction(found)
        assert "arrivals" not in describe_run_prediction(traced)


def test_the_report_says_which_programs_arrivals_decide(
    report: ValidationReport, capsys: pytest.CaptureFixture[str]
) -> None:
    masters = [name == "master_worker" for name in report.program]
    assert report.by_arrival.tolist() == masters
    assert report.to_frame()["answers"].tolist() == ["as they arrive" * one for one in masters]
    same = report.traced_rrmse_percent == report.rrmse_percent
    assert same.tolist() == [not one for one in masters]
    at = report.program.index("master_worker")
    name = f"master_worker-{report.ranks[at]}"
    [row] = commands.answer("validate report --no-arrivals", capsys, name)["programs"]
    assert row["answers"] == ""
    assert row["RRMSE (%)"] == report.traced_rrmse_percent[at]
    for option, by_arrival in (("", True), ("--no-arrivals", False)):
        found = commands.answer(f"validate predict {option}", capsys, name)
        assert found["by_arrival"] == by_arrival
        assert len(found["warnings"]) == by_arrival


def test_a_trace_is_of_the_run_nearest_to_the_median(report: ValidationReport) -> None:
    for name in shipped_names():
        recording = recording_of(name)
        found, points = recording.program().recorded, recording.runs.points()
        assert found is not None
        off = np.abs(recording.runs.time_s[recording.runs.added_s == 0] - points.spread.median[0])
        assert abs(found.span_s - points.spread.median[0]) == pytest.approx(off.min(), abs=1e-6)


def test_the_model_is_half_a_round_trip_in_parts(recording: ProgramRecording) -> None:
    model = made_up(recording, 0.0).model()
    assert model.o == pytest.approx(10e-6)
    assert model.G == pytest.approx(0.0, abs=1e-15)
    assert model.L == pytest.approx(30e-6)
    wide = (CostAtLatency(0.0, 0, cost(50, 10, 8)), CostAtLatency(0.0, 0, cost(106, 10, 64)))
    assert replace(recording, costs=wide).model().G == pytest.approx(1e-6)
    with pytest.raises(ParameterError, match="at which messages were measured; got 7 s"):
        recording.model(7)


def test_latency_as_messages_showed_it_stands_for_that_which_was_set(
    recording: ProgramRecording,
) -> None:
    slow = tuple(CostAtLatency(added, 0, cost(50 + 1.1e6 * added, 10)) for added in ADDED_S)
    seen = seen_runs(replace(made_up(recording, 0.0), costs=slow))
    assert seen.added_s == pytest.approx(1.1 * np.array(ADDED_S))


def test_a_recording_is_saved_whole(recording: ProgramRecording, tmp_path: Path) -> None:
    recording.save(tmp_path / "kept")
    again = ProgramRecording.load(tmp_path / "kept")
    assert again.runs.time_s.tolist() == recording.runs.time_s.tolist()
    assert again.traces == recording.traces
    assert again.model().to_dict() == recording.model().to_dict()
    assert predict_recording(again).rrmse_percent == predict_recording(recording).rrmse_percent
    (tmp_path / "kept/costs.csv").write_text("gone")
    with pytest.raises(DatasetError, match=r"costs\.csv must have the checksum"):
        ProgramRecording.load(tmp_path / "kept")


def test_the_shipped_recordings_are_emulated_and_reported(
    report: ValidationReport, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert len(report.program) == len(shipped_names())
    assert set(report.origin) == {"emulated"}
    assert set(report.program) >= set(SUITE)
    assert np.isfinite(report.rrmse_percent).all()
    rows = commands.answer("validate report", capsys)["programs"]
    assert [row["program"] for row in rows] == list(report.program)
    report.save(tmp_path / "report")
    assert type(report).load(tmp_path / "report").rrmse_percent == pytest.approx(
        report.rrmse_percent
    )
    assert report.plot() is not None


def test_a_recording_is_predicted_from_the_shell(
    recording: ProgramRecording, capsys: pytest.CaptureFixture[str]
) -> None:
    name = shipped_names()[0]
    found = commands.answer("validate predict", capsys, name)
    assert found["origin"] == "emulated"
    assert found["rrmse_percent"] == predict_recording(recording).rrmse_percent
    as_set = commands.answer("validate predict --latency set", capsys, name)
    assert as_set["rrmse_percent"] == predict_recording(recording, latency="set").rrmse_percent
    assert main(["validate", "predict", name]) == 0
    assert "emulated run times differ by" in capsys.readouterr().out
    assert "recording must be one of" in commands.refusal(capsys, "validate", "predict", "nowhere")
    assert set(commands.answer("validate list", capsys)["programs"]) == set(SUITE)


def test_algorithms_are_forced_or_refused() -> None:
    assert forced_algorithms({"allreduce": "ring"}) == {
        "coll_tuned_use_dynamic_rules": "1",
        "coll_tuned_allreduce_algorithm": "4",
    }
    assert forced_algorithms({}) == {}
    with pytest.raises(ParameterError, match="must be one of linear, pairwise, bruck, which"):
        forced_algorithms({"alltoall": "pairwize"})


@pytest.mark.usefixtures("mpi")
def test_a_program_is_measured_and_goes_on_where_it_was(tmp_path: Path) -> None:
    program = replace(SUITE["ring_pipeline"], arguments=("10", "64", "300", "4"))
    said = []
    task = Task(lambda now: said.append((now.done, now.total)))
    options = {"ranks": 2, "latencies_s": (0.0, 5e-3)}
    first = measure_program(program, tmp_path / "one", repeats=1, **options)
    assert first.origin == "emulated"
    assert sorted(first.runs.added_s.tolist()) == [0.0, 5e-3]
    assert set(first.traces) == {0.0}
    # 10 blocks with a window of 4: two round trips, and the last blocks' way.
    assert first.runs.time_s[first.runs.added_s == 5e-3][0] >= 5 * 5e-3
    both = measure_program(program, tmp_path / "one", repeats=2, task=task, **options)
    assert said == [(3, 4), (4, 4)]
    task.stop()
    stopped = measure_program(program, tmp_path / "one", repeats=3, task=task, **options)
    assert len(stopped.runs) == 4
    with pytest.raises(ClusterError, match="stopped before the first run had ended"):
        measure_program(program, tmp_path / "two", repeats=1, task=task, **options)
    assert both.runs.repeat.tolist() == [0, 0, 1, 1]
    assert both.runs.time_s[:2].tolist() == first.runs.time_s.tolist()
    assert predict_recording(both).predicted_s[1] - predict_recording(both).predicted_s[0] > 4e-3
    with pytest.raises(ParameterError, match="must be empty or hold a recording of cg on 2 ranks"):
        measure_program("cg", tmp_path / "one", repeats=2, **options)


def test_wrong_values_are_named(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="the first one 0"):
        measure_program("cg", tmp_path, latencies_s=(1e-3, 0.0))
    with pytest.raises(ParameterError, match="traced_s must hold 0"):
        measure_program("cg", tmp_path, traced_s=(1e-3,))
    with pytest.raises(ParameterError, match="ranks must be a whole number of at least 2"):
        measure_program("cg", tmp_path, ranks=1)


@pytest.mark.usefixtures("mpi")
def test_a_switch_and_a_library_add_the_same_latency(tmp_path: Path) -> None:
    program = replace(SUITE["ring_pipeline"], arguments=("10", "64", "300", "4"))
    found = compare_injectors(program, ranks=2, latencies_s=(0.0, 60e-3), repeats=1)
    # A barrier; then 10 blocks with a window of 4: two round trips, and the last blocks' way.
    for time_s in (found.switch_s[1], found.library_s[1]):
        assert 5 * 60e-3 <= time_s < 9 * 60e-3  # never early; 12 latencies were each delay twice
    found.save(tmp_path / "found.json")
    again = InjectorComparison.load(tmp_path / "found.json")
    assert again.to_frame().equals(found.to_frame())


@pytest.mark.usefixtures("mpi")
def test_collectives_are_measured_and_predicted(tmp_path: Path) -> None:
    found = measure_collectives(
        tmp_path / "found.json",
        ranks=2,
        latency_s=10e-3,
        sizes=(64, 256),
        collectives=("alltoall",),
        repeats=1,
    )
    assert len(found.to_frame()) == 3 * 2
    # Two ranks exchange once, whatever the algorithm: one latency, and less than two and a half.
    for times_s in (found.measured_s, found.predicted_s):
        assert times_s.min() >= 10e-3
        assert times_s.min() < 25e-3
    assert EmulatedCollectives.load(tmp_path / "found.json").to_frame().equals(found.to_frame())
    assert found.plot() is not None
    with pytest.raises(ParameterError, match="ranks must be even"):
        measure_collectives(tmp_path / "found.json", ranks=3)
    with pytest.raises(ParameterError, match="collectives must be of"):
        measure_collectives(tmp_path / "found.json", collectives=("scan",))


def test_the_predicted_best_algorithm_is_compared_with_the_measured_best() -> None:
    found = EmulatedCollectives(
        ranks=4,
        latency_s=0.0,
        bandwidth=1e9,
        message_bytes=np.array([8]),
        message_s=np.array([1e-5]),
        collective=("bcast",) * 4,
        algorithm=("linear", "binomial") * 2,
        size_bytes=np.array([8, 8, 64, 64]),
        repeat=np.zeros(4, int),
        measured_s=np.array([1.0, 2.0, 4.0, 3.0]),
        predicted_s=np.array([1.1, 1.9, 3.0, 3.1]),
        load_average=np.zeros(4),
        provenance=provenance("made up", "simulated", "a test"),
    )
    assert found.choices()["predicted best"].tolist() == ["linear", "linear"]
    assert found.choices()["lost (%)"].tolist() == pytest.approx([0, 100 / 3])
    assert found.best_within(5) == 0.5
    assert found.best_within(34) == 1.0
    # The interval of one rank a node: published times are 0.65 to 2.8 times what is predicted.
    ends = found.to_frame()[["90 % from (µs)", "to (µs)"]].to_numpy() / 1e6
    spread = published_spread("one rank a node")
    assert ends == pytest.approx(np.outer([1.1, 1.9, 3.0, 3.1], [spread.low, spread.high]))
    assert found.held == 1.0
    assert replace(found, measured_s=np.array([0.1, 2.0, 4.0, 30.0])).held == 0.5
    text = describe_emulated_collectives(found)
    assert "made to hold 90 %, hold 100 % of these times" in text


def test_a_program_of_the_users_own_is_measured(mpi: Launcher, tmp_path: Path) -> None:
    """Its processors are made slower, and its recording says how it was made."""
    path = SUITE["ring_pipeline"].build(mpi)
    words = f"validate measure mine --program {path} --ranks 2 --repeats 1 --latencies 0,5ms"
    options = "--slowdown 2 --message-bytes 64 --algorithm barrier=dissemination"
    folder = tmp_path / "mine"
    assert (
        main([*words.split(), *options.split(), "--output", str(folder), "--arguments=8 64"]) == 0
    )
    found = ProgramRecording.load(folder)
    assert found.name == "mine"
    assert found.algorithms == {"barrier": "dissemination"}
    assert "--slowdown 2" in found.runs.provenance.source
    assert str(path.parent) not in found.runs.provenance.source
    assert found.context["computation"] == "by processors made 2 times slower"
    assert found.runs.time_s[found.runs.added_s == 5e-3][0] >= 5e-3


def test_recorded_ranks_start_together_however_far_apart_they_are(
    mpi: Launcher, tmp_path: Path
) -> None:
    """As in a replay; the last to leave MPI_Init would be two latencies behind the first."""
    path = SUITE["ring_pipeline"].build(mpi)
    with Cluster(4, latency_s=80e-3) as cluster:
        program = record([str(path), "1", "8"], 4, tmp_path / "trace", mpirun=cluster.launcher)
    assert program.recorded is not None
    assert np.ptp(program.recorded.start_ns) < 40e6


def test_the_shipped_collectives_say_how_well_predictions_choose() -> None:
    shipped = shipped_collectives()
    assert set(shipped) == {4, 8}
    for found in shipped.values():
        assert found.provenance.origin == "emulated"
        assert len(found.choices()) == 5 * 6
        assert found.best_within(5) >= 0.9
        assert found.median_error_percent < 15


def two_messages(free: float, first: float, second: float) -> InjectedMessages:
    """Return times that grow by so many latencies from 1, 60 and 70 µs."""
    added = np.array([0.0, 1e-3, 4e-3])
    times = np.array([1e-6, 60e-6, 70e-6]) + added[:, None] * np.array([free, first, second])
    return InjectedMessages(added, times, 3, provenance("made up", "simulated", "a test"))


@pytest.mark.parametrize("scheme", SCHEMES)
def test_two_messages_fit_the_way_that_latency_is_added(scheme: str) -> None:
    found = two_messages(*SCHEMES[scheme])
    assert [one for one in SCHEMES if found.fits(one)] == [scheme]
    assert found.to_frame().loc["measured, 4 ms added"].tolist() == pytest.approx(SCHEMES[scheme])
    assert f"they fit {scheme}" in repr(found)
    between = two_messages(*(one + 0.2 for one in SCHEMES[scheme]))
    assert "they fit no scheme" in repr(between)


def test_the_shipped_messages_are_delayed_as_intended() -> None:
    found = shipped_two_messages()
    assert found.provenance.origin == "measured"
    assert found.growth.shape == (2, 3)
    assert [one for one in SCHEMES if found.fits(one)] == [EXPECTED]


@pytest.mark.usefixtures("mpi")
def test_two_messages_are_timed_here(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One repeat on a busy machine: what holds whatever else runs is that none is early."""
    path = tmp_path / "two.json"
    commands.answer("validate messages --repeats 1 --output", capsys, str(path))
    found = InjectedMessages.load(path)
    assert found.added_s.tolist() == [0.0, 5e-3, 20e-3]
    free, first, second = found.times_s.T
    assert (first >= found.added_s).all()
    assert (second >= first).all()
    assert (free < second).all()
    with pytest.raises(ParameterError, match="at least one latency"):
        measure_two_messages(path, latencies_s=())
