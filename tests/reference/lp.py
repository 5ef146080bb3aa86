"""LLAMP's linear program as its paper writes it: one PuLP expression for each vertex and edge.

Shen et al., LLAMP, Algorithm 1 and appendix B. Two things are not as Algorithm 1 reads literally:
latency is charged to the edge of a message only, not to one between a send and a receive of the
same rank; and a message's cost is charged also where a receive has no other predecessor.
"""

from __future__ import annotations

from dataclasses import dataclass
from graphlib import TopologicalSorter

import pulp

from tests.reference.llamp import Costs, match_in_order
from workbench.programs.graph import CALC, SEND, ExecutionGraph


@dataclass(frozen=True)
class Model:
    """The problem in µs, and the variables of it that are parameters: g in ns/B."""

    problem: pulp.LpProblem
    l: pulp.LpVariable  # noqa: E741 - the paper's letter
    g: pulp.LpVariable
    o: pulp.LpVariable

    def solve(self, solver: pulp.LpSolver | None = None) -> float:
        """Return T in µs; reduced costs are left in the variables."""
        self.problem.solve(solver or pulp.HiGHS(msg=False))
        assert pulp.LpStatus[self.problem.status] == "Optimal"
        return float(pulp.value(self.problem.objective))


def edges_of(graph, match, S, l, g, o):  # noqa: E741
    """Return ``(from, to, cost)``; vertex 2v is the start of operation v, 2v + 1 its end."""
    edges = []
    for after, before in zip(*graph.requires.pairs(), strict=True):
        edges.append((2 * int(before) + 1, 2 * int(after), 0))
    for after, before in zip(*graph.irequires.pairs(), strict=True):
        edges.append((2 * int(before), 2 * int(after), 0))
    for op in range(graph.num_ops):
        size = int(graph.size[op])
        if graph.kind[op] == CALC:
            edges.append((2 * op, 2 * op + 1, size / 1000))
        elif graph.kind[op] == SEND:
            receive = match[op]
            through = max(size - 1, 0) / 1000 * g
            if size <= S:
                edges.append((2 * op, 2 * op + 1, o))
                edges.append((2 * op, 2 * receive + 1, 2 * o + l + through))
                edges.append((2 * receive, 2 * receive + 1, o))
            else:
                edges.append((2 * op, 2 * receive + 1, 4 * l + 2 * o + through))
                edges.append((2 * receive, 2 * receive + 1, 3 * l + 2 * o + through))
                edges.append((2 * receive + 1, 2 * op + 1, o))
    return edges


def model(graph: ExecutionGraph, costs: Costs, match: dict[int, int] | None = None) -> Model:
    """Return the linear program, row by row."""
    problem = pulp.LpProblem("llamp", pulp.LpMinimize)
    l = problem.add_variable("l", lowBound=costs.L / 1e6)  # noqa: E741
    g = problem.add_variable("g", lowBound=costs.G / 1e3)
    o = problem.add_variable("o", lowBound=costs.o / 1e6)
    joined = match_in_order(graph) if match is None else match
    before: dict[int, list[tuple[int, object]]] = {v: [] for v in range(2 * graph.num_ops)}
    for source, target, cost in edges_of(graph, joined, costs.S, l, g, o):
        before[target].append((source, cost))
    T = {}
    for v in TopologicalSorter({v: [p for p, _ in before[v]] for v in before}).static_order():
        if not before[v]:
            T[v] = pulp.LpAffineExpression()
        elif len(before[v]) == 1:
            ((p, cost),) = before[v]
            T[v] = T[p] + cost
        else:
            y = problem.add_variable(f"y{v}")
            for p, cost in before[v]:
                problem += y >= T[p] + cost
            T[v] = y + 0
    t = problem.add_variable("t", lowBound=0)
    problem += t
    for op in range(graph.num_ops):
        problem += t >= T[2 * op + 1]
    return Model(problem, l, g, o)
