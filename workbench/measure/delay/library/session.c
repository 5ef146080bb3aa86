/* Beginning and end: what the environment asks for, and the report of what was done. */
#define _GNU_SOURCE
#include "delay.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FINE = 32, BINS = 64 * FINE, MOST_NAMES = 512 };

MPI_Comm quiet_world = MPI_COMM_NULL, quiet_self = MPI_COMM_NULL;
int collective_tag;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int64_t began_ns, latency_ns, poll_ns, latest_ns;
static long long late[BINS], due_before;
static struct count {
    const char *name;
    long long calls;
} counts[MOST_NAMES];

/* Bins are 1 ns wide up to 2 FINE, then each is 1/FINE to 1/(2 FINE) of its values. */
static int bin_of(int64_t ns)
{
    int shift = 0;
    while (ns >> shift >= 2 * FINE) shift++;
    return shift * FINE + (int)(ns >> shift);
}

static int64_t bin_end_ns(int bin)
{
    int shift = bin < 2 * FINE ? 0 : bin / FINE - 1;
    return ((int64_t)(bin - shift * FINE + 1) << shift) - 1;
}

/* A message was released so much after its time. */
void delayed(int64_t late_ns)
{
    pthread_mutex_lock(&lock);
    late[bin_of(late_ns)]++;
    if (late_ns > latest_ns) latest_ns = late_ns;
    pthread_mutex_unlock(&lock);
}

/* A message had been under way for long enough when its receive was posted. */
void already_due(void)
{
    pthread_mutex_lock(&lock);
    due_before++;
    pthread_mutex_unlock(&lock);
}

/* Names are literals, one for each function. */
void undelayed(const char *name)
{
    pthread_mutex_lock(&lock);
    int i = 0;
    while (i < MOST_NAMES - 1 && counts[i].name && counts[i].name != name) i++;
    counts[i].name = name;
    counts[i].calls++;
    pthread_mutex_unlock(&lock);
}

void refuse(const char *words)
{
    fprintf(stderr, "workbench: %s\n", words);
    PMPI_Abort(MPI_COMM_WORLD, 1);
    abort();
}

static int64_t ns_from(const char *variable, int64_t least)
{
    const char *text = getenv(variable);
    char *end = NULL, words[256];
    errno = 0;
    long long value = text ? strtoll(text, &end, 10) : 0;
    if (text && *text && !*end && !errno && value >= least && value < INT64_MAX / 4) return value;
    snprintf(words, sizeof words, "%s must be a whole number of nanoseconds, at least %lld; got %s; "
             "export it to all ranks", variable, (long long)least, text ? text : "nothing");
    refuse(words);
    return 0;
}

static void begin(int provided)
{
    int *most, found;
    if (provided < MPI_THREAD_MULTIPLE)
        refuse("messages are delayed by threads: the MPI must provide MPI_THREAD_MULTIPLE; use one "
               "built with it");
    latency_ns = ns_from("WORKBENCH_DELAY_NS", 0);
    poll_ns = ns_from("WORKBENCH_DELAY_POLL_NS", 1);
    PMPI_Comm_dup(MPI_COMM_WORLD, &quiet_world);
    PMPI_Comm_dup(MPI_COMM_SELF, &quiet_self);
    PMPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &most, &found);
    collective_tag = *most;
    engine_start(latency_ns, poll_ns);
    PMPI_Barrier(MPI_COMM_WORLD);
    began_ns = now_ns();
}

int library_Init(int *argc, char ***argv)
{
    int provided, result = PMPI_Init_thread(argc, argv, MPI_THREAD_MULTIPLE, &provided);
    if (!result) begin(provided);
    return result;
}

int library_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    (void)required;
    int result = PMPI_Init_thread(argc, argv, MPI_THREAD_MULTIPLE, provided);
    if (!result) begin(*provided);
    return result;
}

static void write_report(FILE *file, int64_t program_ns)
{
    char version[MPI_MAX_LIBRARY_VERSION_STRING];
    int rank, ranks, length;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
    PMPI_Get_library_version(version, &length);
    version[strcspn(version, ",\n")] = '\0';
    fprintf(file, "workbench delay 1\nrank %d of %d\nmpi %s\n", rank, ranks, version);
    fprintf(file, "latency %lld\npoll %lld\nprogram %lld\nalready-due %lld\nlatest %lld\n",
            (long long)latency_ns, (long long)poll_ns, (long long)program_ns, due_before,
            (long long)latest_ns);
    for (int i = 0; i < BINS; i++)
        if (late[i]) fprintf(file, "late %lld %lld\n", (long long)bin_end_ns(i), late[i]);
    for (int i = 0; i < MOST_NAMES && counts[i].name; i++)
        fprintf(file, "undelayed %s %lld\n", counts[i].name, counts[i].calls);
    fprintf(file, "end\n");
}

static void report(int64_t program_ns)
{
    const char *folder = getenv("WORKBENCH_DELAY_FOLDER");
    char path[PATH_MAX];
    int rank;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int length = snprintf(path, sizeof path, "%s/delay-%d.txt", folder ? folder : ".", rank);
    FILE *file = length < (int)sizeof path ? fopen(path, "w") : NULL;
    if (file) write_report(file, program_ns);
    if (!file || fclose(file)) fprintf(stderr, "workbench: %s cannot be written\n", path);
}

int library_Finalize(void)
{
    int64_t program_ns = now_ns() - began_ns;
    engine_stop();
    report(program_ns);
    return PMPI_Finalize();
}
