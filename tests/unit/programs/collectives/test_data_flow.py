"""Every algorithm, run on data: each rank ends with exactly the blocks that it must have."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import fields, replace

import numpy as np
import pytest

from tests.cases import for_each
from tests.reference.dataflow import ORDERS, BrokenScheduleError, is_range, prove
from workbench.programs.collectives import ALGORITHMS, Algorithm, Schedule, schedule

ROOTED = ("bcast", "reduce", "gather", "scatter")
REDUCING = ("reduce", "allreduce", "reduce_scatter", "scan", "exscan")
WITH_SIZES = ("gather", "scatter", "allgather", "reduce_scatter", "alltoall")
ALL = [
    (operation, algorithm)
    for operation, algorithms in ALGORITHMS.items()
    for algorithm in algorithms.values()
]
# Where nothing is reduced, the time that reductions take changes nothing (a test holds it).
TIMED = [
    (operation, algorithm, ns)
    for operation, algorithms in ALGORITHMS.items()
    for algorithm in algorithms.values()
    for ns in ((0.0, 0.25) if operation in REDUCING else (0.0,))
]
# 4099 is a prime number: no count of ranks or segments divides it
BYTES, SEGMENT_BYTES = 4099, 700


def roots(operation: str, ranks: int) -> Iterable[int]:
    """Return all roots up to nine ranks, three beyond."""
    if operation not in ROOTED:
        return (0,)
    return range(ranks) if ranks <= 9 else (0, ranks // 2, ranks - 1)


def planned(operation: str, algorithm: Algorithm, ranks: int, **arguments: object) -> Schedule:
    """Return a schedule with several segments where there are any."""
    if algorithm.parameter == "segment_bytes":
        arguments.setdefault("segment_bytes", SEGMENT_BYTES)
    return schedule(operation, algorithm.name, ranks, **arguments)  # type: ignore[arg-type]


@for_each("operation, algorithm", ALL)
def test_every_rank_ends_with_its_blocks(operation: str, algorithm: Algorithm) -> None:
    """The orders of events take turns, so that each meets every kind of count."""
    for ranks in (*range(1, 10), 12, 16, 17, 33):
        for root in roots(operation, ranks):
            turn = ranks + root + ranks // 3
            prove(
                planned(operation, algorithm, ranks, size=BYTES, root=root),
                ORDERS[turn % 3],
                seed=ranks,
            )


@pytest.mark.deep
@for_each("order", ORDERS)
@for_each("operation, algorithm, reduce_ns_per_byte", TIMED)
def test_every_rank_ends_with_its_blocks_in_every_order(
    operation: str, algorithm: Algorithm, reduce_ns_per_byte: float, order: str
) -> None:
    for ranks in range(1, 34):
        for root in (
            range(ranks) if operation in ROOTED and ranks <= 17 else roots(operation, ranks)
        ):
            plan = planned(
                operation,
                algorithm,
                ranks,
                size=BYTES,
                root=root,
                reduce_ns_per_byte=reduce_ns_per_byte,
            )
            prove(plan, order, seed=root)


@for_each("operation, algorithm", ALL)
def test_reductions_take_time_where_there_are_any(operation: str, algorithm: Algorithm) -> None:
    for ranks in (3, 8):
        at_once, timed = (
            planned(operation, algorithm, ranks, size=BYTES, reduce_ns_per_byte=ns)
            for ns in (0.0, 0.25)
        )
        same = all(
            np.array_equal(getattr(at_once, field.name), getattr(timed, field.name))
            for field in fields(at_once)
        )
        assert same == (operation not in REDUCING)


@for_each("size", [0, 7, 4096])
@for_each("operation, algorithm", ALL)
def test_any_number_of_bytes_arrives(operation: str, algorithm: Algorithm, size: int) -> None:
    for ranks in (1, 3, 8):
        plan = planned(
            operation,
            algorithm,
            ranks,
            size=size,
            root=ranks - 1 if operation in ROOTED else 0,
            segment_bytes=3 if algorithm.parameter == "segment_bytes" and size < 100 else None,
            reduce_ns_per_byte=0.5,
        )
        prove(plan, ORDERS[ranks % 3], seed=size)


@for_each("operation, algorithm", [case for case in ALL if case[0] in WITH_SIZES])
def test_each_rank_may_have_a_size_of_its_own(operation: str, algorithm: Algorithm) -> None:
    rng = np.random.default_rng(7)
    for ranks in (1, 2, 3, 6, 8, 13):
        number = ranks**2 if operation == "alltoall" else ranks
        sizes = rng.integers(0, 50, number) * (rng.random(number) < 0.7)
        for order, root in zip(ORDERS, (0, ranks // 2, ranks - 1), strict=True):
            plan = planned(
                operation,
                algorithm,
                ranks,
                sizes=tuple(sizes.tolist()),
                root=root if operation in ROOTED else 0,
            )
            assert plan.block_bytes.tolist() == sizes.tolist()
            assert plan.size.min(initial=1) > 0
            prove(plan, order, seed=ranks)


@for_each("fanout", [2, 3, 4, 5, 8, 40])
@for_each("operation, name", [("bcast", "knomial"), ("reduce", "knomial"), ("barrier", "tree")])
def test_trees_of_every_base_reach_all(operation: str, name: str, fanout: int) -> None:
    for ranks in (*range(1, 10), 16, 33):
        root = ranks // 3 if operation in ROOTED else 0
        plan = schedule(operation, f"{name}:{fanout}", ranks, size=10, root=root)
        prove(plan, ORDERS[ranks % 3], seed=fanout)


@for_each(
    "operation, algorithm",
    [case for case in ALL if case[1].order],
)
def test_the_documented_order_of_reductions_holds(operation: str, algorithm: Algorithm) -> None:
    outcomes = {True: set(), False: set()}
    for ranks in (*range(1, 14), 16, 17):
        for root in roots(operation, ranks):
            plan = planned(operation, algorithm, ranks, size=BYTES, root=root)
            outcomes[root == 0].add(prove(plan).ordered)
    assert outcomes[True] == ({True, False} if algorithm.order == "never" else {True})
    if operation in ROOTED:
        assert outcomes[False] == ({True} if algorithm.order == "always" else {True, False})


def test_neighbouring_bits_are_a_range() -> None:
    assert [mask for mask in range(16) if is_range(mask)] == [0, 1, 2, 3, 4, 6, 7, 8, 12, 14, 15]


def _without_dependencies(plan: Schedule) -> Schedule:
    return replace(plan, after=plan.after[:0], before=plan.before[:0])


def _last_dependency_lost(plan: Schedule) -> Schedule:
    last = plan.after == plan.after.max()
    return replace(plan, after=plan.after[~last], before=plan.before[~last])


def _sends_after_receives(plan: Schedule) -> Schedule:
    first = plan.rank_start[:-1]
    return replace(
        plan,
        after=np.concatenate([plan.after, first + 1]),
        before=np.concatenate([plan.before, first]),
    )


def _receives_after_sends(plan: Schedule) -> Schedule:
    first = plan.rank_start[:-1]
    return replace(
        plan,
        after=np.concatenate([plan.after, first]),
        before=np.concatenate([plan.before, first + 1]),
    )


@for_each(
    "operation, name, breakage, order, complaint",
    [
        ("bcast", "binomial", _without_dependencies, "delayed", "lacks block"),
        ("allreduce", "recursive-doubling", _without_dependencies, "delayed", "must end with"),
        ("barrier", "dissemination", _without_dependencies, "eager", "leaves early"),
        ("allgather", "ring", _last_dependency_lost, "delayed", "lacks block"),
        ("allgather", "ring", _sends_after_receives, "eager", "deadlock"),
        ("allgather", "ring", _receives_after_sends, "synchronous", "deadlock"),
        (
            "allreduce",
            "ring",
            lambda plan: replace(plan, reduces=~plan.reduces),
            "eager",
            "counts twice",
        ),
        (
            "scan",
            "recursive-doubling",
            lambda plan: replace(plan, reduces=np.zeros_like(plan.reduces)),
            "eager",
            "must end with",
        ),
        (
            "allreduce",
            "segmented-ring",
            lambda plan: replace(plan, tag=np.zeros_like(plan.tag)),
            "delayed",
            "another message",
        ),
        ("gather", "linear", lambda plan: replace(plan, size=plan.size + 1), "eager", "as long"),
        ("scatter", "linear", lambda plan: replace(plan, root=1), "eager", "lacks block"),
        (
            "alltoall",
            "bruck",
            lambda plan: replace(plan, blocks=np.roll(plan.blocks, 1)),
            "eager",
            "lacks block",
        ),
    ],
)
def test_a_broken_schedule_is_noticed(
    operation: str,
    name: str,
    breakage: Callable[[Schedule], Schedule],
    order: str,
    complaint: str,
) -> None:
    plan = planned(operation, ALGORITHMS[operation][name], 8, size=BYTES, segment_bytes=None)
    if name == "segmented-ring":
        plan = schedule(operation, name, 8, size=BYTES, segment_bytes=100)
    prove(plan, order)
    with pytest.raises(BrokenScheduleError, match=complaint):
        for seed in range(20):
            prove(breakage(plan), order, seed)
