/* A halo exchange on a 2-D grid of ranks: sides travel while the interior is computed.
 *
 *     halo2d ITERATIONS BYTES INTERIOR_US BOUNDARY_US
 *
 * Every tenth iteration adds up a residual over all ranks.
 */
#include "pace.h"

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int iterations = (int)argument(argc, argv, 1, 100), bytes = (int)argument(argc, argv, 2, 2048);
    double interior = argument(argc, argv, 3, 600), boundary = argument(argc, argv, 4, 200);
    int rank, ranks, shape[2] = {0, 0};
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Dims_create(ranks, 2, shape);
    int rows = shape[0], columns = shape[1], row = rank / columns, column = rank % columns;
    int neighbour[4] = {
        (row + rows - 1) % rows * columns + column,
        (row + 1) % rows * columns + column,
        row * columns + (column + columns - 1) % columns,
        row * columns + (column + 1) % columns,
    };
    char *sent = room(4 * (size_t)bytes), *received = room(4 * (size_t)bytes);
    double residual = 1, total;
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 1; i <= iterations; i++) {
        MPI_Request requests[8];
        for (int side = 0; side < 4; side++) {
            MPI_Irecv(received + side * bytes, bytes, MPI_CHAR, neighbour[side], side, MPI_COMM_WORLD,
                      &requests[side]);
        }
        for (int side = 0; side < 4; side++) {
            MPI_Isend(sent + side * bytes, bytes, MPI_CHAR, neighbour[side], side ^ 1, MPI_COMM_WORLD,
                      &requests[4 + side]);
        }
        compute(interior);
        MPI_Waitall(8, requests, MPI_STATUSES_IGNORE);
        compute(boundary);
        if (i % 10 == 0) MPI_Allreduce(&residual, &total, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
