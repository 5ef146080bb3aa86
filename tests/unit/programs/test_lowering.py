"""Calls become operations by Schedgen's rules; equal to the reference on random programs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, strategies as st

from tests.cases import for_each
from tests.reference import lowering as reference
from workbench.errors import ParameterError, ProgramError
from workbench.programs import (
    ANY_SOURCE,
    ANY_TAG,
    CALC,
    OPERATIONS,
    Collective,
    ExecutionGraph,
    ProgramBuilder,
    collective_templates,
    generate,
    lowering,
)
from workbench.programs.collectives import ALGORITHMS, schedule


def described(graph: ExecutionGraph, rank: int = 0) -> list[str]:
    """Each operation of a rank with what it waits for: ``calc 5 <0 ~1``; ~ is a beginning."""
    ops = graph.ops_of(rank)
    lines = []
    for op in ops:
        words = graph.describe(op).split(": ")[1].split()
        phrase = f"{words[0]} {words[1]}"
        for sign, dependents in (("<", graph.requires), ("~", graph.irequires)):
            after, before = dependents.pairs()
            phrase += "".join(f" {sign}{b - ops[0]}" for b in sorted(before[after == op]))
        lines.append(phrase)
    return lines


def test_blocking_calls_and_work_follow_each_other() -> None:
    builder = ProgramBuilder(2)
    builder.compute(0, 5)
    builder.send(0, 1, 10)
    builder.recv(0, 1, 20)
    builder.compute(0, 7)
    assert described(builder.build().graph()) == ["calc 5", "send 10 <0", "recv 20 <1", "calc 7 <2"]


def test_what_follows_a_nonblocking_call_waits_for_its_beginning() -> None:
    builder = ProgramBuilder(2)
    requests = [builder.irecv(0, 1, 1), builder.isend(0, 1, 2)]
    builder.compute(0, 9)
    builder.wait(0, requests)
    builder.send(0, 1, 3)
    assert described(builder.build().graph()) == [
        "recv 1",
        "send 2 ~0",
        "calc 9 ~1",
        "send 3 <0 <1 <2",
    ]


def test_a_wait_joins_in_the_next_operation_without_one_of_its_own() -> None:
    builder = ProgramBuilder(2)
    requests = [builder.isend(0, 1, size) for size in (1, 2, 3)]
    builder.wait(0, requests[:2])
    builder.wait(0, requests[1:])
    builder.wait(0, [])
    builder.compute(0, 4)
    assert described(builder.build().graph()) == [
        "send 1",
        "send 2 ~0",
        "send 3 ~1",
        "calc 4 <0 <1 <2",
    ]


def test_a_wait_for_some_leaves_the_rest_begun() -> None:
    builder = ProgramBuilder(2)
    first, second = builder.isend(0, 1, 1), builder.isend(0, 1, 2)
    builder.wait(0, [first])
    builder.compute(0, 3)
    builder.wait(0, [second])
    builder.compute(0, 4)
    assert described(builder.build().graph()) == [
        "send 1",
        "send 2 ~0",
        "calc 3 <0 ~1",
        "calc 4 <1 <2",
    ]


def test_work_of_no_time_is_no_operation() -> None:
    builder = ProgramBuilder(1)
    builder.compute(0, 0)
    builder.wait(0, [])
    assert builder.build().graph().num_ops == 0


def test_requests_never_waited_for_delay_nothing_and_are_reported() -> None:
    builder = ProgramBuilder(2)
    builder.compute(1, 1)
    builder.isend(1, 0, 8, line=3)
    builder.isend(1, 0, 8, line=4)
    graph = builder.build().graph()
    assert described(graph, 1) == ["calc 1", "send 8 <0", "send 8 ~1"]
    (note,) = graph.notes
    assert note.startswith("2 requests are never waited for")
    assert "rank 1, line 3" in note


def test_a_graph_keeps_the_source_and_the_notes_of_its_program() -> None:
    builder = ProgramBuilder(1, source="made up")
    builder.note("It does nothing.")
    graph = builder.build().graph()
    assert (graph.source, graph.notes) == ("made up", ("It does nothing.",))


def test_a_collective_stands_between_what_was_before_and_after() -> None:
    builder = ProgramBuilder(2)
    for rank in range(2):
        builder.compute(rank, 5)
    builder.collective("bcast", 64, root=1)
    for rank in range(2):
        builder.compute(rank, 6)
    graph = builder.build().graph(bcast="binomial")
    assert described(graph, 0) == ["calc 5", "recv 64 <0", "calc 6 <1"]
    assert described(graph, 1) == ["calc 5", "send 64 <0", "calc 6 <1"]


def test_several_meet_several_in_a_computation_of_no_time() -> None:
    builder = ProgramBuilder(3)
    for _ in range(2):
        builder.collective("alltoall", 8)
    graph = builder.build().graph(alltoall="linear")
    alone = ProgramBuilder(3)
    alone.collective("alltoall", 8)
    once = alone.build().graph(alltoall="linear")
    first, entries = once.ops_of(0), 4
    assert (once.in_degree()[first[0] : first[-1] + 1] == 0).all()
    assert len(first) == entries
    assert described(graph)[entries:] == [
        "calc 0 <0 <1 <2 <3",
        *(f"{words} <4" for words in described(once)),
    ]


def test_one_meets_several_without_another_operation() -> None:
    builder = ProgramBuilder(3)
    for rank in range(3):
        builder.compute(rank, 1)
    builder.collective("alltoall", 8)
    for rank in range(3):
        builder.compute(rank, 2)
    graph = builder.build().graph(alltoall="linear")
    assert [line.split()[0] for line in described(graph)].count("calc") == 2
    assert described(graph)[-1] == "calc 2 <1 <2 <3 <4"


def test_a_nonblocking_collective_lets_the_rank_go_on() -> None:
    builder = ProgramBuilder(2)
    number = builder.new_collective(Collective("allreduce", size=8))
    for rank in range(2):
        request = builder.begin_collective(rank, number)
        builder.compute(rank, 50)
        builder.wait(rank, [request])
        builder.compute(rank, 60)
    graph = builder.build().graph(allreduce="ring")
    lines = described(graph)
    calc = lines.index(next(line for line in lines if line.startswith("calc 50")))
    assert "<" not in lines[calc]
    assert "~0" in lines[calc]
    assert f"<{calc}" in lines[-1]
    assert f"<{calc - 1}" in lines[-1]
    # The ring's own operations do not wait for the computation.
    assert all(f"<{calc}" not in line for line in lines[:-1])


def test_nonblocking_collectives_can_go_on_beside_the_work() -> None:
    program = generate.training(2, iterations=1)
    graph = program.graph(progress_cpu=1)
    assert set(graph.cpu[graph.kind == CALC].tolist()) == {0}
    assert set(graph.cpu[graph.kind != CALC].tolist()) == {1}
    assert program.graph().num_cpus == 1
    assert generate.cg(2).graph(progress_cpu=1).num_cpus == 1
    with pytest.raises(ParameterError, match="0 to 254; got 255"):
        program.graph(progress_cpu=255)


def test_ranks_of_a_communicator_become_ranks_of_all() -> None:
    builder = ProgramBuilder(4)
    three = builder.communicator([3, 0, 2])
    builder.collective("bcast", 8, root=1, comm=three)  # the root is rank 0 of all
    graph = builder.build().graph(bcast="linear")
    assert sorted(graph.peer[list(graph.ops_of(0))].tolist()) == [2, 3]
    assert graph.peer[list(graph.ops_of(3))].tolist() == [0]
    assert len(graph.ops_of(1)) == 0


def test_v_variants_keep_their_sizes() -> None:
    builder = ProgramBuilder(3)
    number = builder.new_collective(Collective("gather", sizes=(5, 6, 7)))
    for rank in range(3):
        builder.join_collective(rank, number)
    graph = builder.build().graph(gather="linear")
    assert sorted(graph.size[list(graph.ops_of(0))].tolist()) == [6, 7]


def test_operations_carry_the_lines_of_their_calls() -> None:
    builder = ProgramBuilder(2)
    builder.compute(0, 5)
    builder.send(0, 1, 10, line=11)
    builder.recv(1, 0, 10, line=12)
    number = builder.new_collective(Collective("barrier"))
    for rank in range(2):
        builder.join_collective(rank, number, line=20 + rank)
    graph = builder.build().graph()
    assert graph.line is not None
    assert graph.line[list(graph.ops_of(0))].tolist()[:2] == [11, 11]
    assert set(graph.line[list(graph.ops_of(0))].tolist()[2:]) == {20}
    assert set(graph.line[list(graph.ops_of(1))].tolist()[1:]) == {21}
    assert generate.halo(4).graph().line is None


class TestTags:
    def test_communicators_and_collectives_are_kept_apart(self) -> None:
        builder = ProgramBuilder(2)
        other = builder.communicator([1, 0])
        for comm, tag in ((0, 5), (other, 5), (other, 6)):
            builder.send(0, 1, 8, tag, comm=comm)
            builder.recv(1, 0, 8, tag, comm=comm)
        for _ in range(2):
            builder.collective("barrier")
        graph = builder.build().graph(barrier="dissemination")
        tags = graph.tag[list(graph.ops_of(0))].tolist()
        assert tags[:3] == [5, 6, 7]
        first, second = set(tags[3:5]), set(tags[5:7])
        assert min(first) > 7
        assert not first & second

    def test_a_receive_of_any_tag_gets_the_only_one_there_is(self) -> None:
        builder = ProgramBuilder(3)
        for source, tag in ((0, 5), (2, 6)):
            builder.send(source, 1, 8, tag)
            builder.recv(1, source, 8, ANY_TAG)
        builder.collective("barrier")
        graph = builder.build().graph()
        assert graph.tag[list(graph.ops_of(1))].tolist()[:2] == [5, 6]
        assert graph.notes == ()

    def test_a_receive_that_several_tags_can_reach_stays_open_and_is_reported(self) -> None:
        builder = ProgramBuilder(3)
        for source, tag in ((0, 5), (2, 6)):
            builder.send(source, 1, 8, tag)
            builder.recv(1, ANY_SOURCE, 8, ANY_TAG, line=9)
        without = builder.build().graph()
        assert without.tag[list(without.ops_of(1))].tolist() == [ANY_TAG, ANY_TAG]
        assert without.notes == ()  # nothing else is under way that it could take
        builder.collective("barrier")
        (note,) = builder.build().graph().notes
        assert note.startswith("2 receives of any tag")
        assert "rank 1, line 9" in note

    def test_tags_below_are_used_where_none_are_left_above(self) -> None:
        builder = ProgramBuilder(2)
        for tag in (10, ANY_TAG - 1):
            builder.send(0, 1, 8, tag)
            builder.recv(1, 0, 8, tag)
        builder.collective("barrier")
        tags = builder.build().graph().tag
        assert tags[2] == 11

    def test_collectives_begin_again_where_tags_run_out(self) -> None:
        from workbench.programs import tags

        spans = np.array([2, 2, 2], np.int64)
        assert tags._in_turn(spans, 100, 5).tolist() == [100, 102, 100]
        assert tags._in_turn(spans, 100, 6).tolist() == [100, 102, 104]

    def test_no_tags_left_is_an_error(self) -> None:
        from workbench.programs import tags

        builder = ProgramBuilder(2)
        builder.collective("barrier")
        with pytest.raises(ProgramError, match="leave 4294967295 in a row"):
            tags.assign(builder.build(), np.array([2**32]))


class TestErrors:
    def test_a_collective_that_a_rank_does_not_call(self) -> None:
        builder = ProgramBuilder(4)
        number = builder.new_collective(Collective("barrier"))
        for rank in (0, 2):
            builder.join_collective(rank, number, line=7 + rank)
        with pytest.raises(
            ProgramError, match=r"all 4 ranks.*rank 0, line 7.*ranks 1, 3 do not"
        ) as caught:
            builder.build().graph()
        assert caught.value.operations[1].startswith("rank 2, line 9")

    def test_a_collective_that_a_rank_calls_twice(self) -> None:
        builder = ProgramBuilder(2)
        number = builder.collective("barrier")
        builder.join_collective(1, number, line=8)
        with pytest.raises(ProgramError, match=r"rank 1, line 8 calls collective 0 .* second time"):
            builder.build().graph()

    def test_a_collective_of_others(self) -> None:
        builder = ProgramBuilder(3)
        number = builder.collective("barrier", comm=builder.communicator([0, 1]))
        builder.join_collective(2, number, line=8)
        with pytest.raises(ProgramError, match=r"rank 2, line 8 .*does not belong"):
            builder.build().graph()

    def test_a_wait_before_its_request(self) -> None:
        builder = ProgramBuilder(2)
        builder.wait(0, [builder.isend(0, 1, 8)])
        program = builder.build()
        swapped = replace(program, kind=program.kind[::-1].copy())
        with pytest.raises(ProgramError, match="rank 0, call 0 waits for a request"):
            swapped.graph()

    def test_a_request_that_is_given_twice(self) -> None:
        builder = ProgramBuilder(2)
        for _ in range(2):
            builder.isend(0, 1, 8)
        program = replace(builder.build(), request=np.zeros(2, np.int32))
        with pytest.raises(ProgramError, match="rank 0, call 1 starts request 0 a second time"):
            program.graph()

    @for_each(
        "field, value",
        [
            ("kind", 9),
            ("compute_ns", -1),
            ("request", 99),
            ("request", -1),
            ("collective", 5),
            ("comm", 3),
            ("wait_requests", -1),
            ("wait_start", 7),
        ],
    )
    def test_numbers_that_point_nowhere(self, field: str, value: int) -> None:
        builder = ProgramBuilder(2)
        number = builder.new_collective(Collective("barrier"))
        for rank in range(2):
            builder.wait(rank, [builder.begin_collective(rank, number)])
        program = builder.build()
        getattr(program, field)[0] = value
        with pytest.raises(ParameterError, match="refers to something that does not exist"):
            program.graph()

    def test_names_that_do_not_exist(self) -> None:
        program = generate.cg(4, iterations=1)
        with pytest.raises(ParameterError, match=r"must be one of .*got 'allsum'"):
            program.graph(allsum="ring")
        with pytest.raises(ParameterError, match="recursive"):
            program.graph(allreduce="no such algorithm")
        with pytest.raises(ParameterError, match="recursive"):
            program.graph(per_call={1: "no such algorithm"})
        with pytest.raises(ParameterError, match="collectives 0 to 1; got 2"):
            program.graph(per_call={2: "ring"})

    def test_a_graph_that_memory_cannot_hold(self) -> None:
        with pytest.raises(ProgramError, match="must fit into memory"):
            lowering._check_room(2**30, 2**33)
        lowering._check_room(1, 1)


def test_an_algorithm_is_chosen_for_all_or_for_one_call() -> None:
    program = generate.cg(4, iterations=2)
    ring, other = (
        program.graph(allreduce="ring"),
        program.graph({"allreduce": "recursive-doubling"}),
    )
    assert ring != other
    assert program.graph({"allreduce": "ring"}) == ring
    assert program.graph(per_call=dict.fromkeys(range(4), "ring")) == ring
    mixed = program.graph(per_call={1: "ring"}, allreduce="recursive-doubling")
    assert mixed.num_ops - other.num_ops == (ring.num_ops - other.num_ops) / 4


def test_combining_takes_the_time_that_is_asked_for() -> None:
    builder = ProgramBuilder(4)
    builder.collective("allreduce", 800)
    builder.collective("bcast", 800)
    program = builder.build()
    chosen = {"allreduce": "ring", "bcast": "linear"}
    without = program.graph(chosen)
    assert not without.size[without.kind == CALC].any()
    for ns_per_byte in (0.5, 0.25):  # one after the other, so that neither is the other's
        graph = program.graph(chosen, reduce_ns_per_byte=ns_per_byte)
        work = graph.size[graph.kind == CALC]
        assert work[work > 0].tolist() == [round(200 * ns_per_byte)] * 4 * 3
    assert program.graph(chosen) == without


def test_the_time_to_combine_does_not_divide_templates_of_what_combines_nothing(
    monkeypatch,
) -> None:
    monkeypatch.setattr(collective_templates, "_CACHE", collective_templates._Cache())
    builder = ProgramBuilder(4)
    builder.collective("bcast", 800)
    for ns_per_byte in (0.0, 0.5, 0.25):
        builder.build().graph(reduce_ns_per_byte=ns_per_byte)
    assert len(collective_templates._CACHE._templates) == 1


@for_each("ns_per_byte", [-1.0, float("nan"), float("inf"), 2e9])
def test_the_time_to_combine_is_checked_without_collectives_too(ns_per_byte: float) -> None:
    with pytest.raises(ParameterError, match="reduce_ns_per_byte must be 0 to 1e9"):
        ProgramBuilder(2).build().graph(reduce_ns_per_byte=ns_per_byte)


def test_templates_are_kept_up_to_a_number_of_operations(monkeypatch) -> None:
    cache = collective_templates._Cache()
    keys = [("allreduce", "ring", ranks, 8, (), None, 0, 0.0) for ranks in (3, 4, 5)]
    first = cache.get(keys[0])
    assert cache.get(keys[0]) is first
    monkeypatch.setattr(collective_templates, "_KEPT_OPS", 1)
    cache.get(keys[1])
    assert cache.get(keys[0]) is not first


def test_a_schedule_with_several_tags_keeps_them_from_the_next_collective(monkeypatch) -> None:
    def tagged(*args, **sizes):
        plan = schedule(*args, **sizes)
        return replace(plan, tag=np.arange(len(plan.tag), dtype=np.int32) // 2)

    monkeypatch.setattr(collective_templates, "schedule", tagged)
    monkeypatch.setattr(collective_templates, "_CACHE", collective_templates._Cache())
    builder = ProgramBuilder(2)
    for _ in range(2):
        builder.collective("bcast", 8)
        builder.collective("allreduce", 8)
    graph = builder.build().graph(bcast="linear", allreduce="ring")
    first = [graph.tag[list(graph.ops_of(rank))].tolist() for rank in range(2)]
    assert all(len(set(tags)) >= 4 for tags in first)
    ends = [len(tags) // 2 for tags in first]
    # Neither half, one broadcast and one ring each, has a tag that the other half has too.
    assert not {*first[0][: ends[0]], *first[1][: ends[1]]} & {
        *first[0][ends[0] :],
        *first[1][ends[1] :],
    }


@given(
    ranks=st.integers(1, 9),
    events=st.integers(0, 50),
    seed=st.integers(0, 2**32 - 1),
    data=st.data(),
)
def test_equal_to_the_reference_on_random_programs(ranks, events, seed, data) -> None:
    program = generate.random_program(ranks, events=events, rng=seed)
    algorithms = {
        operation: data.draw(st.sampled_from(sorted(ALGORITHMS[operation])), label=operation)
        for operation in sorted(program.operations)
    }
    cpu = data.draw(st.integers(0, 2), label="progress_cpu")
    reduce_ns = data.draw(st.sampled_from([0.0, 0.5]), label="reduce_ns_per_byte")
    graph = program.graph(algorithms, progress_cpu=cpu, reduce_ns_per_byte=reduce_ns)
    assert graph == reference.lower(program, algorithms, cpu, reduce_ns)
    graph.validate()


def test_random_programs_have_all_kinds_of_calls() -> None:
    programs = [generate.random_program(6, events=80, rng=seed) for seed in range(20)]
    kinds = set(np.concatenate([program.kind for program in programs]).tolist())
    operations = set().union(*(program.operations for program in programs))
    assert kinds >= set(range(1, 8))
    assert operations == set(OPERATIONS)
    assert any((program.peer == ANY_SOURCE).any() for program in programs)
    assert any((program.tag == ANY_TAG).any() for program in programs)
