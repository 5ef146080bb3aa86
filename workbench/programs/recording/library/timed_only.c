/* Calls of which only the name and the times are recorded, so that a program's time in them is not
 * taken for its own work. A replay has no place for them.
 */
#include "trace.h"

/* Weak: where another file has code for a call, that is the library's. */
#define OTHER(NAME, PARAMETERS, ARGUMENTS)                                                     \
    __attribute__((weak)) int library_##NAME PARAMETERS                                        \
    {                                                                                          \
        if (!trace_is_open()) return PMPI_##NAME ARGUMENTS;                                    \
        int64_t start = clock_ns();                                                            \
        int result = PMPI_##NAME ARGUMENTS;                                                    \
        if (result) return line_failed("MPI_" #NAME, result);                                  \
        line_begin("MPI_" #NAME, start);                                                       \
        line_end();                                                                            \
        return result;                                                                         \
    }
#define OTHER_RECEIVE OTHER
#define OTHER_MESSAGE OTHER
#define LOCAL(NAME, PARAMETERS, ARGUMENTS)

#define CALL(KIND, NAME, PARAMETERS, ARGUMENTS) KIND(NAME, PARAMETERS, ARGUMENTS)
#include "mpi_calls.h"
