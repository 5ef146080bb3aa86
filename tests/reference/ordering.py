"""What waits for what in an execution graph, by plain recursion over sets."""

from __future__ import annotations

from workbench.programs.graph import ExecutionGraph


def awaited(graph: ExecutionGraph) -> list[set[int]]:
    """Return for each operation those it waits for."""
    found: list[set[int]] = [set() for _ in range(graph.num_ops)]
    for dependents in (graph.requires, graph.irequires):
        for op in range(graph.num_ops):
            for after in dependents.of(op).tolist():
                found[after].add(op)
    return found


def waits_for(graph: ExecutionGraph, op: int, other: int) -> bool:
    """Return whether an operation waits for another, by whatever chain."""
    before = awaited(graph)
    reached: set[int] = set()
    front = set(before[op])
    while front:
        reached |= front
        front = set().union(*(before[at] for at in front)) - reached
    return other in reached


def longest_chains(graph: ExecutionGraph) -> list[int | None]:
    """Return the longest chain before each operation; None where one has no end."""
    before = awaited(graph)
    chains: list[int | None] = [None] * graph.num_ops
    for _ in range(graph.num_ops + 1):
        for op, ops in enumerate(before):
            lengths = [chains[at] for at in ops]
            if None not in lengths:
                chains[op] = max(
                    (length + 1 for length in lengths if length is not None), default=0
                )
    return chains


def cycles(graph: ExecutionGraph) -> list[list[int]]:
    """Return the operations that wait for themselves, each alone."""
    return [[op] for op in range(graph.num_ops) if waits_for(graph, op, op)]
