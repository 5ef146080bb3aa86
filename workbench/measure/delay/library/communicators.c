/* How communicators are made and freed: messages on new ones are taken from the start. */
#include "delay.h"

#include <stdlib.h>

#define MAKES(NAME, PARAMETERS, ARGUMENTS)                                                     \
    REPLACED int MPI_##NAME(LIST PARAMETERS)                                                   \
    {                                                                                          \
        int result = PMPI_##NAME(LIST ARGUMENTS);                                              \
        if (!result) channel_open(*made);                                                      \
        return result;                                                                         \
    }

MAKES(Comm_dup, (MPI_Comm comm, MPI_Comm *made), (comm, made))
MAKES(Comm_dup_with_info, (MPI_Comm comm, MPI_Info info, MPI_Comm *made), (comm, info, made))
MAKES(Comm_create, (MPI_Comm comm, MPI_Group group, MPI_Comm *made), (comm, group, made))
MAKES(Comm_split, (MPI_Comm comm, int color, int key, MPI_Comm *made), (comm, color, key, made))
MAKES(Comm_split_type, (MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm *made),
      (comm, type, key, info, made))
MAKES(Cart_create,
      (MPI_Comm comm, int dimensions, const int sizes[], const int periods[], int reorder,
       MPI_Comm *made),
      (comm, dimensions, sizes, periods, reorder, made))
MAKES(Cart_sub, (MPI_Comm comm, const int remain[], MPI_Comm *made), (comm, remain, made))
MAKES(Graph_create,
      (MPI_Comm comm, int nodes, const int index[], const int edges[], int reorder,
       MPI_Comm *made),
      (comm, nodes, index, edges, reorder, made))
MAKES(Dist_graph_create,
      (MPI_Comm comm, int n, const int sources[], const int degrees[], const int destinations[],
       const int weights[], MPI_Info info, int reorder, MPI_Comm *made),
      (comm, n, sources, degrees, destinations, weights, info, reorder, made))
MAKES(Dist_graph_create_adjacent,
      (MPI_Comm comm, int indegree, const int sources[], const int sourceweights[], int outdegree,
       const int destinations[], const int destweights[], MPI_Info info, int reorder,
       MPI_Comm *made),
      (comm, indegree, sources, sourceweights, outdegree, destinations, destweights, info, reorder,
       made))
MAKES(Intercomm_merge, (MPI_Comm comm, int high, MPI_Comm *made), (comm, high, made))

/* These two send messages with the program's tag while they make a communicator. They do so where
 * no messages are taken, if all processes concerned are of this world. */

REPLACED int MPI_Comm_create_group(MPI_Comm comm, MPI_Group group, int tag, MPI_Comm *made)
{
    MPI_Group world;
    int size;
    PMPI_Comm_group(MPI_COMM_WORLD, &world);
    PMPI_Group_size(group, &size);
    int *ranks = room(2 * sizeof(int) * (size_t)(size + 1)), *there = ranks + size, inside = 1;
    for (int i = 0; i < size; i++) ranks[i] = i;
    PMPI_Group_translate_ranks(group, size, ranks, world, there);
    for (int i = 0; i < size; i++) inside &= there[i] != MPI_UNDEFINED;
    PMPI_Group_free(&world);
    free(ranks);
    int result = PMPI_Comm_create_group(inside ? quiet_world : comm, group, tag, made);
    if (!result) channel_open(*made);
    return result;
}

static int world_rank_of(MPI_Comm comm, int rank)
{
    MPI_Group world, group;
    int inter, found;
    PMPI_Comm_test_inter(comm, &inter);
    PMPI_Comm_group(MPI_COMM_WORLD, &world);
    if (inter) PMPI_Comm_remote_group(comm, &group);
    else PMPI_Comm_group(comm, &group);
    PMPI_Group_translate_ranks(group, 1, &rank, world, &found);
    PMPI_Group_free(&world);
    PMPI_Group_free(&group);
    return found;
}

REPLACED int MPI_Intercomm_create(MPI_Comm local, int leader, MPI_Comm peers, int remote_leader,
                                  int tag, MPI_Comm *made)
{
    int rank;
    PMPI_Comm_rank(local, &rank);
    if (rank == leader) {
        int found = world_rank_of(peers, remote_leader);
        if (found != MPI_UNDEFINED) {
            peers = quiet_world;
            remote_leader = found;
        }
    }
    int result = PMPI_Intercomm_create(local, leader, peers, remote_leader, tag, made);
    if (!result) channel_open(*made);
    return result;
}

#define FREES(NAME)                                                                            \
    REPLACED int MPI_##NAME(MPI_Comm *comm)                                                    \
    {                                                                                          \
        channel_close(*comm);                                                                  \
        return PMPI_##NAME(comm);                                                              \
    }

FREES(Comm_free)
FREES(Comm_disconnect)

/* The largest tag is the library's. */
REPLACED int MPI_Comm_get_attr(MPI_Comm comm, int key, void *value, int *found)
{
    static int most;
    int result = PMPI_Comm_get_attr(comm, key, value, found);
    if (result || key != MPI_TAG_UB || !*found) return result;
    most = collective_tag - 1;
    *(int **)value = &most;
    return result;
}
