/* MPI functions beside those that a library of ours has code for, one line each: OTHER(name,
 * (parameters), (arguments)), or OTHER_RECEIVE where a call receives messages, OTHER_MESSAGE where it
 * sends one or receives one that was probed for. Who includes this defines the three.
 *
 * They are those of MPI 4.0 that reach other ranks or files; a test holds the list to the MPIs there
 * are. Sessions are left out: they come before MPI_Init.
 */
/* Memory of others. */
OTHER(Accumulate, (const void *origin_addr, int origin_count, MPI_Datatype origin_datatype, int
     target_rank, MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Op op,
     MPI_Win win),
     (origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count,
      target_datatype, op, win))
OTHER(Compare_and_swap, (const void *origin_addr, const void *compare_addr, void *result_addr,
     MPI_Datatype datatype, int target_rank, MPI_Aint target_disp, MPI_Win win),
     (origin_addr, compare_addr, result_addr, datatype, target_rank, target_disp, win))
OTHER(Fetch_and_op, (const void *origin_addr, void *result_addr, MPI_Datatype datatype, int
     target_rank, MPI_Aint target_disp, MPI_Op op, MPI_Win win),
     (origin_addr, result_addr, datatype, target_rank, target_disp, op, win))
OTHER(Get, (void *origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank,
     MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Win win),
     (origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count,
      target_datatype, win))
OTHER(Get_accumulate, (const void *origin_addr, int origin_count, MPI_Datatype origin_datatype,
     void *result_addr, int result_count, MPI_Datatype result_datatype, int target_rank, MPI_Aint
     target_disp, int target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win),
     (origin_addr, origin_count, origin_datatype, result_addr, result_count, result_datatype,
      target_rank, target_disp, target_count, target_datatype, op, win))
OTHER(Put, (const void *origin_addr, int origin_count, MPI_Datatype origin_datatype, int
     target_rank, MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Win
     win),
     (origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count,
      target_datatype, win))
OTHER(Raccumulate, (const void *origin_addr, int origin_count, MPI_Datatype origin_datatype, int
     target_rank, MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Op op,
     MPI_Win win, MPI_Request *request),
     (origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count,
      target_datatype, op, win, request))
OTHER(Rget, (void *origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank,
     MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Win win,
     MPI_Request *request),
     (origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count,
      target_datatype, win, request))
OTHER(Rget_accumulate, (const void *origin_addr, int origin_count, MPI_Datatype origin_datatype,
     void *result_addr, int result_count, MPI_Datatype result_datatype, int target_rank, MPI_Aint
     target_disp, int target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win,
     MPI_Request *request),
     (origin_addr, origin_count, origin_datatype, result_addr, result_count, result_datatype,
      target_rank, target_disp, target_count, target_datatype, op, win, request))
OTHER(Rput, (const void *origin_addr, int origin_count, MPI_Datatype origin_datatype, int
     target_rank, MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Win
     win, MPI_Request *request),
     (origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count,
      target_datatype, win, request))
OTHER(Win_allocate, (MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm, void *baseptr,
     MPI_Win *win), (size, disp_unit, info, comm, baseptr, win))
OTHER(Win_allocate_shared, (MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm, void
     *baseptr, MPI_Win *win), (size, disp_unit, info, comm, baseptr, win))
OTHER(Win_attach, (MPI_Win win, void *base, MPI_Aint size), (win, base, size))
OTHER(Win_complete, (MPI_Win win), (win))
OTHER(Win_create, (void *base, MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm, MPI_Win
     *win), (base, size, disp_unit, info, comm, win))
OTHER(Win_create_dynamic, (MPI_Info info, MPI_Comm comm, MPI_Win *win), (info, comm, win))
OTHER(Win_detach, (MPI_Win win, const void *base), (win, base))
OTHER(Win_fence, (int assert, MPI_Win win), (assert, win))
OTHER(Win_flush, (int rank, MPI_Win win), (rank, win))
OTHER(Win_flush_all, (MPI_Win win), (win))
OTHER(Win_flush_local, (int rank, MPI_Win win), (rank, win))
OTHER(Win_flush_local_all, (MPI_Win win), (win))
OTHER(Win_free, (MPI_Win *win), (win))
OTHER(Win_lock, (int lock_type, int rank, int assert, MPI_Win win), (lock_type, rank, assert, win))
OTHER(Win_lock_all, (int assert, MPI_Win win), (assert, win))
OTHER(Win_post, (MPI_Group group, int assert, MPI_Win win), (group, assert, win))
OTHER(Win_start, (MPI_Group group, int assert, MPI_Win win), (group, assert, win))
OTHER(Win_sync, (MPI_Win win), (win))
OTHER(Win_test, (MPI_Win win, int *flag), (win, flag))
OTHER(Win_unlock, (int rank, MPI_Win win), (rank, win))
OTHER(Win_unlock_all, (MPI_Win win), (win))
OTHER(Win_wait, (MPI_Win win), (win))

/* Files. */
OTHER(File_close, (MPI_File *fh), (fh))
OTHER(File_delete, (const char *filename, MPI_Info info), (filename, info))
OTHER(File_get_amode, (MPI_File fh, int *amode), (fh, amode))
OTHER(File_get_atomicity, (MPI_File fh, int *flag), (fh, flag))
OTHER(File_get_byte_offset, (MPI_File fh, MPI_Offset offset, MPI_Offset *disp), (fh, offset, disp))
OTHER(File_get_position, (MPI_File fh, MPI_Offset *offset), (fh, offset))
OTHER(File_get_position_shared, (MPI_File fh, MPI_Offset *offset), (fh, offset))
OTHER(File_get_size, (MPI_File fh, MPI_Offset *size), (fh, size))
OTHER(File_get_type_extent, (MPI_File fh, MPI_Datatype datatype, MPI_Aint *extent),
     (fh, datatype, extent))
OTHER(File_get_view, (MPI_File fh, MPI_Offset *disp, MPI_Datatype *etype, MPI_Datatype *filetype,
     char *datarep), (fh, disp, etype, filetype, datarep))
OTHER(File_iread, (MPI_File fh, void *buf, int count, MPI_Datatype datatype, MPIO_Request
     *request), (fh, buf, count, datatype, request))
OTHER(File_iread_all, (MPI_File fh, void *buf, int count, MPI_Datatype datatype, MPI_Request
     *request), (fh, buf, count, datatype, request))
OTHER(File_iread_at, (MPI_File fh, MPI_Offset offset, void *buf, int count, MPI_Datatype datatype,
     MPIO_Request *request), (fh, offset, buf, count, datatype, request))
OTHER(File_iread_at_all, (MPI_File fh, MPI_Offset offset, void *buf, int count, MPI_Datatype
     datatype, MPI_Request *request), (fh, offset, buf, count, datatype, request))
OTHER(File_iread_shared, (MPI_File fh, void *buf, int count, MPI_Datatype datatype, MPIO_Request
     *request), (fh, buf, count, datatype, request))
OTHER(File_iwrite, (MPI_File fh, const void *buf, int count, MPI_Datatype datatype, MPIO_Request
     *request), (fh, buf, count, datatype, request))
OTHER(File_iwrite_all, (MPI_File fh, const void *buf, int count, MPI_Datatype datatype, MPI_Request
     *request), (fh, buf, count, datatype, request))
OTHER(File_iwrite_at, (MPI_File fh, MPI_Offset offset, const void *buf, int count, MPI_Datatype
     datatype, MPIO_Request *request), (fh, offset, buf, count, datatype, request))
OTHER(File_iwrite_at_all, (MPI_File fh, MPI_Offset offset, const void *buf, int count, MPI_Datatype
     datatype, MPI_Request *request), (fh, offset, buf, count, datatype, request))
OTHER(File_iwrite_shared, (MPI_File fh, const void *buf, int count, MPI_Datatype datatype,
     MPIO_Request *request), (fh, buf, count, datatype, request))
OTHER(File_open, (MPI_Comm comm, const char *filename, int amode, MPI_Info info, MPI_File *fh),
     (comm, filename, amode, info, fh))
OTHER(File_preallocate, (MPI_File fh, MPI_Offset size), (fh, size))
OTHER(File_read, (MPI_File fh, void *buf, int count, MPI_Datatype datatype, MPI_Status *status),
     (fh, buf, count, datatype, status))
OTHER(File_read_all, (MPI_File fh, void *buf, int count, MPI_Datatype datatype, MPI_Status
     *status), (fh, buf, count, datatype, status))
OTHER(File_read_all_begin, (MPI_File fh, void *buf, int count, MPI_Datatype datatype),
     (fh, buf, count, datatype))
OTHER(File_read_all_end, (MPI_File fh, void *buf, MPI_Status *status), (fh, buf, status))
OTHER(File_read_at, (MPI_File fh, MPI_Offset offset, void *buf, int count, MPI_Datatype datatype,
     MPI_Status *status), (fh, offset, buf, count, datatype, status))
OTHER(File_read_at_all, (MPI_File fh, MPI_Offset offset, void *buf, int count, MPI_Datatype
     datatype, MPI_Status *status), (fh, offset, buf, count, datatype, status))
OTHER(File_read_at_all_begin, (MPI_File fh, MPI_Offset offset, void *buf, int count, MPI_Datatype
     datatype), (fh, offset, buf, count, datatype))
OTHER(File_read_at_all_end, (MPI_File fh, void *buf, MPI_Status *status), (fh, buf, status))
OTHER(File_read_ordered, (MPI_File fh, void *buf, int count, MPI_Datatype datatype, MPI_Status
     *status), (fh, buf, count, datatype, status))
OTHER(File_read_ordered_begin, (MPI_File fh, void *buf, int count, MPI_Datatype datatype),
     (fh, buf, count, datatype))
OTHER(File_read_ordered_end, (MPI_File fh, void *buf, MPI_Status *status), (fh, buf, status))
OTHER(File_read_shared, (MPI_File fh, void *buf, int count, MPI_Datatype datatype, MPI_Status
     *status), (fh, buf, count, datatype, status))
OTHER(File_seek, (MPI_File fh, MPI_Offset offset, int whence), (fh, offset, whence))
OTHER(File_seek_shared, (MPI_File fh, MPI_Offset offset, int whence), (fh, offset, whence))
OTHER(File_set_atomicity, (MPI_File fh, int flag), (fh, flag))
OTHER(File_set_size, (MPI_File fh, MPI_Offset size), (fh, size))
OTHER(File_set_view, (MPI_File fh, MPI_Offset disp, MPI_Datatype etype, MPI_Datatype filetype,
     const char *datarep, MPI_Info info), (fh, disp, etype, filetype, datarep, info))
OTHER(File_sync, (MPI_File fh), (fh))
OTHER(File_write, (MPI_File fh, const void *buf, int count, MPI_Datatype datatype, MPI_Status
     *status), (fh, buf, count, datatype, status))
OTHER(File_write_all, (MPI_File fh, const void *buf, int count, MPI_Datatype datatype, MPI_Status
     *status), (fh, buf, count, datatype, status))
OTHER(File_write_all_begin, (MPI_File fh, const void *buf, int count, MPI_Datatype datatype),
     (fh, buf, count, datatype))
OTHER(File_write_all_end, (MPI_File fh, const void *buf, MPI_Status *status), (fh, buf, status))
OTHER(File_write_at, (MPI_File fh, MPI_Offset offset, const void *buf, int count, MPI_Datatype
     datatype, MPI_Status *status), (fh, offset, buf, count, datatype, status))
OTHER(File_write_at_all, (MPI_File fh, MPI_Offset offset, const void *buf, int count, MPI_Datatype
     datatype, MPI_Status *status), (fh, offset, buf, count, datatype, status))
OTHER(File_write_at_all_begin, (MPI_File fh, MPI_Offset offset, const void *buf, int count,
     MPI_Datatype datatype), (fh, offset, buf, count, datatype))
OTHER(File_write_at_all_end, (MPI_File fh, const void *buf, MPI_Status *status), (fh, buf, status))
OTHER(File_write_ordered, (MPI_File fh, const void *buf, int count, MPI_Datatype datatype,
     MPI_Status *status), (fh, buf, count, datatype, status))
OTHER(File_write_ordered_begin, (MPI_File fh, const void *buf, int count, MPI_Datatype datatype),
     (fh, buf, count, datatype))
OTHER(File_write_ordered_end, (MPI_File fh, const void *buf, MPI_Status *status),
     (fh, buf, status))
OTHER(File_write_shared, (MPI_File fh, const void *buf, int count, MPI_Datatype datatype,
     MPI_Status *status), (fh, buf, count, datatype, status))

/* Other programs, and communicators without a parent. */
OTHER(Close_port, (const char *port_name), (port_name))
OTHER(Comm_accept, (const char *port_name, MPI_Info info, int root, MPI_Comm comm, MPI_Comm
     *newcomm), (port_name, info, root, comm, newcomm))
OTHER(Comm_connect, (const char *port_name, MPI_Info info, int root, MPI_Comm comm, MPI_Comm
     *newcomm), (port_name, info, root, comm, newcomm))
OTHER(Comm_join, (int fd, MPI_Comm *intercomm), (fd, intercomm))
OTHER(Comm_spawn, (const char *command, char *argv[], int maxprocs, MPI_Info info, int root,
     MPI_Comm comm, MPI_Comm *intercomm, int array_of_errcodes[]),
     (command, argv, maxprocs, info, root, comm, intercomm, array_of_errcodes))
OTHER(Comm_spawn_multiple, (int count, char *array_of_commands[], char **array_of_argv[], const int
     array_of_maxprocs[], const MPI_Info array_of_info[], int root, MPI_Comm comm, MPI_Comm
     *intercomm, int array_of_errcodes[]),
     (count, array_of_commands, array_of_argv, array_of_maxprocs, array_of_info, root, comm,
      intercomm, array_of_errcodes))
OTHER(Lookup_name, (const char *service_name, MPI_Info info, char *port_name),
     (service_name, info, port_name))
OTHER(Open_port, (MPI_Info info, char *port_name), (info, port_name))
OTHER(Publish_name, (const char *service_name, MPI_Info info, const char *port_name),
     (service_name, info, port_name))
OTHER(Unpublish_name, (const char *service_name, MPI_Info info, const char *port_name),
     (service_name, info, port_name))
#if MPI_VERSION >= 4
OTHER(Comm_create_from_group, (MPI_Group group, const char *stringtag, MPI_Info info,
     MPI_Errhandler errhandler, MPI_Comm *newcomm), (group, stringtag, info, errhandler, newcomm))
OTHER(Comm_idup_with_info, (MPI_Comm comm, MPI_Info info, MPI_Comm *newcomm, MPI_Request *request),
     (comm, info, newcomm, request))
OTHER(Intercomm_create_from_groups, (MPI_Group local_group, int local_leader, MPI_Group
     remote_group, int remote_leader, const char *stringtag, MPI_Info info, MPI_Errhandler
     errhandler, MPI_Comm *newintercomm),
     (local_group, local_leader, remote_group, remote_leader, stringtag, info, errhandler,
      newintercomm))
#endif

/* Messages in parts, and both ways at once. */
#if MPI_VERSION >= 4
OTHER_RECEIVE(Isendrecv, (const void *sendbuf, int sendcount, MPI_Datatype sendtype, int dest, int sendtag,
     void *recvbuf, int recvcount, MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm,
     MPI_Request *request),
     (sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, recvtype, source,
      recvtag, comm, request))
OTHER_RECEIVE(Isendrecv_replace, (void *buf, int count, MPI_Datatype datatype, int dest, int sendtag, int
     source, int recvtag, MPI_Comm comm, MPI_Request *request),
     (buf, count, datatype, dest, sendtag, source, recvtag, comm, request))
OTHER(Parrived, (MPI_Request request, int partition, int *flag), (request, partition, flag))
OTHER(Pready, (int partition, MPI_Request request), (partition, request))
OTHER(Pready_list, (int length, int array_of_partitions[], MPI_Request request),
     (length, array_of_partitions, request))
OTHER(Pready_range, (int partition_low, int partition_high, MPI_Request request),
     (partition_low, partition_high, request))
OTHER(Precv_init, (void *buf, int partitions, MPI_Count count, MPI_Datatype datatype, int dest, int
     tag, MPI_Comm comm, MPI_Info info, MPI_Request *request),
     (buf, partitions, count, datatype, dest, tag, comm, info, request))
OTHER(Psend_init, (const void *buf, int partitions, MPI_Count count, MPI_Datatype datatype, int
     dest, int tag, MPI_Comm comm, MPI_Info info, MPI_Request *request),
     (buf, partitions, count, datatype, dest, tag, comm, info, request))
#endif

/* Persistent collectives. */
#if MPI_VERSION >= 4
OTHER(Allgather_init, (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
     int recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request *request),
     (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, info, request))
OTHER(Allgatherv_init, (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
     const int recvcounts[], const int displs[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Info
     info, MPI_Request *request),
     (sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm, info,
      request))
OTHER(Allreduce_init, (const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op
     op, MPI_Comm comm, MPI_Info info, MPI_Request *request),
     (sendbuf, recvbuf, count, datatype, op, comm, info, request))
OTHER(Alltoall_init, (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int
     recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request *request),
     (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, info, request))
OTHER(Alltoallv_init, (const void *sendbuf, const int sendcounts[], const int sdispls[],
     MPI_Datatype sendtype, void *recvbuf, const int recvcounts[], const int rdispls[],
     MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request *request),
     (sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm,
      info, request))
OTHER(Alltoallw_init, (const void *sendbuf, const int sendcounts[], const int sdispls[], const
     MPI_Datatype sendtypes[], void *recvbuf, const int recvcounts[], const int rdispls[], const
     MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Info info, MPI_Request *request),
     (sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm,
      info, request))
OTHER(Barrier_init, (MPI_Comm comm, MPI_Info info, MPI_Request *request), (comm, info, request))
OTHER(Bcast_init, (void *buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm,
     MPI_Info info, MPI_Request *request), (buffer, count, datatype, root, comm, info, request))
OTHER(Exscan_init, (const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op
     op, MPI_Comm comm, MPI_Info info, MPI_Request *request),
     (sendbuf, recvbuf, count, datatype, op, comm, info, request))
OTHER(Gather_init, (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int
     recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info, MPI_Request
     *request),
     (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm, info, request))
OTHER(Gatherv_init, (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
     const int recvcounts[], const int displs[], MPI_Datatype recvtype, int root, MPI_Comm comm,
     MPI_Info info, MPI_Request *request),
     (sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, root, comm, info,
      request))
OTHER(Neighbor_allgather_init, (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void
     *recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request
     *request), (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, info, request))
OTHER(Neighbor_allgatherv_init, (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void
     *recvbuf, const int recvcounts[], const int displs[], MPI_Datatype recvtype, MPI_Comm comm,
     MPI_Info info, MPI_Request *request),
     (sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm, info,
      request))
OTHER(Neighbor_alltoall_init, (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void
     *recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request
     *request), (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, info, request))
OTHER(Neighbor_alltoallv_init, (const void *sendbuf, const int sendcounts[], const int sdispls[],
     MPI_Datatype sendtype, void *recvbuf, const int recvcounts[], const int rdispls[],
     MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request *request),
     (sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm,
      info, request))
OTHER(Neighbor_alltoallw_init, (const void *sendbuf, const int sendcounts[], const MPI_Aint
     sdispls[], const MPI_Datatype sendtypes[], void *recvbuf, const int recvcounts[], const
     MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Info info, MPI_Request
     *request),
     (sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm,
      info, request))
OTHER(Reduce_init, (const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op
     op, int root, MPI_Comm comm, MPI_Info info, MPI_Request *request),
     (sendbuf, recvbuf, count, datatype, op, root, comm, info, request))
OTHER(Reduce_scatter_block_init, (const void *sendbuf, void *recvbuf, int recvcount, MPI_Datatype
     datatype, MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request *request),
     (sendbuf, recvbuf, recvcount, datatype, op, comm, info, request))
OTHER(Reduce_scatter_init, (const void *sendbuf, void *recvbuf, const int recvcounts[],
     MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request *request),
     (sendbuf, recvbuf, recvcounts, datatype, op, comm, info, request))
OTHER(Scan_init, (const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
     MPI_Comm comm, MPI_Info info, MPI_Request *request),
     (sendbuf, recvbuf, count, datatype, op, comm, info, request))
OTHER(Scatter_init, (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int
     recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info, MPI_Request
     *request),
     (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm, info, request))
OTHER(Scatterv_init, (const void *sendbuf, const int sendcounts[], const int displs[], MPI_Datatype
     sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
     MPI_Info info, MPI_Request *request),
     (sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, root, comm, info,
      request))
#endif

/* Counts of more than 31 bits. */
#if MPI_VERSION >= 4
OTHER(Accumulate_c, (const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
     int target_rank, MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype,
     MPI_Op op, MPI_Win win),
     (origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count,
      target_datatype, op, win))
OTHER(Allgather_c, (const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
     MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm),
     (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm))
OTHER(Allgather_init_c, (const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void
     *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
     MPI_Request *request),
     (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, info, request))
OTHER(Allgatherv_c, (const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void
     *recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype,
     MPI_Comm comm), (sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm))
OTHER(Allgatherv_init_c, (const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void
     *recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype,
     MPI_Comm comm, MPI_Info info, MPI_Request *request),
     (sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm, info,
      request))
OTHER(Allreduce_c, (const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype,
     MPI_Op op, MPI_Comm comm), (sendbuf, recvbuf, count, datatype, op, comm))
OTHER(Allreduce_init_c, (const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype
     datatype, MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request *request),
     (sendbuf, recvbuf, count, datatype, op, comm, info, request))
OTHER(Alltoall_c, (const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
     MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm),
     (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm))
OTHER(Alltoall_init_c, (const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void
     *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
     MPI_Request *request),
     (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, info, request))
OTHER(Alltoallv_c, (const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
     MPI_Datatype sendtype, void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint rdispls[],
     MPI_Datatype recvtype, MPI_Comm comm),
     (sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm))
OTHER(Alltoallv_init_c, (const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint
     sdispls[], MPI_Datatype sendtype, void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint
     rdispls[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request *request),
     (sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm,
      info, request))
OTHER(Alltoallw_c, (const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
     const MPI_Datatype sendtypes[], void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint
     rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm),
     (sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes,
      comm))
OTHER(Alltoallw_init_c, (const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint
     sdispls[], const MPI_Datatype sendtypes[], void *recvbuf, const MPI_Count recvcounts[], const
     MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Info info, MPI_Request
     *request),
     (sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm,
      info, request))
OTHER(Bcast_c, (void *buffer, MPI_Count count, MPI_Datatype datatype, int root, MPI_Comm comm),
     (buffer, count, datatype, root, comm))
OTHER(Bcast_init_c, (void *buffer, MPI_Count count, MPI_Datatype datatype, int root, MPI_Comm comm,
     MPI_Info info, MPI_Request *request), (buffer, count, datatype, root, comm, info, request))
OTHER_MESSAGE(Bsend_c, (const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
     MPI_Comm comm), (buf, count, datatype, dest, tag, comm))
OTHER_MESSAGE(Bsend_init_c, (const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
     MPI_Comm comm, MPI_Request *request), (buf, count, datatype, dest, tag, comm, request))
OTHER(Exscan_c, (const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op
     op, MPI_Comm comm), (sendbuf, recvbuf, count, datatype, op, comm))
OTHER(Exscan_init_c, (const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype,
     MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request *request),
     (sendbuf, recvbuf, count, datatype, op, comm, info, request))
OTHER(File_get_type_extent_c, (MPI_File fh, MPI_Datatype datatype, MPI_Count *extent),
     (fh, datatype, extent))
OTHER(File_iread_all_c, (MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype,
     MPI_Request *request), (fh, buf, count, datatype, request))
OTHER(File_iread_at_all_c, (MPI_File fh, MPI_Offset offset, void *buf, MPI_Count count,
     MPI_Datatype datatype, MPI_Request *request), (fh, offset, buf, count, datatype, request))
OTHER(File_iread_at_c, (MPI_File fh, MPI_Offset offset, void *buf, MPI_Count count, MPI_Datatype
     datatype, MPIO_Request *request), (fh, offset, buf, count, datatype, request))
OTHER(File_iread_c, (MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype, MPIO_Request
     *request), (fh, buf, count, datatype, request))
OTHER(File_iread_shared_c, (MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype,
     MPIO_Request *request), (fh, buf, count, datatype, request))
OTHER(File_iwrite_all_c, (MPI_File fh, const void *buf, MPI_Count count, MPI_Datatype datatype,
     MPI_Request *request), (fh, buf, count, datatype, request))
OTHER(File_iwrite_at_all_c, (MPI_File fh, MPI_Offset offset, const void *buf, MPI_Count count,
     MPI_Datatype datatype, MPI_Request *request), (fh, offset, buf, count, datatype, request))
OTHER(File_iwrite_at_c, (MPI_File fh, MPI_Offset offset, const void *buf, MPI_Count count,
     MPI_Datatype datatype, MPIO_Request *request), (fh, offset, buf, count, datatype, request))
OTHER(File_iwrite_c, (MPI_File fh, const void *buf, MPI_Count count, MPI_Datatype datatype,
     MPIO_Request *request), (fh, buf, count, datatype, request))
OTHER(File_iwrite_shared_c, (MPI_File fh, const void *buf, MPI_Count count, MPI_Datatype datatype,
     MPIO_Request *request), (fh, buf, count, datatype, request))
OTHER(File_read_all_begin_c, (MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype),
     (fh, buf, count, datatype))
OTHER(File_read_all_c, (MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Status
     *status), (fh, buf, count, datatype, status))
OTHER(File_read_at_all_begin_c, (MPI_File fh, MPI_Offset offset, void *buf, MPI_Count count,
     MPI_Datatype datatype), (fh, offset, buf, count, datatype))
OTHER(File_read_at_all_c, (MPI_File fh, MPI_Offset offset, void *buf, MPI_Count count, MPI_Datatype
     datatype, MPI_Status *status), (fh, offset, buf, count, datatype, status))
OTHER(File_read_at_c, (MPI_File fh, MPI_Offset offset, void *buf, MPI_Count count, MPI_Datatype
     datatype, MPI_Status *status), (fh, offset, buf, count, datatype, status))
OTHER(File_read_c, (MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Status
     *status), (fh, buf, count, datatype, status))
OTHER(File_read_ordered_begin_c, (MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype),
     (fh, buf, count, datatype))
OTHER(File_read_ordered_c, (MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype,
     MPI_Status *status), (fh, buf, count, datatype, status))
OTHER(File_read_shared_c, (MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype,
     MPI_Status *status), (fh, buf, count, datatype, status))
OTHER(File_write_all_begin_c, (MPI_File fh, const void *buf, MPI_Count count, MPI_Datatype
     datatype), (fh, buf, count, datatype))
OTHER(File_write_all_c, (MPI_File fh, const void *buf, MPI_Count count, MPI_Datatype datatype,
     MPI_Status *status), (fh, buf, count, datatype, status))
OTHER(File_write_at_all_begin_c, (MPI_File fh, MPI_Offset offset, const void *buf, MPI_Count count,
     MPI_Datatype datatype), (fh, offset, buf, count, datatype))
OTHER(File_write_at_all_c, (MPI_File fh, MPI_Offset offset, const void *buf, MPI_Count count,
     MPI_Datatype datatype, MPI_Status *status), (fh, offset, buf, count, datatype, status))
OTHER(File_write_at_c, (MPI_File fh, MPI_Offset offset, const void *buf, MPI_Count count,
     MPI_Datatype datatype, MPI_Status *status), (fh, offset, buf, count, datatype, status))
OTHER(File_write_c, (MPI_File fh, const void *buf, MPI_Count count, MPI_Datatype datatype,
     MPI_Status *status), (fh, buf, count, datatype, status))
OTHER(File_write_ordered_begin_c, (MPI_File fh, const void *buf, MPI_Count count, MPI_Datatype
     datatype), (fh, buf, count, datatype))
OTHER(File_write_ordered_c, (MPI_File fh, const void *buf, MPI_Count count, MPI_Datatype datatype,
     MPI_Status *status), (fh, buf, count, datatype, status))
OTHER(File_write_shared_c, (MPI_File fh, const void *buf, MPI_Count count, MPI_Datatype datatype,
     MPI_Status *status), (fh, buf, count, datatype, status))
OTHER(Gather_c, (const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
     MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm),
     (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm))
OTHER(Gather_init_c, (const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void
     *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info,
     MPI_Request *request),
     (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm, info, request))
OTHER(Gatherv_c, (const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
     const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype, int root,
     MPI_Comm comm),
     (sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, root, comm))
OTHER(Gatherv_init_c, (const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void
     *recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype, int
     root, MPI_Comm comm, MPI_Info info, MPI_Request *request),
     (sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, root, comm, info,
      request))
OTHER(Get_accumulate_c, (const void *origin_addr, MPI_Count origin_count, MPI_Datatype
     origin_datatype, void *result_addr, MPI_Count result_count, MPI_Datatype result_datatype, int
     target_rank, MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype,
     MPI_Op op, MPI_Win win),
     (origin_addr, origin_count, origin_datatype, result_addr, result_count, result_datatype,
      target_rank, target_disp, target_count, target_datatype, op, win))
OTHER(Get_c, (void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, int
     target_rank, MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype,
     MPI_Win win),
     (origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count,
      target_datatype, win))
OTHER(Iallgather_c, (const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void
     *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request),
     (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, request))
OTHER(Iallgatherv_c, (const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void
     *recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype,
     MPI_Comm comm, MPI_Request *request),
     (sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm, request))
OTHER(Iallreduce_c, (const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype,
     MPI_Op op, MPI_Comm comm, MPI_Request *request),
     (sendbuf, recvbuf, count, datatype, op, comm, request))
OTHER(Ialltoall_c, (const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
     MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request),
     (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, request))
OTHER(Ialltoallv_c, (const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
     MPI_Datatype sendtype, void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint rdispls[],
     MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request),
     (sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm,
      request))
OTHER(Ialltoallw_c, (const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
     const MPI_Datatype sendtypes[], void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint
     rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Request *request),
     (sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm,
      request))
OTHER(Ibcast_c, (void *buffer, MPI_Count count, MPI_Datatype datatype, int root, MPI_Comm comm,
     MPI_Request *request), (buffer, count, datatype, root, comm, request))
OTHER_MESSAGE(Ibsend_c, (const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
     MPI_Comm comm, MPI_Request *request), (buf, count, datatype, dest, tag, comm, request))
OTHER(Iexscan_c, (const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype,
     MPI_Op op, MPI_Comm comm, MPI_Request *request),
     (sendbuf, recvbuf, count, datatype, op, comm, request))
OTHER(Igather_c, (const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
     MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request *request),
     (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm, request))
OTHER(Igatherv_c, (const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
     const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype, int root,
     MPI_Comm comm, MPI_Request *request),
     (sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, root, comm,
      request))
OTHER_MESSAGE(Imrecv_c, (void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Message *message,
     MPI_Request *request), (buf, count, datatype, message, request))
OTHER(Ineighbor_allgather_c, (const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void
     *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request),
     (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, request))
OTHER(Ineighbor_allgatherv_c, (const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
     void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype,
     MPI_Comm comm, MPI_Request *request),
     (sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm, request))
OTHER(Ineighbor_alltoall_c, (const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void
     *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request),
     (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, request))
OTHER(Ineighbor_alltoallv_c, (const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint
     sdispls[], MPI_Datatype sendtype, void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint
     rdispls[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request),
     (sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm,
      request))
OTHER(Ineighbor_alltoallw_c, (const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint
     sdispls[], const MPI_Datatype sendtypes[], void *recvbuf, const MPI_Count recvcounts[], const
     MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Request *request),
     (sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm,
      request))
OTHER_RECEIVE(Irecv_c, (void *buf, MPI_Count count, MPI_Datatype datatype, int source, int tag, MPI_Comm
     comm, MPI_Request *request), (buf, count, datatype, source, tag, comm, request))
OTHER(Ireduce_c, (const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype,
     MPI_Op op, int root, MPI_Comm comm, MPI_Request *request),
     (sendbuf, recvbuf, count, datatype, op, root, comm, request))
OTHER(Ireduce_scatter_block_c, (const void *sendbuf, void *recvbuf, MPI_Count recvcount,
     MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Request *request),
     (sendbuf, recvbuf, recvcount, datatype, op, comm, request))
OTHER(Ireduce_scatter_c, (const void *sendbuf, void *recvbuf, const MPI_Count recvcounts[],
     MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Request *request),
     (sendbuf, recvbuf, recvcounts, datatype, op, comm, request))
OTHER_MESSAGE(Irsend_c, (const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
     MPI_Comm comm, MPI_Request *request), (buf, count, datatype, dest, tag, comm, request))
OTHER(Iscan_c, (const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op
     op, MPI_Comm comm, MPI_Request *request),
     (sendbuf, recvbuf, count, datatype, op, comm, request))
OTHER(Iscatter_c, (const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
     MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request *request),
     (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm, request))
OTHER(Iscatterv_c, (const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint displs[],
     MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root,
     MPI_Comm comm, MPI_Request *request),
     (sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, root, comm,
      request))
OTHER_MESSAGE(Isend_c, (const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
     MPI_Comm comm, MPI_Request *request), (buf, count, datatype, dest, tag, comm, request))
OTHER_RECEIVE(Isendrecv_c, (const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, int dest, int
     sendtag, void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int source, int recvtag,
     MPI_Comm comm, MPI_Request *request),
     (sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, recvtype, source,
      recvtag, comm, request))
OTHER_RECEIVE(Isendrecv_replace_c, (void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int
     sendtag, int source, int recvtag, MPI_Comm comm, MPI_Request *request),
     (buf, count, datatype, dest, sendtag, source, recvtag, comm, request))
OTHER_MESSAGE(Issend_c, (const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
     MPI_Comm comm, MPI_Request *request), (buf, count, datatype, dest, tag, comm, request))
OTHER_MESSAGE(Mrecv_c, (void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Message *message, MPI_Status
     *status), (buf, count, datatype, message, status))
OTHER(Neighbor_allgather_c, (const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void
     *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm),
     (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm))
OTHER(Neighbor_allgather_init_c, (const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
     void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
     MPI_Request *request),
     (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, info, request))
OTHER(Neighbor_allgatherv_c, (const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void
     *recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype,
     MPI_Comm comm), (sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm))
OTHER(Neighbor_allgatherv_init_c, (const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
     void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype,
     MPI_Comm comm, MPI_Info info, MPI_Request *request),
     (sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm, info,
      request))
OTHER(Neighbor_alltoall_c, (const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void
     *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm),
     (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm))
OTHER(Neighbor_alltoall_init_c, (const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
     void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
     MPI_Request *request),
     (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, info, request))
OTHER(Neighbor_alltoallv_c, (const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint
     sdispls[], MPI_Datatype sendtype, void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint
     rdispls[], MPI_Datatype recvtype, MPI_Comm comm),
     (sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm))
OTHER(Neighbor_alltoallv_init_c, (const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint
     sdispls[], MPI_Datatype sendtype, void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint
     rdispls[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request *request),
     (sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm,
      info, request))
OTHER(Neighbor_alltoallw_c, (const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint
     sdispls[], const MPI_Datatype sendtypes[], void *recvbuf, const MPI_Count recvcounts[], const
     MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm),
     (sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes,
      comm))
OTHER(Neighbor_alltoallw_init_c, (const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint
     sdispls[], const MPI_Datatype sendtypes[], void *recvbuf, const MPI_Count recvcounts[], const
     MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Info info, MPI_Request
     *request),
     (sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm,
      info, request))
OTHER(Put_c, (const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, int
     target_rank, MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype,
     MPI_Win win),
     (origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count,
      target_datatype, win))
OTHER(Raccumulate_c, (const void *origin_addr, MPI_Count origin_count, MPI_Datatype
     origin_datatype, int target_rank, MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype
     target_datatype, MPI_Op op, MPI_Win win, MPI_Request *request),
     (origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count,
      target_datatype, op, win, request))
OTHER_RECEIVE(Recv_c, (void *buf, MPI_Count count, MPI_Datatype datatype, int source, int tag, MPI_Comm
     comm, MPI_Status *status), (buf, count, datatype, source, tag, comm, status))
OTHER_RECEIVE(Recv_init_c, (void *buf, MPI_Count count, MPI_Datatype datatype, int source, int tag,
     MPI_Comm comm, MPI_Request *request), (buf, count, datatype, source, tag, comm, request))
OTHER(Reduce_c, (const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op
     op, int root, MPI_Comm comm), (sendbuf, recvbuf, count, datatype, op, root, comm))
OTHER(Reduce_init_c, (const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype,
     MPI_Op op, int root, MPI_Comm comm, MPI_Info info, MPI_Request *request),
     (sendbuf, recvbuf, count, datatype, op, root, comm, info, request))
OTHER(Reduce_scatter_block_c, (const void *sendbuf, void *recvbuf, MPI_Count recvcount,
     MPI_Datatype datatype, MPI_Op op, MPI_Comm comm),
     (sendbuf, recvbuf, recvcount, datatype, op, comm))
OTHER(Reduce_scatter_block_init_c, (const void *sendbuf, void *recvbuf, MPI_Count recvcount,
     MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request *request),
     (sendbuf, recvbuf, recvcount, datatype, op, comm, info, request))
OTHER(Reduce_scatter_c, (const void *sendbuf, void *recvbuf, const MPI_Count recvcounts[],
     MPI_Datatype datatype, MPI_Op op, MPI_Comm comm),
     (sendbuf, recvbuf, recvcounts, datatype, op, comm))
OTHER(Reduce_scatter_init_c, (const void *sendbuf, void *recvbuf, const MPI_Count recvcounts[],
     MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request *request),
     (sendbuf, recvbuf, recvcounts, datatype, op, comm, info, request))
OTHER(Rget_accumulate_c, (const void *origin_addr, MPI_Count origin_count, MPI_Datatype
     origin_datatype, void *result_addr, MPI_Count result_count, MPI_Datatype result_datatype, int
     target_rank, MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype,
     MPI_Op op, MPI_Win win, MPI_Request *request),
     (origin_addr, origin_count, origin_datatype, result_addr, result_count, result_datatype,
      target_rank, target_disp, target_count, target_datatype, op, win, request))
OTHER(Rget_c, (void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, int
     target_rank, MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype,
     MPI_Win win, MPI_Request *request),
     (origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count,
      target_datatype, win, request))
OTHER(Rput_c, (const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, int
     target_rank, MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype,
     MPI_Win win, MPI_Request *request),
     (origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count,
      target_datatype, win, request))
OTHER_MESSAGE(Rsend_c, (const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
     MPI_Comm comm), (buf, count, datatype, dest, tag, comm))
OTHER_MESSAGE(Rsend_init_c, (const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
     MPI_Comm comm, MPI_Request *request), (buf, count, datatype, dest, tag, comm, request))
OTHER(Scan_c, (const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op
     op, MPI_Comm comm), (sendbuf, recvbuf, count, datatype, op, comm))
OTHER(Scan_init_c, (const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype,
     MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request *request),
     (sendbuf, recvbuf, count, datatype, op, comm, info, request))
OTHER(Scatter_c, (const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
     MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm),
     (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm))
OTHER(Scatter_init_c, (const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void
     *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info,
     MPI_Request *request),
     (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm, info, request))
OTHER(Scatterv_c, (const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint displs[],
     MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root,
     MPI_Comm comm),
     (sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, root, comm))
OTHER(Scatterv_init_c, (const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint displs[],
     MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root,
     MPI_Comm comm, MPI_Info info, MPI_Request *request),
     (sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, root, comm, info,
      request))
OTHER_MESSAGE(Send_c, (const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm
     comm), (buf, count, datatype, dest, tag, comm))
OTHER_MESSAGE(Send_init_c, (const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
     MPI_Comm comm, MPI_Request *request), (buf, count, datatype, dest, tag, comm, request))
OTHER_RECEIVE(Sendrecv_c, (const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, int dest, int
     sendtag, void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int source, int recvtag,
     MPI_Comm comm, MPI_Status *status),
     (sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, recvtype, source,
      recvtag, comm, status))
OTHER_RECEIVE(Sendrecv_replace_c, (void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int
     sendtag, int source, int recvtag, MPI_Comm comm, MPI_Status *status),
     (buf, count, datatype, dest, sendtag, source, recvtag, comm, status))
OTHER_MESSAGE(Ssend_c, (const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
     MPI_Comm comm), (buf, count, datatype, dest, tag, comm))
OTHER_MESSAGE(Ssend_init_c, (const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
     MPI_Comm comm, MPI_Request *request), (buf, count, datatype, dest, tag, comm, request))
OTHER(Win_allocate_c, (MPI_Aint size, MPI_Aint disp_unit, MPI_Info info, MPI_Comm comm, void
     *baseptr, MPI_Win *win), (size, disp_unit, info, comm, baseptr, win))
OTHER(Win_allocate_shared_c, (MPI_Aint size, MPI_Aint disp_unit, MPI_Info info, MPI_Comm comm, void
     *baseptr, MPI_Win *win), (size, disp_unit, info, comm, baseptr, win))
OTHER(Win_create_c, (void *base, MPI_Aint size, MPI_Aint disp_unit, MPI_Info info, MPI_Comm comm,
     MPI_Win *win), (base, size, disp_unit, info, comm, win))
#endif
