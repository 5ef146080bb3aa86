"""LLAMP's graph as plain weighted edges, and the longest path to each of its vertices.

Written from the paper (Shen et al., LLAMP, Algorithm 1 and appendix B): two vertices for each
operation, its start and its end; each constraint of the linear program is an edge. A vertex has its
time once all that lead to it have theirs, round by round over all edges.
"""

from __future__ import annotations

from dataclasses import dataclass

from workbench.programs.graph import CALC, RECV, SEND, ExecutionGraph


@dataclass(frozen=True)
class Costs:
    """Parameters in whole picoseconds; G in picoseconds a byte, S in bytes."""

    L: int
    o: int
    G: float
    S: int


def match_in_order(graph: ExecutionGraph) -> dict[int, int]:
    """Return send by receive and receive by send: the k-th of each (source, destination, tag)."""
    queues: dict[tuple[int, int, int], tuple[list[int], list[int]]] = {}
    for op in range(graph.num_ops):
        rank, peer, tag = int(graph.rank_of(op)), int(graph.peer[op]), int(graph.tag[op])
        if graph.kind[op] == SEND:
            queues.setdefault((rank, peer, tag), ([], []))[0].append(op)
        elif graph.kind[op] == RECV:
            queues.setdefault((peer, rank, tag), ([], []))[1].append(op)
    found: dict[int, int] = {}
    for sends, receives in queues.values():
        for send, receive in zip(sends, receives, strict=False):
            found[send], found[receive] = receive, send
    return found


def edges_of(
    graph: ExecutionGraph, costs: Costs, match: dict[int, int]
) -> list[tuple[int, int, int]]:
    """Return ``(from, to, ps)``; vertex 2v is the start of operation v, 2v + 1 its end."""
    L, o = costs.L, costs.o
    edges = []
    for after, before in zip(*graph.requires.pairs(), strict=True):
        edges.append((2 * int(before) + 1, 2 * int(after), 0))
    for after, before in zip(*graph.irequires.pairs(), strict=True):
        edges.append((2 * int(before), 2 * int(after), 0))
    for op in range(graph.num_ops):
        if graph.kind[op] == CALC:
            edges.append((2 * op, 2 * op + 1, int(graph.size[op]) * 1000))
        elif graph.kind[op] == SEND:
            receive, size = match[op], int(graph.size[op])
            wire = round(max(size - 1, 0) * costs.G)
            if size <= costs.S:
                edges.append((2 * op, 2 * op + 1, o))
                edges.append((2 * op + 1, 2 * receive + 1, L + wire + o))
                edges.append((2 * receive, 2 * receive + 1, o))
            else:
                for here, extra in ((2 * op + 1, o), (2 * receive + 1, 0)):
                    edges.append((2 * op, here, 4 * L + 2 * o + wire + extra))
                    edges.append((2 * receive, here, 3 * L + 2 * o + wire + extra))
    return edges


def longest_paths(
    graph: ExecutionGraph, costs: Costs, match: dict[int, int] | None = None
) -> tuple[list[int], list[int]] | None:
    """Return when each operation starts and ends, in ps; None where a cycle lets nothing end."""
    edges = edges_of(graph, costs, match_in_order(graph) if match is None else match)
    time = [0] * (2 * graph.num_ops)
    waits = [0] * (2 * graph.num_ops)
    for _, to, _ in edges:
        waits[to] += 1
    # A vertex is reached once each of its edges is; what is never reached waits in a cycle.
    ready = [v for v, count in enumerate(waits) if count == 0]
    reached = len(ready)
    while ready:
        here = set(ready)
        ready = []
        for source, to, cost in edges:
            if source in here:
                time[to] = max(time[to], time[source] + cost)
                waits[to] -= 1
                if waits[to] == 0:
                    ready.append(to)
        reached += len(ready)
    if reached < len(time):
        return None
    return time[0::2], time[1::2]
