"""Point-to-point calls of liballprof traces."""

from __future__ import annotations

import pytest

from tests.cases import for_each
from tests.unit.programs.traces.writing import liballprof, one, program, said
from workbench.errors import ParseError
from workbench.programs.traces import read_trace


@for_each("mode", ["S", "Ss", "Bs", "Rs"])
def test_blocking_sends_of_every_mode_and_a_receive(mode: str) -> None:
    p = program([f"{mode}end:1000:5:{{d}}:1:7:{{w}}"], ["Recv:1000:5:{d}:0:7:{w}:99"])
    assert said(p, 0) == ["send 40 B to 1 tag 7"]
    assert said(p, 1) == ["recv 40 B from 0 tag 7"]
    assert not p.notes


@for_each("mode", ["s", "ss", "bs", "rs"])
def test_nonblocking_sends_of_every_mode_end_at_their_wait(mode: str) -> None:
    p = program(
        [f"I{mode}end:1000:5:{{d}}:1:7:{{w}}:5000", "Wait:5000:99"],
        ["Irecv:1000:5:{d}:0:7:{w}:5000", "Wait:5000:99"],
    )
    assert said(p, 0) == ["isend 40 B to 1 tag 7 as 0", "wait 0"]
    assert said(p, 1) == ["irecv 40 B from 0 tag 7 as 0", "wait 0"]


def test_the_time_between_two_calls_is_work_and_the_time_inside_is_not() -> None:
    p = program(["Barrier:{w}", "Barrier:{w}"])
    assert p.compute_ns.tolist() == [4000, 6000, 6000]
    assert p.line is not None
    assert p.line.tolist() == [5, 6, 0]


def test_a_call_that_begins_before_the_last_one_ended_follows_at_once() -> None:
    p = read_trace({"t-0.txt": "MPI_Init:-:0:0:5\nMPI_Barrier:4.5:1,0,1:6\nMPI_Finalize:8:-\n"})
    assert p.compute_ns.tolist() == [0, 2000]


def test_times_are_read_to_the_nanosecond_however_large() -> None:
    start = 1237666046950106
    text = f"MPI_Init:-:0:0:{start}.001\nMPI_Finalize:{start}.350999:-\n"
    assert read_trace({"t-0.txt": text}).compute_ns.tolist() == [349]


def test_local_calls_are_left_out_and_the_work_around_them_is_kept() -> None:
    p = program(["Comm_rank:{w}:55", "Type_commit:55", "Get_count:1:{d}:2", "Barrier:{w}"])
    assert said(p, 0) == ["barrier 0 root 0 on [0]"]
    assert p.compute_ns.tolist() == [4000 + 3 * 6000, 6000]
    assert not p.notes


def test_unknown_calls_are_noted_once_with_their_number() -> None:
    p = program(["Put:1:2:3", "Put:1:2:3", "Win_fence:0:1"])
    assert p.notes == (
        "MPI_Put is not replayed: it takes no time and moves no data (2 times, first in "
        "pmpi-trace-rank-0.txt line 5).",
        "MPI_Win_fence is not replayed: it takes no time and moves no data "
        "(pmpi-trace-rank-0.txt line 7).",
    )


def test_sendrecv_sends_and_receives_at_once() -> None:
    p = program(
        ["Sendrecv:1:5:{d}:1:7:2:6:{d}:1:8:{w}:99"], ["Sendrecv:1:6:{d}:0:8:2:5:{d}:0:7:{w}:99"]
    )
    assert said(p, 0) == [
        "irecv 48 B from 1 tag 8 as 0",
        "isend 40 B to 1 tag 7 as 1",
        "wait 0 1",
    ]


def test_sendrecv_replace_uses_one_buffer() -> None:
    p = program(
        ["Sendrecv_replace:1:5:{d}:1:7:1:8:{w}:99"], ["Sendrecv_replace:1:5:{d}:0:8:0:7:{w}:99"]
    )
    assert said(p, 1) == [
        "irecv 40 B from 0 tag 7 as 0",
        "isend 40 B to 0 tag 8 as 1",
        "wait 0 1",
    ]


def test_open_mpis_negative_ranks() -> None:
    p = program(
        [
            "Send:1:1:{d}:-2:0:{w}",
            "Recv:1:1:{d}:-2:-1:{w}:9",
            "Recv:1:1:{d}:-1:-1:{w}:9",
            "Sendrecv:1:1:{d}:-2:7:2:1:{d}:-2:8:{w}:99",
        ],
        ["Send:1:1:{d}:0:3:{w}"],
    )
    assert said(p, 0) == ["recv 8 B from any tag any"]
    assert "as Open MPI has them" in p.notes[0]


@for_each(
    "world, first",
    [(0x44000000, "Barrier:{w}"), (9100, "Send:1:1:{d}:-1:0:{w}")],
)
def test_mpichs_negative_ranks(world: int, first: str) -> None:
    second = "Barrier:{w}" if first.startswith("Barrier") else "Comm_rank:{w}:1"
    p = program(
        [first, "Recv:1:1:{d}:-1:-1:{w}:9", "Recv:1:1:{d}:-2:4:{w}:9"],
        [second, "Send:1:1:{d}:0:4:{w}"],
        world=world,
    )
    assert said(p, 0)[-1] == "recv 8 B from any tag 4"
    assert len(said(p, 0)) == 1 + first.startswith("Barrier")
    assert "as MPICH has them" in p.notes[0]


def test_a_receive_takes_the_size_of_its_message() -> None:
    p = program(
        ["Send:1:1:{d}:1:7:{w}", "Send:1:2:{d}:1:7:{w}"],
        ["Recv:1:100:{d}:0:7:{w}:9", "Recv:1:100:{d}:0:7:{w}:9"],
    )
    assert said(p, 1) == ["recv 8 B from 0 tag 7", "recv 16 B from 0 tag 7"]
    assert "2 receives had more room" in p.notes[0]


def test_sizes_stay_where_a_wildcard_may_have_taken_a_message() -> None:
    p = program(
        ["Send:1:1:{d}:1:7:{w}", "Send:1:2:{d}:1:7:{w}"],
        ["Recv:1:100:{d}:0:7:{w}:9", "Recv:1:100:{d}:-1:7:{w}:9"],
    )
    assert said(p, 1) == ["recv 800 B from 0 tag 7", "recv 800 B from any tag 7"]


def test_probes_are_noted_and_take_nothing() -> None:
    p = program(
        ["Send:1:1:{d}:1:7:{w}"],
        ["Iprobe:0:7:{w}:1:9", "Probe:0:7:{w}:9", "Recv:1:1:{d}:0:7:{w}:9"],
    )
    assert said(p, 1) == ["recv 8 B from 0 tag 7"]
    assert [note[:7] for note in p.notes] == ["a probe"]


@for_each(
    "call, complaint",
    [
        ("Send:1:5:{d}:2:7:{w}", "peer of MPI_Send must be 0 to 1; got 2"),
        ("Send:1:-5:{d}:1:7:{w}", "must move 0 to"),
        ("Send:1:9999999999999999999:{d}:1:7:{w}", "must move 0 to"),
        ("Send:1:5:10,x,8:1:7:{w}", "datatype must be id,size,extent"),
        ("Send:1:5:{d}:1:-7:{w}", "tag of MPI_Send must be"),
        ("Send:1:5:{d}:1:7", "MPI_Send must have 6 arguments"),
        ("Send:1:five:{d}:1:7:{w}", "count of MPI_Send must be a number; got 'five'"),
        ("Send:1:5:{d}:1:7:0", "must be handle,myrank,size"),
        ("Send:1:5:{d}:1:7:1,2,2", "must be handle,myrank,size"),
        ("Waitall:-1:1:1", "count of MPI_Waitall must not be negative"),
    ],
)
def test_damaged_lines_are_named(call: str, complaint: str) -> None:
    with pytest.raises(ParseError, match=r"rank-1\.txt:5: ") as caught:
        program(["Comm_rank:{w}:1"], [call])
    assert complaint in str(caught.value)


@for_each(
    "line",
    ["nonsense", "MPI_Send", "MPI_Send:x:1:2", "MPI_Send:1:2:1e99", "MPI Send:1:2:3", "a:b:c"],
)
def test_lines_that_are_no_calls_are_named(line: str) -> None:
    with pytest.raises(ParseError, match=r"t-0\.txt:2: "):
        read_trace({"t-0.txt": f"MPI_Init:-:0:0:1\n{line}\n"}, format="liballprof")


def test_a_trace_of_liballprof_2_is_refused_with_advice() -> None:
    text = "MPI_Init:-:0x7ffe:0x7ffe:1\nMPI_Recv:2:0x55:1:18:0:3:0:0x1:3 # main+0x12\n"
    with pytest.raises(ParseError, match="liballprof 2 are not read"):
        read_trace({"t-0.txt": text})


def test_a_trace_that_is_cut_off_is_noted() -> None:
    text = one(["Barrier:{w}"], 0, 1).replace("MPI_Finalize", "# MPI_Finalize")
    assert "ends without MPI_Finalize" in read_trace({"t-0.txt": text}).notes[0]


def test_lines_may_end_as_on_windows() -> None:
    files = {
        name: text.replace("\n", "\r\n") for name, text in liballprof([["Barrier:{w}"]]).items()
    }
    assert said(read_trace(files), 0) == ["barrier 0 root 0 on [0]"]
