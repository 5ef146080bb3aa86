/* How long a collective takes from an instant at which all ranks begin it until the last has ended.
 *
 *     collective_times COLLECTIVE LEAD_US REPEATS SIZE...
 *
 * Rank 0 names an instant LEAD_US ahead, on the clock that all ranks of one machine share: a barrier
 * would let them begin up to a latency apart. Prints for each size, in microseconds, lower quartile,
 * median and upper quartile of the time of the slowest rank. A size is that of the vector; of one
 * rank's part for gather, allgather and alltoall.
 */
#include "pace.h"

#include <string.h>

enum { ALLGATHER, ALLREDUCE, ALLTOALL, BCAST, GATHER, REDUCE, COLLECTIVES };
static const char *const NAMES[] = {"allgather", "allreduce", "alltoall",
                                    "bcast",     "gather",    "reduce"};
enum { WARM_UP = 3 };

static int rank, ranks;

static void call(int collective, float *from, float *into, int count)
{
    switch (collective) {
    case ALLGATHER:
        MPI_Allgather(from, count, MPI_FLOAT, into, count, MPI_FLOAT, MPI_COMM_WORLD);
        break;
    case ALLREDUCE:
        MPI_Allreduce(from, into, count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
        break;
    case ALLTOALL:
        MPI_Alltoall(from, count, MPI_FLOAT, into, count, MPI_FLOAT, MPI_COMM_WORLD);
        break;
    case BCAST:
        MPI_Bcast(from, count, MPI_FLOAT, 0, MPI_COMM_WORLD);
        break;
    case GATHER:
        MPI_Gather(from, count, MPI_FLOAT, into, count, MPI_FLOAT, 0, MPI_COMM_WORLD);
        break;
    default:
        MPI_Reduce(from, into, count, MPI_FLOAT, MPI_SUM, 0, MPI_COMM_WORLD);
    }
}

/* Begin when all ranks do, and return the slowest rank's time in us; below 0 where one began late. */
static double timed(int collective, float *from, float *into, int count, double lead_us)
{
    int64_t start = now_ns() + (int64_t)(1000 * lead_us);
    MPI_Bcast(&start, 1, MPI_INT64_T, 0, MPI_COMM_WORLD);
    int late = now_ns() > start - WATCHED_NS, any_late;
    compute_until(start);
    call(collective, from, into, count);
    double took = (double)(now_ns() - start) / 1000, slowest;
    MPI_Allreduce(&took, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    MPI_Allreduce(&late, &any_late, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    return any_late ? -1 : slowest;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void measure(int collective, int bytes, int repeats, double lead_us)
{
    int count = bytes / (int)sizeof(float), good = 0;
    float *from = room((size_t)bytes * (size_t)ranks), *into = room((size_t)bytes * (size_t)ranks);
    double *times = room((size_t)repeats * sizeof *times);
    for (int i = -WARM_UP; i < repeats; i++) {
        double took = timed(collective, from, into, count, lead_us);
        if (i >= 0 && took >= 0) times[good++] = took;
    }
    if (rank == 0) {
        qsort(times, (size_t)good, sizeof *times, ascending);
        printf("%d %d", bytes, good);
        for (int quarter = 1; good && quarter < 4; quarter++) printf(" %.3f", times[good * quarter / 4]);
        printf("\n");
        fflush(stdout);
    }
    free(from);
    free(into);
    free(times);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int collective = 0;
    while (collective < COLLECTIVES && (argc < 2 || strcmp(argv[1], NAMES[collective]))) collective++;
    for (int i = 4; collective < COLLECTIVES && i < argc; i++)
        measure(collective, atoi(argv[i]), (int)argument(argc, argv, 3, 20),
                argument(argc, argv, 2, 20000));
    MPI_Finalize();
    return collective < COLLECTIVES ? 0 : 2;
}
