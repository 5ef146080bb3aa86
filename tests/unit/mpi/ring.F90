! Messages around a ring, then collectives, in each of MPI's three interfaces to Fortran: with
! -DF08 the module mpi_f08, with -DMODULE the module mpi, else mpif.h.
program ring
#if defined(F08)
  use mpi_f08
  implicit none
  type(MPI_Comm) :: even
  type(MPI_Request) :: requests(2)
  type(MPI_Status) :: status, statuses(2)
#elif defined(MODULE)
  use mpi
  implicit none
  integer :: even, requests(2), status(MPI_STATUS_SIZE), statuses(MPI_STATUS_SIZE, 2)
#else
  implicit none
  include 'mpif.h'
  integer :: even, requests(2), status(MPI_STATUS_SIZE), statuses(MPI_STATUS_SIZE, 2)
#endif
  integer, parameter :: n = 4, most = 64
  integer :: ierr, rank, size, left, right, i, found, counts(most), places(most)
  double precision :: x(n * most), y(n * most)

  x = 0
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, size, ierr)
  right = mod(rank + 1, size)
  left = mod(rank + size - 1, size)

  if (rank == 0) call MPI_Send(x, n, MPI_DOUBLE_PRECISION, right, 1, MPI_COMM_WORLD, ierr)
  call MPI_Recv(x, n, MPI_DOUBLE_PRECISION, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, status, ierr)
  if (rank /= 0) call MPI_Send(x, n, MPI_DOUBLE_PRECISION, right, 1, MPI_COMM_WORLD, ierr)
  call MPI_Sendrecv(x, n, MPI_DOUBLE_PRECISION, right, 2, y, n, MPI_DOUBLE_PRECISION, left, 2, &
                    MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)

  call MPI_Irecv(y, n, MPI_DOUBLE_PRECISION, left, MPI_ANY_TAG, MPI_COMM_WORLD, requests(1), ierr)
  call MPI_Isend(x, n, MPI_DOUBLE_PRECISION, right, 3, MPI_COMM_WORLD, requests(2), ierr)
  call MPI_Waitall(2, requests, statuses, ierr)
  call MPI_Irecv(y, n, MPI_DOUBLE_PRECISION, left, 4, MPI_COMM_WORLD, requests(1), ierr)
  call MPI_Send(x, n, MPI_DOUBLE_PRECISION, right, 4, MPI_COMM_WORLD, ierr)
  call MPI_Waitany(1, requests, found, MPI_STATUS_IGNORE, ierr)
  call MPI_Recv_init(y, n, MPI_DOUBLE_PRECISION, left, 5, MPI_COMM_WORLD, requests(1), ierr)
  call MPI_Send_init(x, n, MPI_DOUBLE_PRECISION, right, 5, MPI_COMM_WORLD, requests(2), ierr)
  call MPI_Startall(2, requests, ierr)
  call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, ierr)
  call MPI_Request_free(requests(1), ierr)
  call MPI_Request_free(requests(2), ierr)

  call MPI_Barrier(MPI_COMM_WORLD, ierr)
  call MPI_Bcast(x, n, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
  call MPI_Allreduce(MPI_IN_PLACE, x, n, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, ierr)
  call MPI_Reduce(x, y, n, MPI_DOUBLE_PRECISION, MPI_MAX, 0, MPI_COMM_WORLD, ierr)
  call MPI_Allgather(x, 1, MPI_DOUBLE_PRECISION, y, 1, MPI_DOUBLE_PRECISION, MPI_COMM_WORLD, ierr)
  call MPI_Alltoall(x, 1, MPI_DOUBLE_PRECISION, y, 1, MPI_DOUBLE_PRECISION, MPI_COMM_WORLD, ierr)
  do i = 1, size
    counts(i) = i
    places(i) = n * (i - 1)
  end do
  call MPI_Gatherv(x, rank + 1, MPI_DOUBLE_PRECISION, y, counts, places, MPI_DOUBLE_PRECISION, 0, &
                   MPI_COMM_WORLD, ierr)
  call MPI_Iallreduce(x, y, n, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, requests(1), ierr)
  call MPI_Wait(requests(1), MPI_STATUS_IGNORE, ierr)

  call MPI_Comm_split(MPI_COMM_WORLD, mod(rank, 2), 0, even, ierr)
  call MPI_Barrier(even, ierr)
  call MPI_Comm_free(even, ierr)
  call MPI_Finalize(ierr)
end program ring
