// The benchmarks that the workbench reproduces, as a program of SST/macro v11.1.
//
// node.app1.mode is allgather, alltoall or allreduce (sizes from min_size to max_size, each four
// times the last, coll_iters of each), or osu (latency and bandwidth of two nodes).

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include <sprockit/keyword_registration.h>
#include <sstmac/common/runtime.h>
#include <sstmac/replacements/mpi/mpi.h>
#include <sstmac/skeleton.h>
#include <sstmac/util.h>

RegisterKeywords(
  {"mode", "which benchmark runs"},
  {"min_size", "the first size of a collective, in bytes"},
  {"max_size", "the last size of a collective, in bytes"},
  {"coll_iters", "how often each collective runs"}, );

#define sstmac_app_name workbench_benchmark

namespace {

constexpr int kWindow = 64;

void RunCollective(const std::string& mode, int size) {
  if (mode == "allgather") {
    MPI_Allgather(nullptr, size, MPI_CHAR, nullptr, size, MPI_CHAR, MPI_COMM_WORLD);
  } else if (mode == "alltoall") {
    MPI_Alltoall(nullptr, size, MPI_CHAR, nullptr, size, MPI_CHAR, MPI_COMM_WORLD);
  } else {
    MPI_Allreduce(nullptr, nullptr, size, MPI_CHAR, MPI_MAX, MPI_COMM_WORLD);
  }
}

double Latency(int rank, int size) {
  MPI_Barrier(MPI_COMM_WORLD);
  double begin = 0;
  for (int i = 0; i < 2; ++i) {  // one to warm up
    begin = MPI_Wtime();
    if (rank == 0) {
      MPI_Send(nullptr, size, MPI_CHAR, 1, 1, MPI_COMM_WORLD);
      MPI_Recv(nullptr, size, MPI_CHAR, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
      MPI_Recv(nullptr, size, MPI_CHAR, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Send(nullptr, size, MPI_CHAR, 0, 1, MPI_COMM_WORLD);
    }
  }
  return (MPI_Wtime() - begin) / 2;
}

double Bandwidth(int rank, int size) {
  std::vector<MPI_Request> requests(kWindow);
  double begin = 0;
  for (int i = 0; i < 2; ++i) {
    begin = MPI_Wtime();
    for (auto& request : requests) {
      if (rank == 0) {
        MPI_Isend(nullptr, size, MPI_CHAR, 1, 100, MPI_COMM_WORLD, &request);
      } else {
        MPI_Irecv(nullptr, size, MPI_CHAR, 0, 100, MPI_COMM_WORLD, &request);
      }
    }
    MPI_Waitall(kWindow, requests.data(), MPI_STATUSES_IGNORE);
    if (rank == 0) {
      MPI_Recv(nullptr, 4, MPI_CHAR, 1, 101, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
      MPI_Send(nullptr, 4, MPI_CHAR, 0, 101, MPI_COMM_WORLD);
    }
  }
  return double(size) * kWindow / (MPI_Wtime() - begin);
}

}  // namespace

int USER_MAIN(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const auto mode = sstmac::getParam<std::string>("mode");
  if (mode == "osu") {
    for (int size = 1; size <= (4 << 20); size *= 2) {
      const double latency = Latency(rank, size);
      if (rank == 0) std::printf("latency %d %.9f\n", size, latency * 1e6);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    for (int size = 1; size <= (4 << 20); size *= 2) {
      const double bandwidth = Bandwidth(rank, size);
      if (rank == 0) std::printf("bandwidth %d %.9f\n", size, bandwidth / 1e6);
    }
  } else {
    const int last = sstmac::getUnitParam<int>("max_size");
    const int repeats = sstmac::getParam<int>("coll_iters");
    for (int size = sstmac::getUnitParam<int>("min_size"); size <= last; size *= 4) {
      for (int i = 0; i < repeats; ++i) {
        MPI_Barrier(MPI_COMM_WORLD);
        const double begin = MPI_Wtime();
        RunCollective(mode, size);
        if (rank == 0) std::printf("%s %d %.9f\n", mode.c_str(), size, (MPI_Wtime() - begin) * 1e6);
      }
    }
  }
  MPI_Finalize();
  return 0;
}
