/* Ranks that sleep while they wait: loaded before an MPI library that polls its sockets.
 *
 * MPI libraries ask for events again and again without waiting (a time limit of 0). After some
 * answers of "none", these functions wait for one, for a millisecond at most. Ranks of an emulated
 * cluster, of which there are more than processors, then leave the processors to those that compute.
 *
 * At MPI_Finalize ranks of MPICH look at one another without asking for events at all, so they give
 * up real-time priority there.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>
#include <sys/epoll.h>

#define SHOWN __attribute__((visibility("default")))

enum { LOOKS = 4, WAIT_MS = 1 };

static __thread int empty; /* looks in a row that found nothing */

static int patience(int timeout) { return timeout == 0 && empty >= LOOKS ? WAIT_MS : timeout; }

static int counted(int found)
{
    empty = found ? 0 : empty + 1;
    return found;
}

SHOWN int epoll_wait(int epoll, struct epoll_event *events, int most, int timeout)
{
    static int (*real)(int, struct epoll_event *, int, int);
    if (!real) *(void **)&real = dlsym(RTLD_NEXT, "epoll_wait");
    return counted(real(epoll, events, most, patience(timeout)));
}

SHOWN int poll(struct pollfd *files, nfds_t number, int timeout)
{
    static int (*real)(struct pollfd *, nfds_t, int);
    if (!real) *(void **)&real = dlsym(RTLD_NEXT, "poll");
    return counted(real(files, number, patience(timeout)));
}

#ifdef MPICH_VERSION
enum { PATIENCE_S = 1 };

static void leave(int signal)
{
    (void)signal;
    _exit(0);
}

static void leave_soon(void)
{
    PMPI_Barrier(MPI_COMM_WORLD);
    fflush(NULL);
    signal(SIGALRM, leave);
    alarm(PATIENCE_S);
}
#else
static void leave_soon(void) {}
#endif

SHOWN int MPI_Finalize(void)
{
    static int (*real)(void);
    const struct sched_param usual = {0};
    if (!real) *(void **)&real = dlsym(RTLD_NEXT, "MPI_Finalize");
    sched_setscheduler(0, SCHED_OTHER, &usual);
    leave_soon();
    return real();
}
