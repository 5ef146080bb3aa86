"""Collectives of liballprof traces."""

from __future__ import annotations

import pytest

from tests.cases import for_each
from tests.unit.programs.traces.writing import program, said
from workbench.errors import ParseError
from workbench.programs.graph import CALC
from workbench.programs.traces import read_trace

IN_PLACE = "1"


def only(*ranks: str) -> str:
    """Return the one collective that the ranks call, the same for all of them."""
    p = program(*[[call] for call in ranks])
    assert p.num_calls == 2 * len(ranks)  # and the work before MPI_Finalize
    found = {said(p, rank)[0] for rank in range(len(ranks))}
    assert len(found) == 1
    assert not p.notes
    return found.pop().removesuffix(f" on {list(range(len(ranks)))}")


def test_barrier() -> None:
    assert only("Barrier:{w}", "Barrier:{w}") == "barrier 0 root 0"


def test_bcast_takes_its_size_from_the_root() -> None:
    assert only("Bcast:9:40:10,1,1:1:{w}", "Bcast:9:5:{d}:1:{w}") == "bcast 40 root 1"


@for_each("buf", ["9", IN_PLACE])
def test_reduce_and_allreduce(buf: str) -> None:
    assert only(*[f"Reduce:{buf}:9:5:{{d}}:2:1:{{w}}"] * 2) == "reduce 40 root 1"
    assert only(*[f"Allreduce:{buf}:9:5:{{d}}:2:{{w}}"] * 2) == "allreduce 40 root 0"
    assert only(*[f"Scan:{buf}:9:5:{{d}}:2:{{w}}"] * 2) == "scan 40 root 0"
    assert only(*[f"Exscan:{buf}:9:5:{{d}}:2:{{w}}"] * 2) == "exscan 40 root 0"


def test_elements_of_the_recorded_datatype_are_not_cut() -> None:
    one, nine = ([f"Allreduce:9:9:{n}:{{d}}:2:{{w}}"] for n in (1, 9))
    traced = program(*[[*one, *nine]] * 4)
    assert [each.element_bytes for each in traced.collectives] == [8, 8]
    graph = traced.graph(allreduce="ring")
    assert set(graph.size[graph.kind != CALC].tolist()) == {8, 16, 24}
    (note,) = graph.notes
    assert note.startswith("1 collective: allreduce of fewer elements than the blocks of ring")
    # The root's datatype counts: it is its size that is taken.
    (bcast,) = program(["Bcast:9:40:10,1,1:1:{w}"], ["Bcast:9:5:{d}:1:{w}"]).collectives
    assert bcast.element_bytes == 8


def test_gather_takes_its_size_from_the_root_even_in_place() -> None:
    root = f"Gather:{IN_PLACE}:0:0,0,0:9:5:{{d}}:0:{{w}}"
    assert only(root, "Gather:9:5:{d}:9:-7:0,x,0:0:{w}") == "gather 40 root 0"


def test_gatherv_takes_its_sizes_from_the_root() -> None:
    root = "Gatherv:9:1:{d}:9:77:1,2:88:0,1:{d}:0:{w}"
    other = "Gatherv:9:2:{d}:9:77:-5,-5:88:0,0:0,0,0:0:{w}"
    assert only(root, other) == "gather [8, 16] root 0"


def test_gatherv_whose_counts_are_not_recorded_takes_what_the_ranks_send() -> None:
    assert (
        only("Gatherv:9:1:{d}:9:77:88:{d}:0:{w}", "Gatherv:9:2:{d}:9:77:88:{d}:0:{w}")
        == "gather [8, 16] root 0"
    )


def test_equal_sizes_of_a_v_variant_become_one() -> None:
    call = "Allgatherv:9:2:{d}:9:77:2,2:88:0,2:{d}:{w}"
    assert only(call, call) == "allgather 16 root 0"


def test_scatter_and_scatterv() -> None:
    root = f"Scatter:9:5:{{d}}:{IN_PLACE}:0:0,0,0:1:{{w}}"
    assert only("Scatter:9:-3:junk:9:5:{d}:1:{w}", root) == "scatter 40 root 1"
    root = "Scatterv:9:77:1,2:88:0,1:{d}:9:2:{d}:1:{w}"
    assert only("Scatterv:9:77:0,0:88:0,0:0,0,0:9:1:{d}:1:{w}", root) == "scatter [8, 16] root 1"
    told = ("Scatterv:9:77:88:{d}:9:1:{d}:1:{w}", "Scatterv:9:77:88:{d}:9:2:{d}:1:{w}")
    assert only(*told) == "scatter [8, 16] root 1"


@for_each("buf", ["9", IN_PLACE])
def test_allgather_and_alltoall_even_in_place(buf: str) -> None:
    sent = "5:{d}" if buf == "9" else "0:0,0,0"
    assert only(*[f"Allgather:{buf}:{sent}:9:5:{{d}}:{{w}}"] * 2) == "allgather 40 root 0"
    assert only(*[f"Alltoall:{buf}:{sent}:9:5:{{d}}:{{w}}"] * 2) == "alltoall 40 root 0"


def test_alltoallv_has_a_row_for_each_sender() -> None:
    first = "Alltoallv:9:77:1,2:88:0,0:{d}:9:77:1,3:88:0,0:{d}:{w}"
    second = "Alltoallv:9:77:3,4:88:0,0:{d}:9:77:2,4:88:0,0:{d}:{w}"
    assert only(first, second) == "alltoall [8, 16, 24, 32] root 0"


def test_alltoallv_in_place_sends_what_it_receives() -> None:
    first = f"Alltoallv:{IN_PLACE}:77:0,0:88:0,0:0,0,0:9:77:1,3:88:0,0:{{d}}:{{w}}"
    second = f"Alltoallv:{IN_PLACE}:77:0,0:88:0,0:0,0,0:9:77:3,4:88:0,0:{{d}}:{{w}}"
    assert only(first, second) == "alltoall [8, 24, 24, 32] root 0"


@for_each(
    "call",
    [
        "Alltoallv:9:77:88:{d}:9:77:88:{d}:{w}",
        "Alltoallw:9:77:1,2:88:0,0:55:9:77:1,2:88:0,0:55:{w}",
        "Reduce_scatter:9:9:77:{d}:2:{w}",
    ],
)
def test_sizes_that_are_not_recorded_are_noted(call: str) -> None:
    p = program([call], [call])
    assert " 0 root 0" in said(p, 0)[0]
    assert "does not record the sizes" in p.notes[0]


def test_reduce_scatter() -> None:
    assert only(*["Reduce_scatter:9:9:77:1,2:{d}:2:{w}"] * 2) == "reduce_scatter [8, 16] root 0"
    assert only(*["Reduce_scatter_block:9:9:5:{d}:2:{w}"] * 2) == "reduce_scatter 40 root 0"


@for_each(
    "call, expected",
    [
        ("Ibarrier:{w}", "barrier 0"),
        ("Ibcast:9:5:{d}:0:{w}", "bcast 40"),
        ("Ireduce:9:9:5:{d}:2:0:{w}", "reduce 40"),
        ("Iallreduce:9:9:5:{d}:2:{w}", "allreduce 40"),
        ("Iscan:9:9:5:{d}:2:{w}", "scan 40"),
        ("Iexscan:9:9:5:{d}:2:{w}", "exscan 40"),
        ("Igather:9:5:{d}:9:5:{d}:0:{w}", "gather 40"),
        ("Igatherv:9:5:{d}:9:77:5,5:88:0,0:{d}:0:{w}", "gather 40"),
        ("Iscatter:9:5:{d}:9:5:{d}:0:{w}", "scatter 40"),
        ("Iscatterv:9:77:5,5:88:0,0:{d}:9:5:{d}:0:{w}", "scatter 40"),
        ("Iallgather:9:5:{d}:9:5:{d}:{w}", "allgather 40"),
        ("Iallgatherv:9:5:{d}:9:77:5,5:88:0,0:{d}:{w}", "allgather 40"),
        ("Ialltoall:9:5:{d}:9:5:{d}:{w}", "alltoall 40"),
        ("Ialltoallv:9:77:5,5:88:0,0:{d}:9:77:5,5:88:0,0:{d}:{w}", "alltoall 40"),
        ("Ireduce_scatter:9:9:77:5,5:{d}:2:{w}", "reduce_scatter 40"),
        ("Ireduce_scatter_block:9:9:5:{d}:2:{w}", "reduce_scatter 40"),
    ],
)
def test_nonblocking_collectives_end_at_their_wait(call: str, expected: str) -> None:
    calls = [f"{call}:800", "Wait:800:1"]
    p = program(calls, calls)
    for rank in (0, 1):
        assert said(p, rank) == [f"{expected} root 0 on [0, 1] as 0", "wait 0"]


def test_persistent_collectives_begin_at_each_start() -> None:
    calls = ["Allreduce_init:9:9:5:{d}:2:{w}:0:800", *["Start:800", "Wait:800:1"] * 2]
    p = program(calls, calls)
    assert [text.split(" root")[0] for text in said(p, 0)] == [
        "allreduce 40",
        "wait 0",
        "allreduce 40",
        "wait 1",
    ]
    assert p.operations == {"allreduce": 2}


def test_different_collectives_are_refused_with_both_lines() -> None:
    with pytest.raises(ParseError, match="same collective") as caught:
        program(["Barrier:{w}", "Barrier:{w}"], ["Barrier:{w}", "Bcast:9:5:{d}:0:{w}"])
    assert caught.value.line == 6
    assert "pmpi-trace-rank-0.txt line 6" in str(caught.value)


def test_different_roots_are_refused() -> None:
    with pytest.raises(ParseError, match="with root 1, but MPI_Bcast with root 0"):
        program(["Bcast:9:5:{d}:0:{w}"], ["Bcast:9:5:{d}:1:{w}"])


def test_a_collective_that_a_rank_does_not_call_is_refused() -> None:
    with pytest.raises(ParseError, match="rank 1 does not call this MPI_Barrier") as caught:
        program(["Barrier:{w}", "Barrier:{w}"], ["Barrier:{w}"])
    assert (caught.value.source, caught.value.line) == ("pmpi-trace-rank-0.txt", 6)


@for_each(
    "call, complaint",
    [
        ("Bcast:9:5:{d}:2:{w}", "root of MPI_Bcast must be 0 to 1; got 2"),
        ("Bcast:9:5:{d}:-1:{w}", "root of MPI_Bcast must be 0 to 1; got -1"),
        ("Allgatherv:9:2:{d}:9:77:2,2,2:88:0,2:{d}:{w}", "one count for each of 2 ranks; got 3"),
        ("Allgatherv:9:2:{d}:9:77:2,-2:88:0,2:{d}:{w}", "must move 0 to"),
        ("Allgatherv:9:2:{d}:9:77:2,b:88:0,2:{d}:{w}", "counts of MPI_Allgatherv must be numbers"),
        ("Reduce_scatter:9:9:77:88:99:{d}:2:{w}", "MPI_Reduce_scatter must have 6 arguments"),
    ],
)
def test_damaged_collectives_are_named(call: str, complaint: str) -> None:
    with pytest.raises(ParseError) as caught:
        program([call], [call])
    assert complaint in str(caught.value)
    assert caught.value.line == 5


def test_neighbourhood_collectives_are_noted() -> None:
    call = "Neighbor_alltoall:9:5:{d}:9:5:{d}:{w}"
    p = program([call], [call])
    assert "MPI_Neighbor_alltoall is not replayed" in p.notes[0]


def test_all_files_of_the_trace_must_be_there() -> None:
    with pytest.raises(ParseError, match="files of all 4 ranks must be there; got 1"):
        read_trace({"t-0.txt": "MPI_Init:-:0:0:1\nMPI_Barrier:2:91,0,4:3\nMPI_Finalize:4:-\n"})
