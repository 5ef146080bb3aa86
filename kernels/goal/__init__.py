"""GOAL in and out of arrays, and what must be known of a graph before it is replayed.

``parse`` (with ``scan``) and ``write`` are the text, ``binary`` is LogGOPSim's binary, ``edges``
sorts dependencies, ``order`` finds cycles and messages whose order is open; ``layout`` has the
numbers they agree on.
Numbers of operations are those of `workbench.programs.graph`: all ranks' operations, rank after
rank.
"""

from kernels.goal import binary, edges, layout, order, parse, write

__all__ = ["binary", "edges", "layout", "order", "parse", "write"]
