"""Functions with known answers, in place of simulators."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from workbench.uq import Parameter, ParameterBox

FloatArray = NDArray[np.float64]

NETWORK = ParameterBox(
    [
        Parameter("max bandwidth", "B/s", 4e9, 9e9),
        Parameter("link bandwidth", "B/s", 2e9, 6e9),
        Parameter("injection latency", "s", 5e-7, 3e-6),
        Parameter("hop latency", "s", 5e-8, 3e-7),
    ]
)


def allgather(values: FloatArray) -> FloatArray:
    """Return seconds[n, 6] of a ring allgather on a torus, of 128 to 512 nodes, 1 to 32 KB.

    The link is shared by messages that cross, and slows them smoothly; each step is a message.
    """
    node, link, injection, hop = values.T
    times = []
    for nodes, size in (
        (128, 1024),
        (128, 8192),
        (256, 8192),
        (256, 32768),
        (512, 1024),
        (512, 32768),
    ):
        crossing = 1 + 0.2 * np.log2(nodes / 64)
        per_byte = ((1 / node) ** 3 + (crossing / link) ** 3) ** (1 / 3)
        times.append((nodes - 1) * (injection + 2.5 * hop + size * per_byte))
    return np.stack(times, axis=1)


def unit_box(*names: str) -> ParameterBox:
    """Return a box whose values are its coordinates."""
    return ParameterBox([Parameter(name, "", -1.0, 1.0) for name in names])
