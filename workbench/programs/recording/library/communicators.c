/* How communicators are made and freed. */
#include "trace.h"

#define LIST(...) __VA_ARGS__

#define MAKES(NAME, AGREE, MADE, PARAMETERS, ARGUMENTS, FIELDS)                                \
    int library_##NAME(LIST PARAMETERS)                                                        \
    {                                                                                          \
        int64_t start = clock_ns();                                                            \
        int result = PMPI_##NAME(LIST ARGUMENTS);                                              \
        if (result) return line_failed("MPI_" #NAME, result);                                  \
        comm_made(*(MADE), AGREE);                                                             \
        line_begin("MPI_" #NAME, start);                                                       \
        FIELDS;                                                                                \
        line_end();                                                                            \
        return result;                                                                         \
    }

static int is_intra(MPI_Comm comm)
{
    int inter = 0;
    if (comm != MPI_COMM_NULL) PMPI_Comm_test_inter(comm, &inter);
    return !inter;
}

MAKES(Comm_dup, is_intra(comm), made, (MPI_Comm comm, MPI_Comm *made), (comm, made),
      field_comm(comm); field_comm(*made))

MAKES(Comm_dup_with_info, is_intra(comm), made, (MPI_Comm comm, MPI_Info info, MPI_Comm *made),
      (comm, info, made), field_comm(comm); field(0); field_comm(*made))

MAKES(Comm_split, is_intra(comm), made, (MPI_Comm comm, int color, int key, MPI_Comm *made),
      (comm, color, key, made), field_comm(comm); field_place(color); field(key);
      field_comm(*made))

MAKES(Comm_split_type, 1, made,
      (MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm *made),
      (comm, type, key, info, made), field_comm(comm); field_place(type); field(key); field(0);
      field_comm(*made))

MAKES(Comm_create, is_intra(comm), made, (MPI_Comm comm, MPI_Group group, MPI_Comm *made),
      (comm, group, made), field_comm(comm); field(0); field_comm(*made))

MAKES(Comm_create_group, 1, made, (MPI_Comm comm, MPI_Group group, int tag, MPI_Comm *made),
      (comm, group, tag, made), field_comm(comm); field(0); field(tag); field_comm(*made))

MAKES(Cart_create, 1, made,
      (MPI_Comm comm, int dimensions, const int sizes[], const int periods[], int reorder,
       MPI_Comm *made),
      (comm, dimensions, sizes, periods, reorder, made), field_comm(comm); field(dimensions);
      field(0); field(0); field(reorder); field_comm(*made))

MAKES(Cart_sub, 1, made, (MPI_Comm comm, const int remain[], MPI_Comm *made),
      (comm, remain, made), field_comm(comm); field(0); field_comm(*made))

MAKES(Graph_create, 1, made,
      (MPI_Comm comm, int nodes, const int index[], const int edges[], int reorder,
       MPI_Comm *made),
      (comm, nodes, index, edges, reorder, made), field_comm(comm); field(nodes); field(0);
      field(0); field(reorder); field_comm(*made))

MAKES(Dist_graph_create, 1, made,
      (MPI_Comm comm, int n, const int sources[], const int degrees[], const int destinations[],
       const int weights[], MPI_Info info, int reorder, MPI_Comm *made),
      (comm, n, sources, degrees, destinations, weights, info, reorder, made), field_comm(comm);
      field_comm(*made))

MAKES(Dist_graph_create_adjacent, 1, made,
      (MPI_Comm comm, int indegree, const int sources[], const int sourceweights[],
       int outdegree, const int destinations[], const int destweights[], MPI_Info info,
       int reorder, MPI_Comm *made),
      (comm, indegree, sources, sourceweights, outdegree, destinations, destweights, info,
       reorder, made),
      field_comm(comm); field_comm(*made))

MAKES(Intercomm_create, 0, made,
      (MPI_Comm local, int leader, MPI_Comm peers, int remote_leader, int tag, MPI_Comm *made),
      (local, leader, peers, remote_leader, tag, made), int rank; PMPI_Comm_rank(local, &rank);
      field_comm(local); field(leader); if (rank == leader) field_comm(peers);
      else field_none(); field(remote_leader); field(tag); field_comm(*made))

MAKES(Intercomm_merge, 1, made, (MPI_Comm comm, int high, MPI_Comm *made), (comm, high, made),
      field_comm(comm); field(high); field_comm(*made))

/* What is not yet a communicator cannot carry its name: it gets one when it is used first. */
int library_Comm_idup(MPI_Comm comm, MPI_Comm *made, MPI_Request *request)
{
    int64_t start = clock_ns();
    int result = PMPI_Comm_idup(comm, made, request);
    if (result) return line_failed("MPI_Comm_idup", result);
    line_begin("MPI_Comm_idup", start);
    field_comm(comm);
    field_none();
    field_request(request_made(*request, 0, 0));
    line_end();
    return result;
}

#define FREES(NAME)                                                                            \
    int library_##NAME(MPI_Comm *comm)                                                         \
    {                                                                                          \
        int64_t start = clock_ns();                                                            \
        struct comm freed = comm_of(*comm);                                                    \
        int result = PMPI_##NAME(comm);                                                        \
        if (result) return line_failed("MPI_" #NAME, result);                                  \
        line_begin("MPI_" #NAME, start);                                                       \
        field_comm_as(freed);                                                                  \
        line_end();                                                                            \
        return result;                                                                         \
    }

FREES(Comm_free)
FREES(Comm_disconnect)
