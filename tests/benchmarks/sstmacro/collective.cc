// One collective after a barrier, for SST/macro v11.1: what `workbench.simulate.fabric.sst` simulates.
// sst++ -O3 -fPIC -shared -o libcollective.so collective.cc
// Arguments: allgather or alltoall, and the bytes of a rank, or of a pair of ranks.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mpi.h>

#define sstmac_app_name timed_collective

int main(int argc, char** argv)
{
  const int size = atoi(argv[2]);
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  if (strcmp(argv[1], "allgather") == 0)
    MPI_Allgather(NULL, size, MPI_CHAR, NULL, size, MPI_CHAR, MPI_COMM_WORLD);
  else
    MPI_Alltoall(NULL, size, MPI_CHAR, NULL, size, MPI_CHAR, MPI_COMM_WORLD);
  if (rank == 0)
    printf("time_us %.9f\n", (MPI_Wtime() - begin) * 1e6);
  MPI_Finalize();
  return 0;
}
