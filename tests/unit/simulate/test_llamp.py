"""Replays without contention: the figures of LLAMP's paper, refusals, and where wildcards meet."""

from __future__ import annotations

import numpy as np
import pytest

from tests.cases import for_each
from workbench.errors import ParameterError, ProgramError, SimulationHalted
from workbench.models import LogGPS
from workbench.programs.graph import ExecutionGraph
from workbench.simulate.llamp import forward_pass, match_messages, replay_llamp
from workbench.simulate.replay_result import DEPENDENCY, MESSAGE, STARTED
from workbench.tasks import Task

NS = 1e-9
FIG4C = """num_ranks 2
rank 0 {
l1: calc 100
l2: send 4b to 1 tag 7
l2 requires l1
l3: calc 1000
l3 requires l2
}
rank 1 {
l1: calc 500
l2: recv 4b from 0 tag 7
l2 requires l1
l3: calc 1000
l3 requires l2
}
"""
OVERLAP = """num_ranks 2
rank 0 {
s: send 8b to 1
}
rank 1 {
r: recv 8b from 0
c: calc 5000
c irequires r
e: calc 1
e requires c
e requires r
}
"""
CROSSED = """num_ranks 2
rank 0 {
a: send 100b to 1
b: recv 100b from 1
b requires a
}
rank 1 {
a: send 100b to 0
b: recv 100b from 0
b requires a
}
"""


def model(**values: float) -> LogGPS:
    """Return parameters in ns and B; what is left out is 0, and all messages are eager."""
    ns = {name: values.get(name, 0.0) * NS for name in "LogGO"}
    return LogGPS(**ns, S=int(values.get("S", 2**31 - 1)))


def graph(text: str) -> ExecutionGraph:
    return ExecutionGraph.from_goal(text)


@for_each("latency", [0, 384, 385, 386, 1000])
def test_the_worked_example_of_the_paper(latency: int) -> None:
    """Fig. 4c: T = max(L + 1115, 1500) ns."""
    result = replay_llamp(graph(FIG4C), model(L=latency, G=5))
    assert result.finish_ns == [1100, max(latency + 1115, 1500)]
    assert result.makespan_ns == max(latency + 1115, 1500)
    assert (result.semantics, result.events, result.times) == ("llamp", 7, None)
    assert result.provenance.origin == "simulated"


def test_the_times_say_what_was_waited_for() -> None:
    times = replay_llamp(graph(FIG4C), model(L=1000, G=5, o=10), times=True).times
    assert times is not None
    ns = 1000
    assert times.start_ps.tolist() == [0, 100 * ns, 110 * ns, 0, 500 * ns, 1135 * ns]
    assert times.begin_ps.tolist() == [0, 100 * ns, 110 * ns, 0, 1125 * ns, 1135 * ns]
    assert times.end_ps.tolist() == [100 * ns, 110 * ns, 1110 * ns, 500 * ns, 1135 * ns, 2135 * ns]
    assert times.match.tolist() == [-1, 4, -1, -1, 1, -1]
    assert times.cause.tolist() == [-1, 0, 1, -1, 1, 4]
    assert times.cause_kind[[1, 4, 5]].tolist() == [DEPENDENCY, MESSAGE, DEPENDENCY]
    assert times.post_cause is not None
    assert times.post_cause.tolist() == [-1, 0, 1, -1, 3, 4]


def test_a_receive_that_waits_for_nothing_but_its_dependency_says_so() -> None:
    times = replay_llamp(graph(FIG4C), model(L=1, G=5), times=True).times
    assert times is not None
    assert (times.cause[4], times.cause_kind[4]) == (3, DEPENDENCY)


def test_work_beside_a_receive_overlaps_and_names_the_start() -> None:
    """LLAMP's code adds 5000 ns to such a computation; its paper does not, nor is it done here."""
    result = replay_llamp(graph(OVERLAP), model(L=2000, o=100), times=True)
    assert result.finish_ns == [100, 5001]
    late = replay_llamp(graph("num_ranks 1\nrank 0 {\na: calc 3\nb: calc 1\nb requires a\n"
                              "c: calc 9\nc irequires b\n}\n"), model(), times=True)  # fmt: skip
    assert late.times is not None
    assert (late.times.cause[2], late.times.cause_kind[2]) == (1, STARTED)
    assert late.finish_ns == [12]


def test_parameters_need_not_be_whole() -> None:
    result = replay_llamp(graph(FIG4C), model(L=1000.25, G=0.018))
    assert result.finish_ns[1] == pytest.approx(2100.25 + 0.054, abs=1e-9)


def test_above_S_two_that_send_first_wait_for_one_another() -> None:
    assert replay_llamp(graph(CROSSED), model(L=10, S=100)).finish_ns == [10, 10]
    with pytest.raises(ProgramError, match="circle") as error:
        replay_llamp(graph(CROSSED), model(L=10, S=99))
    assert "4 never end" in str(error.value)
    phrases = " ".join(error.value.operations)
    assert "send 100 B to 1" in phrases
    assert "send 100 B to 0" in phrases
    assert "line 3" in phrases


def test_a_circle_of_dependencies_is_shown() -> None:
    circle = graph(FIG4C)
    pairs = np.array([[1, 2], [2, 1], [4, 3], [5, 4]])
    circular = type(circle.requires).from_pairs(pairs[:, 0], pairs[:, 1], circle.num_ops)
    object.__setattr__(circle, "requires", circular)
    with pytest.raises(ProgramError, match="circle") as error:
        replay_llamp(circle, model())
    assert len(error.value.operations) == 2
    assert all("rank 0" in phrase for phrase in error.value.operations)


def test_a_message_without_its_other_end_is_named() -> None:
    text = FIG4C.replace("from 0 tag 7", "from 0 tag 8")
    with pytest.raises(ProgramError, match="receive, of the same ranks and tag") as error:
        replay_llamp(graph(text), model())
    assert error.value.operations == (
        "rank 0, line 4: send 4 B to 1 tag 7",
        "rank 1, line 11: recv 4 B from 0 tag 8",
    )


def test_a_peer_that_is_no_rank_is_named() -> None:
    with pytest.raises(ProgramError, match="ranks 0 to 1; got rank 0, line 4: send 4 B to 2"):
        replay_llamp(graph(FIG4C.replace("to 1 tag", "to 2 tag")), model())


def test_a_known_matching_can_be_given() -> None:
    program = graph(FIG4C)
    match = match_messages(program, model())
    again = forward_pass(program, model(L=5), match=match)
    assert again.match is match
    assert again.finish_ps.tolist() == forward_pass(program, model(L=5)).finish_ps.tolist()


def test_wildcards_meet_whom_the_other_semantics_lets_them_meet() -> None:
    pytest.importorskip("workbench.simulate.replay")
    text = """num_ranks 3
rank 0 {
a: recv 8b from -1
b: recv 8b from -1
b requires a
}
rank 1 {
a: calc 5000
b: send 8b to 0
b requires a
}
rank 2 {
a: send 8b to 0
}
"""
    program = graph(text)
    assert match_messages(program, model(L=100)).tolist() == [4, 3, -1, 1, 0]
    assert replay_llamp(program, model(L=100)).finish_ns == [5100, 5000, 0]


def test_what_cannot_be_held_is_refused() -> None:
    with pytest.raises(ParameterError, match="L must be at most"):
        replay_llamp(graph(FIG4C), model(L=1e15))
    longest = str(2**61 // 1000)
    program = graph(FIG4C.replace("500", longest).replace("calc 1000", f"calc {longest}"))
    with pytest.raises(ParameterError, match="must end before 4611686 s"):
        replay_llamp(program, model(o=5))


def test_it_can_be_stopped(stopped: Task) -> None:
    lines = "\n".join(f"a{i}: calc 1" for i in range(70_000))
    with pytest.raises(SimulationHalted):
        replay_llamp(graph(f"num_ranks 1\nrank 0 {{\n{lines}\n}}\n"), model(), task=stopped)


def test_a_program_without_operations_ends_at_once() -> None:
    assert replay_llamp(graph("num_ranks 2\nrank 0 {\n}\nrank 1 {\n}\n"), model()).finish_ns == [
        0,
        0,
    ]
