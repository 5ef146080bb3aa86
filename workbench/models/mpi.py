"""The MPI protocols: when a message is sent eagerly and what each step costs the host."""

from __future__ import annotations

from dataclasses import dataclass

from workbench.models.parameter import INT32_MAX, coerce_fields, parameter


@dataclass(frozen=True, kw_only=True)
class MPIProtocol:
    """Thresholds and host delays of SST/macro's MPI; sizes in bytes, times in seconds.

    Messages up to ``max_vshort_msg_size`` go as EAGER0 (copied, one traversal), up to
    ``max_eager_msg_size`` as EAGER1 (header, get, payload: three traversals), larger ones by
    rendezvous (the same three, both buffers pinned, then an acknowledgement).

    Raises:
        ParameterError: a value is not accepted.
    """

    max_vshort_msg_size: int = parameter(
        "node.app1.mpi.max_vshort_msg_size",
        512,
        kind="bytes",
        absent=512,
        maximum=INT32_MAX,
        low=0,
        high=65536,
        threshold=True,
        section="MPI protocol",
        description="Largest message that is copied and sent at once with its data (EAGER0).",
    )
    max_eager_msg_size: int = parameter(
        "node.app1.mpi.max_eager_msg_size",
        8192,
        kind="bytes",
        absent=8192,
        maximum=INT32_MAX,
        low=0,
        high=1048576,
        threshold=True,
        section="MPI protocol",
        description="Largest message sent by header and remote get before rendezvous (EAGER1).",
    )
    post_header_delay: float = parameter(
        "node.app1.mpi.post_header_delay",
        0.0,
        kind="time",
        absent=0.0,
        low=0.0,
        high=10e-6,
        log=False,
        section="MPI protocol",
        description="Host time before each eager payload, header or software acknowledgement.",
    )
    post_rdma_delay: float = parameter(
        "node.app1.mpi.post_rdma_delay",
        0.0,
        kind="time",
        absent=0.0,
        low=0.0,
        high=10e-6,
        log=False,
        section="MPI protocol",
        description="Host time at the receiver before each remote-get request.",
    )
    rdma_pin_latency: float = parameter(
        "node.app1.mpi.rdma_pin_latency",
        0.0,
        kind="time",
        absent=0.0,
        low=0.0,
        high=100e-6,
        log=False,
        section="MPI protocol",
        description="Fixed host time to pin a buffer for rendezvous, at both ends.",
    )
    rdma_page_delay: float = parameter(
        "node.app1.mpi.rdma_page_delay",
        0.0,
        kind="time",
        absent=0.0,
        low=0.0,
        high=1e-6,
        log=False,
        section="MPI protocol",
        description="Host time to pin each page of a rendezvous buffer, at both ends.",
    )
    rdma_page_size: int = parameter(
        "node.app1.mpi.rdma_page_size",
        4096,
        kind="bytes",
        absent=4096,
        minimum=1,
        maximum=INT32_MAX,
        low=1024,
        high=2097152,
        log=True,
        section="MPI protocol",
        description="Size of the pages that are pinned.",
    )

    def __post_init__(self) -> None:
        coerce_fields(self)
