/* A tenth of a second between two calls in which nothing is computed. */
#define _POSIX_C_SOURCE 200809L
#include <mpi.h>
#include <time.h>

int main(int argc, char **argv)
{
    struct timespec tenth = {0, 100000000};
    MPI_Init(&argc, &argv);
    MPI_Barrier(MPI_COMM_WORLD);
    nanosleep(&tenth, NULL);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
