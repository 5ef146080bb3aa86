"""What the comparison works out and keeps in its threads, without controls and figures."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from workbench import jobs, programs, topology
from workbench.panels.compare import kept as compare_kept
from workbench.panels.compare import runs as compare_runs
from workbench.panels.compare import work as compare_work
from workbench.panels.compare.controls import read_files
from workbench.panels.compare.runs import Runner
from workbench.panels.compare.state import Compared, CompareState
from workbench.panels.compare.work import Comparer
from workbench.panels.program_sources import source_of

PATIENCE_S = 60.0
PROGRAM = source_of(programs.generate.cg(4, iterations=1, rng=0))


def ring(routers: int) -> topology.Topology:
    edges = "".join(f"{at} {(at + 1) % routers}\n" for at in range(routers))
    return read_files({"ring.txt": edges.encode()})


def compared_by(comparer: Comparer, *words: str) -> jobs.Job[Compared]:
    return jobs.submit(comparer.work, CompareState(words or ("file:ring",), PROGRAM))


@pytest.fixture(autouse=True)
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few messages are simulated, at few loads and sizes."""
    monkeypatch.setattr(compare_runs, "MESSAGES", 300)
    monkeypatch.setattr(compare_runs, "SIZES", (64, 4096))
    monkeypatch.setattr(compare_kept, "LOADS", (0.2, 0.4))


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
    comparer, runner = Comparer(), Runner()
    comparer.take({"file:ring": ring(8)})
    before = compared_by(comparer).result(PATIENCE_S)
    assert jobs.submit(runner.work, before).result(PATIENCE_S).metrics.keys() == {"file:ring"}
    # A run that has begun ends later, with fabrics of its own.
    comparer.take({"file:ring": ring(9)})
    after = compared_by(comparer).result(PATIENCE_S)
    found = runner.found(after)
    assert (found.metrics, found.times, found.curves, found.notes) == ({}, {}, {}, ())
    assert runner.found(before).metrics
    graph = jobs.submit(runner.work, after).result(PATIENCE_S).metrics["file:ring"]
    assert graph.routers == 9
    assert {one.topology.num_routers for one in runner._fabrics.values()} == {8, 9}


def test_a_collective_that_was_stopped_has_no_times() -> None:
    runner, compared = Runner(), compared_by(Comparer(), "torus:4x4").result(PATIENCE_S)
    (entry,) = compared.entries
    assert entry is not None
    run = runner._collective(compare_kept.times_key(compared, entry), compared, entry, 64)

    def stopped(ctx: jobs.JobContext) -> None:
        ctx.stop_event.set()
        run(ctx, lambda done, whole: None)

    jobs.submit(stopped).result(PATIENCE_S)
    assert runner.found(compared).times == {}


def test_large_networks_push_each_other_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compare_runs, "_KEPT_PAIRS", 40)
    compared = compared_by(Comparer(), "torus:4", "torus:5").result(PATIENCE_S)
    runner = Runner()
    for entry in compared.entries * 2:
        assert entry is not None
        found = runner._fabric(compared.state, entry, "minimal", "packet")
        assert found.topology is entry.topology
        assert list(runner._fabrics.values()) == [found]


def test_what_is_missing_is_told_while_nobody_writes() -> None:
    runner, compared = Runner(), compared_by(Comparer(), "torus:4").result(PATIENCE_S)
    jobs.submit(runner.work, compared).result(PATIENCE_S)

    class Guarded(dict[Any, Any]):
        def get(self, *words: Any) -> Any:
            assert runner._kept.lock.locked()
            return super().get(*words)

    kept = runner._kept
    kept.points, kept.times = Guarded(kept.points), Guarded(kept.times)
    assert not runner.missing(compared)
