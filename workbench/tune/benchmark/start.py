"""Start an MPI program of this machine and wait for its end."""

from __future__ import annotations

import time

from workbench.tune.runners.runner import Runner, RunOutput, RunRequest

_POLL_S = 0.02


def run_to_end(runner: Runner, request: RunRequest) -> RunOutput:
    """Start a run and return its output; end the run if the wait is interrupted."""
    handle = runner.start(request)
    try:
        while (output := handle.poll()) is None:
            time.sleep(_POLL_S)
        return output
    finally:
        handle.cancel()
