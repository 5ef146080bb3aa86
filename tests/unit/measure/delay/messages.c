/* Messages in every way in which they can be received, with what must be true of each. Any number of
 * ranks from 3; a claim that fails ends all. Rank 0 says when all hold. */
#define _GNU_SOURCE
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int rank, ranks, claims;

#define CLAIM(WHAT)                                                                            \
    do {                                                                                       \
        claims++;                                                                              \
        if (!(WHAT)) {                                                                         \
            fprintf(stderr, "line %d, rank %d: %s\n", __LINE__, rank, #WHAT);                  \
            MPI_Abort(MPI_COMM_WORLD, 1);                                                      \
        }                                                                                      \
    } while (0)

static void pause_ms(int ms)
{
    struct timespec pause = {0, 1000000L * ms};
    nanosleep(&pause, NULL);
}

static int elements(MPI_Status *status, MPI_Datatype type)
{
    int count;
    MPI_Get_count(status, type, &count);
    return count;
}

/* Order, wildcards, statuses, no bytes, PROC_NULL: rank 0 receives from all others. */
static void wildcards(MPI_Comm comm)
{
    MPI_Status status;
    int value = -1, seen[64] = {0};
    for (int i = 0; rank > 0 && i < 4; i++) {
        int sent = 100 * rank + i;
        MPI_Send(&sent, 1, MPI_INT, 0, i, comm);
    }
    for (int i = 0; rank == 0 && i < 4 * (ranks - 1); i++) {
        MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &status);
        /* Nothing overtakes what its source sent before. */
        CLAIM(value == 100 * status.MPI_SOURCE + seen[status.MPI_SOURCE]);
        CLAIM(status.MPI_TAG == seen[status.MPI_SOURCE]++ && elements(&status, MPI_INT) == 1);
    }
    MPI_Barrier(comm);
    if (rank > 0) MPI_Send(NULL, 0, MPI_INT, 0, 9, comm);
    for (int i = 1; rank == 0 && i < ranks; i++) {
        MPI_Recv(&value, 1, MPI_INT, i, MPI_ANY_TAG, comm, &status);
        CLAIM(status.MPI_TAG == 9 && elements(&status, MPI_INT) == 0 && seen[i] == 4);
    }
    MPI_Recv(&value, 1, MPI_INT, MPI_PROC_NULL, 0, comm, &status);
    CLAIM(status.MPI_SOURCE == MPI_PROC_NULL && elements(&status, MPI_INT) == 0);
}

/* Posted before and after arrival, in another order than they are sent, and every way to wait. */
static void requests(MPI_Comm comm)
{
    enum { N = 12 };
    MPI_Request all[2 * N];
    MPI_Status statuses[2 * N];
    int got[N], sent[N], flag = 0, index, left = (rank + ranks - 1) % ranks;
    int right = (rank + 1) % ranks;
    for (int late = 0; late < 2; late++) {
        for (int way = 0; way < 7; way++) {
            for (int i = 0; i < N && !late; i++)
                MPI_Irecv(&got[i], 1, MPI_INT, left, N - i, comm, &all[i]);
            for (int i = 0; i < N; i++) {
                sent[i] = 1000 * rank + i;
                MPI_Isend(&sent[i], 1, MPI_INT, right, i + 1, comm, &all[N + i]);
            }
            if (late) pause_ms(1);
            for (int i = 0; i < N && late; i++)
                MPI_Irecv(&got[i], 1, MPI_INT, left, N - i, comm, &all[i]);
            int rest = 2 * N;
            if (way == 0) MPI_Waitall(2 * N, all, statuses);
            if (way == 1) for (int i = 0; i < 2 * N; i++) MPI_Wait(&all[i], &statuses[i]);
            while (way == 2 && rest > 0) {
                MPI_Waitany(2 * N, all, &index, &statuses[0]);
                CLAIM(index >= 0 && index < 2 * N && all[index] == MPI_REQUEST_NULL);
                rest--;
            }
            while (way == 3 && rest > 0) {
                int some[2 * N];
                MPI_Waitsome(2 * N, all, &index, some, statuses);
                CLAIM(index > 0 && index <= rest);
                rest -= index;
            }
            for (flag = 0; way == 4 && !flag;) MPI_Testall(2 * N, all, &flag, statuses);
            while (way == 5 && rest > 0) {
                MPI_Testany(2 * N, all, &index, &flag, &statuses[0]);
                rest -= flag;
            }
            for (int i = 0; way == 6 && i < 2 * N; i++) {
                for (flag = 0; !flag;) MPI_Request_get_status(all[i], &flag, &statuses[i]);
                for (flag = 0; !flag;) MPI_Test(&all[i], &flag, &statuses[i]);
            }
            for (int i = 0; i < N; i++) {
                CLAIM(all[i] == MPI_REQUEST_NULL && got[i] == 1000 * left + N - i - 1);
                if (way == 0 || way == 6) CLAIM(statuses[i].MPI_TAG == N - i);
                if (way == 0 || way == 6) CLAIM(statuses[i].MPI_SOURCE == left);
            }
            MPI_Barrier(comm);
        }
    }
    MPI_Waitall(N, all, MPI_STATUSES_IGNORE);
    MPI_Waitany(N, all, &index, &statuses[0]);
    CLAIM(index == MPI_UNDEFINED);
}

/* Types with gaps, freed at once; more bytes than any eager limit; a shorter message. */
static void types_and_sizes(MPI_Comm comm)
{
    enum { LARGE = 1 << 20 };
    MPI_Request pending[2];
    MPI_Status status;
    MPI_Datatype column;
    int left = (rank + ranks - 1) % ranks, right = (rank + 1) % ranks, square[16], flat[4];
    memset(square, 0, sizeof square);
    for (int i = 0; i < 4; i++) flat[i] = 10 * rank + i;
    MPI_Type_vector(4, 1, 4, MPI_INT, &column);
    MPI_Type_commit(&column);
    MPI_Irecv(&square[1], 1, column, left, 0, comm, &pending[0]);
    MPI_Type_free(&column);
    MPI_Isend(flat, 4, MPI_INT, right, 0, comm, &pending[1]);
    MPI_Waitall(2, pending, MPI_STATUSES_IGNORE);
    for (int i = 0; i < 16; i++) CLAIM(square[i] == (i % 4 == 1 ? 10 * left + i / 4 : 0));
    int *large = malloc(sizeof(int) * LARGE), *got = malloc(sizeof(int) * LARGE);
    for (int late = 0; late < 2; late++) {
        for (int i = 0; i < LARGE; i++) large[i] = i * 7 + rank + late;
        MPI_Isend(large, LARGE, MPI_INT, right, 1, comm, &pending[0]);
        if (late) pause_ms(2);
        MPI_Recv(got, LARGE, MPI_INT, left, 1, comm, &status);
        MPI_Wait(&pending[0], MPI_STATUS_IGNORE);
        CLAIM(elements(&status, MPI_INT) == LARGE);
        for (int i = 0; i < LARGE; i += 997) CLAIM(got[i] == i * 7 + left + late);
    }
    MPI_Isend(large, 3, MPI_INT, right, 2, comm, &pending[0]);
    MPI_Recv(got, LARGE, MPI_INT, left, 2, comm, &status);
    MPI_Wait(&pending[0], MPI_STATUS_IGNORE);
    CLAIM(elements(&status, MPI_INT) == 3);
    MPI_Ssend(large, 5, MPI_INT, rank == 0 ? 1 : MPI_PROC_NULL, 3, comm);
    if (rank == 1) MPI_Recv(got, 5, MPI_INT, 0, 3, comm, MPI_STATUS_IGNORE);
    /* Ready: the receive is posted for certain. */
    MPI_Irecv(got, 5, MPI_INT, left, 4, comm, &pending[0]);
    MPI_Barrier(comm);
    MPI_Rsend(large, 5, MPI_INT, right, 4, comm);
    MPI_Wait(&pending[0], MPI_STATUS_IGNORE);
    CLAIM(got[4] == 4 * 7 + left + 1);
    free(large);
    free(got);
}

static void both_ways(MPI_Comm comm)
{
    MPI_Status status;
    int left = (rank + ranks - 1) % ranks, right = (rank + 1) % ranks, sent = rank, got = -1;
    MPI_Sendrecv(&sent, 1, MPI_INT, right, 4, &got, 1, MPI_INT, left, 4, comm, &status);
    CLAIM(got == left && status.MPI_SOURCE == left && status.MPI_TAG == 4);
    MPI_Sendrecv(&sent, 1, MPI_INT, right, 4, &got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm,
                 &status);
    CLAIM(got == left && status.MPI_SOURCE == left);
    MPI_Sendrecv_replace(&sent, 1, MPI_INT, right, 5, left, 5, comm, &status);
    CLAIM(sent == left && elements(&status, MPI_INT) == 1);
    int edge = rank + 1 < ranks ? rank + 1 : MPI_PROC_NULL, from = rank ? rank - 1 : MPI_PROC_NULL;
    got = -1;
    MPI_Sendrecv(&rank, 1, MPI_INT, edge, 6, &got, 1, MPI_INT, from, 6, comm, &status);
    CLAIM(got == (rank ? rank - 1 : -1));
    MPI_Sendrecv(&rank, 1, MPI_INT, rank, 7, &got, 1, MPI_INT, rank, 7, comm,
                 &status);
    CLAIM(got == rank);
}

static void probes(MPI_Comm comm)
{
    MPI_Status status;
    MPI_Message message;
    MPI_Request pending;
    int flag = 0, value = 0, left = (rank + ranks - 1) % ranks, right = (rank + 1) % ranks;
    MPI_Iprobe(left, 77, comm, &flag, &status);
    CLAIM(!flag);
    for (int i = 0; i < 5; i++) {
        int sent = 50 * rank + i;
        MPI_Send(&sent, 1, MPI_INT, right, 20 + i, comm);
    }
    MPI_Probe(left, 22, comm, &status);
    CLAIM(status.MPI_TAG == 22 && elements(&status, MPI_INT) == 1);
    MPI_Recv(&value, 1, MPI_INT, left, 22, comm, &status);
    CLAIM(value == 50 * left + 2);
    while (!flag) MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &flag, &status);
    CLAIM(status.MPI_TAG == 20 && status.MPI_SOURCE == left);
    MPI_Mprobe(left, MPI_ANY_TAG, comm, &message, &status);
    CLAIM(status.MPI_TAG == 20);
    MPI_Mrecv(&value, 1, MPI_INT, &message, &status);
    CLAIM(value == 50 * left && message == MPI_MESSAGE_NULL);
    for (flag = 0; !flag;) MPI_Improbe(left, 24, comm, &flag, &message, &status);
    MPI_Imrecv(&value, 1, MPI_INT, &message, &pending);
    MPI_Wait(&pending, &status);
    CLAIM(value == 50 * left + 4 && status.MPI_TAG == 24);
    MPI_Recv(&value, 1, MPI_INT, left, MPI_ANY_TAG, comm, &status);
    CLAIM(value == 50 * left + 1);
    MPI_Recv(&value, 1, MPI_INT, left, MPI_ANY_TAG, comm, &status);
    CLAIM(value == 50 * left + 3);
}

static void persistent(MPI_Comm comm)
{
    MPI_Request all[4], never, one = MPI_REQUEST_NULL;
    MPI_Status statuses[4];
    int got[2], sent[2], single = 0, flag, left = (rank + ranks - 1) % ranks, cancelled;
    int right = (rank + 1) % ranks, index;
    MPI_Recv_init(&got[0], 1, MPI_INT, left, 30, comm, &all[0]);
    MPI_Recv_init(&got[1], 1, MPI_INT, MPI_ANY_SOURCE, 31, comm, &all[1]);
    MPI_Send_init(&sent[0], 1, MPI_INT, right, 30, comm, &all[2]);
    MPI_Send_init(&sent[1], 1, MPI_INT, right, 31, comm, &all[3]);
    MPI_Test(&all[0], &flag, &statuses[0]);
    CLAIM(flag); /* at rest */
    for (int i = 0; i < 6; i++) {
        sent[0] = 100 * rank + i;
        sent[1] = -sent[0];
        if (i % 2) MPI_Startall(4, all);
        else for (int k = 3; k >= 0; k--) MPI_Start(&all[k]);
        if (i < 4) MPI_Waitall(4, all, statuses);
        else
            for (int k = 0; k < 4; k++) MPI_Waitany(4, all, &index, &statuses[0]);
        CLAIM(got[0] == 100 * left + i && got[1] == -got[0]);
        if (i < 4) CLAIM(statuses[1].MPI_SOURCE == left && statuses[1].MPI_TAG == 31);
        for (int k = 0; k < 4; k++) CLAIM(all[k] != MPI_REQUEST_NULL);
        MPI_Waitany(4, all, &index, &statuses[0]);
        CLAIM(index == MPI_UNDEFINED);
    }
    for (int k = 0; k < 4; k++) MPI_Request_free(&all[k]);
    CLAIM(all[0] == MPI_REQUEST_NULL);
    /* Cancelled: before a message came, persistent and not; and after, where it is received. */
    MPI_Recv_init(&single, 1, MPI_INT, left, 32, comm, &never);
    MPI_Start(&never);
    MPI_Cancel(&never);
    MPI_Wait(&never, &statuses[0]);
    MPI_Test_cancelled(&statuses[0], &cancelled);
    CLAIM(cancelled && never != MPI_REQUEST_NULL);
    MPI_Request_free(&never);
    MPI_Irecv(&single, 1, MPI_INT, MPI_ANY_SOURCE, 35, comm, &one);
    MPI_Cancel(&one);
    MPI_Wait(&one, &statuses[0]);
    MPI_Test_cancelled(&statuses[0], &cancelled);
    CLAIM(cancelled && one == MPI_REQUEST_NULL);
    MPI_Send(&rank, 1, MPI_INT, right, 33, comm);
    MPI_Recv(&single, 1, MPI_INT, left, 33, comm, &statuses[0]);
    MPI_Test_cancelled(&statuses[0], &cancelled);
    CLAIM(single == left && !cancelled);
    /* Freed while it runs: the message still comes, and those after it. */
    got[0] = got[1] = -1;
    MPI_Irecv(&got[0], 1, MPI_INT, left, 34, comm, &one);
    MPI_Request_free(&one);
    CLAIM(one == MPI_REQUEST_NULL);
    for (int i = 0; i < 2; i++) MPI_Send(&rank, 1, MPI_INT, right, 34, comm);
    MPI_Recv(&got[1], 1, MPI_INT, left, 34, comm, MPI_STATUS_IGNORE);
    CLAIM(got[0] == left && got[1] == left);
}

/* Messages of one communicator are never those of another, however this was made. */
static void communicators(void)
{
    MPI_Comm made[7], inter = MPI_COMM_NULL, grid;
    MPI_Group world, odd;
    MPI_Status status;
    int value = 0, period = 1, left = (rank + ranks - 1) % ranks, right = (rank + 1) % ranks;
    int first[3] = {0, 1, 2}, *most, found, half;
    MPI_Comm_dup(MPI_COMM_WORLD, &made[0]);
    MPI_Comm_split(MPI_COMM_WORLD, 0, rank, &made[1]);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Comm_create(MPI_COMM_WORLD, world, &made[2]);
    MPI_Cart_create(MPI_COMM_WORLD, 1, &ranks, &period, 0, &made[3]);
    MPI_Comm_create_group(MPI_COMM_WORLD, world, 5, &made[4]);
    MPI_Request pending;
    MPI_Comm_idup(MPI_COMM_WORLD, &made[5], &pending);
    MPI_Wait(&pending, MPI_STATUS_IGNORE);
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &left, MPI_UNWEIGHTED, 1, &right,
                                   MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &made[6]);
    for (int i = 0; i < 7; i++) {
        int sent = 10 * rank + i;
        MPI_Send(&sent, 1, MPI_INT, right, 1, made[i]);
    }
    for (int i = 6; i >= 0; i--) {
        MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, made[i], &status);
        CLAIM(value == 10 * left + i && status.MPI_SOURCE == left);
    }
    /* Freed while a receive is pending there. */
    MPI_Irecv(&value, 1, MPI_INT, left, 2, made[1], &pending);
    MPI_Send(&rank, 1, MPI_INT, right, 2, made[1]);
    for (int i = 0; i < 7; i++) MPI_Comm_free(&made[i]);
    MPI_Wait(&pending, MPI_STATUS_IGNORE);
    CLAIM(value == left);
    MPI_Group_incl(world, 3, first, &odd);
    MPI_Group_free(&world);
    MPI_Group_free(&odd);
    /* Two groups: each rank of one sends to each of the other. */
    half = rank % 2;
    MPI_Comm_split(MPI_COMM_WORLD, half, rank, &grid);
    MPI_Intercomm_create(grid, 0, MPI_COMM_WORLD, half ? 0 : 1, 6, &inter);
    int others;
    MPI_Comm_remote_size(inter, &others);
    for (int i = 0; i < others; i++) MPI_Send(&rank, 1, MPI_INT, i, 8, inter);
    for (int i = 0; i < others; i++) {
        MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 8, inter, &status);
        CLAIM(value == 2 * status.MPI_SOURCE + !half);
    }
    MPI_Barrier(inter);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&grid);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &most, &found);
    CLAIM(found && *most >= 32767);
    MPI_Sendrecv(&rank, 1, MPI_INT, right, *most, &value, 1, MPI_INT, left, MPI_ANY_TAG,
                 MPI_COMM_WORLD, &status);
    CLAIM(value == left && status.MPI_TAG == *most);
}

/* A wildcard posted during collectives gets none of their messages. */
static void beside_collectives(void)
{
    MPI_Request pending;
    int value = -1, sum = 0, left = (rank + ranks - 1) % ranks, right = (rank + 1) % ranks, flag;
    MPI_Irecv(&value, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &pending);
    for (int i = 0; i < 3; i++) {
        MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        MPI_Bcast(&sum, 1, MPI_INT, i % ranks, MPI_COMM_WORLD);
        CLAIM(sum == ranks * (ranks - 1) / 2);
    }
    MPI_Test(&pending, &flag, MPI_STATUS_IGNORE);
    CLAIM(!flag && value == -1);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Send(&rank, 1, MPI_INT, right, 0, MPI_COMM_WORLD);
    MPI_Wait(&pending, MPI_STATUS_IGNORE);
    CLAIM(value == left);
    MPI_Request reduction;
    MPI_Iallreduce(&rank, &sum, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD, &reduction);
    MPI_Wait(&reduction, MPI_STATUS_IGNORE);
    CLAIM(sum == ranks - 1);
    MPI_Scan(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CLAIM(sum == rank * (rank + 1) / 2);
}

/* Too long a message is an error of the receive, where errors are returned. */
static void truncation(MPI_Comm comm)
{
    int sent[4] = {1, 2, 3, 4}, got[2], result, class_, right = (rank + 1) % ranks;
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Send(sent, 4, MPI_INT, right, 0, comm);
    result = MPI_Recv(got, 2, MPI_INT, MPI_ANY_SOURCE, 0, comm, MPI_STATUS_IGNORE);
    MPI_Error_class(result, &class_);
    CLAIM(class_ == MPI_ERR_TRUNCATE);
}

/* Two threads of each rank talk at once. */
static void *talk(void *tag)
{
    int value = -1, left = (rank + ranks - 1) % ranks, right = (rank + 1) % ranks;
    for (int i = 0; i < 50; i++) {
        MPI_Request pending[2];
        MPI_Irecv(&value, 1, MPI_INT, left, *(int *)tag, MPI_COMM_WORLD, &pending[0]);
        int sent = 100 * rank + i;
        MPI_Isend(&sent, 1, MPI_INT, right, *(int *)tag, MPI_COMM_WORLD, &pending[1]);
        MPI_Waitall(2, pending, MPI_STATUSES_IGNORE);
        if (value != 100 * left + i) MPI_Abort(MPI_COMM_WORLD, 1);
    }
    return NULL;
}

static void threads(void)
{
    pthread_t other;
    int tags[2] = {40, 41};
    pthread_create(&other, NULL, talk, &tags[0]);
    talk(&tags[1]);
    pthread_join(other, NULL);
    CLAIM(1);
}

int main(int argc, char **argv)
{
    int provided;
    MPI_Comm other;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    CLAIM(provided == MPI_THREAD_MULTIPLE);
    MPI_Comm_dup(MPI_COMM_WORLD, &other);
    void (*all[])(MPI_Comm) = {wildcards, requests, types_and_sizes, both_ways, probes, persistent};
    for (int i = 0; i < 6; i++) {
        all[i](i % 2 ? MPI_COMM_WORLD : other);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    communicators();
    beside_collectives();
    threads();
    truncation(other);
    MPI_Comm_free(&other);
    if (rank == 0) printf("all claims hold\n");
    MPI_Finalize();
    return 0;
}
