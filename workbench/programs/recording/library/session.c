/* Beginning and end of MPI, between which there is something to record. */
#include "trace.h"

static void begin(void)
{
    trace_open();
    handles_open();
}

int library_Init(int *argc, char ***argv)
{
    int result = PMPI_Init(argc, argv);
    if (result) return result;
    begin();
    line_begin("MPI_Init", NO_TIME);
    field(0);
    field(0);
    line_end();
    return result;
}

int library_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    int result = PMPI_Init_thread(argc, argv, required, provided);
    if (result) return result;
    begin();
    line_begin("MPI_Init_thread", NO_TIME);
    field(0);
    field(0);
    field(required);
    field(*provided);
    line_end();
    return result;
}

int library_Finalize(void)
{
    line_begin("MPI_Finalize", clock_ns());
    line_end_forever();
    trace_close();
    return PMPI_Finalize();
}

int library_Abort(MPI_Comm comm, int code)
{
    int64_t start = clock_ns();
    struct comm known = comm_of(comm);
    line_begin("MPI_Abort", start);
    field_comm_as(known);
    field(code);
    line_end_forever();
    trace_close();
    return PMPI_Abort(comm, code);
}
