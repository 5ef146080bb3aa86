/* What a library is made of that stands between a program and its MPI.
 *
 * The library's own code for MPI_Send is library_Send, which calls PMPI_Send for the MPI's. A program
 * reaches it by entries.c, and so does a call of PMPI_Send by the MPI's own Fortran layer.
 */
#ifndef WORKBENCH_INTERPOSED_H
#define WORKBENCH_INTERPOSED_H

#include <mpi.h>

/* Whether this thread is within a call already, whose own calls are the MPI's. A thread that the
 * library starts sets it. */
extern __thread int within_call;

#define CALL(KIND, NAME, PARAMETERS, ARGUMENTS) int library_##NAME PARAMETERS;
#include "mpi_calls.h"
#undef CALL

#endif
