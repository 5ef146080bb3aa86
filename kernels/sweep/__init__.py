"""The longest path through a program as one stream of instructions, for many latencies at once.

``packing`` (with ``alike``) turns an execution graph into the stream that ``layout`` describes;
``passes`` runs it for one latency, ``lanes`` for eight at once; ``path`` follows it backwards, and
``slack`` the graph itself. All are without contention, as ``kernels.loggops.llamp``.
"""

from kernels.sweep import alike, lanes, layout, packing, passes, path, slack

__all__ = ["alike", "lanes", "layout", "packing", "passes", "path", "slack"]
