"""The Jupyter kernel that panels run in: its event loop, and its cells.

All work of panels is done in the thread of the kernel's event loop, in which cells run too. What
the page sends may come in another one: JupyterLab sends the messages of widgets over subshells.
"""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections import deque
from collections.abc import Callable, Hashable
from typing import Any, NamedTuple


class _Waiting(NamedTuple):
    replaces: Hashable
    context: contextvars.Context
    action: Callable[[], None]


_waiting: deque[_Waiting] = deque()
_lock = threading.Lock()
_loops: list[asyncio.AbstractEventLoop] = []


def kernel_loop() -> asyncio.AbstractEventLoop | None:
    """Return the event loop of the running Jupyter kernel, None outside of one."""
    # Cells run in the loop's thread, and a panel is made in a cell.
    main = threading.current_thread() is threading.main_thread()
    if not _loops and main and getattr(_shell(), "kernel", None) is not None:
        try:
            _loops.append(asyncio.get_running_loop())
        except RuntimeError:  # a kernel that is not running, as in a test
            return None
    return _loops[0] if _loops else None


def on_loop(action: Callable[[], None], replaces: Hashable = None) -> None:
    """Run an action in the loop's thread: at once there and outside of a kernel, else in turn.

    It is run instead of the last one that waits, if that ``replaces`` the same, not None.
    """
    loop = kernel_loop()
    if loop is None or threading.current_thread() is threading.main_thread():
        action()
        return
    # What is sent in answer refers to the message by the context: pages wait for that.
    one = _Waiting(replaces, contextvars.copy_context(), action)
    with _lock:
        if replaces is not None and _waiting and _waiting[-1].replaces == replaces:
            _waiting[-1] = one
            return
        _waiting.append(one)
    loop.call_soon_threadsafe(_run_first)


def run_waiting() -> None:
    """Run what waits for its turn: a cell that waits for a job calls it, so that Stop works."""
    while _waiting:
        _run_first()


def _run_first() -> None:
    with _lock:
        first = _waiting.popleft() if _waiting else None
    if first is not None:
        first.context.run(first.action)


def after_each_cell(action: Callable[[], None]) -> None:
    """Call an action after each further cell of the notebook; do nothing outside of one."""
    shell = _shell()
    if shell is not None:
        shell.events.register("post_run_cell", lambda *_: action())


def _shell() -> Any:
    from IPython.core.getipython import get_ipython

    return get_ipython()
