"""What the writers of topologies share: names, hosts one by one, and links side by side."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from workbench.topology.files.assembly import MOST_PARALLEL, is_number
from workbench.topology.files.columns import written
from workbench.topology.topology import Topology

Fits = Callable[[str], bool]


@dataclass(frozen=True)
class Bundle:
    """Links of two routers that are alike."""

    one: int
    other: int
    link_class: int
    count: int
    bandwidth: str  # with its unit; empty where it is not known
    latency: str  # likewise


@dataclass(frozen=True)
class OwnHost:
    """A host that is written by itself."""

    name: str
    router: int
    bandwidth: str  # of its link, with its unit; empty where it is not known


def _labels(names: Sequence[str], count: int, fits: Fits) -> list[str]:
    """Return names that the format can hold and that keep the order when read, else numbers."""
    numbers = [int(name) for name in names if is_number(name)]
    kept = len(numbers) < len(names) or numbers == sorted(numbers)
    if names and kept and all(map(fits, names)):
        return list(names)
    return list(map(str, range(count)))


def router_labels(topology: Topology, fits: Fits) -> list[str]:
    """Return what each router is called in a file; ``fits`` says whether it can hold a name."""
    return _labels(topology.router_names, topology.num_routers, fits)


def hosts_of(topology: Topology, fits: Fits) -> tuple[list[int], list[OwnHost]]:
    """Return the number of hosts of each router, and each host where it needs a line of its own.

    It needs one for its name, its bandwidth, or its number, where those are not router by router.
    """
    at = topology.host_router
    counts = np.bincount(at, minlength=topology.num_routers).tolist()
    rates = topology.host_bandwidth.tolist()
    if not topology.host_names and not rates and (at[1:] >= at[:-1]).all():
        return counts, []
    names = _labels(topology.host_names, topology.num_hosts, fits)
    relative = topology.relative
    texts = [written(rate, "bandwidth", relative=relative) for rate in rates] or [""] * len(at)
    return counts, [OwnHost(*row) for row in zip(names, at.tolist(), texts, strict=True)]


def bundles(topology: Topology) -> Iterator[Bundle]:
    """Yield links that are alike together, in the order of classes, as a reader numbers these.

    More than fit one line of a file are split.
    """
    ends = np.sort(topology.links, axis=1)
    rates = [
        values if len(values) else np.full(len(ends), -1.0)
        for values in (topology.link_bandwidth, topology.link_latency)
    ]
    rows = np.column_stack((topology.link_class, ends, *rates))
    found, counts = np.unique(rows, axis=0, return_counts=True)
    for (link_class, one, other, bandwidth, latency), count in zip(
        found.tolist(), counts.tolist(), strict=True
    ):
        texts = (
            written(bandwidth, "bandwidth", relative=topology.relative) if bandwidth >= 0 else "",
            written(latency, "latency") if latency >= 0 else "",
        )
        for parallel in range(0, count, MOST_PARALLEL):
            several = min(count - parallel, MOST_PARALLEL)
            yield Bundle(int(one), int(other), int(link_class), several, *texts)
