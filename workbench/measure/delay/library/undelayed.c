/* Calls whose messages are not delayed: they are MPI's, and the report has their number. */
#include "delay.h"

#include <stdio.h>

#define COUNTED(NAME, PARAMETERS, ARGUMENTS)                                                   \
    REPLACED int MPI_##NAME(LIST PARAMETERS)                                                   \
    {                                                                                          \
        undelayed("MPI_" #NAME);                                                               \
        return PMPI_##NAME(LIST ARGUMENTS);                                                    \
    }

/* Messages are taken before MPI can match them to receives that are not ours. */
#define OTHER_RECEIVE(NAME, PARAMETERS, ARGUMENTS)                                             \
    REPLACED int MPI_##NAME(LIST PARAMETERS)                                                   \
    {                                                                                          \
        refuse("programs whose messages are delayed must not call MPI_" #NAME "; use "         \
               "MPI_Irecv and MPI_Isend with counts of at most 31 bits");                      \
        return PMPI_##NAME(LIST ARGUMENTS);                                                    \
    }

/* Receivers delay what these send, and probes what they receive. */
#define OTHER_MESSAGE(NAME, PARAMETERS, ARGUMENTS)
#define OTHER(NAME, PARAMETERS, ARGUMENTS) COUNTED(NAME, PARAMETERS, ARGUMENTS)

#include "other_calls.h"

#define STARTED(NAME, PARAMETERS, ARGUMENTS)                                                   \
    COUNTED(NAME, (LIST PARAMETERS, MPI_Request *request), (LIST ARGUMENTS, request))

#define BOTH(NAME, INAME, PARAMETERS, ARGUMENTS)                                               \
    COUNTED(NAME, PARAMETERS, ARGUMENTS)                                                       \
    STARTED(INAME, PARAMETERS, ARGUMENTS)

#define VALUES                                                                                 \
    (const void *sendbuf, void *recvbuf, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
#define VALUES_GIVEN (sendbuf, recvbuf, count, type, op, comm)
BOTH(Scan, Iscan, VALUES, VALUES_GIVEN)
BOTH(Exscan, Iexscan, VALUES, VALUES_GIVEN)
BOTH(Reduce_scatter_block, Ireduce_scatter_block, VALUES, VALUES_GIVEN)
STARTED(Iallreduce, VALUES, VALUES_GIVEN)
BOTH(Reduce_scatter, Ireduce_scatter,
     (const void *sendbuf, void *recvbuf, const int counts[], MPI_Datatype type, MPI_Op op,
      MPI_Comm comm),
     (sendbuf, recvbuf, counts, type, op, comm))
STARTED(Ireduce,
        (const void *sendbuf, void *recvbuf, int count, MPI_Datatype type, MPI_Op op, int root,
         MPI_Comm comm),
        (sendbuf, recvbuf, count, type, op, root, comm))
STARTED(Ibarrier, (MPI_Comm comm), (comm))
STARTED(Ibcast, (void *buffer, int count, MPI_Datatype type, int root, MPI_Comm comm),
        (buffer, count, type, root, comm))

#define ROOTED                                                                                 \
    (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,  \
     MPI_Datatype recvtype, int root, MPI_Comm comm)
#define ROOTED_GIVEN (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm)
STARTED(Igather, ROOTED, ROOTED_GIVEN)
STARTED(Iscatter, ROOTED, ROOTED_GIVEN)
STARTED(Igatherv,
        (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
         const int recvcounts[], const int displs[], MPI_Datatype recvtype, int root,
         MPI_Comm comm),
        (sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, root, comm))
STARTED(Iscatterv,
        (const void *sendbuf, const int sendcounts[], const int displs[], MPI_Datatype sendtype,
         void *recvbuf, int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm),
        (sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, root, comm))

#define ALL                                                                                    \
    (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,  \
     MPI_Datatype recvtype, MPI_Comm comm)
#define ALL_GIVEN (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm)
STARTED(Iallgather, ALL, ALL_GIVEN)
STARTED(Ialltoall, ALL, ALL_GIVEN)
BOTH(Neighbor_allgather, Ineighbor_allgather, ALL, ALL_GIVEN)
BOTH(Neighbor_alltoall, Ineighbor_alltoall, ALL, ALL_GIVEN)

#define FROM_ALL                                                                               \
    (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,                 \
     const int recvcounts[], const int displs[], MPI_Datatype recvtype, MPI_Comm comm)
#define FROM_ALL_GIVEN                                                                         \
    (sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm)
STARTED(Iallgatherv, FROM_ALL, FROM_ALL_GIVEN)
BOTH(Neighbor_allgatherv, Ineighbor_allgatherv, FROM_ALL, FROM_ALL_GIVEN)

#define TO_ALL                                                                                 \
    (const void *sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype,  \
     void *recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype,        \
     MPI_Comm comm)
#define TO_ALL_GIVEN                                                                           \
    (sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm)
STARTED(Ialltoallv, TO_ALL, TO_ALL_GIVEN)
BOTH(Neighbor_alltoallv, Ineighbor_alltoallv, TO_ALL, TO_ALL_GIVEN)

#define OF_TYPES(DISPLACEMENT)                                                                 \
    (const void *sendbuf, const int sendcounts[], const DISPLACEMENT sdispls[],                \
     const MPI_Datatype sendtypes[], void *recvbuf, const int recvcounts[],                    \
     const DISPLACEMENT rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm)
#define OF_TYPES_GIVEN                                                                         \
    (sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm)
BOTH(Alltoallw, Ialltoallw, OF_TYPES(int), OF_TYPES_GIVEN)
BOTH(Neighbor_alltoallw, Ineighbor_alltoallw, OF_TYPES(MPI_Aint), OF_TYPES_GIVEN)
