/* Messages from one rank to another, whether the call waits for them or not. */
#include "trace.h"

#include <stdlib.h>
#include <string.h>

static void field_message(const void *buf, int count, MPI_Datatype type, int peer, int tag,
                          MPI_Comm comm)
{
    field_buffer(buf);
    field(count);
    field_type(type);
    field_peer(peer);
    field_tag(tag);
    field_comm(comm);
}

static int wild(int source, int tag) { return source == MPI_ANY_SOURCE || tag == MPI_ANY_TAG; }

#define SEND(NAME)                                                                             \
    int library_##NAME(const void *buf, int count, MPI_Datatype type, int dest, int tag,       \
                       MPI_Comm comm)                                                          \
    {                                                                                          \
        int64_t start = clock_ns();                                                            \
        int result = PMPI_##NAME(buf, count, type, dest, tag, comm);                           \
        if (result) return line_failed("MPI_" #NAME, result);                                  \
        line_begin("MPI_" #NAME, start);                                                       \
        field_message(buf, count, type, dest, tag, comm);                                      \
        line_end();                                                                            \
        return result;                                                                         \
    }

SEND(Send)
SEND(Bsend)
SEND(Ssend)
SEND(Rsend)

#define BEGIN(NAME, CONST, WILDCARD, PERSISTENT)                                               \
    int library_##NAME(CONST void *buf, int count, MPI_Datatype type, int peer, int tag,       \
                       MPI_Comm comm, MPI_Request *request)                                    \
    {                                                                                          \
        int64_t start = clock_ns();                                                            \
        int result = PMPI_##NAME(buf, count, type, peer, tag, comm, request);                  \
        if (result) return line_failed("MPI_" #NAME, result);                                  \
        line_begin("MPI_" #NAME, start);                                                       \
        field_message(buf, count, type, peer, tag, comm);                                      \
        field_request(request_made(*request, WILDCARD, PERSISTENT));                           \
        line_end();                                                                            \
        return result;                                                                         \
    }

BEGIN(Isend, const, 0, 0)
BEGIN(Ibsend, const, 0, 0)
BEGIN(Issend, const, 0, 0)
BEGIN(Irsend, const, 0, 0)
BEGIN(Irecv, , wild(peer, tag), 0)
BEGIN(Send_init, const, 0, 1)
BEGIN(Bsend_init, const, 0, 1)
BEGIN(Ssend_init, const, 0, 1)
BEGIN(Rsend_init, const, 0, 1)
BEGIN(Recv_init, , wild(peer, tag), 1)

int library_Recv(void *buf, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
                 MPI_Status *status)
{
    int64_t start = clock_ns();
    MPI_Status own;
    if (status == MPI_STATUS_IGNORE) status = &own;
    int result = PMPI_Recv(buf, count, type, source, tag, comm, status);
    if (result) return line_failed("MPI_Recv", result);
    line_begin("MPI_Recv", start);
    field_message(buf, count, type, source, tag, comm);
    field_status_if(wild(source, tag), status);
    line_end();
    return result;
}

int library_Sendrecv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, int dest,
                     int sendtag, void *recvbuf, int recvcount, MPI_Datatype recvtype,
                     int source, int recvtag, MPI_Comm comm, MPI_Status *status)
{
    int64_t start = clock_ns();
    MPI_Status own;
    if (status == MPI_STATUS_IGNORE) status = &own;
    int result = PMPI_Sendrecv(sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount,
                               recvtype, source, recvtag, comm, status);
    if (result) return line_failed("MPI_Sendrecv", result);
    line_begin("MPI_Sendrecv", start);
    field_buffer(sendbuf);
    field(sendcount);
    field_type(sendtype);
    field_peer(dest);
    field_tag(sendtag);
    field_message(recvbuf, recvcount, recvtype, source, recvtag, comm);
    field_status_if(wild(source, recvtag), status);
    line_end();
    return result;
}

int library_Sendrecv_replace(void *buf, int count, MPI_Datatype type, int dest, int sendtag,
                             int source, int recvtag, MPI_Comm comm, MPI_Status *status)
{
    int64_t start = clock_ns();
    MPI_Status own;
    if (status == MPI_STATUS_IGNORE) status = &own;
    int result = PMPI_Sendrecv_replace(buf, count, type, dest, sendtag, source, recvtag, comm,
                                       status);
    if (result) return line_failed("MPI_Sendrecv_replace", result);
    line_begin("MPI_Sendrecv_replace", start);
    field_buffer(buf);
    field(count);
    field_type(type);
    field_peer(dest);
    field_tag(sendtag);
    field_peer(source);
    field_tag(recvtag);
    field_comm(comm);
    field_status_if(wild(source, recvtag), status);
    line_end();
    return result;
}

static void field_probe(int source, int tag, MPI_Comm comm)
{
    field_peer(source);
    field_tag(tag);
    field_comm(comm);
}

int library_Probe(int source, int tag, MPI_Comm comm, MPI_Status *status)
{
    int64_t start = clock_ns();
    MPI_Status own;
    if (status == MPI_STATUS_IGNORE) status = &own;
    int result = PMPI_Probe(source, tag, comm, status);
    if (result) return line_failed("MPI_Probe", result);
    line_begin("MPI_Probe", start);
    field_probe(source, tag, comm);
    field_status_if(wild(source, tag), status);
    line_end();
    return result;
}

int library_Iprobe(int source, int tag, MPI_Comm comm, int *flag, MPI_Status *status)
{
    int64_t start = clock_ns();
    MPI_Status own;
    if (status == MPI_STATUS_IGNORE) status = &own;
    int result = PMPI_Iprobe(source, tag, comm, flag, status);
    if (result) return line_failed("MPI_Iprobe", result);
    line_begin("MPI_Iprobe", start);
    field_probe(source, tag, comm);
    field(*flag != 0);
    field_status_if(*flag && wild(source, tag), status);
    if (*flag) line_end();
    else line_end_in_vain();
    return result;
}

/* A message that was found but not received yet, and how it was asked for. */
struct found {
    MPI_Message message;
    int source, tag;
    MPI_Comm comm;
    struct found *next;
};

static struct found *messages_found;

static void keep(MPI_Message message, int source, int tag, MPI_Comm comm)
{
    struct found *found = malloc(sizeof *found);
    if (!found) abort();
    *found = (struct found){message, source, tag, comm, messages_found};
    messages_found = found;
}

static struct found take(MPI_Message message)
{
    struct found taken = {message, MPI_PROC_NULL, MPI_ANY_TAG, MPI_COMM_WORLD, NULL};
    for (struct found **at = &messages_found; *at; at = &(*at)->next) {
        if ((*at)->message != message) continue;
        struct found *found = *at;
        taken = *found;
        *at = found->next;
        free(found);
        break;
    }
    return taken;
}

int library_Mprobe(int source, int tag, MPI_Comm comm, MPI_Message *message,
                   MPI_Status *status)
{
    int64_t start = clock_ns();
    MPI_Status own;
    if (status == MPI_STATUS_IGNORE) status = &own;
    int result = PMPI_Mprobe(source, tag, comm, message, status);
    if (result) return line_failed("MPI_Mprobe", result);
    line_begin("MPI_Mprobe", start);
    keep(*message, source, tag, comm);
    field_probe(source, tag, comm);
    field(0);
    field_status_if(wild(source, tag), status);
    line_end();
    return result;
}

int library_Improbe(int source, int tag, MPI_Comm comm, int *flag, MPI_Message *message,
                    MPI_Status *status)
{
    int64_t start = clock_ns();
    MPI_Status own;
    if (status == MPI_STATUS_IGNORE) status = &own;
    int result = PMPI_Improbe(source, tag, comm, flag, message, status);
    if (result) return line_failed("MPI_Improbe", result);
    line_begin("MPI_Improbe", start);
    if (*flag) keep(*message, source, tag, comm);
    field_probe(source, tag, comm);
    field(*flag != 0);
    field(0);
    field_status_if(*flag && wild(source, tag), status);
    if (*flag) line_end();
    else line_end_in_vain();
    return result;
}

int library_Mrecv(void *buf, int count, MPI_Datatype type, MPI_Message *message,
                  MPI_Status *status)
{
    int64_t start = clock_ns();
    MPI_Status own;
    MPI_Message handle = *message;
    if (status == MPI_STATUS_IGNORE) status = &own;
    int result = PMPI_Mrecv(buf, count, type, message, status);
    if (result) return line_failed("MPI_Mrecv", result);
    line_begin("MPI_Mrecv", start);
    struct found found = take(handle);
    field_message(buf, count, type, found.source, found.tag, found.comm);
    field_status_if(wild(found.source, found.tag), status);
    line_end();
    return result;
}

int library_Imrecv(void *buf, int count, MPI_Datatype type, MPI_Message *message,
                   MPI_Request *request)
{
    int64_t start = clock_ns();
    MPI_Message handle = *message;
    int result = PMPI_Imrecv(buf, count, type, message, request);
    if (result) return line_failed("MPI_Imrecv", result);
    line_begin("MPI_Imrecv", start);
    struct found found = take(handle);
    field_message(buf, count, type, found.source, found.tag, found.comm);
    field_request(request_made(*request, wild(found.source, found.tag), 0));
    line_end();
    return result;
}
