/* Fourier transforms of an n x (n + 2) array there and back, in blocks over a grid of processes.
 *
 *     mpicc -O2 -o transpose transpose.c -lm && mpirun -n 4 ./transpose 96 8
 *
 * To transform rows, the processes of a row of the grid exchange parts until each has whole rows,
 * all to all, and exchange them back; columns likewise among the processes of a column. Where all
 * parts are equal that is MPI_Alltoall, else MPI_Alltoallv.
 */
#include <complex.h>
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

typedef double complex number;

static int part(int n, int parts, int which) { return n / parts + (which < n % parts); }

static int start(int n, int parts, int which)
{
    return which * (n / parts) + (which < n % parts ? which : n % parts);
}

static void *room(size_t count)
{
    void *memory = malloc(count * sizeof(number));
    if (!memory) MPI_Abort(MPI_COMM_WORLD, 1);
    return memory;
}

static void fourier(const number *in, number *out, int n, int sign)
{
    for (int k = 0; k < n; k++) {
        number sum = 0;
        for (int j = 0; j < n; j++)
            sum += in[j] * cexp(sign * 2 * I * acos(-1) * ((double)j * k / n));
        out[k] = sign < 0 ? sum : sum / n;
    }
}

/* Transform lines of which each process of a communicator has a part: mine[line][part of n]. */
static void transform(number *mine, int lines, int n, int sign, MPI_Comm comm)
{
    int ranks, rank, give[64], give_at[64], take[64], take_at[64];
    MPI_Comm_size(comm, &ranks);
    MPI_Comm_rank(comm, &rank);
    int width = part(n, ranks, rank), whole = part(lines, ranks, rank);
    for (int r = 0; r < ranks; r++) {
        give[r] = part(lines, ranks, r) * width;
        give_at[r] = start(lines, ranks, r) * width;
        take[r] = whole * part(n, ranks, r);
        take_at[r] = whole * start(n, ranks, r);
    }
    int equal = lines % ranks == 0 && n % ranks == 0;
    number *parts = room((size_t)whole * (size_t)n), *line = room(2 * (size_t)n);
    if (equal) MPI_Alltoall(mine, give[0], MPI_C_DOUBLE_COMPLEX, parts, take[0],
                            MPI_C_DOUBLE_COMPLEX, comm);
    else MPI_Alltoallv(mine, give, give_at, MPI_C_DOUBLE_COMPLEX, parts, take, take_at,
                       MPI_C_DOUBLE_COMPLEX, comm);
    for (int l = 0; l < whole; l++) {
        for (int r = 0; r < ranks; r++)
            for (int j = 0, w = part(n, ranks, r); j < w; j++)
                line[start(n, ranks, r) + j] = parts[take_at[r] + l * w + j];
        fourier(line, line + n, n, sign);
        for (int r = 0; r < ranks; r++)
            for (int j = 0, w = part(n, ranks, r); j < w; j++)
                parts[take_at[r] + l * w + j] = line[n + start(n, ranks, r) + j];
    }
    if (equal) MPI_Alltoall(parts, take[0], MPI_C_DOUBLE_COMPLEX, mine, give[0],
                            MPI_C_DOUBLE_COMPLEX, comm);
    else MPI_Alltoallv(parts, take, take_at, MPI_C_DOUBLE_COMPLEX, mine, give, give_at,
                       MPI_C_DOUBLE_COMPLEX, comm);
    free(parts);
    free(line);
}

static void turn(const number *in, number *out, int rows, int columns)
{
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < columns; j++) out[j * rows + i] = in[i * columns + j];
}

int main(int argc, char **argv)
{
    int ranks, rank, shape[2] = {0, 0};
    MPI_Comm row, column;

    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int high = argc > 1 ? atoi(argv[1]) : 96, wide = high + 2;
    int steps = argc > 2 ? atoi(argv[2]) : 8;
    MPI_Dims_create(ranks, 2, shape);
    if (shape[0] > 64) MPI_Abort(MPI_COMM_WORLD, 1);
    int across = rank / shape[1], along = rank % shape[1];
    MPI_Comm_split(MPI_COMM_WORLD, across, along, &row);
    MPI_Comm_split(MPI_COMM_WORLD, along, across, &column);

    int rows = part(high, shape[0], across), columns = part(wide, shape[1], along);
    number *block = room((size_t)rows * (size_t)columns);
    number *turned = room((size_t)rows * (size_t)columns);
    for (int i = 0; i < rows * columns; i++) block[i] = (i * 7919 + rank) % 1000;

    double error = 0, worst;
    for (int step = 0; step < steps; step++) {
        number before = block[step % (rows * columns)];
        for (int sign = -1; sign <= 1; sign += 2) {
            transform(block, rows, wide, sign, row);
            turn(block, turned, rows, columns);
            transform(turned, columns, high, sign, column);
            turn(turned, block, columns, rows);
        }
        error = fmax(error, cabs(block[step % (rows * columns)] - before));
    }
    MPI_Allreduce(&error, &worst, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    if (rank == 0) printf("error %.1e after %d steps\n", worst, steps);

    MPI_Comm_free(&row);
    MPI_Comm_free(&column);
    free(block);
    free(turned);
    MPI_Finalize();
    return worst < 1e-8 ? 0 : 1;
}
