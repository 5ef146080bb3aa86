"""GOAL text: what each part of the grammar means, and what an error says."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.cases import for_each
from workbench.errors import ParameterError, ParseError
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

TEXT = """\
num_ranks 2

rank 0 {
l1: calc 100
l2: send 8b to 1 tag 5
l2 requires l1
l3: recv 4b from -1 tag -1 cpu 1 nic 2
l3 irequires l2
}

rank 1 {
l1: recv 8b from 0 tag 5
l2: send 4b to 0 tag 4294967294
l2 requires l1
}
"""


def test_each_part_of_an_operation_is_read() -> None:
    graph = read_goal(TEXT)
    assert graph.rank_start.tolist() == [0, 3, 5]
    assert graph.kind.tolist() == [CALC, SEND, RECV, RECV, SEND]
    assert graph.size.tolist() == [100, 8, 4, 8, 4]
    assert graph.peer.tolist() == [0, 1, ANY_SOURCE, 0, 0]
    assert graph.tag.tolist() == [0, 5, ANY_TAG, 5, 2**32 - 2]
    assert graph.cpu.tolist() == [0, 0, 1, 0, 0]
    assert graph.nic.tolist() == [0, 0, 2, 0, 0]
    assert graph.line is not None
    assert graph.line.tolist() == [4, 5, 7, 12, 13]
    assert graph.requires.pairs()[0].tolist() == [1, 4]
    assert graph.irequires.pairs()[0].tolist() == [2]
    assert {name: getattr(graph, name).dtype.name for name in ("size", "peer", "tag", "line")} == {
        "size": "int64",
        "peer": "int32",
        "tag": "uint32",
        "line": "int32",
    }


def test_the_text_is_canonical() -> None:
    assert write_goal(read_goal(TEXT)) == TEXT
    loose = "num_ranks 1 rank 0{calc 5 cpu 0\n b :calc 6\n\t b requires b\r\n/* x */ }"
    assert write_goal(read_goal(loose.encode())) == (
        "num_ranks 1\n\nrank 0 {\nl1: calc 5\nl2: calc 6\nl2 requires l2\n}\n"
    )


def test_where_the_order_of_dependents_asks_for_it_dependencies_stand_at_the_end() -> None:
    text = (
        "num_ranks 1\n\nrank 0 {\nl1: calc 1\nl2: calc 2\nl3: calc 3\n"
        "l3 requires l1\nl2 requires l1\nl1 irequires l3\n}\n"
    )
    graph = read_goal(text)
    assert graph.requires.of(0).tolist() == [2, 1]
    assert write_goal(graph) == text


@for_each(
    "text, line, words",
    [
        ("", 1, 'the first item must be "num_ranks"'),
        ("rank 0 {\n}\n", 1, 'the first item must be "num_ranks" and a number; got "rank"'),
        ("num_ranks 0\n", 1, "num_ranks must be 1 to 2147483647"),
        ("num_ranks 99999999999999999999\n", 1, "num_ranks must be 1 to"),
        ("num_ranks x\n", 1, 'expected an integer; got "x"'),
        ("num_ranks 3\nrank 0 {\n}\n\n", 5, "too few ranks: num_ranks says 3, the text ends after"),
        ("num_ranks 1\nrank 0 {\n}\nrank 1 {\n}\n", 4, "too many ranks: num_ranks says 1"),
        ("num_ranks 2\nrank 1 {\n}\n", 2, 'expected rank 0, got "1"'),
        ("num_ranks 2\nrank 0 {\n}\nrank 0 {\n}", 4, 'expected rank 1, got "0"'),
        ("num_ranks 1\nrank 0\n{\n}\n", 2, 'a "{" must follow the number of the rank'),
        ("num_ranks 1\ncalc 5\n", 2, 'only "rank" and its number are allowed; got "calc"'),
        ("num_ranks 1\nrank 0 {\n}\nx\n", 4, "nothing may follow the last rank"),
        ("num_ranks 1\nrank 0 {\ncalc 5\n", 4, 'rank 0 must end with "}" first; got the end of th'),
        ("num_ranks 2\nrank 0 {\nrank 1 {\n", 3, 'rank 0 must end with "}" first; got "rank"'),
        ("num_ranks 1\nrank 0 {\n/* a\nb\n", 3, 'a comment must end with "*/"; got "/*"'),
        ("num_ranks 1\nrank 0 {\n\x00\n}\n", 3, r'a label or "}"; got "\x00"'),
        ("num_ranks 1\nrank 0 {\nnum_ranks 1\n}", 3, "an operation, a dependency, a label"),
        (
            "num_ranks 1\nrank 0 {\ncalc\n}",
            3,
            "expected an integer; got the end of the line",
        ),
        ("num_ranks 1\nrank 0 {\ncalc -1\n}", 3, 'expected an integer; got "-1"'),
        ("num_ranks 1\nrank 0 {\ncalc 9223372036854775807\n}", 3, "must be below 9223372036854775"),
        ("num_ranks 1\nrank 0 {\ncalc 5 tag 1\n}", 3, 'only "cpu" or the line\'s end may follow'),
        ("num_ranks 1\nrank 0 {\ncalc 5 cpu 256\n}", 3, "a cpu must be 0 to 255"),
        ("num_ranks 1\nrank 0 {\ncalc 5 cpu 1 nic 1\n}", 3, "the line must end here"),
        ("num_ranks 1\nrank 0 {\nsend 5 to 1\n}", 3, 'a "b" must follow the size; got "to"'),
        (
            "num_ranks 1\nrank 0 {\nsend 5b from 1\n}",
            3,
            '"to" and a rank must follow',
        ),
        (
            "num_ranks 1\nrank 0 {\nrecv 5b to 1\n}",
            3,
            '"from" and a rank must follow',
        ),
        ("num_ranks 1\nrank 0 {\nsend 5b to -1\n}", 3, "expected a rank"),
        ("num_ranks 1\nrank 0 {\nsend 5b to 2147483648\n}", 3, "ranks must be at most 2147483647"),
        ("num_ranks 1\nrank 0 {\nsend 5b to 1 x\n}", 3, 'after the peer only "tag", "cpu", "nic"'),
        ("num_ranks 1\nrank 0 {\nsend 5b to 1 tag x\n}", 3, "expected a tag, or -1"),
        ("num_ranks 1\nrank 0 {\nsend 5b to 1 tag 4294967296\n}", 3, "tags must be at most 429496"),
        ("num_ranks 1\nrank 0 {\nsend 5b to 1 tag 2 tag 3\n}", 3, 'after the tag only "cpu", "nic'),
        ("num_ranks 1\nrank 0 {\nsend 5b to 1 nic 1 cpu 1\n}", 3, "the line must end here"),
        ("num_ranks 1\nrank 0 {\nsend 5b to 1 cpu 1 tag 1\n}", 3, 'after the cpu only "nic"'),
        ("num_ranks 1\nrank 0 {\nsend 5b to 1 nic 300\n}", 3, "a nic must be 0 to 255"),
        ("num_ranks 1\nrank 0 {\na b\n}", 3, 'after a label ":", "requires" or "irequires"'),
        ("num_ranks 1\nrank 0 {\na: wait 5\n}", 3, '"send", "recv" or "calc" must follow'),
        ("num_ranks 1\nrank 0 {\na: calc 5\na requires 7\n}", 4, "expected a label"),
        (
            "num_ranks 1\nrank 0 {\na: calc 5\na requires b\nb: calc 1\n}",
            4,
            "above it in the same ran",
        ),
        ("num_ranks 1\nrank 0 {\na: calc 5\nb requires a\n}", 4, 'same rank; got "b"'),
        ("num_ranks 1\nrank 0 {\na: calc 5\na requires a // x\n}", 4, 'must end here; got "//"'),
        ("num_ranks 1\nrank 0 {\na: calc 5 // x\n}", 3, 'may follow; got "//"'),
    ],
)
def test_an_error_says_what_must_hold_and_in_which_line(text: str, line: int, words: str) -> None:
    with pytest.raises(ParseError) as caught:
        read_goal(text.encode())
    assert caught.value.line == line
    assert words in str(caught.value)


def test_a_label_that_is_defined_again_keeps_its_first_meaning_and_is_noted() -> None:
    graph = read_goal("num_ranks 1\nrank 0 {\na: calc 1\na: calc 2\nb: calc 3\nb requires a\n}\n")
    assert graph.requires.of(0).tolist() == [2]
    assert graph.notes == (
        "a label is defined again in line 4; dependencies refer to the first operation of that "
        "name",
    )


def test_labels_belong_to_their_rank() -> None:
    text = "num_ranks 2\nrank 0 {\na: calc 1\n}\nrank 1 {\na: calc 2\na requires a\n}\n"
    assert read_goal(text).requires.of(1).tolist() == [1]
    with pytest.raises(ParseError, match="labels defined above it in the same rank"):
        read_goal(text.replace("a: calc 2", "b: calc 2"))


def test_files_are_read_and_written_and_replaced_at_once(tmp_path: Path) -> None:
    path = tmp_path / "a.goal"
    graph = read_goal(TEXT)
    assert write_goal(graph, path) == path
    assert path.read_text() == TEXT
    assert read_goal(path) == read_goal(str(path)) == graph
    assert read_goal(path).source == "a.goal"
    path.chmod(0o640)
    write_goal(graph.select([0]), path)
    assert path.stat().st_mode & 0o777 == 0o640
    assert read_goal(path).num_ranks == 1
    assert [p.name for p in tmp_path.iterdir()] == ["a.goal"]


def test_a_file_that_cannot_be_written_is_left_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.goal"
    path.write_text("before")

    def fail(graph: ExecutionGraph):  # a generator that breaks while the file is being written
        yield np.frombuffer(b"half", np.uint8)
        raise OSError("disk full")

    monkeypatch.setattr("workbench.programs.goal.text_chunks", fail)
    with pytest.raises(OSError, match="disk full"):
        write_goal(read_goal(TEXT), path)
    assert path.read_text() == "before"
    assert [p.name for p in tmp_path.iterdir()] == ["a.goal"]


@for_each("name", ["missing.goal", "", "\0", "."])
def test_a_file_that_cannot_be_read_is_an_error_with_a_message(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ParseError, match="cannot read it"):
        read_goal(name)


def test_an_empty_file_is_refused_and_a_byte_order_mark_is_not(tmp_path: Path) -> None:
    path = tmp_path / "a.goal"
    path.write_bytes(b"")
    with pytest.raises(ParseError, match="num_ranks"):
        read_goal(path)
    path.write_bytes(b"\xef\xbb\xbf" + TEXT.encode())
    assert read_goal(path) == read_goal(TEXT)


def edited(**columns: object) -> ExecutionGraph:
    """Return the example with some columns put in the place of its own."""
    graph = read_goal(TEXT)
    names = ("rank_start", "kind", "size", "peer", "tag", "cpu", "nic", "requires", "irequires")
    return ExecutionGraph(**{name: getattr(graph, name) for name in names} | columns)


@for_each(
    "columns, words",
    [
        ({"kind": np.array([9, 1, 2, 2, 1], np.uint8)}, "a kind is 1"),
        ({"size": np.array([1, -1, 2, 2, 1])}, "a size is not negative; operation 1"),
        ({"peer": np.array([0, -1, 1, 0, 0], np.int32)}, "a send goes to a rank"),
        ({"peer": np.array([0, 1, -2, 0, 0], np.int32)}, "a receive comes from a rank"),
        ({"tag": np.array([1, 1, 2, 2, 1], np.uint32)}, "a computation has no peer"),
        ({"requires": Dependents.from_pairs([4], [0], 5)}, "dependencies must stay within a rank"),
        ({"requires": Dependents(np.zeros(2, np.int32), np.zeros(0, np.int32))}, "from_pairs"),
        ({"irequires": Dependents(np.array([0, 1] * 3, np.int32), np.ones(1, np.int32))}, "pairs"),
    ],
)
@for_each("binary", [False, True])
def test_a_graph_that_goal_cannot_say_is_refused(columns, words: str, binary: bool) -> None:
    with pytest.raises(ParameterError, match=words):
        write_goal(edited(**columns), binary=binary)


def test_many_ranks_are_written_in_several_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = read_goal(TEXT)
    monkeypatch.setattr("workbench.programs.goal_text.CHUNK_BYTES", 100)
    monkeypatch.setattr("workbench.programs.goal_binary.CHUNK_BYTES", 100)
    whole = graph.select([0, 1])
    assert write_goal(whole) == TEXT
    assert read_goal(write_goal(whole, binary=True)) == graph


def test_arrays_of_other_types_are_written_as_what_they_say() -> None:
    graph = read_goal(TEXT)
    wide = {name: getattr(graph, name).astype(np.int64) for name in ("kind", "peer", "tag", "cpu")}
    assert write_goal(edited(**wide)) == TEXT
    assert read_goal(write_goal(edited(**wide), binary=True)) == graph
    spaced = np.zeros(10, np.int64)
    spaced[::2] = graph.size
    assert write_goal(edited(size=spaced[::2])) == TEXT


def test_a_link_is_followed_and_a_missing_folder_is_named(tmp_path: Path) -> None:
    graph, link = read_goal(TEXT), tmp_path / "link.goal"
    link.symlink_to(tmp_path / "real.goal")
    write_goal(graph, link)
    assert link.is_symlink()
    assert (tmp_path / "real.goal").read_text() == TEXT
    with pytest.raises(FileNotFoundError, match="nowhere'"):
        write_goal(graph, tmp_path / "nowhere" / "a.goal")


def test_something_that_is_no_file_is_written_to() -> None:
    assert write_goal(read_goal(TEXT), "/dev/null") == Path("/dev/null")
    assert not Path("/dev/null").is_file()
