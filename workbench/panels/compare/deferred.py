"""Rows of the comparison that take long: failing links, and throughput."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from workbench.plotting.descriptions import plain_number
from workbench.plotting.topology.metrics_table import MetricRow
from workbench.tasks import Task
from workbench.topology import Topology
from workbench.topology.metrics.resilience import Resilience, resilience
from workbench.topology.metrics.summary import Row
from workbench.topology.throughput import PHASES, Throughput, throughput

if TYPE_CHECKING:
    from workbench.panels.compare.state import Simulated, StaticComparison

FAILED = 0.1
"""Share of the links that fail in the table's rows."""

SHARES = (0.0, 0.05, FAILED, 0.2, 0.3, 0.4, 0.5)
"""Shares of the links that fail in the figure."""

TRIALS = 10
"""Number of draws of the failing links."""

PATTERNS: Mapping[str, tuple[str, str]] = {
    "uniform": ("throughput, uniform", "each host to all others"),
    "longest-matching": (
        "throughput, longest matching",
        "each host to one other as far away as can be, nearly the worst traffic there is",
    ),
}
"""The traffic whose throughput is found: the row's name, and what it means."""

TOLERANCE = 0.1
"""Relative gap of the bounds at which the search for a throughput ends."""

_WORK = 2e8  # senders times channels times phases that are searched, some seconds' worth


def resilience_of(topology: Topology, seed: int, task: Task) -> Resilience:
    """Return the measures with a share of `SHARES` of links failed."""
    return resilience(topology, shares=SHARES, trials=TRIALS, rng=seed, task=task)


def throughput_of(topology: Topology, pattern: str, task: Task) -> Throughput:
    """Return a pattern's throughput, or bounds; once the task is stopped, the bounds so far."""
    phases = _phases(topology)
    return throughput(topology, pattern, tolerance=TOLERANCE, phases=phases, task=task)


def _phases(topology: Topology) -> int:
    # A phase takes seconds on a large network, which gets the bounds that need no search.
    return int(min(PHASES, _WORK / max(topology.num_routers * 2 * topology.num_links, 1)))


def deferred_lines(topologies: Sequence[Topology], seed: int) -> list[str]:
    """Return Python code for ``failing`` and ``best``, the values of these rows."""
    return [
        "failing = [",
        f"    topology.resilience(one, shares={SHARES}, trials={TRIALS}, rng={seed})",
        "    for one in networks",
        "]",
        "best = {",
        "    pattern: [",
        f"        topology.throughput(one, pattern, tolerance={TOLERANCE}, phases=phases)",
        f"        for one, phases in zip(networks, {tuple(map(_phases, topologies))})",
        "    ]",
        f"    for pattern in {tuple(PATTERNS)}",
        "}",
    ]


def deferred_rows(compared: StaticComparison, found: Simulated) -> list[MetricRow]:
    """Return the rows on failing links and throughput, with … for pending values."""
    specs = {name: entry.spec for name, (entry, _) in compared.shown.items()}
    broken = {n: found.resilience.get(w) for n, w in specs.items()}
    share = f"{100 * FAILED:.0f} % of links down"
    drawn = f"at random, the mean of {TRIALS} draws ± their standard deviation"
    late = {n: ("resilience", w) not in found.without for n, w in specs.items()}
    together = _failed_row(
        f"together, {share}",
        f"share of the hosts in the largest part that is left when links fail {drawn}",
        {n: None if one is None else 100 * one.connected for n, one in broken.items()},
        better=1,
        late=late,
        among=specs,
    )
    distances = _failed_row(
        f"distances, {share}",
        "by how much the mean distance between routers of the largest part grows when links fail "
        f"{drawn}. A small part has short distances, so only the networks with the largest parts "
        "can be best",
        {
            n: None if one is None else 100 * (one.average / one.average[0] - 1)
            for n, one in broken.items()
        },
        better=-1,
        late=late,
        among=together.best or specs,
    )
    rows = [together, distances]
    for pattern, (title, meaning) in PATTERNS.items():
        carried = {n: found.throughput.get(w, {}).get(pattern) for n, w in specs.items()}
        coming = {n: (f"throughput {pattern}", w) not in found.without for n, w in specs.items()}
        rows.append(_throughput_row(title, meaning, carried, coming))
    return rows


def _failed_row(
    title: str,
    about: str,
    percent: Mapping[str, NDArray[np.float64] | None],
    *,
    better: int,
    late: Mapping[str, bool],
    among: Collection[str],
) -> MetricRow:
    """Return a row of means at `FAILED` with their spread; the best is one of ``among``."""
    at = SHARES.index(FAILED)
    texts, ends = {}, {}
    for name, values in percent.items():
        if values is None:
            texts[name] = "…" if late[name] else "–"
            continue
        mean, spread = float(values[at].mean()), float(values[at].std())
        if math.isnan(mean):
            # A single router is left of some draw: there is no distance.
            texts[name] = "–"
            continue
        sign = "+" if better < 0 and mean >= 0 else ""
        # Below a thousandth of a percent it is rounding, or all draws are alike.
        text = plain_number(mean)
        if spread >= 1e-3:
            digits = max(0, -math.floor(math.log10(spread)))
            text = f"{mean:.{digits}f} ± {spread:.{digits}f}"
        texts[name] = f"{sign}{text} %"
        if name not in among:
            continue
        ends[name] = sorted((better * (mean - spread), better * (mean + spread)))
    return MetricRow(title, texts, _best(texts, ends), about)


def _throughput_row(
    title: str,
    meaning: str,
    carried: Mapping[str, Throughput | None],
    coming: Mapping[str, bool],
) -> MetricRow:
    """Return a row of exact throughputs, and of brackets where only bounds are known."""
    texts, ends = {}, {}
    for name, one in carried.items():
        if one is None:
            texts[name] = "…" if coming[name] else "–"
            continue
        texts[name] = str(Row(_rounded(one.lower), _rounded(one.upper)))
        ends[name] = [one.lower, one.upper]
    about = (
        f"share of the hosts' bandwidth at which all can send, {meaning}, on the best possible "
        "routes (maximum concurrent flow). Two numbers: a lower and an upper bound"
    )
    return MetricRow(title, texts, _best(texts, ends), about)


def _best(texts: Mapping[str, str], ends: Mapping[str, list[float]]) -> list[str]:
    """Return the names that may be largest; none while a value is missing, or if all may be."""
    if "…" in texts.values() or len(ends) < 2:
        return []
    bar = max(low for low, _ in ends.values())
    best = [name for name, (_, high) in ends.items() if high >= bar - 1e-9 * abs(bar)]
    return [] if len(best) == len(ends) else best


def _rounded(value: float) -> float:
    return float(f"{value:.3g}") if math.isfinite(value) else value
