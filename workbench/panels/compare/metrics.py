"""The metrics of topologies, quick and slow, as the table that compares them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from workbench import machines
from workbench.html_table import Html, bold, html_table
from workbench.panels.compare.deferred import deferred_rows
from workbench.panels.compare.state import routing_name
from workbench.panels.compare.traffic import traffic_name
from workbench.panels.style import side_by_side
from workbench.plotting.descriptions import plain_number
from workbench.plotting.topology.metrics_table import MetricRow, Standing
from workbench.tasks import Task
from workbench.topology import Comparison, Topology, TopologyMetrics, summary
from workbench.topology.link_load import LinkLoads
from workbench.topology.metrics import Row
from workbench.topology.metrics.comparison import unequal_hosts
from workbench.topology.metrics.summary import MetricsPart
from workbench.topology.traffic import pattern_for

if TYPE_CHECKING:
    import pandas as pd

    from workbench.panels.compare.state import Simulated, StaticComparison

HOTTEST_ROWS = 6  # chosen: enough to see whether one class of links is hot, or few links are

_SHOWN: Mapping[str, tuple[str, str]] = {
    "hosts": ("hosts", ""),
    "routers": ("routers", ""),
    "links": ("links between routers", ""),
    "radix": (
        "ports of a router",
        "ports in use on the router with the most, including those to hosts",
    ),
    "link bandwidth": ("link bandwidth (hosts' links)", "of links between routers and of hosts"),
    "link bandwidth, GB/s": ("link bandwidth (GB/s)", "of links between routers and of hosts"),
    "routers per host": ("routers per host", ""),
    "links per host": ("links per host", "between routers"),
    "diameter": (
        "diameter (links)",
        "largest number of links on a shortest route between two routers",
    ),
    "routers passed": (
        "mean distance (routers)",
        "number of routers on a shortest route between two hosts, mean over all pairs of "
        "different hosts; routes pass routers without hosts but do not start or end there",
    ),
    "mean latency, µs": (
        "mean latency (µs)",
        "of a small message between two hosts, by the machine's links and the mean distance",
    ),
    "mean latency of links, µs": (
        "latency of links (µs)",
        "of the links between routers that a message takes, as the network states them, mean over "
        "all pairs of hosts",
    ),
    "Moore efficiency": (
        "of the Moore bound",
        "number of routers as a share of the largest that degree and diameter allow",
    ),
    "bisection per host": (
        "bisection (of full)",
        "links between two halves of the hosts, as a share of one link for each host of a half; a "
        "range lies between the proved bound and the best cut found",
    ),
    "bisection, GB/s": (
        "bisection (GB/s)",
        "bandwidth between two halves of the hosts, each way, by the machine's links",
    ),
    "shortest routes": ("shortest routes of a pair", "mean over random pairs of routers"),
    "algebraic connectivity": (
        "algebraic connectivity",
        "second smallest eigenvalue of the Laplacian of the routers",
    ),
    "Ramanujan": ("Ramanujan graph", "whether its eigenvalues reach the optimal bound"),
    "cost per host": (
        "cost per host ($, est.)",
        "routers and cables by the price table, which is an assumption",
    ),
    "power per host, W": (
        "power per host (W, est.)",
        "ports in use by the price table, which is an assumption",
    ),
}
"""The measures in the table: the title of a row, and its explanation."""

_OF_LINKS = ("mean latency, µs", "link bandwidth, GB/s", "bisection, GB/s")
"""Measures that are shown where the network states bandwidths, or a machine is chosen."""

_STATED = ("link bandwidth", "mean latency of links, µs")
"""Those that are shown where the network states them."""

_ALIKE = 5e-3  # mean loads of two networks that differ by less are alike
_PERCENT = ("Moore efficiency",)
_AT_ONCE: tuple[MetricsPart, ...] = ("distances", "cost")
_LATER: tuple[MetricsPart, ...] = ("spectrum", "bisection", "diversity")


def metrics_of(topology: Topology) -> TopologyMetrics:
    """Return the quick metrics of a topology."""
    return summary(topology, parts=_AT_ONCE)


def slow_metrics_of(topology: Topology, task: Task) -> TopologyMetrics:
    """Return spectrum, bisection and route diversity."""
    return summary(topology, parts=_LATER, task=task)


def hops_of(metrics: TopologyMetrics) -> NDArray[np.int64]:
    """Return the number of ordered pairs of hosts by routers passed, from 0, int64."""
    if metrics.distances is None:
        return np.zeros(1, np.int64)
    return np.concatenate(([0], metrics.distances.hosts))


def whole_comparison(compared: StaticComparison, slow: Mapping[str, TopologyMetrics]) -> Comparison:
    """Return all metrics known so far, under the topologies' short names."""
    found = []
    machine = compared.state.machine
    links = machines.links_of(machines.load(machine)) if machine else None
    for name, (entry, _) in compared.shown.items():
        one = replace(entry.metrics, name=name, links_take=links)
        late = slow.get(entry.spec)
        if late is not None:
            one = replace(one, **{part: getattr(late, part) for part in _LATER})
        found.append(one)
    return Comparison(tuple(found))


def metric_rows(compared: StaticComparison, found: Simulated) -> list[MetricRow]:
    """Return the rows of the table."""
    names = list(compared.shown)
    if not names:
        return []
    whole = whole_comparison(compared, found.metrics)
    waits = _waiting(compared, found)
    rows = []
    for measure, (title, about) in _SHOWN.items():
        # By a machine's links the bisection is known once it is found.
        hidden = _STATED if compared.state.machine else (*_STATED, *_OF_LINKS)
        if measure in hidden and measure not in whole.measures:
            continue
        cells = [_cell(one, percent=measure in _PERCENT) for one in whole.row(measure)]
        late = measure not in whole.measures or (waits and cells.count("–"))
        late = late and measure not in (*_STATED, "link bandwidth, GB/s")
        texts = {
            name: "…" if cell == "–" and late and name in waits else cell
            for name, cell in zip(names, cells, strict=True)
        }
        # No row is marked as the best while values are missing.
        best = () if "…" in texts.values() else [names[at] for at in whole.best(measure)]
        rows.append(MetricRow(title, texts, best, about))
    return [*rows, *deferred_rows(compared, found), _carried(compared)]


def _waiting(compared: StaticComparison, found: Simulated) -> set[str]:
    """Return the names of the topologies with pending slow metrics."""
    return {
        name
        for name, (entry, _) in compared.shown.items()
        if entry.spec not in found.metrics and ("metrics", entry.spec) not in found.without
    }


def _cell(row: Row, *, percent: bool) -> str:
    """Return a measure, or its bracket, with three digits."""
    if math.isnan(row.lower) or row.words:
        return str(row)
    scale = 100.0 if percent else 1.0
    ends = [_figure(scale * value) for value in (row.lower, row.highest)]
    text = ends[0] if ends[0] == ends[1] else " to ".join(ends)
    return f"{text} %" if percent else text


def _figure(value: float) -> str:
    if math.isinf(value):
        return "∞"
    if value == round(value) or abs(value) >= 1000:
        return f"{value:,.0f}"
    return plain_number(value) if abs(value) >= 0.01 or not value else "< 0.01"


def _carried(compared: StaticComparison) -> MetricRow:
    state = compared.state
    known = {
        name: loads.saturation for name, (_, loads) in compared.shown.items() if loads is not None
    }
    other = {
        name: pattern
        for name in known
        if (pattern := pattern_for(compared.shown[name][0].topology, state.traffic))
        != state.traffic
    }
    # Networks under substitute traffic are compared only if all of them are.
    alike = {name: value for name, value in known.items() if name not in other} or known
    most = max(alike.values(), default=0.0)
    best = [name for name, value in alike.items() if value >= most * (1 - _ALIKE)]
    return MetricRow(
        f"carries: {traffic_name(state.traffic)}, {routing_name(state.routing)}",
        {
            name: plain_number(value) + (f" ({other[name]})" if name in other else "")
            for name, value in known.items()
        },
        best if len(best) < len(alike) else (),
        "share of the hosts' bandwidth at which the first link is full: mean loads, no queues",
    )


def comparison_notes(compared: StaticComparison) -> tuple[str, ...]:
    """Return notes on the comparison, a sentence each."""
    known = {one.name: one for one in whole_comparison(compared, {}).metrics}
    return (
        *(f"{name} has {one.unequal}" for name, one in known.items() if one.unequal),
        *unequal_hosts({name: one.hosts for name, one in known.items()}),
    )


def standings(compared: StaticComparison) -> list[Standing]:
    """Return the topologies' values for the sentence about the comparison."""
    return [
        Standing(
            name,
            loads.saturation,
            entry.metrics.links / max(entry.metrics.hosts, 1),
            entry.metrics.distances.host_average if entry.metrics.distances else np.nan,
        )
        for name, (entry, loads) in compared.shown.items()
        if loads is not None
    ]


def comparison_frame(compared: StaticComparison, found: Simulated) -> pd.DataFrame:
    """Return a row for each measure, a column for each topology and the best; … where pending."""
    frame = whole_comparison(compared, found.metrics).to_frame()
    names = list(compared.shown)
    for name in _waiting(compared, found):
        frame[name] = frame[name].replace("–", "…")
    unknown = (frame[names] == "…").any(axis=1)
    frame["best"] = frame["best"].mask(unknown, "")
    for row in (*deferred_rows(compared, found), _carried(compared)):
        frame.loc[row.name] = [*(row.texts.get(name, "–") for name in names), "; ".join(row.best)]
    return frame


def hottest_html(compared: StaticComparison) -> str:
    """Return tables of the most loaded links of each topology."""
    return side_by_side(
        _hottest_table(name, entry.topology, loads, compared.state.traffic)
        for name, (entry, loads) in compared.shown.items()
        if loads is not None
    )


def _hottest_table(name: str, topology: Topology, loads: LinkLoads, traffic: str) -> str:
    most = float(loads.channel.max(initial=0.0))
    alike = int((loads.channel >= 0.98 * most).sum())
    rows = (
        (f"{source} → {target}", link_class, plain_number(load))
        for source, target, link_class, load in zip(
            *loads.hottest_columns(HOTTEST_ROWS).values(), strict=True
        )
    )
    pattern = pattern_for(topology, traffic)
    other = f"<br>{pattern}, as it has no groups" if pattern != traffic else ""
    caption = Html(
        f"{bold(name)}: {alike:,} of {len(loads.channel):,} directions of links<br>within 2 % of "
        f"the largest load{other}"
    )
    return html_table(rows, ("routers", "class", "load"), caption, align="llr")
