"""A program as the rows of a linear program, in arrays: Algorithm 1 of Shen et al., LLAMP.

Each start and each end of an operation is a vertex. One that waits for a single other one has that
one's time and a known sum, and adds nothing to the linear program; one that waits for several has a
column, and a row ``time - time of what it waits for >= cost`` for each of them. An eager message
charges l + (s-1)g on the edge that joins send and receive, and on no other, though Algorithm 1 read
literally also charges it where a receive follows a send of its own rank. Above S bytes the receive
ends 3l + 2o + (s-1)g after both have met, which the sender's side reaches after one more l
(appendix B): two rows as well, so a rendezvous costs no more of them than an eager message.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kernels import lp as kernel
from workbench.programs.graph import CALC, SEND, ExecutionGraph
from workbench.simulate.picoseconds import PS_PER_NS, PS_PER_S
from workbench.tolerance.lp_variables import (
    BYTES_PER_KB,
    PS_PER_US,
    MessageVariables,
    VariableValues,
)


@dataclass(frozen=True, eq=False)
class Rows:
    """A program's dependencies as rows, with costs that do not depend on the network's parameters.

    Vertex ``2v`` is the start of operation ``v``, ``2v + 1`` its end, and the last vertex the
    program's end. Column 0 is the run time; the other columns are times of vertices.
    """

    parent: NDArray[np.int32]  # (vertices,) its only predecessor, or kernel.NOTHING or SEVERAL
    column: NDArray[np.int32]  # (vertices,) -1 for those without a column
    head: NDArray[np.int32]  # (rows,) column of the waiting vertex
    tail: NDArray[np.int32]  # (rows,) column of the awaited vertex, -1 for time zero
    vertex: NDArray[np.int32]  # (rows,) the awaited vertex: its time is the column's and more
    ps: NDArray[np.int64]  # (rows,) computations on the row, ps
    overheads: NDArray[np.int32]  # (rows,) number of o on the row
    message: NDArray[np.int32]  # (rows,) number of the row's message, or -1
    latencies: NDArray[np.int32]  # (rows,) number of that message's latencies
    bytes_after_first: NDArray[np.int64]  # (messages,)
    num_columns: int

    @classmethod
    def of(cls, graph: ExecutionGraph, match: NDArray[np.int32], S: int) -> Self:
        """Return the rows of a program without cycles, for a match int32[n] and S in bytes."""
        edges = _edges(graph, match, S)
        vertices = 2 * graph.num_ops + 1
        waits = np.bincount(edges.head, minlength=vertices)
        # The program's end has a column even where it waits for one operation only.
        waits[-1] = 2
        parent = np.where(waits == 0, kernel.NOTHING, kernel.SEVERAL).astype(np.int32)
        column = np.full(vertices, -1, np.int32)
        several = np.flatnonzero(waits > 1)
        column[several[-1]] = 0
        column[several[:-1]] = np.arange(1, len(several), dtype=np.int32)

        alone = waits[edges.head] == 1
        ps, overheads = np.zeros(vertices, np.int64), np.zeros(vertices, np.int32)
        parent[edges.head[alone]] = edges.tail[alone]
        ps[edges.head[alone]] = edges.ps[alone]
        overheads[edges.head[alone]] = edges.overheads[alone]
        root = np.empty(vertices, np.int32)
        kernel.collapse(parent, ps, overheads, column, root)

        kept = np.flatnonzero(~alone)
        vertex = edges.tail[kept]
        sends = graph.kind == SEND
        return cls(
            parent=parent,
            column=column,
            head=column[edges.head[kept]],
            tail=root[vertex],
            vertex=vertex,
            ps=edges.ps[kept] + ps[vertex],
            overheads=edges.overheads[kept] + overheads[vertex],
            message=edges.message[kept],
            latencies=edges.latencies[kept],
            bytes_after_first=np.maximum(graph.size[sends] - 1, 0),
            num_columns=len(several),
        )

    def names(self) -> list[str]:
        """Return names of the columns: ``t``, then ``s17`` or ``e17``, start or end of one."""
        vertices = np.flatnonzero(self.column > 0).tolist()
        return ["t", *(f"{'se'[vertex % 2]}{vertex // 2}" for vertex in vertices)]

    def lower_us(self, variables: MessageVariables, values: VariableValues) -> NDArray[np.float64]:
        """Return the constant part of each row's cost, float64[rows], µs."""
        lower = self.ps.astype(float)
        of_message = np.flatnonzero(self.message >= 0)
        message = self.message[of_message]
        constant_ps = np.rint(variables.constant_s * PS_PER_S)
        lower[of_message] += self.latencies[of_message] * constant_ps[message]
        # A product (s-1)G counts as whole ps, as in replays, while g's coefficient is s - 1.
        lower[of_message] += values.rounding_ps(self.bytes_after_first, variables)[message]
        return lower / PS_PER_US

    def critical_path(self, duals: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return the operations on the critical path, first to last, for duals, float64[rows]."""
        path = np.empty(len(self.parent), np.int32)
        room = np.empty(self.num_columns, np.int32)
        length = kernel.walk(self.parent, self.column, self.head, self.vertex, duals, room, path)
        ops = path[1:length][::-1].astype(np.int64) // 2
        return ops[np.flatnonzero(np.diff(ops, prepend=-1))]


@dataclass(frozen=True, eq=False)
class _Edges:
    head: NDArray[np.int32]
    tail: NDArray[np.int32]
    ps: NDArray[np.int64]
    overheads: NDArray[np.int32]
    message: NDArray[np.int32]
    latencies: NDArray[np.int32]


def _edges(graph: ExecutionGraph, match: NDArray[np.int32], S: int) -> _Edges:
    """Return all edges between vertices: head >= tail + costs."""
    sends = np.flatnonzero(graph.kind == SEND)
    computed = np.flatnonzero(graph.kind == CALC)
    number = np.arange(len(sends))
    eager = graph.size[sends] <= S
    e_send, r_send = sends[eager], sends[~eager]
    e_receive, r_receive = match[e_send], match[r_send]
    after, before = graph.requires.pairs()
    later, earlier = graph.irequires.pairs()
    last = np.flatnonzero(np.diff(graph.requires.start) == 0)
    end = 2 * graph.num_ops

    # head, tail, ps, overheads, message, latencies
    blocks: list[tuple[ArrayLike, ...]] = [
        (2 * after, 2 * before + 1, 0, 0, -1, 0),
        (2 * later, 2 * earlier, 0, 0, -1, 0),
        (2 * computed + 1, 2 * computed, graph.size[computed] * PS_PER_NS, 0, -1, 0),
        (2 * e_send + 1, 2 * e_send, 0, 1, -1, 0),
        (2 * e_receive + 1, 2 * e_send, 0, 2, number[eager], 1),
        (2 * e_receive + 1, 2 * e_receive, 0, 1, -1, 0),
        (2 * r_receive + 1, 2 * r_send, 0, 2, number[~eager], 4),
        (2 * r_receive + 1, 2 * r_receive, 0, 2, number[~eager], 3),
        (2 * r_send + 1, 2 * r_receive + 1, 0, 1, -1, 0),
        (np.full(len(last), end), 2 * last + 1, 0, 0, -1, 0),
    ]
    columns = []
    for which, dtype in enumerate((np.int32, np.int32, np.int64, np.int32, np.int32, np.int32)):
        parts = [np.broadcast_to(block[which], np.shape(block[0])) for block in blocks]
        columns.append(np.concatenate(parts).astype(dtype))
    return _Edges(*columns)


@dataclass(frozen=True, eq=False)
class Matrix:
    """The rows' coefficients in CSR form; columns: run time, vertices, latencies, gaps, o."""

    start: NDArray[np.int32]  # (rows + 1,)
    index: NDArray[np.int32]  # (nonzeros,) columns
    value: NDArray[np.float64]  # (nonzeros,) times are µs, gaps µs/kB
    first_latency: int  # column of the first latency, after those of vertices
    first_gap: int  # column of the first gap per byte
    o: int  # column of o, the last
    num_columns: int

    @classmethod
    def of(cls, rows: Rows, variables: MessageVariables) -> Self:
        """Return the matrix of a program's rows, with the columns of its messages' variables."""
        first_latency = rows.num_columns
        first_gap = first_latency + len(variables.latency_names)
        o = first_gap + len(variables.gap_names)
        of_messages = rows.message[rows.message >= 0]
        terms = np.diff(variables.term_start)[of_messages].sum()
        room = 3 * len(rows.head) + len(of_messages) + int(terms)
        start = np.empty(len(rows.head) + 1, np.int32)
        index, value = np.empty(room, np.int32), np.empty(room)
        used = kernel.fill(
            rows.head,
            rows.tail,
            rows.overheads,
            rows.message,
            rows.latencies,
            o,
            variables.term_start,
            variables.term_latency + np.int32(first_latency),
            variables.term_multiple,
            variables.message_gap + np.int32(first_gap),
            rows.bytes_after_first / BYTES_PER_KB,
            start,
            index,
            value,
        )
        return cls(start, index[:used], value[:used], first_latency, first_gap, o, o + 1)
