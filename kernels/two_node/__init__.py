"""Two nodes on one switch, event by event in integer ticks, as SST/macro v11.1 orders them.

``run.osu`` is the entry point. The other files are its parts: ``layout`` (the state and its
cells), ``queues`` (every list of events or packets), ``trains`` (their arithmetic), ``network``
(where a message enters the wire), ``snappr``, ``pisces`` with its ``arbiters`` and its
``lookahead``, and ``logp`` (the three network models), ``host`` (MPI on one node), and
``recurrence`` with its ``comparison`` (when the state repeats, whole periods are skipped).
``run.osu`` is compiled for PISCES, which is the larger half, and with ``recurrence`` when a run
needs it.
"""

from kernels.two_node import layout, run

__all__ = ["layout", "run"]
