"""Part of a program: the operations of some ranks alone."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from workbench.errors import ParameterError
from workbench.programs.graph import ANY_SOURCE, CALC, RECV, Dependents, ExecutionGraph


def select(graph: ExecutionGraph, ranks: Iterable[int]) -> ExecutionGraph:
    """Return the operations of some ranks alone; see ``ExecutionGraph.select``."""
    kept = [int(rank) for rank in ranks]
    if not kept:
        raise ParameterError("select needs at least one rank", key="ranks")
    if len(set(kept)) != len(kept):
        raise ParameterError(f"select takes each rank once; got {kept}", key="ranks")
    spans = [graph.ops_of(rank) for rank in kept]
    ops = np.concatenate([np.arange(span.start, span.stop, dtype=np.int64) for span in spans])
    new_op = np.full(graph.num_ops, -1, np.int32)
    new_op[ops] = np.arange(len(ops), dtype=np.int32)
    new_rank = np.full(graph.num_ranks, -1, np.int32)
    new_rank[kept] = np.arange(len(kept), dtype=np.int32)

    kind, size, tag, nic = (getattr(graph, name)[ops] for name in ("kind", "size", "tag", "nic"))
    peer = graph.peer[ops]
    message = kind != CALC
    anybody = message & (kind == RECV) & (peer == ANY_SOURCE)
    known = message & (peer >= 0) & (peer < graph.num_ranks)
    to = np.where(known, new_rank[np.where(known, peer, 0)], -1).astype(np.int32)
    gone = message & ~anybody & (to < 0)
    for column in (size, tag, nic):
        column[gone] = 0
    kind[gone] = CALC
    to[gone | ~message] = 0
    notes = []
    if gone.any():
        notes.append(
            f"{int(gone.sum())} messages to or from ranks left out became computations of 0 ns"
        )
    if anybody.any():
        notes.append(
            f"{int(anybody.sum())} receives from any rank were kept, wherever their messages came "
            "from"
        )
    return ExecutionGraph(
        rank_start=np.cumsum([0, *map(len, spans)]).astype(np.int64),
        kind=kind,
        size=size,
        peer=to,
        tag=tag,
        cpu=graph.cpu[ops],
        nic=nic,
        requires=_kept(graph.requires, ops, new_op, "requires"),
        irequires=_kept(graph.irequires, ops, new_op, "irequires"),
        source=graph.source,
        line=None if graph.line is None else graph.line[ops],
        notes=(*graph.notes, *notes),
    )


def _kept(dependents: Dependents, ops: np.ndarray, new_op: np.ndarray, name: str) -> Dependents:
    """Return the dependents of some operations, in their order, renumbered."""
    many = np.diff(dependents.start)[ops]
    start = np.zeros(len(ops) + 1, np.int32)
    np.cumsum(many, out=start[1:])
    places = np.repeat(dependents.start[ops] - start[:-1], many) + np.arange(start[-1])
    after = new_op[dependents.ops[places]]
    if len(after) and after.min() < 0:
        raise ParameterError("dependencies must stay within a rank to select ranks", key=name)
    return Dependents(start, after)
