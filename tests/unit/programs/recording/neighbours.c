/* Collectives among neighbours, of a ring, a line and a graph; and calls that are told alone. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    double a[64] = {0}, b[64], old;
    int rank, ranks;
    MPI_Comm ring, line, star;
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int around[1] = {1}, open[1] = {0}, shape[1] = {ranks};
    MPI_Cart_create(MPI_COMM_WORLD, 1, shape, around, 0, &ring);
    MPI_Cart_create(MPI_COMM_WORLD, 1, shape, open, 0, &line);
    /* Down 1 double, up 3: of two ranks, each the other's both neighbours, by slot alone. */
    int out[2] = {1, 3}, in[2] = {3, 1}, at[2] = {0, 8};
    MPI_Neighbor_alltoallv(a, out, at, MPI_DOUBLE, b, in, at, MPI_DOUBLE, ring);
    MPI_Ineighbor_allgather(a, 5, MPI_DOUBLE, b, 5, MPI_DOUBLE, line, &request);
    /* A receive of any must not take the neighbours' messages. */
    MPI_Sendrecv(a, 2, MPI_DOUBLE, (rank + 1) % ranks, 0, b + 32, 2, MPI_DOUBLE, MPI_ANY_SOURCE,
                 MPI_ANY_TAG, line, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    /* All send to rank 0, which sends to nobody. */
    int from[8], zero[1] = {0};
    for (int i = 1; i < ranks; i++) from[i - 1] = i;
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, rank ? 0 : ranks - 1, from, MPI_UNWEIGHTED,
                                   rank ? 1 : 0, zero, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &star);
    MPI_Neighbor_alltoall(a, 7, MPI_DOUBLE, b, 7, MPI_DOUBLE, star);

#if MPI_VERSION >= 4 || OMPI_MAJOR_VERSION >= 5
    MPI_Request persistent[2];
    MPI_Neighbor_allgather_init(a, 9, MPI_DOUBLE, b, 9, MPI_DOUBLE, line, MPI_INFO_NULL,
                                &persistent[0]);
    MPI_Allreduce_init(a, b + 32, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL,
                       &persistent[1]);
    for (int turn = 0; turn < 3; turn++) {
        MPI_Startall(2, persistent);
        MPI_Waitall(2, persistent, MPI_STATUSES_IGNORE);
    }
    for (int i = 0; i < 2; i++) MPI_Request_free(&persistent[i]);
#endif
    MPI_Win window;
    MPI_Win_create(a, sizeof a, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Win_fence(0, window);
    for (int i = 0; i < 10; i++)
        MPI_Put(b, 1, MPI_DOUBLE, (rank + 1) % ranks, rank, 1, MPI_DOUBLE, window);
    MPI_Win_fence(0, window);
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window);
    MPI_Fetch_and_op(a, &old, MPI_DOUBLE, 0, 0, MPI_SUM, window);
    MPI_Get_accumulate(a, 1, MPI_DOUBLE, b, 1, MPI_DOUBLE, 0, 0, 1, MPI_DOUBLE, MPI_SUM, window);
    MPI_Win_unlock(0, window);
    MPI_Win_free(&window);
    MPI_File file;
    MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL,
                  &file);
    MPI_File_write_at_all(file, 512 * rank, a, 64, MPI_DOUBLE, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
    MPI_Finalize();
    return 0;
}
