"""Run MPI programs on a slower network than there is: each message completes later by a latency.

    run = run_delayed(["./halo", "256", "60"], ranks=4, latency_s=500e-6)

No privilege is needed. The library (``library/*.c``, PMPI; MPI standard 3.1, section 14.2) stands
between the program and its MPI, as LLAMP's injector stands in MPICH and UCX (section III-A, figures
8 and 17), and works with any MPI that provides MPI_THREAD_MULTIPLE. In each rank a progress thread
takes messages as they arrive, by MPI_Improbe, stamps them, and matches them to the receives that
the program has posted, in MPI's order; a delay thread releases each message when the latency has
passed since its stamp. Senders are not held, and messages under way do not wait for each other.

- A message that is older than the latency when its receive is posted completes at once.
- A message whose data are still to come when its receive is matched (more than the MPI's eager
  limit) is stamped when they are here. It is delayed once; an emulated network delays its handshake
  as well.
- Common collectives (barrier, bcast, reduce, allreduce, allgather, alltoall, gather, scatter, and
  those with counts) run on delayed messages, by schedules of ``workbench.programs.collectives``
  (``library/collectives.c`` names them): replay them with the same. Other collectives, non-blocking
  and persistent ones, windows and files are the MPI's, undelayed; the report has their number.
  Making and freeing communicators is not delayed, and not counted.
- The largest tag is the library's, and MPI_TAG_UB one less than the MPI's; Open MPI's Fortran asks
  for it in another way and gets the MPI's.
- MPI_Recv_c and others with counts of more than 31 bits, and MPI_Isendrecv, end the program.
- A receive is a generalized request for the program. Threads that wait sleep until a release; they
  look every ``poll_s`` only while sends are under way.

On a cluster, build the library with its MPI, and set its variables for all ranks. Each rank has two
threads more; where ranks are bound to cores, leave a rank two of them:

    python -c "from workbench.measure import delay; print(delay.build_delay_library('mpicc', '.'))"
    export WORKBENCH_DELAY_NS=500000 WORKBENCH_DELAY_POLL_NS=5000 WORKBENCH_DELAY_FOLDER=reports
    srun --cpus-per-task=2 --export=ALL,LD_PRELOAD=THE_PATH_PRINTED ./app

Each rank writes ``delay-<rank>.txt`` at MPI_Finalize, one fact a line, times in ns:

    workbench delay 1                    first line
    rank 0 of 4
    mpi Open MPI v4.1.4
    latency 500000
    poll 20000
    program 812345678                    from MPI_Init to MPI_Finalize
    already-due 3                        messages that completed when their receives were posted
    latest 91250                         the most that a release was late
    late 1023 17                         17 releases were at most so late, and later than others
    undelayed MPI_Iallreduce 2           calls whose messages were not delayed
    end                                  last line
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.lazy import lazy_exports

if TYPE_CHECKING:
    from workbench.measure.delay.build import (
        DelayError as DelayError,
        build_delay_library as build_delay_library,
    )
    from workbench.measure.delay.run import DelayedRun as DelayedRun, run_delayed as run_delayed
else:
    __getattr__, __dir__ = lazy_exports(__name__)
