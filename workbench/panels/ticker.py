"""Polls in the kernel's event loop, the only thread besides callbacks that touches widgets."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable

from workbench.panels.kernel import kernel_loop


class Ticker:
    """Calls ``tick`` every ``interval_s`` seconds while it returns True."""

    def __init__(self, tick: Callable[[], bool], interval_s: float = 0.1) -> None:
        self._tick = tick
        self._interval_s = interval_s
        self._lock = threading.Lock()
        self._started = 0
        self.ticking = False

    def start(self) -> None:
        """Start the calls in the kernel's event loop; do nothing outside of a kernel."""
        # A chain of calls that already runs ends at its next call.
        loop = kernel_loop()
        if loop is not None:
            with self._lock:
                self._started += 1
                number = self._started
            self.ticking = True
            loop.call_soon_threadsafe(self._step, loop, number)

    def _step(self, loop: asyncio.AbstractEventLoop, number: int) -> None:
        if number == self._started:
            self.ticking = self._tick()
            if self.ticking:
                loop.call_later(self._interval_s, self._step, loop, number)
