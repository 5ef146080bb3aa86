from __future__ import annotations

import json
import math
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from tests.cases import for_each
from tests.goal_programs import CROSSED
from tests.unit.panels.waiting import settled
from workbench import machines, models, programs
from workbench.errors import DatasetError, ParameterError, ParseError, ProgramError
from workbench.measure import MeasuredRuns
from workbench.panels.loggps_choice import LOGGOPSIM, SCALES
from workbench.programs.collectives import ALGORITHMS
from workbench.provenance import Provenance
from workbench.simulate.replay import replay
from workbench.tolerance import Sweep, analyse, analyse_bandwidth, panel_work as tolerance_work
from workbench.tolerance.panel import FIRST, FIRST_MACHINE, TolerancePanel
from workbench.tolerance.panel_programs import STRONG, WEAK, ranks_of
from workbench.tolerance.panel_state import interval_text, parse_interval, parse_percents


@pytest.fixture(scope="module")
def small() -> programs.Program:
    """Uneven ranks that exchange with neighbours and reduce: T(L) has bends."""
    builder = programs.ProgramBuilder(4, source="small")
    for step in range(3):
        for rank in range(4):
            builder.compute(rank, 10_000 + 4000 * ((rank + step) % 4))
            builder.send(rank, (rank + 1) % 4, 64)
            builder.recv(rank, (rank - 1) % 4, 64)
        builder.collective("allreduce", 4096)
        builder.collective("bcast", 1024, root=1)
    return builder.build()


@pytest.fixture(scope="module")
def only_panel(small: programs.Program) -> Iterator[TolerancePanel]:
    """The panel that the tests share, outside of a kernel: its figures take a second to make."""
    with pytest.MonkeyPatch.context() as patched:
        # Nobody drags a slider here.
        patched.setattr(tolerance_work, "_UNDISTURBED_S", 0.0)
        yield TolerancePanel(small, machine="loggopsim")


@pytest.fixture
def panel(only_panel: TolerancePanel, small: programs.Program) -> Iterator[TolerancePanel]:
    """The shared panel as it was when it was new, whatever a test before has done to it."""
    only_panel.machine, only_panel.percent = "loggopsim", (1, 2, 5)
    only_panel.interval_us = only_panel.probe_L_us = None
    only_panel.follow = True
    only_panel.measured, only_panel.over = None, "latency"
    only_panel.programs = [small]
    settled(only_panel)
    only_panel.open("Tolerances")
    yield only_panel
    only_panel.stop()
    settled(only_panel)


def test_it_opens_on_a_recorded_program() -> None:
    panel = TolerancePanel()
    result = settled(panel)
    assert panel.program == FIRST
    assert programs.list()[FIRST].provenance.origin == "measured"
    model = machines.load(FIRST_MACHINE).loggps.replace(errors={})
    expected = analyse(programs.load(FIRST), model)
    assert result.tolerance == expected.tolerance
    assert result.warnings == expected.warnings != ()
    assert expected.warnings[0] in panel.text
    assert panel.error == ""


def test_a_slider_is_an_attribute(panel: TolerancePanel, small: programs.Program) -> None:
    panel.L_us, panel.o_us, panel.G_ns, panel.S_bytes = 5, 0.25, 0.018, 4096
    model = models.LogGPS(L=5e-6, o=2.5e-7, g=1e-6, G=1.8e-11, O=0.0, S=4096)
    assert panel.model == model
    result = settled(panel)
    expected = analyse(small, model)
    assert result.tolerance == expected.tolerance
    assert np.array_equal(result.corners, expected.corners)
    assert result.contention.loggopsim_ps == expected.contention.loggopsim_ps
    assert (panel.L_us, panel.G_ns, panel.S_bytes) == pytest.approx((5, 0.018, 4096))


def test_a_moved_slider_redraws(panel: TolerancePanel) -> None:
    before = settled(panel)
    panel.controls["L_us"].input.value = SCALES[0].position(1e-4)
    result = settled(panel)
    assert pytest.approx(1e-4) == result.L
    assert result.T > before.T
    assert panel.drawn("curves")["L"][0][0] == pytest.approx(result.interval[0] * 1e9)
    assert panel.diagram.makespan_ps == round(result.T * 1e12)


def test_several_programs_share_an_axis(panel: TolerancePanel, small: programs.Program) -> None:
    panel.keep()
    panel.algorithms = {"allreduce": "ring"}
    settled(panel)
    assert list(panel.results) == ["program, allreduce ring", "program"]
    first, second = panel.results.values()
    assert first.interval == second.interval
    ring = small.graph(allreduce="ring")
    assert first.tolerance == analyse(ring, panel.model).tolerance
    assert second.tolerance == analyse(small, panel.model).tolerance
    assert "\nprogram, allreduce ring\t" in panel.text
    assert "\nprogram\t" in panel.text
    figures = len(panel.figures)
    frame = panel.tolerances()
    assert len(frame) == 6
    assert frame.largest_L_ns[0] == pytest.approx(first.tolerance[1] * 1e9)
    panel.press("✕ program")
    settled(panel)
    assert list(panel.results) == ["program, allreduce ring"]
    assert len(panel.figures) == figures - 1, "the zones of several programs"


def test_programs_are_chosen_by_name(panel: TolerancePanel) -> None:
    panel.programs = ["halo-4", "cg-4"]
    settled(panel)
    assert list(panel.results) == panel.programs == ["halo-4", "cg-4"]
    assert panel.result.source == "halo-4"
    panel.clear()
    settled(panel)
    assert list(panel.results) == ["halo-4"]


@for_each("names, kind", [([], ParameterError), (["halo-5"], DatasetError), ([3], ParameterError)])
def test_programs_that_are_not_there_are_refused(
    panel: TolerancePanel, names: list[Any], kind: type[Exception]
) -> None:
    before = panel.programs
    with pytest.raises(kind):
        panel.programs = names
    assert panel.programs == before


def test_more_programs_than_can_be_distinguished_are_refused(panel: TolerancePanel) -> None:
    with pytest.raises(ParameterError, match="at most 6"):
        panel.programs = ["halo-4"] * 8


def test_every_algorithm_is_a_curve(panel: TolerancePanel, small: programs.Program) -> None:
    panel.algorithms = {"bcast": "chain"} if "chain" in ALGORITHMS["bcast"] else {}
    panel.family = "every allreduce"
    settled(panel)
    assert list(panel.results) == list(ALGORITHMS["allreduce"])
    bcast = dict(panel.algorithms)
    for name, result in panel.results.items():
        graph = small.graph({**bcast, "allreduce": name})
        assert result.T == analyse(graph, panel.model, contention=False).T


@for_each("scaling", [WEAK, STRONG])
def test_scaling_families_have_as_much_work(panel: TolerancePanel, scaling: str) -> None:
    panel.program = "halo-2d"
    settled(panel)
    panel.family = scaling
    settled(panel)
    assert list(panel.results) == ["4 ranks", "16 ranks", "64 ranks", "256 ranks"]
    assert panel.result is panel.results["16 ranks"]
    shown = panel._shown
    assert shown is not None
    calc = {name: int(g.size[g.kind == 0].sum()) for name, g in shown.graphs.items()}
    per_rank = {name: total / panel.results[name].ranks for name, total in calc.items()}
    alike = per_rank if scaling == WEAK else calc
    assert max(alike.values()) == pytest.approx(min(alike.values()), rel=0.2)  # jitter of 10 %
    panel.program = "halo-4"
    settled(panel)
    assert panel.family == "alone"


def test_ranks_of_a_family() -> None:
    assert ranks_of(16, 2) == [4, 16, 64, 256]
    assert ranks_of(27, 3) == [8, 27, 216]
    assert ranks_of(6, 2) == [6, 25, 100]
    assert max(ranks_of(4096, 2)) == 4096


def test_the_path_at_the_pointer_is_drawn(panel: TolerancePanel, small: programs.Program) -> None:
    view, result = panel._view, panel.result
    assert view is not None
    middle = sum(result.interval) / 2
    # As the page writes it.
    view.asked.data = {"L": [middle * 1e9], "held": [False]}
    settled(panel)
    assert panel.probe_L_us == pytest.approx(middle * 1e6)
    at = small.graph(), panel.model.replace(L=round(middle * 1e12) / 1e12)
    assert panel.diagram.makespan_ps == replay(*at, semantics="llamp").makespan_ps
    assert view.curve.pointers[0].data["L"] == pytest.approx([middle * 1e9])
    assert panel.follow
    view.asked.data = {"L": [result.interval[0] * 1e9], "held": [True]}
    settled(panel)
    assert not panel.follow
    view.asked.data = {"L": [middle * 1e9], "held": [False]}
    assert panel.probe_L_us == pytest.approx(result.interval[0] * 1e6)


def test_a_pointer_beyond_the_new_axis_goes_back_to_the_base(panel: TolerancePanel) -> None:
    panel.probe_L_us = panel.result.interval[1] * 1e6
    panel.L_us = 100
    settled(panel)
    assert panel.probe_L_us == pytest.approx(100)


def test_zones_and_axis_can_be_typed(panel: TolerancePanel) -> None:
    panel.percent = 10
    assert panel.percent == (10,)
    panel.controls["percent"].value = "10 3"
    panel.controls["interval_us"].value = "0 to 20us"
    result = settled(panel)
    assert list(result.tolerance) == [3, 10]
    assert result.interval == (0, 20e-6)
    assert panel.percent == (3, 10)
    assert panel.interval_us == pytest.approx((0, 20))
    panel.controls["interval_us"].value = "20 to 10"
    assert "ascend" in panel.error
    panel.controls["interval_us"].value = ""
    assert settled(panel).interval[0] == pytest.approx(panel.model.L)
    assert panel.error == ""


@for_each("text", ["", "x", "-1", "nan", "1,2,3,4,5,6,7,8,9"])
def test_percentages_that_make_no_zone_are_refused(text: str) -> None:
    with pytest.raises(ParameterError, match="percentages"):
        parse_percents(text)


@for_each("text", ["3", "1 to 2 to 3", "5 to 5", "a to b", "0 to 2s", "1e-9 to 2e-9"])
def test_axes_that_do_not_ascend_are_refused(text: str) -> None:
    with pytest.raises(ParameterError):
        parse_interval(text)


def test_an_axis_is_read_as_it_is_written() -> None:
    assert parse_interval(interval_text((0.5e-6, 12.25e-6))) == (0.5e-6, 12.25e-6)
    assert parse_interval(interval_text(None)) is None


def test_contention_is_compared_beside_the_result(panel: TolerancePanel) -> None:
    wide = programs.generate.halo(27, dims=3, neighbours=26, cells=8, iterations=2, overlap=True)
    panel.program = wide
    result = settled(panel)
    assert result.contention.optimistic_percent > 5
    assert "optimistic" in panel.text
    panel.open("Contention")
    assert "send NIC" in panel.text
    panel.programs = ["halo-8", wide]
    settled(panel)
    assert [bool(one.warnings) for one in panel.results.values()] == [True, True]
    assert panel.text.count("Warning") == 2
    panel.g_us = panel.G_ns = panel.o_us = 0
    result = settled(panel)
    assert result.warnings == ()
    assert "Warning" not in panel.text


def test_what_cannot_run_with_contention_says_so(
    panel: TolerancePanel, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stuck(*args: Any, **options: Any) -> Any:
        raise ProgramError("they wait for one another")

    monkeypatch.setattr(tolerance_work, "compare_contention", stuck)
    panel.L_us = 7.5
    result = settled(panel)
    assert result.contention is None
    panel.open("Contention")
    assert "does not run to its end" in panel.text
    assert panel.error == ""


def test_python_gives_the_same(panel: TolerancePanel, small: programs.Program) -> None:
    panel.algorithms = {"allreduce": "ring"}
    panel.percent = (3,)
    result = settled(panel)
    scope: dict[str, Any] = {"program": small}
    exec(panel.python, scope)
    assert scope["result"].tolerance == result.tolerance
    panel.interval_us = (1, 30)
    panel.keep()
    panel.algorithms = {}
    settled(panel)
    exec(panel.python, scope)
    assert list(scope["results"]) == list(panel.results)
    for name, one in panel.results.items():
        assert np.array_equal(scope["results"][name].corners, one.corners)


def test_files(panel: TolerancePanel, tmp_path: Path) -> None:
    panel.keep()
    panel.algorithms = {"allreduce": "ring"}
    result = settled(panel)
    frame = pd.read_csv(panel.save(tmp_path / "a.csv"))
    assert set(frame.program) == set(panel.results)
    assert len(frame) == sum(len(one.slopes) for one in panel.results.values())
    content = json.loads(panel.save(tmp_path / "a.json").read_text())
    one = content["programs"]["program, allreduce ring"]
    assert one["tolerance_ns"]["1"] == pytest.approx(result.tolerance[1] * 1e9)
    assert one["T_loggopsim_ns"] == result.contention.loggopsim_ps / 1000
    with pytest.raises(ParameterError, match="suffix"):
        panel.save(tmp_path / "a.txt")
    before = set(panel.buttons)
    panel.open("Export")
    for text in set(panel.buttons) - before:
        panel.press(text)
    assert panel.error == ""


def test_what_bears_any_latency_is_null(panel: TolerancePanel, tmp_path: Path) -> None:
    builder = programs.ProgramBuilder(2, source="apart")
    builder.compute(0, 1000)
    builder.compute(1, 2000)
    panel.program = builder.build()
    result = settled(panel)
    assert math.isinf(result.tolerance[5])
    content = json.loads(panel.save(tmp_path / "a.json").read_text())
    assert content["programs"]["program"]["tolerance_ns"] == {"1": None, "2": None, "5": None}


def test_a_deadlock_is_reported_and_the_last_figures_stay(panel: TolerancePanel) -> None:
    before = panel.result
    panel.upload({"crossed.goal": CROSSED.encode()})
    settled(panel)
    assert "send 100000 B to 1" in panel.error
    assert panel.result is before
    panel.S_bytes = 1 << 20
    settled(panel)
    assert panel.error == ""
    assert panel.result.source.startswith("crossed")


def test_an_algorithm_that_cannot_be_is_left_out(
    panel: TolerancePanel, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = tolerance_work.graph_of

    def refused(program: Any, algorithms: Any) -> Any:
        if algorithms.get("allreduce") == "ring":
            raise ParameterError("no ring here", key="allreduce")
        return whole(program, algorithms)

    monkeypatch.setattr(tolerance_work, "graph_of", refused)
    panel.family = "every allreduce"
    settled(panel)
    assert "ring" not in panel.results
    assert "no ring here" in panel.text


def test_wildcards_are_matched_anew(panel: TolerancePanel) -> None:
    program = programs.generate.master_worker(5, tasks=30, rng=1)
    panel.program = program
    settled(panel)
    panel.o_us, panel.L_us = 4, 30
    result = settled(panel)
    fresh = Sweep(program, LOGGOPSIM.replace(o=4e-6, L=30e-6))
    assert fresh.makespan() == result.T


def test_it_can_be_stopped_and_run_again(
    panel: TolerancePanel, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = panel.result

    def endless(*args: Any, **options: Any) -> Any:
        while not panel._analyser._sweeping.stopping:
            time.sleep(0.01)
        raise tolerance_work.SimulationHalted("ended")

    with monkeypatch.context() as patched:
        patched.setattr(tolerance_work, "analyse", endless)
        panel.run()
        assert panel.running
        panel.stop()
        settled(panel)
    assert panel.result is before
    assert "stopped" in panel.text
    panel.run()
    assert settled(panel).T == before.T


def measured_runs(panel: TolerancePanel, percent: float = 1.0) -> MeasuredRuns:
    """Return runs that take some percent longer than predicted, at 0, 20 and 40 µs added."""
    graph = panel._shown.graph
    added = np.repeat([0.0, 20e-6, 40e-6], 2)
    sweep = Sweep(graph, panel.model)
    T = [sweep.makespan(panel.model.L + one) * (1 + percent / 100) for one in added]
    about = Provenance("emulated", "a namespace", "runs.csv")
    return MeasuredRuns.of(added, T, provenance=about, program="small", ranks=4)


def test_measured_run_times_are_drawn_where_they_were_given(
    panel: TolerancePanel, tmp_path: Path
) -> None:
    runs = measured_runs(panel)
    panel.controls["measured"].take({"runs.csv": runs.to_csv().encode()})
    settled(panel)
    assert panel.error == ""
    assert panel.measured.time_s.tolist() == runs.time_s.tolist()
    assert panel.prediction.error_percent == pytest.approx([-100 / 101] * 3, abs=1e-3)
    assert panel.result.interval == pytest.approx((panel.model.L, panel.model.L + 40.8e-6))
    assert panel.drawn("measured")["L"] == pytest.approx([2500, 22_500, 42_500])
    rrmse = panel.prediction.rrmse_percent
    assert f"Predicted and emulated run times differ by {rrmse:.1f} %" in panel.text
    panel.open("Measured")
    assert f"RRMSE {rrmse:.2f} %" in panel.text
    runs.to_csv(tmp_path / "runs.csv")
    scope: dict[str, Any] = {"program": panel._shown.program}
    with pytest.MonkeyPatch.context() as patched:
        patched.chdir(tmp_path)
        exec(panel.python, scope)
    assert scope["prediction"].to_frame().equals(panel.prediction.to_frame())
    saved = json.loads(panel.save(tmp_path / "a.json").read_text())
    assert saved["measured"]["rrmse_percent"] == pytest.approx(panel.prediction.rrmse_percent)
    panel.measured = tmp_path / "runs.csv"
    settled(panel)
    exec(panel.python, scope)
    panel.press("✕ runs.csv")
    settled(panel)
    assert panel.prediction is None
    assert panel.drawn("measured")["L"] == []


def test_measured_runs_stay_with_their_program(panel: TolerancePanel) -> None:
    panel.measured = measured_runs(panel)
    settled(panel)
    panel.program = "halo-4"
    settled(panel)
    assert panel.prediction is None
    assert "runs.csv was given for program: choose that program to see it" in panel.error
    panel.program = "program"
    settled(panel)
    assert panel.prediction is not None
    panel.keep()
    panel.algorithms = {"allreduce": "ring"}
    settled(panel)
    assert panel.drawn("measured")["name"] == ["program, allreduce ring"] * 3
    panel.interval_us = (100, 200)
    settled(panel)
    assert "must hold an added latency" in panel.error


def test_a_file_that_holds_no_runs_is_refused_at_its_button(panel: TolerancePanel) -> None:
    panel.controls["measured"].take({"runs.csv": b"latency_us,time_s\n0,x\n"})
    settled(panel)
    assert panel.error == "runs.csv:2: time_s must be a time above 0 s; got 'x'"
    with pytest.raises(ParseError, match="cannot be read as a file"):
        panel.measured = "nowhere.csv"
    panel.measured = MeasuredRuns.of(0, [1.0], provenance=Provenance("measured", "x"), ranks=9)
    settled(panel)
    assert "on 9 ranks" in panel.error
    panel.open("Measured")
    assert "on 9 ranks" in panel.text


def test_bandwidth_instead_of_latency(
    panel: TolerancePanel, small: programs.Program, tmp_path: Path
) -> None:
    panel.measured = measured_runs(panel)
    panel.controls["over"].value = "bandwidth"
    settled(panel)
    found = panel.bandwidths["program"]
    expected = analyse_bandwidth(small, panel.model)
    assert found.tolerance == expected.tolerance
    assert panel.drawn("curves")["L"][0] == pytest.approx((expected.corners * 1e9).tolist())
    assert panel.figures[0] == "Run time over gap per byte: program"
    assert panel.drawn("measured")["L"] == []
    assert f"At G = {panel.G_ns:.4g} ns/B" in panel.text
    assert "G within 1 %" in panel.text
    frame = panel.tolerances()
    assert frame.least_bandwidth_GBps.tolist() == pytest.approx(
        [bandwidth * 1e-9 for bandwidth in expected.least_bandwidth_Bps.values()]
    )
    scope: dict[str, Any] = {"program": small}
    exec(panel.python, scope)
    assert scope["result"].tolerance == found.tolerance
    assert len(pd.read_csv(panel.save(tmp_path / "a.csv"))) == len(found.slopes)
    content = json.loads(panel.save(tmp_path / "a.json").read_text())
    assert content["bandwidth"]["program"]["lambda_G"] == found.lambda_G
    panel.controls["over"].value = "latency"
    settled(panel)
    assert panel.bandwidths == {}
    assert panel.prediction is not None


def test_the_path_at_a_gap_is_drawn(panel: TolerancePanel, small: programs.Program) -> None:
    panel.over = "bandwidth"
    settled(panel)
    panel.keep()
    panel.algorithms = {"allreduce": "ring"}
    settled(panel)
    first, second = panel.bandwidths.values()
    assert first.interval == second.interval
    panel.probe_G_ns = 9
    settled(panel)
    at = small.graph(allreduce="ring"), panel.model.replace(G=9e-9)
    assert panel.diagram.makespan_ps == replay(*at, semantics="llamp").makespan_ps
    assert panel.probe_G_ns == pytest.approx(9)
    assert panel.probe_L_us == pytest.approx(panel.L_us)
    with pytest.raises(ParameterError, match="needs over to be 'latency'"):
        panel.probe_L_us = 3
    panel.over = "latency"
    settled(panel)
    assert panel.probe_L_us == pytest.approx(panel.L_us)
    with pytest.raises(ParameterError, match="known are bandwidth, latency"):
        panel.over = "overhead"


def test_what_cannot_be_set(panel: TolerancePanel) -> None:
    with pytest.raises(AttributeError, match="can"):
        panel.speed = 3
    with pytest.raises(ParameterError, match=r"must be a time .* got 'fast'"):
        panel.L_us = "fast"
    assert "L_us" in dir(panel)
    assert not hasattr(panel, "speed")
    assert repr(panel).startswith("TolerancePanel(")
