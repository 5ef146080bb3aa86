"""What is left of a network when links fail at random."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from workbench.arrays import FloatArray
from workbench.checks import whole
from workbench.errors import ParameterError
from workbench.result import Drawing, StoredResult
from workbench.tasks import Task, task_of
from workbench.topology.metrics.adjacency import RouterGraph
from workbench.topology.metrics.distances import distances
from workbench.topology.topology import Topology

if TYPE_CHECKING:
    import pandas as pd


SHARES = (0.0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5)
"""Shares of the links that fail, by default."""

TRIALS = 5
"""How often links are drawn, by default."""


@dataclass(frozen=True, eq=False)
class Resilience(StoredResult):
    """Measures of a network with failed links, by share that failed and trial.

    Attributes:
        topology: the network's name.
        shares: float64[shares], of the links that failed.
        connected: float64[shares, trials], share of the hosts in the largest part that is left.
        diameter: float64[shares, trials], of that part.
        average: float64[shares, trials], its average shortest path length.
        bisection: float64[shares, trials], links that are left of the best cut of the network as
            it was, refined anew; nan where it was not asked for, or hosts are apart.
        seed: of the draws.
    """

    topology: str
    shares: FloatArray
    connected: FloatArray = field(metadata={"axes": 2})
    diameter: FloatArray = field(metadata={"axes": 2})
    average: FloatArray = field(metadata={"axes": 2})
    bisection: FloatArray = field(metadata={"axes": 2})
    seed: int | None

    plot = Drawing("plot_resilience", lambda one: {one.topology: one})

    def to_frame(self) -> pd.DataFrame:
        """Return a row for each share and trial."""
        import pandas as pd

        shares, trials = self.connected.shape
        return pd.DataFrame(
            {
                "failed": np.repeat(self.shares, trials),
                "trial": np.tile(np.arange(trials), shares),
                "connected": self.connected.ravel(),
                "diameter": self.diameter.ravel(),
                "average": self.average.ravel(),
                "bisection": self.bisection.ravel(),
            }
        )

    def __repr__(self) -> str:
        return (
            f"Resilience({self.topology}: with {self.shares[-1]:.0%} of the links failed "
            f"{self.connected[-1].mean():.1%} of the hosts are together, diameter "
            f"{self.diameter[0].mean():.3g} to {self.diameter[-1].mean():.3g}; "
            f"{self.connected.shape[1]} trials)"
        )

    def _repr_html_(self) -> str:
        means = self.to_frame().groupby("failed").mean().drop(columns="trial")
        table = str(means.to_html(float_format=lambda value: f"{value:.4g}"))
        return f"<p>{html.escape(repr(self))}</p>{table}"


def resilience(
    topology: Topology,
    *,
    shares: Sequence[float] = SHARES,
    trials: int = TRIALS,
    bisections: bool = False,
    rng: np.random.Generator | int | None = 0,
    task: Task | None = None,
) -> Resilience:
    """Let links between routers fail at random, more and more of them.

    In a trial the links fail in one random order, so that what failed first stays failed; one of
    two parallel links may fail alone.

    Args:
        topology: the network.
        shares: of the links that fail, 0 up to below 1.
        trials: random orders of the links.
        bisections: whether to find cuts, too.
        rng: random generator or seed, of the orders.
        task: gets the progress after each network; once it is stopped, the work ends.

    Raises:
        ParameterError: shares or trials are none of these, or there are no links or hosts.
        SimulationHalted: the task was stopped.
    """
    failing = np.sort(np.asarray(shares, np.float64))
    if not len(failing) or not (failing[0] >= 0 and failing[-1] < 1):
        raise ParameterError(f"shares must be of 0 to below 1; got {shares}", key="shares")
    trials = whole(trials, "trials", 1)
    if not topology.num_links or not topology.num_hosts:
        raise ParameterError(
            f"resilience needs a network with links and hosts; {topology.name} has "
            f"{topology.num_links} links and {topology.num_hosts} hosts: leave resilience out",
            key="topology",
        )
    generator = np.random.default_rng(rng)
    found = np.full((4, len(failing), trials), np.nan)
    task = task_of(task)
    quiet = task.part()
    start = _intact_cut(topology, quiet) if bisections else None
    for trial in range(trials):
        order = generator.permutation(topology.num_links)
        for row, share in enumerate(failing):
            left = np.ones(topology.num_links, np.bool_)
            left[order[: round(share * topology.num_links)]] = False
            found[:3, row, trial] = _measure(RouterGraph.of(topology, left), quiet)
            if start is not None and found[0, row, trial] == 1:
                found[3, row, trial] = _cut(topology, left, start)
            done, total = trial * len(failing) + row + 1, trials * len(failing)
            task.report(done, total, f"{done} of {total} networks")
    connected, diameter, average, cut = found
    seed = rng if isinstance(rng, int) else None
    return Resilience(topology.name, failing, connected, diameter, average, cut, seed)


def _measure(graph: RouterGraph, task: Task) -> tuple[float, float, float]:
    """Return the share of hosts in the largest part, its diameter and its average distance."""
    part = graph.components()
    hosts = np.bincount(part, weights=graph.hosts)
    largest = part == hosts.argmax()
    within = distances(graph.part(largest), task=task)
    return float(hosts.max() / graph.hosts.sum()), within.diameter, within.average


def _intact_cut(topology: Topology, task: Task) -> NDArray[np.int8]:
    from workbench.topology.metrics.bisection import bisection

    return bisection(topology, routed=False, task=task).side


def _cut(topology: Topology, left: NDArray[np.bool_], start: NDArray[np.int8]) -> float:
    from workbench.topology.metrics.bisection import refined

    # Not the generator that draws links: those that fail are the same with cuts and without.
    return refined(RouterGraph.of(topology, left), start, np.random.default_rng(0), Task())[0]
