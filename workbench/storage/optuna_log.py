"""Silences Optuna's messages about each study on stderr."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator

_lock = threading.Lock()
_levels: list[int] = []  # the level before each entry; the first is the user's


@contextlib.contextmanager
def quiet_optuna() -> Iterator[None]:
    """Silence Optuna's log until the last of several threads leaves."""
    import optuna

    with _lock:
        _levels.append(optuna.logging.get_verbosity())
        optuna.logging.set_verbosity(optuna.logging.ERROR)
    try:
        yield
    finally:
        with _lock:
            level = _levels.pop()
            if not _levels:
                optuna.logging.set_verbosity(level)
