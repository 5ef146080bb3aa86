"""Which request each wait and test of a liballprof trace ends."""

from __future__ import annotations

from tests.cases import for_each
from tests.unit.programs.traces.writing import program, said
from workbench.programs.traces.requests import detect_stride


def isend(address: int, tag: int = 0) -> str:
    return f"Isend:1:1:{{d}}:1:{tag}:{{w}}:{address}"


def irecv(address: int, tag: int = 0) -> str:
    return f"Irecv:1:1:{{d}}:1:{tag}:{{w}}:{address}"


PEER = ["Comm_rank:{w}:1"]  # the other rank: messages need no partner to be read


def waits(calls: list[str]) -> list[str]:
    """Return the waits of rank 0 and the sends between them, without sizes."""
    return [text.split(" B")[0] for text in said(program(calls, PEER), 0)]


@for_each("stride", [4, 8])
def test_the_stride_of_arrays_is_found_in_the_trace(stride: int) -> None:
    base = 80_000
    calls = [irecv(base + stride * i, i) for i in range(5)] + [f"Waitall:5:{base}:1"]
    p = program(calls, PEER)
    assert said(p, 0)[-1] == "wait 0 1 2 3 4"
    assert not p.notes


@for_each("stride", [4, 8])
def test_the_stride_is_found_where_half_of_an_array_is_empty(stride: int) -> None:
    base = 80_000
    made = [base + stride * i for i in (0, 1, 2, 3)] + [base + stride * i for i in (5, 7, 9)]
    arrays = [(base, 10)]
    assert detect_stride(made, arrays) == (stride, True)


def test_an_odd_multiple_of_four_settles_the_stride() -> None:
    assert detect_stride([100, 108], [(100, 2)]) == (8, True)
    assert detect_stride([100], [(100, 2)]) == (4, True)
    assert detect_stride([104], [(104, 2)]) == (8, False)
    assert detect_stride([104], []) == (8, True)


def test_a_stride_that_the_trace_does_not_tell_is_noted() -> None:
    p = program([irecv(80_000), "Waitall:2:80000:1"], PEER)
    assert said(p, 0)[-1] == "wait 0"
    assert "4 or 8 bytes" in p.notes[0]


def test_a_variable_is_used_again_after_its_wait() -> None:
    calls = [isend(800), "Wait:800:1", isend(800), isend(808), "Waitall:2:800:1", "Wait:800:1"]
    assert waits(calls) == ["isend 8", "wait 0", "isend 8", "isend 8", "wait 1 2"]


def test_a_request_that_is_never_waited_for_is_noted() -> None:
    p = program([isend(800), isend(800), "Wait:800:1"], PEER)
    assert said(p, 0)[-1] == "wait 1"
    assert "never waited for" in p.notes[0]


def test_a_freed_request_is_left_alone() -> None:
    p = program([isend(800), "Request_free:800"], PEER)
    assert [text[:5] for text in said(p, 0)] == ["isend"]
    assert not p.notes


def test_a_wait_for_a_copied_variable_is_noted() -> None:
    p = program([isend(800), "Wait:4000:1", "Waitall:3:6000:1"], PEER)
    assert any("as a copied variable does" in note and "2 times" in note for note in p.notes)


def test_a_test_after_which_the_variable_is_used_again_ended_the_request() -> None:
    calls = [isend(800), "Test:800:1:2", "Test:800:1:2", "Barrier:{w}", isend(800), "Wait:800:1"]
    p = program(calls, ["Barrier:{w}"])
    assert [text.split(" B")[0].split(" root")[0] for text in said(p, 0)] == [
        "isend 8",
        "wait 0",
        "barrier 0",
        "isend 8",
        "wait 1",
    ]
    assert p.line is not None
    assert p.line[1] == 7  # the last of the tests
    assert "MPI_Test" in p.notes[0]


def test_a_request_that_is_tested_and_waited_for_ends_at_the_wait() -> None:
    assert waits([isend(800), "Test:800:1:2", "Wait:800:1"]) == ["isend 8", "wait 0"]


@for_each("test", ["Testall:2:800:1:2", "Testany:2:800:1:2:3", "Testsome:2:800:1:2:3"])
def test_tests_of_arrays_end_what_nothing_else_does(test: str) -> None:
    assert waits([isend(800), isend(808), test]) == ["isend 8", "isend 8", "wait 0 1"]


def test_waitany_ended_the_request_whose_variable_is_used_next() -> None:
    calls = [irecv(800, 0), irecv(808, 1), "Waitany:2:800:1:2", irecv(808, 2), "Waitall:2:800:1"]
    p = program(calls, PEER)
    assert said(p, 0)[2:] == ["wait 1", "irecv 8 B from 1 tag 2 as 2", "wait 0 2"]
    assert not p.notes


def test_waitany_without_a_clue_ends_the_first_and_is_noted() -> None:
    calls = [irecv(800 + 8 * i, i) for i in range(3)] + ["Waitany:3:800:1:2"] * 3
    p = program(calls, PEER)
    assert said(p, 0)[3:] == ["wait 0", "wait 1", "wait 2"]
    assert "MPI_Waitany" in p.notes[0]


def test_waitany_is_settled_before_the_waitall_that_ends_the_rest() -> None:
    calls = [irecv(800, 0), irecv(808, 1), "Waitany:2:800:1:2", "Waitall:2:800:1"]
    assert said(program(calls, PEER), 0)[2:] == ["wait 0", "wait 1"]


def test_waitany_did_not_end_the_request_that_is_waited_for_alone() -> None:
    calls = [irecv(800, 0), irecv(808, 1), "Waitany:2:800:1:2", "Wait:800:1"]
    assert said(program(calls, PEER), 0)[2:] == ["wait 1", "wait 0"]


def test_waitsome_ends_at_least_one_and_the_rest_at_the_last() -> None:
    calls = [irecv(800 + 8 * i, i) for i in range(3)] + ["Waitsome:3:800:1:2:3"] * 2
    assert said(program(calls, PEER), 0)[3:] == ["wait 0", "wait 1 2"]


def test_persistent_requests_begin_again_at_each_start() -> None:
    p = program(
        [
            "Send_init:1:5:{d}:1:7:{w}:800",
            "Recv_init:1:5:{d}:1:8:{w}:808",
            "Startall:2:800",
            "Waitall:2:800:1",
            "Start:800",
            "Wait:800:1",
            "Request_free:800",
            "Request_free:808",
        ],
        PEER,
    )
    assert said(p, 0) == [
        "isend 40 B to 1 tag 7 as 0",
        "irecv 40 B from 1 tag 8 as 1",
        "wait 0 1",
        "isend 40 B to 1 tag 7 as 2",
        "wait 2",
    ]
    assert not p.notes


@for_each("mode", ["Ss", "Bs", "Rs"])
def test_persistent_sends_of_every_mode(mode: str) -> None:
    p = program([f"{mode}end_init:1:5:{{d}}:1:7:{{w}}:800", "Start:800", "Wait:800:1"], PEER)
    assert said(p, 0) == ["isend 40 B to 1 tag 7 as 0", "wait 0"]


def test_a_message_to_nobody_takes_its_variable_and_nothing_else() -> None:
    p = program(
        [
            "Isend:1:1:{d}:-2:0:{w}:800",
            "Send_init:1:1:{d}:-2:0:{w}:808",
            "Start:808",
            "Waitall:2:800:1",
        ],
        PEER,
    )
    assert said(p, 0) == []
    assert not p.notes


def test_a_cancelled_receive_is_left_out_and_noted() -> None:
    p = program([irecv(800), "Cancel:800", "Wait:800:1"], PEER)
    assert said(p, 0) == []
    assert "MPI_Cancel" in p.notes[0]


def test_a_start_of_an_unknown_request_is_noted() -> None:
    p = program(["Start:800", "Startall:2:900"], PEER)
    assert "2 times" in p.notes[0]


def test_a_huge_count_costs_nothing() -> None:
    calls = [irecv(800, 0), irecv(808, 1), "Waitall:2000000000:800:1"]
    assert said(program(calls, PEER), 0)[-1] == "wait 0 1"


def test_many_waits_for_any_of_many_end_them_in_order() -> None:
    calls = [irecv(800 + 8 * i, i) for i in range(20)] + ["Waitany:20:800:1:2"] * 20
    assert said(program(calls, PEER), 0)[20:] == [f"wait {i}" for i in range(20)]


def test_waits_for_any_of_thousands_are_settled() -> None:
    # 8 million pairs of a wait and a request that it may have ended
    n = 4000
    calls = [irecv(800 + 8 * i, i) for i in range(n)] + [f"Waitany:{n}:800:1:2"] * n
    p = program(calls, PEER)
    assert p.waits == tuple((i,) for i in range(n))


def test_an_array_whose_first_element_was_never_made_is_known_by_another() -> None:
    p = program([irecv(800), irecv(808), "Waitall:3:792:1", "Waitall:3:792:1"], PEER)
    assert said(p, 0)[2:] == ["wait 0 1"]
    assert not any("copied variable" in note for note in p.notes)


def test_a_freed_request_is_not_what_a_wait_for_any_has_ended() -> None:
    calls = [irecv(800 + 8 * i, i) for i in range(3)]
    calls += ["Waitany:3:800:1:2", "Request_free:800"]
    assert said(program(calls, PEER), 0)[3:] == ["wait 1"]
