"""A user's own traffic from CSV: a matrix or a line for each pair, and what is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st

from tests.cases import for_each
from workbench.errors import ParameterError, ParseError
from workbench.topology import throughput, torus
from workbench.topology.demand import read_demand
from workbench.topology.program_traffic import matrix_traffic


@given(st.integers(2, 6), st.integers(0, 2**32 - 1), st.sampled_from(",;\t"))
def test_a_matrix_and_its_pairs_are_the_same_traffic(n: int, seed: int, separator: str) -> None:
    rng = np.random.default_rng(seed)
    matrix = np.round(rng.uniform(0.5, 9, (n, n)) * (rng.random((n, n)) < 0.7), 3)
    matrix[0, 1], matrix[n - 1, n - 2] = 1.5, 2.5
    made = torus((n,))
    expected = matrix_traffic(made, matrix).between_hosts()
    rows = "\n".join(separator.join(map(str, row)) for row in matrix.tolist())
    if separator != ",":
        rows = rows.replace(".", ",")
    np.testing.assert_allclose(read_demand(rows.encode()).on(made).between_hosts(), expected)
    pairs = "".join(f"{s},{v},{t}\n" for (s, t), v in np.ndenumerate(matrix) if v)
    listed = read_demand(f"# mine\nsource,bytes,target\n\n{pairs}".encode(), name="mine")
    np.testing.assert_allclose(listed.on(made).between_hosts(), expected)
    assert listed.on(made).name == "mine"
    assert expected.sum(axis=0).max() <= 1 + 1e-12
    assert max(expected.sum(axis=0).max(), expected.sum(axis=1).max()) == pytest.approx(1)


def test_pairs_need_no_header_and_a_network_may_be_larger(tmp_path: Path) -> None:
    path = tmp_path / "mine.csv"
    path.write_text("0,1,4\n1,2,2\n2,0,4\n2,1,1\n")
    demand = read_demand(path)
    assert (demand.name, demand.hosts) == ("mine.csv", 3)
    sent = demand.on(torus((4, 4)))
    assert sent.between_hosts()[0, 1] == pytest.approx(4 / 5)
    assert throughput(sent.topology, sent).upper <= 1
    with pytest.raises(ParameterError, match="between 3 hosts; torus 2 has 2"):
        demand.on(torus((2,)))


@for_each(
    "text, said",
    [
        ("", "the file is empty"),
        ("1,2\n3\n", ":2: each row of a matrix must have as many columns as the first, 2; got 1"),
        ("1,2\n3,x\n", ":2: a weight must be a number of at least 0; got 'x'"),
        ("1,2\n\n-3,1\n", ":3: a weight must be .* got '-3'"),
        ("1,nan\n2,1\n", ":1: a weight must be"),
        ("0,1\n2,0\n3,3\n", ":3: .* got 3 rows of 2 columns: for pairs give the header"),
        ("src,dst\n0,1\n", ":1: the header must be src,dst,weight; got src,dst"),
        ("src,dst,weight\n0,1,2\n0,1\n", ":3: a line must have src, dst and weight; got 2"),
        ("src,dst,weight\n0,b,2\n", ":2: dst must be the number of a host, 0 to .* got 'b'"),
        ("src,dst,weight\n-1,0,2\n", ":2: src must be"),
        ("src,dst,weight\n", "some host must send to another one"),
        ("5,0\n0,7\n", "some host must send to another one; none does"),
    ],
)
def test_what_is_wrong_is_reported_with_its_line(text: str, said: str) -> None:
    with pytest.raises(ParseError, match=said):
        read_demand(text.encode(), name="mine.csv")


def test_a_picture_is_no_traffic() -> None:
    with pytest.raises(ParseError, match="must be CSV, as UTF-8 text"):
        read_demand(b"\x89PNG\r\n\x1a\n\xff\xfe")


@given(st.binary(max_size=80))
def test_any_bytes_are_read_or_refused(content: bytes) -> None:
    try:
        read_demand(content)
    except ParseError as error:
        assert str(error)


@for_each(
    "text, sent, note",
    [
        (
            "0,1,4\n1,2,2\n2,1,3\n2,0",
            {(0, 1): 4, (1, 2): 2, (2, 1): 3},
            "4: the text ends",
        ),
        ("src,dst,weight\r\n0,1,4\r\n1,0,", {(0, 1): 4}, "3: the text ends in the middle"),
        (
            "0;2\n3",
            {(0, 1): 2},
            "this row; left out: host 1 sends",
        ),
        ("0 ,1,2\n3,0,4\n5,6,", {(0, 1): 1, (0, 2): 2, (1, 0): 3, (1, 2): 4}, ": host 2 sends"),
    ],
)
def test_a_last_row_that_is_cut_is_left_out(
    text: str, sent: dict[tuple[int, int], float], note: str
) -> None:
    found = read_demand(text.encode(), name="mine.csv")
    pairs = zip(found.sender.tolist(), found.receiver.tolist(), strict=True)
    assert dict(zip(pairs, found.weight.tolist(), strict=True)) == sent
    assert note in found.notes[0]
