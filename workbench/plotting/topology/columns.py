"""The rows of a drawn topology: its routers, its links with their load, and the marked ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from workbench.errors import ParameterError
from workbench.plotting import palette
from workbench.plotting.topology.layout import TopologyLayout
from workbench.units import format_quantity

if TYPE_CHECKING:
    from workbench.topology import Topology

CLASS_COLOURS = (
    palette.SKY_BLUE,
    palette.ORANGE,
    palette.GREEN,
    palette.PURPLE,
    palette.BLUE,
    palette.OLIVE,
)
"""Of the classes of links in their order, hosts' links left out."""

HOTTEST = 0.98
"""Links with at least this share of the largest load are marked, unless many have it."""

MOST_MARKED = 64
"""Links that are marked at most. Chosen: where many are thicker they hide the others."""

MOST_LINKS = 4_000
"""Links that are drawn, so that one sees through them and a zoom stays smooth: of more the most
loaded and some of all others, or as many of each class as its share."""

_FAINTEST = 0.08  # chosen: 9 lines over one another are half opaque
_THICKEST = 4  # chosen: of links of 1 to 40 the thickest would hide what lies behind it


@dataclass(frozen=True, eq=False)
class DrawnLinks:
    """The drawn links; those of one class and bandwidth that join the same two nodes are one."""

    ends: NDArray[np.int64]  # int64[drawn, 2], nodes
    link_class: NDArray[np.uint8]  # uint8[drawn]
    count: NDArray[np.int64]  # int64[drawn], links merged into each
    drawn: NDArray[np.int64]  # int64[links], index of the drawn link; -1 within a node
    capacity: NDArray[np.float64]  # float64[drawn], of each of the links merged

    @property
    def shown(self) -> int:
        """Number of links that are shown, at most ``MOST_LINKS``."""
        return min(len(self.ends), MOST_LINKS)

    def largest(self, values: ArrayLike) -> NDArray[np.float64]:
        """Return the largest of the values float64[links] in each drawn link, float64[drawn]."""
        found = np.full(len(self.ends), -np.inf)
        seen = self.drawn >= 0
        np.maximum.at(found, self.drawn[seen], np.asarray(values, float)[seen])
        return found


def drawn_links(topology: Topology, layout: TopologyLayout) -> DrawnLinks:
    """Return the drawn links: alike ones between the same two nodes are merged."""
    ends = np.sort(layout.node[topology.links], axis=1)
    between = ends[:, 0] != ends[:, 1]
    kinds, kind = np.unique(topology.capacity, return_inverse=True)
    rows = np.column_stack((ends, topology.link_class, kind))[between]
    found, drawn_as, count = np.unique(rows, axis=0, return_inverse=True, return_counts=True)
    drawn = np.full(len(ends), -1)
    drawn[between] = drawn_as.ravel()
    return DrawnLinks(found[:, :2], found[:, 2].astype(np.uint8), count, drawn, kinds[found[:, 3]])


def thickness(capacity: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return how many times as thick as the thinnest each link is: once more for each doubling."""
    least = float(capacity.min(initial=np.inf))
    return np.asarray(np.minimum(1 + np.log2(capacity / least), _THICKEST), np.float64)


def bandwidth_text(topology: Topology, capacity: float) -> str:
    """Return the bandwidth of a link of some capacity: ``50 GB/s``, or ``2 × a host's link``."""
    if np.isnan(topology.reference_bandwidth):
        return f"{capacity:.4g} × a host's link"
    return format_quantity(capacity * topology.reference_bandwidth, "bandwidth")


def checked_loads(topology: Topology, load: ArrayLike | None) -> NDArray[np.float64] | None:
    """Return the loads of links as float64[links], None for none."""
    if load is None:
        return None
    values = np.asarray(load, float)
    if values.shape != (topology.num_links,):
        raise ParameterError(
            f"load must be one for each of {topology.num_links} links; got shape {values.shape}",
            key="load",
        )
    return values


def router_columns(topology: Topology, layout: TopologyLayout) -> dict[str, Any]:
    """Return the columns of the routers, or of the nodes that stand for several."""
    nodes = len(layout.x)
    hosts = np.bincount(layout.node[topology.host_router], minlength=nodes)
    held = np.bincount(layout.node, minlength=nodes)
    return {
        "x": layout.x.astype(np.float32),
        "y": layout.y.astype(np.float32),
        "size": np.full(nodes, float(np.clip(60 / np.sqrt(nodes), 2.0, 9)), np.float32),
        "filled": (hosts > 0).astype(np.float32),
        "name": _node_names(topology, layout),
        "about": [
            (f"{n:,} routers, " if n > 1 else "") + f"{h:,} host{'' if h == 1 else 's'}"
            for n, h in zip(held.tolist(), hosts.tolist(), strict=True)
        ],
    }


def link_columns(
    layout: TopologyLayout,
    drawn: DrawnLinks,
    load: NDArray[np.float64] | None,  # float64[links]; None colours by class
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the columns of the shown and of the marked links, as numbers only, to travel fast."""
    one, other = drawn.ends[:, 0], drawn.ends[:, 1]
    count = len(one)
    worst = np.full(count, np.nan) if load is None else drawn.largest(load)
    rows = _spread(count, drawn.shown) if load is None else _most_loaded(worst, drawn.shown)
    # Few links are clearest opaque; of thousands one sees through to those behind.
    lengths = np.hypot(layout.x[one] - layout.x[other], layout.y[one] - layout.y[other])
    ink = float(lengths[rows].sum())
    thin = float(np.clip(25 / np.sqrt(ink + 1), 0.35, 1.8))
    alpha = float(np.clip(400 / (ink + 1), _FAINTEST, 0.85))
    times = thickness(drawn.capacity)
    if load is None:
        value, width = drawn.link_class.astype(float), thin * times
        opaque = np.full(count, alpha)
    else:
        # What is more than full stands out, however much fuller another one is.
        share = np.minimum(worst / (min(float(worst.max(initial=0.0)), 1.0) or 1.0), 1.0)
        # Where bandwidths differ thickness shows them alone.
        value, width = worst, thin * (times if times.max(initial=1.0) > 1 else 0.5 + share)
        opaque = np.clip(alpha * (0.4 + 0.8 * share), _FAINTEST, 1.0)
    links = {
        "x0": layout.x[one],
        "y0": layout.y[one],
        "x1": layout.x[other],
        "y1": layout.y[other],
        "value": value,
        "width": width,
        "alpha": opaque,
        "load": worst,
        "capacity": drawn.capacity,
    }
    columns = {name: values[rows].astype(np.float32) for name, values in links.items()}
    for name, whole in (
        ("one", one),
        ("other", other),
        ("kind", drawn.link_class),
        ("count", drawn.count),
    ):
        columns[name] = whole[rows].astype(np.int32)
    marked = _marked(columns["load"])
    return columns, {name: values[marked] for name, values in columns.items()}


def _spread(count: int, shown: int) -> NDArray[np.int64]:
    """Return `shown` indices, evenly spaced in 0 to `count` - 1."""
    rows: NDArray[np.int64] = np.arange(shown) * count // max(shown, 1)
    return rows


def _most_loaded(load: NDArray[np.float64], shown: int) -> NDArray[np.int64]:
    """Return the links to draw in ascending load: half the most loaded, half from all others."""
    mixed = np.random.default_rng(0).permutation(len(load))
    # Of links that are loaded alike no part of the network may have all that are drawn.
    alike = np.round(load[mixed] / (float(load.max(initial=0.0)) or 1.0), 3)
    order = mixed[np.argsort(alike, kind="stable")]
    if shown == len(order):
        return order
    rest = len(order) - shown // 2
    return np.concatenate((order[_spread(rest, shown - shown // 2)], order[rest:]))


def _marked(load: NDArray[np.float32]) -> NDArray[np.bool_]:
    """Return a mask of the most loaded links; empty where too many are alike."""
    largest = float(np.nanmax(load, initial=0.0))
    hot: NDArray[np.bool_] = load >= HOTTEST * largest
    # Where all are alike, as in a symmetric network, marking some would mislead.
    few = largest > 0 and hot.sum() <= min(MOST_MARKED, len(load) // 3)
    return hot if few else np.zeros(len(load), np.bool_)


def drawing_note(topology: Topology, layout: TopologyLayout, drawn: DrawnLinks) -> str:
    """Return a note on merged routers, omitted links and what thickness means; or empty."""
    notes = []
    if layout.aggregated:
        notes.append(f"{topology.num_routers:,} routers as {len(layout.x):,} nodes")
    if drawn.shown < len(drawn.ends):
        notes.append(f"{drawn.shown:,} of {len(drawn.ends):,} links")
    if topology.unequal:
        least, most = float(topology.capacity.min()), float(topology.capacity.max())
        span = bandwidth_text(topology, least)
        if most > least:
            span = f"{span} (thin) to {bandwidth_text(topology, most)} (thick)"
        notes.append(f"links of {span}")
    return f"drawn: {', '.join(notes)}" if notes else ""


def _node_names(topology: Topology, layout: TopologyLayout) -> list[str]:
    if not layout.aggregated:
        at = topology.coordinates
        if not at.shape[1]:
            return [f"router {router}" for router in range(topology.num_routers)]
        return [
            f"router {router} at ({', '.join(map(str, row))})"
            for router, row in enumerate(at.tolist())
        ]
    nodes = len(layout.x)
    first = np.full(nodes, topology.num_routers)
    np.minimum.at(first, layout.node, np.arange(topology.num_routers))
    last = np.zeros(nodes, np.int64)
    np.maximum.at(last, layout.node, np.arange(topology.num_routers))
    names = []
    for low, high in zip(first.tolist(), last.tolist(), strict=True):
        group = int(topology.group[low])
        whole = group >= 0 and group == int(topology.group[high])
        names.append(f"group {group}" if whole else f"routers {low} to {high}")
    return names
