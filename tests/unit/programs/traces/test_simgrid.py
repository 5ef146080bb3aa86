"""SimGrid's time-independent traces."""

from __future__ import annotations

import pytest

from tests.cases import for_each
from tests.unit.programs.traces.writing import said
from workbench.errors import ParameterError, ParseError
from workbench.programs.program import Program
from workbench.programs.traces import read_trace
from workbench.programs.traces.simgrid import DATATYPE_BYTES


def read(*ranks: str, init: str = "", **options: float) -> Program:
    """Return the program of ranks whose actions are separated by ``;``."""
    lines = [f"{r} init {init}" for r in range(len(ranks))]
    lines += [f"{r} {a.strip()}" for r, text in enumerate(ranks) for a in text.split(";") if a]
    lines += [f"{r} finalize" for r in range(len(ranks))]
    return read_trace({"trace.txt": "\n".join(lines)}, **options)


def only(*ranks: str, init: str = "") -> str:
    p = read(*ranks, init=init)
    found = {said(p, rank)[0] for rank in range(len(ranks))}
    assert len(found) == 1
    return found.pop().split(" on ")[0]


def test_messages_with_tags_and_datatypes() -> None:
    p = read("send 1 7 1e3; isend 1 8 10 0; wait 0 1 8", "recv 0 7 1e3; irecv 0 8 10 0; waitall")
    assert said(p, 0) == ["send 1000 B to 1 tag 7", "isend 80 B to 1 tag 8 as 0", "wait 0"]
    assert said(p, 1) == ["recv 1000 B from 0 tag 7", "irecv 80 B from 0 tag 8 as 0", "wait 0"]


def test_the_default_datatype_is_a_double_where_init_says_so() -> None:
    assert said(read("send 1 7 10", "", init="1"), 0) == ["send 80 B to 1 tag 7"]
    assert said(read("send 1 7 10", ""), 0) == ["send 10 B to 1 tag 7"]


def test_the_datatype_of_a_vector_is_kept() -> None:
    calls = "bcast 10 0 1; allreduce 3 0 0; reduce 5 0 0"
    kept = [one.element_bytes for one in read(calls, calls).collectives]
    assert kept == [4, 8, 1]


def test_sizes_of_datatypes() -> None:
    assert len(DATATYPE_BYTES) == 60
    named = {0: 8, 1: 4, 2: 1, 3: 2, 4: 8, 5: 4, 6: 1, 14: 16, 16: 1, 20: 8, 26: 16, 27: 32}
    named |= {32: 16, 34: 8, 41: 16, 49: 16, 50: 32, 55: 0, 57: 1, 59: 8}
    assert {number: DATATYPE_BYTES[number] for number in named} == named


def test_work_is_operations_at_a_rate() -> None:
    p = read("compute 2e6; sleep 0.5; barrier", flops_per_second=1e9)
    assert p.compute_ns.tolist() == [2_000_000 + 500_000_000]
    assert "1e+09 are taken to last a second" in p.notes[0]
    assert read("compute 2e6; barrier", flops_per_second=2e9).compute_ns.tolist() == [1_000_000]


def test_work_of_a_reduction_follows_it() -> None:
    p = read("allreduce 10 1000; barrier")
    assert p.compute_ns.tolist() == [0, 1000]


def test_wildcards_are_waited_for_by_what_they_matched() -> None:
    p = read("irecv -1 7 10; irecv -555 -444 10; wait 1 0 7; wait 1 0 3", "send 0 7 5; send 0 3 5")
    assert said(p, 0) == [
        "irecv 10 B from any tag 7 as 0",
        "irecv 10 B from any tag any as 1",
        "wait 0",
        "wait 1",
    ]


def test_equal_requests_end_in_order() -> None:
    p = read("isend 1 7 10; isend 1 7 20; wait 0 1 7; wait 0 1 7; wait 0 1 7", "")
    assert said(p, 0)[2:] == ["wait 0", "wait 1"]


def test_a_test_ends_what_no_wait_does() -> None:
    p = read("isend 1 7 10; test 0 1 7; compute 5; test 0 1 7; barrier", "barrier")
    assert [text.split(" root")[0] for text in said(p, 0)][1:] == ["wait 0", "barrier 0"]
    assert any("last test" in note for note in p.notes)
    assert said(read("isend 1 7 10; test 0 1 7; wait 0 1 7", ""), 0)[1:] == ["wait 0"]


def test_actions_of_old_versions() -> None:
    text = "p0 init\np0 Isend 1 1e3\np0 Isend 1 2e3\np0 wait\np0 wait\np1 init\np1 allReduce 5 0\n"
    with pytest.raises(ParseError, match="rank 0 does not call this allreduce"):
        read_trace({"trace.txt": text})
    p = read_trace({"trace.txt": text.replace("p1 allReduce 5 0\n", "")})
    assert said(p, 0) == [
        "isend 1000 B to 1 tag 0 as 0",
        "isend 2000 B to 1 tag 0 as 1",
        "wait 1",
        "wait 0",
    ]
    assert any("no tags" in note for note in p.notes)


def test_sendrecv() -> None:
    p = read("sendRecv 10 1 20 1 0 1", "sendRecv 20 0 10 0 1 0")
    assert said(p, 0) == [
        "irecv 80 B from 1 tag 0 as 0",
        "isend 80 B to 1 tag 0 as 1",
        "wait 0 1",
    ]


@for_each(
    "ranks, expected",
    [
        (["barrier"] * 2, "barrier 0 root 0"),
        (["bcast 5e2"] * 2, "bcast 500 root 0"),
        (["bcast 5 1 1"] * 2, "bcast 20 root 1"),
        (["reduce 5 100"] * 2, "reduce 5 root 0"),
        (["reduce 5 100 1 4"] * 2, "reduce 40 root 1"),
        (["allreduce 5 100 0"] * 2, "allreduce 40 root 0"),
        (["scan 5 100 0"] * 2, "scan 40 root 0"),
        (["exscan 5 100"] * 2, "exscan 5 root 0"),
        (["alltoall 5 5 0 0"] * 2, "alltoall 40 root 0"),
        (["allgather 5 5 0 0"] * 2, "allgather 40 root 0"),
        (["gather 5 5 1 0 0"] * 2, "gather 40 root 1"),
        (["scatter 5 5 1 0 0"] * 2, "scatter 40 root 1"),
        (["gatherv 5 0 0 1 0 0", "gatherv 6 5 6 1 0 0"], "gather [40, 48] root 1"),
        (["scatterv 5 6 5 0 0 0", "scatterv 0 0 6 0 0 0"], "scatter [40, 48] root 0"),
        (["allgatherv 5 5 6", "allgatherv 6 5 6"], "allgather [5, 6] root 0"),
        (["allgatherv 5 5 6 0 0", "allgatherv 6 5 6 0 0"], "allgather [40, 48] root 0"),
        (["reducescatter 5 6 100 0"] * 2, "reduce_scatter [40, 48] root 0"),
        (["alltoallv 3 1 2 9 1 3", "alltoallv 7 3 4 9 2 4"], "alltoall [1, 2, 3, 4] root 0"),
        (
            ["alltoallv 3 1 2 9 1 3 0 0", "alltoallv 7 3 4 9 2 4 0 0"],
            "alltoall [8, 16, 24, 32] root 0",
        ),
        (["iallreduce 5 100 0"] * 2, "allreduce 40 root 0"),
    ],
)
def test_collectives(ranks: list[str], expected: str) -> None:
    assert only(*ranks) == expected


@for_each(
    "begin, tag",
    [
        ("ibarrier", -778),
        ("ibcast 5 0 6", -3334),
        ("ireduce 5 0 0 6", -112),
        ("iallreduce 5 0 6", -4445),
        ("iscan 5 0 6", -888),
        ("iexscan 5 0 6", -888),
        ("ireducescatter 5 6 0 6", -889),
        ("ialltoallv 3 1 2 9 1 3 6 6", -1020),
        ("igatherv 5 5 5 0 6 6", -2223),
    ],
)
def test_a_nonblocking_collective_is_ended_by_the_wait_that_names_its_tag(
    begin: str, tag: int
) -> None:
    ranks = [f"{begin}; compute 5; wait {rank - 1} {rank - 1} {tag}" for rank in range(2)]
    p = read(*ranks)
    for rank in range(2):
        assert said(p, rank)[0].endswith("on [0, 1] as 0")
        assert said(p, rank)[1] == "wait 0"
    assert [note.split(" ")[0] for note in p.notes] == ["work"]


def test_nonblocking_collectives_of_one_kind_end_in_order() -> None:
    rank = "ibcast 5; ibcast 7; isend 0 3 1; wait 0 0 -3334; wait 0 0 -3334; wait 0 0 -112"
    assert said(read(rank), 0)[3:] == ["wait 0", "wait 1"]


def test_a_waitall_ends_nonblocking_collectives_too_and_reports_it() -> None:
    p = read("ibcast 5; isend 1 3 1; waitall 2", "ibcast 5; recv 0 3 1; waitall 1")
    assert said(p, 0)[-1] == "wait 0 1"
    assert any("including those of collectives" in note for note in p.notes)


def test_a_nonblocking_collective_that_no_wait_can_name_is_read_as_blocking() -> None:
    p = read("iallreduce 5 0; wait 0 0 -3334; barrier", "iallreduce 5 0; barrier")
    assert said(p, 0) == ["allreduce 5 root 0 on [0, 1]", "barrier 0 root 0 on [0, 1]"]
    assert any(note.startswith("iallreduce is read as allreduce") for note in p.notes)


@for_each("name", ["Ssend", "bsend"])
def test_sends_of_other_modes(name: str) -> None:
    assert said(read(f"{name} 1 3 5", ""), 0) == ["send 5 B to 1 tag 3"]


@for_each("name", ["ISsend", "ibsend"])
def test_nonblocking_sends_of_other_modes(name: str) -> None:
    assert said(read(f"{name} 1 3 5; wait 0 1 3", ""), 0)[1] == "wait 0"


def test_allgatherv_with_displacements_has_the_default_datatype() -> None:
    call = "allgatherv 5 5 6 7 8 0 5 11 18"
    assert only(*[call] * 4) == "allgather [5, 6, 7, 8] root 0"
    typed = "allgatherv 5 5 6 7 8 0 0 0 5 11 18"
    assert only(*[typed] * 4) == "allgather [40, 48, 56, 64] root 0"


def test_communicators_are_noted_and_unknown_actions_too() -> None:
    p = read("comm_size 1; comm_split 0 0; location a.c 5; frobnicate 3")
    assert [note.split(" ")[0] for note in p.notes] == ["work", "comm_split:", "frobnicate"]


def test_one_file_for_each_rank() -> None:
    files = {"a9.txt": "0 init\n0 send 1 0 5\n", "a10.txt": "1 init\n1 recv 0 0 5\n"}
    with pytest.raises(ParseError, match="must all be there"):
        read_trace(files)
    files = {"a0.txt": files["a9.txt"], "a1.txt": files["a10.txt"]}
    p = read_trace(files)
    assert said(p, 1) == ["recv 5 B from 0 tag 0"]
    assert p.line is not None
    assert p.line.tolist() == [2, 2]


@for_each(
    "lines, complaint",
    [
        ("0 send 1 0", "peer of send must be 0 to 0"),
        ("0 send", "argument 1 of send must be a number; got 'nothing'"),
        ("0 send x 0 5", "argument 1 of send must be a number; got 'x'"),
        ("0 send 0 0 -5", "must move 0 to"),
        ("0 send 0 0 1e300", "must be finite"),
        ("0 send 0 0 nan", "must be finite"),
        ("0 send 0 -3 5", "tag of send must be"),
        ("0 send 0 0 5 x", "datatype must be 0 to 59"),
        ("0 compute -5", "must last 0 to"),
        ("0 bcast 5 3", "root of bcast must be 0 to 0; got 3"),
        ("0 alltoallv 5 5", "must have at least"),
        ("0", "rank action arguments"),
        ("x init", "rank action arguments"),
        ("9999999 init", "rank must be below"),
    ],
)
def test_damaged_lines_are_named(lines: str, complaint: str) -> None:
    with pytest.raises(ParseError) as caught:
        read_trace({"t.txt": f"0 init\n{lines}\n"})
    assert complaint in str(caught.value)
    assert caught.value.line == 2


def test_missing_ranks_and_ranks_in_two_files_are_named() -> None:
    with pytest.raises(ParseError, match="0 to 5 must be in the trace; rank 1 is missing"):
        read_trace({"t.txt": "0 init\n5 init\n"})
    with pytest.raises(ParseError, match="rank 0 must be in one file"):
        read_trace({"t0.txt": "0 init\n", "t1.txt": "0 init\n"})


@for_each("rate", [0.0, -1.0, float("nan"), float("inf")])
def test_the_rate_must_be_positive(rate: float) -> None:
    with pytest.raises(ParameterError, match="flops_per_second must be above 0"):
        read("barrier", flops_per_second=rate)
