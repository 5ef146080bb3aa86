"""The traffic of the comparison, for mean loads and for simulations alike."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from workbench.topology import Topology
from workbench.topology.demand import Demand
from workbench.topology.traffic import Traffic, pattern_for, traffic

PATTERNS: Mapping[str, str] = {
    "uniform": "uniform: each host to all others",
    "permutation": "permutation: each host to one other",
    "tornado": "tornado: each host half the ring away",
    "transpose": "transpose: hosts as a matrix",
    "bit-complement": "bit complement: host i to N - 1 - i",
    "adversarial": "adversarial: each group to the next",
    "longest-matching": "longest matching: to the farthest",
    "hotspot": "hotspot: 20 % to one host",
}
"""The entry of each pattern in the list."""


OWN = "file"
"""Prefix of the name of an uploaded file, in place of a pattern's name."""


def traffic_of(topology: Topology, name: str, seed: int, own: Demand | None = None) -> Traffic:
    """Return the traffic of a pattern of `PATTERNS`, or the user's own."""
    if own is not None:
        return own.on(topology)
    pattern = pattern_for(topology, name)
    make = partial(traffic, topology, pattern)
    return make(rng=seed) if pattern == "permutation" else make()


def traffic_call(topology: Topology, variable: str, name: str, seed: int) -> str:
    """Return the Python call of the traffic on a topology named ``variable``."""
    if name.startswith(f"{OWN}:"):
        return f"read_demand({traffic_name(name)!r}).on({variable})"
    pattern = pattern_for(topology, name)
    drawn = f", rng={seed}" if pattern == "permutation" else ""
    return f'traffic({variable}, "{pattern}"{drawn})'


def traffic_name(name: str) -> str:
    """Return the displayed name of a traffic pattern or file."""
    return name.removeprefix(f"{OWN}:")
