/* Conjugate gradients: a matrix-vector product with two neighbours and two dot products.
 *
 *     cg ITERATIONS BYTES PRODUCT_US VECTOR_US
 */
#include "pace.h"

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int iterations = (int)argument(argc, argv, 1, 100), bytes = (int)argument(argc, argv, 2, 1024);
    double product = argument(argc, argv, 3, 800), vector = argument(argc, argv, 4, 200);
    int rank, ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int neighbour[2] = {rank ? rank - 1 : MPI_PROC_NULL, rank + 1 < ranks ? rank + 1 : MPI_PROC_NULL};
    char *sent = room((size_t)bytes), *received = room(2 * (size_t)bytes);
    double part = 1, dot;
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < iterations; i++) {
        MPI_Request requests[4];
        for (int side = 0; side < 2; side++) {
            MPI_Irecv(received + side * bytes, bytes, MPI_CHAR, neighbour[side], 0, MPI_COMM_WORLD,
                      &requests[side]);
            MPI_Isend(sent, bytes, MPI_CHAR, neighbour[side], 0, MPI_COMM_WORLD, &requests[2 + side]);
        }
        compute(product);
        MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
        MPI_Allreduce(&part, &dot, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        compute(vector);
        MPI_Allreduce(&part, &dot, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
