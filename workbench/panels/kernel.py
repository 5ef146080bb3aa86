"""What panels use of the Jupyter kernel they run in: its event loop, its cells, and turns.

Cells and ticks run in the kernel's main thread. What the page sends may come in another one:
JupyterLab sends the messages of widgets over subshells.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, MutableMapping
from typing import Any

TURN = threading.RLock()
"""Held by the thread that reads or changes panels."""


def kernel_loop() -> asyncio.AbstractEventLoop | None:
    """Return the event loop of the running Jupyter kernel, None outside of one."""
    return getattr(getattr(_kernel(), "io_loop", None), "asyncio_loop", None)


def after_each_cell(action: Callable[[], None]) -> None:
    """Call an action after each further cell of the notebook; do nothing outside of one."""
    shell = _shell()
    if shell is not None:
        shell.events.register("post_run_cell", lambda *_: action())


def take_turns() -> None:
    """Let the kernel hold ``TURN`` while it handles a message of a widget."""
    # A control's callback changes several things, of which a tick must not see a half.
    handlers: MutableMapping[str, Any] = getattr(_kernel(), "shell_handlers", {})
    handle = handlers.get("comm_msg")
    if handle is not None and not isinstance(handle, _InTurn):
        handlers["comm_msg"] = _InTurn(handle)


class _InTurn:
    def __init__(self, handle: Callable[..., Any]) -> None:
        self._handle = handle

    def __call__(self, *message: Any) -> Any:
        with TURN:
            return self._handle(*message)


def _shell() -> Any:
    from IPython.core.getipython import get_ipython

    return get_ipython()


def _kernel() -> Any:
    return getattr(_shell(), "kernel", None)
