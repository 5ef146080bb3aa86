/* The trace of this rank: its file, its clock, its lines. */
#define _GNU_SOURCE
#include "trace.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { MASK_WORDS = 1024 / (8 * sizeof(long)) };
enum { SPIN_NS = 100000 }; /* a timer wakes so late at most */
enum { READY_NS = 1000000 }; /* chosen: ten times as long */
enum { BOOT_BYTES = 36 }; /* of a UUID as text */
enum { OUT_BYTES = 1 << 18, NUMBER_BYTES = 24, TIMES_BYTES = 64 };

struct text {
    char *bytes;
    size_t used, room;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int file = -1;
static pid_t owner; /* a forked child has the buffer too, and must not write it again */
static char out[OUT_BYTES];
static volatile size_t out_used;
static int64_t zero_ns;
static int64_t line_start;
static struct text line_head, line_tail;

/* Tests and probes that found nothing, one after the other and all the same. */
static struct text vain_head, vain_tail;
static int vain;
static int64_t vain_mpi_ns, vain_end;

static int64_t now_ns(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void wait_until(int64_t end)
{
    int64_t sleep_ns = end - SPIN_NS;
    const struct timespec until = {(time_t)(sleep_ns / 1000000000), (long)(sleep_ns % 1000000000)};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR) {}
    while (now_ns(CLOCK_MONOTONIC) < end) sched_yield();
}

/* Where ranks share cores, time that a rank is set aside is no computation of its own. On the CPU
 * clock, all that passes between two calls but the thread's own CPU time is left out. */
static int on_cpu_clock;
static __thread int64_t left_out_ns, last_end_ns, last_end_cpu_ns;

/* Where ranks share cores, each can be given a slower core of its own: whatever it computes between
 * two calls takes its CPU time multiplied by this, by sleeping for the rest. */
static double slowdown;

static void compute_slowly(void)
{
    if (slowdown <= 1 || !last_end_ns) return;
    int64_t cpu = now_ns(CLOCK_THREAD_CPUTIME_ID) - last_end_cpu_ns;
    wait_until(last_end_ns + (int64_t)(slowdown * (double)cpu));
}

int64_t clock_ns(void)
{
    compute_slowly();
    int64_t cpu = on_cpu_clock ? now_ns(CLOCK_THREAD_CPUTIME_ID) : 0;
    int64_t now = now_ns(CLOCK_MONOTONIC);
    if (on_cpu_clock && last_end_ns) {
        int64_t aside = (now - last_end_ns) - (cpu - last_end_cpu_ns);
        if (aside > 0) left_out_ns += aside;
    }
    return now - zero_ns - left_out_ns;
}

static int64_t end_ns(void)
{
    last_end_ns = now_ns(CLOCK_MONOTONIC);
    return last_end_ns - zero_ns - left_out_ns;
}

static void computation_begins(void)
{
    if (on_cpu_clock || slowdown > 1) last_end_cpu_ns = now_ns(CLOCK_THREAD_CPUTIME_ID);
}

static void flush(void)
{
    size_t done = 0;
    while (file >= 0 && done < out_used) {
        ssize_t written = write(file, out + done, out_used - done);
        if (written <= 0) {
            static const char words[] = "workbench: the trace cannot be written; it is cut short\n";
            if (write(STDERR_FILENO, words, sizeof words - 1) < 0) { /* nothing is left to do */ }
            close(file);
            file = -1;
        } else {
            done += (size_t)written;
        }
    }
    out_used = 0;
}

static void out_bytes(const char *bytes, size_t count)
{
    while (count > 0) {
        if (out_used == OUT_BYTES) flush();
        size_t part = OUT_BYTES - out_used < count ? OUT_BYTES - out_used : count;
        memcpy(out + out_used, bytes, part);
        out_used += part;
        bytes += part;
        count -= part;
    }
}

static size_t number_text(long long value, char *text)
{
    char digits[NUMBER_BYTES];
    size_t used = 0, at = 0;
    unsigned long long rest = value < 0 ? 0ULL - (unsigned long long)value
                                        : (unsigned long long)value;
    do {
        digits[used++] = (char)('0' + rest % 10);
        rest /= 10;
    } while (rest > 0);
    if (value < 0) text[at++] = '-';
    while (used > 0) text[at++] = digits[--used];
    return at;
}

/* Microseconds with three decimals. */
static size_t time_text(int64_t ns, char *text)
{
    size_t at = 0;
    if (ns < 0) {
        text[at++] = '-';
        ns = -ns;
    }
    at += number_text(ns / 1000, text + at);
    text[at++] = '.';
    for (int unit = 100; unit > 0; unit /= 10) text[at++] = (char)('0' + ns / unit % 10);
    return at;
}

static void text_bytes(struct text *text, const char *bytes, size_t count)
{
    if (text->used + count > text->room) {
        size_t room = 2 * (text->used + count) + 256;
        char *grown = realloc(text->bytes, room);
        if (!grown) abort();
        text->bytes = grown;
        text->room = room;
    }
    memcpy(text->bytes + text->used, bytes, count);
    text->used += count;
}

/* A batch system or mpirun ends a rank with SIGTERM: what is recorded so far is kept. */
static void terminated(int number)
{
    if (file >= 0 && getpid() == owner && write(file, out, out_used) < 0) {
        /* nothing is left to do */
    }
    signal(number, SIG_DFL);
    raise(number);
}

static void keep_on_termination(void)
{
    struct sigaction before;
    if (sigaction(SIGTERM, NULL, &before) == 0 && before.sa_handler == SIG_DFL) {
        struct sigaction action;
        memset(&action, 0, sizeof action);
        action.sa_handler = terminated;
        sigaction(SIGTERM, &action, NULL);
    }
}

/* All ranks' clocks start together: by monotonic clock within a rank, by real time between them. */
static void set_zero(void)
{
    int64_t monotonic = now_ns(CLOCK_MONOTONIC), mine = now_ns(CLOCK_REALTIME), first;
    PMPI_Allreduce(&mine, &first, 1, MPI_INT64_T, MPI_MIN, MPI_COMM_WORLD);
    zero_ns = monotonic - (mine - first);
}

static void open_file(int rank)
{
    const char *folder = getenv("WORKBENCH_TRACE_FOLDER");
    char path[PATH_MAX];
    int length = snprintf(path, sizeof path, "%s/trace-%d.txt", folder ? folder : ".", rank);
    if (length < (int)sizeof path) file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    owner = getpid();
    if (file < 0) fprintf(stderr, "workbench: %s cannot be written: rank %d is not recorded\n",
                          path, rank);
}

/* How many ranks are on this rank's node, and how many cores these may use. */
static void comment_node(void)
{
    MPI_Comm node;
    int ranks;
    PMPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    PMPI_Comm_size(node, &ranks);
    unsigned long mine[MASK_WORDS] = {0}, all[MASK_WORDS];
    long cores = 0;
    if (sched_getaffinity(0, sizeof mine, (cpu_set_t *)mine) == 0) {
        PMPI_Allreduce(mine, all, MASK_WORDS, MPI_UNSIGNED_LONG, MPI_BOR, node);
        for (int i = 0; i < MASK_WORDS; i++) cores += __builtin_popcountl(all[i]);
    } else {
        cores = sysconf(_SC_NPROCESSORS_ONLN);
    }
    PMPI_Comm_free(&node);
    comment("node");
    comment_number(ranks);
    comment_text(" ranks on");
    comment_number(cores);
    comment_text(" cores");
    comment_end();
}

/* Whether one kernel runs all ranks, on whatever hosts they take themselves to be. */
static int on_one_machine(void)
{
    unsigned char mine[BOOT_BYTES] = {0}, any[BOOT_BYTES], each[BOOT_BYTES];
    int boot = open("/proc/sys/kernel/random/boot_id", O_RDONLY);
    if (boot >= 0 && read(boot, mine, BOOT_BYTES) < BOOT_BYTES) memset(mine, 0, BOOT_BYTES);
    if (boot >= 0) close(boot);
    PMPI_Allreduce(mine, any, BOOT_BYTES, MPI_BYTE, MPI_BOR, MPI_COMM_WORLD);
    PMPI_Allreduce(mine, each, BOOT_BYTES, MPI_BYTE, MPI_BAND, MPI_COMM_WORLD);
    return each[0] && memcmp(any, each, BOOT_BYTES) == 0;
}

/* Ranks get here one after the other, the more so the longer the network's latency; a replay starts
 * them together. So ranks with one clock are held until the last one is there. */
static void start_together(void)
{
    if (!on_one_machine()) return;
    int64_t now = now_ns(CLOCK_MONOTONIC), entered, left;
    PMPI_Allreduce(&now, &entered, 1, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
    now = now_ns(CLOCK_MONOTONIC);
    PMPI_Allreduce(&now, &left, 1, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
    /* The second takes as long as the first from when the last rank came; twice that is allowed. */
    wait_until(left + 2 * (left - entered) + READY_NS);
}

void trace_open(void)
{
    char version[MPI_MAX_LIBRARY_VERSION_STRING];
    int rank, ranks, length;
    const char *clock = getenv("WORKBENCH_TRACE_CLOCK");
    const char *factor = getenv("WORKBENCH_TRACE_SLOWDOWN");
    on_cpu_clock = clock && strcmp(clock, "cpu") == 0;
    slowdown = factor ? atof(factor) : 1;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
    PMPI_Get_library_version(version, &length);
    /* The rest may name the machine it was built on. */
    version[strcspn(version, ",\n")] = '\0';
    for (char *at = version; *at; at++) if (*at == '\t') *at = ' ';
    set_zero();
    open_file(rank);
    keep_on_termination();
    comment("workbench trace 1");
    comment_end();
    comment("rank");
    comment_number(rank);
    comment_text(" of");
    comment_number(ranks);
    comment_end();
    comment("mpi ");
    comment_text(version);
    comment_end();
    comment("request stride 0");
    comment_end();
    comment(on_cpu_clock ? "clock cpu" : "clock elapsed");
    comment_end();
    if (slowdown > 1) {
        comment("slowdown ");
        comment_text(factor);
        comment_end();
    }
    comment_node();
    out_bytes("\n", 1);
    start_together();
}

static void write_line(const struct text *head, int64_t start, const struct text *tail)
{
    char time[NUMBER_BYTES + 1] = ":";
    out_bytes(head->bytes, head->used);
    if (start == NO_TIME) out_bytes(":-", 2);
    else out_bytes(time, 1 + time_text(start, time + 1));
    out_bytes(tail->bytes, tail->used);
}

static void write_end(int64_t end)
{
    char time[NUMBER_BYTES + 2] = ":";
    size_t used = 1 + time_text(end, time + 1);
    time[used++] = '\n';
    out_bytes(time, used);
}

static void write_vain(void)
{
    if (!vain) return;
    vain = 0;
    write_line(&vain_head, vain_end - vain_mpi_ns, &vain_tail);
    write_end(vain_end);
}

void trace_close(void)
{
    pthread_mutex_lock(&lock);
    write_vain();
    flush();
    if (file >= 0) close(file);
    file = -1;
    pthread_mutex_unlock(&lock);
}

__attribute__((destructor)) static void left_without_finalize(void)
{
    if (file >= 0 && getpid() == owner) trace_close();
}

int trace_is_open(void) { return file >= 0; }

void trace_lock(void) { pthread_mutex_lock(&lock); }

void trace_unlock(void) { pthread_mutex_unlock(&lock); }

/* Comments go straight to the file, so one may be written while a line is being prepared. */
void comment(const char *text)
{
    out_bytes("# ", 2);
    comment_text(text);
}

void comment_text(const char *text) { out_bytes(text, strlen(text)); }

void comment_number(long long value)
{
    char text[NUMBER_BYTES] = " ";
    out_bytes(text, 1 + number_text(value, text + 1));
}

void comment_end(void) { out_bytes("\n", 1); }

void line_begin(const char *name, int64_t start)
{
    trace_lock();
    line_head.used = line_tail.used = 0;
    text_bytes(&line_head, name, strlen(name));
    line_start = start;
}

void line_end(void)
{
    write_vain();
    write_line(&line_head, line_start, &line_tail);
    /* The clock is read last: what recording takes is the call's time, not the program's. */
    if (OUT_BYTES - out_used < TIMES_BYTES) flush();
    write_end(end_ns());
    trace_unlock();
    computation_begins();
}

static int same(const struct text *one, const struct text *other)
{
    return one->used == other->used && memcmp(one->bytes, other->bytes, one->used) == 0;
}

static void exchange(struct text *one, struct text *other)
{
    struct text kept = *one;
    *one = *other;
    *other = kept;
}

void line_end_in_vain(void)
{
    if (!vain || !same(&vain_head, &line_head) || !same(&vain_tail, &line_tail)) {
        write_vain();
        vain = 1;
        vain_mpi_ns = 0;
        exchange(&vain_head, &line_head);
        exchange(&vain_tail, &line_tail);
    }
    vain_end = end_ns();
    vain_mpi_ns += vain_end - line_start;
    trace_unlock();
    computation_begins();
}

void line_end_forever(void)
{
    char time[NUMBER_BYTES];
    write_vain();
    comment("elapsed ");
    out_bytes(time, time_text(now_ns(CLOCK_MONOTONIC) - zero_ns, time));
    comment_end();
    write_line(&line_head, line_start, &line_tail);
    out_bytes(":-\n", 3);
    trace_unlock();
}

int line_failed(const char *name, int result)
{
    trace_lock();
    comment("failed ");
    comment_text(name);
    comment_end();
    trace_unlock();
    return result;
}

void field(long long value)
{
    char text[NUMBER_BYTES] = ":";
    text_bytes(&line_tail, text, 1 + number_text(value, text + 1));
}

void field_none(void) { text_bytes(&line_tail, ":-", 2); }

void field_buffer(const void *buffer) { field(buffer == MPI_IN_PLACE); }

void field_peer(int rank)
{
    if (rank == MPI_ANY_SOURCE) field(-1);
    else if (rank == MPI_PROC_NULL) field(-2);
    else if (rank == MPI_ROOT) field(-3);
    else field(rank);
}

void field_tag(int tag) { field(tag == MPI_ANY_TAG ? -1 : tag); }

void field_place(int place) { field(place == MPI_UNDEFINED ? -32766 : place); }

void field_counts(int count, const int *values)
{
    field(0);
    if (count == 0 || !values) {
        field_none();
        return;
    }
    field(values[0]);
    for (int i = 1; i < count; i++) {
        append_text(",");
        append(values[i]);
    }
}

void append(long long value)
{
    char text[NUMBER_BYTES];
    text_bytes(&line_tail, text, number_text(value, text));
}

void append_text(const char *text) { text_bytes(&line_tail, text, strlen(text)); }
