"""Twins: routers with the same neighbours, between which flows need not be told apart."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from workbench.topology.channels import Channels


@dataclass(frozen=True, eq=False)
class Twins:
    """Classes of routers that have the same neighbours over links of the same costs.

    Each router of a class has as many channels of a cost to each router of another, so channels
    between two classes come in bundles. A network without twins has a class for each router.
    """

    class_of: NDArray[np.int32]  # (routers,)
    members: NDArray[np.int32]  # (classes,) number of routers
    first: NDArray[np.int32]  # (classes + 1,) bundles from class c begin at first[c]
    target: NDArray[np.int32]  # (bundles,) the class that each leads to
    weight: NDArray[np.uint16]  # (bundles,) cost of its channels
    channels: NDArray[np.int32]  # (bundles,) its channels from each router of the one class
    bundle_of: NDArray[np.int32]  # (D,) the bundle of each channel from router to router


def twins(ports: Channels) -> Twins:
    """Return the twins of a network, by the costs ``Topology.link_weight``."""
    source, target = (ends[: ports.between_routers] for ends in (ports.source, ports.target))
    weight = ports.topology.link_weight[ports.link]
    # A link's two ends and its cost in one number of at most 31 + 16 bits.
    way = (target.astype(np.int64) << 16) + weight
    way = way[np.lexsort((way, source))]
    known: dict[bytes, int] = {}
    bounds = zip(ports.first[:-1].tolist(), ports.first[1:].tolist(), strict=True)
    class_of = np.array(
        [known.setdefault(way[begin:end].tobytes(), len(known)) for begin, end in bounds], np.int32
    )
    members = np.bincount(class_of)
    classes = len(members)
    # One router's channels stand for its class.
    _, chosen = np.unique(class_of, return_index=True)
    key = (class_of[source].astype(np.int64) * classes + class_of[target] << 16) + weight
    bundles, count = np.unique(key[np.isin(source, chosen)], return_counts=True)
    begins, ends = np.divmod(bundles >> 16, classes)
    first = np.zeros(classes + 1, np.int32)
    np.cumsum(np.bincount(begins, minlength=classes), out=first[1:])
    return Twins(
        class_of=class_of,
        members=members.astype(np.int32),
        first=first,
        target=ends.astype(np.int32),
        weight=(bundles & 0xFFFF).astype(np.uint16),
        channels=count.astype(np.int32),
        bundle_of=np.searchsorted(bundles, key).astype(np.int32),
    )
