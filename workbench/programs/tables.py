"""Programs and graphs as tables, and graphs as networkx has them, for other people's tools."""

from __future__ import annotations

from collections import defaultdict, deque
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from workbench.errors import ParameterError
from workbench.programs.graph import ANY_SOURCE, ANY_TAG, CALC, KIND_NAMES, SEND, ExecutionGraph
from workbench.programs.program import (
    CALL_NAMES,
    ICOLLECTIVE,
    IRECV,
    ISEND,
    RECV as CALL_RECV,
    SEND as CALL_SEND,
    Program,
)

if TYPE_CHECKING:
    import networkx
    import pandas as pd


def graph_frame(graph: ExecutionGraph) -> pd.DataFrame:
    """Return a row per operation; see `ExecutionGraph.to_frame`."""
    import pandas as pd

    ops = np.arange(graph.num_ops)
    computing = graph.kind == CALC
    return pd.DataFrame(
        {
            "op": ops,
            "rank": graph.rank_of(ops),
            "line": _lines(graph.line, len(ops)),
            "kind": np.array(["", *KIND_NAMES.values()], object)[graph.kind],
            "size_bytes": _where(~computing, graph.size),
            "compute_ns": _where(computing, graph.size),
            "peer": _where(~computing, _any(graph.peer, ANY_SOURCE)),
            "tag": _where(~computing, _any(graph.tag, ANY_TAG)),
            "cpu": graph.cpu,
            "nic": _where(~computing, graph.nic),
            "waits_for": graph.in_degree(),
        }
    )


def program_frame(program: Program) -> pd.DataFrame:
    """Return a row per call; see `Program.to_frame`."""
    import pandas as pd

    kind = program.kind
    calls = np.arange(program.num_calls)
    message = np.isin(kind, (CALL_SEND, CALL_RECV, ISEND, IRECV))
    together = program.collective >= 0
    operations = np.array([one.operation for one in program.collectives] or [""], object)
    operation = operations[program.collective]
    operation[~together] = None
    ranks = np.repeat(np.arange(program.num_ranks), np.diff(program.rank_start))
    return pd.DataFrame(
        {
            "call": calls,
            "rank": ranks,
            "line": _lines(program.line, len(calls)),
            "kind": np.array(CALL_NAMES, object)[kind],
            "operation": operation,
            "compute_before_ns": program.compute_ns,
            "size_bytes": _where(
                message | together,
                np.where(
                    together,
                    np.array([_bytes(one) for one in program.collectives] or [0], np.int64)[
                        program.collective
                    ],
                    program.size,
                ),
            ),
            "peer": _where(message, _any(program.peer, ANY_SOURCE)),
            "tag": _where(message, _any(program.tag, ANY_TAG)),
            "communicator": _where(message | together, program.comm),
            "collective": _where(together, program.collective),
            "request": _where(np.isin(kind, (ISEND, IRECV, ICOLLECTIVE)), program.request),
        }
    )


def graph_networkx(graph: ExecutionGraph, most: int) -> networkx.MultiDiGraph:
    """Return operations and what they wait for; see `ExecutionGraph.to_networkx`."""
    import networkx

    if graph.num_ops > most:
        raise ParameterError(
            f"a graph of networkx may have at most {most:,} operations here; {graph.source} has "
            f"{graph.num_ops:,}: take some ranks, graph.select(range(4)).to_networkx(), or all as "
            "a table, graph.to_frame(); most= raises the limit, at about 2 KB an operation",
            key="most",
        )
    made = networkx.MultiDiGraph(name=graph.source)
    frame = graph_frame(graph).astype(object)
    columns = [name for name in frame.columns if name not in ("op", "waits_for")]
    # What an operation does not have, such as a computation's peer, is not among its attributes.
    made.add_nodes_from(
        (
            op,
            {name: value for name, value in zip(columns, row, strict=True) if value == value}
            | {"label": graph.describe(op)},
        )
        for op, row in enumerate(
            frame[columns].where(frame[columns].notna(), float("nan")).itertuples(index=False)
        )
    )
    for kind, dependents in (("requires", graph.requires), ("irequires", graph.irequires)):
        after, before = dependents.pairs()
        made.add_edges_from(
            (one, other, {"kind": kind})
            for one, other in zip(before.tolist(), after.tolist(), strict=True)
        )
    made.add_edges_from(
        (send, receive, {"kind": "message", "size_bytes": int(graph.size[send])})
        for send, receive in _messages(graph)
    )
    return made


def _messages(graph: ExecutionGraph) -> list[tuple[int, int]]:
    """Return (send, receive) pairs, matched in order; none at ranks that receive by a wildcard."""
    messages = np.flatnonzero(graph.kind != CALC)
    own = graph.rank_of(messages)
    sending = graph.kind[messages] == SEND
    target = np.where(sending, graph.peer[messages], own)
    wild = (graph.tag[messages] == ANY_TAG) | (graph.peer[messages] == ANY_SOURCE)
    is_open = np.zeros(graph.num_ranks, bool)
    is_open[target[wild & (target >= 0) & (target < graph.num_ranks)]] = True
    waiting: dict[tuple[int, int, int, bool], deque[int]] = defaultdict(deque)
    pairs: list[tuple[int, int]] = []
    tags, peers = graph.tag[messages].tolist(), graph.peer[messages].tolist()
    for op, rank, peer, tag, sends in zip(
        messages.tolist(), own.tolist(), peers, tags, sending.tolist(), strict=True
    ):
        source, destination = (rank, peer) if sends else (peer, rank)
        if not 0 <= destination < graph.num_ranks or is_open[destination]:
            continue
        others = waiting[source, destination, tag, not sends]
        if others:
            pairs.append((op, others.popleft()) if sends else (others.popleft(), op))
        else:
            waiting[source, destination, tag, sends].append(op)
    return pairs


def _lines(line: NDArray[np.int32] | None, count: int) -> Any:
    values = np.zeros(count, np.int64) if line is None else line
    return _where(values > 0, values)


def _bytes(collective: Any) -> int:
    return sum(collective.sizes) or int(collective.size)


def _any(values: NDArray[Any], wildcard: int) -> NDArray[np.int64]:
    """Return values as int64, with -1 for the wildcard."""
    return np.where(values == wildcard, -1, values.astype(np.int64))


def _where(holds: NDArray[np.bool_], values: NDArray[Any]) -> Any:
    """Return whole numbers, missing where ``holds`` is False."""
    import pandas as pd

    return pd.arrays.IntegerArray(values.astype(np.int64), ~holds)
