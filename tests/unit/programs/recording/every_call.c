/* Calls of every kind that the recorder knows, with handles that stand for several things. */
#include <mpi.h>
#include <stdlib.h>

static int rank, ranks, right, left;
static double a[64], b[64];

static void completions(void)
{
    MPI_Request q[8];
    MPI_Status statuses[8];
    int index, done, places[8], flag = 0;
    /* Small sends complete at once, and some MPIs give them all one handle. */
    for (int i = 0; i < 4; i++)
        MPI_Irecv(&b[i], 1, MPI_DOUBLE, left, MPI_ANY_TAG, MPI_COMM_WORLD, &q[i]);
    for (int i = 0; i < 4; i++)
        MPI_Isend(&a[i], 1, MPI_DOUBLE, right, i, MPI_COMM_WORLD, &q[4 + i]);
    for (int i = 0; i < 4; i++) MPI_Waitany(8, q, &index, MPI_STATUS_IGNORE);
    MPI_Waitsome(8, q, &done, places, statuses);
    MPI_Waitall(8, q, statuses);
    MPI_Waitany(8, q, &index, MPI_STATUS_IGNORE);
    MPI_Irecv(b, 1, MPI_DOUBLE, left, 8, MPI_COMM_WORLD, &q[0]);
    MPI_Ssend(a, 1, MPI_DOUBLE, MPI_PROC_NULL, 8, MPI_COMM_WORLD);
    MPI_Issend(a, 1, MPI_DOUBLE, right, 8, MPI_COMM_WORLD, &q[1]);
    while (!flag) MPI_Testany(1, q, &index, &flag, MPI_STATUS_IGNORE);
    done = 0;
    while (!done) MPI_Testsome(1, q + 1, &done, places, statuses);
    MPI_Irecv(b, 1, MPI_DOUBLE, left, 99, MPI_COMM_WORLD, &q[0]);
    MPI_Cancel(&q[0]);
    MPI_Wait(&q[0], MPI_STATUS_IGNORE);
}

static void persistent(void)
{
    MPI_Request p[2];
    MPI_Status statuses[2];
    MPI_Recv_init(b, 1, MPI_DOUBLE, left, 3, MPI_COMM_WORLD, &p[0]);
    MPI_Send_init(a, 1, MPI_DOUBLE, right, 3, MPI_COMM_WORLD, &p[1]);
    for (int turn = 0; turn < 2; turn++) {
        int flag = 0;
        MPI_Startall(2, p);
        while (!flag) MPI_Testall(2, p, &flag, statuses);
    }
    MPI_Wait(&p[0], MPI_STATUS_IGNORE); /* at rest */
    MPI_Start(&p[0]);
    MPI_Start(&p[1]);
    MPI_Wait(&p[0], MPI_STATUS_IGNORE);
    MPI_Wait(&p[1], MPI_STATUS_IGNORE);
    MPI_Request_free(&p[0]);
    MPI_Request_free(&p[1]);
}

static void probes(void)
{
    MPI_Request q[2];
    MPI_Status status, statuses[2];
    MPI_Message message;
    int flag = 0;
    MPI_Isend(a, 2, MPI_DOUBLE, right, 5, MPI_COMM_WORLD, &q[0]);
    while (!flag) MPI_Iprobe(MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, &flag, &status);
    MPI_Probe(left, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Recv(b, 4, MPI_DOUBLE, status.MPI_SOURCE, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&q[0], MPI_STATUS_IGNORE);
    MPI_Isend(a, 2, MPI_DOUBLE, right, 6, MPI_COMM_WORLD, &q[0]);
    MPI_Mprobe(MPI_ANY_SOURCE, 6, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
    MPI_Mrecv(b, 2, MPI_DOUBLE, &message, MPI_STATUS_IGNORE);
    MPI_Wait(&q[0], MPI_STATUS_IGNORE);
    MPI_Isend(a, 2, MPI_DOUBLE, right, 6, MPI_COMM_WORLD, &q[0]);
    for (flag = 0; !flag;) MPI_Improbe(left, 6, MPI_COMM_WORLD, &flag, &message, &status);
    MPI_Imrecv(b, 2, MPI_DOUBLE, &message, &q[1]);
    MPI_Waitall(2, q, statuses);
    MPI_Sendrecv(a, 1, MPI_DOUBLE, right, 1, b, 1, MPI_DOUBLE, left, 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    MPI_Sendrecv_replace(b, 2, MPI_DOUBLE, right, 1, left, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void communicators(void)
{
    MPI_Comm twin, some, idle, half, between, merged, grid, line;
    MPI_Request q;
    MPI_Comm_dup(MPI_COMM_WORLD, &twin);
    MPI_Comm_split(twin, rank == 0 ? MPI_UNDEFINED : 1, -rank, &some);
    if (some != MPI_COMM_NULL) {
        MPI_Allreduce(MPI_IN_PLACE, b, 3, MPI_DOUBLE, MPI_SUM, some);
        MPI_Comm_free(&some);
    }
    MPI_Comm_idup(twin, &idle, &q);
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    MPI_Barrier(idle);
    MPI_Comm_free(&idle);
    MPI_Comm_split(twin, rank % 2, rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, rank % 2 ? 0 : 1, 7, &between);
    MPI_Barrier(between);
    MPI_Intercomm_merge(between, rank % 2, &merged);
    MPI_Allreduce(a, b, 1, MPI_DOUBLE, MPI_SUM, merged);
    MPI_Comm_free(&merged);
    MPI_Comm_free(&between);
    MPI_Comm_free(&half);
    MPI_Comm_disconnect(&twin);
    int shape[2] = {ranks, 1}, around[2] = {1, 0}, remain[2] = {1, 0}, ones[4] = {1, 1, 1, 1};
    int at[4] = {0, 1, 2, 3};
    MPI_Cart_create(MPI_COMM_WORLD, 2, shape, around, 0, &grid);
    MPI_Neighbor_alltoall(a, 1, MPI_DOUBLE, b, 1, MPI_DOUBLE, grid);
    MPI_Neighbor_alltoallv(a, ones, at, MPI_DOUBLE, b, ones, at, MPI_DOUBLE, grid);
    MPI_Cart_sub(grid, remain, &line);
    MPI_Comm_free(&line);
    MPI_Comm_free(&grid);
}

static void collectives(void)
{
    int counts[64], at[64], ones[64], bytes[64];
    MPI_Datatype types[64], pair;
    MPI_Request q[2];
    MPI_Status statuses[2];
    for (int r = 0; r < ranks; r++) {
        counts[r] = r % 2;
        at[r] = r;
        ones[r] = 1;
        bytes[r] = 8 * r;
        types[r] = MPI_DOUBLE;
    }
    double *x = calloc(2 * (size_t)ranks, sizeof *x), *y = calloc(2 * (size_t)ranks, sizeof *y);
    MPI_Type_contiguous(2, MPI_DOUBLE, &pair);
    MPI_Type_commit(&pair);
    MPI_Bcast(x, 1, pair, 0, MPI_COMM_WORLD);
    MPI_Type_free(&pair);
    MPI_Gather(a, 1, MPI_DOUBLE, x, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    MPI_Gather(rank ? a : MPI_IN_PLACE, 1, MPI_DOUBLE, x, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    /* What means nothing at a rank is not looked at: here it would not even exist. */
    MPI_Gatherv(a, rank % 2, MPI_DOUBLE, x, rank ? NULL : counts, rank ? NULL : at,
                rank ? MPI_DATATYPE_NULL : MPI_DOUBLE, 0, MPI_COMM_WORLD);
    MPI_Scatterv(x, rank ? NULL : counts, rank ? NULL : at, rank ? MPI_DATATYPE_NULL : MPI_DOUBLE,
                 b, rank % 2, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    MPI_Scatter(x, 1, MPI_DOUBLE, b, 1, MPI_DOUBLE, ranks - 1, MPI_COMM_WORLD);
    MPI_Allgather(a, 1, MPI_DOUBLE, x, 1, MPI_DOUBLE, MPI_COMM_WORLD);
    MPI_Allgatherv(a, rank % 2, MPI_DOUBLE, x, counts, at, MPI_DOUBLE, MPI_COMM_WORLD);
    MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, x, 1, MPI_DOUBLE, MPI_COMM_WORLD);
    MPI_Alltoallv(x, ones, at, MPI_DOUBLE, y, ones, at, MPI_DOUBLE, MPI_COMM_WORLD);
    MPI_Alltoallw(x, ones, bytes, types, y, ones, bytes, types, MPI_COMM_WORLD);
    MPI_Reduce_scatter(x, b, ones, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Reduce_scatter_block(x, b, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Scan(a, b, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Exscan(a, b, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Reduce(a, b, 2, MPI_DOUBLE, MPI_SUM, 1, MPI_COMM_WORLD);
    MPI_Ibarrier(MPI_COMM_WORLD, &q[0]);
    MPI_Iallreduce(a, b, 4, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &q[1]);
    MPI_Waitall(2, q, statuses);
    MPI_Ialltoall(x, 1, MPI_DOUBLE, y, 1, MPI_DOUBLE, MPI_COMM_WORLD, &q[0]);
    for (int flag = 0; !flag;) MPI_Test(&q[0], &flag, MPI_STATUS_IGNORE);
    free(x);
    free(y);
}

int main(int argc, char **argv)
{
    MPI_Win window;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    right = (rank + 1) % ranks;
    left = (rank + ranks - 1) % ranks;
    completions();
    persistent();
    probes();
    communicators();
    collectives();
    MPI_Win_create(a, sizeof a, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Win_free(&window);
    MPI_Finalize();
    return 0;
}
