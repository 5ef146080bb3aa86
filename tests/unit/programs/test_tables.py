"""Programs and graphs as tables, as networkx has them, and as a figure."""

from __future__ import annotations

import networkx
import numpy as np
import pandas as pd
import pytest

from tests.unit.programs.test_program import small
from workbench import programs
from workbench.errors import ParameterError
from workbench.programs import CALC, SEND, ExecutionGraph

GOAL = """num_ranks 2
rank 0 {
l1: calc 100
l2: send 8b to 1 tag 7
l3: send 16b to 1 tag 7
l2 requires l1
l3 irequires l2
}
rank 1 {
m1: recv 8b from 0 tag 7
m2: recv 16b from 0 tag 7
m2 requires m1
}
"""
WILD = """num_ranks 2
rank 0 {
l1: send 8b to 1 tag 7
l2: recv 8b from 1
}
rank 1 {
m1: recv 8b from -1
m2: send 8b to 0
}
"""


def test_a_graph_is_a_row_an_operation_with_units_in_the_names() -> None:
    graph = ExecutionGraph.from_goal(GOAL)
    frame = graph.to_frame()
    assert len(graph) == len(frame) == 5
    assert frame["kind"].tolist() == ["calc", "send", "send", "recv", "recv"]
    assert frame["line"].tolist() == [3, 4, 5, 10, 11]
    assert frame["rank"].tolist() == [0, 0, 0, 1, 1]
    assert frame["compute_ns"].dropna().tolist() == [100]
    assert frame["size_bytes"].tolist() == [pd.NA, 8, 16, 8, 16]
    assert frame["waits_for"].tolist() == [0, 1, 1, 0, 1]
    assert frame["tag"].dropna().tolist() == [7, 7, 7, 7]


def test_a_program_is_a_row_a_call() -> None:
    program = small()
    frame = program.to_frame()
    assert len(program) == len(frame) == program.num_calls
    assert frame["size_bytes"].sum() == 10 + 20 + 10 + 20 + 2 * 8
    assert frame["compute_before_ns"].sum() == 12
    anyone = frame[frame["kind"] == "irecv"].iloc[0]
    assert (anyone["peer"], anyone["tag"], anyone["line"]) == (-1, -1, 5)
    assert frame["operation"].dropna().tolist() == ["bcast", "bcast"]
    assert frame.loc[frame["kind"] == "wait", ["peer", "tag", "request"]].isna().all(axis=None)


def test_networkx_has_a_node_an_operation_and_an_edge_to_what_waits() -> None:
    graph = ExecutionGraph.from_goal(GOAL)
    made = graph.to_networkx()
    assert set(made.edges(data="kind")) == {
        (0, 1, "requires"),
        (1, 2, "irequires"),
        (3, 4, "requires"),
        (1, 3, "message"),
        (2, 4, "message"),
    }
    assert made.nodes[1] == {
        "rank": 0,
        "line": 4,
        "kind": "send",
        "size_bytes": 8,
        "peer": 1,
        "tag": 7,
        "cpu": 0,
        "nic": 0,
        "label": "rank 0, line 4: send 8 B to 1 tag 7",
    }
    assert "peer" not in made.nodes[0] and made.nodes[0]["compute_ns"] == 100
    assert all(
        type(value) in (int, str) for _, node in made.nodes(data=True) for value in node.values()
    )


def test_who_meets_whom_by_a_wildcard_is_left_open() -> None:
    made = ExecutionGraph.from_goal(WILD).to_networkx()
    assert list(made.edges(data="kind")) == [(3, 1, "message")]


def test_a_shipped_program_becomes_the_graph_that_is_replayed() -> None:
    program = programs.load("cg-8")
    graph = program.graph(allreduce="ring")
    made = program.to_networkx({"allreduce": "ring"})
    assert len(made) == len(graph) == graph.num_ops
    kinds = pd.Series([kind for *_, kind in made.edges(data="kind")]).value_counts()
    assert kinds["message"] == (graph.kind == SEND).sum()
    assert kinds.get("requires", 0) == len(graph.requires)
    assert networkx.is_directed_acyclic_graph(made)
    longest = graph.size[graph.kind == CALC].sum()
    assert sum(ns for _, ns in made.nodes(data="compute_ns", default=0)) == longest


def test_a_large_graph_is_refused_as_networkx_and_drawn_in_tiles() -> None:
    graph = programs.generate.halo(512, iterations=40, cells=8).graph()
    assert len(graph) > 100_000
    with pytest.raises(ParameterError, match=r"at most 100,000 operations .* graph.select\(range"):
        graph.to_networkx()
    assert len(graph.to_frame()) == len(graph)
    sources = [one for one in graph.plot().references() if hasattr(one, "data")]
    assert (
        0 < max(len(np.atleast_1d(one.data["x"])) for one in sources if "x" in one.data) <= 128**2
    )


def test_a_program_draws_its_collectives_as_messages() -> None:
    program = programs.load("cg-8")
    assert "cg-8" in program.plot().title.text
    trees, other = (
        program.plot({"allreduce": name}) for name in ("reduce-bcast", "recursive-doubling")
    )

    def tiles(fig: object) -> int:
        return max(len(r.data_source.data["x"]) for r in fig.renderers)  # type: ignore[attr-defined]

    assert tiles(trees) != tiles(other)
