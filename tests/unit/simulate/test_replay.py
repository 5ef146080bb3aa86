"""What replay takes and refuses; what a result tells."""

import numpy as np
import pytest

from tests.cases import for_each
from tests.unit.stored import trust_arrays
from workbench.errors import ParameterError, ParseError, ProgramError
from workbench.models import LogGPS
from workbench.programs.graph import CALC, SEND, Dependents, ExecutionGraph
from workbench.simulate.noise import Noise
from workbench.simulate.picoseconds import PicosecondCosts
from workbench.simulate.replay import replay
from workbench.simulate.replay_result import CPU, MESSAGE, STARTED, ReplayResult

NS = 1e-9
MODEL = LogGPS(L=2500 * NS, o=1500 * NS, g=1000 * NS, G=6 * NS, O=0.0, S=65535)

PING_PONG = ExecutionGraph.from_goal(
    """num_ranks 2
rank 0 {
l1: send 8b to 1 tag 1
l2: recv 8b from 1 tag 2
l2 requires l1
}
rank 1 {
l1: recv 8b from 0 tag 1
l2: calc 1000
l2 requires l1
l3: send 8b to 0 tag 2
l3 requires l2
}
"""
)
HALF = 1500 + 2500 + 1500 + 7 * 6


def goal(text):
    return ExecutionGraph.from_goal(text.replace("; ", "\n") + "\n")


def test_ping_pong_takes_twice_the_message_and_the_work():
    result = replay(PING_PONG, MODEL)
    assert result.finish_ns == [2 * HALF + 1000, HALF + 1000 + 1500]
    assert result.makespan_ns == 2 * HALF + 1000
    assert result.events == 7
    assert result.times is None
    assert result.provenance.origin == "simulated"


def test_times_of_each_operation_and_what_it_waited_for():
    result = replay(PING_PONG, MODEL, times=True)
    frame = result.to_frame()
    assert frame["begin_ns"].tolist() == [0, HALF + 1000 + 4000, 4000, HALF, HALF + 1000]
    assert frame["end_ns"].tolist() == [1500, 2 * HALF + 1000, HALF, HALF + 1000, HALF + 2500]
    assert frame["start_ns"].tolist()[1:3] == [1500, 0]
    assert frame["match"].tolist() == [2, 4, 0, -1, 1]
    assert frame["waited_for"].tolist() == [
        "none",
        "message",
        "message",
        "dependency",
        "dependency",
    ]
    assert replay(PING_PONG, MODEL).to_frame()["finish_ns"].tolist() == result.finish_ns


def test_the_critical_path_goes_back_through_messages():
    path = replay(PING_PONG, MODEL, times=True).critical_path()
    assert [(step.op, step.reason) for step in path] == [
        (1, "end"),
        (4, "message"),
        (3, "dependency"),
        (2, "dependency"),
        (0, "message"),
    ]
    assert path[-1].from_ps == 0


def test_without_times_there_is_no_critical_path():
    with pytest.raises(ParameterError, match="times=True"):
        replay(PING_PONG, MODEL).critical_path()


def test_a_receive_that_is_late_waits_for_what_made_it_late():
    late = goal(
        "num_ranks 2; rank 0 {; l1: send 8b to 1; }; rank 1 {; l1: calc 50000; l2: recv 8b from 0; "
        "l2 requires l1; l3: calc 10; l3 requires l2; }"
    )
    # The message comes while the core computes, and is taken first thing after that.
    result = replay(late, MODEL, times=True)
    assert result.times.begin_ps.tolist() == [0, 0, 50_000_000, 51_542_000]
    assert result.times.cause[2] == 1
    assert result.times.cause_kind[2] == CPU
    # Taken long before the receive is posted.
    idle = goal(
        "num_ranks 2; rank 0 {; l1: send 8b to 1; }; rank 1 {; l1: recv 8b from 0; l2: calc 10; "
        "l2 requires l1; l3: calc 9000 cpu 1; l1 requires l3; }"
    )
    result = replay(idle, MODEL, times=True)
    assert result.times.begin_ps[1] == 4_000_000
    assert result.times.start_ps[1] == result.times.end_ps[1] == 9_000_000
    assert result.times.cause_kind[1] == MESSAGE
    assert result.times.post_cause[1] == 3
    assert [step.op for step in result.critical_path()] == [2, 1, 3]


def test_a_synchronous_send_is_let_go_by_its_receiver():
    graph = goal(
        "num_ranks 2; rank 0 {; l1: send 100000b to 1; l2: calc 5; l2 requires l1; l3: calc 7; "
        "l3 irequires l1; }; rank 1 {; l1: calc 90000; l2: recv 100000b from 0; l2 requires l1; }"
    )
    result = replay(graph, MODEL, times=True)
    # The computation beside it runs meanwhile.
    assert result.times.start_ps[2] == 1_500_000
    assert result.times.end_ps[0] == 90_000_000
    assert result.finish_ns[0] == 90_005


def test_an_operation_may_wait_for_anothers_start():
    graph = goal(
        "num_ranks 1; rank 0 {; l1: calc 9; l2: calc 90; l2 requires l1; l3: calc 5 cpu 1; "
        "l3 irequires l2; }"
    )
    result = replay(graph, MODEL, times=True)
    assert result.times.start_ps.tolist() == [0, 9000, 9000]
    assert result.times.cause.tolist() == [-1, 0, 1]
    assert result.times.cause_kind[2] == STARTED


@for_each("cores", [1, 2])
def test_the_breakdown_adds_up_to_each_ranks_time(cores):
    cpu = "cpu 1" if cores == 2 else "cpu 0"
    graph = goal(
        f"num_ranks 2; rank 0 {{; l1: calc 700; l2: send 101b to 1 {cpu}; l2 requires l1; }}; "
        "rank 1 {; l1: recv 101b from 0; l2: calc 50; l2 requires l1; }"
    )
    frame = replay(graph, MODEL.replace(O=1 * NS), times=True).breakdown()
    assert frame["compute_ns"].tolist() == [700, 50]
    assert frame["overhead_ns"].tolist() == [1600, 2100]
    assert frame["cores"].tolist() == [cores, cores]
    parts = frame[["compute_ns", "overhead_ns", "noise_ns", "waiting_ns"]].sum(axis=1)
    assert parts.tolist() == (frame["finish_ns"] * frame["cores"]).tolist()


def test_a_result_comes_back_from_disk(tmp_path):
    noise = Noise.random(1000.0, 1e-6, seed=3)
    for result in (
        replay(PING_PONG, MODEL, times=True),
        replay(PING_PONG, MODEL.replace(G=0.1 * NS), noise=noise, ties="libstdc++"),
    ):
        again = ReplayResult.load(result.save(tmp_path / "run.json"))
        assert again.graph == result.graph
        assert again.graph.line.tolist() == result.graph.line.tolist()
        assert again.model == result.model
        assert again.ties == result.ties
        assert again.finish_ns == result.finish_ns
        assert again.provenance == result.provenance
        assert (again.noise_ps is None) == (result.noise_ps is None)
        if result.times is not None:
            assert again.critical_path() == result.critical_path()


def test_what_is_no_saved_result_is_refused(tmp_path):
    path = replay(PING_PONG, MODEL).save(tmp_path / "run.json")
    trust_arrays(path)
    arrays = path.with_suffix(".npz")
    whole = arrays.read_bytes()
    for content in (b"", b"nonsense", whole[: len(whole) // 2]):
        arrays.write_bytes(content)
        with pytest.raises(ParseError, match=r"run\.npz"):
            ReplayResult.load(path)
    np.savez(arrays, finish_ps=np.zeros(2))
    with pytest.raises(ParseError):
        ReplayResult.load(path)
    path.write_text('{"format": "else"}')
    with pytest.raises(ParseError, match="workbench ReplayResult"):
        ReplayResult.load(path)


def test_a_result_says_what_it_is():
    result = replay(PING_PONG, MODEL)
    assert repr(result) == (
        "ReplayResult(text, 2 ranks: makespan 12.1 µs, events 7, semantics loggopsim, ties in "
        "program order)"
    )
    assert "makespan" in result._repr_html_()
    quirks = replay(PING_PONG, MODEL, compatible=True)
    assert "LogGOPSim's quirks on" in repr(quirks)
    as_sorted = replay(PING_PONG, MODEL, ties="libstdc++")
    assert "ties as libstdc++'s std::sort leaves them" in repr(as_sorted)
    assert "std::sort" in as_sorted._repr_html_()
    assert "ties" not in repr(replay(PING_PONG, MODEL, semantics="llamp"))


@for_each(
    "options, message",
    [
        ({"semantics": "exact"}, "semantics must be one of loggopsim, llamp"),
        ({"ties": "random"}, r"ties must be one of stable, libstdc\+\+"),
        ({"semantics": "llamp", "compatible": True}, "neither quirks nor noise"),
        ({"semantics": "llamp", "noise": Noise.random(1.0, 1e-6)}, "neither quirks nor noise"),
    ],
)
def test_options_that_do_not_exist_are_refused(options, message):
    with pytest.raises(ParameterError, match=message):
        replay(PING_PONG, MODEL, **options)


def test_a_deadlock_shows_what_waits():
    graph = goal(
        "num_ranks 2; rank 0 {; l1: recv 4b from 1 tag 9; l2: send 4b to 1 tag 1; l2 requires l1; "
        "}; rank 1 {; l1: recv 4b from 0 tag 1; l2: send 4b to 0 tag 9; l2 requires l1; }"
    )
    with pytest.raises(ProgramError, match="but 4 wait for ever: 2 receives") as caught:
        replay(graph, MODEL)
    circle = (
        "rank 0, line 3: recv 4 B from 1 tag 9",
        "rank 1, line 9: send 4 B to 0 tag 9",
        "rank 1, line 8: recv 4 B from 0 tag 1",
        "rank 0, line 4: send 4 B to 1 tag 1",
    )
    assert "circular wait of 4 operations of 2 ranks" in str(caught.value)
    assert " → ".join(circle) in str(caught.value)
    assert caught.value.operations == tuple(
        f"{op}: waits for {after}"
        for op, after in zip(circle, (*circle[1:], circle[0]), strict=True)
    )


def test_messages_without_a_receive_are_shown():
    graph = goal(
        "num_ranks 2; rank 0 {; l1: send 4b to 1; l2: calc 5; l2 requires l1; }; rank 1 {; }"
    )
    with pytest.raises(ProgramError, match="1 messages without a receive") as caught:
        replay(graph, MODEL)
    assert caught.value.operations == (
        "rank 0, line 3: send 4 B to 1 tag 0: no receive matches its message",
    )
    synchronous = goal(
        "num_ranks 2; rank 0 {; l1: send 70000b to 1; l2: calc 5; l2 requires l1; }; rank 1 {; }"
    )
    with pytest.raises(ProgramError, match="but 2 wait for ever"):
        replay(synchronous, MODEL)


def test_a_cycle_is_shown():
    graph = goal(
        "num_ranks 1; rank 0 {; l0: calc 1; l1: calc 1; l2: calc 1; l3: calc 1; l1 requires l0; "
        "l1 requires l3; l2 requires l1; l3 irequires l2; l4: calc 2; l4 requires l3; }"
    )
    with pytest.raises(
        ProgramError,
        match=r"4 operations that wait for others\. circular wait of 3 operations of one rank",
    ) as caught:
        replay(graph, MODEL)
    assert len(caught.value.operations) == 3
    assert "line 4: calc 1 ns: waits for rank 0, line 6" in caught.value.operations[0]
    # LogGOPSim says nothing of what never runs; here it is a note.
    assert replay(graph, MODEL, compatible=True).notes == (
        "4 operations never ran, which LogGOPSim does not report",
    )


def test_dependencies_between_ranks_are_refused():
    none = Dependents.from_pairs([], [], 2)
    columns = [np.zeros(2, t) for t in (np.int64, np.int32, np.uint32, np.uint8, np.uint8)]
    kind = np.full(2, CALC, np.uint8)
    for wrong in (
        Dependents.from_pairs([1], [0], 2),
        Dependents(np.array([0, 1, 1], np.int32), np.array([7], np.int32)),
        Dependents(np.array([0, 5, 1], np.int32), np.array([0], np.int32)),
        Dependents(np.zeros(1, np.int32), np.zeros(0, np.int32)),
    ):
        for both in ((wrong, none), (none, wrong)):
            graph = ExecutionGraph(np.array([0, 1, 2]), kind, *columns, *both)
            with pytest.raises(ParameterError, match="operations of one rank"):
                replay(graph, MODEL)


def test_more_than_ten_are_counted():
    graph = goal("num_ranks 1; rank 0 {; " + "recv 1b from 0; " * 30 + "}")
    with pytest.raises(ProgramError, match="and 20 more") as caught:
        replay(graph, MODEL)
    assert len(caught.value.operations) == 10


def test_parameters_become_picoseconds_by_their_digits():
    costs = PicosecondCosts.of(
        LogGPS(L=9 * 1e-9, o=0.3e-9, g=1e-6, G=9 * 1e-9, O=1.23456e-11, S=2**31 - 1)
    )
    assert (costs.L, costs.o, costs.g) == (9000, 300, 10**6)
    assert costs.G.whole == 9000
    assert costs.O.whole == -1
    assert costs.O.of(np.array([0, 1, 2, 1001])).tolist() == [0, 0, 12, 12346]
    assert costs.S > 2**62


def test_a_program_is_lowered_with_its_default_algorithms():
    from workbench.programs import ProgramBuilder

    builder = ProgramBuilder(4)
    builder.compute(0, 500)
    builder.collective("bcast", 1024)
    program = builder.build()
    result = replay(program, MODEL)
    assert result.finish_ns == replay(program.graph(), MODEL).finish_ns
    assert (result.graph.kind == SEND).any()
