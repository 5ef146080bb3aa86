"""Start an MPI program of this machine and wait for its end."""

from __future__ import annotations

import time

from workbench.tune.runners.runner import Runner, RunOutput, RunRequest

_POLL_S = 0.02


def run_to_end(runner: Runner, request: RunRequest) -> RunOutput:
    """Return what came of a run; where the wait is broken off, the run ends as well.

    Args:
        runner: what starts it.
        request: what to run.

    Raises:
        RunnerError: nothing can be run here at all.
        ParameterError: this runner cannot run such an invocation.
    """
    handle = runner.start(request)
    try:
        while (output := handle.poll()) is None:
            time.sleep(_POLL_S)
        return output
    finally:
        handle.cancel()
