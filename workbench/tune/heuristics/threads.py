"""One BLAS thread for algebra too small to share out."""

from __future__ import annotations

import contextlib
import functools
from contextlib import AbstractContextManager
from typing import Any


def one_thread() -> AbstractContextManager[Any]:
    """Return a context in which BLAS uses the calling thread alone.

    A hundred rows are factored in a tenth of a millisecond; waking threads on a machine whose cores
    run something else took a hundred times as long.
    """
    controller = _controller()
    return contextlib.nullcontext() if controller is None else controller.limit(limits=1)


@functools.cache
def _controller() -> Any:
    try:
        from threadpoolctl import ThreadpoolController
    except ImportError:
        return None
    return ThreadpoolController()
