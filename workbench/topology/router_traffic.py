"""Traffic between routers, as a matrix or as less than that, read a few receivers at a time."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from workbench.arrays import FloatArray, IntArray
from workbench.topology.traffic import Traffic


class RouterTraffic(Protocol):
    """What the hosts of each router send to those of each other; nothing to its own."""

    @property
    def sent(self) -> FloatArray:
        """What each router sends in all, float64[routers]."""

    @property
    def received(self) -> FloatArray:
        """What each router gets in all, float64[routers]."""

    def to(self, receivers: IntArray, senders: IntArray) -> FloatArray:
        """Return what some routers get from some, float64[receivers, senders]."""


@dataclass(frozen=True, eq=False)
class MatrixTraffic:
    """Traffic as a matrix, float64[routers, routers], a row for each that sends; diagonal 0."""

    matrix: FloatArray

    @cached_property
    def sent(self) -> FloatArray:
        """What each router sends in all, float64[routers]."""
        total: FloatArray = self.matrix.sum(axis=1)
        return total

    @cached_property
    def received(self) -> FloatArray:
        """What each router gets in all, float64[routers]."""
        total: FloatArray = self.matrix.sum(axis=0)
        return total

    def to(self, receivers: IntArray, senders: IntArray) -> FloatArray:
        """Return what some routers get from some, float64[receivers, senders]."""
        return np.ascontiguousarray(self.matrix[np.ix_(senders, receivers)].T)


@dataclass(frozen=True, eq=False)
class SumTraffic:
    """Traffic in which a router sends ``out * into`` to each other, summed, and single flows."""

    routers: int  # number of routers
    products: tuple[tuple[FloatArray, FloatArray], ...]  # out and into, (routers,) each
    source: IntArray  # (flows,) routers
    target: IntArray  # (flows,) routers, ascending; none is its source
    rate: FloatArray  # (flows,)

    @classmethod
    def of_products(cls, *products: tuple[FloatArray, FloatArray]) -> SumTraffic:
        """Return the traffic without single flows, of at least one product."""
        none = np.zeros(0, np.int64)
        return cls(len(products[0][0]), products, none, none, np.zeros(0))

    @classmethod
    def of(cls, traffic: Traffic) -> SumTraffic:
        """Return a pattern's traffic between routers."""
        routers, at = traffic.topology.num_routers, traffic.topology.host_router.astype(np.int64)
        hosts = np.bincount(at, minlength=routers).astype(np.float64)
        share = traffic.everywhere / max(traffic.topology.num_hosts - 1, 1)
        source, target = at[traffic.source], at[traffic.target]
        order = np.argsort(target, kind="stable")
        order = order[source[order] != target[order]]
        products = ((hosts * share, hosts),) if share else ()
        return cls(routers, products, source[order], target[order], traffic.rate[order])

    @cached_property
    def sent(self) -> FloatArray:
        """What each router sends in all, float64[routers]."""
        total = np.bincount(self.source, self.rate, self.routers).astype(np.float64)
        for out, into in self.products:
            total += out * (into.sum() - into)
        return total

    @cached_property
    def received(self) -> FloatArray:
        """What each router gets in all, float64[routers]."""
        total = np.bincount(self.target, self.rate, self.routers).astype(np.float64)
        for out, into in self.products:
            total += into * (out.sum() - out)
        return total

    def to(self, receivers: IntArray, senders: IntArray) -> FloatArray:
        """Return what some routers get from some, float64[receivers, senders]."""
        found = np.zeros((len(receivers), len(senders)))
        for out, into in self.products:
            found += np.outer(into[receivers], out[senders])
        column = np.full(self.routers, -1)
        column[senders] = np.arange(len(senders))
        itself = column[receivers]
        found[itself >= 0, itself[itself >= 0]] = 0.0
        first, last = (np.searchsorted(self.target, receivers, side) for side in ("left", "right"))
        number = last - first
        row = np.repeat(np.arange(len(receivers)), number)
        flow = np.arange(len(row)) + np.repeat(first - (np.cumsum(number) - number), number)
        place = column[self.source[flow]]
        some = place >= 0
        np.add.at(found, (row[some], place[some]), self.rate[flow[some]])
        return found
