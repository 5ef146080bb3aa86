/* Where a program enters the library: by MPI_Send, or by PMPI_Send, which Open MPI's Fortran calls.
 *
 * One call may enter another: an MPI's Fortran, its files and its collectives are partly made of other
 * calls, and so is the library. Only the outermost is the program's.
 */
#define _GNU_SOURCE
#include "interposed.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#define ENTRY __attribute__((visibility("default")))

/* The library is there when the program starts, so its place among a thread's variables is known. */
__thread int within_call __attribute__((tls_model("initial-exec")));

/* The MPI's own function, or that of another library of this kind which is loaded after this one. */
static void *next(const char *name)
{
    void *found = dlsym(RTLD_NEXT, name);
    if (found) return found;
    fprintf(stderr, "workbench: the MPI must have %s, which its mpi.h declares\n", name);
    abort();
}

/* Weak: for some calls a library has no code. */
#define CALL(KIND, NAME, PARAMETERS, ARGUMENTS)                                                \
    __attribute__((weak)) int library_##NAME PARAMETERS;                                       \
    ENTRY int MPI_##NAME PARAMETERS                                                            \
    {                                                                                          \
        static int(*next_call) PARAMETERS;                                                     \
        if (within_call || !library_##NAME) {                                                  \
            if (!next_call) *(void **)&next_call = next("PMPI_" #NAME);                        \
            return next_call ARGUMENTS;                                                        \
        }                                                                                      \
        within_call = 1;                                                                       \
        int status_of_call = library_##NAME ARGUMENTS;                                         \
        within_call = 0;                                                                       \
        return status_of_call;                                                                 \
    }                                                                                          \
    ENTRY int PMPI_##NAME PARAMETERS __attribute__((alias("MPI_" #NAME)));

#include "mpi_calls.h"
