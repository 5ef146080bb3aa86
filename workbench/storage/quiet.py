"""Silences Optuna's messages about each study on stderr."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator

_lock = threading.Lock()
_levels: list[int] = []  # what each of those inside found, the first of them the user's


@contextlib.contextmanager
def quiet_optuna() -> Iterator[None]:
    """Silence Optuna's log; of several threads the last restores what the first one found."""
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
