"""The arguments of each MPI call of a trace, in the order of its C binding.

A line of a trace is ``MPI_Name:start:argument:...:end`` with the arguments as the MPI standard
orders them (MPI 4.0, chapters 3, 6, 7 and 8). An array of counts takes two fields, its address and
its values; tracers without the values omit the second.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

BLOCKING, NONBLOCKING, PERSISTENT = range(3)  # manners of a `Signature`


@dataclass(frozen=True)
class Signature:
    """The arguments of one MPI call."""

    kind: str  # such as ``send``, ``waitall`` or ``collective``
    arguments: tuple[str, ...]  # names in order; one that ends in ``[]`` is an array of counts
    operation: str = ""  # of a collective: one of ``OPERATIONS``
    manner: int = BLOCKING  # BLOCKING, NONBLOCKING or PERSISTENT
    # field of each argument, by the number of fields in the line
    forms: dict[int, dict[str, int]] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        bare = {name: 2 + i for i, name in enumerate(self.arguments) if not name.endswith("[]")}
        valued: dict[str, int] = {}
        place = 2
        for name in self.arguments:
            place += name.endswith("[]")
            valued[name.removesuffix("[]")] = place
            place += 1
        fields = 3 + len(self.arguments)
        arrays = len(valued) - len(bare)
        object.__setattr__(self, "forms", {fields: bare} | {fields + arrays: valued})

    def places(self, num_fields: int) -> dict[str, int] | None:
        """Return the field of each argument, None where a line's number of fields is wrong."""
        return self.forms.get(num_fields)


def _signatures() -> dict[str, Signature]:
    table: dict[str, Signature] = {}

    def add(names: str, kind: str, arguments: str) -> None:
        for name in names.split():
            table[f"MPI_{name}"] = Signature(kind, tuple(arguments.split()))

    message = "buf count type peer tag comm"
    for mode in ("", "S", "B", "R"):
        name = mode + ("send" if mode else "Send")
        table[f"MPI_{name}"] = Signature("send", tuple(message.split()))
        started = (*message.split(), "request")
        table[f"MPI_I{name.lower()}"] = Signature("send", started, manner=NONBLOCKING)
        table[f"MPI_{name}_init"] = Signature("send", started, manner=PERSISTENT)
    table["MPI_Recv"] = Signature("recv", (*message.split(), "status"))
    table["MPI_Irecv"] = Signature("recv", (*message.split(), "request"), manner=NONBLOCKING)
    table["MPI_Recv_init"] = Signature("recv", (*message.split(), "request"), manner=PERSISTENT)
    add("Mrecv", "recv_matched", "buf count type message status")
    add("Imrecv", "recv_matched", "buf count type message request")
    add(
        "Sendrecv",
        "sendrecv",
        "sendbuf sendcount sendtype dest sendtag recvbuf recvcount recvtype source recvtag comm "
        "status",
    )
    add(
        "Sendrecv_replace",
        "sendrecv",
        "buf sendcount sendtype dest sendtag source recvtag comm status",
    )
    add("Start", "start", "request")
    add("Startall", "startall", "count requests")
    add("Request_free", "request_free", "request")
    add("Cancel", "cancel", "request")
    add("Wait", "wait", "request status")
    add("Waitall", "waitall", "count requests statuses")
    add("Waitany", "waitany", "count requests index status")
    add("Waitsome", "waitsome", "count requests outcount indices statuses")
    add("Test", "test", "request flag status")
    add("Testall", "testall", "count requests flag statuses")
    add("Testany", "testany", "count requests index flag status")
    add("Testsome", "testsome", "count requests outcount indices statuses")
    add("Probe", "probe", "source tag comm status")
    add("Iprobe", "probe", "source tag comm flag status")
    add("Mprobe", "probe", "source tag comm message status")
    add("Improbe", "probe", "source tag comm flag message status")

    pair = "buf sendcount sendtype recvbuf recvcount recvtype"
    reduced = "buf recvbuf count type op"
    collectives = {
        "Barrier": ("barrier", "comm"),
        "Bcast": ("bcast", "buf count type root comm"),
        "Reduce": ("reduce", f"{reduced} root comm"),
        "Allreduce": ("allreduce", f"{reduced} comm"),
        "Scan": ("scan", f"{reduced} comm"),
        "Exscan": ("exscan", f"{reduced} comm"),
        "Gather": ("gather", f"{pair} root comm"),
        "Gatherv": (
            "gather",
            "buf sendcount sendtype recvbuf recvcounts[] displs[] recvtype root comm",
        ),
        "Scatter": ("scatter", f"{pair} root comm"),
        "Scatterv": (
            "scatter",
            "buf sendcounts[] displs[] sendtype recvbuf recvcount recvtype root comm",
        ),
        "Allgather": ("allgather", f"{pair} comm"),
        "Allgatherv": (
            "allgather",
            "buf sendcount sendtype recvbuf recvcounts[] displs[] recvtype comm",
        ),
        "Alltoall": ("alltoall", f"{pair} comm"),
        "Alltoallv": (
            "alltoall",
            "buf sendcounts[] sdispls[] sendtype recvbuf recvcounts[] rdispls[] recvtype comm",
        ),
        "Alltoallw": (
            "alltoall",
            "buf sendcounts[] sdispls[] sendtypes recvbuf recvcounts[] rdispls[] recvtypes comm",
        ),
        "Reduce_scatter": ("reduce_scatter", "buf recvbuf recvcounts[] type op comm"),
        "Reduce_scatter_block": ("reduce_scatter", "buf recvbuf recvcount type op comm"),
    }
    for name, (operation, text) in collectives.items():
        arguments = tuple(text.split())
        table[f"MPI_{name}"] = Signature("collective", arguments, operation)
        table[f"MPI_I{name.lower()}"] = Signature(
            "collective", (*arguments, "request"), operation, NONBLOCKING
        )
        table[f"MPI_{name}_init"] = Signature(
            "collective", (*arguments, "info", "request"), operation, PERSISTENT
        )

    add("Comm_dup", "comm_dup", "comm newcomm")
    add("Comm_idup", "comm_dup", "comm newcomm request")
    add("Comm_dup_with_info", "comm_dup", "comm info newcomm")
    add("Comm_split", "comm_split", "comm color key newcomm")
    add("Comm_split_type", "comm_groups", "comm type key info newcomm")
    add("Cart_sub", "comm_groups", "comm remain newcomm")
    add("Comm_create", "comm_create", "comm group newcomm")
    add("Comm_create_group", "comm_create_group", "comm group tag newcomm")
    add("Cart_create", "comm_order", "comm ndims dims periods reorder newcomm")
    add("Graph_create", "comm_order", "comm nnodes index edges reorder newcomm")
    add(
        "Dist_graph_create",
        "comm_order",
        "comm n sources degrees destinations weights info reorder newcomm",
    )
    add(
        "Dist_graph_create_adjacent",
        "comm_order",
        "comm indegree sources sourceweights outdegree destinations destweights info reorder "
        "newcomm",
    )
    add("Intercomm_create", "comm_other", "comm leader bridge remote tag newcomm")
    add("Intercomm_merge", "comm_other", "comm high newcomm")
    add("Comm_free Comm_disconnect", "comm_free", "newcomm")
    add("Comm_rank Comm_size Comm_remote_size", "local", "comm result")
    add("Comm_group Comm_remote_group Comm_test_inter Topo_test", "local", "comm result")
    add("Cart_coords", "local", "comm rank maxdims coords")
    add("Cart_get", "local", "comm maxdims dims periods coords")
    add("Cart_rank", "local", "comm coords rank")
    add("Cart_shift", "local", "comm direction disp source dest")
    add("Cartdim_get", "local", "comm ndims")
    return table


SIGNATURES = _signatures()
"""The calls that make up a program or describe a communicator."""


def _neighbourhood() -> dict[str, Signature]:
    """Return the collectives among neighbours, with the arguments of those among all."""
    table = {}
    for name in ("allgather", "allgatherv", "alltoall", "alltoallv", "alltoallw"):
        for one in ("{}", "I{}", "{}_init"):
            like = SIGNATURES["MPI_" + one.format(name if one[0] == "I" else name.capitalize())]
            bare = f"neighbor_{name}" if one[0] == "I" else f"Neighbor_{name}"
            table["MPI_" + one.format(bare)] = replace(like, kind="neighbours", operation="")
    return table


RECORDER_SIGNATURES = (
    SIGNATURES
    | _neighbourhood()
    | {
        "MPI_Mrecv": Signature("recv", SIGNATURES["MPI_Recv"].arguments),
        "MPI_Imrecv": Signature("recv", SIGNATURES["MPI_Irecv"].arguments, manner=NONBLOCKING),
        "MPI_Dist_graph_create": Signature("comm_order", ("comm", "newcomm")),
        "MPI_Dist_graph_create_adjacent": Signature("comm_order", ("comm", "newcomm")),
    }
)
"""The same for the workbench's recorder, which records a matched receive as the plain one, and the
neighbours in a communicator's topology."""
