/* Collectives made of delayed messages, since those within MPI's own cannot be seen.
 *
 * Their schedules are those of workbench.programs.collectives with the same names: barrier
 * dissemination, bcast binomial, reduce binomial (linear where the operator does not commute),
 * allreduce recursive-doubling, allgather ring, alltoall pairwise, gather and scatter linear; the
 * variants with counts run the same ones. What a rank sends and receives in a round is posted
 * together. Between two groups MPI's own run, undelayed.
 */
#include "delay.h"

#include <stdlib.h>
#include <string.h>

/* A buffer of blocks, one for each rank; counts and displacements are NULL where all are alike. */
struct blocks {
    char *base;
    int count;
    const int *counts, *displacements;
    MPI_Datatype type;
    MPI_Aint extent;
};

static struct blocks blocks_of(const void *base, int count, const int *counts,
                               const int *displacements, MPI_Datatype type)
{
    struct blocks made = {(char *)base, count, counts, displacements, type, 0};
    MPI_Aint low;
    PMPI_Type_get_extent(type, &low, &made.extent);
    return made;
}

static int count_at(const struct blocks *blocks, int i)
{
    return blocks->counts ? blocks->counts[i] : blocks->count;
}

static void *block_at(const struct blocks *blocks, int i)
{
    MPI_Aint place = blocks->displacements ? blocks->displacements[i]
                                           : (MPI_Aint)i * blocks->count;
    return blocks->base + place * blocks->extent;
}

/* Memory for elements of a type, which may begin before or after its address. */
struct scratch {
    void *memory, *base;
};

static struct scratch scratch_for(MPI_Aint count, MPI_Datatype type)
{
    MPI_Aint low, extent, true_low, true_extent;
    PMPI_Type_get_extent(type, &low, &extent);
    PMPI_Type_get_true_extent(type, &true_low, &true_extent);
    MPI_Aint span = true_extent + (count > 0 ? (count - 1) * (extent < 0 ? -extent : extent) : 0);
    struct scratch made = {room((size_t)span), NULL};
    made.base = (char *)made.memory - true_low;
    if (extent < 0 && count > 0) made.base = (char *)made.base - (count - 1) * extent;
    return made;
}

static void copy(const void *from, int from_count, MPI_Datatype from_type, void *to, int to_count,
                 MPI_Datatype to_type)
{
    MPI_Aint true_low, true_extent;
    int size;
    PMPI_Type_size(from_type, &size);
    PMPI_Type_get_true_extent(from_type, &true_low, &true_extent);
    struct blocks dense = blocks_of(from, 0, NULL, NULL, from_type);
    if (from_type == to_type && true_low == 0 && size == true_extent && size == dense.extent) {
        memmove(to, from, (size_t)size * (size_t)from_count);
        return;
    }
    PMPI_Sendrecv(from, from_count, from_type, 0, 0, to, to_count, to_type, 0, 0, quiet_self,
                  MPI_STATUS_IGNORE);
}

/* Messages of a collective. Errors are MPI's, and are passed on. */

static void post(struct receive *receive, void *buffer, int count, MPI_Datatype type, int source,
                 struct channel *channel)
{
    receive_fill(receive, buffer, count, type, source, collective_tag, channel);
    receive_post(receive);
}

static int send(const void *buffer, int count, MPI_Datatype type, int dest,
                struct channel *channel)
{
    MPI_Request request;
    int result = PMPI_Isend(buffer, count, type, dest, collective_tag, channel->comm, &request);
    return result ? result : send_wait(&request);
}

static int receive(void *buffer, int count, MPI_Datatype type, int source, struct channel *channel)
{
    struct receive posted;
    post(&posted, buffer, count, type, source, channel);
    return receive_wait(&posted, MPI_STATUS_IGNORE);
}

static int exchange(const void *sent, int sent_count, MPI_Datatype sent_type, int dest,
                    void *buffer, int count, MPI_Datatype type, int source,
                    struct channel *channel)
{
    struct receive posted;
    post(&posted, buffer, count, type, source, channel);
    int result = send(sent, sent_count, sent_type, dest, channel);
    int received = receive_wait(&posted, MPI_STATUS_IGNORE);
    return result ? result : received;
}

/* The channel of a communicator that is one group, else NULL, and the call is counted. */
static struct channel *one_group(MPI_Comm comm, const char *name)
{
    struct channel *channel = comm == MPI_COMM_NULL ? NULL : channel_of(comm);
    if (channel && !channel->inter) return channel;
    undelayed(name);
    return NULL;
}

int library_Barrier(MPI_Comm comm)
{
    struct channel *channel = one_group(comm, "MPI_Barrier");
    if (!channel) return PMPI_Barrier(comm);
    int rank = channel->rank, size = channel->size, result = MPI_SUCCESS;
    char sent = 0, received;
    for (int distance = 1; distance < size && !result; distance *= 2)
        result = exchange(&sent, 1, MPI_BYTE, (rank + distance) % size, &received, 1, MPI_BYTE,
                          (rank - distance + size) % size, channel);
    return result;
}

int library_Bcast(void *buffer, int count, MPI_Datatype type, int root, MPI_Comm comm)
{
    struct channel *channel = one_group(comm, "MPI_Bcast");
    if (!channel || root < 0 || root >= channel->size)
        return PMPI_Bcast(buffer, count, type, root, comm);
    int size = channel->size, place = (channel->rank - root + size) % size, weight = 1;
    int result = MPI_SUCCESS;
    while (weight < size && !(place & weight)) weight *= 2;
    if (place) result = receive(buffer, count, type, (place - weight + root) % size, channel);
    for (weight /= 2; weight > 0 && !result; weight /= 2)
        if (place + weight < size)
            result = send(buffer, count, type, (place + weight + root) % size, channel);
    return result;
}

/* A reduction of this rank's: its own value so far, and one received. */
struct reduction {
    void *own, *other;
    int count, commutes;
    MPI_Datatype type;
    MPI_Op op;
};

/* Combine with the other value, of ranks before this one's or after them. */
static int combine(struct reduction *reduction, int before)
{
    if (before || reduction->commutes)
        return PMPI_Reduce_local(reduction->other, reduction->own, reduction->count,
                                 reduction->type, reduction->op);
    void *combined = reduction->other;
    int result = PMPI_Reduce_local(reduction->own, combined, reduction->count, reduction->type,
                                   reduction->op);
    reduction->other = reduction->own;
    reduction->own = combined;
    return result;
}

static int reduce_binomial(struct reduction *reduction, int root, struct channel *channel)
{
    int size = channel->size, place = (channel->rank - root + size) % size, result = MPI_SUCCESS;
    for (int weight = 1; weight < size && !result; weight *= 2) {
        if (place & weight)
            return send(reduction->own, reduction->count, reduction->type,
                        (place - weight + root) % size, channel);
        if (place + weight >= size) continue;
        result = receive(reduction->other, reduction->count, reduction->type,
                         (place + weight + root) % size, channel);
        if (!result) result = combine(reduction, 0);
    }
    return result;
}

/* All values go to the root, which combines them in the order of ranks. */
static int reduce_linear(struct reduction *reduction, int root, struct channel *channel)
{
    int size = channel->size, rank = channel->rank, result = MPI_SUCCESS;
    if (rank != root)
        return send(reduction->own, reduction->count, reduction->type, root, channel);
    struct scratch scratch = scratch_for((MPI_Aint)size * reduction->count, reduction->type);
    struct blocks all = blocks_of(scratch.base, reduction->count, NULL, NULL, reduction->type);
    struct receive *posted = room(sizeof *posted * (size_t)size);
    for (int i = 0; i < size; i++)
        if (i != rank)
            post(&posted[i], block_at(&all, i), all.count, all.type, i, channel);
    copy(reduction->own, all.count, all.type, block_at(&all, rank), all.count, all.type);
    for (int i = 0; i < size; i++)
        if (i != rank) {
            int received = receive_wait(&posted[i], MPI_STATUS_IGNORE);
            if (!result) result = received;
        }
    for (int i = size - 2; i >= 0 && !result; i--)
        result = PMPI_Reduce_local(block_at(&all, i), block_at(&all, size - 1), all.count,
                                   all.type, reduction->op);
    copy(block_at(&all, size - 1), all.count, all.type, reduction->own, all.count, all.type);
    free(posted);
    free(scratch.memory);
    return result;
}

static int allreduce_doubling(struct reduction *reduction, struct channel *channel)
{
    int rank = channel->rank, size = channel->size, power = 1, result = MPI_SUCCESS;
    while (2 * power <= size) power *= 2;
    int extra = size - power, pair = rank / 2;
    /* Of each of the first pairs one is left out: of ranks 0 and 1 the second, else the first. */
    int other = pair == 0 ? 1 : 2 * pair, paired = pair < extra, partner = 4 * pair + 1 - other;
    if (paired && rank == other) {
        result = send(reduction->own, reduction->count, reduction->type, partner, channel);
        return result ? result
                      : receive(reduction->own, reduction->count, reduction->type, partner,
                                channel);
    }
    if (paired) {
        result = receive(reduction->other, reduction->count, reduction->type, other, channel);
        if (!result) result = combine(reduction, other < rank);
    }
    int place = paired ? pair : rank - extra;
    for (int distance = 1; distance < power && !result; distance *= 2) {
        int there = place ^ distance;
        int peer = there >= extra ? there + extra : there == 0 ? 0 : 2 * there + 1;
        result = exchange(reduction->own, reduction->count, reduction->type, peer,
                          reduction->other, reduction->count, reduction->type, peer, channel);
        if (!result) result = combine(reduction, there < place);
    }
    if (paired && !result)
        result = send(reduction->own, reduction->count, reduction->type, other, channel);
    return result;
}

/* Reduce this rank's value; the result is wanted in `result_buffer`, if at all. */
static int reduce(const void *value, void *result_buffer, int count, MPI_Datatype type, MPI_Op op,
                  int root, struct channel *channel)
{
    struct scratch own = scratch_for(count, type), other = scratch_for(count, type);
    struct reduction reduction = {own.base, other.base, count, 0, type, op};
    int result;
    PMPI_Op_commutative(op, &reduction.commutes);
    copy(value, count, type, own.base, count, type);
    if (root < 0) result = allreduce_doubling(&reduction, channel);
    else if (reduction.commutes) result = reduce_binomial(&reduction, root, channel);
    else result = reduce_linear(&reduction, root, channel);
    if (!result && result_buffer) copy(reduction.own, count, type, result_buffer, count, type);
    free(own.memory);
    free(other.memory);
    return result;
}

int library_Reduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype type,
                   MPI_Op op, int root, MPI_Comm comm)
{
    struct channel *channel = one_group(comm, "MPI_Reduce");
    if (!channel || root < 0 || root >= channel->size || count <= 0)
        return PMPI_Reduce(sendbuf, recvbuf, count, type, op, root, comm);
    return reduce(sendbuf == MPI_IN_PLACE ? recvbuf : sendbuf,
                  channel->rank == root ? recvbuf : NULL, count, type, op, root, channel);
}

int library_Allreduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype type,
                      MPI_Op op, MPI_Comm comm)
{
    struct channel *channel = one_group(comm, "MPI_Allreduce");
    if (!channel || count <= 0) return PMPI_Allreduce(sendbuf, recvbuf, count, type, op, comm);
    return reduce(sendbuf == MPI_IN_PLACE ? recvbuf : sendbuf, recvbuf, count, type, op, -1,
                  channel);
}

static int allgather(const void *own, int count, MPI_Datatype type, struct blocks all,
                     struct channel *channel)
{
    int rank = channel->rank, size = channel->size, result = MPI_SUCCESS;
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    if (own != MPI_IN_PLACE)
        copy(own, count, type, block_at(&all, rank), count_at(&all, rank), all.type);
    for (int step = 0; step < size - 1 && !result; step++) {
        int sent = (rank - step + size) % size, received = (left - step + size) % size;
        result = exchange(block_at(&all, sent), count_at(&all, sent), all.type, right,
                          block_at(&all, received), count_at(&all, received), all.type, left,
                          channel);
    }
    return result;
}

int library_Allgather(const void *sendbuf, int sendcount, MPI_Datatype sendtype,
                      void *recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm)
{
    struct channel *channel = one_group(comm, "MPI_Allgather");
    if (!channel)
        return PMPI_Allgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
    return allgather(sendbuf, sendcount, sendtype,
                     blocks_of(recvbuf, recvcount, NULL, NULL, recvtype), channel);
}

int library_Allgatherv(const void *sendbuf, int sendcount, MPI_Datatype sendtype,
                       void *recvbuf, const int recvcounts[], const int displs[],
                       MPI_Datatype recvtype, MPI_Comm comm)
{
    struct channel *channel = one_group(comm, "MPI_Allgatherv");
    if (!channel)
        return PMPI_Allgatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype,
                               comm);
    return allgather(sendbuf, sendcount, sendtype,
                     blocks_of(recvbuf, 0, recvcounts, displs, recvtype), channel);
}

static int alltoall(struct blocks sent, struct blocks received, struct channel *channel)
{
    int rank = channel->rank, size = channel->size, result = MPI_SUCCESS;
    copy(block_at(&sent, rank), count_at(&sent, rank), sent.type, block_at(&received, rank),
         count_at(&received, rank), received.type);
    for (int distance = 1; distance < size && !result; distance++) {
        int to = (rank + distance) % size, from = (rank - distance + size) % size;
        result = exchange(block_at(&sent, to), count_at(&sent, to), sent.type, to,
                          block_at(&received, from), count_at(&received, from), received.type,
                          from, channel);
    }
    return result;
}

/* What is sent in place is sent from a copy. */
static int alltoall_in_place(struct blocks received, struct channel *channel)
{
    MPI_Aint elements = (MPI_Aint)received.count * channel->size;
    for (int i = 0; received.counts && i < channel->size; i++) {
        MPI_Aint end = (MPI_Aint)received.displacements[i] + received.counts[i];
        if (end > elements) elements = end;
    }
    struct scratch scratch = scratch_for(elements, received.type);
    struct blocks sent = received;
    sent.base = scratch.base;
    for (int i = 0; i < channel->size; i++)
        copy(block_at(&received, i), count_at(&received, i), received.type, block_at(&sent, i),
             count_at(&sent, i), sent.type);
    int result = alltoall(sent, received, channel);
    free(scratch.memory);
    return result;
}

int library_Alltoall(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                     int recvcount, MPI_Datatype recvtype, MPI_Comm comm)
{
    struct channel *channel = one_group(comm, "MPI_Alltoall");
    if (!channel)
        return PMPI_Alltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
    struct blocks received = blocks_of(recvbuf, recvcount, NULL, NULL, recvtype);
    if (sendbuf == MPI_IN_PLACE) return alltoall_in_place(received, channel);
    return alltoall(blocks_of(sendbuf, sendcount, NULL, NULL, sendtype), received, channel);
}

int library_Alltoallv(const void *sendbuf, const int sendcounts[], const int sdispls[],
                      MPI_Datatype sendtype, void *recvbuf, const int recvcounts[],
                      const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm)
{
    struct channel *channel = one_group(comm, "MPI_Alltoallv");
    if (!channel)
        return PMPI_Alltoallv(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls,
                              recvtype, comm);
    struct blocks received = blocks_of(recvbuf, 0, recvcounts, rdispls, recvtype);
    if (sendbuf == MPI_IN_PLACE) return alltoall_in_place(received, channel);
    return alltoall(blocks_of(sendbuf, 0, sendcounts, sdispls, sendtype), received, channel);
}

/* The root's part of a gather: all blocks but its own are received at once. */
static int gather_at_root(const void *own, int count, MPI_Datatype type, struct blocks all,
                          struct channel *channel)
{
    int rank = channel->rank, size = channel->size, result = MPI_SUCCESS;
    struct receive *posted = room(sizeof *posted * (size_t)size);
    for (int i = 0; i < size; i++)
        if (i != rank)
            post(&posted[i], block_at(&all, i), count_at(&all, i), all.type, i, channel);
    if (own != MPI_IN_PLACE)
        copy(own, count, type, block_at(&all, rank), count_at(&all, rank), all.type);
    for (int i = 0; i < size; i++) {
        int received = i == rank ? MPI_SUCCESS : receive_wait(&posted[i], MPI_STATUS_IGNORE);
        if (!result) result = received;
    }
    free(posted);
    return result;
}

int library_Gather(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                   int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm)
{
    struct channel *channel = one_group(comm, "MPI_Gather");
    if (!channel || root < 0 || root >= channel->size)
        return PMPI_Gather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm);
    if (channel->rank != root) return send(sendbuf, sendcount, sendtype, root, channel);
    return gather_at_root(sendbuf, sendcount, sendtype,
                          blocks_of(recvbuf, recvcount, NULL, NULL, recvtype), channel);
}

int library_Gatherv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                    const int recvcounts[], const int displs[], MPI_Datatype recvtype,
                    int root, MPI_Comm comm)
{
    struct channel *channel = one_group(comm, "MPI_Gatherv");
    if (!channel || root < 0 || root >= channel->size)
        return PMPI_Gatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype,
                            root, comm);
    if (channel->rank != root) return send(sendbuf, sendcount, sendtype, root, channel);
    return gather_at_root(sendbuf, sendcount, sendtype,
                          blocks_of(recvbuf, 0, recvcounts, displs, recvtype), channel);
}

/* The root's part of a scatter: all blocks but its own are sent at once. */
static int scatter_at_root(struct blocks all, void *own, int count, MPI_Datatype type,
                           struct channel *channel)
{
    int rank = channel->rank, size = channel->size, result = MPI_SUCCESS;
    MPI_Request *sends = room(sizeof *sends * (size_t)size);
    for (int i = 0; i < size; i++) {
        sends[i] = MPI_REQUEST_NULL;
        if (i == rank || result) continue;
        result = PMPI_Isend(block_at(&all, i), count_at(&all, i), all.type, i, collective_tag,
                            channel->comm, &sends[i]);
    }
    if (own != MPI_IN_PLACE)
        copy(block_at(&all, rank), count_at(&all, rank), all.type, own, count, type);
    for (int i = 0; i < size; i++) {
        int sent = send_wait(&sends[i]);
        if (!result) result = sent;
    }
    free(sends);
    return result;
}

int library_Scatter(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                    int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm)
{
    struct channel *channel = one_group(comm, "MPI_Scatter");
    if (!channel || root < 0 || root >= channel->size)
        return PMPI_Scatter(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root,
                            comm);
    if (channel->rank != root) return receive(recvbuf, recvcount, recvtype, root, channel);
    return scatter_at_root(blocks_of(sendbuf, sendcount, NULL, NULL, sendtype), recvbuf, recvcount,
                           recvtype, channel);
}

int library_Scatterv(const void *sendbuf, const int sendcounts[], const int displs[],
                     MPI_Datatype sendtype, void *recvbuf, int recvcount,
                     MPI_Datatype recvtype, int root, MPI_Comm comm)
{
    struct channel *channel = one_group(comm, "MPI_Scatterv");
    if (!channel || root < 0 || root >= channel->size)
        return PMPI_Scatterv(sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype,
                             root, comm);
    if (channel->rank != root) return receive(recvbuf, recvcount, recvtype, root, channel);
    return scatter_at_root(blocks_of(sendbuf, 0, sendcounts, displs, sendtype), recvbuf, recvcount,
                           recvtype, channel);
}
