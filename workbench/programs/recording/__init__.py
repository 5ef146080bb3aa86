"""Record what an MPI program does: run it with a library that notes each of its MPI calls.

    program = record(["./halo", "256", "60"], ranks=4, folder="traces/halo")

The library (``library/*.c``, PMPI; MPI standard 3.1, section 14.2) stands between the program and
its MPI. It is built once with the MPI's own compiler, for C, C++, Fortran and whatever calls MPI
through its C functions, such as mpi4py linked to it. A call is recorded once where it enters
another: Open MPI's Fortran calls ``PMPI_`` functions of its C (``workbench/mpi/library``).

Each rank writes ``trace-<rank>.txt``, in the manner of liballprof (Hoefler, Schneider, Lumsdaine:
LogGOPSim, HPDC 2010), one line a call, ``MPI_Name:start:arguments:end``, with some additions:

    # workbench trace 1                     first line
    # rank 0 of 4
    # mpi Open MPI v4.1.4
    # request stride 0                      requests are numbers, not addresses
    # clock elapsed                         or cpu
    # slowdown 6                            where cores were made slower
    # node 8 ranks on 4 cores               of this rank's node
    # comm 6 1 3                            communicator 6 is ranks 1 and 3 of all, in this order
    # grid 6 -2 1 : -2 1                    neighbours in its topology: from whom : to whom
    # type 1 MPI_DOUBLE                     what the program's first datatype is called
    MPI_Irecv:530.100:0:80:1,8,8:-1:5:6,0,2:7:530.900
    MPI_Waitany:531.000:2:7,9:0:1,5,640:544.200

The first call names buffer, count, datatype, peer, tag, communicator and request; the second the
number of requests, these, the index of the one that completed and its status.

- Times are in µs with three decimals, from about the end of MPI_Init on, the same zero on all ranks
  as far as their real-time clocks agree. The end is read when the line is ready, so that the
  recorder's work counts as the call's. Ranks on one machine leave MPI_Init together, as a replay
  has them, held until the last is there. On the CPU clock, the time between two calls is the
  thread's CPU time. ``# elapsed`` before the last line is the wall-clock time, with either clock.
- A datatype is ``number,size,extent``, a communicator ``number,own rank,size``. A communicator's
  number is the same on all its ranks and never used again; a negative one is the rank's own. Its
  ``# comm`` line stands before its first use: ``# intercomm N a b : c d`` where it joins groups.
- Requests count from 1 and are never used again; 0 is none, or a persistent one at rest; -1 was not
  seen. An array of them is a field, as it was before the call.
- ANY_SOURCE is -1, PROC_NULL -2, ROOT -3, ANY_TAG -1, UNDEFINED -32766, with every MPI.
- A status is ``-``, or ``source,tag,bytes`` where the receive did not name both; several are
  separated by ``;``. Flags and indices are the values that the call gave.
- A buffer is 1 where it is IN_PLACE, else 0. What means nothing at a rank is ``-``. The counts of
  v-variants are two fields, ``0:c0,c1,...``, displacements ``0:-``.
- Consecutive equal tests and probes without success are one line, whose start is moved so that the
  time before it is all the program's own.
- ``# cancelled 7`` and ``# failed MPI_Name`` mark a request and a call that did not complete.
- ``# grid`` or ``# neighbours`` follows the ``# comm`` line of a communicator with a topology; -2
  is PROC_NULL. Neighbourhood collectives become messages by it.
- ``# incomplete reason``, the second line of rank 0, says that the recording failed.
- Calls on windows and files, of other programs, in parts, and those with counts of more than 31
  bits (``library/timed_only.c``) have neither arguments nor a place in a replay: their lines keep
  their time from being taken for the program's own work.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.lazy import lazy_exports

if TYPE_CHECKING:
    from workbench.programs.recording.build import (
        RecordingError as RecordingError,
        build_recorder as build_recorder,
    )
    from workbench.programs.recording.run import record as record
else:
    __getattr__, __dir__ = lazy_exports(__name__)
