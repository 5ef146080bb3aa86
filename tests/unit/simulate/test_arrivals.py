"""Receives from any source as arrivals decide: what moves, what stays, and what is left alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.cases import for_each
from tests.reference import first_come
from workbench import programs
from workbench.models import LogGPS
from workbench.programs import ANY_SOURCE, ANY_TAG, Program, ProgramBuilder
from workbench.programs.program import COMPUTE, IRECV, ISEND, MPI_CALLS, RECV, SEND
from workbench.simulate import PicosecondCosts, by_arrival, receives_from_any, replay
from workbench.validation import recording_of

NETWORK = LogGPS(L=20e-6, o=3e-6, g=0.0, G=2e-9, O=0.0, S=65536)
SLOWER = tuple(NETWORK.replace(L=one) for one in (0.0, 20e-6, 150e-6, 1e-3))
TASK, RESULT = 1, 2
Farm = dict[str, bool | int]


def farm(
    seed: int,
    *,
    workers: int = 4,
    tasks: int = 40,
    phases: int = 1,
    exchanges: bool = False,  # between phases a ring exchanges blocks, without waiting in between
    at_a_time: int = 1,
    asks_first: bool = False,  # a worker's first message is a request, not a result
    begins_sends: bool = False,  # the master does not wait for its sends
    stops_last: bool = False,  # the end is told to all workers at the end, not in an answer
) -> Program:
    """Return a master and workers as if recorded: who is answered is any worker that may be."""
    rng = np.random.default_rng(seed)
    builder = ProgramBuilder(workers + 1)
    for _ in range(phases):
        if exchanges:
            _exchange(builder, rng)
        builder.collective("barrier")
        _phase(builder, rng, tasks, at_a_time, asks_first, begins_sends, stops_last)
    return builder.build()


def _exchange(builder: ProgramBuilder, rng: np.random.Generator) -> None:
    ranks = builder.num_ranks
    builder.collective("allreduce", 8)
    for rank in range(ranks):
        begun = [builder.irecv(rank, (rank - 1) % ranks, 64), 0]
        builder.compute(rank, int(rng.integers(20_000)))
        begun[1] = builder.isend(rank, (rank + 1) % ranks, 64)
        for one in begun:
            builder.wait(rank, [one])


def _phase(
    builder: ProgramBuilder,
    rng: np.random.Generator,
    tasks: int,
    at_a_time: int,
    asks_first: bool,
    begins_sends: bool,
    stops_last: bool,
) -> None:
    everyone, left = range(1, builder.num_ranks), tasks
    under_way = dict.fromkeys(everyone, 0)
    requests = []

    def give(worker: int, *, stop: bool) -> None:
        builder.compute(0, int(rng.integers(2000)))
        if begins_sends:
            requests.append(builder.isend(0, worker, 64, TASK))
        else:
            builder.send(0, worker, 64, TASK)
        builder.recv(worker, 0, 64, TASK)
        if not stop:
            answer(worker, int(rng.integers(1, 200_000)), int(rng.integers(2000)))

    def answer(worker: int, work_ns: int, size: int) -> None:
        builder.compute(worker, work_ns)
        builder.send(worker, 0, size, RESULT)
        under_way[worker] += 1

    for worker in everyone:
        if asks_first:
            answer(worker, int(rng.integers(5000)), 8)
        else:
            for _ in range(at_a_time):
                give(worker, stop=False)
                left -= 1
    while any(under_way.values()):
        worker = int(rng.choice([one for one, messages in under_way.items() if messages]))
        builder.recv(0, ANY_SOURCE, 2000, RESULT)
        under_way[worker] -= 1
        if left > 0 or not stops_last:
            give(worker, stop=left <= 0)
        left -= 1
    if stops_last:
        for worker in everyone:
            give(worker, stop=True)
    builder.wait(0, requests)


FARMS: list[Farm] = [
    {},
    {"at_a_time": 2},
    {"asks_first": True},
    {"stops_last": True, "begins_sends": True},
    {"phases": 3, "asks_first": True, "begins_sends": True},
    {"phases": 3, "exchanges": True, "begins_sends": True},
    {"workers": 1, "at_a_time": 3},
    {"workers": 9, "tasks": 9, "phases": 2},
]


@for_each("farm_of", FARMS)
def test_what_the_ranks_do_is_conserved(farm_of: Farm) -> None:
    traced = farm(1, **farm_of)  # type: ignore[arg-type]
    for network in SLOWER:
        found = by_arrival(traced, network)
        assert receives_from_any(found) == 0
        assert found.collectives == traced.collectives
        for one in (SEND, ISEND, RECV):
            assert (found.kind == one).sum() == (traced.kind == one).sum()
        # Call by call with the work before it, only in another order and at another rank.
        assert calls(found) == calls(traced)
        of_master = slice(*traced.rank_start[:2])
        for name in ("kind", "compute_ns", "size", "tag"):
            column = getattr(traced, name)[of_master]
            assert getattr(found, name)[of_master].tolist() == column.tolist()


def calls(program: Program) -> list[tuple[int, ...]]:
    columns = (program.kind, program.compute_ns, program.size, program.tag, program.collective)
    return sorted(zip(*(column.tolist() for column in columns), strict=True))


@for_each("farm_of", FARMS)
def test_messages_are_received_in_the_order_in_which_they_arrive(farm_of: Farm) -> None:
    traced = farm(2, **farm_of)  # type: ignore[arg-type]
    moved = 0
    for network in SLOWER:
        found = by_arrival(traced, network)
        assert (np.diff(arrivals(found, network)) >= 0).all()
        moved += found.peer.tolist() != traced.peer.tolist()
        # What has been decided on this network is decided the same again.
        again = replace(found, peer=np.where(from_master(traced), ANY_SOURCE, found.peer))
        assert receives_from_any(again) == receives_from_any(traced)
        assert by_arrival(again, network) == found
    assert moved


def from_master(program: Program) -> NDArray[np.bool_]:
    """Return for each call whether it is a receive of rank 0, the master."""
    mine = np.arange(program.num_calls) < program.rank_start[1]
    return (program.kind == RECV) & mine


def arrivals(program: Program, network: LogGPS) -> NDArray[np.int64]:
    """Return when the messages arrive that the master receives, in the order of the receives."""
    graph = program.graph()
    times = replay(graph, network, semantics="llamp", times=True).times
    costs = PicosecondCosts.of(network)
    assert times is not None
    mine = np.arange(graph.num_ops) < graph.rank_start[1]
    called = graph.call_name == MPI_CALLS.index("Recv")
    sends = times.match[np.flatnonzero(mine & called & (graph.kind == programs.RECV))]
    return times.end_ps[sends] + costs.L + costs.G.of(graph.size[sends])


@for_each("name", ["master_worker-4", "master_worker-8"])
def test_a_recorded_master_ends_as_in_the_reference(name: str) -> None:
    recording = recording_of(name)
    for traced_s in recording.traces:
        program = without_ends(recording.program(traced_s))
        for added in (0.0, 3e-4, 1e-3, 4e-3):
            network = recording.model()
            network = network.replace(L=network.L + added)
            found = by_arrival(program, network, recording.algorithms).graph(recording.algorithms)
            ended = replay(found, network, semantics="llamp").makespan_s
            # A path has fewer than 1000 costs, each rounded to a picosecond.
            assert ended == pytest.approx(first_come.run_s(program, network), rel=0, abs=1e-9)


def without_ends(program: Program) -> Program:
    """Leave out the work before the first barrier and after the last call, as the reference."""
    work = program.compute_ns.copy()
    work[program.rank_start[:-1]] = 0
    work[program.kind == COMPUTE] = 0
    return replace(program, compute_ns=work)


def test_a_generated_master_answers_as_messages_arrive() -> None:
    traced = programs.generate.master_worker(6, tasks=60, rng=3)
    for network in SLOWER:
        found = by_arrival(traced, network)
        assert (np.diff(arrivals(found, network)) >= 0).all()
        assert calls(found) == calls(traced)
    # It is made as if messages took no time; the master's own work may be in the way.
    free = LogGPS(L=0.0, o=0.0, g=0.0, G=0.0, O=0.0, S=65536)
    quick = programs.generate.master_worker(6, tasks=60, master_ns=0, rng=3)
    mine = slice(0, int(quick.rank_start[1]))
    sends = quick.kind[mine] == ISEND
    found = by_arrival(quick, free)
    assert found.peer[mine][sends].tolist() == quick.peer[mine][sends].tolist()
    assert found.compute_ns.tolist() == quick.compute_ns.tolist()


def test_two_workers_by_hand() -> None:
    """The second task is quick, so that its worker is first and gets the third."""
    builder = ProgramBuilder(3)
    for worker, work_ns in ((1, 50_000), (2, 30_000)):
        builder.send(0, worker, 1, TASK)
        builder.recv(worker, 0, 1, TASK)
        builder.compute(worker, work_ns)
        builder.send(worker, 0, 1, RESULT)
    builder.recv(0, ANY_SOURCE, 1, ANY_TAG)
    builder.send(0, 1, 1, TASK)
    builder.recv(1, 0, 1, TASK)
    builder.compute(1, 7000)
    builder.send(1, 0, 1, RESULT)
    for _ in range(2):
        builder.recv(0, ANY_SOURCE, 1, RESULT)
    found = by_arrival(builder.build(), NETWORK)
    # Worker 2's task has left at 6 µs, is taken at 29, done at 59 and back at 82, taken at 85.
    assert found.peer[found.rank_start[0] : found.rank_start[1]].tolist() == [1, 2, 2, 2, 1, 2]
    assert found.tag[2] == RESULT
    assert np.diff(found.rank_start).tolist() == [6, 2, 4]
    assert found.compute_ns[found.rank_start[2] :].tolist() == [0, 30_000, 0, 7000]
    # Worker 1's result is back at 3 + 20 + 3 + 50 + 3 + 20 = 99. The answer to 2 has left at 88, is
    # taken at 111, done at 118, and back at 141.
    assert replay(found, NETWORK, semantics="llamp").makespan_s == pytest.approx(144e-6)


def test_a_program_without_receives_from_any_source_is_the_same() -> None:
    for program in (programs.generate.halo(4), recording_of("cg-4").program()):
        assert by_arrival(program, NETWORK) is program


def gather(change: Callable[[ProgramBuilder], None], ranks: int = 3) -> Program:
    """Return a master that receives from each worker, after something else."""
    builder = ProgramBuilder(ranks)
    change(builder)
    for worker in range(1, ranks):
        builder.send(worker, 0, 8, RESULT)
        builder.recv(0, ANY_SOURCE, 8, RESULT)
    return builder.build()


def _irecv(builder: ProgramBuilder) -> None:
    builder.wait(0, [builder.irecv(0, ANY_SOURCE, 8, RESULT)])
    builder.send(1, 0, 8, RESULT)


def _beside(builder: ProgramBuilder) -> None:
    builder.send(1, 2, 8)
    builder.recv(2, 1, 8)


def _two_masters(builder: ProgramBuilder) -> None:
    builder.send(2, 1, 8)
    builder.recv(1, ANY_SOURCE, 8)


def _named(builder: ProgramBuilder) -> None:
    builder.send(1, 0, 8)
    builder.recv(0, 1, 8)


def _to_two(builder: ProgramBuilder) -> None:
    builder.send(1, 0, 8, RESULT)
    builder.recv(0, ANY_SOURCE, 8, RESULT)
    for worker in (1, 2):
        builder.send(0, worker, 8)
        builder.recv(worker, 0, 8)


def _to_nobody(builder: ProgramBuilder) -> None:
    builder.send(1, 0, 8, RESULT)
    builder.recv(0, ANY_SOURCE, 8, RESULT)
    builder.send(0, 2, 8)
    builder.recv(2, 0, 8)


def _not_received(builder: ProgramBuilder) -> None:
    builder.send(0, 1, 8)


def _not_sent(builder: ProgramBuilder) -> None:
    builder.recv(1, 0, 8)


def _too_many(builder: ProgramBuilder) -> None:
    builder.send(1, 0, 8, RESULT)


def _another_tag(builder: ProgramBuilder) -> None:
    builder.send(1, 0, 8, TASK)
    builder.recv(0, ANY_SOURCE, 8, RESULT)


def _large(builder: ProgramBuilder) -> None:
    builder.send(1, 0, 10**6, RESULT)
    builder.recv(0, ANY_SOURCE, 10**6, RESULT)


def _across(builder: ProgramBuilder) -> None:
    builder.send(1, 2, 8)
    builder.collective("barrier")


def _under_way(builder: ProgramBuilder) -> None:
    builder.irecv(2, 1, 8)
    builder.send(1, 2, 8)
    builder.collective("barrier")


@for_each(
    "change, why",
    [
        (_irecv, "irecv of rank 0, call 0, stands among them"),
        (_beside, "send of rank 1, call 0, stands beside them"),
        (_two_masters, "ranks 0, 1 have some at a time"),
        (_named, "recv of rank 0, call 0, stands among them"),
        (_to_two, "rank 0 sends to several ranks after one"),
        (_to_nobody, "send of rank 0, call 1, follows one that cannot have been of rank 2"),
        (_not_received, "rank 1 does not receive all that it is sent"),
        (_not_sent, "rank 1 receives more than rank 0 sends it"),
        (_too_many, "rank 0 does not receive all that it is sent"),
        (_another_tag, "recv of rank 0, call 2, would wait for a message of nobody"),
        (_large, "a message of 1000000 B would be a rendezvous, above S"),
        (_across, "messages are under way at the collective before them"),
        (_under_way, "requests are under way at the collective before them"),
    ],
)
def test_where_it_is_not_plain_the_program_stays_and_says_why(
    change: Callable[[ProgramBuilder], None], why: str
) -> None:
    program = gather(change)
    found = by_arrival(program, NETWORK)
    assert found == program
    assert (found.kind == IRECV).sum() == (program.kind == IRECV).sum()
    count = receives_from_any(program)
    assert found.notes[-1] == f"{count} receives from any source are answered as traced: {why}."


def test_a_gather_that_answers_nobody_takes_what_is_there() -> None:
    program = gather(lambda builder: builder.compute(1, 10_000), ranks=4)
    assert by_arrival(program, NETWORK).peer[:3].tolist() == [2, 3, 1]
