"""Traces of the workbench's own recorder, which leave nothing uncertain."""

from __future__ import annotations

import pytest

from tests.cases import for_each
from tests.unit.programs.traces.writing import recorded, said
from workbench.errors import ParseError
from workbench.programs.program import Program
from workbench.programs.traces import read_trace

QUIET = ["Barrier:{w}"]


def read(*ranks: list[str]) -> Program:
    return read_trace(recorded(*ranks))


def irecv(request: int, tag: int = 0) -> str:
    return f"Irecv:0:1:{{d}}:1:{tag}:{{w}}:{request}"


def ends(*calls: str) -> list[str]:
    """Return the waits of rank 0 after three receives with requests 1 to 3."""
    p = read([irecv(1, 0), irecv(2, 1), irecv(3, 2), *calls], [])
    assert not p.notes
    return said(p, 0)[3:]


def test_messages_and_their_times() -> None:
    p = read(["Send:0:5:{d}:1:7:{w}"], ["Recv:0:5:{d}:0:7:{w}:-"])
    assert said(p, 0) == ["send 40 B to 1 tag 7"]
    assert said(p, 1) == ["recv 40 B from 0 tag 7"]
    assert p.compute_ns.tolist() == [10_000, 6_000] * 2


@for_each(
    "calls, expected",
    [
        (["Wait:2:-"], ["wait 1"]),
        (["Wait:0:-"], []),
        (["Waitall:3:1,0,3:-"], ["wait 0 2"]),
        (["Waitany:3:1,2,3:1:-"], ["wait 1"]),
        (["Waitany:3:0,0,0:-32766:-"], []),
        (["Waitsome:3:1,2,3:2:0,2:-"], ["wait 0 2"]),
        (["Waitsome:3:1,2,3:-32766:-:-"], []),
        (["Test:2:0:-", "Test:2:1:-"], ["wait 1"]),
        (["Testall:3:1,2,3:0:-", "Testall:3:1,2,3:1:-"], ["wait 0 1 2"]),
        (["Testany:3:1,2,3:2:1:-"], ["wait 2"]),
        (["Testany:3:1,2,3:-32766:0:-"], []),
        (["Testsome:3:1,2,3:1:1:-"], ["wait 1"]),
    ],
)
def test_waits_and_tests_end_what_they_say(calls: list[str], expected: list[str]) -> None:
    p = read([irecv(1, 0), irecv(2, 1), irecv(3, 2), *calls], [])
    assert said(p, 0)[3:] == expected


def test_a_request_is_ended_once() -> None:
    assert ends("Waitany:3:1,2,3:1:-", "Waitall:3:1,0,3:-", "Waitall:3:0,0,0:-") == [
        "wait 1",
        "wait 0 2",
    ]


def test_persistent_requests_keep_their_number() -> None:
    p = read(
        [
            "Send_init:0:5:{d}:1:7:{w}:1",
            "Recv_init:0:5:{d}:1:8:{w}:2",
            *["Startall:2:1,2", "Waitall:2:1,2:-"] * 2,
            "Request_free:1",
        ],
        [],
    )
    assert [text.split(" ")[-1] for text in said(p, 0)] == ["0", "1", "1", "2", "3", "3"]
    assert not p.notes


def test_cancelled_receives_are_left_out_and_others_stay() -> None:
    p = read([irecv(1), irecv(2), "Cancel:1", "# cancelled 2", "Waitall:2:1,2:-"], [])
    assert said(p, 0) == ["irecv 8 B from 1 tag 0 as 0", "wait 0"]
    assert not p.notes


def test_calls_that_failed_are_noted() -> None:
    p = read(["# failed MPI_Allreduce", "# failed MPI_Allreduce", "# failed"], [])
    assert p.notes == (
        "MPI_Allreduce failed: it is left out (2 times, first in trace-0.txt line 8).",
        "a call failed: it is left out (trace-0.txt line 10).",
    )


def test_a_processor_clock_is_noted_once() -> None:
    p = read(["# clock cpu"], ["# clock cpu"])
    assert len(p.notes) == 1
    assert "processor time" in p.notes[0]
    assert not read(["# clock elapsed"], ["# clock elapsed"]).notes


def test_a_status_of_too_many_digits_is_left_out() -> None:
    p = read(["Recv:0:1:{d}:-1:7:{w}:0,7," + "1" * 5000], [])
    assert said(p, 0) == ["recv 8 B from any tag 7"]


def test_a_wildcard_that_tells_what_it_matched_gets_the_size_of_its_message() -> None:
    p = read(
        ["Send:0:1:{d}:1:7:{w}", "Send:0:2:{d}:1:7:{w}"],
        ["Recv:0:9:{d}:-1:7:{w}:0,7,8", "Recv:0:9:{d}:0:7:{w}:-"],
    )
    assert said(p, 1) == ["recv 8 B from any tag 7", "recv 16 B from 0 tag 7"]
    p = read(
        ["Send:0:1:{d}:1:7:{w}", "Send:0:2:{d}:1:7:{w}"],
        ["Irecv:0:9:{d}:-1:-1:{w}:1", "Irecv:0:9:{d}:0:7:{w}:2", "Waitall:2:1,2:0,7,8;-"],
    )
    assert said(p, 1)[:2] == ["irecv 8 B from any tag any as 0", "irecv 16 B from 0 tag 7 as 1"]


def test_nobody_is_minus_two() -> None:
    p = read(["Send:0:1:{d}:-2:0:{w}", "Recv:0:1:{d}:-2:0:{w}:-"], [])
    assert said(p, 0) == []


def test_communicators_have_the_ranks_of_their_comments() -> None:
    ranks = []
    for r in range(4):
        place = {2: 0, 0: 1, 1: 0, 3: 1}[r]
        members, number = ("2 0", 1) if r % 2 == 0 else ("1 3", 2)
        ranks.append(
            [
                f"# comm {number} {members}",
                f"Comm_split:{{w}}:{r % 2}:0:{number},{place},2",
                f"Barrier:{number},{place},2",
                f"Comm_free:{number},{place},2",
            ]
        )
    p = read(*ranks)
    assert said(p, 0) == said(p, 2) == ["barrier 0 root 0 on [2, 0]"]
    assert said(p, 1) == ["barrier 0 root 0 on [1, 3]"]


def test_a_ranks_own_numbers_are_joined_by_their_ranks() -> None:
    p = read(
        ["# comm -1 0 1", "# comm -2 0 1", "Barrier:-1,0,2", "Bcast:0:1:{d}:0:-2,0,2"],
        ["# comm -5 0 1", "# comm -7 0 1", "Bcast:0:1:{d}:0:-7,1,2", "Barrier:-5,1,2"],
    )
    assert len(p.communicators) == 3
    assert said(p, 0) == list(reversed(said(p, 1)))


def test_messages_of_an_intercommunicator_go_to_the_other_group() -> None:
    p = read(
        ["# intercomm -1 0 : 2 1", "Send:0:1:{d}:1:7:-1,0,1", "Barrier:-1,0,1"],
        ["# intercomm -1 2 1 : 0", "Recv:0:1:{d}:0:7:-1,1,2:-", "Barrier:-1,1,2"],
        ["# intercomm -1 2 1 : 0", "Barrier:-1,0,2"],
    )
    assert said(p, 0) == ["send 8 B to 1 tag 7"]
    assert said(p, 1) == ["recv 8 B from 0 tag 7"]
    assert p.comm[0] == p.comm[p.rank_start[1]] != 0
    assert "joins two groups" in p.notes[0]


def test_what_means_nothing_at_a_rank_is_a_dash() -> None:
    p = read(
        ["Gather:1:-:-:0:5:{d}:0:{w}", "Scatterv:0:0:1,2:0:-:{d}:0:1:{d}:0:{w}"],
        ["Gather:0:5:{d}:0:-:-:0:{w}", "Scatterv:0:0:-:0:-:-:0:2:{d}:0:{w}"],
    )
    assert said(p, 0) == ["gather 40 root 0 on [0, 1]", "scatter [8, 16] root 0 on [0, 1]"]


def test_alltoallw_tells_the_datatypes() -> None:
    row = "Alltoallw:0:0:1,2:0:-:1,8,8;2,4,4:0:0:1,2:0:-:1,8,8;2,4,4:{w}"
    p = read([row], ["Alltoallw:0:0:3,4:0:-:2,4,4;1,8,8:0:0:1,2:0:-:1,8,8;2,4,4:{w}"])
    assert said(p, 0) == ["alltoall [8, 8, 12, 32] root 0 on [0, 1]"]


def test_matched_receives_are_written_as_plain_ones() -> None:
    p = read(["Send:0:1:{d}:1:7:{w}"], ["Mprobe:0:7:{w}:0:-", "Mrecv:0:1:{d}:0:7:{w}:-"])
    assert said(p, 1) == ["recv 8 B from 0 tag 7"]


def test_one_sided_calls_are_named() -> None:
    files = recorded(["Barrier:{w}"])
    text = files["trace-0.txt"].replace(
        "MPI_Finalize", "MPI_Win_create:18.000:19.000\nMPI_Finalize"
    )
    assert "MPI_Win_create" in read_trace({"trace-0.txt": text}).notes[0]


def test_the_header_tells_the_ranks() -> None:
    files = recorded(["Send:0:5:{d}:1:7:{w}"], ["Recv:0:5:{d}:0:7:{w}:-"])
    turned = {"b": files["trace-1.txt"], "a": files["trace-0.txt"]}
    assert said(read_trace(turned), 0) == ["send 40 B to 1 tag 7"]
    with pytest.raises(ParseError, match="files of all 2 ranks must be there, each once; got 1"):
        read_trace({"trace-0.txt": files["trace-0.txt"]})


@for_each(
    "old, new, complaint",
    [
        ("trace 1", "trace 2", "first line must be"),
        ("# rank 0 of 2", "# rank zero", "must have a line `# rank r of n`"),
        ("# comm 1 0 1", "# comm 1 0 x", "must be followed by numbers"),
        ("# comm 1 0 1", "# comm 1 1", "must have it among ranks 0 to 1"),
        ("# comm 1 0 1", "# comm 1 0 5", "must have it among ranks 0 to 1"),
        ("# comm 1 0 1", "# comm 1 0 0", "must have each rank once"),
        ("# comm 1 0 1", "#", "after a line `# comm"),
        ("1,0,2", "1,1,2", "as its `# comm` line says"),
        ("1,0,2", "-", "must be number,myrank,size"),
        ("3,4", "3,x", "must name requests by numbers"),
        ("1,0,2", "1,0", "must be number,myrank,size"),
        ("index:1", "index:7", "must end requests 0 to 1"),
    ],
)
def test_damage_is_named(old: str, new: str, complaint: str) -> None:
    mine = ["# comm 1 0 1", "Barrier:1,0,2", "Waitany:2:3,4:index:1:-"]
    files = recorded(mine, ["# comm 1 0 1", "Barrier:1,1,2"])
    text = files["trace-0.txt"].replace(old, new, 1).replace("index:", "")
    with pytest.raises(ParseError) as caught:
        read_trace({"trace-0.txt": text, "trace-1.txt": files["trace-1.txt"]})
    assert complaint in str(caught.value)


def test_ranks_that_disagree_about_a_communicator_are_refused() -> None:
    with pytest.raises(ParseError, match="must have the same ranks in all files") as caught:
        read(["# comm 1 0 1"], ["# comm 1 1 0"])
    assert (caught.value.source, caught.value.line) == ("trace-1.txt", 8)


def test_an_array_that_names_a_request_twice_ends_it_once() -> None:
    assert ends("Waitall:2:2,2:-", "Waitall:3:1,0,3:-") == ["wait 1", "wait 0 2"]
