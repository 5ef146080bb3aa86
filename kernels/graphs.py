"""The arrays of a program that several kernels read, under one name."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


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
