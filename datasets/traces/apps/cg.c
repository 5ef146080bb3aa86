/* Conjugate gradients for the Poisson equation on n x n points, two right-hand sides at once.
 *
 *     mpicc -O2 -o cg cg.c -lm && mpirun -n 4 ./cg 256 60
 *
 * Half of the processes solve for each side, in a communicator of their own. The matrix is
 * distributed by rows of the grid: each product exchanges one row with the neighbours above and
 * below, and each iteration adds up two scalar products.
 */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static MPI_Comm half;
static int n, rows, above, below;

static int part(int all, int parts, int which) { return all / parts + (which < all % parts); }

static double dot(const double *x, const double *y)
{
    double mine = 0, all;
    for (size_t i = 0; i < (size_t)rows * (size_t)n; i++) mine += x[i] * y[i];
    MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, half);
    return all;
}

/* y = A x; the row above x and the one below it are there for the neighbours'. */
static void multiply(double *x, double *y)
{
    size_t width = (size_t)n, last = (size_t)(rows - 1) * width;
    MPI_Sendrecv(x, n, MPI_DOUBLE, above, 0, x + last + width, n, MPI_DOUBLE, below, 0, half,
                 MPI_STATUS_IGNORE);
    MPI_Sendrecv(x + last, n, MPI_DOUBLE, below, 1, x - width, n, MPI_DOUBLE, above, 1, half,
                 MPI_STATUS_IGNORE);
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < n; j++) {
            const double *at = x + (size_t)i * width + j;
            double side = (j > 0 ? at[-1] : 0) + (j < n - 1 ? at[1] : 0);
            y[(size_t)i * width + (size_t)j] = 4 * at[0] - side - at[-n] - at[n];
        }
}

int main(int argc, char **argv)
{
    int ranks, rank, halves, member;

    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int arguments[2] = {argc > 1 ? atoi(argv[1]) : 256, argc > 2 ? atoi(argv[2]) : 60};
    MPI_Bcast(arguments, 2, MPI_INT, 0, MPI_COMM_WORLD);
    n = arguments[0];

    int side = ranks > 1 ? rank % 2 : 0;
    MPI_Comm_split(MPI_COMM_WORLD, side, rank, &half);
    MPI_Comm_size(half, &halves);
    MPI_Comm_rank(half, &member);
    above = member > 0 ? member - 1 : MPI_PROC_NULL;
    below = member < halves - 1 ? member + 1 : MPI_PROC_NULL;
    rows = part(n, halves, member);

    size_t size = (size_t)rows * (size_t)n;
    double *x = calloc(size, sizeof *x), *r = malloc(size * sizeof *r);
    double *q = malloc(size * sizeof *q), *halo = calloc(size + 2 * (size_t)n, sizeof *halo);
    if (!x || !r || !q || !halo) MPI_Abort(MPI_COMM_WORLD, 1);
    double *p = halo + n;
    for (size_t i = 0; i < size; i++) p[i] = r[i] = side == 0 ? 1 : sin(1e-3 * (double)i);

    double rho = dot(r, r);
    for (int iteration = 0; iteration < arguments[1]; iteration++) {
        multiply(p, q);
        double alpha = rho / dot(p, q);
        for (size_t i = 0; i < size; i++) {
            x[i] += alpha * p[i];
            r[i] -= alpha * q[i];
        }
        double next = dot(r, r);
        for (size_t i = 0; i < size; i++) p[i] = r[i] + next / rho * p[i];
        rho = next;
    }

    double norm = sqrt(rho), worst;
    MPI_Reduce(&norm, &worst, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0) printf("residual %.9e after %d iterations\n", worst, arguments[1]);

    MPI_Comm_free(&half);
    free(x);
    free(r);
    free(q);
    free(halo);
    MPI_Finalize();
    return 0;
}
