"""A program's own traffic, by what its ranks send one another and where they are placed."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from workbench.errors import ParameterError
from workbench.topology.topology import Topology
from workbench.topology.traffic import Traffic


def matrix_traffic(
    topology: Topology,
    matrix: ArrayLike,
    hosts: ArrayLike | None = None,
    *,
    name: str = "application",
) -> Traffic:
    """Return a program's own traffic, as ``message_traffic``, by its communication matrix.

    Args:
        topology: the network.
        matrix: float[ranks, ranks], the bytes that each rank sends to each other.
        hosts: int[ranks], the host of each rank; None places rank i at host i.
        name: of the program.

    Raises:
        ParameterError: the matrix is not square, has other numbers than of at least 0, or ranks
            have no host.
    """
    sent = np.asarray(matrix, np.float64)
    if sent.ndim != 2 or sent.shape[0] != sent.shape[1]:
        raise ParameterError(
            f"matrix must have a row and a column for each rank; got shape {sent.shape}",
            key="matrix",
        )
    placed = None if hosts is None else topology.checked_hosts(hosts)
    if placed is not None and len(placed) != len(sent):
        raise ParameterError(
            f"hosts must have one for each of {len(sent)} ranks; got {len(placed)}", key="hosts"
        )
    sender, receiver = np.nonzero(sent)
    return message_traffic(topology, sender, receiver, sent[sender, receiver], placed, name=name)


def message_traffic(
    topology: Topology,
    sender: ArrayLike,
    receiver: ArrayLike,
    size_bytes: ArrayLike,
    hosts: ArrayLike | None = None,
    *,
    name: str = "application",
) -> Traffic:
    """Return a program's own traffic: so much of it that the busiest host's link is just full.

    Messages between ranks of one host need no network.

    Args:
        topology: the network.
        sender: int[messages], ranks.
        receiver: int[messages], ranks.
        size_bytes: float[messages], bytes.
        hosts: int[ranks], the host of each rank; None places rank i at host i.
        name: of the program.

    Raises:
        ParameterError: there is not one of each for each message, sizes are other numbers than of
            at least 0, or ranks have no host.
    """
    one, other = np.asarray(sender, np.int64), np.asarray(receiver, np.int64)
    size = np.asarray(size_bytes, np.float64)
    if not one.shape == other.shape == size.shape or one.ndim != 1:
        raise ParameterError(
            f"each message must have a sender, a receiver and a size; got shapes {one.shape}, "
            f"{other.shape} and {size.shape}",
            key="sender",
        )
    if not (np.isfinite(size) & (size >= 0)).all():
        raise ParameterError("sizes must be bytes of at least 0", key="size_bytes")
    ranks = max(int(one.max(initial=-1)), int(other.max(initial=-1))) + 1
    placed = np.arange(topology.num_hosts) if hosts is None else topology.checked_hosts(hosts)
    if ranks > len(placed) or min(one.min(initial=0), other.min(initial=0)) < 0:
        raise ParameterError(
            f"every rank must have a host; {ranks} ranks have {len(placed)} hosts of "
            f"{topology.name}: give the host of each rank",
            key="hosts",
        )
    n = topology.num_hosts
    apart = (placed[one] != placed[other]) & (size > 0)
    pair, place = np.unique(placed[one[apart]] * n + placed[other[apart]], return_inverse=True)
    rate = np.bincount(place, size[apart], len(pair)).astype(np.float64)
    source, target = pair // n, pair % n
    busiest = max(
        np.bincount(source, rate, n).max(initial=0.0), np.bincount(target, rate, n).max(initial=0.0)
    )
    return Traffic(
        name,
        topology,
        source.astype(np.int32),
        target.astype(np.int32),
        rate / busiest if busiest > 0 else rate,
    )
