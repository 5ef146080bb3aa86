/* How communicators are made and freed: messages on new ones are taken from the start. */
#include "delay.h"

#include <stdlib.h>

#define MAKES(NAME, PARAMETERS, ARGUMENTS)                                                     \
    int library_##NAME(LIST PARAMETERS)                                                        \
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

/* Ranks of all processes of a group, in a new array of the caller's; NULL where one is of another
 * world. */
static int *world_ranks_of(MPI_Group group, int count, const int *ranks)
{
    MPI_Group world;
    int *found = room(sizeof *found * (size_t)count), inside = 1;
    PMPI_Comm_group(MPI_COMM_WORLD, &world);
    PMPI_Group_translate_ranks(group, count, ranks, world, found);
    PMPI_Group_free(&world);
    for (int i = 0; i < count; i++) inside &= found[i] != MPI_UNDEFINED;
    if (inside) return found;
    free(found);
    return NULL;
}

/* While these two make a communicator, they send messages with the program's tag, Open MPI at least.
 * They do so where no messages are taken, if all are of this world. */

int library_Comm_create_group(MPI_Comm comm, MPI_Group group, int tag, MPI_Comm *made)
{
#ifdef OPEN_MPI /* MPICH 4.0 fails here on communicators other than the world, and need not do it */
    int size;
    PMPI_Group_size(group, &size);
    int *ranks = room(sizeof *ranks * (size_t)size);
    for (int i = 0; i < size; i++) ranks[i] = i;
    int *inside = world_ranks_of(group, size, ranks);
    if (inside) comm = quiet_world;
    free(inside);
    free(ranks);
#endif
    int result = PMPI_Comm_create_group(comm, group, tag, made);
    if (!result) channel_open(*made);
    return result;
}

int library_Intercomm_create(MPI_Comm local, int leader, MPI_Comm peers, int remote_leader,
                             int tag, MPI_Comm *made)
{
    int rank, inter;
    MPI_Group group;
    PMPI_Comm_rank(local, &rank);
    if (rank == leader) {
        PMPI_Comm_test_inter(peers, &inter);
        if (inter) PMPI_Comm_remote_group(peers, &group);
        else PMPI_Comm_group(peers, &group);
        int *found = world_ranks_of(group, 1, &remote_leader);
        if (found) {
            peers = quiet_world;
            remote_leader = *found;
        }
        free(found);
        PMPI_Group_free(&group);
    }
    int result = PMPI_Intercomm_create(local, leader, peers, remote_leader, tag, made);
    if (!result) channel_open(*made);
    return result;
}

#define FREES(NAME)                                                                            \
    int library_##NAME(MPI_Comm *comm)                                                         \
    {                                                                                          \
        channel_close(*comm);                                                                  \
        return PMPI_##NAME(comm);                                                              \
    }

FREES(Comm_free)
FREES(Comm_disconnect)

/* The largest tag is the library's. */
int library_Comm_get_attr(MPI_Comm comm, int key, void *value, int *found)
{
    static int most;
    int result = PMPI_Comm_get_attr(comm, key, value, found);
    if (result || key != MPI_TAG_UB || !*found) return result;
    most = collective_tag - 1;
    *(int **)value = &most;
    return result;
}
