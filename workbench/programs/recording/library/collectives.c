/* Collectives, blocking, not blocking and persistent, and those among the neighbours of a topology.
 *
 * Arguments that mean nothing at a rank may hold anything there, so they are not looked at.
 */
#include "trace.h"

#include <stdlib.h>

#define LIST(...) __VA_ARGS__

#define ONE(NAME, PARAMETERS, ARGUMENTS, FIELDS)                                               \
    int library_##NAME(LIST PARAMETERS)                                                        \
    {                                                                                          \
        int64_t start = clock_ns();                                                            \
        int result = PMPI_##NAME(LIST ARGUMENTS);                                              \
        if (result) return line_failed("MPI_" #NAME, result);                                  \
        line_begin("MPI_" #NAME, start);                                                       \
        FIELDS;                                                                                \
        line_end();                                                                            \
        return result;                                                                         \
    }

/* Open MPI 5 has persistent collectives and calls itself MPI 3.1. */
#if MPI_VERSION >= 4 || OMPI_MAJOR_VERSION >= 5
#define PERSISTENT ONE
#else
#define PERSISTENT(NAME, PARAMETERS, ARGUMENTS, FIELDS)
#endif

#define EACH(NAME, INAME, PARAMETERS, ARGUMENTS, FIELDS)                                       \
    ONE(NAME, PARAMETERS, ARGUMENTS, FIELDS)                                                   \
    ONE(INAME, (LIST PARAMETERS, MPI_Request *request), (LIST ARGUMENTS, request),             \
        FIELDS; field_request(request_made(*request, 0, 0)))                                   \
    PERSISTENT(NAME##_init, (LIST PARAMETERS, MPI_Info info, MPI_Request *request),            \
               (LIST ARGUMENTS, info, request),                                                \
               FIELDS; field(0); field_request(request_made(*request, 0, 1)))

static int is_inter(MPI_Comm comm)
{
    int inter;
    PMPI_Comm_test_inter(comm, &inter);
    return inter;
}

/* Ranks that a rank has to do with: of an intercommunicator those of the other side. */
static int partners(MPI_Comm comm)
{
    int size;
    if (is_inter(comm)) PMPI_Comm_remote_size(comm, &size);
    else PMPI_Comm_size(comm, &size);
    return size;
}

static int at_root(int root, MPI_Comm comm)
{
    int rank;
    if (is_inter(comm)) return root == MPI_ROOT;
    PMPI_Comm_rank(comm, &rank);
    return rank == root;
}

/* Whether a rank has something of its own to give to, or take from, the root. */
static int at_leaf(int root, MPI_Comm comm)
{
    return !is_inter(comm) || (root != MPI_ROOT && root != MPI_PROC_NULL);
}

static void field_part(int means, const void *buf, int count, MPI_Datatype type)
{
    field_buffer(buf);
    if (!means || buf == MPI_IN_PLACE) {
        field_none();
        field_none();
    } else {
        field(count);
        field_type(type);
    }
}

static void field_displacements(void)
{
    field(0);
    field_none();
}

static void field_parts(int means, const void *buf, const int *counts, int size,
                        MPI_Datatype type)
{
    means = means && buf != MPI_IN_PLACE;
    field_buffer(buf);
    field_counts(size, means ? counts : NULL);
    field_displacements();
    if (means) field_type(type);
    else field_none();
}

static void field_parts_of_types(const void *buf, const int *counts, const MPI_Datatype *types,
                                 int size)
{
    int means = buf != MPI_IN_PLACE && size > 0;
    field_buffer(buf);
    field_counts(size, means ? counts : NULL);
    field_displacements();
    if (!means) field_none();
    for (int i = 0; means && i < size; i++) {
        append_text(i ? ";" : ":");
        /* The type of nothing may be none. */
        if (counts[i] > 0) append_type(types[i]);
        else append_text("-");
    }
}

static void field_reduction(const void *sendbuf, const void *recvbuf, int count,
                            MPI_Datatype type)
{
    field_buffer(sendbuf);
    field_buffer(recvbuf);
    field(count);
    field_type(type);
    field(0); /* which operation is not told */
}

EACH(Barrier, Ibarrier, (MPI_Comm comm), (comm), field_comm(comm))

EACH(Bcast, Ibcast, (void *buf, int count, MPI_Datatype type, int root, MPI_Comm comm),
     (buf, count, type, root, comm),
     field_buffer(buf); field(count); field_type(type); field_peer(root); field_comm(comm))

EACH(Reduce, Ireduce,
     (const void *sendbuf, void *recvbuf, int count, MPI_Datatype type, MPI_Op op, int root,
      MPI_Comm comm),
     (sendbuf, recvbuf, count, type, op, root, comm),
     field_reduction(sendbuf, recvbuf, count, type); field_peer(root); field_comm(comm))

#define REDUCTION(NAME, INAME)                                                                 \
    EACH(NAME, INAME,                                                                          \
         (const void *sendbuf, void *recvbuf, int count, MPI_Datatype type, MPI_Op op,         \
          MPI_Comm comm),                                                                      \
         (sendbuf, recvbuf, count, type, op, comm),                                            \
         field_reduction(sendbuf, recvbuf, count, type); field_comm(comm))

REDUCTION(Allreduce, Iallreduce)
REDUCTION(Scan, Iscan)
REDUCTION(Exscan, Iexscan)
REDUCTION(Reduce_scatter_block, Ireduce_scatter_block)

EACH(Reduce_scatter, Ireduce_scatter,
     (const void *sendbuf, void *recvbuf, const int counts[], MPI_Datatype type, MPI_Op op,
      MPI_Comm comm),
     (sendbuf, recvbuf, counts, type, op, comm),
     int size; PMPI_Comm_size(comm, &size); field_buffer(sendbuf); field_buffer(recvbuf);
     field_counts(size, counts); field_type(type); field(0); field_comm(comm))

EACH(Gather, Igather,
     (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
      MPI_Datatype recvtype, int root, MPI_Comm comm),
     (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm),
     field_part(at_leaf(root, comm), sendbuf, sendcount, sendtype);
     field_part(at_root(root, comm), recvbuf, recvcount, recvtype); field_peer(root);
     field_comm(comm))

EACH(Scatter, Iscatter,
     (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
      MPI_Datatype recvtype, int root, MPI_Comm comm),
     (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm),
     field_part(at_root(root, comm), sendbuf, sendcount, sendtype);
     field_part(at_leaf(root, comm), recvbuf, recvcount, recvtype); field_peer(root);
     field_comm(comm))

EACH(Gatherv, Igatherv,
     (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
      const int recvcounts[], const int displs[], MPI_Datatype recvtype, int root, MPI_Comm comm),
     (sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, root, comm),
     field_part(at_leaf(root, comm), sendbuf, sendcount, sendtype);
     field_parts(at_root(root, comm), recvbuf, recvcounts, partners(comm), recvtype);
     field_peer(root); field_comm(comm))

EACH(Scatterv, Iscatterv,
     (const void *sendbuf, const int sendcounts[], const int displs[], MPI_Datatype sendtype,
      void *recvbuf, int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm),
     (sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, root, comm),
     field_parts(at_root(root, comm), sendbuf, sendcounts, partners(comm), sendtype);
     field_part(at_leaf(root, comm), recvbuf, recvcount, recvtype); field_peer(root);
     field_comm(comm))

#define FROM_ALL(NAME, INAME)                                                                  \
    EACH(NAME, INAME,                                                                          \
         (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,            \
          int recvcount, MPI_Datatype recvtype, MPI_Comm comm),                                \
         (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm),                   \
         field_part(1, sendbuf, sendcount, sendtype);                                          \
         field_part(1, recvbuf, recvcount, recvtype); field_comm(comm))

FROM_ALL(Allgather, Iallgather)
FROM_ALL(Alltoall, Ialltoall)
FROM_ALL(Neighbor_allgather, Ineighbor_allgather)
FROM_ALL(Neighbor_alltoall, Ineighbor_alltoall)

static int sources_of(MPI_Comm comm)
{
    int sources, destinations;
    neighbours(comm, &sources, &destinations);
    return sources;
}

static int destinations_of(MPI_Comm comm)
{
    int sources, destinations;
    neighbours(comm, &sources, &destinations);
    return destinations;
}

#define FROM_ALL_V(NAME, INAME, SOURCES)                                                       \
    EACH(NAME, INAME,                                                                          \
         (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,            \
          const int recvcounts[], const int displs[], MPI_Datatype recvtype, MPI_Comm comm),   \
         (sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm),          \
         field_part(1, sendbuf, sendcount, sendtype);                                          \
         field_parts(1, recvbuf, recvcounts, SOURCES(comm), recvtype); field_comm(comm))

FROM_ALL_V(Allgatherv, Iallgatherv, partners)
FROM_ALL_V(Neighbor_allgatherv, Ineighbor_allgatherv, sources_of)

#define TO_ALL_V(NAME, INAME, SOURCES, DESTINATIONS)                                           \
    EACH(NAME, INAME,                                                                          \
         (const void *sendbuf, const int sendcounts[], const int sdispls[],                    \
          MPI_Datatype sendtype, void *recvbuf, const int recvcounts[], const int rdispls[],   \
          MPI_Datatype recvtype, MPI_Comm comm),                                               \
         (sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype,      \
          comm),                                                                               \
         field_parts(1, sendbuf, sendcounts, DESTINATIONS(comm), sendtype);                    \
         field_parts(1, recvbuf, recvcounts, SOURCES(comm), recvtype); field_comm(comm))

TO_ALL_V(Alltoallv, Ialltoallv, partners, partners)
TO_ALL_V(Neighbor_alltoallv, Ineighbor_alltoallv, sources_of, destinations_of)

#define TO_ALL_W(NAME, INAME, DISPLACEMENT, SOURCES, DESTINATIONS)                             \
    EACH(NAME, INAME,                                                                          \
         (const void *sendbuf, const int sendcounts[], const DISPLACEMENT sdispls[],           \
          const MPI_Datatype sendtypes[], void *recvbuf, const int recvcounts[],               \
          const DISPLACEMENT rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm),        \
         (sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes,    \
          comm),                                                                               \
         field_parts_of_types(sendbuf, sendcounts, sendtypes, DESTINATIONS(comm));             \
         field_parts_of_types(recvbuf, recvcounts, recvtypes, SOURCES(comm)); field_comm(comm))

TO_ALL_W(Alltoallw, Ialltoallw, int, partners, partners)
TO_ALL_W(Neighbor_alltoallw, Ineighbor_alltoallw, MPI_Aint, sources_of, destinations_of)
