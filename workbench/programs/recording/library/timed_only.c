/* Calls of which only the name and the times are recorded, so that a program's time in them is not
 * taken for its own work. A replay has no place for them.
 *
 * One line a function of MPI 4.0 that reaches other ranks or files and is not recorded elsewhere; a
 * test holds the list to the MPIs there are. Sessions are left out: they come before MPI_Init.
 */
#include "trace.h"

#define LIST(...) __VA_ARGS__

#define TIMED(NAME, PARAMETERS, ARGUMENTS)                                                      \
    RECORDED int MPI_##NAME(LIST PARAMETERS)                                                   \
    {                                                                                          \
        if (!trace_is_open()) return PMPI_##NAME(LIST ARGUMENTS);                              \
        int64_t start = clock_ns();                                                            \
        int result = PMPI_##NAME(LIST ARGUMENTS);                                              \
        if (result) return line_failed("MPI_" #NAME, result);                                  \
        line_begin("MPI_" #NAME, start);                                                       \
        line_end();                                                                            \
        return result;                                                                         \
    }

/* Memory of others. */
TIMED(Accumulate, (const void *origin_addr, int origin_count, MPI_Datatype origin_datatype, int
     target_rank, MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Op op,
     MPI_Win win),
     (origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count,
      target_datatype, op, win))
TIMED(Compare_and_swap, (const void *origin_addr, const void *compare_addr, void *result_addr,
     MPI_Datatype datatype, int target_rank, MPI_Aint target_disp, MPI_Win win),
     (origin_addr, compare_addr, result_addr, datatype, target_rank, target_disp, win))
TIMED(Fetch_and_op, (const void *origin_addr, void *result_addr, MPI_Datatype datatype, int
     target_rank, MPI_Aint target_disp, MPI_Op op, MPI_Win win),
     (origin_addr, result_addr, datatype, target_rank, target_disp, op, win))
TIMED(Get, (void *origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank,
     MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Win win),
     (origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count,
      target_datatype, win))
TIMED(Get_accumulate, (const void *origin_addr, int origin_count, MPI_Datatype origin_datatype,
     void *result_addr, int result_count, MPI_Datatype result_datatype, int target_rank, MPI_Aint
     target_disp, int target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win),
     (origin_addr, origin_count, origin_datatype, result_addr, result_count, result_datatype,
      target_rank, target_disp, target_count, target_datatype, op, win))
TIMED(Put, (const void *origin_addr, int origin_count, MPI_Datatype origin_datatype, int
     target_rank, MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Win
     win),
     (origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count,
      target_datatype, win))
TIMED(Raccumulate, (const void *origin_addr, int origin_count, MPI_Datatype origin_datatype, int
     target_rank, MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Op op,
     MPI_Win win, MPI_Request *request),
     (origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count,
      target_datatype, op, win, request))
TIMED(Rget, (void *origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank,
     MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Win win,
     MPI_Request *request),
     (origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count,
      target_datatype, win, request))
TIMED(Rget_accumulate, (const void *origin_addr, int origin_count, MPI_Datatype origin_datatype,
     void *result_addr, int result_count, MPI_Datatype result_datatype, int target_rank, MPI_Aint
     target_disp, int target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win,
     MPI_Request *request),
     (origin_addr, origin_count, origin_datatype, result_addr, result_count, result_datatype,
      target_rank, target_disp, target_count, target_datatype, op, win, request))
TIMED(Rput, (const void *origin_addr, int origin_count, MPI_Datatype origin_datatype, int
     target_rank, MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Win
     win, MPI_Request *request),
     (origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count,
      target_datatype, win, request))
TIMED(Win_allocate, (MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm, void *baseptr,
     MPI_Win *win), (size, disp_unit, info, comm, baseptr, win))
TIMED(Win_allocate_shared, (MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm, void
     *baseptr, MPI_Win *win), (size, disp_unit, info, comm, baseptr, win))
TIMED(Win_attach, (MPI_Win win, void *base, MPI_Aint size), (win, base, size))
TIMED(Win_complete, (MPI_Win win), (win))
TIMED(Win_create, (void *base, MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm, MPI_Win
     *win), (base, size, disp_unit, info, comm, win))
TIMED(Win_create_dynamic, (MPI_Info info, MPI_Comm comm, MPI_Win *win), (info, comm, win))
TIMED(Win_detach, (MPI_Win win, const void *base), (win, base))
TIMED(Win_fence, (int assert, MPI_Win win), (assert, win))
TIMED(Win_flush, (int rank, MPI_Win win), (rank, win))
TIMED(Win_flush_all, (MPI_Win win), (win))
TIMED(Win_flush_local, (int rank, MPI_Win win), (rank, win))
TIMED(Win_flush_local_all, (MPI_Win win), (win))
TIMED(Win_free, (MPI_Win *win), (win))
TIMED(Win_lock, (int lock_type, int rank, int assert, MPI_Win win), (lock_type, rank, assert, win))
TIMED(Win_lock_all, (int assert, MPI_Win win), (assert, win))
TIMED(Win_post, (MPI_Group group, int assert, MPI_Win win), (group, assert, win))
TIMED(Win_start, (MPI_Group group, int assert, MPI_Win win), (group, assert, win))
TIMED(Win_sync, (MPI_Win win), (win))
TIMED(Win_test, (MPI_Win win, int *flag), (win, flag))
TIMED(Win_unlock, (int rank, MPI_Win win), (rank, win))
TIMED(Win_unlock_all, (MPI_Win win), (win))
TIMED(Win_wait, (MPI_Win win), (win))

/* Files. */
TIMED(File_close, (MPI_File *fh), (fh))
TIMED(File_delete, (const char *filename, MPI_Info info), (filename, info))
TIMED(File_get_amode, (MPI_File fh, int *amode), (fh, amode))
TIMED(File_get_atomicity, (MPI_File fh, int *flag), (fh, flag))
TIMED(File_get_byte_offset, (MPI_File fh, MPI_Offset offset, MPI_Offset *disp), (fh, offset, disp))
TIMED(File_get_position, (MPI_File fh, MPI_Offset *offset), (fh, offset))
TIMED(File_get_position_shared, (MPI_File fh, MPI_Offset *offset), (fh, offset))
TIMED(File_get_size, (MPI_File fh, MPI_Offset *size), (fh, size))
TIMED(File_get_type_extent, (MPI_File fh, MPI_Datatype datatype, MPI_Aint *extent),
     (fh, datatype, extent))
TIMED(File_get_view, (MPI_File fh, MPI_Offset *disp, MPI_Datatype *etype, MPI_Datatype *filetype,
     char *datarep), (fh, disp, etype, filetype, datarep))
TIMED(File_iread, (MPI_File fh, void *buf, int count, MPI_Datatype datatype, MPIO_Request
     *request), (fh, buf, count, datatype, request))
TIMED(File_iread_all, (MPI_File fh, void *buf, int count, MPI_Datatype datatype, MPI_Request
     *request), (fh, buf, count, datatype, request))
TIMED(File_iread_at, (MPI_File fh, MPI_Offset offset, void *buf, int count, MPI_Datatype datatype,
     MPIO_Request *request), (fh, offset, buf, count, datatype, request))
TIMED(File_iread_at_all, (MPI_File fh, MPI_Offset offset, void *buf, int count, MPI_Datatype
     datatype, MPI_Request *request), (fh, offset, buf, count, datatype, request))
TIMED(File_iread_shared, (MPI_File fh, void *buf, int count, MPI_Datatype datatype, MPIO_Request
     *request), (fh, buf, count, datatype, request))
TIMED(File_iwrite, (MPI_File fh, const void *buf, int count, MPI_Datatype datatype, MPIO_Request
     *request), (fh, buf, count, datatype, request))
TIMED(File_iwrite_all, (MPI_File fh, const void *buf, int count, MPI_Datatype datatype, MPI_Request
     *request), (fh, buf, count, datatype, request))
TIMED(File_iwrite_at, (MPI_File fh, MPI_Offset offset, const void *buf, int count, MPI_Datatype
     datatype, MPIO_Request *request), (fh, offset, buf, count, datatype, request))
TIMED(File_iwrite_at_all, (MPI_File fh, MPI_Offset offset, const void *buf, int count, MPI_Datatype
     datatype, MPI_Request *request), (fh, offset, buf, count, datatype, request))
TIMED(File_iwrite_shared, (MPI_File fh, const void *buf, int count, MPI_Datatype datatype,
     MPIO_Request *request), (fh, buf, count, datatype, request))
TIMED(File_open, (MPI_Comm comm, const char *filename, int amode, MPI_Info info, MPI_File *fh),
     (comm, filename, amode, info, fh))
TIMED(File_preallocate, (MPI_File fh, MPI_Offset size), (fh, size))
TIMED(File_read, (MPI_File fh, void *buf, int count, MPI_Datatype datatype, MPI_Status *status),
     (fh, buf, count, datatype, status))
TIMED(File_read_all, (MPI_File fh, void *buf, int count, MPI_Datatype datatype, MPI_Status
     *status), (fh, buf, count, datatype, status))
TIMED(File_read_all_begin, (MPI_File fh, void *buf, int count, MPI_Datatype datatype),
     (fh, buf, count, datatype))
TIMED(File_read_all_end, (MPI_File fh, void *buf, MPI_Status *status), (fh, buf, status))
TIMED(File_read_at, (MPI_File fh, MPI_Offset offset, void *buf, int count, MPI_Datatype datatype,
     MPI_Status *status), (fh, offset, buf, count, datatype, status))
TIMED(File_read_at_all, (MPI_File fh, MPI_Offset offset, void *buf, int count, MPI_Datatype
     datatype, MPI_Status *status), (fh, offset, buf, count, datatype, status))
TIMED(File_read_at_all_begin, (MPI_File fh, MPI_Offset offset, void *buf, int count, MPI_Datatype
     datatype), (fh, offset, buf, count, datatype))
TIMED(File_read_at_all_end, (MPI_File fh, void *buf, MPI_Status *status), (fh, buf, status))
TIMED(File_read_ordered, (MPI_File fh, void *buf, int count, MPI_Datatype datatype, MPI_Status
     *status), (fh, buf, count, datatype, status))
TIMED(File_read_ordered_begin, (MPI_File fh, void *buf, int count, MPI_Datatype datatype),
     (fh, buf, count, datatype))
TIMED(File_read_ordered_end, (MPI_File fh, void *buf, MPI_Status *status), (fh, buf, status))
TIMED(File_read_shared, (MPI_File fh, void *buf, int count, MPI_Datatype datatype, MPI_Status
     *status), (fh, buf, count, datatype, status))
TIMED(File_seek, (MPI_File fh, MPI_Offset offset, int whence), (fh, offset, whence))
TIMED(File_seek_shared, (MPI_File fh, MPI_Offset offset, int whence), (fh, offset, whence))
TIMED(File_set_atomicity, (MPI_File fh, int flag), (fh, flag))
TIMED(File_set_size, (MPI_File fh, MPI_Offset size), (fh, size))
TIMED(File_set_view, (MPI_File fh, MPI_Offset disp, MPI_Datatype etype, MPI_Datatype filetype,
     const char *datarep, MPI_Info info), (fh, disp, etype, filetype, datarep, info))
TIMED(File_sync, (MPI_File fh), (fh))
TIMED(File_write, (MPI_File fh, const void *buf, int count, MPI_Datatype datatype, MPI_Status
     *status), (fh, buf, count, datatype, status))
TIMED(File_write_all, (MPI_File fh, const void *buf, int count, MPI_Datatype datatype, MPI_Status
     *status), (fh, buf, count, datatype, status))
TIMED(File_write_all_begin, (MPI_File fh, const void *buf, int count, MPI_Datatype datatype),
     (fh, buf, count, datatype))
TIMED(File_write_all_end, (MPI_File fh, const void *buf, MPI_Status *status), (fh, buf, status))
TIMED(File_write_at, (MPI_File fh, MPI_Offset offset, const void *buf, int count, MPI_Datatype
     datatype, MPI_Status *status), (fh, offset, buf, count, datatype, status))
TIMED(File_write_at_all, (MPI_File fh, MPI_Offset offset, const void *buf, int count, MPI_Datatype
     datatype, MPI_Status *status), (fh, offset, buf, count, datatype, status))
TIMED(File_write_at_all_begin, (MPI_File fh, MPI_Offset offset, const void *buf, int count,
     MPI_Datatype datatype), (fh, offset, buf, count, datatype))
TIMED(File_write_at_all_end, (MPI_File fh, const void *buf, MPI_Status *status), (fh, buf, status))
TIMED(File_write_ordered, (MPI_File fh, const void *buf, int count, MPI_Datatype datatype,
     MPI_Status *status), (fh, buf, count, datatype, status))
TIMED(File_write_ordered_begin, (MPI_File fh, const void *buf, int count, MPI_Datatype datatype),
     (fh, buf, count, datatype))
TIMED(File_write_ordered_end, (MPI_File fh, const void *buf, MPI_Status *status),
     (fh, buf, status))
TIMED(File_write_shared, (MPI_File fh, const void *buf, int count, MPI_Datatype datatype,
     MPI_Status *status), (fh, buf, count, datatype, status))

/* Other programs, and communicators without a parent. */
TIMED(Close_port, (const char *port_name), (port_name))
TIMED(Comm_accept, (const char *port_name, MPI_Info info, int root, MPI_Comm comm, MPI_Comm
     *newcomm), (port_name, info, root, comm, newcomm))
TIMED(Comm_connect, (const char *port_name, MPI_Info info, int root, MPI_Comm comm, MPI_Comm
     *newcomm), (port_name, info, root, comm, newcomm))
TIMED(Comm_join, (int fd, MPI_Comm *intercomm), (fd, intercomm))
TIMED(Comm_spawn, (const char *command, char *argv[], int maxprocs, MPI_Info info, int root,
     MPI_Comm comm, MPI_Comm *intercomm, int array_of_errcodes[]),
     (command, argv, maxprocs, info, root, comm, intercomm, array_of_errcodes))
TIMED(Comm_spawn_multiple, (int count, char *array_of_commands[], char **array_of_argv[], const int
     array_of_maxprocs[], const MPI_Info array_of_info[], int root, MPI_Comm comm, MPI_Comm
     *intercomm, int array_of_errcodes[]),
     (count, array_of_commands, array_of_argv, array_of_maxprocs, array_of_info, root, comm,
      intercomm, array_of_errcodes))
TIMED(Lookup_name, (const char *service_name, MPI_Info info, char *port_name),
     (service_name, info, port_name))
TIMED(Open_port, (MPI_Info info, char *port_name), (info, port_name))
TIMED(Publish_name, (const char *service_name, MPI_Info info, const char *port_name),
     (service_name, info, port_name))
TIMED(Unpublish_name, (const char *service_name, MPI_Info info, const char *port_name),
     (service_name, info, port_name))
#if MPI_VERSION >= 4
TIMED(Comm_create_from_group, (MPI_Group group, const char *stringtag, MPI_Info info,
     MPI_Errhandler errhandler, MPI_Comm *newcomm), (group, stringtag, info, errhandler, newcomm))
TIMED(Comm_idup_with_info, (MPI_Comm comm, MPI_Info info, MPI_Comm *newcomm, MPI_Request *request),
     (comm, info, newcomm, request))
TIMED(Intercomm_create_from_groups, (MPI_Group local_group, int local_leader, MPI_Group
     remote_group, int remote_leader, const char *stringtag, MPI_Info info, MPI_Errhandler
     errhandler, MPI_Comm *newintercomm),
     (local_group, local_leader, remote_group, remote_leader, stringtag, info, errhandler,
      newintercomm))
#endif

/* Messages in parts, and both ways at once. */
#if MPI_VERSION >= 4
TIMED(Isendrecv, (const void *sendbuf, int sendcount, MPI_Datatype sendtype, int dest, int sendtag,
     void *recvbuf, int recvcount, MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm,
     MPI_Request *request),
     (sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, recvtype, source,
      recvtag, comm, request))
TIMED(Isendrecv_replace, (void *buf, int count, MPI_Datatype datatype, int dest, int sendtag, int
     source, int recvtag, MPI_Comm comm, MPI_Request *request),
     (buf, count, datatype, dest, sendtag, source, recvtag, comm, request))
TIMED(Parrived, (MPI_Request request, int partition, int *flag), (request, partition, flag))
TIMED(Pready, (int partition, MPI_Request request), (partition, request))
TIMED(Pready_list, (int length, int array_of_partitions[], MPI_Request request),
     (length, array_of_partitions, request))
TIMED(Pready_range, (int partition_low, int partition_high, MPI_Request request),
     (partition_low, partition_high, request))
TIMED(Precv_init, (void *buf, int partitions, MPI_Count count, MPI_Datatype datatype, int dest, int
     tag, MPI_Comm comm, MPI_Info info, MPI_Request *request),
     (buf, partitions, count, datatype, dest, tag, comm, info, request))
TIMED(Psend_init, (const void *buf, int partitions, MPI_Count count, MPI_Datatype datatype, int
     dest, int tag, MPI_Comm comm, MPI_Info info, MPI_Request *request),
     (buf, partitions, count, datatype, dest, tag, comm, info, request))
#endif

/* Persistent collectives. */
#if MPI_VERSION >= 4
TIMED(Allgather_init, (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
     int recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request *request),
     (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, info, request))
TIMED(Allgatherv_init, (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
     const int recvcounts[], const int displs[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Info
     info, MPI_Request *request),
     (sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm, info,
      request))
TIMED(Allreduce_init, (const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op
     op, MPI_Comm comm, MPI_Info info, MPI_Request *request),
     (sendbuf, recvbuf, count, datatype, op, comm, info, request))
TIMED(Alltoall_init, (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int
     recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request *request),
     (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, info, request))
TIMED(Alltoallv_init, (const void *sendbuf, const int sendcounts[], const int sdispls[],
     MPI_Datatype sendtype, void *recvbuf, const int recvcounts[], const int rdispls[],
     MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request *request),
     (sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm,
      info, request))
TIMED(Alltoallw_init, (const void *sendbuf, const int sendcounts[], const int sdispls[], const
     MPI_Datatype sendtypes[], void *recvbuf, const int recvcounts[], const int rdispls[], const
     MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Info info, MPI_Request *request),
     (sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm,
      info, request))
TIMED(Barrier_init, (MPI_Comm comm, MPI_Info info, MPI_Request *request), (comm, info, request))
TIMED(Bcast_init, (void *buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm,
     MPI_Info info, MPI_Request *request), (buffer, count, datatype, root, comm, info, request))
TIMED(Exscan_init, (const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op
     op, MPI_Comm comm, MPI_Info info, MPI_Request *request),
     (sendbuf, recvbuf, count, datatype, op, comm, info, request))
TIMED(Gather_init, (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int
     recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info, MPI_Request
     *request),
     (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm, info, request))
TIMED(Gatherv_init, (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
     const int recvcounts[], const int displs[], MPI_Datatype recvtype, int root, MPI_Comm comm,
     MPI_Info info, MPI_Request *request),
     (sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, root, comm, info,
      request))
TIMED(Neighbor_allgather_init, (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void
     *recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request
     *request), (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, info, request))
TIMED(Neighbor_allgatherv_init, (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void
     *recvbuf, const int recvcounts[], const int displs[], MPI_Datatype recvtype, MPI_Comm comm,
     MPI_Info info, MPI_Request *request),
     (sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm, info,
      request))
TIMED(Neighbor_alltoall_init, (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void
     *recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request
     *request), (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, info, request))
TIMED(Neighbor_alltoallv_init, (const void *sendbuf, const int sendcounts[], const int sdispls[],
     MPI_Datatype sendtype, void *recvbuf, const int recvcounts[], const int rdispls[],
     MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request *request),
     (sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm,
      info, request))
TIMED(Neighbor_alltoallw_init, (const void *sendbuf, const int sendcounts[], const MPI_Aint
     sdispls[], const MPI_Datatype sendtypes[], void *recvbuf, const int recvcounts[], const
     MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Info info, MPI_Request
     *request),
     (sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm,
      info, request))
TIMED(Reduce_init, (const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op
     op, int root, MPI_Comm comm, MPI_Info info, MPI_Request *request),
     (sendbuf, recvbuf, count, datatype, op, root, comm, info, request))
TIMED(Reduce_scatter_block_init, (const void *sendbuf, void *recvbuf, int recvcount, MPI_Datatype
     datatype, MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request *request),
     (sendbuf, recvbuf, recvcount, datatype, op, comm, info, request))
TIMED(Reduce_scatter_init, (const void *sendbuf, void *recvbuf, const int recvcounts[],
     MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request *request),
     (sendbuf, recvbuf, recvcounts, datatype, op, comm, info, request))
TIMED(Scan_init, (const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
     MPI_Comm comm, MPI_Info info, MPI_Request *request),
     (sendbuf, recvbuf, count, datatype, op, comm, info, request))
TIMED(Scatter_init, (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int
     recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info, MPI_Request
     *request),
     (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm, info, request))
TIMED(Scatterv_init, (const void *sendbuf, const int sendcounts[], const int displs[], MPI_Datatype
     sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
     MPI_Info info, MPI_Request *request),
     (sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, root, comm, info,
      request))
#endif

/* Counts of more than 31 bits. */
#if MPI_VERSION >= 4
TIMED(Accumulate_c, (const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
     int target_rank, MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype,
     MPI_Op op, MPI_Win win),
     (origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count,
      target_datatype, op, win))
TIMED(Allgather_c, (const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
     MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm),
     (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm))
TIMED(Allgather_init_c, (const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void
     *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
     MPI_Request *request),
     (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, info, request))
TIMED(Allgatherv_c, (const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void
     *recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype,
     MPI_Comm comm), (sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm))
TIMED(Allgatherv_init_c, (const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void
     *recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype,
     MPI_Comm comm, MPI_Info info, MPI_Request *request),
     (sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm, info,
      request))
TIMED(Allreduce_c, (const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype,
     MPI_Op op, MPI_Comm comm), (sendbuf, recvbuf, count, datatype, op, comm))
TIMED(Allreduce_init_c, (const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype
     datatype, MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request *request),
     (sendbuf, recvbuf, count, datatype, op, comm, info, request))
TIMED(Alltoall_c, (const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
     MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm),
     (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm))
TIMED(Alltoall_init_c, (const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void
     *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
     MPI_Request *request),
     (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, info, request))
TIMED(Alltoallv_c, (const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
     MPI_Datatype sendtype, void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint rdispls[],
     MPI_Datatype recvtype, MPI_Comm comm),
     (sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm))
TIMED(Alltoallv_init_c, (const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint
     sdispls[], MPI_Datatype sendtype, void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint
     rdispls[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request *request),
     (sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm,
      info, request))
TIMED(Alltoallw_c, (const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
     const MPI_Datatype sendtypes[], void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint
     rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm),
     (sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes,
      comm))
TIMED(Alltoallw_init_c, (const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint
     sdispls[], const MPI_Datatype sendtypes[], void *recvbuf, const MPI_Count recvcounts[], const
     MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Info info, MPI_Request
     *request),
     (sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm,
      info, request))
TIMED(Bcast_c, (void *buffer, MPI_Count count, MPI_Datatype datatype, int root, MPI_Comm comm),
     (buffer, count, datatype, root, comm))
TIMED(Bcast_init_c, (void *buffer, MPI_Count count, MPI_Datatype datatype, int root, MPI_Comm comm,
     MPI_Info info, MPI_Request *request), (buffer, count, datatype, root, comm, info, request))
TIMED(Bsend_c, (const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
     MPI_Comm comm), (buf, count, datatype, dest, tag, comm))
TIMED(Bsend_init_c, (const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
     MPI_Comm comm, MPI_Request *request), (buf, count, datatype, dest, tag, comm, request))
TIMED(Exscan_c, (const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op
     op, MPI_Comm comm), (sendbuf, recvbuf, count, datatype, op, comm))
TIMED(Exscan_init_c, (const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype,
     MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request *request),
     (sendbuf, recvbuf, count, datatype, op, comm, info, request))
TIMED(File_get_type_extent_c, (MPI_File fh, MPI_Datatype datatype, MPI_Count *extent),
     (fh, datatype, extent))
TIMED(File_iread_all_c, (MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype,
     MPI_Request *request), (fh, buf, count, datatype, request))
TIMED(File_iread_at_all_c, (MPI_File fh, MPI_Offset offset, void *buf, MPI_Count count,
     MPI_Datatype datatype, MPI_Request *request), (fh, offset, buf, count, datatype, request))
TIMED(File_iread_at_c, (MPI_File fh, MPI_Offset offset, void *buf, MPI_Count count, MPI_Datatype
     datatype, MPIO_Request *request), (fh, offset, buf, count, datatype, request))
TIMED(File_iread_c, (MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype, MPIO_Request
     *request), (fh, buf, count, datatype, request))
TIMED(File_iread_shared_c, (MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype,
     MPIO_Request *request), (fh, buf, count, datatype, request))
TIMED(File_iwrite_all_c, (MPI_File fh, const void *buf, MPI_Count count, MPI_Datatype datatype,
     MPI_Request *request), (fh, buf, count, datatype, request))
TIMED(File_iwrite_at_all_c, (MPI_File fh, MPI_Offset offset, const void *buf, MPI_Count count,
     MPI_Datatype datatype, MPI_Request *request), (fh, offset, buf, count, datatype, request))
TIMED(File_iwrite_at_c, (MPI_File fh, MPI_Offset offset, const void *buf, MPI_Count count,
     MPI_Datatype datatype, MPIO_Request *request), (fh, offset, buf, count, datatype, request))
TIMED(File_iwrite_c, (MPI_File fh, const void *buf, MPI_Count count, MPI_Datatype datatype,
     MPIO_Request *request), (fh, buf, count, datatype, request))
TIMED(File_iwrite_shared_c, (MPI_File fh, const void *buf, MPI_Count count, MPI_Datatype datatype,
     MPIO_Request *request), (fh, buf, count, datatype, request))
TIMED(File_read_all_begin_c, (MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype),
     (fh, buf, count, datatype))
TIMED(File_read_all_c, (MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Status
     *status), (fh, buf, count, datatype, status))
TIMED(File_read_at_all_begin_c, (MPI_File fh, MPI_Offset offset, void *buf, MPI_Count count,
     MPI_Datatype datatype), (fh, offset, buf, count, datatype))
TIMED(File_read_at_all_c, (MPI_File fh, MPI_Offset offset, void *buf, MPI_Count count, MPI_Datatype
     datatype, MPI_Status *status), (fh, offset, buf, count, datatype, status))
TIMED(File_read_at_c, (MPI_File fh, MPI_Offset offset, void *buf, MPI_Count count, MPI_Datatype
     datatype, MPI_Status *status), (fh, offset, buf, count, datatype, status))
TIMED(File_read_c, (MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Status
     *status), (fh, buf, count, datatype, status))
TIMED(File_read_ordered_begin_c, (MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype),
     (fh, buf, count, datatype))
TIMED(File_read_ordered_c, (MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype,
     MPI_Status *status), (fh, buf, count, datatype, status))
TIMED(File_read_shared_c, (MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype,
     MPI_Status *status), (fh, buf, count, datatype, status))
TIMED(File_write_all_begin_c, (MPI_File fh, const void *buf, MPI_Count count, MPI_Datatype
     datatype), (fh, buf, count, datatype))
TIMED(File_write_all_c, (MPI_File fh, const void *buf, MPI_Count count, MPI_Datatype datatype,
     MPI_Status *status), (fh, buf, count, datatype, status))
TIMED(File_write_at_all_begin_c, (MPI_File fh, MPI_Offset offset, const void *buf, MPI_Count count,
     MPI_Datatype datatype), (fh, offset, buf, count, datatype))
TIMED(File_write_at_all_c, (MPI_File fh, MPI_Offset offset, const void *buf, MPI_Count count,
     MPI_Datatype datatype, MPI_Status *status), (fh, offset, buf, count, datatype, status))
TIMED(File_write_at_c, (MPI_File fh, MPI_Offset offset, const void *buf, MPI_Count count,
     MPI_Datatype datatype, MPI_Status *status), (fh, offset, buf, count, datatype, status))
TIMED(File_write_c, (MPI_File fh, const void *buf, MPI_Count count, MPI_Datatype datatype,
     MPI_Status *status), (fh, buf, count, datatype, status))
TIMED(File_write_ordered_begin_c, (MPI_File fh, const void *buf, MPI_Count count, MPI_Datatype
     datatype), (fh, buf, count, datatype))
TIMED(File_write_ordered_c, (MPI_File fh, const void *buf, MPI_Count count, MPI_Datatype datatype,
     MPI_Status *status), (fh, buf, count, datatype, status))
TIMED(File_write_shared_c, (MPI_File fh, const void *buf, MPI_Count count, MPI_Datatype datatype,
     MPI_Status *status), (fh, buf, count, datatype, status))
TIMED(Gather_c, (const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
     MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm),
     (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm))
TIMED(Gather_init_c, (const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void
     *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info,
     MPI_Request *request),
     (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm, info, request))
TIMED(Gatherv_c, (const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
     const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype, int root,
     MPI_Comm comm),
     (sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, root, comm))
TIMED(Gatherv_init_c, (const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void
     *recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype, int
     root, MPI_Comm comm, MPI_Info info, MPI_Request *request),
     (sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, root, comm, info,
      request))
TIMED(Get_accumulate_c, (const void *origin_addr, MPI_Count origin_count, MPI_Datatype
     origin_datatype, void *result_addr, MPI_Count result_count, MPI_Datatype result_datatype, int
     target_rank, MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype,
     MPI_Op op, MPI_Win win),
     (origin_addr, origin_count, origin_datatype, result_addr, result_count, result_datatype,
      target_rank, target_disp, target_count, target_datatype, op, win))
TIMED(Get_c, (void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, int
     target_rank, MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype,
     MPI_Win win),
     (origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count,
      target_datatype, win))
TIMED(Iallgather_c, (const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void
     *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request),
     (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, request))
TIMED(Iallgatherv_c, (const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void
     *recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype,
     MPI_Comm comm, MPI_Request *request),
     (sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm, request))
TIMED(Iallreduce_c, (const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype,
     MPI_Op op, MPI_Comm comm, MPI_Request *request),
     (sendbuf, recvbuf, count, datatype, op, comm, request))
TIMED(Ialltoall_c, (const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
     MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request),
     (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, request))
TIMED(Ialltoallv_c, (const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
     MPI_Datatype sendtype, void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint rdispls[],
     MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request),
     (sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm,
      request))
TIMED(Ialltoallw_c, (const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
     const MPI_Datatype sendtypes[], void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint
     rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Request *request),
     (sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm,
      request))
TIMED(Ibcast_c, (void *buffer, MPI_Count count, MPI_Datatype datatype, int root, MPI_Comm comm,
     MPI_Request *request), (buffer, count, datatype, root, comm, request))
TIMED(Ibsend_c, (const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
     MPI_Comm comm, MPI_Request *request), (buf, count, datatype, dest, tag, comm, request))
TIMED(Iexscan_c, (const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype,
     MPI_Op op, MPI_Comm comm, MPI_Request *request),
     (sendbuf, recvbuf, count, datatype, op, comm, request))
TIMED(Igather_c, (const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
     MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request *request),
     (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm, request))
TIMED(Igatherv_c, (const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
     const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype, int root,
     MPI_Comm comm, MPI_Request *request),
     (sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, root, comm,
      request))
TIMED(Imrecv_c, (void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Message *message,
     MPI_Request *request), (buf, count, datatype, message, request))
TIMED(Ineighbor_allgather_c, (const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void
     *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request),
     (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, request))
TIMED(Ineighbor_allgatherv_c, (const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
     void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype,
     MPI_Comm comm, MPI_Request *request),
     (sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm, request))
TIMED(Ineighbor_alltoall_c, (const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void
     *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request),
     (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, request))
TIMED(Ineighbor_alltoallv_c, (const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint
     sdispls[], MPI_Datatype sendtype, void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint
     rdispls[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request),
     (sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm,
      request))
TIMED(Ineighbor_alltoallw_c, (const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint
     sdispls[], const MPI_Datatype sendtypes[], void *recvbuf, const MPI_Count recvcounts[], const
     MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Request *request),
     (sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm,
      request))
TIMED(Irecv_c, (void *buf, MPI_Count count, MPI_Datatype datatype, int source, int tag, MPI_Comm
     comm, MPI_Request *request), (buf, count, datatype, source, tag, comm, request))
TIMED(Ireduce_c, (const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype,
     MPI_Op op, int root, MPI_Comm comm, MPI_Request *request),
     (sendbuf, recvbuf, count, datatype, op, root, comm, request))
TIMED(Ireduce_scatter_block_c, (const void *sendbuf, void *recvbuf, MPI_Count recvcount,
     MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Request *request),
     (sendbuf, recvbuf, recvcount, datatype, op, comm, request))
TIMED(Ireduce_scatter_c, (const void *sendbuf, void *recvbuf, const MPI_Count recvcounts[],
     MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Request *request),
     (sendbuf, recvbuf, recvcounts, datatype, op, comm, request))
TIMED(Irsend_c, (const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
     MPI_Comm comm, MPI_Request *request), (buf, count, datatype, dest, tag, comm, request))
TIMED(Iscan_c, (const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op
     op, MPI_Comm comm, MPI_Request *request),
     (sendbuf, recvbuf, count, datatype, op, comm, request))
TIMED(Iscatter_c, (const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
     MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request *request),
     (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm, request))
TIMED(Iscatterv_c, (const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint displs[],
     MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root,
     MPI_Comm comm, MPI_Request *request),
     (sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, root, comm,
      request))
TIMED(Isend_c, (const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
     MPI_Comm comm, MPI_Request *request), (buf, count, datatype, dest, tag, comm, request))
TIMED(Isendrecv_c, (const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, int dest, int
     sendtag, void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int source, int recvtag,
     MPI_Comm comm, MPI_Request *request),
     (sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, recvtype, source,
      recvtag, comm, request))
TIMED(Isendrecv_replace_c, (void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int
     sendtag, int source, int recvtag, MPI_Comm comm, MPI_Request *request),
     (buf, count, datatype, dest, sendtag, source, recvtag, comm, request))
TIMED(Issend_c, (const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
     MPI_Comm comm, MPI_Request *request), (buf, count, datatype, dest, tag, comm, request))
TIMED(Mrecv_c, (void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Message *message, MPI_Status
     *status), (buf, count, datatype, message, status))
TIMED(Neighbor_allgather_c, (const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void
     *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm),
     (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm))
TIMED(Neighbor_allgather_init_c, (const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
     void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
     MPI_Request *request),
     (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, info, request))
TIMED(Neighbor_allgatherv_c, (const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void
     *recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype,
     MPI_Comm comm), (sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm))
TIMED(Neighbor_allgatherv_init_c, (const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
     void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype,
     MPI_Comm comm, MPI_Info info, MPI_Request *request),
     (sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm, info,
      request))
TIMED(Neighbor_alltoall_c, (const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void
     *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm),
     (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm))
TIMED(Neighbor_alltoall_init_c, (const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
     void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
     MPI_Request *request),
     (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, info, request))
TIMED(Neighbor_alltoallv_c, (const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint
     sdispls[], MPI_Datatype sendtype, void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint
     rdispls[], MPI_Datatype recvtype, MPI_Comm comm),
     (sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm))
TIMED(Neighbor_alltoallv_init_c, (const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint
     sdispls[], MPI_Datatype sendtype, void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint
     rdispls[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request *request),
     (sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm,
      info, request))
TIMED(Neighbor_alltoallw_c, (const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint
     sdispls[], const MPI_Datatype sendtypes[], void *recvbuf, const MPI_Count recvcounts[], const
     MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm),
     (sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes,
      comm))
TIMED(Neighbor_alltoallw_init_c, (const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint
     sdispls[], const MPI_Datatype sendtypes[], void *recvbuf, const MPI_Count recvcounts[], const
     MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Info info, MPI_Request
     *request),
     (sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm,
      info, request))
TIMED(Put_c, (const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, int
     target_rank, MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype,
     MPI_Win win),
     (origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count,
      target_datatype, win))
TIMED(Raccumulate_c, (const void *origin_addr, MPI_Count origin_count, MPI_Datatype
     origin_datatype, int target_rank, MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype
     target_datatype, MPI_Op op, MPI_Win win, MPI_Request *request),
     (origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count,
      target_datatype, op, win, request))
TIMED(Recv_c, (void *buf, MPI_Count count, MPI_Datatype datatype, int source, int tag, MPI_Comm
     comm, MPI_Status *status), (buf, count, datatype, source, tag, comm, status))
TIMED(Recv_init_c, (void *buf, MPI_Count count, MPI_Datatype datatype, int source, int tag,
     MPI_Comm comm, MPI_Request *request), (buf, count, datatype, source, tag, comm, request))
TIMED(Reduce_c, (const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op
     op, int root, MPI_Comm comm), (sendbuf, recvbuf, count, datatype, op, root, comm))
TIMED(Reduce_init_c, (const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype,
     MPI_Op op, int root, MPI_Comm comm, MPI_Info info, MPI_Request *request),
     (sendbuf, recvbuf, count, datatype, op, root, comm, info, request))
TIMED(Reduce_scatter_block_c, (const void *sendbuf, void *recvbuf, MPI_Count recvcount,
     MPI_Datatype datatype, MPI_Op op, MPI_Comm comm),
     (sendbuf, recvbuf, recvcount, datatype, op, comm))
TIMED(Reduce_scatter_block_init_c, (const void *sendbuf, void *recvbuf, MPI_Count recvcount,
     MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request *request),
     (sendbuf, recvbuf, recvcount, datatype, op, comm, info, request))
TIMED(Reduce_scatter_c, (const void *sendbuf, void *recvbuf, const MPI_Count recvcounts[],
     MPI_Datatype datatype, MPI_Op op, MPI_Comm comm),
     (sendbuf, recvbuf, recvcounts, datatype, op, comm))
TIMED(Reduce_scatter_init_c, (const void *sendbuf, void *recvbuf, const MPI_Count recvcounts[],
     MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request *request),
     (sendbuf, recvbuf, recvcounts, datatype, op, comm, info, request))
TIMED(Rget_accumulate_c, (const void *origin_addr, MPI_Count origin_count, MPI_Datatype
     origin_datatype, void *result_addr, MPI_Count result_count, MPI_Datatype result_datatype, int
     target_rank, MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype,
     MPI_Op op, MPI_Win win, MPI_Request *request),
     (origin_addr, origin_count, origin_datatype, result_addr, result_count, result_datatype,
      target_rank, target_disp, target_count, target_datatype, op, win, request))
TIMED(Rget_c, (void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, int
     target_rank, MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype,
     MPI_Win win, MPI_Request *request),
     (origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count,
      target_datatype, win, request))
TIMED(Rput_c, (const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, int
     target_rank, MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype,
     MPI_Win win, MPI_Request *request),
     (origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count,
      target_datatype, win, request))
TIMED(Rsend_c, (const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
     MPI_Comm comm), (buf, count, datatype, dest, tag, comm))
TIMED(Rsend_init_c, (const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
     MPI_Comm comm, MPI_Request *request), (buf, count, datatype, dest, tag, comm, request))
TIMED(Scan_c, (const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op
     op, MPI_Comm comm), (sendbuf, recvbuf, count, datatype, op, comm))
TIMED(Scan_init_c, (const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype,
     MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request *request),
     (sendbuf, recvbuf, count, datatype, op, comm, info, request))
TIMED(Scatter_c, (const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
     MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm),
     (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm))
TIMED(Scatter_init_c, (const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void
     *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info,
     MPI_Request *request),
     (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm, info, request))
TIMED(Scatterv_c, (const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint displs[],
     MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root,
     MPI_Comm comm),
     (sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, root, comm))
TIMED(Scatterv_init_c, (const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint displs[],
     MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root,
     MPI_Comm comm, MPI_Info info, MPI_Request *request),
     (sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, root, comm, info,
      request))
TIMED(Send_c, (const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm
     comm), (buf, count, datatype, dest, tag, comm))
TIMED(Send_init_c, (const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
     MPI_Comm comm, MPI_Request *request), (buf, count, datatype, dest, tag, comm, request))
TIMED(Sendrecv_c, (const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, int dest, int
     sendtag, void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int source, int recvtag,
     MPI_Comm comm, MPI_Status *status),
     (sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, recvtype, source,
      recvtag, comm, status))
TIMED(Sendrecv_replace_c, (void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int
     sendtag, int source, int recvtag, MPI_Comm comm, MPI_Status *status),
     (buf, count, datatype, dest, sendtag, source, recvtag, comm, status))
TIMED(Ssend_c, (const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
     MPI_Comm comm), (buf, count, datatype, dest, tag, comm))
TIMED(Ssend_init_c, (const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
     MPI_Comm comm, MPI_Request *request), (buf, count, datatype, dest, tag, comm, request))
TIMED(Win_allocate_c, (MPI_Aint size, MPI_Aint disp_unit, MPI_Info info, MPI_Comm comm, void
     *baseptr, MPI_Win *win), (size, disp_unit, info, comm, baseptr, win))
TIMED(Win_allocate_shared_c, (MPI_Aint size, MPI_Aint disp_unit, MPI_Info info, MPI_Comm comm, void
     *baseptr, MPI_Win *win), (size, disp_unit, info, comm, baseptr, win))
TIMED(Win_create_c, (void *base, MPI_Aint size, MPI_Aint disp_unit, MPI_Info info, MPI_Comm comm,
     MPI_Win *win), (base, size, disp_unit, info, comm, win))
#endif
