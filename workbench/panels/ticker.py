"""Polls in the kernel's event loop, the only thread besides callbacks that touches widgets.

Callbacks of widgets may run in other threads of the kernel (JupyterLab sends their messages over
subshells), so a panel also holds its own lock.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Any


def kernel_loop() -> asyncio.AbstractEventLoop | None:
    """Return the event loop of the running Jupyter kernel, None outside of one."""
    from IPython.core.getipython import get_ipython

    shell: Any = get_ipython()
    kernel = getattr(shell, "kernel", None)
    return getattr(getattr(kernel, "io_loop", None), "asyncio_loop", None)


def after_each_cell(action: Callable[[], None]) -> None:
    """Call an action after each further cell of the notebook; do nothing outside of one."""
    from IPython.core.getipython import get_ipython

    shell: Any = get_ipython()
    if shell is not None:
        shell.events.register("post_run_cell", lambda *_: action())


class Ticker:
    """Calls ``tick`` every ``interval_s`` seconds while it returns True."""

    def __init__(self, tick: Callable[[], bool], interval_s: float = 0.1) -> None:
        self._tick = tick
        self._interval_s = interval_s
        self._lock = threading.Lock()
        self._started = 0

    def start(self) -> None:
        """Start the calls in the kernel's event loop; do nothing outside of a kernel."""
        # A chain of calls that already runs ends at its next call.
        loop = kernel_loop()
        if loop is not None:
            with self._lock:
                self._started += 1
                number = self._started
            loop.call_soon_threadsafe(self._step, loop, number)

    def _step(self, loop: asyncio.AbstractEventLoop, number: int) -> None:
        if number == self._started and self._tick():
            loop.call_later(self._interval_s, self._step, loop, number)
