"""Loads of channels by definition: each flow over all of its minimal routes, in fractions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from workbench.topology import Topology, channels


def loads(topology: Topology, sent: np.ndarray) -> dict[int, Fraction]:
    """Return the load of each channel: traffic between routers in parts, link by link."""
    ports = channels(topology)
    between = ports.between_routers
    ends = list(zip(ports.source[:between], ports.target[:between], strict=True))
    # Links between groups first where there are any, then links.
    dear = topology.family in ("dragonfly", "dragonfly-plus")
    weight = [(int(dear and c == 2), 1) for c in ports.link_class[:between].tolist()]
    load = {channel: Fraction(0) for channel in range(between)}
    for target in range(topology.num_routers):
        # Bellman and Ford.
        best = {target: (0, 0)}
        for _ in range(topology.num_routers):
            for (here, there), one in zip(ends, weight, strict=True):
                if there in best:
                    cost = tuple(a + b for a, b in zip(best[there], one, strict=True))
                    best[here] = min(best.get(here, cost), cost)
        for source in range(topology.num_routers):
            flow = {source: Fraction(sent[source, target]).limit_denominator(10**6)}
            while flow:
                here = max(flow, key=lambda router: best[router])
                part = flow.pop(here)
                if here == target or not part:
                    continue
                ways = [
                    channel
                    for channel, (a, b) in enumerate(ends)
                    if a == here
                    and tuple(x + y for x, y in zip(best[b], weight[channel], strict=True))
                    == best[here]
                ]
                for channel in ways:
                    load[channel] += part / len(ways)
                    there = int(ends[channel][1])
                    flow[there] = flow.get(there, Fraction(0)) + part / len(ways)
    return load
