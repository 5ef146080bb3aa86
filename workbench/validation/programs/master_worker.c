/* A master hands out tasks to whoever is done: receives from any source.
 *
 *     master_worker TASKS BYTES LONGEST_US
 *
 * Task i takes a part of LONGEST_US that is the same in every run. Each worker has two tasks at a
 * time, so that a short latency hides behind the other one.
 */
#include "pace.h"

enum { TASK = 1, RESULT = 2, AT_A_TIME = 2, NO_TASK = -1 };

static double length(int task, double longest) { return longest * (0.5 + (task * 37 % 100) / 200.0); }

static void master(int ranks, int tasks, char *block, int bytes)
{
    int next = 0, asleep = 0;
    for (int round = 0; round < AT_A_TIME; round++) {
        for (int worker = 1; worker < ranks; worker++) {
            int task = next < tasks ? next++ : NO_TASK;
            MPI_Send(&task, 1, MPI_INT, worker, TASK, MPI_COMM_WORLD);
            asleep += task == NO_TASK;
        }
    }
    while (asleep < AT_A_TIME * (ranks - 1)) {
        MPI_Status status;
        MPI_Recv(block, bytes, MPI_CHAR, MPI_ANY_SOURCE, RESULT, MPI_COMM_WORLD, &status);
        int task = next < tasks ? next++ : NO_TASK;
        MPI_Send(&task, 1, MPI_INT, status.MPI_SOURCE, TASK, MPI_COMM_WORLD);
        asleep += task == NO_TASK;
    }
}

static void worker(double longest, char *block, int bytes)
{
    for (int left = AT_A_TIME; left > 0;) {
        int task;
        MPI_Recv(&task, 1, MPI_INT, 0, TASK, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (task == NO_TASK) {
            left--;
            continue;
        }
        compute(length(task, longest));
        MPI_Send(block, bytes, MPI_CHAR, 0, RESULT, MPI_COMM_WORLD);
    }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int tasks = (int)argument(argc, argv, 1, 300), bytes = (int)argument(argc, argv, 2, 1024);
    double longest = argument(argc, argv, 3, 1500);
    int rank, ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    char *block = room((size_t)bytes);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) master(ranks, tasks, block, bytes);
    else worker(longest, block, bytes);
    MPI_Finalize();
    return 0;
}
