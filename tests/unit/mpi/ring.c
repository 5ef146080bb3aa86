/* The ring of ring.F90 in C: the same calls with the same arguments. */
#include <mpi.h>

enum { N = 4, MOST = 64 };

int main(int argc, char **argv)
{
    int rank, size, index, counts[MOST], places[MOST];
    double x[N * MOST] = {0}, y[N * MOST];
    MPI_Comm even;
    MPI_Request requests[2];
    MPI_Status status, statuses[2];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int right = (rank + 1) % size, left = (rank + size - 1) % size;

    if (rank == 0) MPI_Send(x, N, MPI_DOUBLE_PRECISION, right, 1, MPI_COMM_WORLD);
    MPI_Recv(x, N, MPI_DOUBLE_PRECISION, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &status);
    if (rank != 0) MPI_Send(x, N, MPI_DOUBLE_PRECISION, right, 1, MPI_COMM_WORLD);
    MPI_Sendrecv(x, N, MPI_DOUBLE_PRECISION, right, 2, y, N, MPI_DOUBLE_PRECISION, left, 2,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);

    MPI_Irecv(y, N, MPI_DOUBLE_PRECISION, left, MPI_ANY_TAG, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(x, N, MPI_DOUBLE_PRECISION, right, 3, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, statuses);
    MPI_Irecv(y, N, MPI_DOUBLE_PRECISION, left, 4, MPI_COMM_WORLD, &requests[0]);
    MPI_Send(x, N, MPI_DOUBLE_PRECISION, right, 4, MPI_COMM_WORLD);
    MPI_Waitany(1, requests, &index, MPI_STATUS_IGNORE);
    MPI_Recv_init(y, N, MPI_DOUBLE_PRECISION, left, 5, MPI_COMM_WORLD, &requests[0]);
    MPI_Send_init(x, N, MPI_DOUBLE_PRECISION, right, 5, MPI_COMM_WORLD, &requests[1]);
    MPI_Startall(2, requests);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);

    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Bcast(x, N, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, x, N, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD);
    MPI_Reduce(x, y, N, MPI_DOUBLE_PRECISION, MPI_MAX, 0, MPI_COMM_WORLD);
    MPI_Allgather(x, 1, MPI_DOUBLE_PRECISION, y, 1, MPI_DOUBLE_PRECISION, MPI_COMM_WORLD);
    MPI_Alltoall(x, 1, MPI_DOUBLE_PRECISION, y, 1, MPI_DOUBLE_PRECISION, MPI_COMM_WORLD);
    for (int i = 0; i < size; i++) {
        counts[i] = i + 1;
        places[i] = N * i;
    }
    MPI_Gatherv(x, rank + 1, MPI_DOUBLE_PRECISION, y, counts, places, MPI_DOUBLE_PRECISION, 0,
                MPI_COMM_WORLD);
    MPI_Iallreduce(x, y, N, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, &requests[0]);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);

    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &even);
    MPI_Barrier(even);
    MPI_Comm_free(&even);
    MPI_Finalize();
    return 0;
}
