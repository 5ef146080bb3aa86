"""The longest path through a program as one stream of instructions, for many latencies at once.

``packing`` (with ``alike``) turns an execution graph into the stream that ``layout`` describes;
``passes`` runs it for one latency, ``lanes`` for eight at once; ``path`` follows it backwards, and
``slack`` the graph itself. All are without contention, as ``kernels.loggops.llamp``.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from numba import config

from kernels import cache_of_all

with cache_of_all(Path(__file__).parent):
    from kernels.sweep import alike, lanes, layout, packing, passes, path, slack

__all__ = ["alike", "lanes", "layout", "packing", "passes", "path", "slack", "vectorised"]


@contextmanager
def vectorised() -> Iterator[None]:
    """Enable LLVM's SLP vectoriser for what is compiled in the block.

    numba leaves that pass out unless it is asked for. It changes no result, only speed, and whoever
    compiles in another thread meanwhile gets it too.
    """
    before = config.SLP_VECTORIZE
    config.SLP_VECTORIZE = 1
    try:
        yield
    finally:
        config.SLP_VECTORIZE = before
