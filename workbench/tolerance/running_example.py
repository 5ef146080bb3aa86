"""The running example of Shen et al., LLAMP: one message between two ranks that compute."""

from __future__ import annotations

import dataclasses

from workbench.checks import whole
from workbench.models import LogGPS
from workbench.programs.goal import read_goal
from workbench.programs.graph import ExecutionGraph

_BYTES = 4  # s of Shen et al., II-B: 3 G are the 15 ns in Fig. 4's L + 1.115 µs
_S = 256 * 1024  # bytes


def running_example(c0_ns: int = 100, *, rendezvous: bool = False) -> tuple[ExecutionGraph, LogGPS]:
    """Return the program of figures 4 to 6 and 14 to 16, and its parameters.

    Rank 0 computes c0, sends 4 bytes and computes 1 µs; rank 1 computes 0.5 µs, receives them and
    computes 1 µs. L is 0.5 µs, o is 0 and G is 5 ns/B.

    Args:
        c0_ns: the first computation, ns: 100 in figures 4c, 5, 6 and 16, 1000 in figure 4b.
        rendezvous: make S smaller than the message, as in figures 14 and 15.

    Returns:
        The program and its parameters, as ``LatencyLP`` and ``analyse`` take them:
        ``LatencyLP(*running_example())``.

    Raises:
        ParameterError: ``c0_ns`` is not a whole number of at least 0.
    """
    first = whole(c0_ns, "c0_ns", 0, unit="ns")
    graph = read_goal(
        f"""num_ranks 2
rank 0 {{
c0: calc {first}
s: send {_BYTES}b to 1
c1: calc 1000
s requires c0
c1 requires s
}}
rank 1 {{
c2: calc 500
r: recv {_BYTES}b from 0
c3: calc 1000
r requires c2
c3 requires r
}}
"""
    )
    S = _BYTES - 1 if rendezvous else _S
    named = dataclasses.replace(graph, source="running example of LLAMP")
    return named, LogGPS(L=0.5e-6, o=0.0, g=0.0, G=5e-9, O=0.0, S=S)
