/* Three threads of each of two ranks that send and receive at the same time. */
#include <mpi.h>
#include <pthread.h>

static int rank;
static MPI_Comm comms[3];

static void *exchange(void *comm)
{
    double a = 0, b;
    MPI_Request q[2];
    MPI_Status statuses[2];
    for (int i = 0; i < 200; i++) {
        MPI_Irecv(&b, 1, MPI_DOUBLE, 1 - rank, MPI_ANY_TAG, *(MPI_Comm *)comm, &q[0]);
        MPI_Isend(&a, 1, MPI_DOUBLE, 1 - rank, i, *(MPI_Comm *)comm, &q[1]);
        MPI_Waitall(2, q, statuses);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    int provided;
    pthread_t threads[3];
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    if (provided < MPI_THREAD_MULTIPLE) MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int t = 0; t < 3; t++) MPI_Comm_dup(MPI_COMM_WORLD, &comms[t]);
    for (int t = 0; t < 3; t++) pthread_create(&threads[t], NULL, exchange, &comms[t]);
    for (int t = 0; t < 3; t++) pthread_join(threads[t], NULL);
    MPI_Finalize();
    return 0;
}
