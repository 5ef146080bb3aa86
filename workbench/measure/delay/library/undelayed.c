/* Calls whose messages are not delayed: they are MPI's, and the report has their number. */
#include "delay.h"

/* Weak: where another file has code for a call, that is the library's. */
#define OTHER(NAME, PARAMETERS, ARGUMENTS)                                                     \
    __attribute__((weak)) int library_##NAME PARAMETERS                                        \
    {                                                                                          \
        undelayed("MPI_" #NAME);                                                               \
        return PMPI_##NAME ARGUMENTS;                                                          \
    }

/* Messages are taken before MPI can match them to receives that are not ours. */
#define OTHER_RECEIVE(NAME, PARAMETERS, ARGUMENTS)                                             \
    __attribute__((weak)) int library_##NAME PARAMETERS                                        \
    {                                                                                          \
        refuse("programs whose messages are delayed must not call MPI_" #NAME "; use "         \
               "MPI_Irecv and MPI_Isend with counts of at most 31 bits");                      \
        return PMPI_##NAME ARGUMENTS;                                                          \
    }

/* Receivers delay what these send, and probes what they receive. */
#define OTHER_MESSAGE(NAME, PARAMETERS, ARGUMENTS)
#define LOCAL(NAME, PARAMETERS, ARGUMENTS)

#define CALL(KIND, NAME, PARAMETERS, ARGUMENTS) KIND(NAME, PARAMETERS, ARGUMENTS)
#include "mpi_calls.h"
