"""Two nodes on one switch, event by event in integer ticks, as SST/macro v11.1 orders them.

``run.osu`` is the entry point. The other files are its parts: ``layout`` (the state and its
cells), ``queues`` (every list of events or packets), ``network`` (where a message enters the wire),
``snappr``, ``pisces`` and ``logp`` (the three network models), ``host`` (MPI on one node) and
``recurrence`` (when the state repeats, whole periods are skipped).
"""
