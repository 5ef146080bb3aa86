"""Part of a program: some ranks alone, with what they waited for."""

from __future__ import annotations

import pytest

from tests.cases import for_each
from workbench.errors import ParameterError
from workbench.programs.goal import read_goal, write_goal
from workbench.programs.graph import Dependents, ExecutionGraph

GRAPH = read_goal(
    """num_ranks 3
rank 0 {
a: calc 10 cpu 2
b: send 8b to 1 tag 5 nic 1
b requires a
c: recv 8b from 2 tag 6 cpu 1 nic 1
c irequires b
d: calc 7
d requires c
d requires b
}
rank 1 {
recv 8b from 0 tag 5
a: recv 4b from -1 tag 7
}
rank 2 {
x: send 8b to 0 tag 6
y: send 4b to 1 tag 7
y requires x
}
"""
)


def test_all_ranks_in_order_are_the_graph_itself() -> None:
    whole = GRAPH.select([0, 1, 2])
    assert whole == GRAPH
    assert whole.line is not None
    assert GRAPH.line is not None
    assert whole.line.tolist() == GRAPH.line.tolist()


def test_messages_with_ranks_left_out_become_computations_of_no_time() -> None:
    part = GRAPH.select([0, 1])
    assert write_goal(part) == (
        "num_ranks 2\n\nrank 0 {\nl1: calc 10 cpu 2\nl2: send 8b to 1 tag 5 nic 1\n"
        "l2 requires l1\nl3: calc 0 cpu 1\nl3 irequires l2\nl4: calc 7\nl4 requires l2\n"
        "l4 requires l3\n}\n\nrank 1 {\nl1: recv 8b from 0 tag 5\nl2: recv 4b from -1 tag 7\n}\n"
    )
    assert part.notes == (
        "1 messages to or from ranks left out became computations of 0 ns",
        "1 receives from any rank were kept, wherever their messages came from",
    )


def test_ranks_are_numbered_in_the_order_given() -> None:
    part = GRAPH.select(iter([2, 0]))
    assert write_goal(part).startswith("num_ranks 2\n\nrank 0 {\nl1: send 8b to 1 tag 6\n")
    assert "l3: recv 8b from 0 tag 6 cpu 1 nic 1\n" in write_goal(part)
    assert part.select([1, 0]) == GRAPH.select([0, 2])


@for_each(
    "ranks, words",
    [
        ([], "at least one"),
        ([0, 0], "each rank once"),
        ([3], "rank must be 0 to 2"),
        ([-1], "0 to"),
    ],
)
def test_ranks_must_exist_and_be_named_once(ranks: list[int], words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        GRAPH.select(ranks)


def test_a_dependency_that_leaves_its_rank_cannot_be_cut() -> None:
    names = ("rank_start", "kind", "size", "peer", "tag", "cpu", "nic", "irequires")
    graph = ExecutionGraph(
        **{name: getattr(GRAPH, name) for name in names},
        requires=Dependents.from_pairs([5], [0], GRAPH.num_ops),
    )
    with pytest.raises(ParameterError, match="stay within a rank"):
        graph.select([0])


def test_peers_that_are_no_ranks_are_left_out_too() -> None:
    graph = read_goal("num_ranks 2\nrank 0 {\nsend 1b to 9\n}\nrank 1 {\ncalc 1\n}\n")
    assert write_goal(graph.select([0])) == "num_ranks 1\n\nrank 0 {\nl1: calc 0\n}\n"
