/* Two eager messages, one after the other, as in figure 8 of LLAMP (Shen et al.).
 *
 *     two_messages REPEATS
 *
 * Rank 0 prints for each repeat, in ns after it began to send: when it was free again, and when
 * rank 1 had the first and the second message. Both receives are posted before. The ranks share a
 * machine and its clock.
 */
#include "pace.h"

static void repeat(int rank)
{
    char data[2] = {0};
    int64_t received[2];
    MPI_Request requests[2];
    if (rank == 1) {
        for (int i = 0; i < 2; i++)
            MPI_Irecv(data + i, 1, MPI_CHAR, 0, 0, MPI_COMM_WORLD, requests + i);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        int64_t start = now_ns();
        for (int i = 0; i < 2; i++) MPI_Send(data, 1, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
        int64_t sent = now_ns();
        MPI_Recv(received, sizeof received, MPI_BYTE, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        printf("free %lld first %lld second %lld\n", (long long)(sent - start),
               (long long)(received[0] - start), (long long)(received[1] - start));
    } else if (rank == 1) {
        for (int i = 0; i < 2; i++) {
            MPI_Wait(requests + i, MPI_STATUS_IGNORE);
            received[i] = now_ns();
        }
        MPI_Send(received, sizeof received, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
    }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int left = (int)argument(argc, argv, 1, 10); left > 0; left--) repeat(rank);
    MPI_Finalize();
    return 0;
}
