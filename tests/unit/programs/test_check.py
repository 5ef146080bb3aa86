"""Checks of a graph: each kind of problem, by rank and line, and nothing where all is well."""

from __future__ import annotations

import numpy as np
import pytest

from workbench.errors import ParameterError, ProgramError
from workbench.programs.check import ERROR, NOTE, SHOWN, WARNING, Problem
from workbench.programs.goal import read_goal
from workbench.programs.graph import (
    ANY_SOURCE,
    ANY_TAG,
    RECV,
    SEND,
    Dependents,
    ExecutionGraph,
)


def program(*ranks: str) -> ExecutionGraph:
    """Return a graph, one text for each rank."""
    bodies = "".join(f"rank {r} {{\n{body}\n}}\n" for r, body in enumerate(ranks))
    return read_goal(f"num_ranks {len(ranks)}\n{bodies}")


def kinds(graph: ExecutionGraph) -> list[tuple[str, str]]:
    return [(problem.kind, problem.severity) for problem in graph.check()]


def test_a_good_program_has_no_problem() -> None:
    graph = program(
        "a: send 8b to 1 tag 3\nb: calc 5\nb irequires a\nc: send 9b to 1 tag 3\nc requires b",
        "a: recv 8b from 0 tag 3\nb: recv 9b from 0 tag 3\nb requires a",
    )
    assert graph.check() == ()
    graph.validate()


def test_a_graph_without_operations_has_no_problem() -> None:
    assert program("", "").check() == ()


def test_a_cycle_is_named_operation_by_operation() -> None:
    graph = program(
        "x: calc 9\na: calc 1\nb: calc 2\nc: calc 3\n"
        "b requires a\nc requires b\na irequires c\nx requires c\n"
    )
    (problem,) = graph.check()
    assert (problem.kind, problem.severity, problem.rank) == ("cycle", ERROR, 0)
    assert problem.line in (4, 5, 6)
    for line in (4, 5, 6):
        assert f"line {line}: calc {line - 3} ns" in problem.message
    assert "calc 9" not in problem.message
    with pytest.raises(ProgramError, match="waits for itself") as caught:
        graph.validate()
    assert caught.value.operations == (problem.message,)


def test_an_operation_may_not_wait_for_itself() -> None:
    (problem,) = program("a: calc 1\na requires a").check()
    assert problem.message == "rank 0, line 3: calc 1 ns: waits for itself, by way of nothing else"


def test_each_rank_with_a_cycle_is_named_and_long_cycles_are_cut() -> None:
    ops = "\n".join(f"l{i}: calc {i}" for i in range(20))
    ring = "\n".join(f"l{(i + 1) % 20} requires l{i}" for i in range(20))
    problems = program(f"{ops}\n{ring}", "calc 5", f"{ops}\n{ring}").check()
    assert [problem.rank for problem in problems] == [0, 2]
    assert all(problem.message.endswith(", 12 more") for problem in problems)


def test_a_peer_must_be_a_rank() -> None:
    graph = program("send 8b to 2\nrecv 4b from 77", "calc 1")
    assert [str(problem) for problem in graph.check()] == [
        "error: rank 0, line 3: send 8 B to 2 tag 0: the peer must be a rank, 0 to 1",
        "error: rank 0, line 4: recv 4 B from 77 tag 0: the peer must be a rank, 0 to 1",
    ]


def test_messages_to_oneself_are_noted_and_allowed() -> None:
    graph = program("send 8b to 0\nrecv 8b from 0")
    assert kinds(graph) == [("self", NOTE)]
    assert graph.check()[0].count == 2
    graph.validate()


def test_sends_and_receives_without_a_match_are_named() -> None:
    graph = program(
        "a: send 8b to 1 tag 1\nb: send 8b to 1 tag 1\nb requires a\nsend 8b to 1 tag 2",
        "recv 8b from 0 tag 1\nrecv 8b from 0 tag 3",
    )
    problems = [problem for problem in graph.check() if problem.severity == ERROR]
    assert [(p.kind, p.rank, p.line, p.count) for p in problems] == [
        ("unmatched-send", 0, 4, 1),
        ("unmatched-send", 0, 6, 1),
        ("unmatched-receive", 1, 10, 1),
    ]
    assert problems[0].message == (
        "rank 0, line 4: send 8 B to 1 tag 1: nobody receives it; 1 of 2 such operations are left "
        "over"
    )
    assert problems[2].message.endswith("from 0 tag 3: no message comes for it")
    with pytest.raises(ProgramError, match="cannot run to its end: rank 0, line 4"):
        graph.validate()


def test_of_many_problems_of_a_kind_the_rest_is_counted() -> None:
    sends = "\n".join(f"send 8b to 1 tag {tag}" for tag in range(SHOWN + 7))
    problems = program(sends, "").check()
    assert len(problems) == SHOWN + 1
    assert problems[-1] == Problem(
        "unmatched-send", ERROR, -1, 0, "and 7 more of kind 'unmatched-send'", -1, 7
    )


@pytest.mark.parametrize(
    ("sends", "recvs", "left"),
    [
        ("send 1b to 1 tag 5", "recv 1b from -1 tag 5", 0),
        ("send 1b to 1 tag 5", "recv 1b from 0 tag -1", 0),
        ("send 1b to 1 tag 5", "recv 1b from -1 tag -1", 0),
        ("send 1b to 1 tag 5", "recv 1b from -1 tag 6", 2),
        ("send 1b to 1 tag -1", "recv 1b from 0 tag 6", 0),
        ("send 1b to 1 tag -1", "recv 1b from -1 tag 6", 0),
        ("send 1b to 1 tag -1", "recv 1b from 1 tag 6", 2),
        # (any, 5) could take either, but (0, any) only the first: no greedy order finds both ways.
        (
            "send 1b to 1 tag 5\nsend 1b to 1 tag 6",
            "recv 1b from -1 tag 5\nrecv 1b from 0 tag -1",
            0,
        ),
        (
            "send 1b to 1 tag 5\nsend 1b to 1 tag 5",
            "recv 1b from -1 tag 5\nrecv 1b from 0 tag 6",
            2,
        ),
    ],
)
def test_wildcards_are_considered(sends: str, recvs: str, left: int) -> None:
    problems = program(sends, recvs).check()
    assert sum(p.count for p in problems if p.kind.startswith("unmatched")) == left


def most_matches(graph: ExecutionGraph) -> int:
    """Return the most messages that can be matched, by augmenting paths between operations."""
    ranks = graph.rank_of(np.arange(graph.num_ops))
    sends = [op for op in range(graph.num_ops) if graph.kind[op] == SEND]
    recvs = [op for op in range(graph.num_ops) if graph.kind[op] == RECV]

    def agree(send: int, recv: int) -> bool:
        tags = {int(graph.tag[send]), int(graph.tag[recv])}
        return (
            graph.peer[send] == ranks[recv]
            and graph.peer[recv] in (ANY_SOURCE, ranks[send])
            and (len(tags) == 1 or ANY_TAG in tags)
        )

    taken: dict[int, int] = {}

    def place(send: int, tried: set[int]) -> bool:
        for recv in recvs:
            if agree(send, recv) and recv not in tried:
                tried.add(recv)
                if recv not in taken or place(taken[recv], tried):
                    taken[recv] = send
                    return True
        return False

    return sum(place(send, set()) for send in sends)


@pytest.mark.parametrize("seed", range(60))
def test_as_many_are_left_over_as_no_order_could_match(seed: int) -> None:
    rng = np.random.default_rng(seed)
    bodies = []
    for _ in range(3):
        lines = []
        for _ in range(rng.integers(0, 8)):
            tag = rng.choice([0, 1, 2, -1] if seed % 2 else [0, 1, 2])
            if rng.random() < 0.5:
                lines.append(f"send 1b to {rng.integers(3)} tag {tag}")
            else:
                tag = rng.choice([0, 1, 2, -1])
                lines.append(f"recv 1b from {rng.integers(-1, 3)} tag {tag}")
        bodies.append("\n".join(lines))
    graph = program(*bodies)
    matched = most_matches(graph)
    left = dict.fromkeys(("unmatched-send", "unmatched-receive"), 0)
    for problem in graph.check():
        if problem.kind in left:
            left[problem.kind] += problem.count
    assert left["unmatched-send"] == int((graph.kind == SEND).sum()) - matched
    assert left["unmatched-receive"] == int((graph.kind == RECV).sum()) - matched


def test_messages_whose_order_is_open_are_told_with_what_depends_on_it() -> None:
    recvs = "a: recv 8b from 0 tag 1\nb: recv 9b from 0 tag 1\nb requires a"
    differ = program("send 8b to 1 tag 1\nsend 9b to 1 tag 1", recvs)
    assert kinds(differ) == [("ambiguous", WARNING)]
    assert differ.check()[0].message == (
        "rank 0, line 4: send 9 B to 1 tag 1: not ordered by dependencies against rank 0, line 3: "
        "send 8 B to 1 tag 1; which sizes meet is open"
    )
    same = program("send 8b to 1 tag 1\nsend 8b to 1 tag 1", recvs.replace("9b", "8b"))
    assert kinds(same) == [("ambiguous", NOTE)]


def test_order_is_that_of_dependencies_and_not_of_the_file() -> None:
    graph = program(
        "b: send 9b to 1 tag 1\na: send 8b to 1 tag 1\nb requires a",
        "a: recv 8b from 0 tag 1\nb: recv 9b from 0 tag 1\nb requires a",
    )
    assert graph.check() == ()


def test_sizes_of_messages_and_receives_are_compared_in_order() -> None:
    graph = program(
        "a: send 8b to 1 tag 1\nb: send 9b to 1 tag 1\nb requires a",
        "a: recv 16b from 0 tag 1\nb: recv 4b from 0 tag 1\nb requires a",
    )
    assert kinds(graph) == [("truncated", WARNING), ("oversized", NOTE)]
    assert [problem.line for problem in graph.check()] == [4, 3]
    assert "larger than its receive, rank 1, line 9: recv 4 B" in graph.check()[0].message


def test_what_takes_too_long_to_examine_is_noted(monkeypatch: pytest.MonkeyPatch) -> None:
    calcs = "\n".join(f"c{i}: calc 1\nc{i} requires {f'c{i - 1}' if i else 'a'}" for i in range(50))
    graph = program(
        f"a: send 8b to 1\n{calcs}\nb: send 8b to 1\nb requires c49",
        "a: recv 8b from 0\nb: recv 8b from 0\nb requires a",
    )
    assert graph.check() == ()
    monkeypatch.setattr("workbench.programs.check._STEPS", 20)
    (problem,) = graph.check()
    assert (problem.kind, problem.severity, problem.count) == ("unexamined", NOTE, 1)


def test_dependencies_stay_within_a_rank() -> None:
    graph = program("calc 1", "calc 2")
    columns = {
        name: getattr(graph, name)
        for name in ("rank_start", "kind", "size", "peer", "tag", "cpu", "nic", "irequires")
    }
    across = ExecutionGraph(**columns, requires=Dependents.from_pairs([1], [0], 2))
    (problem,) = across.check()
    assert (problem.kind, problem.severity, problem.rank) == ("rank", ERROR, 1)
    assert "waits for an operation of another rank: rank 0, op 0: calc 1 ns" in problem.message
    broken = ExecutionGraph(
        **columns, requires=Dependents(np.zeros(1, np.int32), np.zeros(0, "i4"))
    )
    with pytest.raises(ParameterError, match="from_pairs"):
        broken.check()


def test_ranks_and_tags_too_many_for_one_number_are_kept_apart(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sends = "\n".join(f"send 1b to {to} tag {tag}" for to in (0, 1, 2) for tag in (0, 7, 2**31))
    graph = program("", sends, sends)
    assert sum(p.kind == "unmatched-send" for p in graph.check()) == 18
    monkeypatch.setattr("workbench.programs.messages._WIDEST", 1)
    assert sum(p.kind == "unmatched-send" for p in graph.check()) == 18
