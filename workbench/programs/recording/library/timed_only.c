/* Calls of which only the name and the times are recorded, so that a program's time in them is not
 * taken for its own work. A replay has no place for them.
 */
#include "trace.h"

#define LIST(...) __VA_ARGS__

#define OTHER(NAME, PARAMETERS, ARGUMENTS)                                                     \
    RECORDED int MPI_##NAME(LIST PARAMETERS)                                                   \
    {                                                                                          \
        if (!trace_is_open()) return PMPI_##NAME(LIST ARGUMENTS);                              \
        int64_t start = clock_ns();                                                            \
        int result = PMPI_##NAME(LIST ARGUMENTS);                                              \
        if (result) return line_failed("MPI_" #NAME, result);                                  \
        line_begin("MPI_" #NAME, start);                                                       \
        line_end();                                                                            \
        return result;                                                                         \
    }
#define OTHER_RECEIVE(NAME, PARAMETERS, ARGUMENTS) OTHER(NAME, PARAMETERS, ARGUMENTS)
#define OTHER_MESSAGE(NAME, PARAMETERS, ARGUMENTS) OTHER(NAME, PARAMETERS, ARGUMENTS)

#include "other_calls.h"
