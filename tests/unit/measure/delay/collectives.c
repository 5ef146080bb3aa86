/* Compares collectives with those of the MPI itself, which PMPI names: on 1 to all ranks, with each
 * root, for plain, scattered and shifted types, for operators that commute and one that does not,
 * in place and not. Rank 0 prints the number of comparisons; a difference ends all. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 9, COUNT = 3, ROOM = 4096 };

static int rank, size, comparisons;
static MPI_Comm comm;
static int given[ROOM], ours[ROOM], theirs[ROOM];
static int counts[MOST], places[MOST], sent_counts[MOST], sent_places[MOST];

static void fresh(void)
{
    for (int i = 0; i < ROOM; i++) {
        given[i] = 1 + rank * 1000 + i % 7;
        ours[i] = theirs[i] = -i - rank;
    }
}

static void compare(const char *name, int case_)
{
    comparisons++;
    if (memcmp(ours, theirs, sizeof ours) == 0) return;
    fprintf(stderr, "%s, case %d, differs on rank %d of %d\n", name, case_, rank, size);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* Both with the same arguments but the buffer, which `R` names. */
#define BOTH(NAME, CASE, ...)                                                                  \
    do {                                                                                       \
        int *R = ours;                                                                         \
        MPI_##NAME(__VA_ARGS__);                                                               \
        R = theirs;                                                                            \
        PMPI_##NAME(__VA_ARGS__);                                                              \
        compare(#NAME, CASE);                                                                  \
    } while (0)

/* Two by two matrices, whose product does not commute. */
static void multiply(void *in, void *inout, int *n, MPI_Datatype *type)
{
    (void)type;
    unsigned *a = in, *b = inout;
    for (int i = 0; i < *n; i++, a += 4, b += 4) {
        unsigned product[4] = {a[0] * b[0] + a[1] * b[2], a[0] * b[1] + a[1] * b[3],
                               a[2] * b[0] + a[3] * b[2], a[2] * b[1] + a[3] * b[3]};
        memcpy(b, product, sizeof product);
    }
}

static void reductions(int root, MPI_Datatype matrix, MPI_Op product)
{
    MPI_Op ops[] = {MPI_SUM, MPI_MAX, MPI_BXOR};
    for (int i = 0; i < 3; i++) {
        fresh();
        BOTH(Reduce, i, given, R, COUNT, MPI_INT, ops[i], root, comm);
        fresh();
        BOTH(Reduce, 10 + i, rank == root ? MPI_IN_PLACE : R, R, COUNT, MPI_INT, ops[i], root, comm);
        fresh();
        BOTH(Allreduce, i, given, R, COUNT, MPI_INT, ops[i], comm);
        fresh();
        BOTH(Allreduce, 10 + i, MPI_IN_PLACE, R, COUNT, MPI_INT, ops[i], comm);
    }
    fresh();
    BOTH(Reduce, 20, given, R, COUNT, matrix, product, root, comm);
    fresh();
    BOTH(Allreduce, 20, given, R, COUNT, matrix, product, comm);
    fresh();
    BOTH(Allreduce, 21, given, R, 0, MPI_INT, MPI_SUM, comm);
}

/* With a type of ours on the receiving side, of as many integers. */
static void movements(int root, MPI_Datatype type)
{
    int n = COUNT * 2, at_root = rank == root;
    fresh();
    BOTH(Bcast, 0, R, COUNT, type, root, comm);
    fresh();
    BOTH(Gather, 0, given, n, MPI_INT, R, COUNT, type, root, comm);
    fresh();
    BOTH(Gather, 1, at_root ? MPI_IN_PLACE : given, n, MPI_INT, R, COUNT, type, root, comm);
    fresh();
    BOTH(Scatter, 0, given, n, MPI_INT, R, COUNT, type, root, comm);
    fresh();
    BOTH(Scatter, 1, given, n, MPI_INT, at_root ? MPI_IN_PLACE : (void *)R, COUNT, type, root, comm);
    fresh();
    BOTH(Allgather, 0, given, n, MPI_INT, R, COUNT, type, comm);
    fresh();
    BOTH(Allgather, 1, MPI_IN_PLACE, 0, MPI_INT, R, COUNT, type, comm);
    fresh();
    BOTH(Alltoall, 0, given, n, MPI_INT, R, COUNT, type, comm);
    fresh();
    BOTH(Alltoall, 1, MPI_IN_PLACE, 0, MPI_INT, R, COUNT, type, comm);
}

/* With other counts for each rank, one of them 0. */
static void variants(int root)
{
    int own = (rank * 2) % 5;
    for (int i = 0, at = 0; i < size; at += counts[i] + 1, i++) {
        counts[i] = (i * 2) % 5;
        places[i] = at;
        sent_counts[i] = (rank + i) % 4;
        sent_places[i] = i * 4;
    }
    fresh();
    BOTH(Gatherv, 0, given, own, MPI_INT, R, counts, places, MPI_INT, root, comm);
    fresh();
    BOTH(Scatterv, 0, given, counts, places, MPI_INT, R, own, MPI_INT, root, comm);
    fresh();
    BOTH(Allgatherv, 0, given, own, MPI_INT, R, counts, places, MPI_INT, comm);
    fresh();
    BOTH(Allgatherv, 1, MPI_IN_PLACE, 0, MPI_INT, R, counts, places, MPI_INT, comm);
    fresh();
    BOTH(Alltoallv, 0, given, sent_counts, sent_places, MPI_INT, R, sent_counts, sent_places,
         MPI_INT, comm);
    fresh();
    BOTH(Alltoallv, 1, MPI_IN_PLACE, NULL, NULL, MPI_INT, R, sent_counts, sent_places, MPI_INT,
         comm);
}

int main(int argc, char **argv)
{
    int world_rank, world_size;
    MPI_Datatype pair, gaps, shifted, matrix;
    MPI_Op product;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &world_size);
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_vector(2, 1, 2, MPI_INT, &gaps);
    MPI_Type_create_indexed_block(2, 1, (int[]){3, 1}, MPI_INT, &shifted);
    MPI_Type_contiguous(4, MPI_INT, &matrix);
    MPI_Datatype types[] = {pair, gaps, shifted};
    for (int i = 0; i < 3; i++) MPI_Type_commit(&types[i]);
    MPI_Type_commit(&matrix);
    MPI_Op_create(multiply, 0, &product);
    for (int ranks = 1; ranks <= world_size; ranks++) {
        MPI_Comm_split(MPI_COMM_WORLD, world_rank < ranks ? 0 : MPI_UNDEFINED, -world_rank, &comm);
        if (comm == MPI_COMM_NULL) continue;
        MPI_Comm_rank(comm, &rank);
        MPI_Comm_size(comm, &size);
        for (int root = 0; root < size; root++) {
            reductions(root, matrix, product);
            movements(root, types[root % 3]);
            variants(root);
        }
        MPI_Barrier(comm);
        MPI_Comm_free(&comm);
    }
    for (int i = 0; i < 3; i++) MPI_Type_free(&types[i]);
    MPI_Type_free(&matrix);
    MPI_Op_free(&product);
    if (world_rank == 0) printf("%d comparisons\n", comparisons);
    MPI_Finalize();
    return 0;
}
