"""What can be asked for, what is refused and how, and what a schedule tells."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.cases import for_each
from workbench.errors import ParameterError
from workbench.programs.collectives import ALGORITHMS, DEFAULTS, find_algorithm, schedule
from workbench.programs.graph import CALC, RECV, SEND
from workbench.programs.program import OPERATIONS, Collective


def test_every_collective_has_algorithms_and_a_default() -> None:
    assert list(ALGORITHMS) == list(DEFAULTS) == list(OPERATIONS)
    for operation, algorithms in ALGORITHMS.items():
        assert find_algorithm(operation).name == DEFAULTS[operation]
        for name, algorithm in algorithms.items():
            assert algorithm.name == name
            assert algorithm.description.endswith(".")
            assert algorithm.reference
            reduces = operation in ("reduce", "allreduce", "reduce_scatter", "scan", "exscan")
            assert bool(algorithm.order) == reduces


def test_algorithms_are_found_by_name_and_value() -> None:
    assert find_algorithm("bcast", "pipeline:4096").value == 4096
    assert find_algorithm("bcast", "pipeline").label == "pipeline:8192"
    assert str(find_algorithm("bcast", " KNOMIAL:8 ")) == "knomial:8"
    assert find_algorithm("allreduce", "recursive_doubling").label == "recursive-doubling"
    assert schedule("allreduce", "ring", 4).algorithm == "ring"
    by_keyword = schedule("bcast", "pipeline", 4, size=9999, segment_bytes=1000)
    by_name = schedule("bcast", "pipeline:1000", 4, size=9999)
    assert by_keyword.graph() == by_name.graph()
    assert by_keyword.algorithm == by_name.algorithm == "pipeline:1000"
    assert schedule("barrier", "tree", 9, fanout=3).algorithm == "tree:3"


def test_elements_are_not_cut() -> None:
    for operation, algorithms in ALGORITHMS.items():
        if operation not in ("bcast", "reduce", "allreduce"):
            continue
        for name, algorithm in algorithms.items():
            cut = f"{name}:20" if algorithm.parameter == "segment_bytes" else name
            for ranks, elements in itertools.product((2, 4, 6), (1, 3, 13)):
                made = schedule(operation, cut, ranks, size=8 * elements, element_bytes=8)
                assert not (made.size % 8).any(), (operation, cut, ranks, elements)
                assert made.block_bytes.sum() == 8 * elements
                assert np.ptp(made.block_bytes) <= 8


def test_few_elements_take_the_algorithm_that_libraries_take() -> None:
    made = schedule("allreduce", "ring", 4, size=8, element_bytes=8)
    assert made.algorithm == "recursive-doubling"
    assert set(made.size.tolist()) == {8}
    (note,) = made.graph().notes
    assert "fewer elements than the blocks of ring runs recursive-doubling instead" in note
    assert schedule("allreduce", "rabenseifner", 6, size=24, element_bytes=8).note
    assert not schedule("allreduce", "rabenseifner", 6, size=32, element_bytes=8).note
    assert schedule("reduce", "rabenseifner", 4, size=8, element_bytes=8).algorithm == "binomial"
    # Without a datatype a vector is cut anywhere, as Schedgen cuts it.
    assert set(schedule("allreduce", "ring", 4, size=8).size.tolist()) == {2}
    with pytest.raises(ParameterError, match="whole elements of at least 1 B; got 9 B"):
        schedule("allreduce", "ring", 4, size=9, element_bytes=8)


@for_each(
    "call, message, key",
    [
        (lambda: find_algorithm("allreduced", "ring"), "did you mean allreduce", "operation"),
        (
            lambda: find_algorithm("allreduce", "rings"),
            r"must be one of recursive-doubling, ring, .*; got 'rings'; did you mean ring\?",
            "algorithm",
        ),
        (lambda: find_algorithm("bcast", "ring"), "must be one of linear, binomial", "algorithm"),
        (lambda: find_algorithm("bcast", "linear:4"), "takes nothing; got linear:4", "algorithm"),
        (lambda: find_algorithm("bcast", "knomial:1"), "at least 2.* got '1'", "fanout"),
        (lambda: find_algorithm("bcast", "pipeline:"), "got ''", "segment_bytes"),
        (lambda: find_algorithm("bcast", "pipeline:x"), "got 'x'", "segment_bytes"),
        (lambda: find_algorithm("bcast", "pipeline:0"), "at least 1", "segment_bytes"),
        (lambda: find_algorithm("bcast", "pipeline:" + "9" * 5000), "15 digits", "segment_bytes"),
        (lambda: schedule("bcast", "pipeline", 4, fanout=3), "takes segment_bytes", "fanout"),
        (lambda: schedule("bcast", None, 0), "ranks must be 1 to", "ranks"),
        (lambda: schedule("bcast", None, 2**21), "ranks must be 1 to", "ranks"),
        (lambda: schedule("bcast", None, 4, root=4), "root must be 0 to 3; got 4", "root"),
        (lambda: schedule("bcast", None, 4, root=-1), "root must be 0 to 3", "root"),
        (lambda: schedule("scan", None, 4, root=1), "scan has no root", "root"),
        (lambda: schedule("bcast", None, 4, size=-1), "at least 0 B", "size"),
        (lambda: schedule("gather", None, 4, size=2**61), "altogether", "size"),
        (lambda: schedule("gather", None, 3, sizes=(1, -1, 2)), "at least 0 B", "sizes"),
        (lambda: schedule("gather", None, 3, sizes=(1, 2)), "needs 3 sizes; got 2", "sizes"),
        (lambda: schedule("alltoall", None, 3, sizes=(1,) * 3), "needs 9 sizes", "sizes"),
        (lambda: schedule("bcast", None, 2, sizes=(1, 2)), "takes one size", "sizes"),
        (lambda: schedule("alltoall", "linear", 20_000), "16777216 block sizes", "ranks"),
        (lambda: schedule("alltoall", "bruck", 4_000, size=1), "blocks in messages", "ranks"),
        (lambda: schedule("allgather", "bruck", 2**20, size=1), "blocks in messages", "ranks"),
        (lambda: schedule("allgather", "ring", 2**20, size=1), "messages", "ranks"),
        (
            lambda: schedule("bcast", "pipeline:1", 2, size=10**6),
            "65536 segments at most; got 1000000",
            "segment_bytes",
        ),
        (
            lambda: schedule("reduce", None, 2, size=1, reduce_ns_per_byte=float("nan")),
            "reduce_ns_per_byte must be",
            "reduce_ns_per_byte",
        ),
        (
            lambda: schedule("reduce", None, 2, size=1, reduce_ns_per_byte=-1.0),
            "reduce_ns_per_byte must be",
            "reduce_ns_per_byte",
        ),
        (lambda: schedule("bcast", None, 2, size=8.0), "size must be a whole number.*8.0", "size"),
        (lambda: schedule("bcast", None, 2, size=True), "got True", "size"),
        (lambda: schedule("bcast", None, 2.0), "ranks must be a whole number", "ranks"),
        (lambda: schedule("bcast", None, 2, root=False), "root must be a whole number", "root"),
        (lambda: schedule("gather", None, 2, sizes=(1, 2.5)), "sizes must be whole", "sizes"),
        (lambda: schedule("gather", None, 2, sizes=np.ones(2)), r"got np.float64\(1.0\)", "sizes"),
        (lambda: schedule("gather", None, 2, sizes=np.ones(2, bool)), "sizes must", "sizes"),
        (lambda: schedule("bcast", "knomial", 9, fanout=3.0), "fanout must be", "fanout"),
        (
            lambda: schedule("bcast", "pipeline", 2, size=9, segment_bytes=True),
            "segment_bytes must be a whole number",
            "segment_bytes",
        ),
        (lambda: schedule("bcast", None, 2, size="8"), "got '8'", "size"),
        (lambda: Collective("bcast", size=8.5), "size must be a whole number", "size"),
        (lambda: Collective("bcast", root=True), "root must be a whole number", "root"),
        (lambda: Collective("gather", sizes=(1, 2.0)), "sizes must be whole", "sizes"),
    ],
)
def test_what_does_not_fit_is_refused(call: Callable[[], Any], message: str, key: str) -> None:
    with pytest.raises(ParameterError, match=message) as caught:
        call()
    assert caught.value.key == key


def test_counts_may_be_whole_numbers_of_numpy() -> None:
    plan = schedule("gather", None, np.int32(3), sizes=np.array([1, 2, 3]), root=np.int64(1))
    assert repr(plan) == repr(schedule("gather", None, 3, sizes=(1, 2, 3), root=1))
    made = Collective("gather", size=np.int64(5), sizes=np.array([1, 2]))  # type: ignore[arg-type]
    assert repr(made) == repr(Collective("gather", size=5, sizes=(1, 2)))


def test_vectors_are_cut_evenly() -> None:
    assert schedule("allreduce", "ring", 4, size=10).block_bytes.tolist() == [3, 3, 2, 2]
    assert schedule("bcast", "pipeline:4", 2, size=10).block_bytes.tolist() == [4, 3, 3]
    assert schedule("allgather", "ring", 3, size=10).block_bytes.tolist() == [10, 10, 10]


def test_messages_without_bytes_are_left_out() -> None:
    plan = schedule("alltoall", "pairwise", 4, sizes=tuple(int(n == 1) * 9 for n in range(16)))
    assert plan.num_messages == 1
    assert plan.rank_start.tolist() == [0, 1, 2, 2, 2]
    assert plan.kind.tolist() == [SEND, RECV]
    assert plan.size.tolist() == [9, 9]
    assert schedule("allreduce", "ring", 8, size=0).num_ops == 0
    assert schedule("barrier", None, 8).num_messages == 24


def test_what_waited_for_nothing_waits_for_what_that_waited_for() -> None:
    """In a ring of four ranks, the second step is empty: the third follows the first."""
    plan = schedule("reduce_scatter", "pairwise", 4, sizes=(0, 5, 0, 5))
    first = plan.rank_start[:-1]
    assert plan.entries.tolist() == [
        op for op in range(plan.num_ops) if op not in plan.after.tolist()
    ]
    assert {int(first[rank]) for rank in range(4)} <= set(plan.entries.tolist())
    assert len(plan.entries) < plan.num_ops


def test_entries_and_exits_are_the_ends_of_a_rank() -> None:
    plan = schedule("bcast", "binomial", 8, size=1)
    rank = np.repeat(np.arange(8), np.diff(plan.rank_start))
    assert rank[plan.entries].tolist() == list(range(8))
    assert rank[plan.exits].tolist() == list(range(8))
    assert plan.kind[plan.entries].tolist() == [SEND] + [RECV] * 7


def test_the_time_to_combine_follows_the_bytes() -> None:
    plan = schedule("reduce", "linear", 4, size=1000, reduce_ns_per_byte=0.0015)
    calc = plan.kind == CALC
    assert plan.size[calc].tolist() == [2, 2, 2]
    (combines,) = {tuple(plan.blocks_of(op).tolist()) for op in np.flatnonzero(calc)}
    assert combines == (0,)


def test_a_graph_is_the_schedule_with_nothing_added() -> None:
    plan = schedule("allreduce", "segmented-ring", 5, size=1000, segment_bytes=60)
    graph = plan.graph()
    assert graph.num_ranks == 5
    assert graph.num_ops == plan.num_ops
    assert graph.source == "allreduce segmented-ring:60"
    after, before = graph.requires.pairs()
    assert set(zip(after.tolist(), before.tolist(), strict=True)) == set(
        zip(plan.after.tolist(), plan.before.tolist(), strict=True)
    )
    assert (graph.tag == plan.tag).all()
    assert graph.check() == ()


@for_each("operation", OPERATIONS)
def test_no_graph_has_problems(operation: str) -> None:
    for name in ALGORITHMS[operation]:
        for ranks in (1, 2, 7, 16):
            plan = schedule(operation, name, ranks, size=100, reduce_ns_per_byte=0.5)
            plan.graph().validate()


def test_a_schedule_prints_itself() -> None:
    assert repr(schedule("bcast", "linear", 3, size=5, root=2)) == (
        "Schedule(bcast linear: 3 ranks, root 2, 2 messages, 10 B, 4 operations)"
    )
    assert repr(schedule("barrier", None, 1)) == (
        "Schedule(barrier dissemination: 1 ranks, 0 messages, 0 B, 0 operations)"
    )


def test_another_size_takes_the_same_operations() -> None:
    small, large = (schedule("allreduce", "ring", 9, size=size) for size in (900, 9000))
    assert small.peer is large.peer
    assert (10 * small.size == large.size).all()
