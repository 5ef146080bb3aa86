"""The GOAL kernels against plain Python, small enough to run uncompiled too."""

from __future__ import annotations

import numpy as np
import pytest

from kernels.goal import order
from tests.reference import goal as reference
from tests.reference.ordering import cycles, longest_chains, waits_for
from workbench.errors import ParseError
from workbench.programs.check import _levels
from workbench.programs.goal import read_goal, write_goal
from workbench.programs.goal_text import _Arrays
from workbench.programs.graph import (
    ANY_SOURCE,
    ANY_TAG,
    CALC,
    RECV,
    SEND,
    Dependents,
    ExecutionGraph,
)
from workbench.programs.graph_arrays import awaited, dependents_of


def random_graph(rng: np.random.Generator, *, forward: bool) -> ExecutionGraph:
    """Return a graph of up to 4 ranks; where `forward`, dependencies may point anywhere."""
    starts = np.cumsum([0, *rng.integers(0, 12, rng.integers(1, 5))])
    ops = []
    for _ in range(starts[-1]):
        kind = int(rng.integers(SEND, CALC + 1))
        size = int(rng.integers(0, 10 ** int(rng.integers(1, 19))))
        peer = int(rng.integers(0, 9)) if rng.random() < 0.8 or kind == SEND else ANY_SOURCE
        tag = int(rng.integers(0, 2**32)) if rng.random() < 0.8 else ANY_TAG
        cpu, nic = (int(n) for n in rng.integers(0, 256, 2) * (rng.random(2) < 0.3))
        message = kind != CALC
        ops.append((kind, size, peer * message, tag * message, cpu, nic * message))
    lists: list[list[tuple[int, int]]] = [[], []]
    for begin, end in zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True):
        for pairs in lists:
            for _ in range(int(rng.integers(0, 10)) if end > begin else 0):
                before, after = rng.integers(begin, end, 2).tolist()
                if forward or before < after:
                    pairs.append((after, before))
    return reference.graph(starts, ops, *lists)


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("forward", [False, True])
def test_text_and_binary_say_what_the_graph_says(seed: int, forward: bool) -> None:
    graph = random_graph(np.random.default_rng(seed), forward=forward)
    text = write_goal(graph)
    assert reference.read(text) == graph
    assert read_goal(text) == graph
    assert read_goal(write_goal(graph, binary=True)) == graph


@pytest.mark.parametrize(
    "text",
    [
        "num_ranks 1 rank 0 { calc 5 cpu 3\n/* a\nb */ // c\nl1 :send5bto0tag-1cpu1nic2\r\n} \n//",
        "num_ranks 1\nrank 0 {\nrequires: calc 1\nrequires requires requires\n}",
        "num_ranks 1\nrank 0 {\nl1: calc 9223372036854775806\nl1 irequires l1\n}\n",
        "num_ranks 1\nrank 0 {\nl1: recv 5b from -1 nic 255\nl1: calc 7\nl1requires l1\n}\n",
        "num_ranks 2\nrank 0 {\nl1: calc 1\n}\nrank 1 {\nl2: calc 1\nl2 requires l1\n}\n",
        "num_ranks 1\nrank 0 {\ncalc 9223372036854775807\n}\n",
        "num_ranks 1\nrank 0 {\nsend 5b to -1\n}\n",
        "num_ranks 1\nrank 0 {\ncalc 5 nic 1\n}\n",
        "num_ranks 1\nrank 0 {\nsend 5b to 0 cpu 1 tag 2\n}\n",
        "num_ranks 1\nrank 0 {\n/* *",
        "num_ranks 1\nrank 0 {\r}",
    ],
)
def test_a_text_is_read_as_by_the_grammar(text: str) -> None:
    try:
        expected = reference.read(text)
    except reference.Wrong:
        with pytest.raises(ParseError):
            read_goal(text)
    else:
        assert read_goal(text) == expected


def test_arrays_that_are_full_grow_and_nothing_is_read_twice(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rng = np.random.default_rng(0)
    lines, ranks = [], 100
    for rank in range(ranks):
        lines.append(f"rank {rank} {{")
        for op in range(40):
            lines += ["// words", f"some_long_label_{op}: calc {op}"]
            if op:
                lines.append(f"some_long_label_{op} requires some_long_label_{rng.integers(op)}")
        lines += ["some_long_label_3: calc 99", "}"]
    text = "\n".join([f"num_ranks {ranks}", *lines])
    grown = set()
    grow = _Arrays.grow
    monkeypatch.setattr(_Arrays, "grow", lambda a, status: (grown.add(status), grow(a, status)))
    graph = read_goal(text)
    assert graph == reference.read(text)
    assert len(grown) >= 3
    assert graph.notes[0].startswith("a label is defined again in line 122, 244, 366 and 97 more")


@pytest.mark.parametrize("seed", range(20))
def test_levels_are_the_longest_chains_and_what_is_left_is_on_or_behind_a_cycle(seed: int) -> None:
    graph = random_graph(np.random.default_rng(seed), forward=seed % 2 == 0)
    level, blocked = _levels(graph, dependents_of(graph))
    chains = longest_chains(graph)
    assert {op for op in range(graph.num_ops) if blocked[op]} == {
        op for op, chain in enumerate(chains) if chain is None
    }
    assert all(level[op] == chain for op, chain in enumerate(chains) if chain is not None)


@pytest.mark.parametrize("seed", range(20))
def test_pairs_are_open_where_no_chain_joins_them(seed: int) -> None:
    graph = random_graph(np.random.default_rng(seed), forward=False)
    waiting = dependents_of(graph)
    level, _ = _levels(graph, waiting)
    needs = awaited(waiting)
    pairs = [(a, b) for a in range(graph.num_ops) for b in range(graph.num_ops) if a != b]
    first, second = np.array(pairs, np.int64).reshape(-1, 2).T.copy()
    seen, answer = np.zeros(graph.num_ops, np.int32), np.zeros(len(pairs), np.uint8)
    stack = np.empty(64, np.int32)
    order.ordered(first, second, level, *needs, seen, stack, 10**6, answer)
    expected = [order.ORDERED if waits_for(graph, b, a) else order.OPEN for a, b in pairs]
    assert answer.tolist() == expected
    few = np.zeros(len(pairs), np.uint8)
    seen[:] = 0
    order.ordered(first, second, level, *needs, seen, np.empty(2, np.int32), 10**6, few)
    assert all(a in (b, order.UNKNOWN) for a, b in zip(few.tolist(), expected, strict=True))


def test_a_cycle_is_named_in_the_order_of_waiting() -> None:
    graph = random_graph(np.random.default_rng(4), forward=True)
    named = [p for p in graph.check() if p.kind == "cycle"]
    assert len(named) > 0
    assert {p.rank for p in named} == {int(graph.rank_of(c[0])) for c in cycles(graph)}


def test_dependents_keep_the_order_of_their_lines() -> None:
    graph = read_goal(
        "num_ranks 1\nrank 0 {\na: calc 1\nb: calc 1\nc: calc 1\n"
        "c requires a\nb requires a\nc requires a\nb irequires a\nc requires b\n}\n"
    )
    assert graph.requires == Dependents.from_pairs([2, 1, 2, 2], [0, 0, 0, 1], 3)
    assert graph.requires.of(0).tolist() == [2, 1, 2]
    assert graph.irequires.of(0).tolist() == [1]
    assert graph.line.tolist() == [3, 4, 5]
    assert graph.kind.tolist() == [CALC] * 3
    assert RECV not in graph.kind
