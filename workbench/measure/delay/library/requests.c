/* Receives that the program waits for by a request.
 *
 * Each is a generalized request (MPI standard 3.1, section 12.2), completed when it is released. A
 * persistent one is a request of MPI's that is never started, and a generalized one when it runs.
 * Threads that wait do not poll for receives: they sleep until one is released.
 */
#include "delay.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { BUCKETS = 1024, FEW = 64 };

/* What a handle stands for: a receive, or a persistent one. */
struct entry {
    MPI_Request handle;
    struct receive *receive;
    struct persistent *persistent;
    struct entry *next;
};

static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;
static struct entry *table[BUCKETS];
static int persistents;

static struct entry **place_of(MPI_Request handle)
{
    uint64_t bits = 0;
    memcpy(&bits, &handle, sizeof handle);
    struct entry **at = &table[bits * 0x9E3779B97F4A7C15ULL >> 54];
    while (*at && (*at)->handle != handle) at = &(*at)->next;
    return at;
}

static void table_add(MPI_Request handle, struct receive *receive, struct persistent *persistent)
{
    struct entry *made = room(sizeof *made);
    *made = (struct entry){handle, receive, persistent, NULL};
    pthread_mutex_lock(&table_lock);
    *place_of(handle) = made;
    persistents += persistent != NULL;
    pthread_mutex_unlock(&table_lock);
}

static struct entry table_look(MPI_Request handle)
{
    pthread_mutex_lock(&table_lock);
    struct entry *at = *place_of(handle), none = {MPI_REQUEST_NULL, NULL, NULL, NULL};
    struct entry found = at ? *at : none;
    pthread_mutex_unlock(&table_lock);
    return found;
}

static void table_remove(MPI_Request handle)
{
    pthread_mutex_lock(&table_lock);
    struct entry **at = place_of(handle), *gone = *at;
    if (gone) {
        *at = gone->next;
        persistents -= gone->persistent != NULL;
    }
    pthread_mutex_unlock(&table_lock);
    free(gone);
}

struct persistent *persistent_of(MPI_Request handle) { return table_look(handle).persistent; }

void persistent_made(struct persistent *made, MPI_Request handle) { table_add(handle, NULL, made); }

/* What MPI calls back. */

static int query(void *state, MPI_Status *status)
{
    const struct receive *receive = state;
    *status = receive->status;
    return receive->error;
}

static int forget(void *state)
{
    struct receive *receive = state;
    table_remove(receive->handle);
    receive_forget(receive);
    return MPI_SUCCESS;
}

static int leave_alone(void *state, int complete)
{
    (void)state, (void)complete; /* MPI_Cancel is ours */
    return MPI_SUCCESS;
}

void receive_fill(struct receive *receive, void *buffer, int count, MPI_Datatype type, int source,
                  int tag, struct channel *channel)
{
    memset(receive, 0, sizeof *receive);
    receive->buffer = buffer;
    receive->count = count;
    receive->type = type;
    receive->source = source;
    receive->tag = tag;
    receive->channel = channel;
}

int receive_request(void *buffer, int count, MPI_Datatype type, int source, int tag,
                    struct channel *channel, MPI_Request *request)
{
    struct receive *made = room(sizeof *made);
    int integers, addresses, types, combiner;
    receive_fill(made, buffer, count, type, source, tag, channel);
    PMPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner);
    made->own_type = combiner != MPI_COMBINER_NAMED;
    if (made->own_type) PMPI_Type_dup(type, &made->type);
    made->requested = 1;
    made->references = 2;
    int result = PMPI_Grequest_start(query, forget, leave_alone, made, &made->handle);
    if (result) {
        free(made);
        return result;
    }
    *request = made->handle;
    table_add(*request, made, NULL);
    receive_post(made);
    return MPI_SUCCESS;
}

/* The requests of a call: persistent receives give way to those that run for them. */
struct view {
    int count;
    MPI_Request *given, *shown, few[FEW];
    struct persistent **persistent, *few_persistent[FEW];
};

static void view_open(struct view *view, int count, MPI_Request *given)
{
    view->count = count;
    view->given = view->shown = given;
    view->persistent = NULL;
    if (!__atomic_load_n(&persistents, __ATOMIC_RELAXED)) return;
    size_t some = (size_t)count;
    view->shown = count <= FEW ? view->few : room(some * sizeof *view->shown);
    view->persistent = count <= FEW ? view->few_persistent : room(some * sizeof *view->persistent);
    for (int i = 0; i < count; i++) {
        view->persistent[i] = persistent_of(given[i]);
        view->shown[i] = view->persistent[i] ? view->persistent[i]->active : given[i];
    }
}

static int view_close(struct view *view, int result)
{
    if (!view->persistent) return result;
    for (int i = 0; i < view->count; i++) {
        if (view->persistent[i]) view->persistent[i]->active = view->shown[i];
        else view->given[i] = view->shown[i];
    }
    if (view->count > FEW) {
        free(view->shown);
        free(view->persistent);
    }
    return result;
}

/* Whether a send, or another request of MPI's own, is under way: it completes without our notice. */
static int foreign_under_way(const struct view *view)
{
    for (int i = 0; i < view->count; i++) {
        int done = 1;
        if (view->shown[i] == MPI_REQUEST_NULL || table_look(view->shown[i]).receive) continue;
        PMPI_Request_get_status(view->shown[i], &done, MPI_STATUS_IGNORE);
        if (!done) return 1;
    }
    return 0;
}

/* Wait: test, and sleep until something has changed. Whether to look again is asked before the test,
 * which sees all that completed until then. */
#define WAIT(VIEW, TEST, DONE)                                                                 \
    for (;;) {                                                                                 \
        unsigned long seen = releases();                                                       \
        int poll = foreign_under_way(VIEW);                                                    \
        result = TEST;                                                                         \
        if (result || (DONE)) break;                                                           \
        idle(seen, poll);                                                                      \
    }

int library_Wait(MPI_Request *request, MPI_Status *status)
{
    struct view view;
    int result, done;
    view_open(&view, 1, request);
    WAIT(&view, PMPI_Test(view.shown, &done, status), done)
    return view_close(&view, result);
}

int library_Waitall(int count, MPI_Request requests[], MPI_Status *statuses)
{
    struct view view;
    int result, done;
    view_open(&view, count, requests);
    WAIT(&view, PMPI_Testall(count, view.shown, &done, statuses), done)
    return view_close(&view, result);
}

int library_Waitany(int count, MPI_Request requests[], int *index, MPI_Status *status)
{
    struct view view;
    int result, done;
    view_open(&view, count, requests);
    WAIT(&view, PMPI_Testany(count, view.shown, index, &done, status), done)
    return view_close(&view, result);
}

int library_Waitsome(int count, MPI_Request requests[], int *done, int indices[],
                     MPI_Status *statuses)
{
    struct view view;
    int result;
    view_open(&view, count, requests);
    WAIT(&view, PMPI_Testsome(count, view.shown, done, indices, statuses), *done != 0)
    return view_close(&view, result);
}

int send_wait(MPI_Request *request)
{
    struct view view = {.count = 1, .given = request, .shown = request};
    int result, done;
    WAIT(&view, PMPI_Test(request, &done, MPI_STATUS_IGNORE), done)
    return result;
}

int library_Test(MPI_Request *request, int *flag, MPI_Status *status)
{
    struct view view;
    view_open(&view, 1, request);
    return view_close(&view, PMPI_Test(view.shown, flag, status));
}

int library_Testall(int count, MPI_Request requests[], int *flag, MPI_Status *statuses)
{
    struct view view;
    view_open(&view, count, requests);
    return view_close(&view, PMPI_Testall(count, view.shown, flag, statuses));
}

int library_Testany(int count, MPI_Request requests[], int *index, int *flag,
                    MPI_Status *status)
{
    struct view view;
    view_open(&view, count, requests);
    return view_close(&view, PMPI_Testany(count, view.shown, index, flag, status));
}

int library_Testsome(int count, MPI_Request requests[], int *done, int indices[],
                     MPI_Status *statuses)
{
    struct view view;
    view_open(&view, count, requests);
    return view_close(&view, PMPI_Testsome(count, view.shown, done, indices, statuses));
}

int library_Request_get_status(MPI_Request request, int *flag, MPI_Status *status)
{
    struct view view;
    view_open(&view, 1, &request);
    return view_close(&view, PMPI_Request_get_status(view.shown[0], flag, status));
}

static int free_running(MPI_Request *request)
{
    struct receive *receive = table_look(*request).receive;
    if (!receive || !receive_orphan(receive)) return PMPI_Request_free(request);
    *request = MPI_REQUEST_NULL;
    return MPI_SUCCESS;
}

int library_Request_free(MPI_Request *request)
{
    struct persistent *persistent = persistent_of(*request);
    if (!persistent) return free_running(request);
    if (persistent->active != MPI_REQUEST_NULL) free_running(&persistent->active);
    table_remove(*request);
    PMPI_Type_free(&persistent->type);
    free(persistent);
    return PMPI_Request_free(request);
}

int library_Cancel(MPI_Request *request)
{
    struct entry entry = table_look(*request);
    if (entry.persistent) entry = table_look(entry.persistent->active);
    if (!entry.receive) return PMPI_Cancel(request);
    receive_cancel(entry.receive);
    return MPI_SUCCESS;
}

int library_Start(MPI_Request *request)
{
    struct persistent *persistent = persistent_of(*request);
    if (!persistent) return PMPI_Start(request);
    return receive_request(persistent->buffer, persistent->count, persistent->type,
                           persistent->source, persistent->tag, channel_of(persistent->comm),
                           &persistent->active);
}

int library_Startall(int count, MPI_Request requests[])
{
    int result = MPI_SUCCESS;
    for (int i = 0; i < count && !result; i++) result = library_Start(&requests[i]);
    return result;
}
