/* Prints the processor time of a call in which MPI has nothing to do, ns. */
#define _GNU_SOURCE
#include <mpi.h>
#include <stdio.h>
#include <time.h>

enum { CALLS = 200000 };

static double cpu_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return 1e9 * (double)now.tv_sec + (double)now.tv_nsec;
}

int main(int argc, char **argv)
{
    double start;
    MPI_Init(&argc, &argv);
    start = cpu_ns();
    for (int i = 0; i < CALLS; i++)
        MPI_Send(&start, 1, MPI_DOUBLE, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
    printf("%.3f\n", (cpu_ns() - start) / CALLS);
    MPI_Finalize();
    return 0;
}
