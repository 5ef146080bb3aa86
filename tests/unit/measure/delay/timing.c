/* Times what an added latency changes: `timing CASE NUMBER...`. Rank 0 prints microseconds. */
#define _GNU_SOURCE
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int rank, ranks;

static double now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return 1e6 * (double)now.tv_sec + 1e-3 * (double)now.tv_nsec;
}

static void sleep_us(double us)
{
    struct timespec pause = {(time_t)(us / 1e6), (long)(1e3 * (us - 1e6 * (time_t)(us / 1e6)))};
    nanosleep(&pause, NULL);
}

/* Half of a round trip, each time. */
static void ping_pong(int repeats, int bytes)
{
    char *data = calloc(1, (size_t)bytes + 1);
    for (int i = 0; i < repeats; i++) {
        double start = now_us();
        if (rank == 0) {
            MPI_Send(data, bytes, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
            MPI_Recv(data, bytes, MPI_CHAR, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            printf("%.3f\n", (now_us() - start) / 2);
        } else if (rank == 1) {
            MPI_Recv(data, bytes, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Send(data, bytes, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
        }
    }
    free(data);
}

/* LLAMP's figure 8: two messages, one after the other. How long after the start the sender was free,
 * and the receiver had the first and the second; the ranks share a machine and its clock. */
static void figure_8(int repeats)
{
    for (int i = 0; i < repeats; i++) {
        char data = 0;
        double received[2];
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 0) {
            double start = now_us();
            MPI_Send(&data, 1, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
            MPI_Send(&data, 1, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
            double sent = now_us();
            MPI_Recv(received, 2, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            printf("%.3f %.3f %.3f\n", sent - start, received[0] - start, received[1] - start);
        } else if (rank == 1) {
            for (int k = 0; k < 2; k++) {
                MPI_Recv(&data, 1, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                received[k] = now_us();
            }
            MPI_Send(received, 2, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD);
        }
    }
}

/* How long a receive takes that is posted so much later than the message was sent. */
static void late_receiver(int repeats, int late_us)
{
    for (int i = 0; i < repeats; i++) {
        char data = 0;
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 1) MPI_Send(&data, 1, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
        if (rank == 0) {
            sleep_us(late_us);
            double start = now_us();
            MPI_Recv(&data, 1, MPI_CHAR, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            printf("%.3f\n", now_us() - start);
        }
    }
}

/* Steps of a ring of neighbours who compute, asleep, while their messages are under way. */
static void halo(int repeats, int compute_us, int bytes)
{
    char *data = calloc(4, (size_t)bytes + 1);
    int left = (rank + ranks - 1) % ranks, right = (rank + 1) % ranks;
    for (int i = 0; i < repeats; i++) {
        MPI_Request requests[4];
        double start = now_us();
        MPI_Irecv(data, bytes, MPI_CHAR, left, 0, MPI_COMM_WORLD, &requests[0]);
        MPI_Irecv(data + bytes, bytes, MPI_CHAR, right, 1, MPI_COMM_WORLD, &requests[1]);
        MPI_Isend(data + 2 * bytes, bytes, MPI_CHAR, right, 0, MPI_COMM_WORLD, &requests[2]);
        MPI_Isend(data + 3 * bytes, bytes, MPI_CHAR, left, 1, MPI_COMM_WORLD, &requests[3]);
        sleep_us(compute_us);
        MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
        if (rank == 0) printf("%.3f\n", now_us() - start);
    }
    free(data);
}

int main(int argc, char **argv)
{
    int number[3] = {0};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int i = 2; i < argc && i < 5; i++) number[i - 2] = atoi(argv[i]);
    if (strcmp(argv[1], "ping-pong") == 0) ping_pong(number[0], number[1]);
    if (strcmp(argv[1], "figure-8") == 0) figure_8(number[0]);
    if (strcmp(argv[1], "late-receiver") == 0) late_receiver(number[0], number[1]);
    if (strcmp(argv[1], "alone") == 0)
        MPI_Recv(NULL, 0, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (strcmp(argv[1], "halo") == 0) halo(number[0], number[1], number[2]);
    MPI_Finalize();
    return 0;
}
