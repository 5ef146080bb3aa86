/* The engine: a progress thread takes messages as they arrive, stamps them and matches them to
 * receives; a delay thread releases each one when its time has come (LLAMP, figure 17).
 */
#define _GNU_SOURCE
#include "delay.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>

/* How long before its time a message is picked up, since threads wake late. Without it the median of
 * how late releases are is 17 us rather than 0.1 us (ping-pong of two ranks, Open MPI, two cores). */
enum { SPIN_NS = 20000 };

static pthread_mutex_t sweep_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t released, arrived, queued;
static pthread_t progress_thread, delay_thread;
static int stopping, delay_stopping;
static int64_t latency_ns, poll_ns;

static struct channel *channels;
static struct receive *transfers; /* matched, their data still under way */
static struct receive *delay_queue; /* by due time */
static int matched; /* receives that are matched and not released */
static unsigned long release_count;

int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static struct timespec timespec_of(int64_t ns)
{
    return (struct timespec){ns / 1000000000, ns % 1000000000};
}

void *room(size_t bytes)
{
    void *memory = calloc(1, bytes ? bytes : 1);
    if (!memory) abort();
    return memory;
}

static void must(int result, const char *call)
{
    if (!result) return;
    fprintf(stderr, "workbench: %s must succeed in the delay library; it returned %d\n", call,
            result);
    abort();
}

/* Communicators. */

static struct channel *find_channel(MPI_Comm comm)
{
    struct channel *at = channels;
    while (at && at->comm != comm) at = at->next;
    return at;
}

void channel_open(MPI_Comm comm)
{
    if (comm == MPI_COMM_NULL) return;
    struct channel *made = room(sizeof *made);
    made->comm = comm;
    PMPI_Comm_test_inter(comm, &made->inter);
    PMPI_Comm_rank(comm, &made->rank);
    if (made->inter) PMPI_Comm_remote_size(comm, &made->size);
    else PMPI_Comm_size(comm, &made->size);
    made->posted_end = &made->posted;
    made->arrived_end = &made->arrived;
    pthread_mutex_lock(&sweep_lock);
    pthread_mutex_lock(&lock);
    if (find_channel(comm)) { /* another thread was faster */
        free(made);
    } else {
        made->next = channels;
        channels = made;
    }
    pthread_mutex_unlock(&lock);
    pthread_mutex_unlock(&sweep_lock);
}

static struct channel *known_channel(MPI_Comm comm)
{
    pthread_mutex_lock(&lock);
    struct channel *found = find_channel(comm);
    pthread_mutex_unlock(&lock);
    return found;
}

/* One that no function of ours has made is opened where it is used first. */
struct channel *channel_of(MPI_Comm comm)
{
    struct channel *known = known_channel(comm);
    if (known) return known;
    channel_open(comm);
    return known_channel(comm);
}

void channel_close(MPI_Comm comm)
{
    struct channel *closed = known_channel(comm);
    if (!closed) return;
    pthread_mutex_lock(&lock);
    while (closed->posted) pthread_cond_wait(&arrived, &lock);
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&sweep_lock);
    pthread_mutex_lock(&lock);
    struct channel **at = &channels;
    while (*at != closed) at = &(*at)->next;
    *at = closed->next;
    pthread_mutex_unlock(&lock);
    pthread_mutex_unlock(&sweep_lock);
    free(closed);
}

/* Matching, with the lock. */

static int fits(int wanted_source, int wanted_tag, const MPI_Status *status)
{
    if (wanted_source != MPI_ANY_SOURCE && wanted_source != status->MPI_SOURCE) return 0;
    if (wanted_tag == MPI_ANY_TAG) return status->MPI_TAG != collective_tag;
    return wanted_tag == status->MPI_TAG;
}

static struct receive *take_posted(struct channel *channel, const MPI_Status *status)
{
    for (struct receive **at = &channel->posted; *at; at = &(*at)->next) {
        struct receive *receive = *at;
        if (!fits(receive->source, receive->tag, status)) continue;
        *at = receive->next;
        if (!*at) channel->posted_end = at;
        receive->state = MATCHED;
        matched++;
        return receive;
    }
    return NULL;
}

static struct message **place_of(struct channel *channel, int source, int tag)
{
    struct message **at = &channel->arrived;
    while (*at && !fits(source, tag, &(*at)->status)) at = &(*at)->next;
    return at;
}

static struct message *take_arrived(struct channel *channel, struct message **at)
{
    struct message *taken = *at;
    *at = taken->next;
    if (!*at) channel->arrived_end = at;
    return taken;
}

/* Release: the program sees the message. */

static void release(struct receive *receive)
{
    if (receive->counted) delayed(now_ns() - receive->due_ns);
    if (receive->own_type) PMPI_Type_free(&receive->type);
    free(receive->spare);
    if (receive->requested) {
        pthread_mutex_lock(&lock);
        receive->state = RELEASING;
        pthread_mutex_unlock(&lock);
        PMPI_Grequest_complete(receive->handle);
    }
    MPI_Request orphaned = MPI_REQUEST_NULL;
    pthread_mutex_lock(&lock);
    receive->state = RELEASED;
    matched--;
    release_count++;
    if (receive->orphan) orphaned = receive->handle;
    if (receive->requested && --receive->references == 0) free(receive);
    pthread_cond_broadcast(&released);
    pthread_mutex_unlock(&lock);
    if (orphaned != MPI_REQUEST_NULL) PMPI_Request_free(&orphaned);
}

/* The message is here since `stamp_ns`. One that waited for its receive for longer than the latency
 * is released at once; all others by the delay thread, also where there is no latency, so that the
 * library costs as much then. */
static void complete(struct receive *receive, int64_t stamp_ns, int waited)
{
    receive->due_ns = stamp_ns + latency_ns;
    if (waited && receive->due_ns <= now_ns()) {
        already_due();
        release(receive);
        return;
    }
    receive->counted = 1;
    pthread_mutex_lock(&lock);
    struct receive **at = &delay_queue;
    while (*at && (*at)->due_ns <= receive->due_ns) at = &(*at)->next;
    receive->next = *at;
    *at = receive;
    if (delay_queue == receive) pthread_cond_signal(&queued);
    pthread_mutex_unlock(&lock);
}

/* A message that is longer than its receive is an error, and goes to memory of our own. */
static void begin_transfer(struct receive *receive, struct message *message)
{
    MPI_Count bytes, size;
    PMPI_Get_elements_x(&message->status, MPI_BYTE, &bytes);
    PMPI_Type_size_x(receive->type, &size);
    int fits_in = bytes <= size * receive->count, count = fits_in ? receive->count : (int)bytes;
    if (!fits_in) {
        receive->error = MPI_ERR_TRUNCATE;
        receive->spare = room((size_t)bytes);
    }
    must(PMPI_Imrecv(fits_in ? receive->buffer : receive->spare, count,
                     fits_in ? receive->type : MPI_BYTE, &message->handle, &receive->transfer),
         "MPI_Imrecv");
}

/* A message that waited for its receive, with its data, is here since it arrived. */
static void transfer(struct receive *receive, struct message message, int waited)
{
    int done;
    begin_transfer(receive, &message);
    must(PMPI_Test(&receive->transfer, &done, &receive->status), "MPI_Test");
    if (done) {
        complete(receive, waited ? message.arrival_ns : now_ns(), waited);
        return;
    }
    pthread_mutex_lock(&lock);
    receive->next = transfers;
    transfers = receive;
    pthread_mutex_unlock(&lock);
}

/* The progress thread. */

static int take_next(struct channel *channel)
{
    MPI_Message handle;
    MPI_Status status;
    int found;
    must(PMPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, channel->comm, &found, &handle, &status),
         "MPI_Improbe");
    if (!found) return 0;
    int64_t arrival_ns = now_ns();
    struct message *message = room(sizeof *message);
    *message = (struct message){handle, status, arrival_ns, NULL};
    pthread_mutex_lock(&lock);
    struct receive *receive = take_posted(channel, &status);
    if (!receive) {
        *channel->arrived_end = message;
        channel->arrived_end = &message->next;
    }
    pthread_cond_broadcast(&arrived);
    pthread_mutex_unlock(&lock);
    if (receive) {
        transfer(receive, *message, 0);
        free(message);
    }
    return 1;
}

static int sweep(void)
{
    int found = 0;
    pthread_mutex_lock(&sweep_lock);
    for (struct channel *at = channels; at; at = at->next) found |= take_next(at);
    pthread_mutex_unlock(&sweep_lock);
    return found;
}

static int test_transfers(void)
{
    pthread_mutex_lock(&lock);
    struct receive *at = transfers, *open = NULL;
    transfers = NULL;
    pthread_mutex_unlock(&lock);
    while (at) {
        int done;
        struct receive *receive = at;
        at = at->next;
        must(PMPI_Test(&receive->transfer, &done, &receive->status), "MPI_Test");
        if (done) {
            complete(receive, now_ns(), 0);
            continue;
        }
        receive->next = open;
        open = receive;
    }
    if (!open) return 0;
    pthread_mutex_lock(&lock);
    struct receive **end = &open;
    while (*end) end = &(*end)->next;
    *end = transfers;
    transfers = open;
    pthread_mutex_unlock(&lock);
    return 1;
}

static void *progress(void *unused)
{
    struct timespec look = timespec_of(poll_ns);
    within_call = 1;
    prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
    while (!__atomic_load_n(&stopping, __ATOMIC_ACQUIRE)) {
        int found = sweep();
        if (test_transfers()) sched_yield(); /* data come in pieces, each of which waits for us */
        else if (!found) clock_nanosleep(CLOCK_MONOTONIC, 0, &look, NULL);
    }
    return unused;
}

/* The delay thread. */

static void *delay(void *unused)
{
    within_call = 1;
    prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
    pthread_mutex_lock(&lock);
    while (!delay_stopping || delay_queue) {
        struct receive *first = delay_queue;
        if (!first) {
            pthread_cond_wait(&queued, &lock);
        } else if (first->due_ns - SPIN_NS > now_ns()) {
            struct timespec early = timespec_of(first->due_ns - SPIN_NS);
            pthread_cond_timedwait(&queued, &lock, &early);
        } else {
            delay_queue = first->next;
            pthread_mutex_unlock(&lock);
            while (first->due_ns > now_ns()) { /* the last few microseconds */ }
            release(first);
            pthread_mutex_lock(&lock);
        }
    }
    pthread_mutex_unlock(&lock);
    return unused;
}

void engine_start(int64_t latency, int64_t poll)
{
    pthread_condattr_t monotonic;
    sigset_t all, before;
    latency_ns = latency;
    poll_ns = poll;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&released, &monotonic);
    pthread_cond_init(&arrived, &monotonic);
    pthread_cond_init(&queued, &monotonic);
    channel_open(MPI_COMM_WORLD);
    channel_open(MPI_COMM_SELF);
    sigfillset(&all); /* the program's signals are its own threads' */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    must(pthread_create(&progress_thread, NULL, progress, NULL), "pthread_create");
    must(pthread_create(&delay_thread, NULL, delay, NULL), "pthread_create");
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void engine_stop(void)
{
    pthread_mutex_lock(&lock);
    while (matched) pthread_cond_wait(&released, &lock);
    delay_stopping = 1;
    pthread_cond_signal(&queued);
    pthread_mutex_unlock(&lock);
    __atomic_store_n(&stopping, 1, __ATOMIC_RELEASE);
    pthread_join(progress_thread, NULL);
    pthread_join(delay_thread, NULL);
}

/* What the program does with its receives. */

void receive_post(struct receive *receive)
{
    struct channel *channel = receive->channel;
    struct message *message = NULL;
    pthread_mutex_lock(&lock);
    struct message **at = place_of(channel, receive->source, receive->tag);
    receive->next = NULL;
    if (*at) {
        message = take_arrived(channel, at);
        receive->state = MATCHED;
        matched++;
    } else {
        receive->state = POSTED;
        *channel->posted_end = receive;
        channel->posted_end = &receive->next;
    }
    pthread_mutex_unlock(&lock);
    if (!message) return;
    transfer(receive, *message, 1);
    free(message);
}

int receive_wait(struct receive *receive, MPI_Status *status)
{
    pthread_mutex_lock(&lock);
    while (receive->state != RELEASED) pthread_cond_wait(&released, &lock);
    pthread_mutex_unlock(&lock);
    if (status != MPI_STATUS_IGNORE) *status = receive->status;
    if (receive->error) PMPI_Comm_call_errhandler(receive->channel->comm, receive->error);
    return receive->error;
}

int receive_cancel(struct receive *receive)
{
    pthread_mutex_lock(&lock);
    int waits = receive->state == POSTED;
    if (waits) {
        struct channel *channel = receive->channel;
        struct receive **at = &channel->posted;
        while (*at != receive) at = &(*at)->next;
        *at = receive->next;
        if (!*at) channel->posted_end = at;
        receive->state = MATCHED;
        matched++;
        pthread_cond_broadcast(&arrived);
    }
    pthread_mutex_unlock(&lock);
    if (!waits) return 0;
    receive->status.MPI_SOURCE = MPI_ANY_SOURCE;
    receive->status.MPI_TAG = MPI_ANY_TAG;
    PMPI_Status_set_elements(&receive->status, MPI_BYTE, 0);
    PMPI_Status_set_cancelled(&receive->status, 1);
    release(receive);
    return 1;
}

int receive_orphan(struct receive *receive)
{
    pthread_mutex_lock(&lock);
    int pending = receive->state != RELEASED;
    if (pending) receive->orphan = 1;
    pthread_mutex_unlock(&lock);
    return pending;
}

void receive_forget(struct receive *receive)
{
    pthread_mutex_lock(&lock);
    if (--receive->references == 0) free(receive);
    pthread_mutex_unlock(&lock);
}

/* The first message that fits, where it has been under way for long enough: as it is delayed like
 * all others, none that came after it has. */
static struct message *message_due(struct channel *channel, int source, int tag, int take,
                                   int64_t *due_ns)
{
    struct message **at = place_of(channel, source, tag);
    *due_ns = *at ? (*at)->arrival_ns + latency_ns : 0;
    if (!*at || *due_ns > now_ns()) return NULL;
    if (take) return take_arrived(channel, at);
    struct message *copy = room(sizeof *copy);
    *copy = **at;
    return copy;
}

/* The caller frees what these two return. */
struct message *message_find(struct channel *channel, int source, int tag, int take)
{
    int64_t due_ns;
    pthread_mutex_lock(&lock);
    struct message *found = message_due(channel, source, tag, take, &due_ns);
    pthread_mutex_unlock(&lock);
    return found;
}

struct message *message_await(struct channel *channel, int source, int tag, int take)
{
    int64_t due_ns;
    struct message *found;
    pthread_mutex_lock(&lock);
    while (!(found = message_due(channel, source, tag, take, &due_ns))) {
        struct timespec due = timespec_of(due_ns);
        if (due_ns) pthread_cond_timedwait(&arrived, &lock, &due);
        else pthread_cond_wait(&arrived, &lock);
    }
    pthread_mutex_unlock(&lock);
    return found;
}

unsigned long releases(void)
{
    pthread_mutex_lock(&lock);
    unsigned long count = release_count;
    pthread_mutex_unlock(&lock);
    return count;
}

void idle(unsigned long seen, int poll)
{
    int slack = poll ? prctl(PR_GET_TIMERSLACK, 0UL, 0UL, 0UL, 0UL) : 0;
    if (poll) prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
    struct timespec look = timespec_of(now_ns() + poll_ns);
    pthread_mutex_lock(&lock);
    while (release_count == seen) {
        if (!poll) pthread_cond_wait(&released, &lock);
        else if (pthread_cond_timedwait(&released, &lock, &look)) break;
    }
    pthread_mutex_unlock(&lock);
    if (poll && slack > 0) prctl(PR_SET_TIMERSLACK, (unsigned long)slack, 0UL, 0UL, 0UL);
}
