"""GOAL text and binary: what is written is read back, and any text is read as by the grammar."""

from __future__ import annotations

import numpy as np
from hypothesis import example, given, strategies as st

from tests.reference import goal as reference
from workbench.errors import ParseError, WorkbenchError
from workbench.programs.goal import read_goal, write_goal
from workbench.programs.graph import (
    ANY_SOURCE,
    ANY_TAG,
    CALC,
    RECV,
    SEND,
    Dependents,
    ExecutionGraph,
)

SIZES = st.integers(0, 2**63 - 2) | st.integers(0, 2000)
PEERS = st.integers(0, 2**31 - 1) | st.integers(0, 5)
TAGS = st.integers(0, ANY_TAG) | st.integers(0, 20)
BYTES = st.just(0) | st.integers(0, 255)
OPERATIONS = (
    st.tuples(st.just(SEND), SIZES, PEERS, TAGS, BYTES, BYTES)
    | st.tuples(st.just(RECV), SIZES, PEERS | st.just(ANY_SOURCE), TAGS, BYTES, BYTES)
    | st.tuples(st.just(CALC), SIZES, st.just(0), st.just(0), BYTES, st.just(0))
)


@st.composite
def graphs(draw: st.DrawFn) -> ExecutionGraph:
    """Draw any graph that GOAL can say: dependencies in any order, forward, doubled, cyclic."""
    ranks = draw(st.lists(st.lists(OPERATIONS, max_size=6), min_size=1, max_size=4))
    lists: list[list[tuple[int, int]]] = [[], []]
    starts = np.cumsum([0, *map(len, ranks)])
    for rank, ops in enumerate(ranks):
        if ops:
            numbers = st.integers(int(starts[rank]), int(starts[rank + 1]) - 1)
            for pairs in lists:
                pairs += draw(st.lists(st.tuples(numbers, numbers), max_size=8))
    return reference.graph(starts, [op for ops in ranks for op in ops], *lists)


@given(graphs())
def test_what_is_written_is_read_back(graph: ExecutionGraph) -> None:
    text = write_goal(graph)
    assert read_goal(text) == graph
    assert reference.read(text) == graph
    assert write_goal(read_goal(text)) == text
    binary = write_goal(graph, binary=True)
    assert read_goal(binary) == graph
    assert read_goal(binary).notes == ()
    assert write_goal(read_goal(binary), binary=True) == binary


@given(graphs(), st.data())
def test_a_text_cut_or_changed_anywhere_is_read_as_by_the_grammar(
    graph: ExecutionGraph, data: st.DataObject
) -> None:
    text = write_goal(graph)
    at = data.draw(st.integers(0, len(text)))
    end = data.draw(st.just(at) | st.integers(at, min(at + 9, len(text))) | st.just(len(text)))
    piece = data.draw(st.sampled_from(["", " ", "\t", "\r\n", "\n", "/*", "*/", "//", "-1", "}"]))
    agree(text[:at] + piece + text[end:])


KEYWORDS = ["num_ranks", "rank", "send", "recv", "calc", "requires", "irequires", "to", "from"]
OPTIONS = ["tag", "cpu", "nic", "b", "l1", "l2", "requires7", "x_", "3b", "é"]
NUMBERS = ["0", "1", "2", "255", "256", "-1", "4294967295", "4294967296", "9223372036854775807"]
MARKS = ["{", "}", ":", "//", "/*", "*/", "\n", "\r\n", "\r"]
WORDS = st.sampled_from([*KEYWORDS, *OPTIONS, *NUMBERS, *MARKS])
LINES = st.sampled_from(
    [
        "num_ranks 1\n",
        "num_ranks 2\n",
        "rank 0 {\n",
        "rank 1 {",
        "}\n",
        "l1: calc 5\n",
        " l1\t: send 5 b to 0 tag 7 cpu 1 nic 2 \r\n",
        "l2:recv 5bfrom-1tag-1\n",
        "recv 5b from 1 nic 3\n",
        "l1 requires l2\n",
        "l1 irequiresl2\n",
        "requires: calc 1\n",
        "requires requires requires\n",
        "calc 7 cpu 255 // no comment may stand here\n",
        "/* one\ntwo */",
        "// send\n",
    ]
)


@given(st.lists(LINES | WORDS.map(lambda word: f" {word} ") | WORDS, max_size=25).map("".join))
@example("num_ranks 1 rank 0{}")
@example("num_ranks 1\nrank 0 {\ncalc 1}")
@example("num_ranks 1\nrank 0 {\nl1:calc5\nl1:sendb\n}")
@example("num_ranks 1\nrank 0 {\nl1requires l1\n}")
@example("num_ranks 1\nrank 0 {\nl1: calc 1\nl1 requires l1 // x\n}")
@example("num_ranks 1\nrank 0 {\ncalc 1\n} }")
def test_any_pieces_are_read_as_by_the_grammar(text: str) -> None:
    agree(text)
    agree(f"num_ranks 1\nrank 0 {{\n{text}\n}}\n")


BLANKS = st.sampled_from(["", " ", "\t", "  "])
ENDS = st.sampled_from(["\n", "\r\n", " \n", "\n\n// words\n", "\n/* * /*/", "\n/* a\nb */ "])
LABELS = st.sampled_from(["a", "B_2", "requires", "irequires", "to", "tag", "cpu7", "a1"])
PARTS = st.one_of(
    st.tuples(LABELS, BLANKS, st.just(":"), BLANKS, st.sampled_from(["send5b to1", "calc 7cpu 3"])),
    st.tuples(st.sampled_from(["send", "recv"]), BLANKS, st.sampled_from(["5b to 0", "5b from-1"])),
    st.tuples(LABELS, st.just(" "), st.sampled_from(["requires", "irequires"]), BLANKS, LABELS),
    st.tuples(st.just("recv 1b from 0"), BLANKS, st.sampled_from(["tag-1", "nic 2", "cpu1nic1"])),
).map("".join)
DEFINED = "a:calc 1\nB_2: calc 2\nrequires : calc 3\nirequires:calc 4\nto:calc 5\ntag: calc 6\n"


@given(st.lists(st.tuples(BLANKS, PARTS, ENDS).map("".join), max_size=8).map("".join))
def test_items_are_read_as_by_the_grammar_however_they_are_spaced(body: str) -> None:
    agree(f"num_ranks 1\nrank 0 {{{body}}}")
    agree(f"num_ranks 2 rank 0{{ }} rank 1 {{\n{DEFINED}cpu7: calc 7\na1: calc 8\n{body}}}\n//")


@given(st.binary(max_size=200))
@example(b"\x7f\x10\0\0\0\0\0\0")
@example(b"\x26\x09\0\0\0\0\0\0")
def test_any_bytes_are_read_or_refused_with_a_message(content: bytes) -> None:
    for head in (b"", b"\x7f\x10\0\0\0\0\0\0", b"\x7f\x10\0\0\0\0\0\0\1\0\0\0\0\0"):
        try:
            graph = read_goal(head + content)
        except ParseError:
            continue
        try:
            graph.check()
            assert read_goal(write_goal(graph, binary=True)) == graph
        except WorkbenchError:
            raise AssertionError("a graph that was read must be checked and written") from None


def agree(text: str) -> None:
    """Check that the reader and the grammar say the same of a text."""
    try:
        expected = reference.read(text)
    except reference.Wrong:
        expected = None
    try:
        graph = read_goal(text.encode("latin-1"))
    except ParseError as error:
        assert expected is None, error
        assert 1 <= error.line <= text.count("\n") + 1
        return
    assert graph == expected
    assert isinstance(graph.requires, Dependents)
    if graph.line is not None and graph.num_ops:
        lines = text.split("\n")
        words = {SEND: "send", RECV: "recv", CALC: "calc"}
        for kind, line in zip(graph.kind.tolist(), graph.line.tolist(), strict=True):
            assert words[kind] in lines[line - 1]
