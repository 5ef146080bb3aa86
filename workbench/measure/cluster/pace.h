/* Computation of a known length: a rank sleeps, and watches the clock for the last 100 us. */
#ifndef PACE_H
#define PACE_H

#include <errno.h>
#include <mpi.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>

enum { WATCHED_NS = 100000 };

static int64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void compute_until(int64_t end)
{
    int64_t asleep = end - WATCHED_NS;
    const struct timespec until = {(time_t)(asleep / 1000000000), (long)(asleep % 1000000000)};
    prctl(PR_SET_TIMERSLACK, 1);
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR) {}
    while (now_ns() < end) sched_yield();
}

/* Compute for some microseconds. Ranks that outnumber the processors would wait for one another if
 * they computed in earnest. */
static inline void compute(double us) { compute_until(now_ns() + (int64_t)(1000 * us)); }

/* Argument number `at`, or a default. */
static double argument(int argc, char **argv, int at, double otherwise)
{
    return argc > at ? atof(argv[at]) : otherwise;
}

static void *room(size_t bytes)
{
    void *got = calloc(bytes ? bytes : 1, 1);
    if (!got) MPI_Abort(MPI_COMM_WORLD, 1);
    return got;
}

#endif
