"""Checks of a graph: each kind of problem, by rank and line, and nothing where all is well."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from tests.cases import for_each
from tests.kernels.loggops_programs import random_graph
from workbench.errors import ParameterError, ProgramError
from workbench.models import LogGPS
from workbench.programs.check import ERROR, NOTE, SHOWN, WARNING, GraphProblem
from workbench.programs.goal import read_goal
from workbench.programs.graph import ANY_SOURCE, ANY_TAG, RECV, SEND, Dependents, ExecutionGraph
from workbench.simulate import replay

MODEL = LogGPS(L=1e-6, o=1e-7, g=1e-8, G=1e-10, O=0.0, S=65535)


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
    assert problem.message == "rank 0, line 3: calc 1 ns: waits for itself, via nothing else"


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
        "rank 0, line 4: send 8 B to 1 tag 1: no receive matches it; 1 of 2 such operations remain"
    )
    assert problems[2].message.endswith("from 0 tag 3: no message matches it")
    with pytest.raises(ProgramError, match="cannot run to its end: rank 0, line 4"):
        graph.validate()


def test_of_many_problems_of_a_kind_the_rest_is_counted() -> None:
    sends = "\n".join(f"send 8b to 1 tag {tag}" for tag in range(SHOWN + 7))
    problems = program(sends, "").check()
    assert len(problems) == SHOWN + 1
    assert problems[-1] == GraphProblem(
        "unmatched-send", ERROR, -1, 0, "and 7 more of kind 'unmatched-send'", -1, 7
    )


@for_each(
    "sends, recvs, left",
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


@for_each("seed", range(60))
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


def test_messages_whose_order_is_open_are_reported_with_what_depends_on_it() -> None:
    recvs = "a: recv 8b from 0 tag 1\nb: recv 9b from 0 tag 1\nb requires a"
    differ = program("send 8b to 1 tag 1\nsend 9b to 1 tag 1", recvs)
    assert kinds(differ) == [("ambiguous", WARNING)]
    assert differ.check()[0].message == (
        "rank 0, line 4: send 9 B to 1 tag 1: not ordered by dependencies against rank 0, line 3: "
        "send 8 B to 1 tag 1; the sizes that match are undetermined"
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


def circular(graph: ExecutionGraph, **options: int) -> list[tuple[str, str]]:
    """Return severity and text of the circular waits."""
    found = graph.check(**options)
    return [(p.severity, p.message) for p in found if p.kind == "circular"]


def test_a_circular_wait_between_ranks_is_an_error_and_is_named() -> None:
    graph = program(
        "r: recv 8b from 2 tag 5\ns: send 8b to 1 tag 5\ns requires r",
        "r: recv 8b from 0 tag 5\nc: calc 3\ns: send 8b to 2 tag 5\nc requires r\ns requires c",
        "r: recv 8b from 1 tag 5\ns: send 8b to 0 tag 5\ns requires r",
        "calc 9",
    )
    expected = (
        "rank 0, line 3: recv 8 B from 2 tag 5 → rank 2, line 16: send 8 B to 0 tag 5 → "
        "rank 2, line 15: recv 8 B from 1 tag 5 → rank 1, line 10: send 8 B to 2 tag 5 → "
        "rank 1, line 9: calc 3 ns → rank 1, line 8: recv 8 B from 0 tag 5 → "
        "rank 0, line 4: send 8 B to 1 tag 5 → the first"
    )
    text = f"circular wait of 7 operations of 3 ranks, each waiting for the next: {expected}"
    assert circular(graph) == [(ERROR, text + "; for any S")]
    with pytest.raises(ProgramError, match="circular wait of 7 operations of 3 ranks"):
        graph.validate()
    with pytest.raises(ProgramError, match="circular wait of 7 operations of 3 ranks") as caught:
        replay(graph, MODEL)
    assert expected in str(caught.value)
    assert len(caught.value.operations) == 7


def test_a_circle_that_only_rendezvous_closes_is_reported_with_the_s_that_opens_it() -> None:
    body = "s: send {0}b to {1} tag 0\nr: recv {0}b from {1} tag 0\nr requires s\n"
    last = "s2: send 900b to {1} tag 7\nr2: recv 900b from {1} tag 7\ns2 requires r\nr2 requires r"
    graph = program((body + last).format(500, 1), (body + last).format(500, 0))
    ((severity, text),) = circular(graph)
    assert severity == WARNING
    assert text.endswith(
        "only where sends wait for their receives, above S bytes; it ends with S of at least 500 B"
    )
    graph.validate()
    assert circular(graph, eager_bytes=500) == []
    ((severity, text),) = circular(graph, eager_bytes=499)
    assert severity == ERROR
    assert "with S = 499 B" in text
    assert text.endswith("it ends with S of at least 500 B")
    with pytest.raises(ParameterError, match="eager_bytes must be a whole number of at least 0 B"):
        graph.check(eager_bytes=-1)


def test_separate_circles_are_reported_one_by_one() -> None:
    pair = "r: recv 8b from {0}\ns: send 8b to {0}\ns requires r"
    graph = program(*(pair.format(rank ^ 1) for rank in range(2 * SHOWN + 4)))
    found = [p for p in graph.check() if p.kind == "circular"]
    assert [p.rank for p in found[:SHOWN]] == list(range(0, 2 * SHOWN, 2))
    assert found[SHOWN].message == "and 2 more circular waits"
    assert len(found) == SHOWN + 1


def test_what_only_some_orders_of_wildcards_end_is_a_warning() -> None:
    # The first receive takes whichever message comes first; the second wants that of one rank.
    late = "c: calc 10000\ns: send 8b to 0 tag 1\ns requires c"
    receives = "a: recv 8b from -1 tag 1\nb: recv 8b from 1 tag 1\nb requires a"
    halts = program(receives, "send 8b to 0 tag 1", late)
    ((severity, text),) = circular(halts)
    assert severity == WARNING
    assert "the matching of messages is undetermined" in text
    assert not ends(halts, 65535)
    assert ends(program(receives, late, "send 8b to 0 tag 1"), 65535)


def test_receives_of_any_before_every_send_cannot_end_in_any_order() -> None:
    body = "r: recv 8b from -1\ns: send 8b to {}\ns requires r"
    ((severity, _),) = circular(program(body.format(1), body.format(0)))
    assert severity == ERROR


SIZES = (0, 1, 40, 41, 200)


@st.composite
def schedules(draw: st.DrawFn) -> ExecutionGraph:
    """Return a program of chains: messages whose two ends stand at any place of their ranks."""
    ranks = draw(st.integers(2, 4))
    bodies: list[list[str]] = [[] for _ in range(ranks)]
    for _ in range(draw(st.integers(1, 9))):
        source, target = draw(st.integers(0, ranks - 1)), draw(st.integers(0, ranks - 1))
        size, tag = draw(st.sampled_from(SIZES)), draw(st.integers(0, 1))
        for rank, text in (
            (source, f"send {size}b to {target} tag {tag}"),
            (target, f"recv {size}b from {source} tag {tag}"),
        ):
            # Mostly at the end, or too few would run to theirs.
            late = draw(st.booleans()) or draw(st.booleans())
            at = len(bodies[rank]) if late else draw(st.integers(0, len(bodies[rank])))
            bodies[rank].insert(at, text)
    texts = []
    for body in bodies:
        lines = [f"l{i}: {text}" for i, text in enumerate(body)]
        for i in range(1, len(body)):
            lines.append(f"l{i} {draw(st.sampled_from(['requires', 'irequires']))} l{i - 1}")
        texts.append("\n".join(lines))
    return program(*texts)


def ends(graph: ExecutionGraph, eager_bytes: int) -> bool:
    try:
        replay(graph, MODEL.replace(S=eager_bytes))
    except ProgramError:
        return False
    return True


OUTCOMES: Counter[tuple[bool, bool]] = Counter()


def check_against_replay(graph: ExecutionGraph) -> None:
    always = [p for p in graph.check() if p.severity == ERROR]
    for eager_bytes in SIZES:
        errors = [p for p in graph.check(eager_bytes=eager_bytes) if p.severity == ERROR]
        assert ends(graph, eager_bytes) == (not errors)
        OUTCOMES[not errors, not always] += 1
    assert ends(graph, max(SIZES)) == (not always)


@pytest.mark.parametrize("examples", [40, pytest.param(300, marks=pytest.mark.deep)])
def test_it_ends_exactly_if_a_replay_ends(examples: int) -> None:
    OUTCOMES.clear()
    settings(max_examples=examples)(given(schedules())(check_against_replay))()
    # Programs that end, that end with a larger S, and that never end are all among them.
    outcomes = (True, True), (False, True), (False, False)
    assert min(OUTCOMES[key] for key in outcomes) > examples / 3


def test_of_programs_in_any_order_errors_never_end_and_silence_always_ends() -> None:
    sure = {True: 0, False: 0}
    for seed in range(150):
        rng = np.random.default_rng(seed)
        graph = random_graph(rng, ranks=3, events=12, wildcards=0.15 * (seed % 2), fan=4, cpus=1)
        problems = graph.check(eager_bytes=40)
        ended = ends(graph, 40)
        if any(p.severity == ERROR for p in problems):
            assert not ended, seed
            sure[False] += 1
        elif (
            not any(p.kind in ("circular", "ambiguous", "unexamined") for p in problems)
            and not ((graph.peer == ANY_SOURCE) | (graph.tag == ANY_TAG)).any()
        ):
            assert ended, seed
            sure[True] += 1
    assert min(sure.values()) > 10
