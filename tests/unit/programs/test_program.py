"""Programs call by call, and programs made of programs."""

from __future__ import annotations

import numpy as np
import pytest

from tests.cases import for_each
from workbench.errors import ParameterError
from workbench.programs import ANY_SOURCE, ANY_TAG, Collective, Program, ProgramBuilder, generate
from workbench.programs.program import (
    COLLECTIVE,
    COMPUTE,
    ICOLLECTIVE,
    IRECV,
    ISEND,
    RECV,
    SEND,
    WAIT,
)


def small() -> Program:
    """Each kind of call once, two of them with work before."""
    builder = ProgramBuilder(3, source="small")
    pair = builder.communicator([2, 0])
    builder.compute(0, 5)
    sent = builder.isend(0, 1, 10, 3, line=4)
    got = builder.irecv(0, ANY_SOURCE, 20, ANY_TAG, line=5)
    builder.wait(0, [sent, got], line=6)
    builder.recv(1, 0, 10, 3)
    builder.send(1, 0, 20)
    number = builder.new_collective(Collective("bcast", comm=pair, size=8, root=1))
    builder.wait(0, [builder.begin_collective(0, number)])
    builder.join_collective(2, number, line=1)
    builder.compute(2, 7)
    builder.note("It is small.")
    return builder.build()


def test_calls_lie_rank_after_rank() -> None:
    program = small()
    assert program.rank_start.tolist() == [0, 5, 7, 9]
    assert program.kind.tolist() == [
        *(ISEND, IRECV, WAIT, ICOLLECTIVE, WAIT),
        *(RECV, SEND),
        *(COLLECTIVE, COMPUTE),
    ]
    assert program.compute_ns.tolist() == [5, 0, 0, 0, 0, 0, 0, 0, 7]
    assert program.size.tolist() == [10, 20, 0, 0, 0, 10, 20, 0, 0]
    assert program.peer.tolist() == [1, ANY_SOURCE, 0, 0, 0, 0, 0, 0, 0]
    assert program.tag.tolist() == [3, ANY_TAG, 0, 0, 0, 3, 0, 0, 0]
    assert program.comm.tolist() == [0, 0, 0, 1, 0, 0, 0, 1, 0]
    assert program.request.tolist() == [0, 1, 0, 2, 1, -1, -1, -1, -1]
    assert program.collective.tolist() == [-1, -1, -1, 0, -1, -1, -1, 0, -1]
    assert program.waits == ((0, 1), (2,))
    assert program.line is not None
    assert program.line.tolist() == [4, 5, 6, 0, 0, 0, 0, 1, 0]
    assert [ranks.tolist() for ranks in program.communicators] == [[0, 1, 2], [2, 0]]
    assert program.notes == ("It is small.",)


def test_summary_and_repr_count() -> None:
    program = small()
    assert repr(program) == "Program(small: 3 ranks, 9 calls, 1 bcast)"
    summary = program.summary()
    assert (summary["sends"], summary["receives"], summary["compute_ns"]) == (2, 2, 12)
    assert summary["collectives"] == {"bcast": 1}


def test_a_program_without_calls_is_one() -> None:
    program = ProgramBuilder(2).build()
    assert (program.num_ranks, program.num_calls, program.waits) == (2, 0, ())
    assert "no collectives" in repr(program)


def test_equality_and_fingerprint_look_at_the_calls_alone() -> None:
    program = small()
    other = ProgramBuilder(3, source="other")
    assert program == small()
    assert program.fingerprint() == small().fingerprint()
    assert program != other.build()
    assert program != 3
    builders = [ProgramBuilder(2, source=name) for name in "ab"]
    for line, builder in enumerate(builders, 1):
        builder.send(0, 1, 8, line=line)
        builder.recv(1, 0, 8)
    first, second = (builder.build() for builder in builders)
    assert first == second
    assert first.fingerprint() == second.fingerprint()


@for_each("field", ["size", "peer", "tag", "compute_ns", "request"])
def test_a_fingerprint_depends_on_each_number(field: str) -> None:
    program = small()
    before = program.fingerprint()
    getattr(program, field)[0] += 1
    assert program.fingerprint() != before


def test_a_fingerprint_depends_on_the_collectives() -> None:
    prints = set()
    for size, operation in ((8, "bcast"), (9, "bcast"), (8, "reduce")):
        builder = ProgramBuilder(2)
        builder.collective(operation, size)
        prints.add(builder.build().fingerprint())
    assert len(prints) == 3


@for_each(
    "action, key, words",
    [
        (lambda b: b.send(0, 2, 8), "peer", "peer must be 0 to 1"),
        (lambda b: b.send(0, ANY_SOURCE, 8), "peer", "got peer -1"),
        (lambda b: b.recv(0, -2, 8), "peer", "peer must be -1 to 1"),
        (lambda b: b.send(0, 1, -1, line=9), "size", "rank 0, line 9"),
        (lambda b: b.send(0, 1, 2**70), "size", "size must be"),
        (lambda b: b.send(0, 1, 1, ANY_TAG + 1), "tag", "tag 0 to"),
        (lambda b: b.send(0, 1, 1, comm=1), "comm", "communicator 1"),
        (lambda b: b.compute(0, -1), "ns", "got -1 ns"),
        (lambda b: [b.compute(0, 2**62) for _ in range(2)], "ns", "work of rank 0"),
        (lambda b: b.wait(0, [0]), "requests", "which has started 0"),
        (lambda b: b.wait(1, [b.isend(0, 1, 8)]), "requests", "rank 1"),
        (lambda b: b.communicator([0, 0]), "ranks", "each rank once"),
        (lambda b: b.communicator([0, 2]), "ranks", "0 to 1"),
        (lambda b: b.new_collective(Collective("bcast", root=2)), "root", "root must be"),
        (lambda b: b.new_collective(Collective("bcast", comm=3)), "comm", "communicator 3"),
        (
            lambda b: b.new_collective(Collective("alltoall", sizes=(1, 2))),
            "sizes",
            "needs 4 sizes",
        ),
        (lambda b: Collective("allsum"), "operation", "allreduce"),
        (lambda b: Collective("bcast", size=-1), "size", "must not be negative"),
        (lambda b: ProgramBuilder(0), "ranks", "at least 1 rank"),
    ],
)
def test_what_cannot_be_is_refused(action, key: str, words: str) -> None:
    with pytest.raises(ParameterError, match=words) as caught:
        action(ProgramBuilder(2))
    assert caught.value.key == key


def test_repeating_is_calling_again() -> None:
    def once(builder: ProgramBuilder) -> None:
        for rank in range(3):
            requests = [
                builder.irecv(rank, (rank + 2) % 3, 8),
                builder.isend(rank, (rank + 1) % 3, 8),
            ]
            builder.compute(rank, 10 + rank)
            builder.wait(rank, requests)
        builder.wait(1, [builder.isend(1, 1, 1), builder.irecv(1, 1, 1)])
        builder.collective("allreduce", 8)

    one, three = ProgramBuilder(3), ProgramBuilder(3)
    once(one)
    for _ in range(3):
        once(three)
    again, expected = generate.repeat(one.build(), 3), three.build()
    # The builder numbers waits as they come, and `repeat` does too.
    assert again == expected
    assert generate.repeat(again, 1) == again


def test_repeating_needs_a_number() -> None:
    with pytest.raises(ParameterError, match="times must be at least 1"):
        generate.repeat(small(), 0)
    with pytest.raises(ParameterError, match="at most"):
        generate.repeat(small(), 2**31)


def test_jitter_changes_computations_and_nothing_else() -> None:
    program = generate.halo(16, iterations=50, ns_per_cell=1.0)
    varied = generate.jittered(program, 0.2, 7)
    ratio = varied.compute_ns[program.compute_ns > 0] / program.compute_ns[program.compute_ns > 0]
    assert ratio.min() >= 0.8
    assert ratio.max() <= 1.2
    # A uniform factor has a standard deviation of 0.2/√3; 800 draws, four standard errors.
    assert ratio.mean() == pytest.approx(1, abs=4 * 0.2 / np.sqrt(3 * len(ratio)))
    assert ratio.std() == pytest.approx(0.2 / np.sqrt(3), rel=0.1)
    assert np.array_equal(varied.kind, program.kind)
    assert varied == generate.jittered(program, 0.2, 7)
    assert varied != generate.jittered(program, 0.2, 8)
    assert generate.jittered(program, 0.0) is program
    with pytest.raises(ParameterError, match="jitter must be 0 to 1"):
        generate.jittered(program, -0.1)
