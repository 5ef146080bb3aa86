/* What communicators, datatypes and requests are called in the trace.
 *
 * Handles are used again by an MPI once they are free, and stand for other things then. So what is
 * known of a communicator or datatype hangs on it as an attribute, and goes when it goes.
 */
#include "trace.h"

#include <stdlib.h>
#include <string.h>

enum { BUCKETS = 4096 };

struct type {
    long long number, size, extent;
};

static int comm_key, type_key;
static MPI_Group world_group;
static int world_rank, world_size;
static long long comms_led, comms_own, types, requests;

/* Requests by handle, in the order they were made: completed sends may share one handle. */
static struct request *first_of[BUCKETS], *last_of[BUCKETS];
static struct request null_request;
static struct request unseen_request = {.number = -1, .active = 1};

static int forget_comm(MPI_Comm comm, int key, void *value, void *state)
{
    (void)comm, (void)key, (void)state;
    free(value);
    return MPI_SUCCESS;
}

static int forget_type(MPI_Datatype type, int key, void *value, void *state)
{
    (void)type, (void)key, (void)state;
    free(value);
    return MPI_SUCCESS;
}

static void *room(size_t bytes)
{
    void *memory = malloc(bytes);
    if (!memory) abort();
    return memory;
}

/* World ranks of a group's members, -1 for processes of another world. */
static void comment_members(MPI_Group group)
{
    int size;
    PMPI_Group_size(group, &size);
    int *ranks = room(2 * sizeof(int) * (size_t)(size + 1)), *world = ranks + size;
    for (int i = 0; i < size; i++) ranks[i] = i;
    PMPI_Group_translate_ranks(group, size, ranks, world_group, world);
    for (int i = 0; i < size; i++) comment_number(world[i] == MPI_UNDEFINED ? -1 : world[i]);
    free(ranks);
    PMPI_Group_free(&group);
}

/* How many ranks send to this one and get from it in the communicator's topology. */
void neighbours(MPI_Comm comm, int *sources, int *destinations)
{
    int kind, rank, dimensions, weighted;
    *sources = *destinations = 0;
    PMPI_Topo_test(comm, &kind);
    if (kind == MPI_CART) {
        PMPI_Cartdim_get(comm, &dimensions);
        *sources = *destinations = 2 * dimensions;
    } else if (kind == MPI_GRAPH) {
        PMPI_Comm_rank(comm, &rank);
        PMPI_Graph_neighbors_count(comm, rank, sources);
        *destinations = *sources;
    } else if (kind == MPI_DIST_GRAPH) {
        PMPI_Dist_graph_neighbors_count(comm, sources, destinations, &weighted);
    }
}

static void comment_ranks(int count, const int *ranks)
{
    for (int i = 0; i < count; i++) comment_number(ranks[i] == MPI_PROC_NULL ? -2 : ranks[i]);
}

/* The neighbours, in the order of the neighbourhood collectives' buffers. */
static void comment_neighbours(MPI_Comm comm, long long number)
{
    int kind, rank, sources, destinations;
    PMPI_Topo_test(comm, &kind);
    if (kind == MPI_UNDEFINED) return;
    PMPI_Comm_rank(comm, &rank);
    neighbours(comm, &sources, &destinations);
    int *from = room(2 * sizeof(int) * (size_t)(sources + destinations + 1));
    int *to = from + sources, *weights = to + destinations;
    if (kind == MPI_CART) {
        for (int i = 0; i < sources / 2; i++)
            PMPI_Cart_shift(comm, i, 1, &from[2 * i], &from[2 * i + 1]);
        memcpy(to, from, sizeof(int) * (size_t)sources);
    } else if (kind == MPI_GRAPH) {
        PMPI_Graph_neighbors(comm, rank, sources, from);
        memcpy(to, from, sizeof(int) * (size_t)sources);
    } else {
        PMPI_Dist_graph_neighbors(comm, sources, from, weights, destinations, to,
                                  weights + sources);
    }
    comment(kind == MPI_CART ? "grid" : "neighbours");
    comment_number(number);
    comment_ranks(sources, from);
    comment_text(" :");
    comment_ranks(destinations, to);
    comment_end();
    free(from);
}

static struct comm *name_comm(MPI_Comm comm, long long number)
{
    int inter;
    MPI_Group group;
    struct comm *known = room(sizeof *known);
    known->number = number;
    PMPI_Comm_rank(comm, &known->rank);
    PMPI_Comm_size(comm, &known->size);
    PMPI_Comm_set_attr(comm, comm_key, known);
    PMPI_Comm_test_inter(comm, &inter);
    comment(inter ? "intercomm" : "comm");
    comment_number(number);
    PMPI_Comm_group(comm, &group);
    comment_members(group);
    if (inter) {
        PMPI_Comm_remote_group(comm, &group);
        comment_text(" :");
        comment_members(group);
    }
    comment_end();
    if (!inter) comment_neighbours(comm, number);
    return known;
}

void handles_open(void)
{
    PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, forget_comm, &comm_key, NULL);
    PMPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, forget_type, &type_key, NULL);
    PMPI_Comm_group(MPI_COMM_WORLD, &world_group);
    PMPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &world_size);
    name_comm(MPI_COMM_WORLD, 0);
    name_comm(MPI_COMM_SELF, 1 + world_rank);
    comms_led = 1;
}

void comm_made(MPI_Comm comm, int agree)
{
    long long number = 0;
    int rank;
    if (comm == MPI_COMM_NULL) return;
    PMPI_Comm_rank(comm, &rank);
    trace_lock();
    /* Its first rank chooses: no other rank leads the same numbers, and none comes again. */
    if (!agree) number = --comms_own;
    else if (rank == 0) number = 1 + world_rank + comms_led++ * world_size;
    trace_unlock();
    if (agree) PMPI_Bcast(&number, 1, MPI_LONG_LONG, 0, comm);
    trace_lock();
    name_comm(comm, number);
    trace_unlock();
}

static struct comm *known_comm(MPI_Comm comm)
{
    struct comm *known;
    int found;
    PMPI_Comm_get_attr(comm, comm_key, &known, &found);
    return found ? known : name_comm(comm, --comms_own);
}

struct comm comm_of(MPI_Comm comm)
{
    struct comm none = {0, 0, -1};
    if (comm == MPI_COMM_NULL) return none;
    trace_lock();
    struct comm known = *known_comm(comm);
    trace_unlock();
    return known;
}

void field_comm_as(struct comm comm)
{
    if (comm.size < 0) {
        field_none();
        return;
    }
    field(comm.number);
    append_text(",");
    append(comm.rank);
    append_text(",");
    append(comm.size);
}

void field_comm(MPI_Comm comm)
{
    if (comm == MPI_COMM_NULL) field_none();
    else field_comm_as(*known_comm(comm));
}

static struct type *name_type(MPI_Datatype type)
{
    char name[MPI_MAX_OBJECT_NAME];
    int length;
    MPI_Count size;
    MPI_Aint low, extent;
    struct type *known = room(sizeof *known);
    PMPI_Type_size_x(type, &size);
    PMPI_Type_get_extent(type, &low, &extent);
    PMPI_Type_get_name(type, name, &length);
    known->number = ++types;
    known->size = size;
    known->extent = extent;
    PMPI_Type_set_attr(type, type_key, known);
    comment("type");
    comment_number(known->number);
    /* The program may have named it, with any bytes. */
    if (strncmp(name, "MPI_", 4) == 0 && !strpbrk(name, "\r\n")) {
        comment_text(" ");
        comment_text(name);
    }
    comment_end();
    return known;
}

void append_type(MPI_Datatype type)
{
    struct type *known;
    int found = 0;
    if (type == MPI_DATATYPE_NULL) {
        append_text("-");
        return;
    }
    PMPI_Type_get_attr(type, type_key, &known, &found);
    if (!found) known = name_type(type);
    append(known->number);
    append_text(",");
    append(known->size);
    append_text(",");
    append(known->extent);
}

void field_type(MPI_Datatype type)
{
    append_text(":");
    append_type(type);
}

static uint64_t bits(MPI_Request handle)
{
    uint64_t value = 0;
    memcpy(&value, &handle, sizeof handle);
    return value;
}

static unsigned bucket(uint64_t handle)
{
    return (unsigned)((handle * 0x9E3779B97F4A7C15ULL) >> 52);
}

struct request *request_made(MPI_Request handle, int wildcard, int persistent)
{
    if (handle == MPI_REQUEST_NULL) return &null_request;
    struct request *made = room(sizeof *made);
    unsigned at = bucket(bits(handle));
    memset(made, 0, sizeof *made);
    made->handle = bits(handle);
    made->number = ++requests;
    made->wildcard = wildcard;
    made->persistent = persistent;
    made->active = !persistent;
    if (last_of[at]) last_of[at]->next = made;
    else first_of[at] = made;
    last_of[at] = made;
    return made;
}

/* The requests of handles, before a call changes these. They are the call's until it lets go of
 * them, so that neither it nor another thread takes one of several that share a handle twice. */
struct request **requests_met(int count, const MPI_Request *handles)
{
    static __thread struct request **met;
    static __thread int met_room;
    if (count >= met_room) {
        free(met);
        met_room = 2 * count + 16;
        met = room(sizeof *met * (size_t)met_room);
    }
    trace_lock();
    for (int i = 0; i < count; i++) {
        if (handles[i] == MPI_REQUEST_NULL) {
            met[i] = &null_request;
            continue;
        }
        uint64_t handle = bits(handles[i]);
        struct request *at = first_of[bucket(handle)];
        while (at && (at->handle != handle || at->held)) at = at->next;
        met[i] = at ? at : &unseen_request;
        if (at) at->held = 1;
    }
    trace_unlock();
    return met;
}

/* With the lock, from line_begin on. */
void requests_let_go(int count, struct request *const *met)
{
    for (int i = 0; i < count; i++) met[i]->held = 0;
}

int requests_failed(const char *name, int result, int count, struct request *const *met)
{
    trace_lock();
    requests_let_go(count, met);
    trace_unlock();
    return line_failed(name, result);
}

void request_started(struct request *request)
{
    request->active = 1;
    request->cancelled = 0;
}

void request_done(struct request *request)
{
    if (request->persistent) request->active = 0;
    else request_gone(request);
}

void request_gone(struct request *request)
{
    unsigned at = bucket(request->handle);
    struct request *before = NULL, *here = first_of[at];
    while (here && here != request) before = here, here = here->next;
    if (!here) return; /* one of the two that stand for none */
    if (before) before->next = here->next;
    else first_of[at] = here->next;
    if (last_of[at] == here) last_of[at] = before;
    free(here);
}

void field_request(const struct request *request)
{
    field(request->number);
}

static long long number_if_active(const struct request *request)
{
    return request->active ? request->number : 0;
}

void field_requests(int count, struct request *const *met)
{
    if (count == 0) {
        field_none();
        return;
    }
    field(number_if_active(met[0]));
    for (int i = 1; i < count; i++) {
        append_text(",");
        append(number_if_active(met[i]));
    }
}

static void append_status(const MPI_Status *status)
{
    int bytes;
    PMPI_Get_count(status, MPI_BYTE, &bytes);
    append(status->MPI_SOURCE == MPI_PROC_NULL ? -2 : status->MPI_SOURCE);
    append_text(",");
    append(status->MPI_TAG == MPI_ANY_TAG ? -1 : status->MPI_TAG);
    append_text(",");
    append(bytes);
}

void field_status_if(int wildcard, const MPI_Status *status)
{
    append_text(":");
    if (wildcard) append_status(status);
    else append_text("-");
}

static void tell_if_cancelled(const struct request *request, const MPI_Status *status)
{
    int cancelled = 0;
    if (request->cancelled) PMPI_Test_cancelled(status, &cancelled);
    if (!cancelled) return;
    comment("cancelled");
    comment_number(request->number);
    comment_end();
}

void field_status(const struct request *request, const MPI_Status *status)
{
    if (request->active) tell_if_cancelled(request, status);
    field_status_if(request->active && request->wildcard, status);
}

/* Statuses of those requests whose places are given; all of them where places is NULL. */
void field_statuses(int count, const int *places, struct request *const *met,
                    const MPI_Status *statuses)
{
    int told = 0;
    for (int i = 0; i < count; i++) {
        const struct request *request = met[places ? places[i] : i];
        if (request->active) tell_if_cancelled(request, &statuses[i]);
        told |= request->active && request->wildcard;
    }
    if (!told) {
        field_none();
        return;
    }
    for (int i = 0; i < count; i++) {
        const struct request *request = met[places ? places[i] : i];
        append_text(i ? ";" : ":");
        if (request->active && request->wildcard) append_status(&statuses[i]);
        else append_text("-");
    }
}
