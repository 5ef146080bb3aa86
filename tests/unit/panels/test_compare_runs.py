"""What the comparison works out and keeps in its threads, without controls and figures."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from tests.unit.panels.networks import ring
from tests.unit.panels.waiting import PATIENCE_S
from workbench import programs, tasks, topology
from workbench.panels.compare import result_cache, runs as compare_runs, work as compare_work
from workbench.panels.compare.runs import ComparisonRunner
from workbench.panels.compare.state import CompareState, StaticComparison
from workbench.panels.compare.work import Comparer
from workbench.panels.program_sources import source_of
from workbench.simulate.fabric import Fabric, run_traffic

PROGRAM = source_of(programs.generate.cg(4, iterations=1, rng=0))


def compared_by(comparer: Comparer, *words: str) -> tasks.Job[StaticComparison]:
    return tasks.submit(comparer.work, CompareState(words or ("file:ring",), PROGRAM))


@pytest.fixture(autouse=True)
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few messages are simulated, at few loads and sizes."""
    monkeypatch.setattr(compare_runs, "MESSAGES", 300)
    monkeypatch.setattr(compare_runs, "SIZES", (64, 4096))
    monkeypatch.setattr(result_cache, "LOADS", (0.2, 0.4))


def test_a_graph_that_comes_while_another_of_its_name_is_drawn_is_the_one_that_is_shown(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    begun, go_on, layout = threading.Event(), threading.Event(), compare_work.topology_layout

    def slow(made: topology.Topology) -> Any:
        if made.num_routers == 8:
            begun.set()
            assert go_on.wait(PATIENCE_S)
        return layout(made)

    monkeypatch.setattr(compare_work, "topology_layout", slow)
    comparer = Comparer()
    comparer.take({"file:ring": ring(8)})
    first = compared_by(comparer)
    assert begun.wait(PATIENCE_S)
    comparer.take({"file:ring": ring(9)})
    go_on.set()
    first.result(PATIENCE_S)
    (entry,) = compared_by(comparer).result(PATIENCE_S).entries
    assert entry is not None
    assert entry.topology.num_routers == 9


def test_what_was_found_for_another_graph_of_the_name_is_not_shown() -> None:
    comparer, runner = Comparer(), ComparisonRunner()
    comparer.take({"file:ring": ring(8)})
    before = compared_by(comparer).result(PATIENCE_S)
    assert tasks.submit(runner.work, before).result(PATIENCE_S).metrics.keys() == {"file:ring"}
    # A run that has begun ends later, with fabrics of its own.
    comparer.take({"file:ring": ring(9)})
    after = compared_by(comparer).result(PATIENCE_S)
    found = runner.found(after)
    assert (found.metrics, found.times, found.curves, found.notes) == ({}, {}, {}, ())
    assert runner.found(before).metrics
    graph = tasks.submit(runner.work, after).result(PATIENCE_S).metrics["file:ring"]
    assert graph.routers == 9
    assert {one.topology.num_routers for one in runner._fabrics.values()} == {8, 9}


def test_a_collective_that_was_stopped_has_no_times() -> None:
    runner, compared = ComparisonRunner(), compared_by(Comparer(), "torus:4x4").result(PATIENCE_S)
    (entry,) = compared.entries
    assert entry is not None
    run = runner._collective(result_cache.times_key(compared, entry), compared, entry, 64)

    def stopped(task: tasks.Task) -> None:
        task.stop_event.set()
        run(task)

    tasks.submit(stopped).result(PATIENCE_S)
    assert runner.found(compared).times == {}


@pytest.mark.jit_only
def test_other_seeds_follow_for_the_same_loads_and_can_be_stopped() -> None:
    state = CompareState(("torus:4x4", "torus:8"), PROGRAM, seed=5, runs=3)
    compared = tasks.submit(Comparer().work, state).result(PATIENCE_S)
    runner, told = ComparisonRunner(), []

    def first_alone(task: tasks.Task) -> None:
        steps = [text for _, text, _ in runner._left(compared)]
        told.extend(text for text in steps if text.startswith("load"))
        while (run := runner._missing(compared)) and "run 2" not in run[0][1]:
            run[0][2](task)

    tasks.submit(first_alone).result(PATIENCE_S)
    assert not any("run" in text for text in told), "which loads there are is not known yet"
    (curve, _) = runner.found(compared).curves.values()
    assert curve.columns()[6].tolist() == [1] * len(curve.columns()[0])
    curves = tasks.submit(runner.work, compared).result(PATIENCE_S).curves
    assert not runner.missing(compared)
    for word, of_word in curves.items():
        load, mean, _, _, low, high, runs = of_word.columns()
        assert (runs == 3).all()
        assert (low < mean).all()
        assert (mean < high).all()
        network = topology.parse_topology(word)
        seeds = [
            run_traffic(
                Fabric(network, None, "minimal", seed=5),
                "uniform",
                load[0],
                messages=300,
                seed=seed,
            )
            for seed in (5, 6, 7)
        ]
        each = [1e6 * one.mean_latency_s for one in seeds]
        assert (low[0], high[0]) == pytest.approx((min(each), max(each)))


def test_large_networks_push_each_other_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compare_runs, "_KEPT_PAIRS", 40)
    compared = compared_by(Comparer(), "torus:4", "torus:5").result(PATIENCE_S)
    runner = ComparisonRunner()
    for entry in compared.entries * 2:
        assert entry is not None
        found = runner._fabric(compared.state, entry, "minimal", "packet")
        assert found.topology is entry.topology
        assert list(runner._fabrics.values()) == [found]


def test_what_is_missing_is_reported_when_the_writer_has_finished() -> None:
    runner, compared = ComparisonRunner(), compared_by(Comparer(), "torus:4").result(PATIENCE_S)
    tasks.submit(runner.work, compared).result(PATIENCE_S)

    class Guarded(dict[Any, Any]):
        def get(self, *words: Any) -> Any:
            assert runner._kept.lock.locked()
            return super().get(*words)

    kept = runner._kept
    kept.points, kept.times = Guarded(kept.points), Guarded(kept.times)
    assert not runner.missing(compared)
