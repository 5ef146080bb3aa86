"""LogGOPSim's binary: the layout byte by byte, files of other writers, and damaged ones."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from tests.cases import for_each
from workbench.errors import ParseError
from workbench.programs.goal import read_goal, write_goal
from workbench.programs.graph import ANY_SOURCE

TEXT = """\
num_ranks 2
rank 0 {
a: calc 100 cpu 3
b: send 8b to 1 tag 5 nic 2
b requires a
b irequires a
c: calc 7
c irequires b
c requires a
}
rank 1 {
recv 8b from -1 tag -1
}
"""


def record(degree, kind, peer, size, tag, cpu, nic, *lists) -> bytes:
    return struct.pack("<IbIQIBBIIII", degree, kind, peer, size, tag, cpu, nic, *lists)


def numbers(*values) -> bytes:
    return struct.pack(f"<{len(values)}I", *values)


def as_txt2bin_writes() -> bytes:
    """Return the example in the layout of LogGOPSim's ``txt2bin``, field by field."""
    first = numbers(3, 1, 0)
    first += record(0, 3, 0, 100, 0, 3, 0, 2, 0, 1, 2)
    first += record(2, 1, 1, 8, 5, 0, 2, 0, 3, 1, 3)
    first += record(2, 3, 0, 7, 0, 0, 0, 0, 4, 0, 4)
    first += numbers(1, 2, 1, 2)
    second = numbers(1, 1, 0) + record(0, 2, 2**32 - 1, 8, 2**32 - 1, 0, 0, 0, 0, 0, 0)
    begin = 4 + 2 + 2 * 16
    middle, end = begin + len(first), begin + len(first) + len(second)
    head = struct.pack("<QIBB4Q", 4223, 2, 3, 2, begin, middle, middle, end)
    return head + first + second


def test_the_layout_is_that_of_txt2bin(tmp_path: Path) -> None:
    graph = read_goal(TEXT)
    assert write_goal(graph, binary=True) == as_txt2bin_writes()
    path = write_goal(graph, tmp_path / "a.bin", binary=True)
    assert path.read_bytes() == as_txt2bin_writes()
    again = read_goal(path)
    assert again == graph
    assert again.notes == ()
    assert again.line is None
    assert again.peer[3] == ANY_SOURCE


def changed(old: bytes, new: bytes) -> bytes:
    """Return the example with some bytes, which must occur once, in the place of others."""
    content = as_txt2bin_writes()
    assert content.count(old) == 1
    return content.replace(old, new)


@for_each(
    "old, new, note",
    [
        (numbers(3, 1, 0), numbers(3, 1, 2), "the list of operations without dependencies"),
        (
            record(0, 3, 0, 100, 0, 3, 0, 2, 0, 1, 2),
            record(5, 3, 0, 100, 0, 3, 0, 2, 0, 1, 2),
            "1 operations state a wrong number of dependencies",
        ),
        (
            record(0, 3, 0, 100, 0, 3, 0, 2, 0, 1, 2),
            record(0, 3, 9, 100, 0, 3, 0, 2, 0, 1, 2),
            "1 computations have a peer, tag or nic",
        ),
        (struct.pack("<QIBB", 4223, 2, 3, 2), struct.pack("<QIBB", 4223, 2, 1, 2), "highest cpu"),
        (struct.pack("<QIBB", 4223, 2, 3, 2), struct.pack("<QIBB", 4223, 2, 3, 7), "highest nic"),
        (
            record(2, 3, 0, 7, 0, 0, 0, 0, 4, 0, 4),
            record(2, 3, 0, 7, 0, 0, 0, 0, 999, 0, 2**32 - 1),
            "",
        ),
    ],
)
def test_what_other_writers_do_otherwise_is_mended_and_noted(old, new, note: str) -> None:
    graph = read_goal(changed(old, new))
    assert graph == read_goal(TEXT)
    assert len(graph.notes) == bool(note)
    assert note in "".join(graph.notes)


@for_each(
    "content, words",
    [
        (changed(struct.pack("<Q", 4223), struct.pack("<Q", 2342)), "--save-mem"),
        (as_txt2bin_writes()[:8], "room for all in its table; it says 0"),
        (as_txt2bin_writes()[:-1], "rank 1 must lie within the file"),
        (as_txt2bin_writes()[:30], "it says 2; the file may be cut short"),
        (
            changed(struct.pack("<QIBB", 4223, 2, 3, 2), struct.pack("<QIBB", 4223, 0, 3, 2)),
            "says 0",
        ),
        (
            changed(struct.pack("<QIBB", 4223, 2, 3, 2), struct.pack("<QIBB", 4223, 2**31, 3, 2)),
            "says 2147483648",
        ),
        (changed(struct.pack("<Q", 38), struct.pack("<Q", 2**63)), "rank 0 must lie within"),
        (changed(numbers(3, 1, 0), numbers(2**32 - 1, 1, 0)), "rank 0 is too short"),
        (changed(numbers(3, 1, 0), numbers(3, 2**32 - 1, 0)), "rank 0 is too short"),
        (
            changed(
                record(2, 1, 1, 8, 5, 0, 2, 0, 3, 1, 3), record(2, 9, 1, 8, 5, 0, 2, 0, 3, 1, 3)
            ),
            "operation 1 of rank 0 must be of kind",
        ),
        (
            changed(
                record(2, 1, 1, 8, 5, 0, 2, 0, 3, 1, 3),
                record(2, 1, 1, 2**63, 5, 0, 2, 0, 3, 1, 3),
            ),
            "operation 1 of rank 0 must have a size below",
        ),
        (
            changed(
                record(2, 1, 1, 8, 5, 0, 2, 0, 3, 1, 3),
                record(2, 1, 2**31, 8, 5, 0, 2, 0, 3, 1, 3),
            ),
            "operation 1 of rank 0 must have a peer of at most",
        ),
        (
            changed(
                record(2, 1, 1, 8, 5, 0, 2, 0, 3, 1, 3),
                record(2, 1, 1, 8, 5, 0, 2, 0, 3, 1, 4),
            ),
            "operation 1 of rank 0 points outside its rank",
        ),
        (
            changed(
                record(2, 1, 1, 8, 5, 0, 2, 0, 3, 1, 3),
                record(2, 1, 1, 8, 5, 0, 2, 2, 0, 1, 3),
            ),
            "rank 0 has operations that share their lists",
        ),
        (changed(numbers(1, 2, 1, 2), numbers(1, 2, 1, 3)), "operation 1 of rank 0 is waited for"),
    ],
)
def test_a_damaged_file_is_refused_with_a_message(content: bytes, words: str) -> None:
    with pytest.raises(ParseError) as caught:
        read_goal(content)
    assert words in str(caught.value)


def test_many_ranks_may_not_be_one_and_the_same() -> None:
    ops = record(0, 3, 0, 1, 0, 0, 0, 0, 0, 0, 0) * 100
    rank = numbers(100, 0) + ops
    many = 1000
    begin = 4 + 2 + 16 * many
    content = struct.pack("<QIBB", 4223, many, 0, 0)
    content += struct.pack("<2Q", begin, begin + len(rank)) * many + rank
    with pytest.raises(ParseError, match="must not overlap"):
        read_goal(content)
