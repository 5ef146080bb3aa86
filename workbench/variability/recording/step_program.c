/* Steps of a program whose communication crosses one link, timed step by step.
 *
 *     step_program SOCKET STEPS BYTES COMPUTE_US
 *
 * Ranks are pairs across the link: rank r of the first half and rank r + ranks/2. In each step a rank
 * sleeps COMPUTE_US, which stands for its computation and needs no core, then exchanges BYTES with its
 * partner in messages of 128 KiB, then takes part in an allreduce of 8 B. As in MILC (Bhatele et al.
 * 2020, III-B) the first quarter of the steps exchanges half as much; each tenth step exchanges twice
 * as much. Ranks that wait sleep between tests, so that they take no core from each other.
 *
 * Rank 0 writes lines to the recorder's socket and waits for an answer of one byte to each:
 *
 *     begin                                  before the first step
 *     step NUMBER START END TIME             s since 1970, s
 *     end COMPUTE TESTALL ALLREDUCE BARRIER  s in all steps, mean over the ranks
 *
 * The recorder reads its counters before it answers, and a barrier follows: a step's counters are its
 * own.
 */
#define _GNU_SOURCE
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { MESSAGE = 131072, MOST_MESSAGES = 256, PAUSE_NS = 300000 };

static int recorder = -1;

static double now(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void fail(const char *what)
{
    perror(what);
    MPI_Abort(MPI_COMM_WORLD, 1);
    exit(1);
}

static void pause_shortly(void)
{
    const struct timespec pause = {0, PAUSE_NS};
    nanosleep(&pause, NULL);
}

/* Sleep until that much time has passed since the clock showed from. */
static void compute(double from, double length)
{
    const double until = from + length;
    struct timespec t = {(time_t)until, (long)(1e9 * (until - (double)(time_t)until))};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) != 0) {
    }
}

static void wait_all(int count, MPI_Request *requests)
{
    int done = 0;
    for (;;) {
        MPI_Testall(count, requests, &done, MPI_STATUSES_IGNORE);
        if (done) return;
        pause_shortly();
    }
}

static void wait_barrier(void)
{
    MPI_Request request;
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    wait_all(1, &request);
}

static void connect_recorder(const char *path)
{
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof to.sun_path) {
        fprintf(stderr, "the path of the socket is too long\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    strcpy(to.sun_path, path);
    recorder = socket(AF_UNIX, SOCK_STREAM, 0);
    if (recorder < 0 || connect(recorder, (struct sockaddr *)&to, sizeof to) != 0)
        fail("the recorder's socket");
}

static void tell(const char *line)
{
    char answer;
    if (write(recorder, line, strlen(line)) != (ssize_t)strlen(line)) fail("to the recorder");
    if (read(recorder, &answer, 1) != 1) fail("from the recorder");
}

int main(int argc, char **argv)
{
    int rank, ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const int steps = argc == 5 ? atoi(argv[2]) : 0;
    const int most = argc == 5 ? atoi(argv[3]) : 0;
    const double length = argc == 5 ? 1e-6 * atof(argv[4]) : 0;
    if (steps < 1 || most < 1 || most > MESSAGE * (MOST_MESSAGES / 4) || ranks % 2 != 0) {
        if (rank == 0) fprintf(stderr, "step_program SOCKET STEPS BYTES COMPUTE_US; even ranks\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    const int partner = (rank + ranks / 2) % ranks;
    char *out = calloc(2, (size_t)most), *in = calloc(2, (size_t)most);
    double spent[4] = {0, 0, 0, 0}, mean[4];
    char line[256];
    if (out == NULL || in == NULL) fail("memory");
    if (rank == 0) {
        connect_recorder(argv[1]);
        tell("begin\n");
    }
    for (int step = 0; step < steps; step++) {
        MPI_Request requests[MOST_MESSAGES];
        int bytes = step < steps / 4 ? most / 2 : most, count = 0;
        if (step % 10 == 9) bytes *= 2;
        const double before = now(CLOCK_MONOTONIC);
        wait_barrier();
        const double wall = now(CLOCK_REALTIME), start = now(CLOCK_MONOTONIC);
        compute(start, length);
        const double computed = now(CLOCK_MONOTONIC);
        for (int at = 0; at < bytes; at += MESSAGE) {
            const int size = bytes - at < MESSAGE ? bytes - at : MESSAGE;
            MPI_Irecv(in + at, size, MPI_CHAR, partner, at, MPI_COMM_WORLD, &requests[count++]);
            MPI_Isend(out + at, size, MPI_CHAR, partner, at, MPI_COMM_WORLD, &requests[count++]);
        }
        wait_all(count, requests);
        const double exchanged = now(CLOCK_MONOTONIC);
        double mine = (double)rank, sum = 0;
        MPI_Iallreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, requests);
        wait_all(1, requests);
        const double end = now(CLOCK_MONOTONIC);
        spent[0] += computed - start;
        spent[1] += exchanged - computed;
        spent[2] += end - exchanged;
        spent[3] += start - before;
        if (rank == 0) {
            snprintf(line, sizeof line, "step %d %.6f %.6f %.6f\n", step, wall, wall + end - start,
                     end - start);
            tell(line);
        }
    }
    MPI_Reduce(spent, mean, 4, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        snprintf(line, sizeof line, "end %.6f %.6f %.6f %.6f\n", mean[0] / ranks, mean[1] / ranks,
                 mean[2] / ranks, mean[3] / ranks);
        tell(line);
        close(recorder);
    }
    free(out);
    free(in);
    MPI_Finalize();
    return 0;
}
