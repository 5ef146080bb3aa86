"""Traffic as something to draw from: whom each of a host's messages goes to."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from workbench.errors import ParameterError
from workbench.topology.traffic import Traffic


@dataclass(frozen=True, eq=False)
class TrafficDraws:
    """The random draw of message targets: a *row* of host ranges, shared by hosts that send alike.

    A message takes a range by its share, then one of its hosts evenly, never its own sender.
    """

    row: NDArray[np.int32]  # (hosts,), -1 for one that sends nothing
    first: NDArray[np.int32]  # (rows + 1,), where each row's ranges begin
    until: NDArray[np.float64]  # (ranges,), cumulative share in the row, up to 1
    low: NDArray[np.int32]  # (ranges,), first host
    count: NDArray[np.int32]  # (ranges,), hosts
    rate: NDArray[np.float64]  # (hosts,), share of the host's bandwidth


def draws_of(traffic: Traffic) -> TrafficDraws:
    """Return the draws whose messages add up to a traffic's rates."""
    n = traffic.topology.num_hosts
    listed = np.bincount(traffic.source, traffic.rate, n)
    rate = listed + traffic.everywhere
    if not rate.any():
        raise ParameterError(
            f"traffic needs a host that sends; with {traffic.name} none does: take another pattern",
            key="pattern",
        )
    if rate.max() > 1.0 + 1e-9:
        raise ParameterError(
            f"a host can send at most 1, its bandwidth; host {int(rate.argmax())} sends "
            f"{float(rate.max()):.3g}: scale the rates",
            key="pattern",
        )
    # Row 0 is that of hosts with nothing of their own; then one for each that has.
    own = np.flatnonzero(np.bincount(traffic.source, minlength=n))
    row = np.where(rate > 0, 0, -1).astype(np.int32)
    row[own] = np.arange(1, len(own) + 1)
    order = np.argsort(traffic.source, kind="stable")
    owner = row[traffic.source[order]]
    shared = traffic.everywhere > 0
    # Each host's listed targets, and last the range of all hosts, if it sends everywhere.
    owner = np.concatenate((owner, np.arange(len(own) + 1) if shared else np.zeros(0, np.int64)))
    weight = np.concatenate((traffic.rate[order], np.full(len(owner) - len(order), 1.0)))
    weight[len(order) :] *= traffic.everywhere
    low = np.concatenate((traffic.target[order], np.zeros(len(owner) - len(order), np.int64)))
    count = np.concatenate((np.ones(len(order)), np.full(len(owner) - len(order), n)))
    place = np.argsort(owner, kind="stable")
    first = np.zeros(len(own) + 2, np.int64)
    np.cumsum(np.bincount(owner, minlength=len(own) + 1), out=first[1:])
    total = np.cumsum(weight[place])
    begin = np.concatenate(([0.0], total))[first[:-1]]
    sums = np.concatenate(([0.0], total))[first[1:]] - begin
    owner = owner[place]
    until = np.minimum((total - begin[owner]) / sums[owner], 1.0)
    until[first[1:][np.diff(first) > 0] - 1] = 1.0
    return TrafficDraws(
        row=row,
        first=first.astype(np.int32),
        until=until,
        low=low[place].astype(np.int32),
        count=count[place].astype(np.int32),
        rate=np.minimum(rate, 1.0),
    )
