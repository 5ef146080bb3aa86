/* What the delay library's files share: the engine that takes, matches and delays messages.
 *
 * Two locks guard the state, in this order: `sweep_lock` keeps a communicator from being freed while
 * it is looked at, `lock` guards the queues. MPI is never called with `lock` held, because MPI's own
 * lock is held where it calls back.
 */
#ifndef WORKBENCH_DELAY_H
#define WORKBENCH_DELAY_H

#include "interposed.h"

#include <stddef.h>
#include <stdint.h>

#define LIST(...) __VA_ARGS__

/* A message that arrived before its receive was posted. */
struct message {
    MPI_Message handle;
    MPI_Status status;
    int64_t arrival_ns;
    struct message *next;
};

/* A communicator whose messages the library takes, in the order in which MPI has them. */
struct channel {
    MPI_Comm comm;
    int rank, size; /* of the other side, where it joins two groups */
    int inter;
    struct receive *posted, **posted_end;
    struct message *arrived, **arrived_end;
    struct channel *next;
};

enum receive_state { POSTED, MATCHED, RELEASING, RELEASED };

/* A receive of the program's, or of a collective's. */
struct receive {
    void *buffer;
    int count;
    MPI_Datatype type;
    int own_type; /* a duplicate, since the program may free its type at once */
    int source, tag;
    struct channel *channel;
    enum receive_state state;
    MPI_Request transfer;
    MPI_Status status;
    int error;
    void *spare; /* where the data go that are too long for the buffer */
    int64_t due_ns;
    int counted;          /* it was delayed, so the report has how late it was */
    int requested;        /* the program has `handle`, a generalized request; else it waits here */
    MPI_Request handle;
    int orphan;           /* the program has freed its handle */
    int references;       /* MPI's and the engine's, to a requested one */
    struct receive *next; /* in the one queue that it is in */
};

/* engine.c */
void engine_start(int64_t latency_ns, int64_t poll_ns);
void engine_stop(void); /* when all matched messages are released */
int64_t now_ns(void);
void *room(size_t bytes);
void channel_open(MPI_Comm comm);
void channel_close(MPI_Comm comm); /* waits until no receive is posted there */
struct channel *channel_of(MPI_Comm comm);
void receive_post(struct receive *receive);
int receive_wait(struct receive *receive, MPI_Status *status);
int receive_cancel(struct receive *receive); /* whether it had not been matched */
int receive_orphan(struct receive *receive); /* whether the engine frees its handle */
void receive_forget(struct receive *receive);
struct message *message_find(struct channel *channel, int source, int tag, int take);
struct message *message_await(struct channel *channel, int source, int tag, int take);
unsigned long releases(void);
void idle(unsigned long seen, int poll); /* until a release after `seen`, or one look's time */

/* requests.c: the program's requests that stand for receives of ours. */
struct persistent {
    void *buffer;
    int count;
    MPI_Datatype type;
    int source, tag;
    MPI_Comm comm;
    MPI_Request active; /* MPI_REQUEST_NULL at rest */
};
void receive_fill(struct receive *receive, void *buffer, int count, MPI_Datatype type, int source,
                  int tag, struct channel *channel);
int receive_request(void *buffer, int count, MPI_Datatype type, int source, int tag,
                    struct channel *channel, MPI_Request *request);
void persistent_made(struct persistent *made, MPI_Request handle);
struct persistent *persistent_of(MPI_Request handle);

/* messages.c */
int send_wait(MPI_Request *request);

/* session.c */
extern MPI_Comm quiet_world, quiet_self; /* where the library takes no messages */
extern int collective_tag;               /* of messages within collectives */
void undelayed(const char *name);
void delayed(int64_t late_ns);
void already_due(void);
void refuse(const char *words); /* end all ranks */

#endif
