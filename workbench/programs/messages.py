"""Messages by class (source, destination, tag), and how many of them no receive can take."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from workbench.arrays import IntArray
from workbench.programs.graph import ANY_SOURCE, ANY_TAG, SEND, ExecutionGraph

_WIDEST = 2**62  # a source, a destination and a tag in one int64


@dataclass(frozen=True, eq=False)
class Classes:
    """The sends, or the receives, of a graph by source, destination and tag."""

    ops: IntArray  # (m,) operations, class by class, each in its rank's order
    number: IntArray  # (m,) class of each
    start: IntArray  # (classes + 1,) where each begins in ``ops``
    source: IntArray  # (classes,) ``ANY_SOURCE`` for receives from any
    destination: IntArray  # (classes,)
    tag: IntArray  # (classes,) ``ANY_TAG`` matches all

    @classmethod
    def of(
        cls,
        graph: ExecutionGraph,
        ops: IntArray,  # (m,) operations, ascending
        ranks: NDArray[np.int32],  # (n,) rank of each operation of the graph
        level: NDArray[np.int32],  # (n,) longest chain of dependencies before each
    ) -> Classes:
        """Return the classes of some sends or of some receives."""
        peers, own = graph.peer[ops].astype(np.int64), ranks[ops].astype(np.int64)
        sending = len(ops) > 0 and graph.kind[ops[0]] == SEND
        source, destination = (own, peers) if sending else (peers, own)
        tags, tag = np.unique(graph.tag[ops], return_inverse=True)
        key = (destination * (graph.num_ranks + 1) + source + 1) * max(len(tags), 1) + tag
        if (graph.num_ranks + 1) ** 2 * len(tags) > _WIDEST:
            key = np.unique(destination * (graph.num_ranks + 1) + source, return_inverse=True)[1]
            key = key * len(tags) + tag
        by = np.argsort(key, kind="stable")
        if (np.diff(level[ops[by]])[np.diff(key[by]) == 0] < 0).any():
            by = np.lexsort((level[ops], key))
        first = np.flatnonzero(np.diff(key[by], prepend=-1))
        number = np.cumsum(np.diff(key[by], prepend=-1) != 0) - 1
        return cls(
            ops=ops[by],
            number=number,
            start=np.append(first, len(ops)),
            source=source[by][first],
            destination=destination[by][first],
            tag=tags[tag[by][first]].astype(np.int64),
        )

    @property
    def count(self) -> IntArray:
        """Number of operations of each class, int64[classes]."""
        return np.diff(self.start)

    def members(self, classes: IntArray, count: IntArray) -> IntArray:
        """Return the places in ``ops`` of each class's first ``count`` members, class by class."""
        within = np.arange(int(count.sum())) - np.repeat(np.cumsum(count) - count, count)
        return np.repeat(self.start[classes], count) + within


def surplus(
    sends: Classes, recvs: Classes, num_ranks: int
) -> tuple[IntArray, IntArray, NDArray[np.int64]]:
    """Return the sends and receives per class that no order of events can match, and exact pairs.

    Equal classes with a tag are matched first, which never costs a match; the rest at destinations
    with wildcards is a maximum flow. Pairs are int64[3, k]: send class, receive class, messages.
    """
    left, wanted = sends.count.copy(), recvs.count.copy()
    mine, theirs = _equal(sends, recvs)
    both = np.where(sends.tag[mine] == ANY_TAG, 0, np.minimum(left[mine], wanted[theirs]))
    left[mine] -= both
    wanted[theirs] -= both

    wild = with_wildcards(sends, recvs, num_ranks)
    open_sends = np.flatnonzero((left > 0) & wild[sends.destination])
    open_recvs = np.flatnonzero((wanted > 0) & wild[recvs.destination])
    if len(open_sends) and len(open_recvs):
        _flow(sends, recvs, open_sends, open_recvs, left, wanted)
    tame = ~wild[sends.destination[mine]]
    return left, wanted, np.stack([mine[tame], theirs[tame], both[tame]])


def with_wildcards(sends: Classes, recvs: Classes, num_ranks: int) -> NDArray[np.bool_]:
    """Return for each rank whether messages may meet its receives by a wildcard, bool[ranks]."""
    wild = np.zeros(num_ranks, bool)
    wild[recvs.destination[(recvs.source == ANY_SOURCE) | (recvs.tag == ANY_TAG)]] = True
    wild[sends.destination[sends.tag == ANY_TAG]] = True
    return wild


def _equal(sends: Classes, recvs: Classes) -> tuple[IntArray, IntArray]:
    """Return the indices of equal send and receive classes, as two arrays."""
    columns = [
        np.concatenate([getattr(sends, name), getattr(recvs, name)])
        for name in ("tag", "source", "destination")
    ]
    by = np.lexsort(columns)
    same = np.ones(max(len(by) - 1, 0), bool)
    for column in columns:
        same &= column[by][1:] == column[by][:-1]
    at = np.flatnonzero(same)
    # Within one side classes differ, and lexsort is stable: of two equal ones the send is first.
    return by[at], by[at + 1] - len(sends.source)


def _flow(
    sends: Classes,
    recvs: Classes,
    open_sends: IntArray,
    open_recvs: IntArray,
    left: IntArray,
    wanted: IntArray,
) -> None:
    """Subtract from ``left`` and ``wanted`` as many messages as can be matched.

    A send (s, t) fits the receives (s, t), (s, any), (any, t) and (any, any) of its destination; a
    send with any tag fits all (s, ...) and (any, ...), by way of one node each to spare edges.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import maximum_flow

    s, r = len(open_sends), len(open_recvs)
    receive_at: dict[tuple[int, int, int], int] = {}
    hub_at: dict[tuple[int, int], int] = {}
    edges: list[tuple[int, int, int]] = []
    everything = int(min(left[open_sends].sum(), wanted[open_recvs].sum()))
    triples = zip(
        recvs.destination[open_recvs].tolist(),
        recvs.source[open_recvs].tolist(),
        recvs.tag[open_recvs].tolist(),
        wanted[open_recvs].tolist(),
        strict=True,
    )
    for i, (destination, source, tag, count) in enumerate(triples):
        node = 2 + s + i
        receive_at[destination, source, tag] = node
        hub = hub_at.setdefault((destination, source), 2 + s + r + len(hub_at))
        edges += [(node, 1, count), (hub, node, everything)]
    triples = zip(
        sends.destination[open_sends].tolist(),
        sends.source[open_sends].tolist(),
        sends.tag[open_sends].tolist(),
        left[open_sends].tolist(),
        strict=True,
    )
    for i, (destination, source, tag, count) in enumerate(triples):
        node = 2 + i
        edges.append((0, node, count))
        for origin in (source, ANY_SOURCE):
            if tag == ANY_TAG:
                nodes = [hub_at.get((destination, origin))]
            else:
                nodes = [receive_at.get((destination, origin, t)) for t in (tag, ANY_TAG)]
            edges += [(node, to, everything) for to in nodes if to is not None]
    begin, end, capacity = np.array(edges, np.int64).T
    nodes_in_all = 2 + s + r + len(hub_at)
    network = coo_array(
        (capacity.astype(np.int32), (begin.astype(np.int32), end.astype(np.int32))),
        shape=(nodes_in_all, nodes_in_all),
    ).tocsr()
    flow = maximum_flow(network, 0, 1).flow
    left[open_sends] -= flow[[0], :].toarray()[0, 2 : 2 + s]
    wanted[open_recvs] -= flow[:, [1]].toarray()[2 + s : 2 + s + r, 0]
