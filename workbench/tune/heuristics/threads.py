"""One BLAS thread for algebra too small to share out."""

from __future__ import annotations

import functools
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from threadpoolctl import ThreadpoolController


def one_thread() -> AbstractContextManager[Any]:
    """Return a context in which BLAS uses the calling thread alone."""
    # 30x on two busy cores, for a proposal from 150 values (tests/benchmarks/test_heuristics.py).
    limited: AbstractContextManager[Any] = _controller().limit(limits=1, user_api="blas")
    return limited


@functools.cache
def _controller() -> ThreadpoolController:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
