"""Programs on LogGOPS: ``replay`` in LogGOPSim's order, ``retries`` with its quirks, and ``llamp``.

``replay.replay`` and ``retries.replay`` share ``layout`` (their arguments and numbers),
``matching`` (which receive takes which message), ``ties`` (order of what becomes free together)
and ``noise``; ``replay`` has ``queues`` and ``occupation`` (the clocks) for itself. ``llamp``
follows the graph alone, without contention.
"""

from kernels.loggops import llamp, noise, replay, retries

__all__ = ["llamp", "noise", "replay", "retries"]
