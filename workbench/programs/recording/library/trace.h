/* What the recorder's files share: the trace of this rank, its lines, and what handles stand for.
 *
 * A call is recorded like this:
 *
 *     int64_t start = clock_ns();
 *     int result = PMPI_Send(buf, count, type, dest, tag, comm);
 *     if (result) return line_failed("MPI_Send", result);
 *     line_begin("MPI_Send", start);
 *     field_buffer(buf); ...
 *     line_end();
 *     return result;
 */
#ifndef WORKBENCH_TRACE_H
#define WORKBENCH_TRACE_H

#include "interposed.h"

#include <stdint.h>

/* Start of MPI_Init, before which there is no time. */
#define NO_TIME INT64_MIN

/* A communicator, as the trace calls it. */
struct comm {
    long long number;
    int rank, size;
};

/* A request that has not completed, or a persistent one that has not been freed. */
struct request {
    uint64_t handle;
    long long number;
    int wildcard, persistent, active, cancelled;
    int held; /* by a call that has not come back */
    struct request *next;
};

/* trace.c: the file, the clock and the lines. From line_begin to line_end a lock is held. */
int64_t clock_ns(void);
void trace_open(void);
void trace_close(void);
int trace_is_open(void);
void trace_lock(void);
void trace_unlock(void);
void comment(const char *text);
void comment_text(const char *text);
void comment_number(long long value);
void comment_end(void);
void line_begin(const char *name, int64_t start);
void line_end(void);
void line_end_in_vain(void);  /* a test or probe that found nothing: a run of them is one line */
void line_end_forever(void);  /* a call that does not come back */
int line_failed(const char *name, int result);

void field(long long value);
void field_none(void);
void field_buffer(const void *buffer);
void field_peer(int rank);
void field_tag(int tag);
void field_place(int place); /* of a request, or a number of them, or MPI_UNDEFINED */
void field_counts(int count, const int *values); /* two fields, as liballprof has it */
void append(long long value);                    /* continues the field */
void append_text(const char *text);

/* handles.c: communicators, datatypes and requests. */
void handles_open(void);
void comm_made(MPI_Comm comm, int agree); /* agree: all its ranks are in the same call */
struct comm comm_of(MPI_Comm comm);
void neighbours(MPI_Comm comm, int *sources, int *destinations); /* how many there are */
void field_comm(MPI_Comm comm);
void field_comm_as(struct comm comm);
void field_type(MPI_Datatype type);
void append_type(MPI_Datatype type);

struct request *request_made(MPI_Request handle, int wildcard, int persistent);
struct request **requests_met(int count, const MPI_Request *handles);
void requests_let_go(int count, struct request *const *requests);
int requests_failed(const char *name, int result, int count, struct request *const *requests);
void request_started(struct request *request);
void request_done(struct request *request);
void request_gone(struct request *request);
void field_request(const struct request *request);
void field_requests(int count, struct request *const *requests);
void field_status(const struct request *request, const MPI_Status *status);
void field_status_if(int wildcard, const MPI_Status *status);
void field_statuses(int count, const int *places, struct request *const *requests,
                    const MPI_Status *statuses);

#endif
