"""A slow, plain-Python model of two nodes on one switch: the executable specification.

It runs the OSU latency and windowed-bandwidth tests event by event, as SST/macro v11.1 does, with
one small class for each part of the machine. The fast kernels are held to it on random
configurations, and it is held to the figures SST/macro printed (``tests/conformance``).

Read :mod:`tests.reference.osu` first; the other files are its parts:

============  =====================================================================
`osu`         the benchmark: two rank programs, one simulation, two curves
`mpi`         a rank's thread: protocols, matching, progress, host delays
`memory`      what a copy costs
`nic`         messages and what every network interface does with them; the LogP overlay
`logp`        the pure LogP interface
`snappr`      SNAPPR: output ports with credits, switch, interface
`pisces`      PISCES: credit buffers, crossbar, interface
`arbitrator`  PISCES' bandwidth arbitrators
`engine`      the clock and the order of events
`config`      the numbers, and how to take them from a workbench model
============  =====================================================================

Networks of many switches have a model of their own, in the files that begin with ``fabric_``; read
:mod:`tests.reference.fabric_hosts` first, which runs a collective benchmark on them.
"""

from tests.reference.config import Config
from tests.reference.osu import OsuFigures, run_osu

__all__ = ["Config", "OsuFigures", "run_osu"]
