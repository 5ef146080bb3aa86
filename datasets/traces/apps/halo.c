/* Jacobi iteration for the Laplace equation on an n x n grid: halo exchange and residual.
 *
 *     mpicc -O2 -o halo halo.c -lm && mpirun -n 4 ./halo 256 60
 *
 * A 2-D grid of processes; each iteration exchanges four sides with non-blocking messages, computes
 * the interior meanwhile, and every tenth adds up the residual over all processes.
 */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define AT(i, j) ((size_t)(i) * (size_t)(columns + 2) + (size_t)(j))

static int rows, columns;

static double relax(const double *old, double *new, int from_row, int to_row, int from_column,
                    int to_column)
{
    double change = 0;
    for (int i = from_row; i <= to_row; i++)
        for (int j = from_column; j <= to_column; j++) {
            double mean = 0.25 * (old[AT(i - 1, j)] + old[AT(i + 1, j)] + old[AT(i, j - 1)] +
                                  old[AT(i, j + 1)]);
            change += (mean - old[AT(i, j)]) * (mean - old[AT(i, j)]);
            new[AT(i, j)] = mean;
        }
    return change;
}

static int part(int n, int parts, int which) { return n / parts + (which < n % parts); }

int main(int argc, char **argv)
{
    int ranks, rank, shape[2] = {0, 0}, periodic[2] = {0, 0}, place[2], north, south, west, east;
    MPI_Comm grid;
    MPI_Datatype column;

    MPI_Init(&argc, &argv);
    int n = argc > 1 ? atoi(argv[1]) : 256, iterations = argc > 2 ? atoi(argv[2]) : 60;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Dims_create(ranks, 2, shape);
    MPI_Cart_create(MPI_COMM_WORLD, 2, shape, periodic, 1, &grid);
    MPI_Comm_rank(grid, &rank);
    MPI_Cart_coords(grid, rank, 2, place);
    MPI_Cart_shift(grid, 0, 1, &north, &south);
    MPI_Cart_shift(grid, 1, 1, &west, &east);

    rows = part(n, shape[0], place[0]);
    columns = part(n, shape[1], place[1]);
    MPI_Type_vector(rows, 1, columns + 2, MPI_DOUBLE, &column);
    MPI_Type_commit(&column);
    double *old = calloc(AT(rows + 2, 0), sizeof *old), *new = calloc(AT(rows + 2, 0), sizeof *new);
    if (!old || !new) MPI_Abort(MPI_COMM_WORLD, 1);
    if (north == MPI_PROC_NULL) /* the upper edge is hot */
        for (int j = 0; j < columns + 2; j++) old[AT(0, j)] = new[AT(0, j)] = 1;

    double residual = 0;
    for (int iteration = 1; iteration <= iterations; iteration++) {
        MPI_Request requests[8];
        MPI_Irecv(&old[AT(0, 1)], columns, MPI_DOUBLE, north, 0, grid, &requests[0]);
        MPI_Irecv(&old[AT(rows + 1, 1)], columns, MPI_DOUBLE, south, 1, grid, &requests[1]);
        MPI_Irecv(&old[AT(1, 0)], 1, column, west, 2, grid, &requests[2]);
        MPI_Irecv(&old[AT(1, columns + 1)], 1, column, east, 3, grid, &requests[3]);
        MPI_Isend(&old[AT(rows, 1)], columns, MPI_DOUBLE, south, 0, grid, &requests[4]);
        MPI_Isend(&old[AT(1, 1)], columns, MPI_DOUBLE, north, 1, grid, &requests[5]);
        MPI_Isend(&old[AT(1, columns)], 1, column, east, 2, grid, &requests[6]);
        MPI_Isend(&old[AT(1, 1)], 1, column, west, 3, grid, &requests[7]);
        double change = relax(old, new, 2, rows - 1, 2, columns - 1);
        MPI_Waitall(8, requests, MPI_STATUSES_IGNORE);
        change += relax(old, new, 1, 1, 1, columns) + relax(old, new, rows, rows, 1, columns);
        change += relax(old, new, 2, rows - 1, 1, 1);
        change += relax(old, new, 2, rows - 1, columns, columns);
        if (iteration % 10 == 0)
            MPI_Allreduce(&change, &residual, 1, MPI_DOUBLE, MPI_SUM, grid);
        double *kept = old;
        old = new;
        new = kept;
    }
    if (rank == 0) printf("residual %.9e after %d iterations\n", sqrt(residual), iterations);

    MPI_Type_free(&column);
    MPI_Comm_free(&grid);
    free(old);
    free(new);
    MPI_Finalize();
    return 0;
}
