"""SST/macro's collective benchmarks on its own machines, to the digits it prints."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from kernels.fabric import collectives, layout, rank_layout, routing, schedules
from kernels.two_node.layout import COPY_TICKS
from workbench.errors import ConfigurationError, ParameterError
from workbench.models import SNAPPR, LogPMemory, SnapprMemory
from workbench.provenance import Provenance
from workbench.result import Drawing, StoredResult
from workbench.simulate.fabric.network import NetworkState, build
from workbench.simulate.fabric.sst_configuration import SSTConfiguration, read_configuration
from workbench.simulate.fabric.sst_limits import INIT_BYTES, lost_tail_limit
from workbench.simulate.ticks import TICKS_PER_SECOND, byte_delay, size_table, ticks
from workbench.tasks import Task, task_of

if TYPE_CHECKING:
    import pandas as pd


_KINDS = {
    ("allgather", "bruck"): schedules.BRUCK_ALLGATHER,
    ("allgather", "ring"): schedules.RING_ALLGATHER,
    ("alltoall", "bruck"): schedules.BRUCK_ALLTOALL,
    ("allreduce", "wilke"): schedules.ALLREDUCE,
}
_MOST_COPIES = 2**22  # 32 MiB of the state, int64: ticks of 0 to all ranks' blocks, by size


@dataclass(frozen=True, eq=False)
class CollectiveTimes(StoredResult):
    """The times of a collective on a machine.

    Attributes:
        sizes: bytes, as the configuration gives them.
        times_s: float64[sizes], seconds of one iteration on rank 0, which is what SST/macro prints.
        of_ranks_s: float64[ranks, sizes], the same for each rank.
        packet_hops: packets sent by output ports during the whole run, those of NICs included.
        beyond_sstmacro: why SST/macro v11.1 does not run this, or with other times; empty where it
            prints these.
        provenance: where the figures come from.
        state: the network at the end, for what its ports have sent.
    """

    sizes: tuple[int, ...]
    times_s: NDArray[np.float64]
    of_ranks_s: NDArray[np.float64] = field(metadata={"axes": 2})
    packet_hops: int
    beyond_sstmacro: str
    provenance: Provenance
    state: NetworkState

    plot = Drawing(
        "plot_collective_times",
        lambda one: {one.provenance.title: dict(zip(one.sizes, one.times_s.tolist(), strict=True))},
    )

    def time_us(self) -> dict[int, float]:
        """Return the time of each size in microseconds."""
        return dict(zip(self.sizes, (self.times_s * 1e6).tolist(), strict=True))

    def to_frame(self) -> pd.DataFrame:
        """Return one row a size: ``size_bytes``, ``time_us`` of rank 0, ``slowest_us`` of all."""
        import pandas as pd

        slowest = self.of_ranks_s.max(axis=0)
        return pd.DataFrame(
            {
                "size_bytes": self.sizes,
                "time_us": self.times_s * 1e6,
                "slowest_us": slowest * 1e6,
            }
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the times by size, the slowest rank's and each rank's, in microseconds."""
        return {
            "sizes_bytes": list(self.sizes),
            "times_us": (self.times_s * 1e6).tolist(),
            "of_ranks_us": (self.of_ranks_s * 1e6).tolist(),
            "packet_hops": self.packet_hops,
            "provenance": self.provenance.to_dict(),
        }

    def __repr__(self) -> str:
        times = ", ".join(f"{size} B {us:.6g} us" for size, us in self.time_us().items())
        return f"CollectiveTimes({times}; {self.provenance.caption()})"


def run_collective(
    configuration: SSTConfiguration | str | Path | bytes,
    overrides: Mapping[str, str] | None = None,
    *,
    task: Task | None = None,
) -> CollectiveTimes:
    """Return the times of the collective that an SST/macro configuration describes.

    One simulation from the launch of the ranks on: MPI_Init, then a barrier and the collective for
    each size. The times are those that SST/macro v11.1 prints for rank 0, with two exceptions that
    ``beyond_sstmacro`` and the caption name. Some fat trees end there with an error and run here.
    And it never places the last two bytes of a packet on PISCES' cut-through arbitrators, so that a
    packet of one or two bytes keeps a tail at time 0 there and its clock goes back; here such
    packets are placed whole (``kernels/fabric/arbiters.py``).

    Args:
        configuration: what ``read_configuration`` returned, or an .ini that it is to read.
        overrides: texts by dotted key put over the file.
        task: once it is stopped, the run ends.

    Raises:
        ConfigurationError: packets would wait for credits for ever, or the numbers make no machine.
        ParseError, ParameterError: the .ini is not accepted.
        SimulationHalted: the task was stopped.
    """
    if not isinstance(configuration, SSTConfiguration):
        configuration = read_configuration(configuration, overrides)
    elif overrides:
        raise ParameterError("overrides go with a file; read_configuration takes them")
    c = configuration
    c.model.validate(largest_message=c.sizes[-1] * c.ranks)
    layer = _layer(c)
    network = c.network
    state = build(
        network.wiring,
        c.model,
        layer_cells=len(layer) + c.ranks * (len(c.sizes) + rank_layout.N_RANK),
        rotors=network.rotors,
        route=network.route,
        candidates=network.candidates,
        hops=network.hops,
    )
    at = int(state.s[layout.AT_LAYER])
    _place(layer, at, c)
    state.s[at : at + len(layer)] = layer
    ranks_at = int(layer[rank_layout.AT_RANKS])
    of_ranks = state.s[ranks_at : ranks_at + c.ranks * rank_layout.N_RANK].reshape(c.ranks, -1)
    of_ranks[:, rank_layout.NUMBER] = -1
    halt = task_of(task).stop_event.cell
    routes, unread = routing.no_routes(), np.zeros(0, np.int32)
    status = state.run(lambda s, t, q: collectives.run(s, t, q, routes, unread, halt))
    if status == layout.DEADLOCK:
        _explain_halt(c)
    times_at = int(layer[rank_layout.AT_TIMES])
    taken = state.s[times_at : times_at + c.ranks * len(c.sizes)].reshape(c.ranks, -1)
    seconds = taken / (c.iterations * TICKS_PER_SECOND)
    kind = _KINDS[c.mode, c.algorithm]
    beyond = c.network.limit or lost_tail_limit(c.model, kind, c.ranks, c.sizes, c.eager_cutoff)
    return CollectiveTimes(
        sizes=c.sizes,
        times_s=seconds[0].copy(),
        of_ranks_s=seconds,
        packet_hops=int(state.s[layout.HOPS_TAKEN]),
        beyond_sstmacro=beyond,
        provenance=Provenance(
            "simulated",
            f"{c.mode} ({c.algorithm}) of {c.ranks} ranks on a {c.machine}, "
            f"{type(c.model).__name__}, "
            + (f"beyond SST/macro v11.1: {beyond}" if beyond else "as SST/macro v11.1"),
        ),
        state=state,
    )


def _explain_halt(c: SSTConfiguration) -> NoReturn:
    """Raise the error that explains a deadlock."""
    lanes, mtu = c.network.wiring.lanes, c.model.mtu
    snappr = isinstance(c.model, SNAPPR)
    credit = c.model.switch_credits if isinstance(c.model, SNAPPR) else c.model.link_credits
    key = "switch.credits" if snappr else "switch.link.credits"
    mtu_key = "node.nic.mtu" if snappr else "node.nic.injection.mtu"
    reason = "packets wait for credits that cannot come"
    if credit // lanes < mtu:
        reason = (
            f"a lane of a switch port cannot hold one packet: {key} = {credit} B on {lanes} lanes "
            f"is {credit // lanes} B each, and {mtu_key} = {mtu} B"
        )
    raise ConfigurationError(
        f"the simulated run came to a halt: {reason}; raise {key} or lower {mtu_key}",
        rule="credits return",
        keys=(key, mtu_key),
    )


def _layer(c: SSTConfiguration) -> NDArray[np.int64]:
    """Return the first cells of the host layer's state: its settings and tables."""
    model = c.model
    head = np.zeros(rank_layout.N_LAYER, np.int64)
    head[rank_layout.RANKS], head[rank_layout.N_SIZES] = c.ranks, len(c.sizes)
    head[rank_layout.ITERATIONS] = c.iterations
    head[rank_layout.KIND] = _KINDS[c.mode, c.algorithm]
    head[rank_layout.EAGER_CUTOFF] = c.eager_cutoff
    head[rank_layout.HEADER_DELAY] = ticks(model.mpi.post_header_delay)
    head[rank_layout.RDMA_DELAY] = ticks(model.mpi.post_rdma_delay)
    head[rank_layout.LAUNCH_TICKS] = _access_ticks(c, rank_layout.START_BYTES)
    head[rank_layout.INIT_BYTES] = INIT_BYTES
    head[rank_layout.INIT_COPY] = _copy_ticks(c, np.array([INIT_BYTES]))[0]
    sizes = np.array(c.sizes, np.int64)
    blocks = np.zeros((len(sizes), c.ranks + 1), np.int64)
    if c.mode == "alltoall":
        if blocks.size > _MOST_COPIES:
            raise ConfigurationError(
                f"ranks times sizes must stay below {_MOST_COPIES}; got {blocks.size}",
                rule="ranks * sizes",
                keys=("node.app1.max_size",),
            )
        amounts = sizes[:, None] * np.arange(c.ranks + 1)
        blocks[:] = _copy_ticks(c, amounts.ravel()).reshape(blocks.shape)
    elif c.mode == "allgather":
        blocks[:, 1] = _copy_ticks(c, sizes)
    return np.concatenate((head, sizes, blocks.ravel()))


def _place(layer: NDArray[np.int64], at: int, c: SSTConfiguration) -> None:
    """Write where the layer's parts begin."""
    layer[rank_layout.AT_SIZES] = at + rank_layout.N_LAYER
    layer[rank_layout.AT_COPIES] = layer[rank_layout.AT_SIZES] + len(c.sizes)
    layer[rank_layout.AT_TIMES] = at + len(layer)
    layer[rank_layout.AT_RANKS] = layer[rank_layout.AT_TIMES] + c.ranks * len(c.sizes)


def _copy_ticks(c: SSTConfiguration, amounts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the ticks of copying these numbers of bytes on a node."""
    return size_table(c.model, amounts)[: len(amounts), COPY_TICKS]


def _access_ticks(c: SSTConfiguration, n_bytes: int) -> int:
    """Return the ticks of moving bytes through a node's memory without computing."""
    memory = c.model.memory
    if isinstance(memory, LogPMemory):
        return ticks(memory.latency) + n_bytes * byte_delay(memory.bandwidth)
    if isinstance(memory, SnapprMemory):
        return n_bytes * byte_delay(memory.channel_bandwidth)
    return 0
