"""Arrays of a program that kernels take together, under one name."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class Operations(NamedTuple):
    """The operations of a graph, rank after rank, see ``workbench.programs.graph``.

    Attributes:
        rank_start: int64[ranks + 1].
        kind: uint8[n].
        size: int64[n], bytes or ns.
        peer: int32[n].
        tag: uint32[n].
        cpu: uint8[n].
        nic: uint8[n].
    """

    rank_start: NDArray[np.int64]
    kind: NDArray[np.uint8]
    size: NDArray[np.int64]
    peer: NDArray[np.int32]
    tag: NDArray[np.uint32]
    cpu: NDArray[np.uint8]
    nic: NDArray[np.uint8]


class Edges(NamedTuple):
    """The dependencies of a graph by one of the operations that they join.

    Attributes:
        req_start: int32[n + 1]; those that wait for an operation's end and belong to operation i
            are ``req[req_start[i]:req_start[i + 1]]``.
        req: int32[edges], the other operation of each.
        ireq_start: int32[n + 1]; the same for those that wait for its start.
        ireq: int32[edges].
    """

    req_start: NDArray[np.int32]
    req: NDArray[np.int32]
    ireq_start: NDArray[np.int32]
    ireq: NDArray[np.int32]


class MatchedGraph(NamedTuple):
    """An execution graph in which each message's send and receive are known.

    Attributes:
        kind: uint8[n].
        size: int64[n], bytes or ns.
        match: int32[n], the other end of each message, -1 for computations.
        req_start: int32[n + 1]; the dependents of the end of operation i are
            ``req_ops[req_start[i]:req_start[i + 1]]``, see ``workbench.programs.graph.Dependents``.
        req_ops: int32[edges].
        ireq_start: int32[n + 1]; the same for its start.
        ireq_ops: int32[edges].
    """

    kind: NDArray[np.uint8]
    size: NDArray[np.int64]
    match: NDArray[np.int32]
    req_start: NDArray[np.int32]
    req_ops: NDArray[np.int32]
    ireq_start: NDArray[np.int32]
    ireq_ops: NDArray[np.int32]
