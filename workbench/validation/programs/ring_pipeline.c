/* A pipeline around a ring of ranks: blocks pass from stage to stage, a window of them under way.
 *
 *     ring_pipeline BLOCKS BYTES STAGE_US WINDOW
 *
 * The first stage sends a block when the last one has finished the block WINDOW before it.
 */
#include "pace.h"

enum { BLOCK = 1, CREDIT = 2 };

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int blocks = (int)argument(argc, argv, 1, 200), bytes = (int)argument(argc, argv, 2, 4096);
    double us = argument(argc, argv, 3, 500);
    int window = (int)argument(argc, argv, 4, 8);
    int rank, ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int before = (rank + ranks - 1) % ranks, after = (rank + 1) % ranks;
    char *block = room((size_t)bytes), credit = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < blocks; i++) {
        if (rank > 0)
            MPI_Recv(block, bytes, MPI_CHAR, before, BLOCK, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        else if (i >= window)
            MPI_Recv(&credit, 1, MPI_CHAR, before, CREDIT, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        compute(us);
        if (rank + 1 < ranks) MPI_Send(block, bytes, MPI_CHAR, after, BLOCK, MPI_COMM_WORLD);
        else if (i + window < blocks) MPI_Send(&credit, 1, MPI_CHAR, after, CREDIT, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
