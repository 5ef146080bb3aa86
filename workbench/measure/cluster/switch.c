/* A switch between emulated hosts: every packet leaves it a latency later than it came.
 *
 *     switch ports spin_ns priority fd...
 *
 * Each fd is the TAP device of a host. A packet occupies its sender's port for as long as the rate
 * says, then waits for the latency of its pair of hosts, and until its receiver's port is free of
 * packets from other hosts; packets of a pair keep their order. The
 * switch sleeps until `spin_ns` before a packet is due and spins from there, for a timer wakes tens
 * of microseconds late.
 *
 * Commands come as lines on stdin, each is answered by one line on stdout:
 *
 *     latency NS             one way, between all pairs
 *     pair FROM TO NS        one way, of one pair
 *     jitter NS              each packet waits up to so much longer, evenly drawn
 *     rate BITS_PER_S        of each port, 0 without limit
 *     watch PID MS           kill the process after so long, or when this program ends
 *     unwatch                the process has ended
 *     report                 packets, bytes, dropped, then lateness in ns: median, p99, largest;
 *                            counting begins anew
 *
 * It ends with its stdin. Where it may, it runs with real-time priority: what it watches can then
 * not keep it from its work, however busy it is.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { PORTS = 64, FRAME = 9216 + 64, QUEUE = 32768, BURST = 16, BUCKETS = 4096, ADDRESS = 6 };
enum { ON_WIRE = 24 }; /* preamble, checksum and gap of Ethernet, bytes */
enum { COMMANDS = PORTS, BUCKET_NS = 250 };

struct packet {
    int64_t due;
    uint64_t number;
    int port, length;
    unsigned char *bytes;
};

static int ports, device[PORTS], epoll, process = -1;
static int64_t latency[PORTS][PORTS], last_due[PORTS][PORTS], deadline;
static int64_t sender_free[PORTS], receiver_free[PORTS];
static int64_t spin_ns, jitter_ns;
static double ns_per_byte;
static unsigned char address[PORTS][ADDRESS];
static int known[PORTS];

static struct packet queue[QUEUE]; /* a heap, the next one first */
static int waiting;
static unsigned char *spare[QUEUE + 1];
static int spares;

static uint64_t packets, bytes, dropped, late[BUCKETS], drawn = 0x9e3779b97f4a7c15u, numbered;
static int64_t latest;

static int64_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int64_t drawn_jitter(void)
{
    if (!jitter_ns) return 0;
    drawn ^= drawn << 13; /* xorshift64 (Marsaglia 2003) */
    drawn ^= drawn >> 7;
    drawn ^= drawn << 17;
    return (int64_t)(drawn % (uint64_t)(jitter_ns + 1));
}

static int64_t wire_ns(int length) { return (int64_t)((double)(length + ON_WIRE) * ns_per_byte); }

static int before(const struct packet *a, const struct packet *b)
{
    return a->due != b->due ? a->due < b->due : a->number < b->number;
}

static void enqueue(struct packet new)
{
    int at = waiting++;
    for (; at > 0 && before(&new, &queue[(at - 1) / 2]); at = (at - 1) / 2)
        queue[at] = queue[(at - 1) / 2];
    queue[at] = new;
}

static struct packet dequeue(void)
{
    struct packet first = queue[0], last = queue[--waiting];
    int at = 0;
    for (int below = 1; below < waiting; below = 2 * at + 1) {
        if (below + 1 < waiting && before(&queue[below + 1], &queue[below])) below++;
        if (!before(&queue[below], &last)) break;
        queue[at] = queue[below];
        at = below;
    }
    queue[at] = last;
    return first;
}

static unsigned char *buffer(void)
{
    unsigned char *new = spares ? spare[--spares] : malloc(FRAME);
    if (!new) exit(1);
    return new;
}

static void give_back(unsigned char *old)
{
    if (spares <= QUEUE) spare[spares++] = old;
    else free(old);
}

/* Let a packet that came from a port leave by another. */
static void forward(int from, int to, const unsigned char *frame, int length, int64_t sent)
{
    if (waiting == QUEUE) {
        dropped++;
        return;
    }
    struct packet new = {sent + latency[from][to] + drawn_jitter(), numbered++, to, length, buffer()};
    if (new.due < last_due[from][to]) new.due = last_due[from][to];
    int64_t through_port = receiver_free[to] + wire_ns(length);
    if (new.due < through_port) new.due = through_port;
    receiver_free[to] = new.due;
    last_due[from][to] = new.due;
    memcpy(new.bytes, frame, (size_t)length);
    enqueue(new);
}

static void receive(int from)
{
    static unsigned char frame[FRAME];
    for (int i = 0; i < BURST; i++) {
        ssize_t length = read(device[from], frame, sizeof frame);
        if (length < 2 * ADDRESS) return;
        int64_t start = now();
        if (sender_free[from] > start) start = sender_free[from];
        sender_free[from] = start + wire_ns((int)length);
        memcpy(address[from], frame + ADDRESS, ADDRESS);
        known[from] = 1;
        for (int to = 0; to < ports; to++) {
            int wanted = (frame[0] & 1) || (known[to] && !memcmp(address[to], frame, ADDRESS));
            if (to != from && wanted) forward(from, to, frame, (int)length, sender_free[from]);
        }
    }
}

static void send_due(void)
{
    while (waiting && queue[0].due <= now()) {
        struct packet next = dequeue();
        if (write(device[next.port], next.bytes, (size_t)next.length) != next.length) dropped++;
        int64_t lateness = now() - next.due;
        int64_t bucket = lateness / BUCKET_NS;
        late[bucket < BUCKETS ? bucket : BUCKETS - 1]++;
        if (lateness > latest) latest = lateness;
        packets++;
        bytes += (uint64_t)next.length;
        give_back(next.bytes);
    }
}

static int64_t lateness_quantile(double part)
{
    uint64_t seen = 0, wanted = (uint64_t)(part * (double)packets);
    for (int i = 0; i < BUCKETS; i++) {
        seen += late[i];
        if (seen > wanted) return (int64_t)(i + 1) * BUCKET_NS;
    }
    return 0;
}

static void report(void)
{
    printf("%" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRId64 " %" PRId64 " %" PRId64 "\n", packets, bytes,
           dropped, lateness_quantile(0.5), lateness_quantile(0.99), latest);
    packets = bytes = dropped = 0;
    latest = 0;
    memset(late, 0, sizeof late);
}

static void kill_watched(void)
{
    if (process >= 0) {
        syscall(SYS_pidfd_send_signal, process, SIGKILL, NULL, 0);
        close(process);
    }
    process = -1;
}

static void obey(const char *line)
{
    int64_t value, from, to;
    if (sscanf(line, "latency %" SCNd64, &value) == 1) {
        for (int i = 0; i < PORTS * PORTS; i++) latency[i / PORTS][i % PORTS] = value;
    } else if (sscanf(line, "pair %" SCNd64 " %" SCNd64 " %" SCNd64, &from, &to, &value) == 3 &&
               from >= 0 && from < ports && to >= 0 && to < ports) {
        latency[from][to] = value;
    } else if (sscanf(line, "jitter %" SCNd64, &value) == 1) {
        jitter_ns = value;
    } else if (sscanf(line, "rate %" SCNd64, &value) == 1) {
        ns_per_byte = value > 0 ? 8e9 / (double)value : 0;
    } else if (sscanf(line, "watch %" SCNd64 " %" SCNd64, &from, &value) == 2) {
        process = (int)syscall(SYS_pidfd_open, (pid_t)from, 0);
        deadline = now() + value * 1000000;
        if (process < 0) {
            printf("error %s\n", strerror(errno));
            return;
        }
    } else if (!strcmp(line, "unwatch")) {
        if (process >= 0) close(process);
        process = -1;
    } else if (!strcmp(line, "report")) {
        report();
        return;
    } else {
        printf("error unknown command\n");
        return;
    }
    printf("ok\n");
}

/* Obey the lines that have come; return whether more may come. */
static int commands(void)
{
    static char text[4096];
    static size_t held;
    ssize_t got = read(0, text + held, sizeof text - 1 - held);
    if (got <= 0) return got < 0 && (errno == EAGAIN || errno == EINTR);
    held += (size_t)got;
    text[held] = 0;
    char *line = text;
    for (char *end; (end = strchr(line, '\n')); line = end + 1) {
        *end = 0;
        obey(line);
    }
    held -= (size_t)(line - text);
    memmove(text, line, held);
    fflush(stdout);
    return held < sizeof text - 1;
}

/* Return how long to sleep until a packet or the watched process is due. */
static struct timespec *until_due(struct timespec *wait)
{
    int64_t due = INT64_MAX;
    if (waiting) due = queue[0].due - spin_ns;
    if (process >= 0 && deadline < due) due = deadline;
    if (due == INT64_MAX) return NULL;
    int64_t left = due - now();
    if (left < 0) left = 0;
    wait->tv_sec = left / 1000000000;
    wait->tv_nsec = left % 1000000000;
    return wait;
}

static void look_at(int fd, int name)
{
    struct epoll_event event = {.events = EPOLLIN, .data.u32 = (uint32_t)name};
    if (epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event)) exit(1);
}

int main(int argc, char **argv)
{
    if (argc < 4 || (ports = atoi(argv[1])) < 1 || ports > PORTS || argc != 4 + ports) return 2;
    spin_ns = atoll(argv[2]);
    struct sched_param priority = {.sched_priority = atoi(argv[3])};
    if (priority.sched_priority > 0) sched_setscheduler(0, SCHED_FIFO, &priority);
    prctl(PR_SET_TIMERSLACK, 1);
    epoll = epoll_create1(EPOLL_CLOEXEC);
    for (int i = 0; i < ports; i++) {
        device[i] = atoi(argv[4 + i]);
        fcntl(device[i], F_SETFL, O_NONBLOCK);
        look_at(device[i], i);
    }
    look_at(0, COMMANDS);
    for (int more = 1; more;) {
        struct epoll_event events[BURST];
        struct timespec wait;
        send_due();
        if (process >= 0 && now() >= deadline) kill_watched();
        int found = epoll_pwait2(epoll, events, BURST, until_due(&wait), NULL);
        for (int i = 0; i < found; i++) {
            if (events[i].data.u32 == COMMANDS) more = commands();
            else receive((int)events[i].data.u32);
        }
    }
    kill_watched();
    return 0;
}
