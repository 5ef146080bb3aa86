/* A transpose, as of a distributed Fourier transform: everybody exchanges a block with everybody.
 *
 *     transpose ITERATIONS BYTES COMPUTE_US
 */
#include "pace.h"

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int iterations = (int)argument(argc, argv, 1, 100), bytes = (int)argument(argc, argv, 2, 1024);
    double us = argument(argc, argv, 3, 1000);
    int ranks;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    char *sent = room((size_t)ranks * (size_t)bytes), *received = room((size_t)ranks * (size_t)bytes);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < iterations; i++) {
        compute(us);
        MPI_Alltoall(sent, bytes, MPI_CHAR, received, bytes, MPI_CHAR, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
