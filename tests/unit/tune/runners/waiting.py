"""Waiting for a run."""

from __future__ import annotations

import time

from workbench.tune.runners import RunHandle, RunOutput


def wait(handle: RunHandle) -> RunOutput:
    """Return a run's output once it has ended, at most ten minutes from now."""
    deadline = time.monotonic() + 600.0
    while (output := handle.poll()) is None:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    return output
