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

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from kernels import lp as kernel
from workbench.arrays import FloatArray, IntArray
from workbench.errors import ParameterError
from workbench.models import LogGPS
from workbench.programs.graph import CALC, SEND, ExecutionGraph
from workbench.simulate.picoseconds import PS_PER_NS, PS_PER_S, PicosecondCosts

US_PER_S, PS_PER_US = 1e6, 10**6
"""Times are µs in the linear program, and whole ps in a replay."""

BYTES_PER_KB = 1000
"""Gaps are counted in µs/kB, that is ns/B, so that costs in µs have coefficients near one."""

PerVariable = float | Mapping[str, float] | ArrayLike
"""One number for all, numbers by name, or one for each in the order of their names."""


@dataclass(frozen=True, eq=False)
class MessageVariables:
    """Latencies and gaps per byte charged for each message, numbered in the order of the sends."""

    latency_s: dict[str, float]  # by name
    multiples: sparse.csr_array  # (messages, latencies) how often each is charged
    constant_s: FloatArray  # (messages,) known latency, charged besides
    gap_s: dict[str, float]  # by name, s/B
    gap: IntArray  # (messages,) number of each one's gap variable
    pairs: tuple[IntArray, IntArray] | None = None  # senders and receivers, else None

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all variables: latencies, gaps and ``o``."""
        return (*self.latency_s, *self.gap_s, "o")

    def values(
        self, model: LogGPS, L: PerVariable | None, G: PerVariable | None, o: float | None
    ) -> tuple[FloatArray, FloatArray]:
        """Return values rounded as in replays, their own where none are given.

        First those of all variables in the order of their names, µs and µs/kB; then the gaps, ps/B.
        """
        latencies, gaps = _chosen("L", self.latency_s, L), _chosen("G", self.gap_s, G)
        # There are few different values, even where each pair of ranks has its own.
        ps = {x: PicosecondCosts.of(model.replace(L=x)).L for x in set(latencies)}
        ps_per_byte = {x: PicosecondCosts.of(model.replace(G=x)).G.real for x in set(gaps)}
        o_ps = PicosecondCosts.of(model if o is None else model.replace(o=o)).o
        times = np.array([ps[x] for x in latencies], float) / PS_PER_US
        gap_ps = np.array([ps_per_byte[x] for x in gaps], float)
        return np.concatenate([times, gap_ps / PS_PER_NS, [o_ps / PS_PER_US]]), gap_ps


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
    ps: IntArray  # (rows,) computations on the row, ps
    overheads: IntArray  # (rows,) number of o on the row
    message: IntArray  # (rows,) number of the row's message, or -1
    latencies: IntArray  # (rows,) number of that message's latencies
    bytes_after_first: IntArray  # (messages,)
    num_columns: int

    @classmethod
    def of(cls, graph: ExecutionGraph, match: NDArray[np.int32], S: int) -> Self:
        """Return the rows of a program without cycles, for a match int32[n] and S in bytes."""
        head, tail, ps, overheads, message, latencies = _edges(graph, match, S)
        vertices = 2 * graph.num_ops + 1
        waits = np.bincount(head, minlength=vertices)
        # The program's end has a column even where it waits for one operation only.
        waits[-1] = 2
        parent = np.where(waits == 0, kernel.NOTHING, kernel.SEVERAL).astype(np.int32)
        column = np.full(vertices, -1, np.int32)
        several = np.flatnonzero(waits > 1)
        column[several[-1]] = 0
        column[several[:-1]] = np.arange(1, len(several), dtype=np.int32)

        alone = waits[head] == 1
        since_ps, since_overheads = np.zeros(vertices, np.int64), np.zeros(vertices, np.int32)
        parent[head[alone]] = tail[alone]
        since_ps[head[alone]] = ps[alone]
        since_overheads[head[alone]] = overheads[alone]
        root = np.empty(vertices, np.int32)
        kernel.collapse(parent, since_ps, since_overheads, column, root)

        kept = np.flatnonzero(~alone)
        vertex = tail[kept]
        return cls(
            parent=parent,
            column=column,
            head=column[head[kept]],
            tail=root[vertex],
            vertex=vertex.astype(np.int32),
            ps=ps[kept] + since_ps[vertex],
            overheads=overheads[kept] + since_overheads[vertex],
            message=message[kept],
            latencies=latencies[kept],
            bytes_after_first=np.maximum(graph.size[graph.kind == SEND] - 1, 0),
            num_columns=len(several),
        )

    def names(self) -> list[str]:
        """Return names of the columns: ``t``, then ``s17`` or ``e17``, start or end of one."""
        vertices = np.flatnonzero(self.column > 0).tolist()
        return ["t", *(f"{'se'[vertex % 2]}{vertex // 2}" for vertex in vertices)]

    def matrix(self, variables: MessageVariables) -> sparse.csr_array:
        """Return the coefficients, float64[rows, columns]; after those of times the variables'."""
        first_gap = self.num_columns + len(variables.latency_s)
        o = first_gap + len(variables.gap_s)
        waiting = np.flatnonzero(self.tail >= 0)
        busy = np.flatnonzero(self.overheads)
        sent = np.flatnonzero(self.message >= 0)
        message = self.message[sent]
        charged = variables.multiples[message].tocoo()
        latencies = self.latencies[sent][charged.row] * charged.data
        kilobytes = self.bytes_after_first[message] / BYTES_PER_KB
        more = np.flatnonzero(kilobytes)
        row, column, value = _joined(
            [
                (np.arange(len(self.head)), self.head, 1.0),
                (waiting, self.tail[waiting], -1.0),
                (busy, o, -self.overheads[busy]),
                (sent[charged.row], self.num_columns + charged.col, -latencies),
                (sent[more], first_gap + variables.gap[message[more]], -kilobytes[more]),
            ]
        )
        places = (row.astype(np.int32), column.astype(np.int32))  # as HiGHS takes them
        return sparse.coo_array((value, places), (len(self.head), o + 1)).tocsr()

    def lower_us(self, variables: MessageVariables, gap_ps: FloatArray) -> FloatArray:
        """Return the constant part of each row's cost, float64[rows], µs, for gaps in ps/B."""
        lower = self.ps.astype(float)
        sent = np.flatnonzero(self.message >= 0)
        message = self.message[sent]
        constant_ps = np.rint(variables.constant_s * PS_PER_S)
        lower[sent] += self.latencies[sent] * constant_ps[message]
        # A product (s-1)G counts as whole ps, as in replays, while g's coefficient is s - 1.
        product = self.bytes_after_first * gap_ps[variables.gap]
        lower[sent] += (np.rint(product) - product)[message]
        return lower / PS_PER_US

    def critical_path(self, duals: FloatArray) -> IntArray:
        """Return the operations on the critical path, first to last, for duals, float64[rows]."""
        path = np.empty(len(self.parent), np.int32)
        room = np.empty(self.num_columns, np.int32)
        length = kernel.walk(self.parent, self.column, self.head, self.vertex, duals, room, path)
        ops = path[1:length][::-1].astype(np.int64) // 2
        return ops[np.flatnonzero(np.diff(ops, prepend=-1))]


def _edges(graph: ExecutionGraph, match: NDArray[np.int32], S: int) -> list[NDArray[Any]]:
    """Return all edges, head >= tail + costs: head, tail, ps, overheads, message and latencies."""
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
    return _joined(
        [
            (2 * after, 2 * before + 1, 0, 0, -1, 0),
            (2 * later, 2 * earlier, 0, 0, -1, 0),
            (2 * computed + 1, 2 * computed, graph.size[computed] * PS_PER_NS, 0, -1, 0),
            (2 * e_send + 1, 2 * e_send, 0, 1, -1, 0),
            (2 * e_receive + 1, 2 * e_send, 0, 2, number[eager], 1),
            (2 * e_receive + 1, 2 * e_receive, 0, 1, -1, 0),
            (2 * r_receive + 1, 2 * r_send, 0, 2, number[~eager], 4),
            (2 * r_receive + 1, 2 * r_receive, 0, 2, number[~eager], 3),
            (2 * r_send + 1, 2 * r_receive + 1, 0, 1, -1, 0),
            (end, 2 * last + 1, 0, 0, -1, 0),
        ]
    )


def _joined(blocks: Sequence[tuple[ArrayLike, ...]]) -> list[NDArray[Any]]:
    """Return blocks of columns, one below another; a number stands for a column of it."""
    columns = zip(*(np.broadcast_arrays(*block) for block in blocks), strict=True)
    return [np.concatenate(parts) for parts in columns]


def _chosen(what: str, own: dict[str, float], given: PerVariable | None) -> list[float]:
    """Return the values of variables: those given, or their own."""
    if isinstance(given, Mapping):
        for name in given:
            if name not in own:
                raise ParameterError(f"{what} has {listed(own)}; got {name!r}", key=what)
        given = list({**own, **given}.values())
    values = list(own.values()) if given is None else given
    found: list[float] = not_negative(
        what, shaped(what, values, (len(own),), f"one number or {len(own)}")
    ).tolist()
    return found


def shaped(name: str, given: ArrayLike, shape: tuple[int, ...], words: str) -> FloatArray:
    """Return numbers in a shape, which an error describes; one number stands for all."""
    values = np.asarray(given, float)
    if values.shape not in ((), shape):
        raise ParameterError(f"{name} must be {words}; got shape {values.shape}", key=name)
    return np.broadcast_to(values, shape)


def not_negative(name: str, values: FloatArray) -> FloatArray:
    """Return numbers if they are finite and at least 0."""
    wrong = values[~(np.isfinite(values) & (values >= 0))]
    if len(wrong):
        raise ParameterError(f"{name} must be finite and at least 0; got {wrong[0]}", key=name)
    return values


def listed(names: Collection[str]) -> str:
    """Return names for an error message, at most the first eight."""
    shown = ", ".join(islice(names, 8))
    return shown if len(names) <= 8 else f"{shown} and {len(names) - 8} more"
