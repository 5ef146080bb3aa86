"""Generated programs do what their docstrings say: messages, sizes, work, and a way to the end."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tests.cases import for_each
from workbench.errors import DatasetError, ParameterError
from workbench.programs import ANY_SOURCE, CALC, RECV, SEND, ExecutionGraph, Program, generate
from workbench.programs.generate.grids import even_parts, grid_shape
from workbench.programs.program import COLLECTIVE, ICOLLECTIVE, IRECV, ISEND

SYNTHETIC = sorted((Path(__file__).resolve().parents[3] / "datasets" / "programs").glob("*.json"))

SMALL = {
    "cg": {"ranks": 6, "iterations": 2},
    "halo": {"ranks": 6, "iterations": 2},
    "master_worker": {"ranks": 6, "tasks": 150, "rng": 1},
    "random_program": {"ranks": 4, "rng": 1},
    "ring_pipeline": {"ranks": 4, "segments": 3, "iterations": 2},
    "sweep": {"ranks": (2, 3), "blocks": 2},
    "training": {"ranks": 4, "gradient_bytes": 1000, "bucket_bytes": 300},
}


def sent(program: Program, rank: int) -> list[tuple[int, int]]:
    """Receiver and bytes of each message that a rank sends."""
    calls = slice(int(program.rank_start[rank]), int(program.rank_start[rank + 1]))
    sends = np.isin(program.kind[calls], (2 - 1, ISEND))
    return list(
        zip(program.peer[calls][sends].tolist(), program.size[calls][sends].tolist(), strict=True)
    )


def work(program: Program, rank: int = 0) -> int:
    """All work of a rank in ns."""
    return int(program.compute_ns[program.rank_start[rank] : program.rank_start[rank + 1]].sum())


@for_each("name", sorted(generate.GENERATORS))
def test_each_generator_makes_a_program_that_can_run_to_its_end(name: str) -> None:
    program = generate.GENERATORS[name](**SMALL[name])
    program.graph().validate()
    assert program == generate.GENERATORS[name](**SMALL[name])
    graph = program.graph()
    assert all(runs_with_synchronous_sends(graph, seed) for seed in range(5))


@for_each("seed", range(40))
def test_random_programs_run_to_their_end(seed: int) -> None:
    program = generate.random_program(1 + seed % 7, events=40, rng=seed)
    graph = program.graph()
    graph.validate()
    assert runs_with_synchronous_sends(graph, seed)


def runs_with_synchronous_sends(graph: ExecutionGraph, seed: int = 0) -> bool:
    """Run operations in a random order that dependencies allow; a send ends when it is received."""
    rng = np.random.default_rng(seed)
    waits_for = graph.in_degree().tolist()
    ready = [op for op, count in enumerate(waits_for) if not count]
    posted: dict[int, list[list[int]]] = {r: [[], []] for r in range(graph.num_ranks)}
    done = 0

    def release(dependents: np.ndarray) -> None:
        for op in dependents.tolist():
            waits_for[op] -= 1
            if not waits_for[op]:
                ready.append(op)

    def agree(send: int, receive: int) -> bool:
        source = graph.peer[receive] in (ANY_SOURCE, graph.rank_of(send))
        return bool(source and graph.tag[receive] in (graph.tag[send], 2**32 - 1))

    while ready:
        # Half of the time the last: a rank that runs ahead of the others finds other deadlocks.
        op = ready.pop(-1 if rng.random() < 0.5 else int(rng.integers(len(ready))))
        release(graph.irequires.of(op))
        if graph.kind[op] == CALC:
            done += 1
            release(graph.requires.of(op))
            continue
        sends, receives = posted[
            int(graph.peer[op] if graph.kind[op] == SEND else graph.rank_of(op))
        ]
        if graph.kind[op] == SEND:
            match = next((r for r in receives if agree(op, r)), None)
            mine, others = sends, receives
        else:
            match = next((s for s in sends if agree(s, op)), None)
            mine, others = receives, sends
        if match is None:
            mine.append(op)
            continue
        others.remove(match)
        done += 2
        release(graph.requires.of(op))
        release(graph.requires.of(match))
    return done == graph.num_ops


def test_the_runner_sees_a_deadlock() -> None:
    from workbench.programs import ProgramBuilder

    builder = ProgramBuilder(2)
    for rank in range(2):
        builder.send(rank, 1 - rank, 8)
        builder.recv(rank, 1 - rank, 8)
    assert not runs_with_synchronous_sends(builder.build().graph())


class TestHalo:
    def test_four_neighbours_in_two_dimensions(self) -> None:
        program = generate.halo((3, 4), cells=(10, 20), bytes_per_cell=8, iterations=1)
        # Rank 5 is at (1, 1): along the first axis it sends rows of 20, along the second of 10.
        assert sorted(sent(program, 5)) == [(1, 160), (4, 80), (6, 80), (9, 160)]
        assert work(program, 5) == 200

    def test_corners_and_edges_are_smaller(self) -> None:
        program = generate.halo(
            (3, 3, 3), neighbours=26, cells=10, width=2, bytes_per_cell=4, iterations=1
        )
        sizes = [size for _, size in sent(program, 13)]
        assert sorted(set(sizes)) == [2 * 2 * 2 * 4, 2 * 2 * 10 * 4, 2 * 10 * 10 * 4]
        assert [sizes.count(size) for size in sorted(set(sizes))] == [8, 12, 6]

    def test_without_a_period_the_border_has_fewer_neighbours(self) -> None:
        program = generate.halo((3, 3), neighbours=8, periodic=False, iterations=1)
        assert [len(sent(program, rank)) for rank in range(9)] == [3, 5, 3, 5, 8, 5, 3, 5, 3]

    def test_no_rank_is_its_own_neighbour_and_two_can_be_neighbours_twice(self) -> None:
        program = generate.halo((2, 1), iterations=1)
        assert [peer for peer, _ in sent(program, 0)] == [1, 1]
        assert generate.halo(1, iterations=1).graph().num_ops == 1

    def test_strong_scaling_shares_the_cells(self) -> None:
        program = generate.halo((3, 2), cells=(10, 7), scaling="strong", iterations=1)
        assert [work(program, rank) for rank in range(6)] == [16, 12, 12, 9, 12, 9]
        program.graph().validate()
        messages = program.graph()
        assert (
            messages.size[messages.kind == SEND].sum() == messages.size[messages.kind == RECV].sum()
        )

    def test_overlap_moves_the_inner_work_before_the_wait(self) -> None:
        apart = generate.halo(9, cells=10, iterations=1)
        together = generate.halo(9, cells=10, iterations=1, overlap=True)
        assert work(apart) == work(together) == 100
        assert sorted(together.compute_ns[together.compute_ns > 0].tolist()[:2]) == [36, 64]
        graph = together.graph()
        inner = int(np.flatnonzero(graph.size == 64)[0])
        assert not any(inner in graph.requires.of(op) for op in graph.ops_of(0))

    def test_iterations_repeat(self) -> None:
        one, five = (generate.halo(4, iterations=count) for count in (1, 5))
        assert five.num_calls == 5 * one.num_calls
        assert five == generate.repeat(one, 5)

    @for_each(
        "arguments, key",
        [
            ({"neighbours": 6}, "neighbours"),
            ({"dims": 4}, "dims"),
            ({"ranks": (2, 2, 2, 2)}, "ranks"),
            ({"ranks": 0}, "ranks"),
            ({"scaling": "none"}, "scaling"),
            ({"cells": 0}, "cells"),
            ({"cells": (4, 4, 4)}, "cells"),
            ({"ranks": 64, "cells": 7, "scaling": "strong"}, "cells"),
            ({"width": 0}, "width"),
            ({"ns_per_cell": -1}, "ns_per_cell"),
            ({"ns_per_cell": float("nan")}, "ns_per_cell"),
            ({"iterations": 0}, "times"),
            ({"jitter": 2}, "jitter"),
        ],
    )
    def test_wrong_arguments_are_named(self, arguments, key: str) -> None:
        with pytest.raises(ParameterError) as caught:
            generate.halo(**arguments)
        assert caught.value.key == key


def test_grids_are_as_square_as_they_can_be() -> None:
    assert grid_shape(64, 2) == (8, 8)
    assert grid_shape(12, 2) == (4, 3)
    assert grid_shape(7, 2) == (7, 1)
    assert grid_shape(512, 3) == (8, 8, 8)
    assert grid_shape(24, 3) == (4, 3, 2)
    assert grid_shape((2, 5), 3) == (2, 5)


def test_even_parts_differ_by_one_at_most() -> None:
    assert even_parts(10, 4) == [3, 3, 2, 2]
    assert even_parts(2, 3) == [1, 1, 0]


def test_a_halo_may_add_up_after_some_iterations() -> None:
    plain = generate.halo(8, iterations=6)
    program = generate.halo(8, iterations=6, reduce_every=3)
    for rank in range(8):
        assert sent(program, rank) == sent(plain, rank)
        assert work(program, rank) == work(plain, rank)
    assert program.operations == {"allreduce": 2}
    with pytest.raises(ParameterError, match="reduce_every must divide the 6 iterations; got 4"):
        generate.halo(8, iterations=6, reduce_every=4)


def test_an_iteration_of_cg_has_two_small_allreduces() -> None:
    program = generate.cg((2, 2), cells=10, ns_per_cell=2, iterations=3)
    assert program.operations == {"allreduce": 6}
    assert {collective.size for collective in program.collectives} == {8}
    assert work(program) == 3 * 200
    assert len(sent(program, 0)) == 3 * 2  # not periodic


def test_a_sweep_passes_from_corner_to_corner() -> None:
    program = generate.sweep((2, 3), cells=(4, 5, 6), blocks=3, angles=2, corners=4, ns_per_cell=1)
    # Each corner and block crosses each of 3 + 4 borders once.
    graph = program.graph()
    assert (graph.kind == SEND).sum() == 4 * 3 * 7
    assert set(graph.size[graph.kind == SEND].tolist()) == {5 * 2 * 2 * 8, 4 * 2 * 2 * 8}
    assert work(program, 3) == 4 * 4 * 5 * 6
    eight = generate.sweep((2, 3), cells=(4, 5, 6), blocks=3, angles=2, ns_per_cell=1)
    assert eight.num_calls == pytest.approx(2 * program.num_calls, abs=6)
    # The first rank begins without a message, the last one with two.
    assert program.peer[program.rank_start[0]] == 1 * 3
    assert (graph.kind[list(graph.ops_of(5))[:3]] == [RECV, RECV, CALC]).all()
    for wrong in ({"corners": 3}, {"ranks": (2, 2, 2)}, {"blocks": 0}):
        with pytest.raises(ParameterError):
            generate.sweep(**wrong)


def test_the_master_gives_each_task_once() -> None:
    program = generate.master_worker(5, tasks=40, task_ns=1000, master_ns=7, rng=3)
    results = program.kind == 2
    assert (
        program.peer[: program.rank_start[1]][results[: program.rank_start[1]]] == ANY_SOURCE
    ).all()
    assert results[: program.rank_start[1]].sum() == 40
    tasks = [peer for peer, size in sent(program, 0) if size == 4096]
    assert len(tasks) == 40
    done = [work(program, worker) for worker in range(1, 5)]
    # Whoever is free gets the next task, so no one ends more than one task after another.
    assert max(done) - min(done) <= 1500
    assert work(program, 0) == 40 * 7
    assert generate.master_worker(5, tasks=2, rng=3).graph().num_ranks == 5
    with pytest.raises(ParameterError, match="ranks must be a whole number of at least 2"):
        generate.master_worker(1)


@for_each("overlap", [False, True])
def test_each_segment_goes_round_the_ring(overlap: bool) -> None:
    program = generate.ring_pipeline(4, segments=5, segment_ns=10, overlap=overlap, iterations=2)
    assert [len(sent(program, rank)) for rank in range(4)] == [10] * 4
    assert [work(program, rank) for rank in range(4)] == [100] * 4
    assert (program.kind == IRECV).sum() == (2 * 5 * 4 if overlap else 2 * 5)


@for_each("overlap", [False, True])
def test_training_adds_up_all_gradients_in_buckets(overlap: bool) -> None:
    program = generate.training(
        4, gradient_bytes=1003, bucket_bytes=250, backward_ns=77, overlap=overlap, iterations=2
    )
    assert [c.size for c in program.collectives] == [201, 201, 201, 200, 200] * 2
    assert work(program) == 2 * (10_000_000 + 77 + 1_000_000)
    kind = ICOLLECTIVE if overlap else COLLECTIVE
    assert (program.kind == kind).sum() == 2 * 5 * 4
    program.graph(allreduce="ring").validate()


class TestDescriptors:
    def test_a_descriptor_makes_the_program_it_was_made_of(self) -> None:
        arguments = {"ranks": 4, "iterations": 2, "jitter": 0.1, "rng": 1}
        descriptor = json.loads(
            json.dumps(generate.describe("h", "Halo", "halo", arguments, description="d"))
        )
        program = generate.from_descriptor(descriptor)
        assert program == generate.halo(**arguments)
        assert program.source == "h"
        assert descriptor["origin"] == "synthetic"
        assert (descriptor["ranks"], descriptor["calls"]) == (4, program.num_calls)

    @for_each(
        "change, words",
        [
            ({"sha256": "0"}, "checksum is recorded"),
            ({"generator": "hallo"}, "must be one of cg, halo"),
            ({"arguments": {"rank": 4}}, "refuses its arguments"),
            ({"arguments": {"ranks": 0}}, "refuses its arguments"),
            ({"arguments": 3}, "must have name, generator"),
        ],
    )
    def test_a_wrong_descriptor_is_refused(self, change, words: str) -> None:
        descriptor = generate.describe("h", "Halo", "halo", {"ranks": 4})
        with pytest.raises(DatasetError, match=words):
            generate.from_descriptor({**descriptor, **change})
        with pytest.raises(DatasetError, match="must have name"):
            generate.from_descriptor({})
        with pytest.raises(ParameterError, match="must be one of cg, halo"):
            generate.describe("h", "Halo", "hallo", {})

    @for_each("path", SYNTHETIC)
    def test_each_shipped_program_is_the_one_recorded(self, path: Path) -> None:
        descriptor = json.loads(path.read_text("utf-8"))
        program = generate.from_descriptor(descriptor)
        assert descriptor["name"] == path.stem == program.source
        assert (descriptor["ranks"], descriptor["calls"]) == (program.num_ranks, program.num_calls)
        assert (descriptor["origin"], descriptor["format"]) == ("synthetic", "generator")
        assert 64 <= program.num_ranks <= 1024
        assert descriptor["title"]
        assert descriptor["description"]

    def test_programs_are_shipped(self) -> None:
        assert len(SYNTHETIC) >= 8
        used = {json.loads(path.read_text("utf-8"))["generator"] for path in SYNTHETIC}
        assert used == set(generate.GENERATORS) - {"random_program"}
