/* How requests begin again, complete, and end. */
#include "trace.h"

#include <stdlib.h>

/* Statuses that the program does not ask for; good until the thread's next call. */
static MPI_Status *statuses_or_own(int count, MPI_Status *statuses)
{
    static __thread MPI_Status *own;
    static __thread int own_room;
    if (statuses != MPI_STATUSES_IGNORE) return statuses;
    if (count >= own_room) {
        free(own);
        own_room = 2 * count + 16;
        own = malloc(sizeof *own * (size_t)own_room);
        if (!own) abort();
    }
    return own;
}

static void all_done(int count, struct request **met)
{
    for (int i = 0; i < count; i++) request_done(met[i]);
}

static void some_done(int count, const int *places, struct request **met)
{
    for (int i = 0; i < count; i++) request_done(met[places[i]]);
}

int library_Start(MPI_Request *request)
{
    int64_t start = clock_ns();
    struct request **met = requests_met(1, request);
    int result = PMPI_Start(request);
    if (result) return requests_failed("MPI_Start", result, 1, met);
    line_begin("MPI_Start", start);
    requests_let_go(1, met);
    request_started(met[0]);
    field_request(met[0]);
    line_end();
    return result;
}

int library_Startall(int count, MPI_Request requests[])
{
    int64_t start = clock_ns();
    struct request **met = requests_met(count, requests);
    int result = PMPI_Startall(count, requests);
    if (result) return requests_failed("MPI_Startall", result, count, met);
    line_begin("MPI_Startall", start);
    requests_let_go(count, met);
    for (int i = 0; i < count; i++) request_started(met[i]);
    field(count);
    field_requests(count, met);
    line_end();
    return result;
}

int library_Cancel(MPI_Request *request)
{
    int64_t start = clock_ns();
    struct request **met = requests_met(1, request);
    int result = PMPI_Cancel(request);
    if (result) return requests_failed("MPI_Cancel", result, 1, met);
    line_begin("MPI_Cancel", start);
    requests_let_go(1, met);
    met[0]->cancelled = 1;
    field_request(met[0]);
    line_end();
    return result;
}

int library_Request_free(MPI_Request *request)
{
    int64_t start = clock_ns();
    struct request **met = requests_met(1, request);
    int result = PMPI_Request_free(request);
    if (result) return requests_failed("MPI_Request_free", result, 1, met);
    line_begin("MPI_Request_free", start);
    requests_let_go(1, met);
    field_request(met[0]);
    request_gone(met[0]);
    line_end();
    return result;
}

int library_Wait(MPI_Request *request, MPI_Status *status)
{
    int64_t start = clock_ns();
    struct request **met = requests_met(1, request);
    MPI_Status own;
    if (status == MPI_STATUS_IGNORE) status = &own;
    int result = PMPI_Wait(request, status);
    if (result) return requests_failed("MPI_Wait", result, 1, met);
    line_begin("MPI_Wait", start);
    requests_let_go(1, met);
    field_requests(1, met);
    field_status(met[0], status);
    request_done(met[0]);
    line_end();
    return result;
}

int library_Test(MPI_Request *request, int *flag, MPI_Status *status)
{
    int64_t start = clock_ns();
    struct request **met = requests_met(1, request);
    MPI_Status own;
    if (status == MPI_STATUS_IGNORE) status = &own;
    int result = PMPI_Test(request, flag, status);
    if (result) return requests_failed("MPI_Test", result, 1, met);
    line_begin("MPI_Test", start);
    requests_let_go(1, met);
    field_requests(1, met);
    field(*flag != 0);
    if (*flag) {
        field_status(met[0], status);
        request_done(met[0]);
        line_end();
    } else {
        field_none();
        line_end_in_vain();
    }
    return result;
}

int library_Waitall(int count, MPI_Request requests[], MPI_Status statuses[])
{
    int64_t start = clock_ns();
    struct request **met = requests_met(count, requests);
    statuses = statuses_or_own(count, statuses);
    int result = PMPI_Waitall(count, requests, statuses);
    if (result) return requests_failed("MPI_Waitall", result, count, met);
    line_begin("MPI_Waitall", start);
    requests_let_go(count, met);
    field(count);
    field_requests(count, met);
    field_statuses(count, NULL, met, statuses);
    all_done(count, met);
    line_end();
    return result;
}

int library_Testall(int count, MPI_Request requests[], int *flag, MPI_Status statuses[])
{
    int64_t start = clock_ns();
    struct request **met = requests_met(count, requests);
    statuses = statuses_or_own(count, statuses);
    int result = PMPI_Testall(count, requests, flag, statuses);
    if (result) return requests_failed("MPI_Testall", result, count, met);
    line_begin("MPI_Testall", start);
    requests_let_go(count, met);
    field(count);
    field_requests(count, met);
    field(*flag != 0);
    if (*flag) {
        field_statuses(count, NULL, met, statuses);
        all_done(count, met);
        line_end();
    } else {
        field_none();
        line_end_in_vain();
    }
    return result;
}

int library_Waitany(int count, MPI_Request requests[], int *index, MPI_Status *status)
{
    int64_t start = clock_ns();
    struct request **met = requests_met(count, requests);
    MPI_Status own;
    if (status == MPI_STATUS_IGNORE) status = &own;
    int result = PMPI_Waitany(count, requests, index, status);
    if (result) return requests_failed("MPI_Waitany", result, count, met);
    line_begin("MPI_Waitany", start);
    requests_let_go(count, met);
    field(count);
    field_requests(count, met);
    field_place(*index);
    if (*index == MPI_UNDEFINED) {
        field_none();
    } else {
        field_status(met[*index], status);
        request_done(met[*index]);
    }
    line_end();
    return result;
}

int library_Testany(int count, MPI_Request requests[], int *index, int *flag,
                    MPI_Status *status)
{
    int64_t start = clock_ns();
    struct request **met = requests_met(count, requests);
    MPI_Status own;
    if (status == MPI_STATUS_IGNORE) status = &own;
    int result = PMPI_Testany(count, requests, index, flag, status);
    if (result) return requests_failed("MPI_Testany", result, count, met);
    line_begin("MPI_Testany", start);
    requests_let_go(count, met);
    field(count);
    field_requests(count, met);
    field_place(*index);
    field(*flag != 0);
    if (*flag && *index != MPI_UNDEFINED) {
        field_status(met[*index], status);
        request_done(met[*index]);
        line_end();
    } else {
        field_none();
        line_end_in_vain();
    }
    return result;
}

static void field_some(int count, const int *places, struct request **met, int done,
                       const MPI_Status *statuses)
{
    field(count);
    field_requests(count, met);
    field_place(done);
    if (done == MPI_UNDEFINED || done == 0) {
        field_none();
        field_none();
        return;
    }
    field(places[0]);
    for (int i = 1; i < done; i++) {
        append_text(",");
        append(places[i]);
    }
    field_statuses(done, places, met, statuses);
    some_done(done, places, met);
}

int library_Waitsome(int count, MPI_Request requests[], int *done, int places[],
                     MPI_Status statuses[])
{
    int64_t start = clock_ns();
    struct request **met = requests_met(count, requests);
    statuses = statuses_or_own(count, statuses);
    int result = PMPI_Waitsome(count, requests, done, places, statuses);
    if (result) return requests_failed("MPI_Waitsome", result, count, met);
    line_begin("MPI_Waitsome", start);
    requests_let_go(count, met);
    field_some(count, places, met, *done, statuses);
    line_end();
    return result;
}

int library_Testsome(int count, MPI_Request requests[], int *done, int places[],
                     MPI_Status statuses[])
{
    int64_t start = clock_ns();
    struct request **met = requests_met(count, requests);
    statuses = statuses_or_own(count, statuses);
    int result = PMPI_Testsome(count, requests, done, places, statuses);
    if (result) return requests_failed("MPI_Testsome", result, count, met);
    line_begin("MPI_Testsome", start);
    requests_let_go(count, met);
    field_some(count, places, met, *done, statuses);
    if (*done > 0) line_end();
    else line_end_in_vain();
    return result;
}
