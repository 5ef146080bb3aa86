"""Messages of ranks to themselves: what goes, what stays, and when the program ends."""

from __future__ import annotations

import numpy as np
import pytest

from workbench import programs
from workbench.models import LogGPS
from workbench.programs import ANY_SOURCE, Program, ProgramBuilder, without_own_messages
from workbench.programs.program import IRECV, ISEND, RECV, SEND
from workbench.simulate import replay
from workbench.validation import recording_of

FREE = LogGPS(L=0.0, o=0.0, g=0.0, G=0.0, O=0.0, S=65536)


def halo(ranks: int, seed: int) -> Program:
    """Return exchanges with both neighbours on a ring, and round a ring of one rank."""
    rng = np.random.default_rng(seed)
    builder = ProgramBuilder(ranks)
    half = builder.communicator(range(ranks // 2 + 1))
    for step in range(6):
        for rank in range(ranks):
            peers = [(rank + 1) % ranks, (rank - 1) % ranks, rank, rank]
            begun = []
            for tag in rng.permutation(4).tolist():
                begun.append(builder.irecv(rank, peers[(1, 0, 2, 3)[tag]], 64, tag))
            for tag in rng.permutation(4).tolist():
                builder.compute(rank, int(rng.integers(5000)))
                begun.append(builder.isend(rank, peers[tag], 64, tag))
            builder.wait(rank, begun)
        if step % 2:
            builder.collective("allreduce", 8)
        builder.collective("barrier", comm=half)
        number = builder.new_collective(programs.Collective("allreduce", size=8))
        waits = [builder.begin_collective(rank, number) for rank in range(ranks)]
        for rank, request in enumerate(waits):
            builder.compute(rank, int(rng.integers(5000)))
            builder.wait(rank, [request])
    return builder.build()


@pytest.mark.parametrize("ranks", [3, 5])
def test_messages_that_cost_nothing_may_be_left_out(ranks: int) -> None:
    program = halo(ranks, ranks)
    found = without_own_messages(program)
    assert replay(found, FREE, semantics="llamp").makespan_s == (
        replay(program, FREE, semantics="llamp").makespan_s
    )
    for kind in (ISEND, IRECV):
        assert (found.kind == kind).sum() == (program.kind == kind).sum() / 2
    assert found.compute_ns.sum() == program.compute_ns.sum()
    assert found.collectives == program.collectives
    assert found.operations == program.operations
    assert found.notes == (
        f"{12 * ranks} messages of ranks to themselves pass no network and are left out.",
    )
    assert without_own_messages(found) is found


def test_blocking_calls_and_the_work_at_the_end() -> None:
    builder = ProgramBuilder(2)
    for rank in range(2):
        builder.compute(rank, 100)
        builder.send(rank, rank, 8)
        builder.compute(rank, 20)
        builder.recv(rank, rank, 8)
    found = without_own_messages(builder.build())
    assert found.compute_ns.tolist() == [120, 120]
    assert without_own_messages(builder.build(), 7).compute_ns.tolist() == [134, 134]
    assert not np.isin(found.kind, (SEND, RECV)).any()


def test_a_rank_that_receives_from_any_source_keeps_its_own() -> None:
    builder = ProgramBuilder(2)
    builder.send(0, 0, 8)
    builder.recv(0, ANY_SOURCE, 8)
    program = builder.build()
    assert without_own_messages(program) is program


def test_a_third_of_comds_messages_are_a_ranks_own() -> None:
    """Its ranks are 2 by 2 by 1, and its halo is exchanged along three axes."""
    program = recording_of("comd-4").program()
    found = without_own_messages(program)
    assert 3 * (found.kind == ISEND).sum() == 2 * (program.kind == ISEND).sum()
    assert found.compute_ns.sum() == program.compute_ns.sum()
    assert found.recorded == program.recorded
