"""The execution graph as a value: its checks, its counts, and how it names an operation."""

from __future__ import annotations

import numpy as np
import pytest

from tests.cases import for_each
from workbench.errors import ParameterError
from workbench.programs.collectives import schedule
from workbench.programs.graph import ANY_TAG, Dependents, ExecutionGraph

TEXT = """num_ranks 2
rank 0 {
a: calc 100
b: send 8b to 1 tag 5
b requires a
c: recv 4b from -1 tag -1 cpu 1 nic 2
c irequires b
}
rank 1 {
recv 8b from 0 tag 5
send 4b to 0 tag 9
}
"""


def columns(**changes: object) -> dict[str, object]:
    """Return the columns of a small graph, some of them changed."""
    graph = ExecutionGraph.from_goal(TEXT)
    names = ("rank_start", "kind", "size", "peer", "tag", "cpu", "nic", "requires", "irequires")
    return {name: getattr(graph, name) for name in names} | changes


def test_a_graph_counts_what_it_holds() -> None:
    graph = ExecutionGraph.from_goal(TEXT)
    assert graph.summary() == {
        "source": "text",
        "ranks": 2,
        "operations": 5,
        "sends": 2,
        "receives": 2,
        "computations": 1,
        "bytes_sent": 12,
        "largest_message_bytes": 8,
        "compute_ns": 100,
        "requires": 1,
        "irequires": 1,
        "cpus": 2,
        "nics": 3,
    }
    assert repr(graph) == (
        "ExecutionGraph(text: 2 ranks, 5 operations (2 send, 2 recv, 1 calc), 2 dependencies)"
    )
    assert graph.in_degree().tolist() == [0, 1, 1, 0, 0]
    assert list(graph.ops_of(1)) == [3, 4]
    assert graph.rank_of([0, 2, 3, 4]).tolist() == [0, 0, 1, 1]


def test_an_operation_is_named_by_rank_and_line_or_number() -> None:
    graph = ExecutionGraph.from_goal(TEXT)
    assert graph.describe(0) == "rank 0, line 3: calc 100 ns"
    assert graph.describe(2) == "rank 0, line 6: recv 4 B from any tag any"
    assert ExecutionGraph(**columns()).describe(4) == "rank 1, op 1: send 4 B to 0 tag 9"


def test_ranks_without_operations_are_ranks() -> None:
    graph = ExecutionGraph.from_goal("num_ranks 3\nrank 0 {\n}\nrank 1 {\ncalc 1\n}\nrank 2 {\n}\n")
    assert graph.rank_of([0]).tolist() == [1]
    assert graph.num_cpus == graph.num_nics == 1
    empty = ExecutionGraph.from_goal("num_ranks 1\nrank 0 {\n}\n")
    assert empty.summary()["largest_message_bytes"] == 0


def test_graphs_are_equal_when_operations_and_dependencies_are() -> None:
    graph = ExecutionGraph.from_goal(TEXT)
    assert graph == ExecutionGraph(**columns(), source="elsewhere")
    assert graph != ExecutionGraph(**columns(size=np.zeros(5, np.int64)))
    assert graph != ExecutionGraph(**columns(irequires=Dependents.from_pairs([], [], 5)))
    assert graph != "graph"
    assert graph.requires != "dependents"


@for_each(
    "changes, words",
    [
        ({"tag": np.zeros(3, np.uint32)}, "tag must have one entry for each of 5 operations"),
        ({"rank_start": np.array([0, 6, 5])}, "rank_start must ascend"),
        ({"rank_start": np.array([0, 4])}, "to the number of operations, 5"),
        ({"rank_start": np.array([0])}, "rank_start"),
        ({"size": np.full(5, 1.5)}, "size must hold int64; got float64 with values that do not"),
        ({"peer": np.full(5, 2**40)}, "peer must hold int32; got int64 with values that do not"),
    ],
)
def test_columns_must_agree(changes: dict[str, object], words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        ExecutionGraph(**columns(**changes))


def test_arrays_are_as_kernels_take_them_whoever_made_them() -> None:
    """For a read-only or strided one numba compiles each kernel again, which takes seconds."""
    strided = np.arange(10, dtype=np.int64)[::2]
    read_only = np.zeros(5, np.uint8)
    read_only.flags.writeable = False
    graph = ExecutionGraph(**columns(size=strided, cpu=read_only, nic=np.zeros(5, np.int64)))
    assert graph.size.tolist() == [0, 2, 4, 6, 8]
    for made in (graph, schedule("bcast", "linear", 8, size=1024).graph()):
        arrays = [getattr(made, name) for name in columns() if not name.endswith("requires")]
        arrays += [made.requires.start, made.requires.ops, made.irequires.start]
        assert all(array.flags.writeable and array.flags.c_contiguous for array in arrays)
        assert {made.size.dtype, made.rank_start.dtype} == {np.dtype(np.int64)}
        assert {made.cpu.dtype, made.nic.dtype} == {np.dtype(np.uint8)}


@for_each("rank", [-1, 2])
def test_a_rank_must_exist(rank: int) -> None:
    with pytest.raises(ParameterError, match="rank must be 0 to 1"):
        ExecutionGraph.from_goal(TEXT).ops_of(rank)


def test_pairs_keep_their_order_for_each_operation() -> None:
    dependents = Dependents.from_pairs([3, 1, 2, 3], [0, 0, 2, 0], 4)
    assert dependents.of(0).tolist() == [3, 1, 3]
    assert len(dependents) == 4
    assert Dependents.from_pairs(*dependents.pairs(), 4) == dependents
    assert dependents != Dependents.from_pairs([1, 3, 2, 3], [0, 0, 2, 0], 4)


@for_each("pair", [(4, 0), (0, 4), (-1, 0)])
def test_pairs_must_join_operations_that_exist(pair: tuple[int, int]) -> None:
    with pytest.raises(ParameterError, match="must join operations 0 to 3"):
        Dependents.from_pairs([pair[0]], [pair[1]], 4)


def test_text_and_binary_come_from_the_graph_itself(tmp_path) -> None:
    graph = ExecutionGraph.from_goal(TEXT)
    assert ExecutionGraph.from_goal(graph.to_goal()) == graph
    assert ExecutionGraph.from_goal(graph.to_goal(binary=True)) == graph
    assert graph.to_goal(tmp_path / "a.bin", binary=True).read_bytes() == graph.to_goal(binary=True)
    assert graph.tag[2] == ANY_TAG
