/* Messages from one rank to another. Those from nowhere, and calls with wrong arguments, are MPI's. */
#include "delay.h"

#include <stdlib.h>

/* A send is not delayed. It is begun, and waited for where MPI does not complete it at once, so that
 * no thread spins in MPI. */
#define SEND(NAME, INAME)                                                                      \
    int library_##NAME(const void *buffer, int count, MPI_Datatype type, int dest, int tag,      \
                       MPI_Comm comm)                                                          \
    {                                                                                          \
        MPI_Request request;                                                                   \
        int result = PMPI_##INAME(buffer, count, type, dest, tag, comm, &request);             \
        return result ? result : send_wait(&request);                                          \
    }

SEND(Send, Isend)
SEND(Ssend, Issend)
SEND(Rsend, Isend) /* its receive is posted with us, not with MPI */

int library_Irsend(const void *buffer, int count, MPI_Datatype type, int dest, int tag,
                   MPI_Comm comm, MPI_Request *request)
{
    return PMPI_Isend(buffer, count, type, dest, tag, comm, request);
}

int library_Rsend_init(const void *buffer, int count, MPI_Datatype type, int dest, int tag,
                       MPI_Comm comm, MPI_Request *request)
{
    return PMPI_Send_init(buffer, count, type, dest, tag, comm, request);
}

/* The communicator's channel, or NULL where MPI is to have the call. */
static struct channel *channel_for(int source, MPI_Comm comm)
{
    if (comm == MPI_COMM_NULL || source == MPI_PROC_NULL) return NULL;
    struct channel *channel = channel_of(comm);
    int valid = source == MPI_ANY_SOURCE || (source >= 0 && source < channel->size);
    return valid ? channel : NULL;
}

int library_Recv(void *buffer, int count, MPI_Datatype type, int source, int tag,
                 MPI_Comm comm, MPI_Status *status)
{
    struct channel *channel = channel_for(source, comm);
    if (!channel) return PMPI_Recv(buffer, count, type, source, tag, comm, status);
    struct receive receive;
    receive_fill(&receive, buffer, count, type, source, tag, channel);
    receive_post(&receive);
    return receive_wait(&receive, status);
}

int library_Irecv(void *buffer, int count, MPI_Datatype type, int source, int tag,
                  MPI_Comm comm, MPI_Request *request)
{
    struct channel *channel = channel_for(source, comm);
    if (!channel) return PMPI_Irecv(buffer, count, type, source, tag, comm, request);
    return receive_request(buffer, count, type, source, tag, channel, request);
}

int library_Recv_init(void *buffer, int count, MPI_Datatype type, int source, int tag,
                      MPI_Comm comm, MPI_Request *request)
{
    if (!channel_for(source, comm))
        return PMPI_Recv_init(buffer, count, type, source, tag, comm, request);
    struct persistent *made = room(sizeof *made);
    *made = (struct persistent){buffer, count, MPI_DATATYPE_NULL, source, tag, comm,
                                MPI_REQUEST_NULL};
    int result = PMPI_Type_dup(type, &made->type);
    if (!result) result = PMPI_Recv_init(NULL, 0, MPI_BYTE, 0, 0, quiet_self, request);
    if (result) free(made);
    else persistent_made(made, *request);
    return result;
}

int library_Sendrecv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, int dest,
                     int sendtag, void *recvbuf, int recvcount, MPI_Datatype recvtype,
                     int source, int recvtag, MPI_Comm comm, MPI_Status *status)
{
    MPI_Request request;
    struct receive receive;
    struct channel *channel = channel_for(source, comm);
    if (channel) {
        receive_fill(&receive, recvbuf, recvcount, recvtype, source, recvtag, channel);
        receive_post(&receive);
    }
    int sent = PMPI_Isend(sendbuf, sendcount, sendtype, dest, sendtag, comm, &request);
    int received = channel ? receive_wait(&receive, status)
                           : PMPI_Recv(recvbuf, recvcount, recvtype, source, recvtag, comm, status);
    if (!sent) sent = send_wait(&request);
    return sent ? sent : received;
}

int library_Sendrecv_replace(void *buffer, int count, MPI_Datatype type, int dest,
                             int sendtag, int source, int recvtag, MPI_Comm comm,
                             MPI_Status *status)
{
    int bytes, packed = 0;
    int result = PMPI_Pack_size(count, type, comm, &bytes);
    if (result) return result;
    void *copy = room((size_t)bytes);
    result = PMPI_Pack(buffer, count, type, copy, bytes, &packed, comm);
    if (!result)
        result = library_Sendrecv(copy, packed, MPI_PACKED, dest, sendtag, buffer, count, type,
                                  source, recvtag, comm, status);
    free(copy);
    return result;
}

/* Probes see a message when it would be released. What MPI_Mprobe found is then received by MPI. */

static void found_status(struct message *found, MPI_Status *status)
{
    if (status != MPI_STATUS_IGNORE) *status = found->status;
    free(found);
}

int library_Probe(int source, int tag, MPI_Comm comm, MPI_Status *status)
{
    struct channel *channel = channel_for(source, comm);
    if (!channel) return PMPI_Probe(source, tag, comm, status);
    found_status(message_await(channel, source, tag, 0), status);
    return MPI_SUCCESS;
}

int library_Iprobe(int source, int tag, MPI_Comm comm, int *flag, MPI_Status *status)
{
    struct channel *channel = channel_for(source, comm);
    if (!channel) return PMPI_Iprobe(source, tag, comm, flag, status);
    struct message *found = message_find(channel, source, tag, 0);
    *flag = found != NULL;
    if (found) found_status(found, status);
    return MPI_SUCCESS;
}

int library_Mprobe(int source, int tag, MPI_Comm comm, MPI_Message *message,
                   MPI_Status *status)
{
    struct channel *channel = channel_for(source, comm);
    if (!channel) return PMPI_Mprobe(source, tag, comm, message, status);
    struct message *found = message_await(channel, source, tag, 1);
    *message = found->handle;
    found_status(found, status);
    return MPI_SUCCESS;
}

int library_Improbe(int source, int tag, MPI_Comm comm, int *flag, MPI_Message *message,
                    MPI_Status *status)
{
    struct channel *channel = channel_for(source, comm);
    if (!channel) return PMPI_Improbe(source, tag, comm, flag, message, status);
    struct message *found = message_find(channel, source, tag, 1);
    *flag = found != NULL;
    if (!found) return MPI_SUCCESS;
    *message = found->handle;
    found_status(found, status);
    return MPI_SUCCESS;
}
