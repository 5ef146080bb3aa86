"""The traffic that the comparison offers, for mean loads and for simulations alike."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from workbench.topology import Topology
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
"""What the list says of each pattern."""


def traffic_of(topology: Topology, name: str, seed: int) -> Traffic:
    """Return the traffic of a pattern.

    Args:
        topology: the network.
        name: in `PATTERNS`.
        seed: of the random permutation.

    Raises:
        ParameterError: the network has no place for the pattern.
    """
    pattern = pattern_for(topology, name)
    make = partial(traffic, topology, pattern)
    return make(rng=seed) if pattern == "permutation" else make()


def traffic_words(topology: Topology, name: str, seed: int) -> str:
    """Return the arguments of ``traffic`` after the topology, as Python.

    Args:
        topology: the network.
        name: in `PATTERNS`.
        seed: of the random permutation.
    """
    pattern = pattern_for(topology, name)
    return f'"{pattern}", rng={seed}' if pattern == "permutation" else f'"{pattern}"'
