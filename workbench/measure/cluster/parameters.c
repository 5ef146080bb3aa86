/* What a message costs between two ranks: half a round trip, the calls, the gap in a burst.
 *
 *     parameters PAUSE_US REPEATS SIZE...
 *
 * Prints for each size, in microseconds, lower quartile, median and upper quartile of: half a round
 * trip; MPI_Send; MPI_Recv of a message that is there already; and a burst's time for each message
 * after the first, as its receiver sees it. Ranks pause before each trip, as those of a program that
 * computes: caches are as cold as there. All pairs of ranks (0 and 1, 2 and 3, ...) do the same at
 * the same instants, so what they cost one another on shared processors is in the times. In the manner of Netgauge's LogGP measurement (Hoefler
 * et al., Low-Overhead LogGP Parameter Assessment for Modern Interconnection Networks, 2007).
 */
#include "pace.h"

enum { BURST = 16, WARM_UP = 10, KINDS = 4 };
enum { HALF_TRIP, SEND, RECEIVE, GAP };

static int rank, partner;
static int64_t pause_ns;

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void send(void *block, int bytes)
{
    MPI_Send(block, bytes, MPI_CHAR, partner, 0, MPI_COMM_WORLD);
}

static void receive(void *block, int bytes)
{
    MPI_Recv(block, bytes, MPI_CHAR, partner, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static int first(void) { return rank < partner; }

/* Sleep for the pause and longer, until an instant that ranks on one clock agree about. */
static void pause_together(double longer_ns)
{
    int64_t least = now_ns() + pause_ns + (int64_t)longer_ns;
    compute_until((least / pause_ns + 1) * pause_ns);
}

/* Return half a round trip in ns; the calls of this rank's send go into `sending`. */
static double half_trip(void *block, int bytes, double *sending)
{
    pause_together(0);
    int64_t start = now_ns(), sent;
    if (first()) {
        send(block, bytes);
        sent = now_ns();
        receive(block, bytes);
    } else {
        receive(block, bytes);
        start = now_ns();
        send(block, bytes);
        sent = now_ns();
    }
    *sending = (double)(sent - start);
    return (double)(now_ns() - start) / 2;
}

/* Return how long the receipt of a message takes that has been there for a while, in ns. */
static double late_receive(void *block, int bytes, double trip_ns)
{
    if (first()) {
        send(block, bytes);
        receive(block, 0);
        return 0;
    }
    pause_together(3 * trip_ns);
    int64_t start = now_ns();
    receive(block, bytes);
    double took = (double)(now_ns() - start);
    send(block, 0);
    return took;
}

static double burst_gap(void *block, int bytes)
{
    int64_t began = 0;
    for (int i = 0; i < BURST; i++) {
        if (first()) send(block, bytes);
        else receive(block, bytes);
        if (i == 0) began = now_ns();
    }
    double gap = (double)(now_ns() - began) / (BURST - 1);
    if (first()) receive(block, 0);
    else send(block, 0);
    return gap;
}

static void print_quartiles(double *times, int number)
{
    qsort(times, (size_t)number, sizeof *times, ascending);
    for (int quarter = 1; quarter < 4; quarter++) printf(" %.3f", times[number * quarter / 4] / 1000);
}

static void measure(int bytes, int repeats, void *block)
{
    double *times[KINDS], unused, trip = 0;
    for (int kind = 0; kind < KINDS; kind++) times[kind] = room((size_t)repeats * sizeof(double));
    for (int i = -WARM_UP; i < repeats; i++) {
        double *sending = i < 0 ? &unused : &times[SEND][i];
        trip = half_trip(block, bytes, sending);
        if (i >= 0) times[HALF_TRIP][i] = trip;
    }
    MPI_Allreduce(MPI_IN_PLACE, &trip, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    for (int i = 0; i < repeats; i++) {
        times[RECEIVE][i] = late_receive(block, bytes, trip);
        times[GAP][i] = burst_gap(block, bytes);
    }
    /* Rank 1 knows what it is to receive. */
    for (int kind = RECEIVE; kind < KINDS; kind++) {
        if (rank == 1) MPI_Send(times[kind], repeats, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD);
        if (rank == 0)
            MPI_Recv(times[kind], repeats, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    if (rank == 0) {
        printf("%d", bytes);
        for (int kind = 0; kind < KINDS; kind++) print_quartiles(times[kind], repeats);
        printf("\n");
        fflush(stdout);
    }
    for (int kind = 0; kind < KINDS; kind++) free(times[kind]);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    pause_ns = (int64_t)(1000 * argument(argc, argv, 1, 200));
    int repeats = (int)argument(argc, argv, 2, 200), ranks;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    partner = rank ^ 1;
    for (int i = 3; ranks % 2 == 0 && i < argc; i++) {
        int bytes = atoi(argv[i]);
        void *block = room((size_t)bytes);
        measure(bytes, repeats, block);
        free(block);
    }
    MPI_Finalize();
    return ranks % 2 == 0 ? 0 : 2;
}
