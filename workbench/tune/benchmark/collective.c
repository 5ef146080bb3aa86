/* Time one MPI collective over a range of message sizes and print a table as the OSU ones do.
 *
 *     collective OPERATION LOWEST HIGHEST FACTOR WARMUP LEAST MOST BUDGET_MS
 *
 * Each call is timed by each rank, with a barrier before it. What counts is the longest time over
 * the ranks, call by call: the root of a broadcast returns long before the others have the data.
 * The table has the mean over ranks and calls (what OSU calls the average), and of the longest
 * times the least, median, 99th percentile and greatest; then the calls timed and the seconds that
 * the size took, warm-up among them. Calls are as many as fit into the budget by the pace of the
 * warm-up, LEAST and MOST at the least and most. Each size's result is checked once.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ALLREDUCE, BCAST, GATHER, REDUCE };
static const char *const NAMES[] = {"allreduce", "bcast", "gather", "reduce"};
static const char *const TITLES[] = {"Allreduce", "Broadcast", "Gather", "Reduce"};

static int rank, ranks;

static void call(int operation, float *from, float *into, int count)
{
    switch (operation) {
    case ALLREDUCE:
        MPI_Allreduce(from, into, count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
        break;
    case BCAST:
        MPI_Bcast(into, count, MPI_FLOAT, 0, MPI_COMM_WORLD);
        break;
    case GATHER:
        MPI_Gather(from, count, MPI_FLOAT, into, count, MPI_FLOAT, 0, MPI_COMM_WORLD);
        break;
    default:
        MPI_Reduce(from, into, count, MPI_FLOAT, MPI_SUM, 0, MPI_COMM_WORLD);
    }
}

static float given(int of, int at) { return (float)((of + 1) * (at % 7 + 1)); }

static void prepare(int operation, float *from, float *into, int count)
{
    for (int at = 0; at < count; at++) {
        from[at] = given(rank, at);
        into[at] = operation == BCAST && rank == 0 ? given(0, at) : -1.0f;
    }
    if (operation == GATHER && rank == 0)
        for (long at = count; at < (long)count * ranks; at++) into[at] = -1.0f;
}

/* Whether this rank has what the standard says it must have. */
static int right(int operation, const float *into, int count)
{
    const float sum = (float)ranks * (float)(ranks + 1) / 2.0f;
    if (rank != 0 && (operation == GATHER || operation == REDUCE)) return 1;
    if (operation == GATHER) {
        for (int of = 0; of < ranks; of++)
            for (int at = 0; at < count; at++)
                if (into[(long)of * count + at] != given(of, at)) return 0;
        return 1;
    }
    for (int at = 0; at < count; at++) {
        float expected = operation == BCAST ? given(0, at) : sum * (float)(at % 7 + 1);
        if (into[at] != expected) return 0;
    }
    return 1;
}

/* Collect numbers at rank 0 by plain messages: the collectives are what is being tuned. */
static void collect(const double *mine, double *all, int count)
{
    if (rank != 0) {
        MPI_Send(mine, count, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD);
        return;
    }
    memcpy(all, mine, sizeof(double) * (size_t)count);
    for (int of = 1; of < ranks; of++)
        MPI_Recv(all + (long)of * count, count, MPI_DOUBLE, of, 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
}

/* Tell all ranks a number of rank 0. */
static int told(int value)
{
    if (rank == 0)
        for (int of = 1; of < ranks; of++) MPI_Send(&value, 1, MPI_INT, of, 2, MPI_COMM_WORLD);
    else
        MPI_Recv(&value, 1, MPI_INT, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return value;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void *room(size_t bytes)
{
    void *got = malloc(bytes ? bytes : 1);
    if (!got) {
        fprintf(stderr, "collective: out of memory\n");
        MPI_Abort(MPI_COMM_WORLD, 3);
    }
    return got;
}

static void print_row(int bytes, const double *all, int calls, double seconds)
{
    double *longest = room(sizeof(double) * (size_t)calls), sum = 0.0;
    for (int i = 0; i < calls; i++) {
        longest[i] = 0.0;
        for (int of = 0; of < ranks; of++) {
            double took = all[(long)of * calls + i];
            sum += took;
            if (took > longest[i]) longest[i] = took;
        }
    }
    qsort(longest, (size_t)calls, sizeof(double), ascending);
    double median = calls % 2 ? longest[calls / 2]
                              : 0.5 * (longest[calls / 2 - 1] + longest[calls / 2]);
    int p99 = (99 * calls + 99) / 100 - 1;
    printf("%-12d%18.3f%18.3f%18.3f%18.3f%18.3f%14d%14.6f\n", bytes, 1e6 * sum / calls / ranks,
           1e6 * longest[0], 1e6 * median, 1e6 * longest[p99], 1e6 * longest[calls - 1], calls,
           seconds);
    fflush(stdout);
    free(longest);
}

static void measure(int operation, int bytes, int warmup, int least, int most, double budget_s)
{
    double began = MPI_Wtime();
    int count = bytes / (int)sizeof(float);
    float *from = room((size_t)bytes);
    float *into = room((size_t)bytes * (operation == GATHER ? (size_t)ranks : 1));
    prepare(operation, from, into, count);
    call(operation, from, into, count);
    double good = right(operation, into, count), *fine = room(sizeof(double) * (size_t)ranks);
    collect(&good, fine, 1);
    if (rank == 0)
        for (int of = 0; of < ranks; of++)
            if (!fine[of]) {
                fprintf(stderr, "collective: rank %d has a wrong result at %d bytes\n", of, bytes);
                MPI_Abort(MPI_COMM_WORLD, 4);
            }
    free(fine);

    double start = MPI_Wtime();
    for (int i = 0; i < warmup; i++) {
        MPI_Barrier(MPI_COMM_WORLD);
        call(operation, from, into, count);
    }
    double pace = warmup ? (MPI_Wtime() - start) / warmup : 0.0;
    double fit = pace > 0.0 ? budget_s / pace : most;
    int calls = told(fit > most ? most : fit < least ? least : (int)fit);

    double *mine = room(sizeof(double) * (size_t)calls);
    for (int i = 0; i < calls; i++) {
        MPI_Barrier(MPI_COMM_WORLD);
        double before = MPI_Wtime();
        call(operation, from, into, count);
        mine[i] = MPI_Wtime() - before;
    }
    double *all = rank == 0 ? room(sizeof(double) * (size_t)calls * (size_t)ranks) : NULL;
    collect(mine, all, calls);
    if (rank == 0) print_row(bytes, all, calls, MPI_Wtime() - began);
    free(all);
    free(mine);
    free(into);
    free(from);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int operation = -1;
    for (int i = 0; argc == 9 && i < 4; i++)
        if (strcmp(argv[1], NAMES[i]) == 0) operation = i;
    long number[7] = {0};
    for (int i = 0; operation >= 0 && i < 7; i++) number[i] = strtol(argv[i + 2], NULL, 10);
    if (operation < 0 || number[0] < 4 || number[1] > 1L << 28 || number[2] < 2 || number[3] < 0 ||
        number[3] > 1000000 || number[4] < 1 || number[5] < number[4] || number[5] > 1000000) {
        if (rank == 0)
            fprintf(stderr, "usage: collective allreduce|bcast|gather|reduce LOWEST HIGHEST FACTOR "
                            "WARMUP LEAST MOST BUDGET_MS\n");
        MPI_Finalize();
        return 2;
    }
    if (rank == 0) {
        printf("# Interconnect Workbench MPI %s Latency Test, %d ranks, from C\n",
               TITLES[operation], ranks);
        printf("# of each call the longest time over the ranks; Avg is over the ranks too\n");
        printf("%-12s%18s%18s%18s%18s%18s%14s%14s\n", "# Size", "Avg Latency(us)",
               "Min Latency(us)", "P50 Latency(us)", "P99 Latency(us)", "Max Latency(us)",
               "Iterations", "Seconds");
        fflush(stdout);
    }
    for (long bytes = number[0]; bytes <= number[1]; bytes *= number[2])
        measure(operation, (int)bytes, (int)number[3], (int)number[4], (int)number[5],
                1e-3 * (double)number[6]);
    MPI_Finalize();
    return 0;
}
